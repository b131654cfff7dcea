"""Record the parts of a schema that a grammar couldn't express, and what replaced them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["looser", "tighter"]


@dataclass(frozen=True, slots=True)
class NotExpressed:
    """`looser`: the grammar accepts what the schema does not; `tighter`: the schema allows what the grammar can't.

    `path` leads to the schema that contains the keyword, as a JSON pointer in the tool's parameters.
    """

    tool: str
    keyword: str
    path: str
    done: str
    effect: Effect

    def __str__(self) -> str:
        place = f"{self.tool}: {self.path}" if self.tool else self.path
        return f"{place}: {self.keyword}: {self.done} ({self.effect})"


class Report:
    """Collects for one tool at a time, each thing once."""

    def __init__(self) -> None:
        self._found: dict[NotExpressed, None] = {}
        self.tool = ""
        self.times_looser = 0

    def looser(self, keyword: str, path: str, done: str) -> None:
        self.times_looser += 1
        self._found[NotExpressed(self.tool, keyword, path, done, "looser")] = None

    def tighter(self, keyword: str, path: str, done: str) -> None:
        self._found[NotExpressed(self.tool, keyword, path, done, "tighter")] = None

    @property
    def found(self) -> tuple[NotExpressed, ...]:
        return tuple(self._found)
