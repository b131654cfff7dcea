"""Check the rules that every IR must satisfy, for any template.

    turn.prompts[0]: text does not end with the header and the head
    tools.call: the slot "arguments" stands 2 times, expected once

A violation is a mistake in what made the IR, not in the template: the driver raises on it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tplc.ir.nodes import (
    GENERAL_TOLERANCES,
    Arguments,
    Content,
    Dialect,
    Layout,
    ObjectArguments,
    PairArguments,
    Reasoning,
    Slot,
    TemplateIR,
    Text,
    Tools,
    Turn,
    Verification,
)
from tplc.ir.sizes import MOST_CHARACTERS, longest_text


@dataclass(frozen=True, slots=True)
class Violation:
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def check(ir: TemplateIR) -> list[Violation]:
    return [
        *_check_sizes(ir),
        *_check_turn(ir.turn),
        *_check_reasoning(ir.reasoning, ir.turn),
        *_check_content(ir.content),
        *_check_tools(ir.tools),
        *_check_tokens(ir),
        *_check_tolerances(ir),
        *_check_verification(ir.verification),
    ]


def _check_sizes(ir: TemplateIR) -> Iterator[Violation]:
    path, size = longest_text(ir)
    if size > MOST_CHARACTERS:
        yield Violation(path, f"has {size} characters, more than {MOST_CHARACTERS}")


def _check_turn(turn: Turn) -> Iterator[Violation]:
    if not turn.prompts:
        yield Violation("turn.prompts", "there is none; the default generation prompt is prompts[0]")
    for index, prompt in enumerate(turn.prompts):
        if not prompt.text.endswith(turn.header + prompt.head):
            yield Violation(f"turn.prompts[{index}]", "text does not end with the header and the head")
    yield from _check_texts("turn.anchors", turn.anchors)
    yield from _check_texts("turn.ends", turn.ends)
    yield from _check_texts("turn.other_heads", turn.other_heads)
    yield from _check_unique("turn.prompts", [repr(prompt.context) for prompt in turn.prompts])


def _check_reasoning(reasoning: Reasoning, turn: Turn) -> Iterator[Violation]:
    mode, start, end = reasoning.mode, reasoning.start, reasoning.end
    if mode == "none":
        if reasoning != Reasoning():
            yield Violation("reasoning", "the mode is none, but start, end or key is set")
        return
    if not end.strip() and mode != "tools_only":
        yield Violation("reasoning.end", f"the mode {mode} needs a marker that ends reasoning")
    if mode == "delimiter" and start:
        yield Violation("reasoning.start", "the mode is delimiter, which has no start")
    if mode != "delimiter" and not start.strip():
        yield Violation("reasoning.start", f"the mode {mode} needs a marker that starts reasoning")
    if not start.strip() or not end.strip():
        return
    head = turn.prompts[0].head if turn.prompts else ""
    opened, _, rest = head.rpartition(start.strip())
    if mode == "forced_open" and (opened + rest == head or end.strip() in rest):
        yield Violation("reasoning.mode", "forced_open, but the default generation prompt does not leave it open")
    if mode == "forced_closed" and end.strip() not in head:
        yield Violation("reasoning.mode", "forced_closed, but the default generation prompt does not close it")


def _check_content(content: Content) -> Iterator[Violation]:
    if content.mode == "plain" and (content.start + content.end).strip():
        yield Violation("content", "the mode is plain, but start or end is more than white space")
    if content.mode != "plain" and not content.start + content.end:
        yield Violation("content", f"the mode is {content.mode}, but neither start nor end is set")


def _check_tools(tools: Tools) -> Iterator[Violation]:
    if tools.format == "none":
        if tools != Tools():
            yield Violation("tools", "the format is none, but a marker, layout or dialect is set")
        return
    if tools.dialect is None:
        yield Violation("tools.dialect", f"the format {tools.format} needs one")
    else:
        yield from _check_dialect(tools.dialect, tools.arguments)
    if (tools.json is not None) != (tools.format == "json_native"):
        yield Violation("tools.json", "is set for the format json_native, and for no other")
    yield from _check_call(tools)
    yield from _check_arguments(tools)
    yield from _check_call_id(tools)


def _check_call(tools: Tools) -> Iterator[Violation]:
    yield from _check_layout("tools.call", tools.call)
    slots = Counter(item.kind for item in tools.call if isinstance(item, Slot))
    if slots["arguments"] != 1:
        yield Violation("tools.call", f'the slot "arguments" stands {slots["arguments"]} times, expected once')
    if not slots["name"]:
        yield Violation("tools.call", 'the slot "name" is missing')
    for kind in sorted(set(slots) - {"name", "arguments", "id", "index", "count"}):
        yield Violation("tools.call", f'the slot "{kind}" does not belong in a call')
    yield from _check_bare_call(tools)
    if tools.json is None:
        return
    if not tools.json.name_is_key and not (tools.json.name and tools.json.arguments):
        yield Violation("tools.json", "name and arguments need a path of keys each")
    if tools.json.name_is_key and (tools.json.name or tools.json.arguments):
        yield Violation("tools.json", "the name is the key, but name or arguments has a path")
    counted = Slot("index") in tools.call_id.layout  # then the id's path is the counter's
    for kind, path in (("id", tools.json.id), ("index", tools.json.index)):
        if (path is not None) != bool(slots[kind] if not counted else kind == "id"):
            yield Violation(f"tools.json.{kind}", f"a path goes with the slot {kind} in tools.call, and the other way")


def _check_bare_call(tools: Tools) -> Iterator[Violation]:
    if not tools.bare_call:
        return
    yield from _check_layout("tools.bare_call", tools.bare_call)
    if tools.json is not None or not isinstance(tools.arguments, ObjectArguments):
        yield Violation("tools.bare_call", "only arguments that are an object after a name may be left out")
    elif Slot("arguments") in tools.bare_call:
        yield Violation("tools.bare_call", "it has no arguments")
    elif tools.call[: len(_before_arguments(tools.call))] != tools.bare_call[: len(_before_arguments(tools.call))]:
        yield Violation("tools.bare_call", "it begins as every call does, up to the last slot before the arguments")


def _before_arguments(call: Layout) -> Layout:
    """Return the layout up to the last slot before the arguments."""
    before = call[: call.index(Slot("arguments"))] if Slot("arguments") in call else call
    return before[: 1 + max((place for place, item in enumerate(before) if isinstance(item, Slot)), default=-1)]


def _check_arguments(tools: Tools) -> Iterator[Violation]:
    arguments = tools.arguments
    if arguments is None:
        yield Violation("tools.arguments", f"the format {tools.format} needs them")
        return
    pairs = tools.format in ("tag_with_tagged", "keyword_arguments")
    if pairs != isinstance(arguments, PairArguments):
        yield Violation("tools.arguments", f"the format {tools.format} has {'pairs' if pairs else 'an object'}")
    if isinstance(arguments, PairArguments):
        yield from _check_pair(arguments, tools.dialect)


def _check_pair(arguments: PairArguments, dialect: Dialect | None) -> Iterator[Violation]:
    path = "tools.arguments.pair"
    yield from _check_layout(path, arguments.pair)
    kinds = [item.kind for item in arguments.pair if isinstance(item, Slot)]
    slots = Counter(kinds)
    for kind in ("key", "value"):
        if not slots[kind]:
            yield Violation(path, f'the slot "{kind}" is missing')
    for kind in sorted(set(slots) - {"key", "value", "type"}):
        yield Violation(path, f'the slot "{kind}" does not belong in a pair')
    words = dialect.types if dialect is not None else ()
    directly = {two.kind for one, two in pairwise(arguments.pair) if one == Slot("type") and isinstance(two, Slot)}
    if "key" not in directly and bool(directly) != any(word.close for word in words):
        yield Violation(path, "a value follows its type directly if texts that depend on its type surround it")
    if "key" in directly and not all(word.word for word in words):
        yield Violation("tools.dialect.types", "pairs that open with their type have a text for each")
    if dialect is not None and bool(slots["type"]) != bool(dialect.types):
        yield Violation(path, 'the slot "type" goes with tools.dialect.types, and the other way')


def _check_dialect(dialect: Dialect, arguments: Arguments | None) -> Iterator[Violation]:
    if isinstance(arguments, ObjectArguments):
        if dialect.top != dialect.in_object:
            yield Violation("tools.dialect", "the arguments are one object, so top equals in_object")
        if dialect.elements is not None:
            yield Violation("tools.dialect.elements", "nested elements need arguments in pairs")
        lines = arguments.lines
        if lines is not None and (lines.first < 0 or lines.indent < 1):
            yield Violation("tools.arguments.lines", "each level has more spaces than the level around it")
        if lines is not None and arguments.encoded:
            yield Violation("tools.arguments.lines", "lines are not inside a JSON string")
    for place, style in (("top", dialect.top), ("in_object", dialect.in_object), ("in_list", dialect.in_list)):
        if not all(string.open and string.close for string in style.strings):
            yield Violation(f"tools.dialect.{place}.strings", "a string needs what opens and what closes it")
    if dialect.wrap is not None and not (dialect.wrap.open and dialect.wrap.close):
        yield Violation("tools.dialect.wrap", "a string needs what opens and what closes it")
    if dialect.wrap is not None and dialect.top.strings:
        yield Violation("tools.dialect.wrap", "only raw strings are wrapped")
    if dialect.indent is not None and dialect.indent < 0:
        yield Violation("tools.dialect.indent", "is a number of spaces")
    if any(word.close for word in dialect.types) and (dialect.wrap or dialect.top.strings or dialect.elements):
        yield Violation("tools.dialect.types", "only raw values are between texts that depend on their type")
    if any(bool(word.close) != bool(word.word) for word in dialect.types) and any(word.close for word in dialect.types):
        yield Violation("tools.dialect.types", "a value is between two texts, or bare")
    yield from _check_unique("tools.dialect.types", [word.type for word in dialect.types])


def _check_call_id(tools: Tools) -> Iterator[Violation]:
    call_id = tools.call_id
    if (call_id.position == "none") != (not call_id.layout):
        yield Violation("tools.call_id", "a position goes with a layout, and the other way")
    if call_id.pattern is not None:
        try:
            re.compile(call_id.pattern)
        except re.error as error:
            yield Violation("tools.call_id.pattern", f"is not a regular expression: {error}")
    yield from _check_layout("tools.call_id.layout", call_id.layout)
    if call_id.layout and not _holds(tools.call, call_id.layout):
        yield Violation("tools.call_id.layout", "its items do not stand in a row in tools.call")


def _holds(layout: Layout, part: Layout) -> bool:
    """Return whether `layout` contains `part`; the outer texts of the part may be pieces of longer ones."""
    return any(
        all(_fits(item, wanted, first=index == 0, last=index == len(part) - 1) for index, (item, wanted) in rows)
        for start in range(len(layout) - len(part) + 1)
        for rows in [list(enumerate(zip(layout[start:], part, strict=False)))]
    )


def _fits(item: Text | Slot, wanted: Text | Slot, *, first: bool, last: bool) -> bool:
    if isinstance(item, Text) and isinstance(wanted, Text):
        if first and last:
            return wanted.text in item.text
        if first:
            return item.text.endswith(wanted.text)
        if last:
            return item.text.startswith(wanted.text)
    return item == wanted


def _check_layout(path: str, layout: Layout) -> Iterator[Violation]:
    for index, item in enumerate(layout):
        if isinstance(item, Text) and not item.text:
            yield Violation(f"{path}[{index}]", "is an empty text")
        if isinstance(item, Text) and index and isinstance(layout[index - 1], Text):
            yield Violation(f"{path}[{index}]", "is a text after a text; neighbours are joined")
        # Arguments may follow the name directly: their own opener ends it.
        after_slot = index > 0 and isinstance(layout[index - 1], Slot) and layout[index - 1] != Slot("type")
        if isinstance(item, Slot) and item.kind != "arguments" and after_slot:
            yield Violation(f"{path}[{index}]", "follows another slot directly; no marker separates them")


def _check_tokens(ir: TemplateIR) -> Iterator[Violation]:
    yield from _check_texts("preserved_tokens", ir.preserved_tokens)
    yield from _check_texts("tokens", tuple(token.text for token in ir.tokens))
    for index, token in enumerate(ir.tokens):
        if token.id is not None and token.id < 0:
            yield Violation(f"tokens[{index}].id", "is below 0")


def _check_tolerances(ir: TemplateIR) -> Iterator[Violation]:
    for index, tolerance in enumerate(ir.tolerances):
        path = f"tolerances[{index}]"
        if tolerance.kind == "variant":
            for name in ("marker", "text", "reason"):
                if not getattr(tolerance, name):
                    yield Violation(f"{path}.{name}", "a variant needs it")
        elif tolerance.kind not in GENERAL_TOLERANCES:
            yield Violation(f"{path}.kind", f"no tolerance is called {tolerance.kind}")
    yield from _check_unique("tolerances", [t.kind for t in ir.tolerances if t.kind != "variant"])


def _check_verification(result: Verification) -> Iterator[Violation]:
    if result.passed > result.messages:
        yield Violation("verification.passed", "is more than the number of messages")
    if result.verified and (result.failures or result.passed < result.messages or not result.messages):
        yield Violation("verification.verified", "is true, but not every message came back")


def _check_texts(path: str, texts: tuple[str, ...]) -> Iterator[Violation]:
    for index, text in enumerate(texts):
        if not text:
            yield Violation(f"{path}[{index}]", "is an empty text")
    yield from _check_unique(path, list(texts))


def _check_unique(path: str, values: list[str]) -> Iterator[Violation]:
    for value, count in Counter(values).items():
        if count > 1:
            yield Violation(path, f"{value!r} stands {count} times")
