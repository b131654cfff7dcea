"""What a plug-in holds before the code of this folder, for type checkers: its generated parser, and names."""

from __future__ import annotations

from collections.abc import Sequence

from tplc_runtime.machine import Machine
from tplc_runtime.message import Delta


class StreamParser(Machine):
    """The parser that is generated for the format."""

    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:
        raise NotImplementedError


# The tokens of the format with their numbers; none if its tokenizer was not known.
TOKENS: dict[str, int | None]
# What the parsers are registered as.
NAME: str
# The format, as JSON.
IR: str
PARSES_CALLS: bool
PARSES_REASONING: bool
# As the template writes them.
REASONING_MARKERS: tuple[str, str]
# What a prompt holds that ends behind the reasoning, where nothing opens that and all text may be some; else "".
AFTER_REASONING: str
# What switches reasoning, of the servers' own words: always, thinking or enable_thinking.
REASONING_SWITCH: str
