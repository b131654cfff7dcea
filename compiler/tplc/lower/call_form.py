r"""What a parser reads of calls: what opens and closes them, where their names end, their arguments.

    CallForm(opening=Opening(openers=("<call>",), …), header=(SlotEnd("name", ("\\n",)),), closing=Closing(…), …)

It is `Acceptor.calls`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tplc.ir.markers import (
    any_piece_ends_with,
    is_distinctive,
    parts_of,
    pieces_of,
    without_space,
)
from tplc.ir.nodes import Layout, SlotKind, type_opens
from tplc.ir.spellings import Spelling
from tplc.lower.layouts import text_at
from tplc_runtime.lexemes import SAME_SLOT as SAME_SLOT
from tplc_runtime.scanner import ANY_WORD

# The fields of a call that is an object with one member: the name, and the arguments as its value.
NAME_IS_KEY = ((("*",), "arguments"),)
LINE_END = "\n"
FENCE = "```"
WORD_OR_PUNCTUATION = re.compile(r"<[^<>]*>|[\w.:-]+|[^\w\s]")
WHITE_SPACE = " \t\n"
Where = Literal[
    "anywhere",  # anywhere in content
    "line start",  # where a line begins, which may be indented
    "before content",  # as long as the content has not begun
    "turn start",  # before anything else of the turn
]


@dataclass(frozen=True, slots=True)
class SlotEnd:
    """A slot of a header: the texts that end it (consumed), those that come next (not consumed).

    `stops`: white space that ends it as well, "" for none, LINE_END, or WHITE_SPACE, so that it is one word.
    `bare`: what may come next where the text between is left out; the slot must be one word then.
    """

    kind: str
    suffixes: tuple[str, ...]
    nexts: tuple[str, ...] = ()
    stops: str = ""
    bare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Following:
    """What may come after a value: a further pair, or what closes the call, and then what comes after a call.

    Texts are without outer white space; between any two of them there may be some.  None stands for a key or a name.
    """

    close: str  # closes the value, where values may contain that as well
    # White space before: any; none, for it is text; as `spaces` says, for more of it is text; only `blank`.
    lead: Literal["free", "text", "written", "blank"]
    blank: str
    pair: tuple[str | None, ...]
    indented: bool  # the next key follows white space in its line
    closer: tuple[str | None, ...]  # what closes the call, in pieces; all but the first may be missing; None: a slot
    closes: bool  # the closer is like nothing in a value, so anything may come after it
    after: tuple[str, ...]
    next_call: tuple[str | None, ...]
    next_empty: tuple[str, ...]  # the text after its name instead, if it has no arguments
    turn_ends: tuple[str, ...]  # those like nothing in a value
    starts: str  # the characters that it may begin with; "" for any
    section_end: str = ""  # one of `after`
    # What the template writes before a further pair, before the closer, and before a further call.
    spaces: tuple[str, str, str] = ("", "", "")
    space_separates: bool = False  # nothing but the first of these separates two pairs
    not_in_keys: str = ""  # the text between two pairs, if no key that may be any contains it
    only_between: str = ""  # the text between two pairs, if values don't contain it, so that a key has any characters
    after_key: str = ""  # after `close` comes the key again, and then this
    unprefixed: tuple[str, ...] = ()  # what closes the call, without the text that all markers begin with
    other_end: str = ""  # `section_end` without that text


def _words_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the pieces of texts, the words and the punctuation that they consist of, the longest first."""
    pieces = [part for text in texts for piece in pieces_of(text) for part in (piece, *parts_of(piece))]
    words = [word for piece in pieces for word in WORD_OR_PUNCTUATION.findall(piece)]
    return tuple(sorted({*pieces, *words} - {""}, key=lambda text: (-len(text), text)))


