"""Learn from pairs of a message and its text, for what a template never renders.

    {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": "x"}}}]}  `<c>f(a=1, b="x")</c>`
    →  call `<c>` name `(` arguments `)</c>`, pair key `=` value, separator `, `, strings `"…"`

The values of the message are the sentinels: each is found in the text, in order, and what is between them is marker
text, as in renders.  What no pair shows (a second call, a second argument, a word for true) is not invented: one call,
one argument, JSON's words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.errors import FilePlace, SourceError, UnsupportedTemplate
from tplc.examples import Example
from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import (
    JSON_STYLE,
    ContentPlace,
    Dialect,
    Json,
    ObjectArguments,
    PairArguments,
    Reasoning,
    Slot,
    SlotKind,
    StringStyle,
    Text,
    ValueStyle,
)
from tplc.learn.align import Repetition, repetition
from tplc.learn.arguments import ArgumentFacts, merged
from tplc.learn.calls import CallFacts, around_calls, written_calls
from tplc.learn.content import ContentPlacement
from tplc.learn.outline import Outline

_MIRROR = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class _Pair:
    key: tuple[int, int]
    value: tuple[int, int]
    is_text: bool
    data: Json


@dataclass(frozen=True, slots=True)
class _Located:
    """Spans of one call in an example's text, in the order name, pairs."""

    name: tuple[int, int]
    id: tuple[int, int] | None
    pairs: tuple[_Pair, ...]

    @property
    def begin(self) -> int:
        return min(span[0] for span in self._spans())

    @property
    def end(self) -> int:
        return max(span[1] for span in self._spans())

    def _spans(self) -> list[tuple[int, int]]:
        spans = [self.name, *(pair.value for pair in self.pairs), *(pair.key for pair in self.pairs)]
        return [*spans, self.id] if self.id else spans


def calls_from_examples(examples: Sequence[Example], ends: Sequence[str], name: str) -> CallFacts | None:
    """Return the calls that the examples show; None if they show none. Raises SourceError when a value of a message
    is not in its text."""
    shown = [(_without_end(example, ends), example) for example in examples if example.calls]
    if not shown:
        return None
    located = [(text, example, _locate(text, example)) for text, example in shown]
    arguments = _object_arguments(located) or _pair_arguments(located, name)
    return _written(located, arguments)


def reasoning_from_examples(examples: Sequence[Example]) -> Reasoning:
    """Return the reasoning of an example that has some."""
    starts, ends = [], []
    for example in examples:
        if example.reasoning and example.reasoning in example.text:
            before, _, after = example.text.partition(example.reasoning)
            starts.append(before)
            if example.content and example.content in after:
                ends.append(after[: after.index(example.content)])
    start, end = (common_suffix(*starts), common_prefix(*ends)) if starts and ends else ("", "")
    # After white space alone, the beginning of content is unknown.
    return Reasoning("tag_based", start, end) if end.strip() else Reasoning()


def _without_end(example: Example, ends: Sequence[str]) -> str:
    for end in ends:
        if end.strip() and example.text.rstrip().endswith(end.strip()):
            return example.text[: example.text.rindex(end.strip())]
    return example.text


# -- finding the values -----------------------------------------------------------------------------------------------


def _locate(text: str, example: Example) -> list[_Located]:
    at, place = 0, example.place
    for part in (example.reasoning, example.content):
        if part and part in text[at:] and text.index(part, at) < _find(text, example.calls[0].name, at, place)[0]:
            at = text.index(part, at) + len(part)
    calls = []
    for call in example.calls:
        span = _find(text, call.name, at, place)
        identifier = (text.find(call.id, at), 0) if call.id and call.id in text[at:] else None
        found_id = (identifier[0], identifier[0] + len(call.id)) if identifier and call.id else None
        at = span[1]
        pairs = []
        for key, value in call.arguments:
            key_span = _find(text, key, at, place)
            value_span = _find_value(text, value, key_span[1], place)
            pairs.append(_Pair(key_span, value_span, isinstance(value, str), value))
            at = value_span[1]
        calls.append(_Located(span, found_id, tuple(pairs)))
    return calls


def _find(text: str, part: str, at: int, place: str | FilePlace) -> tuple[int, int]:
    found = text.find(part, at)
    if found < 0:
        raise SourceError(place, f"the text does not hold {json.dumps(part, ensure_ascii=False)}")
    return found, found + len(part)


