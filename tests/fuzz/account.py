"""Check that every character of an output is accounted for.

    "Hi <call>f{\"a\": 1} x</call>"  →  "Hi" content, " <call>" marker, "f" name, "{…}" arguments, "x" content, …

A second copy of each parser is loaded and watched.  Every state reports what it consumed, so the consumed pieces and
what is left in the buffer are the whole input (and the prompt's head).  What is left at the end may only be white
space.  Then, by state:

text (content, reasoning, text that is pending)
    Exactly: what is not passed on as text, character by character, is white space or one whole marker of the parser
    (white space inside it apart).
call headers, and slots after a call
    Exactly: values of slots with a marker or white space between them; the name and the id reached the message, and
    repetitions are equal, or a diagnostic reports them.
objects that turn out to be no call
    Exactly: all that was consumed since the opener is given back as text.
arguments
    Markers around keys and raw values: exactly, as in headers.  Keys and values are rewritten as JSON, so they are
    compared as bags of characters: what was consumed is contained in what the call and the content were given.  Not
    compared are white space, syntax and quotes of JSON (backticks, too) and of the dialect (with their prefixes),
    escapes, words such as True (which become others), and what numbers lose (plus, underscores, zeros, hexadecimal
    ones).  Exempt is what a diagnostic speaks about: members of a call's object that have no meaning, comments, headers
    and calls that are not as the template has them; and the name of a member that the output's end cut off.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any

from tests.fuzz.formats import Format
from tplc.backends.python.tables import marker_groups
from tplc.ir.nodes import TemplateIR
from tplc.lower import lower
from tplc.lower.states import states
from tplc.verify.artifact import load_module
from tplc_runtime.escapes import unguarded
from tplc_runtime.scanner import ANY_WORD, squeezed
from tplc_runtime.second import ARGUMENT_KEYS

TEXT_STATES = ("_start", "_content", "_reasoning")
VALUE_STATES = ("_arguments", "_object", "_value")
PAIR_STATES = ("_pairs", "_element")
STATES = (*TEXT_STATES, *VALUE_STATES, *PAIR_STATES, "_call", "_after_call", "_second_reading")
# Codes of diagnostics about a call's header, or all of a call, written otherwise.
OTHERWISE = {"tool_name_corrected", "calls_opened_twice", "other_header", "other_form_of_calls"}
# About markers that are written otherwise, or come again with others between them.
IN_PIECES = {"marker_spelled_otherwise", "reasoning_opened_twice"}
# About a wrapper of arguments, whose keys and tags are no arguments.
_WRAPPED = {"call_as_arguments", "object_as_arguments"}
_WRAPPER = re.compile(rf"</?[\w:-]+[^<>]*>|{'|'.join(ARGUMENT_KEYS)}")
NOT_OPENED = "a call without its opener"  # the text of a diagnostic, which has the same code as others
# And of an argument written otherwise, whose key is in the schema.
_ARGUMENT_OTHERWISE = {"argument_not_opened", "other_form_of_argument"}
_ITS_KEY = re.compile(r"the argument (.*) is not ", re.S)
IN_OTHER_FORM = "arguments: in another form"
_AROUND_ARGUMENTS = re.compile(r"[(:=*>`)]|json", re.I)
_WORD_OR_QUOTE = re.compile(r"""\w*["'“”]""")
_PREFIX_OF_STRING = re.compile(r"""\b[bfru]{1,2}(?=["'])""", re.IGNORECASE)
_COMMENT = re.compile(r"(?://|#)[^\n]*|/\*.*?\*/", re.S)

_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[0-7]{1,3}|.)", re.S | re.I)
_HEXADECIMAL = re.compile(r"0x[0-9a-f]+", re.I)
_UNCOUNTED = set("[]{},:=\"'`\\+_0" + "".join(map(chr, range(32))))


