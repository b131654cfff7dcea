"""Run the PEG of a format with parsimonious: the second opinion on what a generated parser says.

    PegEngine(ir).parse('<call>f\\n{"a": 1}</call>')  →  {"role": "assistant", "tool_calls": [{… "f" … '{"a": 1}'}], …}

It is for texts of moderate size: longer or deeper ones get a clear error here, and none in the generated parsers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from parsimonious.grammar import Grammar

from tplc.backends.peg import generate
from tplc.errors import TplcError
from tplc.ir.nodes import Json, PairArguments, TemplateIR, Tools, ValueStyle
from tplc_runtime.peg_mapper import Mapped, Node, Styles, map_tree
from tplc_runtime.values import Style

if TYPE_CHECKING:
    from tplc_runtime.message import Message

SIZE_LIMIT = 1_000_000
DEPTH_LIMIT = 100
# A level of nesting takes parsimonious about 16 calls.
CALLS_A_LEVEL = 30
ToolList = Sequence[Mapping[str, Json]]


class InputTooLarge(TplcError):
    """The text is longer than the engine takes."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"the output has {size:,} characters, and the PEG engine takes {SIZE_LIMIT:,}: "
            "use the generated parser, which has no limit"
        )
        self.size = size


class InputTooDeep(TplcError):
    """The text nests deeper than the engine takes."""

    def __init__(self) -> None:
        super().__init__(
            f"the output nests deeper than {DEPTH_LIMIT} levels, which is what the PEG engine takes: "
            "use the generated parser, which has no limit"
        )


class OutputCutOff(TplcError):
    """The output stops before its end, and only whole ones were asked for."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the output stops inside a part, at character {size:,}: allow partial outputs to read it")
        self.size = size


@dataclass(frozen=True, slots=True)
class Parsed:
    message: Message
    incomplete: bool


class PegEngine:
    """The grammars of one format, made as they are needed."""

    def __init__(self, ir: TemplateIR) -> None:
        self.ir = ir
        self.styles = styles_of(ir.tools)

    def parse(
        self,
        text: str,
        *,
        tools: ToolList | None = None,
        prompt: str | None = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
        partial: bool = True,
    ) -> Message:
        """The message that an output means.

        Raises InputTooLarge and InputTooDeep; and OutputCutOff when `partial` is false.
        """
        parsed = self.read(
            text,
            tools=tools,
            prompt=prompt,
            parse_reasoning=parse_reasoning,
            parse_tool_calls=parse_tool_calls,
            echo=echo,
        )
        if parsed.incomplete and not partial:
            raise OutputCutOff(len(text))
        return parsed.message

    def read(
        self,
        text: str,
        *,
        tools: ToolList | None = None,
        prompt: str | None = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
    ) -> Parsed:
        head = head_of(self.ir, prompt)
        whole = head + text
        if len(whole) > SIZE_LIMIT:
            raise InputTooLarge(len(whole))
        ir = self.ir if parse_tool_calls else replace(self.ir, tools=Tools())
        grammar = grammar_for(ir, tools)

        def mapped(part: str, said: int) -> Mapped:
            return map_tree(
                syntax_tree(grammar, part), tools=tools, said=said, parse_reasoning=parse_reasoning, styles=self.styles
            )

        result = mapped(whole, 0 if echo else len(head))
        return Parsed(result.message, result.incomplete)


def syntax_tree(grammar: Grammar, text: str) -> Node:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _depth_now() + DEPTH_LIMIT * CALLS_A_LEVEL))
    try:
        tree: Node = grammar.parse(text)
        return tree
    except RecursionError:
        raise InputTooDeep from None
    finally:
        sys.setrecursionlimit(before)


def _depth_now() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def grammar_for(ir: TemplateIR, tools: ToolList | None) -> Grammar:
    return _grammar(ir, None if tools is None else json.dumps(tools))


@lru_cache(maxsize=64)
def _grammar(ir: TemplateIR, tools: str | None) -> Grammar:
    return Grammar(generate(ir, tools=None if tools is None else json.loads(tools)))


def head_of(ir: TemplateIR, prompt: str | None) -> str:
    """What the prompt already holds of the turn."""
    heads = [each.head for each in ir.turn.prompts]
    if prompt is None:
        return heads[0] if heads else ""
    start = turn_start(ir, prompt, len(prompt))
    if start >= 0:
        return prompt[start:]
    return max((head for head in heads if prompt.endswith(head)), key=len, default="")


def turn_start(ir: TemplateIR, prompt: str, stop: int) -> int:
    """After the last anchor, or an earlier one when all that stands between them is reasoning."""
    found = [
        (at + len(anchor), at) for anchor in ir.turn.anchors if anchor and (at := prompt.rfind(anchor, 0, stop)) >= 0
    ]
    if not found:
        return -1
    start, at = max(found)
    opened, closed = ir.reasoning.start.strip(), ir.reasoning.end.strip()
    earlier = turn_start(ir, prompt, at) if opened else -1
    between = prompt[earlier:at].strip() if earlier >= 0 else ""
    return earlier if between and between.startswith(opened) and between.endswith(closed) else start


def styles_of(tools: Tools) -> Styles:
    """How values are repaired, at the top, inside lists, inside objects."""
    dialect = tools.dialect
    if dialect is None:
        return STYLELESS
    if not isinstance(tools.arguments, PairArguments):
        return (_style(dialect.in_object),) * 3
    return _style(dialect.top), _style(dialect.in_list), _style(dialect.in_object)


def _style(style: ValueStyle) -> Style:
    strings = {string.open: (string.open, string.close, string.escape) for string in style.strings}
    if strings:
        strings.setdefault('"', ('"', '"', "json"))
        strings.setdefault("'", ("'", "'", "python"))
    words = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
    words |= {style.true: "true", style.false: "false", **({style.null: "null"} if style.null else {})}
    given = (
        style.list_open,
        style.list_separator,
        style.list_close,
        style.object_open,
        style.colon,
        style.object_separator,
        style.object_close,
    )
    signs = [sign.strip() or usual for sign, usual in zip(given, "[,]{:,}", strict=True)]
    return Style(list(strings.values()), words, signs, bare_keys=not style.key_open)


STYLELESS: Styles = (Style((), {}), Style((), {}), Style((), {}))
