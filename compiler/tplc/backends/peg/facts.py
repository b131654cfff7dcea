"""What the rules need to know beside the IR: which texts open and close what, as patterns.

section_start "<calls>\\n", call "<call>" NAME "\\n" ARGUMENTS "</call>"
→  section_open  <calls>\\n?      call_open  <call>      after the name  \\n      call_close  </call>
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from tplc.backends.peg.call_objects import call_object_of
from tplc.backends.peg.patterns import either, exact, group, marker, some_suffix
from tplc.ir.markers import FIELD_NAME, is_distinctive, only_punctuation, parts_of, pieces_of
from tplc.ir.nodes import GENERAL_TOLERANCES, Layout, PairArguments, Slot, SlotKind, TemplateIR, Text, Tools

SYNTAX = frozenset("[]{}(),:\"'=`; \t\n\r")
SLOT_AGAIN = r"[^\n]*?"


@dataclass(frozen=True, slots=True)
class CallShape:
    """A call's layout cut at its slots: `opener` (kind text)* `closer`.

    A slot is listed where it comes first; in `closer`, as a list of texts, a slot that comes again is None.
    """

    opener: str
    slots: tuple[tuple[SlotKind, str], ...]
    closer: tuple[str | None, ...]
    # Slots that are parts of the id, and the id's text before and after them.
    id_slots: tuple[SlotKind, ...] = ()
    id_prefix: str = ""
    id_suffix: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Patterns that more than one section of the grammar uses; "" where the format has no such thing."""

    turn_end: str
    end_texts: tuple[str, ...]
    turn_header: str
    reasoning_open: str
    # The openers that count in content as well, and those that count before it begins only.
    reasoning_open_anywhere: str
    reasoning_open_first: str
    reasoning_close: str
    # Closers that are dropped at the turn's start only.
    reasoning_close_first: str
    content_space: str
    content_open: str
    content_close: str
    section_open: str
    object_start: str
    section_close: str
    separator: str
    call_open: str
    call_close: str
    # The call's closer is not the beginning of an opener as well.
    closes_only: bool
    # The call's opener says by itself that a call comes, also outside a section.
    distinctive_call: bool
    stray: str
    # Nothing but JSON's signs opens a call: it counts only where a line begins.
    bare: bool
    call_lead: str
    call_cores: str
    tolerances: frozenset[str]

    @property
    def call_starts(self) -> list[str]:
        """Patterns at which a call may begin, looking ahead."""
        if not self.section_open or not self.call_open:
            return [pattern for pattern in (self.section_open, self.call_open, self.object_start) if pattern]
        whole = rf"{self.section_open}\s*+{self.call_open}"
        return [whole, self.call_open] if self.distinctive_call else [whole]

    @property
    def line_starts(self) -> list[str]:
        """The same where they count at the start of a line only, which may be indented."""
        indented = [rf"(?<=\n)[^\S\n]*+(?:{self.call_cores})"] if self.call_cores else []
        return [self.own_line, *indented] if self.call_lead else indented

    @property
    def own_line(self) -> str:
        """A call's opener together with the line ends before it that belong to it."""
        return rf"{self.call_lead}(?<=\n)(?:{self.call_cores})"


def facts_of(ir: TemplateIR) -> Facts:
    return _Analysis(ir).facts()