class Trace:
    """What one parser consumed and emitted, and what of it does not add up."""

    def __init__(self, marks: Markers) -> None:
        self.marks = marks
        self.lost: list[str] = []
        self.emitted_as: dict[str, list[str]] = {
            "content": [],
            "reasoning_content": [],
            "pending": [],
            "arguments": [],
            "trailing": [],
        }
        self.spans: list[tuple[int, int]] = []  # text passed on in the present step
        self.slots: dict[str, str] = {}  # that were read in the present step
        self.order: tuple[str, ...] = ()  # in which they stand, some of them more than once
        self.known: tuple[str, ...] = ()  # before them
        self.again: list[str] = []  # what is noted to stand where a slot comes again
        self.opened: list[tuple[str, str | None]] = []  # calls that were opened in the present step
        self.calls: list[tuple[str, str | None]] = []
        self.piece: str | None = None  # of a raw value, in the present step
        self.consumed: list[str] = []  # by the arguments of the present call
        self.emitted: list[str] = []  # meanwhile
        self.exempt: list[str] = []
        self.went_back = False  # in the present step: to where an object began
        self.given_back = False  # in the present step: an object was no call
        self.codes: set[str] = set()  # of the diagnostics of the present step
        self.raw: list[str] | None = None  # consumed since the opener of an object that may be no call

    def fits(self, text: str) -> bool:
        """Return whether a text is white space or a marker; pieces of markers, where a diagnostic says so."""
        in_pieces = not self.codes.isdisjoint(IN_PIECES)
        return self.marks.fits(text) or (in_pieces and self.marks.holds(text))

    def begin_step(self) -> None:
        self.spans, self.slots, self.opened, self.piece = [], {}, [], None

    def end_step(self, state: str, buf: str, start: int, end: int) -> None:
        if end < start:
            self.lost.append(f"{state} went back from {start} to {end}")
        elif self.piece is not None:
            self.value(state, buf[start:end], self.piece)
        elif state in VALUE_STATES:
            self.consumed.append(buf[start:end])
        elif state == "_call" or self.slots:
            self.header(state, buf, start, end)
        else:
            self.gaps(state, buf, start, end)
        if state not in VALUE_STATES + PAIR_STATES:
            self.end_of_call()

    def passed_on(self, consumed: str, before: int, *, whole: bool) -> None:
        """Check that what was emitted since is what was consumed; of the prompt's part, the end at most."""
        text = "".join(self.emitted[before:])
        if not (text == consumed if whole else consumed.endswith(text)):
            self.lost.append(f"{consumed!r} was consumed, {text!r} is passed on")

    def gaps(self, state: str, buf: str, start: int, end: int) -> None:
        """Check that there is one marker, or white space, between the spans of text."""
        at = start
        for first, last in [*self.spans, (end, end)]:
            if first < at or not self.fits(buf[at:first]):
                self.lost.append(f"{state}: {buf[at:first]!r} of {buf[start:end]!r}")
            at = last

    def header(self, state: str, buf: str, start: int, end: int) -> None:
        if self.spans or not buf[start:end].strip():  # a state that waits for more may skip white space
            return self.gaps(state, buf, start, end)
        is_text = "".join(self.emitted).endswith(buf[start:end])  # a truncated call is passed on
        if not is_text and not any(self._laid_out(buf[start:end], values) for values in self.in_slots()):
            self.lost.append(f"{state}: {buf[start:end]!r} is not {self.slots!r} between markers")
        if state in PAIR_STATES:
            self.consumed.append(self.slots["key"] + " ")  # a value may begin with a letter before its quote
        if state == "_call" and "name" in self.slots:
            for name, call_id in self.opened:
                became = [name, call_id or ""]
                if self.slots["name"] != name or self.slots.get("id", "") not in became[1]:
                    self.lost.append(f"{state}: {self.slots!r} became {became!r}")
        return None

    def in_slots(self) -> Iterator[list[str]]:
        """Return the texts that may be in the slots, in order: a slot that comes again has the same text, or one that
        was reported as different."""
        choices: list[list[str]] = []
        seen = set(self.known)
        for slot in self.order:
            choices.append([self.slots[slot], *self.again * (slot in seen)])
            seen.add(slot)
        return map(list, product(*choices))

    def argument(self, key: str, text: str) -> None:
        """Account for an argument in another form than the template's: its key, between pieces of markers."""
        before, _, after = text.partition(key)
        if key not in text or not (self.marks.holds(before) and self.marks.holds(after)):
            self.lost.append(f"{text!r} is not {key!r} between pieces of markers")
        self.consumed.append(key)

    def value(self, state: str, consumed: str, piece: str) -> None:
        if not self._laid_out(consumed, [piece]):
            self.lost.append(f"{state}: {consumed!r} is not {piece!r} between markers")
        self.consumed.append(piece)

    def _laid_out(self, text: str, values: list[str]) -> bool:
        if not values:
            return self.fits(text)
        at = text.find(values[0])
        while at >= 0:
            if self.fits(text[:at]) and self._laid_out(text[at + len(values[0]) :], values[1:]):
                return True
            at = text.find(values[0], at + 1)
        return False

    def end_of_call(self) -> None:
        consumed, emitted = "".join(self.consumed), "".join(self.emitted)
        if consumed.strip() and consumed.strip() not in ("null", '""'):
            missing = Counter(self.marks.counted(consumed))
            missing.subtract(Counter((emitted + "".join(self.exempt)).lower()))
            if +missing:
                lost = "".join((+missing).elements())
                self.lost.append(f"arguments: {lost!r} of {consumed!r}, which became {emitted!r}")
        self.consumed, self.emitted, self.exempt = [], [], []


