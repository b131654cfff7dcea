"""The tools that a grammar is made for: their names become literals, and their arguments have rules of their own.

[{"type": "function", "function": {"name": "get-rain", …}}]  →  KnownTool("get-rain", rule="get_rain", …)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Json
from tplc_runtime.schema import parameters_of, properties_of, types_of_member


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `types` is None if the schema doesn't determine them."""

    name: str
    rule: str
    types: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class KnownTool:
    name: str
    rule: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The tools of a request. `closed`: a name that isn't one of these makes no call."""

    tools: tuple[KnownTool, ...] = ()
    closed: bool = False

    def __bool__(self) -> bool:
        return bool(self.tools)


def known_tools(
    tools: Sequence[Mapping[str, Json]] | None, *, closed: bool, written: Callable[[str], str] = str
) -> KnownTools:
    """Return the tools.  `written`: a name as the template writes it."""
    # Longest name first: of two names, one may begin with the other.
    schemas = sorted(parameters_of(list(tools or ())).items(), key=lambda item: (-len(item[0]), item[0]))
    taken: set[str] = set()
    known = tuple(_tool(written(name), schema, taken) for name, schema in schemas if name.strip())
    return KnownTools(known, closed and bool(known))


def known_tool(name: str, schema: object) -> KnownTool:
    """Return one tool by itself."""
    return _tool(name, schema, set())


def _tool(name: str, schema: object, taken: set[str]) -> KnownTool:
    rule = rule_word(name, taken)
    parameters = []
    for key in dict.fromkeys(properties_of(schema)):
        types = types_of_member(schema, key)
        parameters.append(Parameter(key, rule_word(f"{rule}_{key}", taken), types))
    return KnownTool(name, rule, tuple(parameters))


def rule_word(text: str, taken: set[str]) -> str:
    """Return a word for rule names: "get-rain" → get_rain; a second one that reads the same gets a number."""
    word = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "unnamed"
    count, unique = 1, word
    while unique in taken:
        count += 1
        unique = f"{word}_{count}"
    taken.add(unique)
    return unique