def _find_value(text: str, value: Json, at: int, place: str | FilePlace) -> tuple[int, int]:
    """Return the span of a value: for text without its quotes, for a list or an object with its brackets."""
    if isinstance(value, (list, dict)):
        leaves = _leaves(value)
        begin = next((i for i in range(at, len(text)) if text[i] in _MIRROR), -1)
        if begin < 0:
            raise SourceError(place, "a list or object of the text has no bracket to find it by")
        end = begin + 1
        for leaf in leaves:
            end = _find_value(text, leaf, end, place)[1]
        depth = _open_brackets(text[begin:end])
        while depth and end < len(text):
            if text[end] == depth[-1]:
                depth.pop()
            end += 1
        return begin, end
    written = [value, json.dumps(value, ensure_ascii=False)[1:-1]] if isinstance(value, str) else _scalars(value)
    spans = [(text.find(form, at), text.find(form, at) + len(form)) for form in written if text.find(form, at) >= 0]
    if not spans:
        raise SourceError(place, f"the text does not hold {json.dumps(value, ensure_ascii=False)}")
    return min(spans)


def _scalars(value: Json) -> list[str]:
    return list(dict.fromkeys([json.dumps(value), str(value)]))


def _leaves(value: Json) -> list[Json]:
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in [key, *_leaves(item)]]
    return [value]


def _open_brackets(text: str) -> list[str]:
    """Return the closers that are due after `text`, outside of quotes."""
    due: list[str] = []
    quote = ""
    for ch in text:
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "\"'":
            quote = ch
        elif ch in _MIRROR:
            due.append(_MIRROR[ch])
        elif due and ch == due[-1]:
            due.pop()
    return due


# -- arguments --------------------------------------------------------------------------------------------------------

_Shown = Sequence[tuple[str, Example, list[_Located]]]


def _object_arguments(shown: _Shown) -> ArgumentFacts | None:
    """Return whether the text after a name contains the arguments as one JSON object."""
    decoder = json.JSONDecoder()
    for text, example, calls in shown:
        for call, located in zip(example.calls, calls, strict=True):
            first = located.pairs[0].key[0] if located.pairs else len(text)
            begin = text.find("{", located.name[1], first)
            try:
                value, _ = decoder.raw_decode(text, begin) if begin >= 0 else (None, 0)
            except json.JSONDecodeError:
                return None
            if value != dict(call.arguments):
                return None
    dialect = Dialect(JSON_STYLE, JSON_STYLE, JSON_STYLE)
    return ArgumentFacts(ObjectArguments(), dialect, '{"', "}", ())


def _pair_arguments(shown: _Shown, name: str) -> ArgumentFacts:
    leads = {True: [], False: []}  # type: dict[bool, list[str]]
    for text, _, calls in shown:
        for call in calls:
            for pair in call.pairs:
                leads[pair.is_text].append(text[pair.key[1] : pair.value[0]])
    if not leads[True] and not leads[False]:
        raise UnsupportedTemplate(name, "no example shows a call with an argument")
    quote_open, quote_close = "", ""
    lead = common_suffix(*(leads[True] or leads[False]))
    if leads[True] and leads[False]:
        lead = common_prefix(leads[True][0], leads[False][0])
        quote_open = leads[True][0][len(lead) :]
    if quote_open:
        quote_close = _close_quote(shown, quote_open)
    split = _pair_split(shown, quote_close)
    layout = merged([Text(split.open), Slot("key"), Text(lead), Slot("value"), Text(split.close)])
    top = _style(shown, StringStyle(quote_open, quote_close, "json") if quote_open else None)
    nested = replace(top, strings=(StringStyle('"', '"', "json"),)) if not top.strings else top
    arguments = PairArguments("", layout, split.separator, "", "")
    return ArgumentFacts(arguments, Dialect(top, nested, nested), split.open, quote_close + split.close, ())


def _close_quote(shown: _Shown, quote_open: str) -> str:
    mirrored = "".join(_MIRROR.get(ch, ch) for ch in reversed(quote_open))
    for text, _, calls in shown:
        for call in calls:
            for pair in call.pairs:
                if pair.is_text and text.startswith(mirrored, pair.value[1]):
                    return mirrored
    return ""