class _Analysis:
    def __init__(self, ir: TemplateIR) -> None:
        self.ir = ir
        off = {tolerance.kind for tolerance in ir.tolerances if not tolerance.enabled}
        self.tolerances = frozenset(GENERAL_TOLERANCES) - off
        self.variants: dict[str, list[str]] = {}
        for tolerance in ir.tolerances:
            if tolerance.kind == "variant" and tolerance.enabled:
                stands_for = self.roles().get(tolerance.marker, tolerance.marker).strip()
                self.variants.setdefault(stands_for, []).append(tolerance.text)

    def roles(self) -> dict[str, str]:
        ir = self.ir
        return {
            "reasoning.start": ir.reasoning.start,
            "reasoning.end": ir.reasoning.end,
            "content.start": ir.content.start,
            "content.end": ir.content.end,
            "turn.header": ir.turn.header,
            "tools.section_start": ir.tools.section_start,
            "tools.section_end": ir.tools.section_end,
            "tools.separator": ir.tools.separator,
        }

    def pattern(self, text: str) -> str:
        """The pattern of a marker and of its declared variants; "" for white space alone."""
        if not text.strip():
            return ""
        return group(either([marker(each) for each in [text, *self.variants.get(text.strip(), ())]]))

    def texts(self, text: str) -> list[str]:
        """A marker and its declared variants."""
        return [each for each in (text, *self.variants.get(text.strip(), ())) if each.strip()]

    def signs(self, text: str) -> str:
        """The pattern of a marker and its variants that are only punctuation, where no longer marker stands."""
        others = [*self.ir.turn.ends, *self.roles().values(), call_shape(self.ir.tools).opener]
        signs = filter(only_punctuation, self.texts(text))
        return group(either([unless_longer(each, others, marker(each)) for each in signs]))

    def words(self, text: str) -> str:
        return group(either([marker(each) for each in self.texts(text) if not only_punctuation(each)]))

    def facts(self) -> Facts:
        ir, tools = self.ir, self.ir.tools
        shape = call_shape(tools)
        section = tools.section_start
        # A section that opens with white space alone is no more than white space of the first call's opening.
        opener = shape.opener if section.strip() else section + shape.opener
        reasoning_close = self.pattern(ir.reasoning.end) if ir.reasoning.mode != "none" else ""
        # Signs of prose and code are text in content, unless the format has reasoning after it.
        anywhere = self.pattern if ir.reasoning.after_content else self.words
        strays = ir.reasoning.end if "stray_closers" in self.tolerances and ir.reasoning.mode != "delimiter" else ""
        # What opens a call that is an object, or whose id begins with a word, opens nothing without that.
        first = object_open(tools) if call_object_of(tools) and not shape.slots else shape.id_prefix
        ahead = _ahead(opener, first)
        # White space after the calls is the last closer's; otherwise nothing would show where it ends.
        closing = shape.closer if tools.section_end.strip() else with_space(shape.closer, tools.section_end)
        trailing = "" if ir.content.end.strip() else ir.content.end
        return Facts(
            turn_end=either([marker(trailing + end) for end in self.longest_first(ir.turn.ends)]),
            end_texts=tuple(self.longest_first(ir.turn.ends)),
            turn_header=either([self.opener(ir.turn.header)]) if ir.turn.header.strip() else "",
            reasoning_open=self.before_calls(ir.reasoning.start, self.pattern(ir.reasoning.start)),
            reasoning_open_anywhere=self.before_calls(ir.reasoning.start, anywhere(ir.reasoning.start)),
            reasoning_open_first="" if ir.reasoning.after_content else self.signs(ir.reasoning.start),
            reasoning_close=reasoning_close,
            reasoning_close_first=self.signs(strays) if ir.reasoning.mode != "none" else "",
            content_space="" if ir.content.start.strip() else ir.content.start,
            content_open=self.before_calls(ir.content.start, self.pattern(ir.content.start)),
            content_close=self.pattern(ir.content.end),
            section_open=self.opener(section) + (_ahead(section, first) if not opener.strip() else "")
            if section.strip()
            else "",
            object_start="" if opener.strip() or section.strip() else ahead,
            section_close=self.closer((tools.section_end,)),
            separator=self.pattern(tools.separator),
            call_open=self.opener(opener) + ahead if opener.strip() else "",
            call_close=self.closer(closing),
            closes_only=not self.opens("".join(text or "" for text in shape.closer[:1]).strip()),
            distinctive_call=is_distinctive(opener + shape.id_prefix) and "omitted_openers" in self.tolerances,
            stray=self.stray(self.words(ir.reasoning.end) if ir.reasoning.mode != "none" else "", shape),
            bare=tools.format != "none" and not is_telling_opener(section + shape.opener),
            call_lead=some_suffix(lead) if (lead := _lead(section + shape.opener)).endswith("\n") else "",
            call_cores=either([self.opener(text.lstrip()) for text in (section, opener) if text.strip()]) or ahead,
            tolerances=self.tolerances,
        )

    def longest_first(self, texts: tuple[str, ...]) -> list[str]:
        return sorted((text for text in texts if text.strip()), key=lambda text: (-len(text), text))

    def before_calls(self, text: str, pattern: str) -> str:
        """The pattern of a marker that an opener of calls may begin with."""
        return unless_longer(text, (self.ir.tools.section_start, call_shape(self.ir.tools).opener), pattern)

    def opener(self, text: str) -> str:
        if not text.strip():
            return ""
        texts = [text, *self.variants.get(text.strip(), ())]
        omissible = "omitted_openers" in self.tolerances
        return group(either([opener_pattern(each, omissible=omissible) for each in texts]))

    def opens(self, text: str) -> bool:
        return any(other.startswith(text) for other in self.openers())

    def openers(self) -> list[str]:
        """What opens a section, a call, a pair."""
        tools = self.ir.tools
        pairs = tools.arguments.pair[:1] if isinstance(tools.arguments, PairArguments) else ()
        texts = [tools.section_start, call_shape(tools).opener, _text_of(pairs)]
        return [text.strip() for text in texts if text.strip()]

    def closer(self, texts: tuple[str | None, ...]) -> str:
        """A closing marker, or a piece of it where it has several."""
        if not any(text and text.strip() for text in texts):
            return ""
        if None in texts:
            return "".join(SLOT_AGAIN if text is None else marker(text) for text in texts)
        whole = "".join(text or "" for text in texts)
        variants = [whole, *self.variants.get(whole.strip(), ())]
        pieces = [part for text in variants for piece in pieces_of(text) for part in (piece, *parts_of(piece))]
        ordered = [*variants, *sorted(dict.fromkeys(pieces), key=lambda piece: -len(piece))]
        openers = self.openers()
        # A piece that an opener begins with would tear that apart.
        ordered = [text for text in ordered if text in variants or text.strip() not in openers]
        alone = [(text, () if text in variants else openers) for text in unlike(ordered)]
        return group(either([unless_longer(text, longer, marker(text)) for text, longer in alone]))

    def stray(self, reasoning_close: str, shape: CallShape) -> str:
        """Closers that are dropped where nothing is open."""
        if "stray_closers" not in self.tolerances:
            return ""
        closer = () if None in shape.closer else shape.closer
        texts = [text for text in (*closer, self.ir.tools.section_end) if text]
        pieces = [piece for text in texts for piece in (text, *pieces_of(text))]
        pieces += [part for piece in pieces for part in parts_of(piece)]
        closers = unlike([piece for piece in pieces if is_distinctive(piece)])
        longest_first = sorted(closers, key=lambda text: (-len(text.strip()), text))
        found = [reasoning_close, *(marker(piece) for piece in longest_first)]
        return either([pattern for pattern in found if pattern])