class Markers:
    """The markers of a parser, from its own constants, and those of its format."""

    def __init__(self, module: ModuleType, ir: TemplateIR) -> None:
        self._squeezed = {"".join(text.split()) for text in (*_texts(module), *_lexemes(ir), "")}
        self._alike = {squeezed(text) for text in self._squeezed if text}
        self._alike |= {text.replace("s", "") for text in self._alike}  # one of several calls may be named in them
        self._around_key = getattr(module.StreamParser, "VALUE_CLOSE", ())
        # An object's own bracket stands at the end of its call's opener.
        opening = getattr(module.StreamParser, "STYLES", None)
        self._openings = [text for style in opening or () for text, token in style.tokens.items() if token == "{"]
        styles = opening or ()
        quotes = [string.close for style in styles for string in style.strings.values()]
        self._syntax = _UNCOUNTED.union(*quotes, *(token for style in styles for token in style.tokens))
        words = {word for style in styles for word in style.words} | set(getattr(module.StreamParser, "WORDS", ()))
        self._words = sorted({*words, "None"}, key=len, reverse=True)

    def fits(self, text: str) -> bool:
        """Return whether a text is white space or a marker."""
        openings = ("", *self._openings)
        # In other case, or with other separators.
        alike = squeezed(text)
        return any(found + opening in self._squeezed for found in _forms(text) for opening in openings) or any(
            {alike + squeezed(opening), alike.replace("s", "")} & self._alike for opening in openings
        )

    def holds(self, text: str) -> bool:
        """Return whether a text consists of white space, quotes, words before quotes, and pieces of markers."""
        found = "".join(_WORD_OR_QUOTE.sub(" ", text).split())
        while found:
            pieces = (found[:size] for size in range(len(found), 0, -1))
            piece = next((piece for piece in pieces if any(piece in marker for marker in self._squeezed)), "")
            if not piece:
                return False
            found = found[len(piece) :]
        return True

    def add_closer(self, key: str) -> None:
        """Add the marker after a value, if it repeats the value's key."""
        if self._around_key:
            self._squeezed.add("".join(key.join(self._around_key).split()))

    def counted(self, text: str) -> Iterator[str]:
        """Return the characters of arguments that must be in the message."""
        for word in self._words:
            text = text.replace(word, " ")
        text = _PREFIX_OF_STRING.sub(" ", _COMMENT.sub(" ", text))
        text = _HEXADECIMAL.sub(" ", _ESCAPE.sub(" ", text))
        return (char for char in text.lower() if char not in self._syntax and not char.isspace())