@dataclass(frozen=True, slots=True)
class TypeWrap:
    """A text before raw values of some types, and what ends such a value: its own closer with that of the pair.

    `ends` has that with its variants; `around_key` the texts before and after the key instead, if the closer of the
    pair repeats it.  `opened` and `close` are "" for types whose values stand bare.  If types open pairs
    (`PairForm.types_open_pairs`), `opened` is what opens a pair with such a value.
    """

    opened: str
    close: str
    types: tuple[str, ...]
    ends: tuple[str, ...] = ()
    around_key: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class PairValue:
    """How the values of pairs are written: quoted, raw, between texts of their own, as their types say."""

    quoted: bool
    guessed: bool  # no marker of its own ends a raw value: it ends before what may follow
    words: tuple[tuple[tuple[str, str], ...], ...]  # and others, which are text unless a schema says otherwise
    types: tuple[tuple[str, tuple[str, ...]], ...]
    wrap: tuple[str, str] | None
    items: tuple[str, str] | None
    wraps: tuple[TypeWrap, ...] = ()
    spaced: bool = False  # after a key's end that white space precedes, white space is no part of a raw value
    nested_quotes: str = '"'  # of strings inside lists and objects, which end a raw value without its own end
    literals: str = ""  # a raw value that is one string in such quotes of Python is that string
    # Texts that stand for characters in all of a raw value ("value"), only in a string, or only in another ("literal").
    escapes: tuple[tuple[str, str, str], ...] = ()
    json: bool = False  # a raw value is JSON, strings in quotes, once its escapes are undone


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """What ends the value of a pair."""

    close: str  # as it is written
    closers: tuple[str, ...]  # of a raw value
    around_key: tuple[str, str] | None  # what is before and after the key, if the closer repeats it
    following: Following
    # What may follow a value written without the quotes that the template puts around every value.
    bare: Following | None = None
    # The openers of a pair that begins a line, and the text after its key: it ends a raw value whose own closer is
    # missing.
    next_pair: tuple[tuple[str, ...], str] | None = None
    # What is after such a key, if a key with it shows at the start of a line that a pair begins there, without
    # what opens one.
    next_unopened: str = ""
    # The call's markers after a raw value, each like nothing in a value: the first closer that one of them, or a known
    # key, follows directly ends the value.  Empty: the first closer does.
    marks: tuple[str, ...] = ()
    # The usual texts from a value's closer on: up to the next key, or to before the end of the call's closer.
    usual: tuple[str, ...] = ()
    unprefixed: tuple[str, ...] = ()  # `closers` without the text that all markers begin with


