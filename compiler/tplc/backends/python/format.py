r"""What the generated parser looks for in each state, worked out of the IR.

    tools.call = "<call>" name "\n" arguments "</call>"
    →  openers: "<call>"; the name ends at "\n"; closers: "</call>"

Only texts of the IR go in and come out: nothing here knows any format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from tplc.errors import TplcError
from tplc.ir.markers import is_distinctive, only_punctuation, parts_of, pieces_of
from tplc.ir.nodes import (
    Layout,
    PairArguments,
    Slot,
    SlotKind,
    TemplateIR,
    Text,
    Tools,
    ValueStyle,
)
from tplc.ir.spellings import Spelling, spelling_of, spellings_of
from tplc_runtime.values import Reader, Style

_SYNTAX = "[]{}(),:\"'=`; \t\n\r"
SPACE = r"\s{0,16}"
KEY_SHAPE = r"[^\s=:,(){}\[\]]{1,64}"


class UnsupportedFormat(TplcError):
    """A format that this backend cannot parse as it streams."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.name}: {self.problem}; parsers can't be generated for that"


@dataclass(frozen=True, slots=True)
class SlotEnd:
    """A slot of a header: the texts that end it (consumed), those that come next (not consumed), the line's end."""

    kind: str
    suffixes: tuple[str, ...]
    nexts: tuple[str, ...] = ()
    line: bool = False


@dataclass(frozen=True, slots=True)
class PairFacts:
    opens: tuple[str, ...]  # what opens a pair; empty when pairs begin with their key
    slots: tuple[SlotEnd, ...]
    between: tuple[tuple[str, tuple[str, ...]], ...]
    value_ends: tuple[str, ...]
    value_guess: tuple[str, str] | None
    guess_chars: str
    value_close: tuple[str, str] | None
    quoted: bool
    follow: tuple[str, str]
    words: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, tuple[str, ...]], ...]
    wrap: tuple[str, str] | None
    items: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class CallFacts:
    """`openers` end where the first slot begins; `distinct`: nothing else looks like them."""

    openers: tuple[str, ...]
    inner: tuple[str, ...]
    distinct: bool
    separators: tuple[str, ...]
    closers: tuple[str, ...]
    section_ends: tuple[str, ...] = ()  # closers after which no call follows, where calls have no opener of their own
    header: tuple[SlotEnd, ...] = ()
    tail: tuple[str, tuple[SlotEnd, ...]] | None = None  # slots after the arguments, and the text before them
    call_id: tuple[tuple[str, str], ...] = ()  # of texts and slots: ("text", …), ("slot", "index")
    fields: tuple[tuple[tuple[str, ...], str], ...] = ()
    object_open: str = "{"
    object_head: str = ""  # a pattern: how a call's object usually begins, up to the arguments
    pairs: PairFacts | None = None
    styles: tuple[Spelling, Spelling, Spelling] | None = None

    @property
    def unmarked(self) -> bool:
        """Nothing but white space shows that another call follows."""
        return not (self.fields or self.inner or self.separators)


@dataclass(frozen=True, slots=True)
class FormatFacts:
    reasoning_starts: tuple[str, ...]
    reasoning_ends: tuple[str, ...]
    first_starts: tuple[str, ...]  # those that count before content begins only
    first_ends: tuple[str, ...]  # those that where no reasoning is open count at the turn's start only
    delimiter: bool
    content_starts: tuple[str, ...]
    content_ends: tuple[str, ...]
    anchors: tuple[str, ...]
    content_space: str  # white space that the template writes before the content
    ends: tuple[str, ...]
    headers: tuple[str, ...]
    stray: tuple[str, ...]
    call_ends_reasoning: bool
    repeated_reasoning: bool
    calls: CallFacts | None


def format_facts(ir: TemplateIR) -> FormatFacts:
    return _Analysis(ir).facts()