def _forms(text: str) -> Iterator[str]:
    """Yield the text without white space, as it is and with ANY_WORD for the language that a fence may name."""
    found = "".join(text.split())
    yield found
    fence = re.search(r"```(?P<language>[\w-]{0,16})", found)
    for end in range(fence.start("language"), fence.end() + 1) if fence is not None else ():
        yield found[: fence.start("language")] + ANY_WORD + found[end:]


def _texts(module: ModuleType) -> Iterator[str]:
    """Yield the constants of the parser, and the attributes of its class, that are texts or contain texts."""
    for name, value in (*vars(module).items(), *vars(module.StreamParser).items()):
        if hasattr(value, "markers"):
            yield from (core for _, core, *_ in value.markers)
        if name in ("WRAP", "VALUE_CLOSE", "ITEM_END") or name.isupper():
            for item in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
                if isinstance(item, str) and item.strip():
                    yield item.strip()


def _lexemes(ir: TemplateIR) -> Iterator[str]:
    acceptor = lower(ir)
    for state in states(acceptor):
        yield from (lexeme.core for lexeme in state.lexemes.all)
    calls = acceptor.calls
    between = calls.pairs.between if calls is not None and calls.pairs is not None else ()
    groups = (*marker_groups(acceptor).values(), *(texts for _, texts in between))
    for texts in (*groups, calls.breaks if calls is not None else ()):
        yield from map(str.strip, texts)


@cache
def _watched(form: Format) -> tuple[Any, Any, Markers]:
    module = load_module(form.source)
    parser = module.StreamParser
    parser.HEAD = re.compile(
        "(?!)"
    )  # the shortcut reads several fields in one step; that it agrees is checked on the whole parser
    for name in STATES:
        if hasattr(parser, name):
            setattr(parser, name, _state(name, getattr(parser, name)))
    for owner, watches in ((parser, WATCHES), (module.Transcript, WATCHES_OF_TRANSCRIPTS)):
        for name, watch in watches.items():
            if hasattr(owner, name):
                setattr(owner, name, watch(getattr(owner, name)))
    return parser, module.Transcript, Markers(module, form.ir)


Method = Callable[..., Any]


def _state(name: str, method: Method) -> Method:
    def step(self: Any) -> bool:
        trace, buf, start, raw = self._trace, self._buf, self._pos, self._trace.raw
        notes = len(self._diagnostics)
        trace.begin_step()
        more = method(self)
        if (
            name == "_second_reading"
            or trace.went_back
            or any(note.code in OTHERWISE or note.text == NOT_OPENED for note in self._diagnostics[notes:])
        ):
            trace.went_back = trace.given_back = False
            trace.consumed.clear()
            trace.slots = {}
            return bool(more)
        otherwise = [note.text for note in self._diagnostics[notes:] if note.code in _ARGUMENT_OTHERWISE]
        if otherwise:
            trace.slots = {}
            trace.argument(_ITS_KEY.match(otherwise[0])[1], buf[start : self._pos])
            return bool(more)
        if raw is not None and trace.raw is raw:
            raw.append(buf[start : self._pos])
        codes = {(note.code, note.text == IN_OTHER_FORM) for note in self._diagnostics[notes:]}
        if ("arguments_repaired", True) in codes:
            trace.exempt += _WRAPPER.findall(buf, start, self._pos)
            trace.exempt += _AROUND_ARGUMENTS.findall(buf, start, self._pos)
            trace.exempt += trace.calls[-1][0].split("_")  # it may come again, without its separators
        trace.codes = {note.code for note in self._diagnostics[notes:]}
        if not trace.codes.isdisjoint(_WRAPPED):
            trace.exempt += _WRAPPER.findall(buf, start, self._pos)
        # An object in the place of pairs is read as a value.
        as_value = not codes.isdisjoint({("object_as_arguments", False), ("positional_arguments", False)})
        trace.end_step("_value" if as_value else name, buf, start, self._pos)
        if trace.given_back:
            trace.given_back = False
            trace.consumed.clear()
        return bool(more)

    return step