@dataclass(frozen=True, slots=True)
class PairForm:
    """Arguments in pairs: `start` pair (`separator` pair)* `end`, or `empty`; each pair in the layout `pair`."""

    start: str
    separator: str
    end: str
    empty: str
    pair: Layout
    opens: tuple[str, ...]  # what opens a pair; empty when pairs begin with their key
    slots: tuple[SlotEnd, ...]
    value: PairValue
    value_end: ValueEnd
    between: tuple[tuple[str, tuple[str, ...]], ...]
    replaced: tuple[tuple[str, str], ...] = ()  # texts that stand for characters in a key, with those characters
    resumes: bool = False  # after text that is no pair, what opens one says by itself that a pair begins there

    @property
    def types_open_pairs(self) -> bool:
        """Return whether the text of the value's type is directly before the key."""
        return type_opens(self.pair)

    @property
    def close_like_opener(self) -> str:
        """Return the closer of quoted values if it begins like the opener of a pair (`| key | "value" |`), or ""."""
        close, opens = self.value_end.close.strip(), tuple(text.strip() for text in self.opens)
        return (
            close
            if self.value.quoted and close and close.startswith(opens) and self.value_end.around_key is None
            else ""
        )

    @property
    def key_texts(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the pieces of the texts before a key and after it, of which models leave some out; None if a key isn't
        found that way."""
        known = self.opens and self.value_end.around_key is None and self.slots and self.slots[0].kind == "key"
        if not known or not all(map(is_distinctive, self.opens)):
            return None
        after = [text for slot in self.slots for text in slot.suffixes]
        return _words_of(self.opens), _words_of(after)

    @property
    def separable_keys(self) -> bool:
        """Return whether pairs begin with their key, and only a colon or `=` separates it from its value."""
        keys = not self.opens and self.value_end.around_key is None and self.slots and self.slots[0].kind == "key"
        return bool(keys) and not "".join(self.slots[0].suffixes).strip(" =:")

    @property
    def between_pairs(self) -> str:
        """Return the text between a value and the next pair's first slot, as it is written."""
        return self.value_end.close + self.separator + text_at(self.pair, 0)

    @property
    def pairs_have_opener(self) -> bool:
        """Return whether pairs begin with an opener, so that text that doesn't start with one is not read as arguments,
        and the call is rejected."""
        return bool(self.opens) and not self.resumes


@dataclass(frozen=True, slots=True)
class CallShape:
    """A call as it is written, cut at its slots: `opener` (kind text)* `closer`.

    A slot is listed where it comes first; where it comes again, it is SAME_SLOT in the text before another slot, and
    None in `closer`, a list of texts.
    """

    opener: str
    slots: tuple[tuple[SlotKind, str], ...]
    closer: tuple[str | None, ...]
    # Slots that are parts of the id, and the id's text before and after them.
    id_slots: tuple[SlotKind, ...] = ()
    id_prefix: str = ""
    id_suffix: str = ""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A piece of a whole call; `pattern` matches the piece, or the text after it (slots, `key`, `raw`).

    `text`: the same without its white space; if it is one of several texts, "\\0" is between them.  `object` and
    `value` are in the dialect.  `pairs`: at least `least` times `pair`, with `between` between two of them.
    """

    kind: Literal["text", "name", "id", "index", "count", "object", "pairs", "key", "value", "raw", "line"]
    pattern: str = ""
    text: str = ""
    least: int = 0
    pair: tuple[CallStep, ...] = ()
    between: tuple[CallStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens calls.

    `openers` end where the first slot begins, or with the text that opens the call's object.  `where` says at which
    places they count.  `inner` count after a call.

    `ordinary` openers consist of ordinary characters and lack the section that the template writes before them.  They
    count at the start of a line if a `whole` call follows.  If all `openers` count at the start of a line only, a whole
    call of a known tool is a call inside a line as well.  `short` openers lack words at their end, or the call's own
    opener.  They open calls of known tools only.
    """

    section_starts: tuple[str, ...] = (
        "",
    )  # with variants, the template's own first; as `starts`, of the shape's opener
    starts: tuple[str, ...] = ("",)
    openers: tuple[str, ...] = ()
    where: Where = "anywhere"
    inner: tuple[str, ...] = ()
    ordinary: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()  # those of which a part comes twice, without white space
    may_be_missing: bool = False  # calls of known tools count before any content without a marker, too
    in_reasoning: Where | None = None  # where an opener ends reasoning that is open
    ends_reasoning: bool = False  # the template writes calls in open reasoning
    after_reasoning: str = ""  # the white space that the template writes between open reasoning and a call
    begins: str = ""  # how a call goes on after its opener, if that is like text and no tools are known
    # The text between two calls as the template writes it, and the second opener up to its first slot, both with and
    # without the closer of the first call.  Empty if that is not a sequence of distinguishable markers.
    usual_next: tuple[str, ...] = ()

    @property
    def section_start(self) -> str:
        return self.section_starts[0]

    @property
    def may_be_fenced(self) -> bool:
        """Return whether a fence may open calls that names a language, or that the template doesn't write: another one
        after code closes that."""
        own = self.openers[0] if self.openers else ""
        language = own.partition(FENCE)[2][:1]
        is_own = FENCE in own and not (language.isalnum() or language == ANY_WORD)
        return not is_own and any(text.lstrip().startswith(FENCE) for text in self.openers)

    @property
    def truncatable(self) -> tuple[str, ...]:
        """Return openers whose beginning, at the output's end, isn't text. A fence that the template doesn't write is
        text."""
        fence = any(FENCE in text for text in self.openers[:1])
        return tuple(text for text in self.openers if fence or not text.lstrip().startswith(FENCE))

    @property
    def left_over(self) -> tuple[str, ...]:
        """Return distinctive openers that models write in the place of a closer."""
        return tuple(text for text in (*self.section_starts[:1], *self.starts[:1]) if is_distinctive(text))

    @property
    def at_lines(self) -> bool:
        """Return whether what opens a call looks like text, so that it counts at the start of a line only."""
        return self.where == "line start"

    @property
    def is_fence(self) -> bool:
        """Return whether a fence opens calls, perhaps with a language, as it opens code in content."""
        opener = self.openers[0].strip() if self.openers else ""
        return opener.startswith(FENCE) and opener[len(FENCE) :].replace("_", "").isalnum()


@dataclass(frozen=True, slots=True)
class Closing:
    """What closes calls, and separates them.  `closers` count if no call is open too: see
    `Acceptor.ignorable_closers`."""

    of_call: tuple[str, ...] = ()
    of_section: tuple[str, ...] = ()
    last: tuple[str, ...] = ()  # closers after which nothing of the call is missing; () where it has none of its own
    last_pieces: tuple[str, ...] = ()  # the last pieces of what closes a call, if nothing else ends with them
    unprefixed: tuple[str, ...] = ()  # closers without the text that all markers of the arguments begin with
    ends_turn: bool = False  # one call is all: its last closer may be what ends the turn, which servers cut off
    section_ends: tuple[str, ...] = ()  # closers after which no call follows, where calls have no opener of their own
    separators: tuple[str, ...] = ()
    optional_separators: str = ""  # characters that may also separate two calls, before the second opener

    @property
    def closers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.of_call, *self.of_section]))

    def come_once(self, ends: tuple[str, ...]) -> bool:
        """Return whether a closer that comes again is left over, because no piece of the turn's ends is like one."""
        return not any_piece_ends_with(ends, tuple(map(without_space, self.closers)))

    @property
    def distinctive(self) -> tuple[str, ...]:
        """Return closers before which an object without a name is text: they are like nothing in the object."""
        return tuple(text for text in self.last or self.closers[:1] if is_distinctive(text))

    @property
    def of_turn(self) -> tuple[str, ...]:
        """Return the closers that end the turn, if one call is all of it."""
        return tuple(text for text in self.last if is_distinctive(text)) if self.ends_turn else ()


