"""Run the PEG of a format with parsimonious: the second opinion on what a generated parser says.

    PegEngine(ir).parse('<call>f\\n{"a": 1}</call>')  →  {"role": "assistant", "tool_calls": [{… "f" … '{"a": 1}'}], …}

It is for texts of moderate size: longer or deeper ones get a clear error here, and none in the generated parsers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from parsimonious.grammar import Grammar

from tplc.backends.peg import generate
from tplc.backends.peg.generate import refuse_unsupported
from tplc.backends.peg.known_tools import known_tools
from tplc.backends.peg.printed_grammar import PrintedGrammar
from tplc.backends.peg.special import Parsed, guarded, unguarded_result
from tplc.backends.peg.styles import form_of, styles_of
from tplc.errors import TplcError
from tplc.ir.markers import common_prefix
from tplc.ir.nodes import Json, TemplateIR, Text
from tplc.lower import CallForm, lower
from tplc.lower.layouts import text_at
from tplc.lower.special import special_tokens
from tplc_runtime.heads import continued_head, filled_heads, known_head
from tplc_runtime.peg_form import FormOfCalls
from tplc_runtime.peg_mapper import NOT_PREFILLED, Mapped, Prefilled, map_tree
from tplc_runtime.peg_nodes import Node
from tplc_runtime.peg_readers import Readers
from tplc_runtime.schema import parameters_of, tool_named

if TYPE_CHECKING:
    from tplc_runtime.message import Message

PART_OF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
SIZE_LIMIT = 1_000_000
DEPTH_LIMIT = 100
# A level of nesting takes parsimonious about 16 calls.
CALLS_A_LEVEL = 30
ToolList = Sequence[Mapping[str, Json]]
External = Callable[..., "int | None"]


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


class PegEngine:
    """The grammars of one format, made as they are needed."""

    def __init__(self, ir: TemplateIR) -> None:
        refuse_unsupported(ir)
        self.ir = ir
        self.acceptor = lower(ir)
        self.tokens = special_tokens(ir, self.acceptor)
        self.styles = styles_of(self.acceptor)

    def parse(
        self,
        text: str,
        *,
        partial: bool = True,
        **options: Any,
    ) -> Message:
        """Return the message of an output.  `options`: those of `read`.

        Raises InputTooLarge and InputTooDeep; and OutputCutOff when `partial` is false.
        """
        parsed = self.read(text, **options)
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
        json_content: bool = False,
        json_schema: Json | None = None,
        continue_final_message: bool = False,
        special: Sequence[Sequence[int]] | None = None,
    ) -> Parsed:
        """Return the result of parsing.  `json_schema`: the response format's, if the answer has one; `special`: the
        ranges of the text that came from special tokens."""
        head = head_of(self.ir, prompt, continued=continue_final_message)
        text, after_end = guarded(self.tokens, text, special)
        whole = head + text
        if len(whole) > SIZE_LIMIT:
            raise InputTooLarge(len(whole))
        grammar = grammar_for(self.ir, tools, json_schema, parse_tool_calls)

        readers = readers_for(self.ir, tools)

        def mapped(tree: Node, prefilled: Prefilled = NOT_PREFILLED) -> Mapped:
            return map_tree(tree, readers, prefilled, parse_reasoning=parse_reasoning, json_content=json_content)

        tree = syntax_tree(grammar, whole)
        result = mapped(tree)
        if head and not echo:
            prefilled = self.prefilled_in(head, result, lambda part: mapped(syntax_tree(grammar, part)))
            result = mapped(tree, prefilled)
        found = unguarded_result(Parsed(result.message, result.incomplete, result.trailing))
        return replace(found, trailing=found.trailing + after_end) if after_end else found

    def prefilled_in(self, head: str, whole: Mapped, mapped: Callable[[str], Mapped]) -> Prefilled:
        """Return the part of the message that the prompt contains.

        Of a call that it leaves open, that is the part of the arguments that is the same however the text continues.
        """
        if all(call.start >= len(head) for call in whole.calls):
            return Prefilled(len(head))
        in_arguments = self.calls is not None and not self.pairs and not self.calls.object.fields
        done = sum(1 for call in whole.calls if (call.arguments if in_arguments else call.closed) <= len(head))
        begun = mapped(head)
        if done >= len(whole.calls) or whole.calls[done].start >= len(head) or not begun.calls[done:]:
            if not begun.in_call or not begun.calls[done - 1 : done] or not self.pairs:
                return Prefilled(len(head), done)
            done -= 1
        if done < len(whole.calls) and whole.calls[done].begins >= len(head):
            return Prefilled(len(head), done)
        # What is left over after the arguments is the beginning of more.
        start = head if begun.in_call else head[: begun.calls[done].arguments]
        ways = [mapped(start + ending).message["tool_calls"] for ending in ["", *self.endings(start)]]
        arguments = common_prefix(*[way[done]["function"]["arguments"] for way in ways if len(way) > done])
        if self.pairs and arguments == "{":
            arguments = ""
        return Prefilled(len(head), done, PART_OF_ESCAPE.sub(r"\1", arguments))

    @property
    def pairs(self) -> bool:
        return self.calls is not None and self.calls.pairs is not None

    @property
    def calls(self) -> CallForm | None:
        return self.acceptor.calls

    def endings(self, start: str) -> list[str]:
        """Return different texts with which arguments may continue: words, text, brackets, another pair, the closing
        markers."""
        pairs = self.calls.pairs if self.calls else None
        pair = pairs.pair if pairs else ()
        one = "".join(item.text if isinstance(item, Text) else "k" for item in pair)
        more = pairs.separator + one if pairs else ""
        words = {word for style in self.styles for word in style.words}
        closing = [text for text in (self.calls.last_text if self.calls else "", text_at(pair, len(pair) - 1)) if text]
        begun = {*words, *closing, *(text.strip() for text in closing)}
        rests = {text[n:] for text in begun for n in range(1, len(text)) if start.endswith(text[:n])}
        dialect = self.ir.tools.dialect
        key = dialect.in_object.object_open + dialect.in_object.key_open + "k" if dialect else ""
        strings = [string.open + "x" for string in dialect.in_object.strings] if dialect else []
        typed = ["[1]", "true", "null"]
        return [key, *typed, *strings, "x", "0", " x", '"x', "'x", "}", "]", "\n", one, more, *closing, *sorted(rests)]


def syntax_tree(grammar: Grammar, text: str) -> Node:
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(max(before, depth + DEPTH_LIMIT * CALLS_A_LEVEL))
    try:
        tree: Node = grammar.parse(text)
        return tree
    except RecursionError:
        raise InputTooDeep from None
    finally:
        sys.setrecursionlimit(before)


def grammar_for(
    ir: TemplateIR, tools: ToolList | None, json_schema: Json | None = None, parse_tool_calls: bool = True
) -> Grammar:
    return _grammar(ir, json.dumps(tools), json.dumps(json_schema), parse_tool_calls)


@lru_cache(maxsize=64)
def _grammar(ir: TemplateIR, tools: str, json_schema: str, parse_tool_calls: bool) -> Grammar:
    schema, offered = json.loads(json_schema), json.loads(tools)
    text = generate(ir, tools=offered, json_schema=schema, parse_tool_calls=parse_tool_calls)
    grammar = PrintedGrammar(text, **externals(ir, offered))
    if offered is None:
        grammar.compile_all()  # the one that is written: a pattern that no output needs must be right too
    return grammar


def readers_for(ir: TemplateIR, tools: ToolList | None) -> Readers:
    return _readers(ir, json.dumps(tools))


@lru_cache(maxsize=64)
def _readers(ir: TemplateIR, tools: str) -> Readers:
    return Readers(_cached_form(ir), parameters_of(tools))


@lru_cache(maxsize=16)
def _cached_form(ir: TemplateIR) -> FormOfCalls:
    return form_of(lower(ir))


def externals(ir: TemplateIR, tools: ToolList | None) -> dict[str, External]:
    """Return the readers that take the place of rules, by the rule."""
    readers, calls = readers_for(ir, tools), lower(ir).calls
    if calls is None:
        return {}
    found: dict[str, External] = {"loose_value": readers.value if calls.pairs is None else readers.followed}
    found |= {"loose_call": readers.named_object, "nameless_object": readers.nameless_object}
    found |= {"cut_object": readers.cut_object, "other_calls": readers.other_calls}
    found |= {"other_calls_for_unopened": readers.unopened, "calls_follow": readers.calls_follow}
    found["unopened_header"] = readers.unopened_header
    names = sorted((name for name in readers.tools if name.strip()), key=lambda name: (-len(name), name))
    for name, tool in zip(names, known_tools(tools, closed=False).tools, strict=True):
        found[f"other_name_for_{tool.rule}"] = _name_of(readers, name)
        found[f"other_header_for_{tool.rule}"] = _header_of(readers, name)
        found[f"arguments_begin_for_{tool.rule}"] = _end_of(readers.arguments_begin, name)
        found[f"whole_object_for_{tool.rule}"] = _end_of(readers.object_for_pairs, name)
        found[f"other_arguments_for_{tool.rule}"] = _end_of(readers.other_arguments, name)
        found[f"other_pair_for_{tool.rule}"] = _end_of(readers.other_pair, name)
        found[f"odd_pair_for_{tool.rule}"] = _odd_pair_of(readers, name)
    return found


def _name_of(readers: Readers, name: str) -> External:
    def other_name(text: str, pos: int, cache: Any, error: Any, grammar: Grammar) -> int | None:
        found = grammar["any_name"].match_core(text, pos, cache, error) if "any_name" in grammar else None
        if found is None:
            return None
        written = readers.form.header.name_escapes.unescape(text[pos : found.end].strip())
        is_other = written not in readers.tools and tool_named(written, readers.tools) == name
        return int(found.end) if is_other else None

    return other_name


def _header_of(readers: Readers, name: str) -> External:
    def other_header(text: str, pos: int) -> int | None:
        found, end = readers.other_header(text, pos)
        return end if found == name else None

    return other_header


def _end_of(reader: Callable[[str, str, int], tuple[Any, ...] | None], name: str) -> External:
    def end(text: str, pos: int) -> int | None:
        found = reader(name, text, pos)
        return None if found is None else int(found[1])

    return end


def _odd_pair_of(readers: Readers, name: str) -> External:
    def odd_pair(text: str, pos: int, cache: Any, error: Any, grammar: Grammar) -> int | None:
        start = pos
        if "key_open" in grammar:
            opened = grammar["key_open"].match_core(text, pos, cache, error)
            start = opened.end if opened is not None else pos
        key = grammar["argument_key"].match_core(text, start, cache, error)
        if key is None:
            return None
        written = readers.form.pairs.key_escapes.unescape(text[start : key.end].strip())
        is_odd = readers.odd_pair(name, written, text, pos)
        return int(key.end) if is_odd else None

    return odd_pair


def head_of(ir: TemplateIR, prompt: str | None, *, continued: bool = False) -> str:
    """Return the part of the turn that the prompt contains."""
    acceptor = lower(ir)
    if prompt is None:
        return acceptor.heads[0]
    if not continued:
        return known_head(prompt, filled_heads(prompt, acceptor.heads), acceptor.anchors)
    opened = tuple(start.text.strip() for start in acceptor.reasoning_starts)
    closed = tuple(end.strip() for end in acceptor.reasoning_ends)
    return continued_head(prompt, acceptor.anchors, (opened, closed))
