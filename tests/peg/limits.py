"""Where the PEG and the generated parsers may differ, and why: the whole list.

limit_of(engine, text, tools, parser_message, peg_message)  →  "white space", "broken values", …, or None
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz.formats import Format
from tplc.backends.peg.engine import PegEngine, grammar_for, head_of, syntax_tree
from tplc.backends.peg.facts import facts_of
from tplc.ir.nodes import Slot
from tplc_runtime.peg_mapper import Node, first

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One text that the two read differently, with the PEG's tree."""

    engine: PegEngine
    text: str
    tree: Node
    parser: Message
    peg: Message

    def has(self, *rules: str) -> bool:
        return first(self.tree, *rules) is not None


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    why: str
    applies: Callable[[Disagreement], bool]


def _differs_in_white_space(case: Disagreement) -> bool:
    def bare(message: Message) -> Message:
        return {**message, **{key: re.sub(r"\s", "", message[key] or "") for key in ("content", "reasoning_content")}}

    return bare(case.parser) == bare(case.peg)


def _looks_like_a_call(case: Disagreement) -> bool:
    return facts_of(case.engine.ir).bare


def _is_broken(case: Disagreement) -> bool:
    return case.has("loose_object", "loose_rest", "loose_value", "loose_string") or _breaks_a_call_object(case)


def _breaks_a_call_object(case: Disagreement) -> bool:
    # A call whose name comes after its arguments is an object in all but the layout.
    tools = case.engine.ir.tools
    kinds = [item.kind for item in tools.call if isinstance(item, Slot)]
    named_later = "name" in kinds and kinds.index("name") > kinds.index("arguments")
    return (tools.json is not None or named_later) and not objects_are_whole(case.text)


def objects_are_whole(text: str) -> bool:
    """Whether every object in the text, wherever it stands, is JSON."""
    at = text.find("{")
    while at >= 0:
        try:
            at = text.find("{", json.JSONDecoder().raw_decode(text, at)[1])
        except ValueError:
            return False
    return True


LIMITS = (
    Limit(
        "white space",
        "White space beside a marker that turns out to be text: the parser decides when the marker comes, the grammar "
        "when the call has failed.",
        _differs_in_white_space,
    ),
    Limit(
        "broken values",
        "Where an object ends whose brackets or quotes do not pair up: the parser repairs as it reads, the grammar "
        "looks for the brackets first.",
        lambda case: (
            case.has("loose_object", "loose_rest", "loose_value", "loose_string") or _breaks_a_call_object(case)
        ),
    ),
    Limit(
        "talk of calls",
        "After an opener that opens no call, the parser goes on where the call failed, the grammar after the opener.",
        lambda case: case.has("talk_of_calls"),
    ),
    Limit(
        "elements",
        "A value written as elements that do not pair up is text for the grammar as a whole.",
        lambda case: case.has("element_text"),
    ),
    Limit(
        "bare calls",
        "Where nothing but JSON's own signs opens a call, how far text that begins like one is text.",
        _looks_like_a_call,
    ),
)


def limit_of(form: Format, engine: PegEngine, text: str, tools: Any, parser: Message, peg: Message) -> str | None:
    tree = syntax_tree(grammar_for(engine.ir, tools), head_of(engine.ir, None) + text)
    case = Disagreement(engine, text, tree, parser, peg)
    return next((limit.name for limit in LIMITS if limit.applies(case)), None)