@dataclass(frozen=True, slots=True)
class ObjectForm:
    """Calls that are one object; without `fields`, calls are none."""

    fields: tuple[tuple[tuple[str, ...], str], ...] = ()
    wrapped: tuple[tuple[tuple[str, ...], str], ...] = ()  # the same inside of one more object, as APIs have them
    opener: str = "{"
    # How a call's object usually begins: a pattern up to the name, and the text from there to inside of the arguments.
    head: tuple[str, str] | None = None

    def path_of(self, role: str) -> tuple[str, ...]:
        """Return the keys that lead to a slot in a call that is an object; empty if it has none."""
        return next((path for path, slot in self.fields if slot == role), ())

    @property
    def name_is_key(self) -> bool:
        return self.fields == NAME_IS_KEY


@dataclass(frozen=True, slots=True)
class ArgumentObject:
    """Arguments that are one object."""

    styles: tuple[Spelling, Spelling, Spelling] | None = None
    encoded: bool = False  # they are written inside a JSON string
    lines: int | None = None  # they are indented lines, the outermost with so many spaces
    escapes: tuple[
        tuple[str, str], ...
    ] = ()  # texts that stand for characters in all their text, with those characters
    ends: tuple[str, ...] = ()  # markers with a character that is escaped in that text: they end it


