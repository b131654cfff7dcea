"""The arguments of a call, while they are read and after: passed on in chunks, repaired, checked by the schema."""

from __future__ import annotations

from .message import Diagnostic
from .second import NOTHING_GIVEN, Doubts, arguments_of, holds_other_call, is_damaged, loaded, misfit_in
from .slots import Slots
from .stream import MOST_DIAGNOSTICS
from .turn import ENDS_IN_CALL
from .values import LONGEST_SEPARATOR, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from .message import Delta
    from .scanner import Scanner
    from .values import Reader, Style

MISFITS = {
    "inside": ("argument_not_closed", "the argument {key} is in the value of another"),
    "type": ("argument_of_other_type", "the argument {key} is not of the type in the schema"),
    "key": ("unknown_argument", "the tool {tool} has no argument {key}"),
    "repeated": ("repeated_argument", "the argument {key} comes again"),
}


class CallArguments(Slots):
    STYLES: ClassVar[tuple[Style, Style, Style]]  # of values in a dialect with quotes,
    LAST_CLOSER: ClassVar[Scanner | None] = None  # closers of values, and markers of which one follows the right one
    OWN_KEYS: ClassVar[tuple[str, ...]] = ()  # the keys of a call that are no arguments
    ARGUMENTS_ARE_TEXT: ClassVar[bool] = False  # the template writes them as an object in a string
    _reader: Reader | None = None  # and the reader of one
    _written = ""  # the beginning of the arguments
    _repaired: str | bool = False  # the arguments of the last call were repaired
    _types_are_checked = False  # the types of values are reported where these are read

    def _feed_regular_text(self, chunk: str) -> list[Delta]:
        """Read more of arguments that are regular text, without a state."""
        reader = self._reader
        if reader is None:
            return self._advance(chunk)
        buf = self._buf + chunk
        stop = len(buf)
        end = reader.regular(buf, 0, stop)
        text = reader.take() if reader.style.HAS_WORDS else buf[:end]
        if end == stop:
            self._buf, self._value_fast_path = "", reader.string is not None
        elif reader.needs_more and stop - end <= LONGEST_SEPARATOR:
            self._buf, self._value_fast_path = buf[end:], False
            if text == "":
                return []
        else:
            reader.out.append(text)
            self._buf, self._pos = buf, end
            return self._advance("")
        self._unaccounted.append(text)
        if reader.style.HAS_WORDS:
            self._base += end - len(text)  # the rest is accounted for with the text
        return [{"tool_calls": [{"index": self._out.index, "function": {"arguments": text}}]}]

    def _in_string(self, reader: Reader) -> None:
        """Prepare to pass on the next chunks of a value that is written as the template does."""
        string = reader.string
        if string is not None and string.close == reader.style.usual and not reader.out:
            self._enter_fast_path("arguments", string.plain_end)
        elif self._open_kind:
            self._enter_fast_path("")
        if not reader.out and reader.is_regular():
            self._open_kind, self._regular_fast_path = "arguments", type(self)._feed_regular_text

    def _value_has_ended(self, reader: Reader) -> bool:
        """Return whether the value has ended; if it hasn't, the next chunk may continue a string of it."""
        if reader.want:
            self._in_string(reader)
            return False
        if reader.repair or reader.unlike_json:
            self._note_repair("arguments_repaired", "arguments: ", reader)
        self._reader = None
        return True

    def _note_repair(self, code: str, what: str, reader: Reader) -> None:
        """Report what was repaired, or what JSON doesn't have.  Callers check that there is one, which is faster."""
        self._note(code, what + (reader.repair or reader.unlike_json))
        if reader.repair:
            self._repaired, self.incomplete = reader.repair, self.incomplete or reader.is_guessed

    def _value_of(self, reader: Reader) -> str:
        """Return the value of a text that is read as a whole; report if it was repaired or is cut."""
        if reader.want:
            self._note_truncation(*ENDS_IN_CALL)
        elif reader.repair or reader.unlike_json:
            self._note_repair("arguments_repaired", "arguments: ", reader)
        return reader.close()

    def _check_arguments(self) -> None:
        """Examine the arguments of the last call when somebody asks for diagnostics; those of a repaired call at once:
        repairs that invent a key, or a value of another type than the schema's, have failed."""
        if not self.incomplete:  # what was lost is reported
            types = not (self.RAW_VALUES and self._types_are_checked and not self._repaired)
            offset, before = self._here(), len(self._diagnostics)
            while before and self._diagnostics[before - 1].offset == offset:
                before -= 1
            # The call, where it is, how many diagnostics there come before its own, and whether types are examined.
            self._unchecked.append((self._out.index, offset, len(self._diagnostics) - before, types))
        name, arguments = self._out.calls[-1][0], "".join([*self._out.texts["arguments"], *self._out._pieces])
        schema = self._tools.get(name)
        odd = is_damaged(arguments, schema, self._repaired, self.BREAKS, self.LAST_CLOSER, self.OWN_KEYS)
        self.incomplete = self.incomplete or odd or holds_other_call(name, arguments, self._tools)

    def _note_misfits(self) -> None:
        """Report, for each call, the first argument that the tool's schema doesn't allow."""
        self._out.flush()
        unchecked, self._unchecked, notes = self._unchecked, [], self._diagnostics
        for index, offset, earlier, types in unchecked:
            name, _, text = self._out.calls[index]
            text = "".join(self._out.texts["arguments"]) if index == self._out.index else text
            found = misfit_in(text, self._tools.get(name), types=types)
            if found is not None:
                # Where it would be if it had been added at once, whenever somebody asks.
                at = next((at for at, note in enumerate(notes) if note.offset >= offset), len(notes))
                code, text = MISFITS[found[0]]
                notes.insert(at + earlier, Diagnostic(offset, text.format(tool=name, key=found[1]), code))
                del notes[MOST_DIAGNOSTICS:]

    def _emit_arguments(self, text: str) -> None:
        """Emit arguments that are a string with an object in it; any other string is content."""
        inside: str | None = text
        if self._written != "{":
            reader = unwrapped(text, self.STYLES)
            inside = None if reader is None else self._value_of(reader)
            if inside is not None and not self.ARGUMENTS_ARE_TEXT:
                self._note("arguments_repaired", "arguments: an object in a string")
        if inside is None and self.REREADS_CALLS and text[:1] in ("[", '"') and self._tools:
            inside = self._arguments_of(text)
            if inside is not None:
                self._note("arguments_repaired", "arguments: brackets around them")
        if inside is None and text not in NOTHING_GIVEN:
            self._note_damage("arguments_not_an_object", "the arguments are not an object")
            self._out.emit("content", text)
        self._out.emit("arguments", "{}" if inside is None else inside)

    def _arguments_of(self, text: str, *, is_guessed: bool = False) -> str | None:
        """Return the arguments that a value in JSON, whose end may be guessed, is or contains; None if none are."""
        doubts = Doubts(self._tools)
        doubts.is_guessed = is_guessed
        found = arguments_of(self._out.calls[-1][0], loaded(text), doubts)
        self.incomplete |= doubts.is_guessed and found is not None
        return found