def _watch_text(method: Method) -> Method:
    def text(self: Any, kind: str, end: int) -> None:
        trace, start = self._trace, self._pos
        trace.spans.append((start, end))
        before = len(trace.emitted)
        method(self, kind, end)
        trace.passed_on(self._buf[start:end], before, whole=self._echo or self._base + start >= 0)

    return text


def _watch_emit(method: Method) -> Method:
    def emit(self: Any, kind: str, text: str) -> None:
        if kind != "arguments" or not getattr(self, "pending", ()):  # of a value that waits, it is emitted later
            passed_on = unguarded(text) if getattr(self, "guarded", False) else text
            self._trace.emitted.append(passed_on)
            self._trace.emitted_as[kind].append(passed_on)
        method(self, kind, text)

    return emit


def _watch_slots(method: Method) -> Method:
    def slots(self: Any, pos: int, wanted: Any, name: str | None = None) -> Any:
        trace = self._trace
        found = method(self, pos, wanted, name)
        if not found[2]:
            trace.slots, trace.order = found[0], tuple(slot for slot, *_ in wanted)
            trace.again = [
                text.partition(" comes again as ")[2]
                for code, text in self._slot_diagnostics
                if code == "repeated_slot"
            ]
            trace.known = () if name is None else ("name",)
        return found

    return slots


def _watch_open_call(method: Method) -> Method:
    def open_call(self: Any, name: str, call_id: str | None = None) -> None:
        self._trace.opened.append((name, call_id))
        self._trace.calls.append((name, call_id))
        self._trace.emitted += [name, call_id or ""]
        self._trace.raw = None
        method(self, name, call_id)

    return open_call


def _watch_set_id(method: Method) -> Method:
    def set_id(self: Any, call_id: str) -> None:
        self._trace.emitted.append(call_id)
        self._trace.calls[-1] = (self._trace.calls[-1][0], call_id)
        method(self, call_id)

    return set_id


def _watch_consume_head(method: Method) -> Method:
    def consume_head(self: Any, prompt: str | None, continued: bool) -> None:
        method(self, prompt, continued)
        if not self._echo:  # keys that wait for what is pending
            self._trace.exempt += [frame.member for frame in getattr(self, "_frames", ())]

    return consume_head


def _watch_forget(method: Method) -> Method:
    """Account for pending arguments of the prompt, which aren't emitted at all."""

    def forget(self: Any, kept: int) -> None:
        self._trace.exempt += [text for pieces in getattr(self, "pending", ()) for text in pieces]
        method(self, kept)

    return forget


def _watch_begin_object(method: Method) -> Method:
    def begin_object(self: Any) -> None:
        self._trace.raw = []
        start = self._pos
        method(self)
        if self._trace.raw is not None:  # its name is not known at once
            self._trace.raw.append(self._buf[start : self._pos])

    return begin_object


def _watch_again(method: Method) -> Method:
    def again(self: Any, expected: str) -> None:
        size, raw = self._base + self._pos - self._raw_base, "".join(self._raw)
        if len(raw) != size:
            self._trace.lost.append(f"{raw!r} is read again, of {size} characters")
        self._trace.raw, self._trace.went_back = None, True
        method(self, expected)

    return again


def _watch_give_back(method: Method) -> Method:
    def give_back(self: Any, *arguments: Any) -> Any:
        # What the present step consumed is in _raw already, but not in what was watched.
        given, consumed = "".join(self._raw), "".join(self._trace.raw or ())
        size = self._base + self._pos - self._raw_base
        if (
            len(given) != size
            or not given.startswith(consumed)
            or not self._buf[: self._pos].endswith(given[len(consumed) :])
        ):
            self._trace.lost.append(f"{consumed!r} was consumed, {given!r} is given back")
        self._trace.raw, self._trace.given_back = None, True
        before = len(self._trace.emitted)
        more = method(self, *arguments)
        self._trace.passed_on(given, before, whole=self._echo or self._raw_base >= 0)
        return more

    return give_back


