"""List the cases in which the PEG and the generated parsers may differ, and why.

limit_of(engine, text, tools, parser_message, peg_message)  →  "white space", "pieces of closers", …, or None

Each limit says what has to be the same all the same, so that it excuses nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tplc.backends.peg.engine import PegEngine, grammar_for, head_of, syntax_tree
from tplc.ir.markers import parts_of, pieces_of
from tplc.ir.nodes import Elements, PairArguments, Slot, Text
from tplc_runtime.peg_nodes import Node, captures

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One text that the two read differently, with the PEG's tree."""

    engine: PegEngine
    text: str
    tree: Node
    parser: Message
    peg: Message

    def same(self, *keys: str) -> bool:
        return all(self.parser[key] == self.peg[key] for key in keys)


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    why: str
    applies: Callable[[Disagreement], bool]


def _texts_differ_in_white_space(case: Disagreement) -> bool:
    def bare(message: Message) -> list[str]:
        return [re.sub(r"\s", "", message[key] or "") for key in ("reasoning_content", "content")]

    return case.same("tool_calls") and bare(case.parser) == bare(case.peg)


def _content_differs_in_pieces_of_closers(case: Disagreement) -> bool:
    tools = case.engine.ir.tools
    if Slot("arguments") not in tools.call:
        return False
    texts = [item.text for item in tools.call[tools.call.index(Slot("arguments")) :] if isinstance(item, Text)]
    whole = [piece for text in (*texts, tools.section_end) for piece in pieces_of(text)]
    pieces = {part for piece in whole for part in (piece, *parts_of(piece))}
    slots = re.findall(r"\w+", " ".join(call["function"]["name"] for call in case.parser["tool_calls"]))

    def bare(message: Message) -> str:
        text = re.sub(r"\s", "", message["content"] or "")
        for piece in sorted({*pieces, *slots}, key=len, reverse=True):
            text = text.replace(piece, "")
        return text

    return case.same("reasoning_content", "tool_calls") and bare(case.parser) == bare(case.peg)


def _elements_do_not_pair_up(case: Disagreement) -> bool:
    """Return whether the first call that differs contains elements that were read as text, with everything before it
    equal; or whether no call differs, and in one an element is closed under another name."""
    tools = case.engine.ir.tools
    if tools.dialect is None or tools.dialect.elements is None or not case.same("reasoning_content"):
        return False
    openers = _element_openers(tools.dialect.elements, tools.arguments)
    calls = [*captures(case.tree, "call")]
    at = next((at for at, pair in enumerate(zip(*_calls(case), strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return any(_closes_another(argument) for call in calls for argument in captures(call, "argument"))
    if len(calls) <= at or len({message[at]["function"]["name"] for message in _calls(case)}) > 1:
        return False
    texts = [node.full_text[node.start : node.end] for node in captures(calls[at], "element_text")]
    texts += [_values_of(message[at]) for message in _calls(case)]
    return any(opener in text for text in texts for opener in openers)


def _pairs_come_again(case: Disagreement) -> bool:
    """Return whether one call differs, only in its arguments, and one of their values contains a call's opener."""
    tools = case.engine.ir.tools
    parser, peg = _calls(case)
    names = [[call["function"]["name"] for call in calls] for calls in (parser, peg)]
    differ = [one for one, other in zip(parser, peg, strict=False) if one != other]
    if not case.same("reasoning_content", "content") or names[0] != names[1] or len(differ) != 1:
        return False
    openers = [text.strip() for text in (*case.engine.acceptor.calls.opening.openers, tools.separator) if text.strip()]
    return any(opener in _values_of(differ[0]) for opener in openers)


def _values_of(call: Message) -> str:
    """Return the texts of the arguments; a key may come twice."""

    def joined(pairs: list[tuple[str, Any]]) -> str:
        return "".join(f"{value}\0" for _, value in pairs)

    return str(json.loads(call["function"]["arguments"], object_pairs_hook=joined))


def _closes_another(argument: Node) -> bool:
    texts = [
        [node.full_text[node.start : node.end] for node in captures(argument, kind)]
        for kind in ("argument_key", "value_close")
    ]
    return any(key not in close for key, close in zip(*texts, strict=False))


def _calls(case: Disagreement) -> tuple[list[Message], list[Message]]:
    return case.parser["tool_calls"], case.peg["tool_calls"]


def _element_openers(elements: Elements, arguments: object) -> list[str]:
    """Return the texts that begin an item and a pair."""
    pair = arguments.pair[:1] if isinstance(arguments, PairArguments) else ()
    texts = [elements.item_open, *(item.text for item in pair if isinstance(item, Text))]
    return [text.strip() for text in texts if text.strip()]


LIMITS = (
    Limit(
        "white space",
        "White space before what could have been a call or a marker: the parser has tried one there.",
        _texts_differ_in_white_space,
    ),
    Limit(
        "pieces of closers",
        "Which pieces of a broken closing marker are dropped from the content, and which are text.",
        _content_differs_in_pieces_of_closers,
    ),
    Limit(
        "elements",
        "An element that the elements in it do not pair up in is text for the grammar as a whole; for the parser the "
        "call ends there.",
        _elements_do_not_pair_up,
    ),
    Limit(
        "pairs that come again",
        "A key that begins a line ends a value that was not closed, unless it has come in this call: where the value "
        "holds what opens calls, the PEG takes that for the beginning of the call.",
        _pairs_come_again,
    ),
)


def limit_of(engine: PegEngine, text: str, tools: Any, parser: Message, peg: Message) -> str | None:
    tree = syntax_tree(grammar_for(engine.ir, tools), head_of(engine.ir, None) + text)
    case = Disagreement(engine, text, tree, parser, peg)
    return next((limit.name for limit in LIMITS if limit.applies(case)), None)