def with_space(closer: tuple[str | None, ...], space: str) -> tuple[str | None, ...]:
    return (*closer[:-1], closer[-1] + space) if closer and closer[-1] else closer


def unless_longer(text: str, others: Iterable[str], pattern: str) -> str:
    """The pattern of a marker where none of the others stands that begin with it: the longer one counts."""
    begins = exact(text.strip())
    longer = [exact(other.strip()) for other in others if other.strip() != text.strip()]
    longer = [other for other in longer if other.startswith(begins)] if pattern and begins else []
    return (f"(?!{either(longer)})" if longer else "") + pattern


def unlike(texts: list[str]) -> list[str]:
    """The texts whose cores differ."""
    return list({text.strip(): text for text in reversed(texts) if text.strip()}.values())[::-1]


def _ahead(opener: str, first: str) -> str:
    """What has to come next; after white space where the opener ends with some."""
    space = "" if opener.strip() and not opener[-1].isspace() else r"\s*+"
    return f"(?={space}{exact(first)})" if first else ""


def _lead(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def is_telling_opener(text: str) -> bool:
    """Whether more than JSON's signs and field names opens a call."""
    return any(char not in SYNTAX for char in FIELD_NAME.sub("", text))


def opener_pattern(text: str, *, omissible: bool) -> str:
    """The pattern of an opener; its first pieces may be missing when what is left is distinctive.

    "<call>\\n<do="  →  (?:<call>\\s*)?<do=
    """
    *leads, last = segments_of(text) if omissible else [text]
    pattern = ""
    for lead in leads:
        before = f"(?:{pattern})?" if pattern else ""
        pattern = before + marker(lead.rstrip()) + (r"\s*+" if lead[-1:].isspace() else "")
    return (f"(?:{pattern})?" if pattern else "") + marker(last)


def segments_of(text: str) -> list[str]:
    """The opener cut before every piece that, with all after it, is distinctive."""
    cuts, at = [], 0
    for index, piece in enumerate(pieces_of(text)):
        at = text.index(piece, at)
        if index and is_distinctive(text[at:]) and not piece[0].isalnum():
            cuts.append(at)
        at += len(piece)
    edges = [0, *cuts, len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def object_open(tools: Tools) -> str:
    return (tools.dialect.in_object.object_open.strip() if tools.dialect else "") or "{"


def call_shape(tools: Tools) -> CallShape:
    called = call_object_of(tools)
    if called is not None:
        before = shape_of((*called.before, Slot("arguments")))
        return CallShape(before.opener, before.slots[:-1], (called.after,))
    return with_id(shape_of(tools.call), tools.call_id.layout)


def with_id(shape: CallShape, layout: Layout) -> CallShape:
    """A composed id taken out of the texts around it: "<call>functions." NAME ":" INDEX "<with>"."""
    kinds = tuple(item.kind for item in layout if isinstance(item, Slot))
    held = tuple(kind for kind, _ in shape.slots if kind in kinds)
    if len(layout) < 2 or held != kinds or not {"name", "id"} & set(kinds) or "arguments" in kinds:
        return shape
    prefix = layout[0].text if isinstance(layout[0], Text) else ""
    suffix = layout[-1].text if isinstance(layout[-1], Text) else ""
    cut = [(kind, text[len(suffix) :] if kind == kinds[-1] else text) for kind, text in shape.slots]
    opener, first = shape.opener, shape.slots[0][0]
    if first == kinds[0]:
        opener = opener[: len(opener) - len(prefix)]
    else:
        at = next(index for index, slot in enumerate(cut) if slot[0] == kinds[0]) - 1
        cut[at] = (cut[at][0], cut[at][1][: len(cut[at][1]) - len(prefix)])
    return CallShape(opener, tuple(cut), shape.closer, kinds, prefix, suffix)


def shape_of(layout: Layout) -> CallShape:
    first = _first_occurrences(layout)
    if not first:
        return CallShape("", (), ())
    slots: list[tuple[SlotKind, str]] = []
    for here, after in zip(first, [*first[1:], None], strict=True):
        item = layout[here]
        assert isinstance(item, Slot)
        slots.append((item.kind, "" if after is None else _text_of(layout[here + 1 : after])))
    closer = tuple(item.text if isinstance(item, Text) else None for item in layout[first[-1] + 1 :])
    return CallShape(_text_of(layout[: first[0]]), tuple(slots), closer)


def _first_occurrences(layout: Layout) -> list[int]:
    kinds = [item.kind if isinstance(item, Slot) else None for item in layout]
    return [index for index, kind in enumerate(kinds) if kind is not None and kinds.index(kind) == index]


def _text_of(items: Layout) -> str:
    return "".join(item.text for item in items if isinstance(item, Text))