def _watch_begin_value(method: Method) -> Method:
    def begin_value(self: Any, key: str, word: str) -> None:
        self._trace.marks.add_closer(key)
        method(self, key, word)

    return begin_value


def _watch_piece(method: Method) -> Method:
    def piece(self: Any, text: str) -> None:
        if self._trace.piece is None:  # not what was pending and is emitted when its end shows that it is a string
            self._trace.piece = text
        method(self, text)

    return piece


def _watch_member(method: Method) -> Method:
    def member(self: Any, reader: Any, event: str) -> Any:
        text, notes = "".join(reader.out), len(self._diagnostics)
        more = method(self, reader, event)
        if event == "key":
            self._trace.exempt.append(reader.path[-1])
        elif len(self._diagnostics) > notes:
            self._trace.exempt.append(text)
        return more

    return member


def _watch_end_value(method: Method) -> Method:
    def end_value(self: Any) -> None:
        key, notes, text = self._all, len(self._diagnostics), "".join(self._out.texts["value"])
        method(self)
        codes = [note.code for note in self._diagnostics[notes:]]
        if "arguments_in_one" in codes:
            self._trace.exempt.append(key)
        if "argument_of_other_type" in codes:
            self._trace.exempt.append(text)

    return end_value


def _watch_finish(method: Method) -> Method:
    def finish(self: Any) -> None:
        reader, notes = getattr(self, "_reader", None), len(self._diagnostics)
        text, role = (list(reader.out), getattr(reader, "role", "arguments")) if reader is not None else ([], "")
        method(self)
        noted = any(note.code in ("unknown_field", "repeated_field") for note in self._diagnostics[notes:])
        if noted or role not in ("arguments", "other"):
            self._trace.exempt += text

    return finish


WATCHES: Mapping[str, Callable[[Method], Method]] = {
    "_consume_head": _watch_consume_head,
    "_text": _watch_text,
    "_slots": _watch_slots,
    "_open_call": _watch_open_call,
    "_begin_object": _watch_begin_object,
    "_start_second_reading": _watch_again,
    "_keep_object_as_text": _watch_give_back,
    "_begin_value": _watch_begin_value,
    "_piece": _watch_piece,
    "_member": _watch_member,
    "_end_value": _watch_end_value,
    "_finish": _watch_finish,
}
WATCHES_OF_TRANSCRIPTS: Mapping[str, Callable[[Method], Method]] = {
    "emit": _watch_emit,
    "set_id": _watch_set_id,
    "forget": _watch_forget,
}


def traced_run(form: Format, text: str, options: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Return the parser after the whole text, and the parts of the text that aren't accounted for."""
    watched, transcript, marks = _watched(form)
    parser = watched.__new__(watched)
    trace = parser._trace = transcript._trace = Trace(marks)
    parser.__init__(**options)
    calls_before = len(trace.calls)
    before = {kind: len(texts) for kind, texts in trace.emitted_as.items()}
    # All of it through the states; that chunks passed on as they come are the same is "stream".
    parser._enter_fast_path("")
    parser.feed(text)
    parser.finish()
    if not trace.given_back:
        trace.end_of_call()
    left = parser._buf[parser._pos :]
    if left.strip() or parser._parts:
        trace.lost.append(f"never consumed: {left!r}")
    message = parser.message
    arguments = "".join(call["function"]["arguments"] for call in message["tool_calls"])
    for kind, got in (*message.items(), ("arguments", arguments)):
        if kind in trace.emitted_as:
            emitted = "".join(trace.emitted_as[kind])
            least = 0 if (got := got or "") == emitted else len("".join(trace.emitted_as[kind][before[kind] :]))
            if not emitted.endswith(got) or len(got) < least:
                trace.lost.append(f"{kind} {emitted!r} was passed on, and is {got!r} in the message")
    calls = [(call["function"]["name"], call["id"]) for call in message["tool_calls"]]
    if calls != trace.calls[len(trace.calls) - len(calls) :] or len(calls) < len(trace.calls) - calls_before:
        trace.lost.append(f"calls {trace.calls!r} were opened, the message has {calls!r}")
    return parser, trace.lost