class _Analysis:
    def __init__(self, ir: TemplateIR) -> None:
        self.ir = ir
        self.off = {tolerance.kind for tolerance in ir.tolerances if not tolerance.enabled}
        roles = {
            "reasoning.start": ir.reasoning.start,
            "reasoning.end": ir.reasoning.end,
            "content.start": ir.content.start,
            "content.end": ir.content.end,
            "turn.header": ir.turn.header,
            "tools.section_start": ir.tools.section_start,
            "tools.section_end": ir.tools.section_end,
            "tools.separator": ir.tools.separator,
        }
        self.variants: dict[str, list[str]] = {}
        for tolerance in ir.tolerances:
            if tolerance.kind == "variant" and tolerance.enabled:
                marker = roles.get(tolerance.marker, tolerance.marker)
                self.variants.setdefault(marker.strip(), []).append(tolerance.text)

    def on(self, tolerance: str) -> bool:
        return tolerance not in self.off

    def texts(self, marker: str) -> tuple[str, ...]:
        """A marker and its declared variants."""
        return _unique([marker, *self.variants.get(marker.strip(), ())])

    def facts(self) -> FormatFacts:
        ir = self.ir
        calls = self.calls() if ir.tools.format != "none" else None
        mode = ir.reasoning.mode
        content_space = ir.content.start if not ir.content.start.strip() else ""
        trailing = ir.content.end if not ir.content.end.strip() else ""
        ends = _unique(trailing + end for end in ir.turn.ends if end.strip())
        reasoning_starts = self.texts(ir.reasoning.start) if mode != "none" else ()
        reasoning_ends = self.texts(ir.reasoning.end) if mode != "none" else ()
        # Signs of prose and code are text in content, unless the format has reasoning after it.
        first_starts = () if ir.reasoning.after_content else tuple(filter(only_punctuation, reasoning_starts))
        first_ends: tuple[str, ...] = ()
        stray: list[str] = []
        if self.on("stray_closers"):
            first_ends = tuple(filter(only_punctuation, reasoning_ends))
            stray += [end for end in reasoning_ends if end not in first_ends]
            stray += [closer for closer in (calls.closers if calls else ()) if is_distinctive(closer)]
        return FormatFacts(
            reasoning_starts=reasoning_starts,
            reasoning_ends=reasoning_ends,
            first_starts=first_starts,
            first_ends=first_ends,
            delimiter=mode == "delimiter",
            content_starts=self.texts(ir.content.start) if ir.content.start.strip() else (),
            content_ends=self.texts(ir.content.end) if ir.content.end.strip() else (),
            anchors=tuple(anchor for anchor in ir.turn.anchors if anchor),
            content_space=content_space,
            ends=ends,
            headers=_unique(
                piece
                for header in self.texts(ir.turn.header)
                for piece in [header, *_suffixes(header)]
                if header.strip()
            ),
            stray=_unique(stray),
            call_ends_reasoning=self.on("call_ends_reasoning"),
            repeated_reasoning=self.on("repeated_reasoning"),
            calls=calls,
        )

    # Calls

    def calls(self) -> CallFacts:
        tools = self.ir.tools
        return self.json_calls(tools) if tools.json is not None else self.layout_calls(tools)

    def openers(self, section: str, first: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """What opens a call from outside the section, and inside it; and whether the former is distinctive."""
        inner = self.texts(first) if first else ()
        sections = self.texts(section) if section else ("",)
        openers = [start + text for start in sections for text in (inner or ("",))]
        if self.on("omitted_openers"):
            openers += [suffix for opener in openers for suffix in _suffixes(opener)]
            openers += [text for text in inner if is_distinctive(text)]
        openers = [opener for opener in openers if opener.strip()]
        return _unique(openers), _cored(inner), any(_telling_opener(opener) for opener in openers)

    def json_calls(self, tools: Tools) -> CallFacts:
        assert tools.json is not None and tools.dialect is not None
        fields = tools.json
        style = tools.dialect.in_object
        opened = style.object_open.strip() or "{"
        openers, inner, distinct = self.openers(tools.section_start, fields.prefix + opened)
        known = [(fields.name, "name"), (fields.arguments, "arguments"), (fields.id, "id"), (fields.index, "index")]
        known += [(path, "constant") for path, _ in fields.constants]
        return CallFacts(
            openers=openers,
            inner=inner,
            distinct=distinct,
            separators=_cored(self.texts(tools.separator)),
            closers=self.closers([fields.suffix], tools.section_end),
            fields=((("*",), "arguments"),)
            if fields.name_is_key
            else tuple((path, role) for path, role in known if path),
            object_open=opened,
            object_head=_object_head(tools),
            styles=self.spellings(tools),
        )

    def layout_calls(self, tools: Tools) -> CallFacts:
        assert tools.dialect is not None and tools.arguments is not None
        layout = _merged(tools.call)
        first = layout[0].text if isinstance(layout[0], Text) else ""
        openers, inner, distinct = self.openers(tools.section_start, first)
        at = next(i for i, item in enumerate(layout) if item == Slot("arguments"))
        before, after = layout[bool(first) : at], layout[at + 1 :]
        if Slot("name") not in before:
            return self.named_later(tools, layout)
        pairs = tools.arguments if isinstance(tools.arguments, PairArguments) else None
        closing, tail = self.after_arguments(after)
        closers = self.closers(closing, tools.section_end)
        ends = (*closers, tail[0]) if tail is not None else closers
        last = [*closing, tail[0]] if tail is not None else closing
        pair_facts = self.pairs(tools, pairs, last, ends, openers) if pairs is not None else None
        return CallFacts(
            openers=openers,
            inner=inner,
            distinct=distinct,
            separators=_cored(self.texts(tools.separator)),
            closers=closers,
            section_ends=self.texts(tools.section_end) if tools.section_end.strip() else (),
            header=self.header(before, tools, pairs, pair_facts, ends),
            tail=tail,
            call_id=_id_layout(tools, before),
            pairs=pair_facts,
            styles=self.spellings(tools),
            object_open=tools.dialect.in_object.object_open.strip() or "{",
        )

    def named_later(self, tools: Tools, layout: tuple[Text | Slot, ...]) -> CallFacts:
        """A call whose name comes after its arguments: both stand in one object, after slots or not."""
        assert tools.dialect is not None
        written, items = _written(layout, tools.dialect.in_object)
        opened = tools.dialect.in_object.object_open.strip() or "{"
        start, stop, members = self.object_in(written, opened, tools)
        fields = tuple(_fields(members))
        if not {"name", "arguments"} <= {role for _, role in fields}:
            raise UnsupportedFormat(self.ir.provenance.name, "the name of a call comes after its arguments")
        prefix, suffix = _split(written[: start + len(opened)], items), written[stop:]
        first = prefix[0].text if isinstance(prefix[0], Text) else ""
        openers, inner, distinct = self.openers(tools.section_start, first)
        return CallFacts(
            openers=openers,
            inner=inner,
            distinct=distinct,
            separators=_cored(self.texts(tools.separator)),
            closers=self.closers([suffix], tools.section_end),
            header=self.header(prefix[bool(first) :], tools, None, None, ()),
            fields=fields,
            object_open=opened,
            styles=self.spellings(tools),
        )

    def object_in(self, written: str, opened: str, tools: Tools) -> tuple[int, int, object]:
        """The first object of the dialect in a text: where it starts and stops, and its members."""
        style, _, _ = (Style(facts.strings, dict(facts.words), facts.signs) for facts in self.spellings(tools))
        start = written.find(opened)
        while start >= 0:
            reader = Reader((style, style, style))
            stop = reader.read(written, start, True)
            if not reader.want and not reader.repair:
                return start, stop, json.loads(reader.take())
            start = written.find(opened, start + 1)
        return 0, 0, {}

    def header(
        self,
        layout: Layout,
        tools: Tools,
        pairs: PairArguments | None,
        pair_facts: PairFacts | None,
        closers: Sequence[str],
    ) -> tuple[SlotEnd, ...]:
        """The slots before the arguments; the last of them may also end where the arguments begin."""
        assert tools.dialect is not None
        slots: list[SlotEnd] = []
        items = list(layout)
        for i, item in enumerate(items):
            if isinstance(item, Text):
                continue
            follower = items[i + 1] if i + 1 < len(items) else None
            suffix = follower.text if isinstance(follower, Text) else ""
            last = not any(isinstance(later, Slot) for later in items[i + 1 :])
            if suffix.strip() or not last:
                slots.append(SlotEnd(item.kind, self.texts(suffix)))
            elif pairs is None:
                slots.append(SlotEnd(item.kind, (), (tools.dialect.in_object.object_open,)))
            else:
                start = _cored([pairs.start])
                nexts = [*(pair_facts.opens if pair_facts else ()), pairs.end, pairs.empty, *closers]
                slots.append(SlotEnd(item.kind, start, _cored(nexts), line=True))
        return tuple(slots)

    def after_arguments(self, layout: Layout) -> tuple[list[str], tuple[str, tuple[SlotEnd, ...]] | None]:
        """The closing texts of a call, and the slots among them: an id, or the name once more."""
        at = next((i for i, item in enumerate(layout) if isinstance(item, Slot)), len(layout))
        texts = [item.text for item in layout if isinstance(item, Text)]
        if at == len(layout):
            return texts, None
        slots = []
        for i, item in enumerate(layout):
            follower = layout[i + 1] if i + 1 < len(layout) else None
            if isinstance(item, Slot):
                slots.append(SlotEnd(item.kind, (follower.text,) if isinstance(follower, Text) else ()))
        return texts[1:], (texts[0] if at else "", tuple(slots))

    def closers(self, texts: Sequence[str], section_end: str) -> tuple[str, ...]:
        # White space after the calls is the last closer's; otherwise nothing would show where it ends.
        texts = [*texts, section_end] if section_end.strip() else [*texts[:-1], "".join(texts[-1:]) + section_end]
        pieces = [piece for text in texts for variant in self.texts(text) for piece in [variant, *pieces_of(variant)]]
        pieces += [part for piece in pieces for part in parts_of(piece)]
        return _cored(pieces)

    # Arguments

    def pairs(
        self,
        tools: Tools,
        pairs: PairArguments,
        closing: Sequence[str],
        closers: tuple[str, ...],
        openers: tuple[str, ...],
    ) -> PairFacts:
        assert tools.dialect is not None
        dialect = tools.dialect
        layout = _merged(pairs.pair)
        at = next(i for i, item in enumerate(layout) if item == Slot("value"))
        before, after = list(layout[:at]), list(layout[at + 1 :])
        opener = before[0]
        opened = opener.text if isinstance(opener, Text) else ""
        before = before[1:] if opened else before
        slots = []
        for i, item in enumerate(before):
            if isinstance(item, Slot):
                follower = before[i + 1] if i + 1 < len(before) else None
                slots.append(SlotEnd(item.kind, self.texts(follower.text if isinstance(follower, Text) else "")))
        close = after[0].text if after and isinstance(after[0], Text) else ""
        repeats = len(after) > 1 and after[1] == Slot("key")
        rest = after[2].text if len(after) > 2 and isinstance(after[2], Text) else ""
        key_end = slots[-1].suffixes[0].strip() if slots else ""
        core = close.strip()
        guess, guess_chars = None, ""
        follow = self.follow(tools, pairs, closing, opened, key_end, KEY_SHAPE)
        if not repeats and not is_distinctive(close) and not dialect.top.strings:
            firsts = sorted({text.strip()[0] for text in (core, pairs.separator, pairs.end, *closing) if text.strip()})
            guess_chars = "".join(firsts)
            start = rf"\s{{0,16}}[{re.escape(guess_chars)}].{{0,160}}\Z|\s{{1,16}}\Z"
            before_pair = pairs.separator + opened
            indented = r"(?<=[^\S\n])" if re.search(r"\n[^\S\n]+\Z", before_pair) else ""
            _, end = self.follow(tools, pairs, closing, opened, key_end, f"{indented}(?P<key>{KEY_SHAPE})")
            if not core and not pairs.separator.strip() and before_pair[:1].isspace():
                space = "\n" if "\n" in before_pair[: -len(before_pair.lstrip()) or None] else before_pair[0]
                guess_chars, start, end = self.after_space(space, end, pairs.end + "".join(closing))
            elif not core and not any(text[:1].isspace() for text in (pairs.separator, pairs.end)):
                end = end.removeprefix(SPACE)  # white space before the end is the value's
            guess = (f"(?={re.escape(core)}{end})", "(?s:" + start + ")")
        following = [*closers, tools.separator, *openers, *self.ir.turn.ends]
        between = [
            ("pair", _cored([opened])),
            ("end", _cored([pairs.end])),
            ("skip", _cored([core, *pieces_of(close)] if not repeats else [])),
            ("skip", _cored([pairs.separator, pairs.start, *pieces_of(pairs.start), pairs.empty])),
            ("next", _cored(following)),
            ("broken", _cored([close] if repeats else [])),
        ]
        return PairFacts(
            opens=_cored([opened]),
            slots=tuple(slots),
            between=tuple((kind, texts) for kind, texts in between if texts),
            value_ends=self.texts(close) if guess is None and not dialect.top.strings else (),
            value_guess=guess,
            guess_chars=guess_chars,
            value_close=(close, rest) if repeats else None,
            quoted=bool(dialect.top.strings),
            follow=follow,
            words=spelling_of(dialect.top, also_python=self.on("python_literals")).words,
            types=_type_words(tools),
            wrap=(dialect.wrap.open, dialect.wrap.close) if dialect.wrap else None,
            items=(dialect.elements.item_open, dialect.elements.item_close) if dialect.elements else None,
        )

    def follow(
        self, tools: Tools, pairs: PairArguments, closing: Sequence[str], opened: str, key_end: str, key: str
    ) -> tuple[str, str]:
        """What may follow a value, as a pattern; and what may at the end of the output."""
        parts = [re.escape(pairs.separator.strip()), re.escape(opened.strip()), key, re.escape(key_end)]
        pair = SPACE.join(part for part in parts if part)
        closer = pairs.end + "".join(closing)
        first, *rest = map(re.escape, pieces_of(closer) or [""])
        end = first + "".join(f"(?:{SPACE}{text})?" for text in rest)
        separator, start = tools.separator.strip(), _call_start(tools)
        after = [re.escape(text.strip()) for text in _cored([tools.section_end, *self.ir.turn.ends])]
        after += [SPACE.join(filter(None, [re.escape(separator), start]))] if separator or start else []
        going_on = [pair, SPACE.join(filter(None, [end, f"(?:{'|'.join(after)})"]))] if after else [pair]
        if is_distinctive(closer):
            going_on.append(SPACE.join([first, *rest]))  # like nothing in a value, so anything may follow
        at_end = [*going_on, *([rf"{end}{SPACE}\Z"] if end else []), r"\Z"]
        return f"{SPACE}(?:{'|'.join(going_on)})", f"{SPACE}(?:{'|'.join(at_end)})"

    def after_space(self, space: str, end: str, closer: str) -> tuple[str, str, str]:
        """What an end may begin with, and the patterns of a guess, where white space alone ends a value.

        As much white space as the template writes, no more.  What ends the turn may follow at once, and also the
        call's closer before it.
        """
        blank = space + r"[^\S\n]{0,16}" if space == "\n" else space
        turn_ends = _unique(text.strip() for text in self.ir.turn.ends if is_distinctive(text))
        closers = [closer.strip()] if is_distinctive(closer) else []
        last = "|".join([*map(re.escape, turn_ends), r"\Z"])
        at_once = "|".join([*(f"{re.escape(text)}{SPACE}(?:{last})" for text in closers), last])
        firsts = sorted({text[0] for text in (*turn_ends, *closers, space)})
        start = rf"[{re.escape(''.join(firsts))}].{{0,160}}\Z|\s{{1,16}}\Z"
        return "".join(firsts), start, f"(?:{blank}{end.removeprefix(SPACE)}|{at_once})"

    def spellings(self, tools: Tools) -> tuple[Spelling, Spelling, Spelling]:
        return spellings_of(tools, also_python=self.on("python_literals"))


def _call_start(tools: Tools) -> str:
    """A pattern for a call's beginning, up to what ends its name; "" where nothing does."""
    layout = _merged(tools.call)
    at = layout.index(Slot("name"))
    suffix = layout[at + 1] if at + 1 < len(layout) else None
    first = layout[0].text.strip() if isinstance(layout[0], Text) else ""
    if any(isinstance(item, Slot) for item in layout[:at]) or not isinstance(suffix, Text) or not suffix.text.strip():
        return re.escape(first) if is_distinctive(first) else ""  # like nothing in a value, so anything may follow
    return rf"{re.escape(first)}{SPACE}{KEY_SHAPE}{SPACE}{re.escape(suffix.text.strip())}"


def _written(layout: Sequence[Text | Slot], style: ValueStyle) -> tuple[str, dict[str, str]]:
    """The layout as one text, with a name of its own for each slot."""
    items = {f"\x7f{item.kind}\x7f": item.kind for item in layout if isinstance(item, Slot)}
    quoted = {"arguments": f"{style.strings[0].open}\x7farguments\x7f{style.strings[0].close}" if style.strings else ""}
    return "".join(
        item.text if isinstance(item, Text) else quoted.get(item.kind, f"\x7f{item.kind}\x7f") for item in layout
    ), dict(items)


def _split(text: str, items: Mapping[str, str]) -> tuple[Text | Slot, ...]:
    parts = re.split("(\x7f[a-z]+\x7f)", text)
    return _merged(tuple(Slot(_kind(part)) if part in items else Text(part) for part in parts))


def _kind(part: str) -> SlotKind:
    return next(kind for kind in get_args(SlotKind) if kind == part.strip("\x7f"))


def _fields(members: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(members, dict):
        for key, value in members.items():
            yield from _fields(value, (*path, key))
    else:
        role = members.strip("\x7f") if isinstance(members, str) and members[:1] == "\x7f" else ""
        yield path, role if role in ("name", "arguments", "id", "index") else "constant"


def _object_head(tools: Tools) -> str:
    """A pattern for what a call's object holds before its arguments, where that is plain JSON."""
    assert tools.json is not None and tools.dialect is not None
    paths = {"name": tools.json.name, "id": tools.json.id or (), "arguments": tools.json.arguments}
    order = [item.kind for item in tools.call if isinstance(item, Slot)]
    before = order[: order.index("arguments")]
    flat = all(len(paths.get(kind, ())) == 1 for kind in (*before, "arguments"))
    plain = all(string.open == '"' and string.escape == "json" for string in tools.dialect.in_object.strings)
    if not flat or not plain or "name" not in before or tools.dialect.in_object.object_open != "{":
        return ""
    text = r'"\s*:\s*"(?P<{}>[^"\\\x00-\x1f]*)"\s*,\s*'
    fields = ['"' + re.escape(paths[kind][0]) + text.replace("{}", kind) for kind in before]
    return r"\{\s*" + "".join(fields) + '"' + re.escape(paths["arguments"][0]) + r'"\s*:\s*(?=\{)'


def _type_words(tools: Tools) -> tuple[tuple[str, tuple[str, ...]], ...]:
    assert tools.dialect is not None
    words: dict[str, list[str]] = {}
    for word in tools.dialect.types:
        words.setdefault(word.word, []).append(word.type)
    return tuple((word, tuple(types)) for word, types in words.items())


def _id_layout(tools: Tools, header: Layout) -> tuple[tuple[str, str], ...]:
    """The id as a list of texts and slots, when all its slots stand before the arguments."""
    slots = {item.kind for item in header if isinstance(item, Slot)}
    layout = tools.call_id.layout
    if tools.call_id.position == "none":
        return ()
    if not all(isinstance(item, Text) or item.kind in slots for item in layout):
        return ()
    return tuple(("text", item.text) if isinstance(item, Text) else ("slot", item.kind) for item in layout)


def _merged(layout: Layout) -> tuple[Text | Slot, ...]:
    items: list[Text | Slot] = []
    for item in layout:
        if isinstance(item, Text) and items and isinstance(items[-1], Text):
            items[-1] = Text(items[-1].text + item.text)
        elif not isinstance(item, Text) or item.text:
            items.append(item)
    return tuple(items)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _cored(texts: Iterable[str]) -> tuple[str, ...]:
    return _unique(text for text in texts if text.strip())


def _suffixes(text: str) -> list[str]:
    """What is left of an opener when its first pieces are missing, as far as that is distinctive by itself."""
    found = []
    at = 0
    for piece in pieces_of(text):
        at = text.index(piece, at)
        suffix = text[at:]
        if suffix.strip() != text.strip() and is_distinctive(suffix) and not suffix[0].isalnum():
            found.append(suffix)
        at += len(piece)
    return found


def _telling_opener(text: str) -> bool:
    """Not only JSON or list punctuation and field names."""
    plain = re.sub(r'"\w*"?\s*:?', "", text)
    return any(char not in _SYNTAX for char in plain)