def _pair_split(shown: _Shown, quote_close: str) -> Repetition:
    """Open, close and separator of pairs, from the call with the most arguments."""
    rows = [(text, calls, i) for text, _, calls in shown for i in range(len(calls))]
    text, calls, index = max(rows, key=lambda row: len(row[1][row[2]].pairs))
    pairs = calls[index].pairs

    def after(pair: _Pair) -> int:
        skip = len(quote_close) if pair.is_text and text.startswith(quote_close, pair.value[1]) else 0
        return pair.value[1] + skip

    following = calls[index + 1].begin if index + 1 < len(calls) else len(text)
    pre = text[calls[index].name[1] : pairs[0].key[0]]
    post = text[after(pairs[-1]) : following]
    if len(pairs) < 2:
        return Repetition(pre, "", "", "", post)
    return repetition(pre, text[after(pairs[0]) : pairs[1].key[0]], post)


def _style(shown: _Shown, string: StringStyle | None) -> ValueStyle:
    python = False
    for text, _, calls in shown:
        leaves = [leaf for call in calls for pair in call.pairs for leaf in _leaves(pair.data)]
        # One word decides about the others: no known dialect mixes the words of two languages.
        python |= any((leaf is None or isinstance(leaf, bool)) and json.dumps(leaf) not in text for leaf in leaves)
    words = ("True", "False", "None") if python else (JSON_STYLE.true, JSON_STYLE.false, JSON_STYLE.null)
    true, false, null = words
    return replace(JSON_STYLE, strings=(string,) if string else (), true=true, false=false, null=null)


# -- the calls as a whole ---------------------------------------------------------------------------------------------


def _written(shown: _Shown, arguments: ArgumentFacts) -> CallFacts:
    """Return the calls of the example with the most of them, cut at their slots as a render is."""
    text, example, calls = max(shown, key=lambda row: len(row[2]))
    slots = [_slots(text, call, arguments) for call in calls]
    begin, end = slots[0][0][1], slots[-1][-1][2]
    content_end = 0
    if example.content and example.content in text[:begin]:
        content_end = text.index(example.content) + len(example.content)
    outline = Outline(
        kinds=tuple(kind for kind, _, _ in slots[0]),
        pre=text[content_end:begin],
        inner=tuple(tuple(text[a[2] : b[1]] for a, b in pairwise(call)) for call in slots),
        mids=tuple(text[one[-1][2] : two[0][1]] for one, two in pairwise(slots)),
        post=text[end:],
    )
    tools = written_calls(around_calls(outline, outline.post), outline, arguments, parallel=len(slots) > 1)
    return CallFacts(tools, ContentPlacement(_place(shown)), ())


def _place(shown: _Shown) -> ContentPlace:
    place: ContentPlace = "none"
    for text, example, calls in shown:
        if example.content and example.content in text:
            place = "before" if text.index(example.content) < calls[0].begin else "after"
    return place


def _argument_span(text: str, call: _Located, facts: ArgumentFacts) -> tuple[int, int]:
    """Return the span from the opening of the arguments to their closing."""
    if isinstance(facts.arguments, ObjectArguments):
        begin = text.index("{", call.name[1])
        return begin, json.JSONDecoder().raw_decode(text, begin)[1]
    if not call.pairs:
        return call.name[1], call.name[1]
    begin = call.pairs[0].key[0]
    if text[:begin].endswith(facts.opened):
        begin -= len(facts.opened)
    end = call.pairs[-1].value[1]
    if text.startswith(facts.closed, end):
        end += len(facts.closed)
    elif facts.closed and not call.pairs[-1].is_text:
        bare = facts.closed[len(facts.dialect.top.strings[0].close) :] if facts.dialect.top.strings else facts.closed
        end += len(bare) if text.startswith(bare, end) else 0
    return begin, end


def _slots(text: str, call: _Located, facts: ArgumentFacts) -> list[tuple[SlotKind, int, int]]:
    slots: list[tuple[SlotKind, int, int]] = [("name", *call.name), ("arguments", *_argument_span(text, call, facts))]
    return sorted([*slots, ("id", *call.id)] if call.id else slots, key=lambda slot: slot[1])