@dataclass(frozen=True, slots=True)
class CallForm:
    """Calls as a parser reads them; lower/written.py has the texts that the template writes around them."""

    slot_order: tuple[SlotKind, ...]  # as the template writes them
    last_text: str  # after the last of them
    shape: CallShape
    opening: Opening = Opening()
    closing: Closing = Closing()
    object: ObjectForm = ObjectForm()
    arguments: ArgumentObject = ArgumentObject()
    pairs: PairForm | None = None  # arguments that are pairs
    pairs_begin: str = ""  # how pairs without openers begin, if what opens a call is like text
    header: tuple[SlotEnd, ...] = ()
    tail: tuple[str, tuple[SlotEnd, ...]] | None = None  # slots after the arguments, and the text before them
    call_id: Layout = ()
    breaks: tuple[str, ...] = ()  # markers that no name holds, and no value outside of a string: they end it
    empty: tuple[str, ...] = ()  # an opener with its closer and nothing between: dropped
    replaced: tuple[tuple[str, str], ...] = ()  # texts that stand for characters in a name, with those characters
    bare_call: Layout = ()  # a call without arguments as it is written, if that is another form
    whole: tuple[CallStep, ...] = ()  # a call exactly as the template writes it; () where no row of steps is that

    @property
    def innermost_breaks(self) -> tuple[str, ...]:
        """Breaks that contain no other: every break contains one of these."""
        return tuple(text for text in self.breaks if not any(other != text and other in text for other in self.breaks))

    @property
    def header_texts(self) -> tuple[str, ...]:
        """Return the texts of which a call's header consists, and their pieces: each may be missing, or come twice."""
        texts = [
            self.shape.opener,
            *(text for kind, text in self.shape.slots if kind != "arguments"),
            self.shape.id_prefix,
        ]
        texts += [text for slot in self.header for text in slot.suffixes]
        return _words_of(part for text in texts for part in text.split(SAME_SLOT))

    @property
    def header_pattern(self) -> str:
        """Return the pattern of one part of a header; parts may be missing, or come twice."""
        opens_pairs = self.pairs is not None and any(text.lstrip().startswith("[") for text in self.pairs.opens)
        texts = "|".join([r"\[\w{1,32}\]"] * (not opens_pairs) + [*map(re.escape, self.header_texts)])
        return rf"""(?:{texts}|[^\S\n]{{0,64}}[\n:.,/'"`<>]|[0-9]+|\w{{1,32}}\s?=(?=\s?["']))"""

    @property
    def after_call_markers(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the markers that count after a call, by kind. A closer that also opens the next call is both."""
        joined = [f"{char}\n{text}" for char in self.closing.optional_separators for text in self.opening.inner]
        return (
            ("tail", (self.tail[0],) if self.tail is not None else ()),
            ("call", (*self.opening.inner, *self.opening.openers, *self.opening.short, *joined)),
            ("separator", self.closing.separators),
            ("section", self.closing.section_ends if self.calls_are_juxtaposed else ()),
            # If calls have no closer of their own, those of the section follow calls of which nothing is missing.
            ("closed", self.closing.last if self.is_closed else self.closing.closers),
            ("close", (*self.closing.closers, *self.closing.unprefixed)),
        )

    @property
    def longer_than_closers(self) -> tuple[str, ...]:
        """Return those of the markers after a call that begin with a whole closer: their truncated beginning is not
        text."""
        pieces = {without_space(text) for text in self.closing.closers} - {""}
        spelled = {text.strip(): without_space(text) for _, texts in self.after_call_markers for text in texts}
        return tuple(
            text
            for text, whole in spelled.items()
            if any(whole.startswith(piece) and whole != piece for piece in pieces)
        )

    @property
    def unwrapped(self) -> tuple[str, str, str] | None:
        """Return the two pieces of an opener, and what closes a call that lacks the first: `<~call>`, `<~do=` and
        `</~do>` of `<~call><~do=` and `</~do></~call>`.  None if opener and closer don't have two pieces each."""
        starts, ends = (pieces_of("".join(texts[:1])) for texts in (self.opening.openers, self.closing.of_call))
        if not len(starts) == len(ends) == 2 or not is_distinctive(starts[1]):
            return None
        return (
            (starts[0], starts[1], ends[0]) if any(text.strip() == starts[1] for text in self.opening.openers) else None
        )

    @property
    def is_object(self) -> bool:
        """Return whether a call is one object with no slot before it, between the shape's opener and its closer."""
        return bool(self.object.fields) and not self.header

    @property
    def has_ids(self) -> bool:
        slots = {slot.kind for slot in (*self.header, *(self.tail[1] if self.tail else ()))}
        return bool(self.call_id or self.shape.id_slots or "id" in slots or self.object.path_of("id"))

    @property
    def name_is_before_arguments(self) -> bool:
        return bool(self.object.fields) or any(slot.kind == "name" for slot in self.header)

    @property
    def name_is_first(self) -> bool:
        """Return whether a call's header begins with its name, or is no header."""
        return not self.header or self.header[0].kind == "name"

    @property
    def pieces_before_name(self) -> tuple[str, ...] | None:
        """Return the pieces of the opener that may be alone before a tool's name, where no content has come; None if
        calls don't begin so, or if their opener is unlike text."""
        if not (self.opening.begins and self.opening.may_be_missing and self.name_is_first):
            return None
        openers = {text.strip() for text in (*self.opening.openers, *self.opening.ordinary, *self.opening.short)}
        pieces = (text.strip() for text in (*self.opening.section_starts[:1], *self.opening.starts[:1]))
        return tuple(text for text in pieces if text and text not in openers)

    @property
    def only_tools(self) -> bool:
        """Return whether calls look like text, so that only the name of a tool makes one."""
        # Prose contains one character, too.
        return (
            self.opening.at_lines
            or self.opening.is_fence
            or any(len(text.strip()) == 1 for text in self.opening.openers)
        )

    @property
    def calls_are_juxtaposed(self) -> bool:
        """Return whether only white space shows that another call follows."""
        return not (self.object.fields or self.opening.inner or self.closing.separators)

    @property
    def is_closed(self) -> bool:
        """Return whether something shows that nothing of a call is missing."""
        return bool(self.closing.last or self.tail is not None)

    @property
    def is_separated(self) -> bool:
        """Return whether a separator opens the next call, because calls have no opener of their own."""
        return bool(self.closing.separators) and not (self.object.fields or self.opening.inner)
