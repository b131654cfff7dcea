r"""Read arguments that are indented lines: keys and dashes, with scalars as in JSON.

args:\n  city: "Oslo"\n  tags:\n    - "a"\n    - 2  →  {"city": "Oslo", "tags": ["a", 2]}
"""

from __future__ import annotations

from collections import namedtuple

from .guess import QUOTES
from .objects import Objects
from .pattern import MOST_SPACE, Pattern
from .repairs import Repairs
from .scanner import next_char
from .values import FOREIGN_WORDS, RegularReader, escaped, literal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

# A key or a dash (then `key` is None): the spaces before it, and where it ends.
LineStart = namedtuple("LineStart", "spaces key end")
# A list or an object whose lines have so many spaces before them.
Level = namedtuple("Level", "spaces opened")

# The start of a line, with empty lines before it; the group: its indentation.
LINE = Pattern(rf"(?:[ \t]{{0,{MOST_SPACE}}}\n){{1,{MOST_SPACE}}}( *)")
# A dash, or a key (the group), also in quotes.
ENTRY = Pattern(r'(?:-|("[^"\\\n]{1,250}"|(?!["{\s])[^\n]{0,256}?):)(?=[ \n])')
PART_OF_ENTRY = Pattern(r"[^\n]{0,257}\Z")
BEFORE_SCALAR = Pattern(r" {1,16}(?=[^ \n])")
PART_OF_SPACE = Pattern(r" {0,16}\Z")
# Other text is a scalar up to the line's end, or to a comment.
BEGINS_JSON = QUOTES + "[{"
LINE_COMMENT = Pattern(r"\s#.*")
MISSING_VALUE = ("arguments_repaired", "arguments: missing value")
NO_LINE = ("no_argument", "expected a line of the arguments, or the end of the call")


class IndentedLines(Objects):
    FIRST_INDENTATION: ClassVar[int] = 0  # a line with fewer spaces is none of the arguments
    _value_is_due = True  # after a key or a dash

    def _begin_arguments(self) -> None:
        super()._begin_arguments()
        self._levels: list[Level] = []
        self._value_is_due = True

    def _expected_arguments(self, pos: int, name: str) -> str:
        entry = self._entry(pos)
        if entry is None:
            return "more"
        return "" if entry.end else super()._expected_arguments(pos, name)

    def _arguments(self) -> bool:
        # arguments = (line (line | scalar)*) | object
        entry = self._entry(self._pos) if self._reader is None else LineStart(0, None, 0)
        if entry is None:
            return False
        if entry.key is None:
            return super()._arguments()
        self._state = type(self)._lines
        return True

    def _entry(self, pos: int) -> LineStart | None:
        """Return the key or dash of the next line; one that ends at 0 if there is none, None if that is undecided."""
        buf, line = self._buf, LINE.match(self._buf, pos)
        if line is None or line.end() == len(buf):
            rest = buf[pos : pos + MOST_SPACE * MOST_SPACE]
            return None if not self._final and not rest.strip() else LineStart(0, None, 0)
        start, spaces = line.end(), line.end() - line.start(1)
        if spaces < min(self.FIRST_INDENTATION, 1):
            return LineStart(0, None, 0)
        markers = self.BREAKS if spaces else self.AFTER_CALL
        if not self._final and markers.prefix_of(buf, start):
            return None
        return LineStart(0, None, 0) if markers.match_at(buf, start) else self._entry_at(start, spaces)

    def _entry_at(self, start: int, spaces: int) -> LineStart | None:
        found = ENTRY.match(self._buf, start)
        if found is not None:
            key = found[1]
            return LineStart(spaces, key[1:-1] if key is not None and key[:1] == '"' else key, found.end())
        return None if not self._final and PART_OF_ENTRY.match(self._buf, start) else LineStart(0, None, 0)

    def _lines(self) -> bool:
        # lines = (line | scalar)*
        if self._value_is_due and self._levels:
            space = BEFORE_SCALAR.match(self._buf, self._pos)
            if space is None and not self._final and PART_OF_SPACE.match(self._buf, self._pos):
                return False
            if space is not None:
                return self._same_line(space.end())
        entry = self._entry(self._pos)
        if entry is None:
            return False
        return self._enter(entry) if entry.end else self._end_lines()

    def _same_line(self, start: int) -> bool:
        """Begin a scalar, or after a dash an object or a list that begins in its line."""
        level = self._levels[-1]
        if level.opened == "[":
            entry = self._entry_at(start, level.spaces + 1 + start - self._pos)
            if entry is None:
                return False
            if entry.end:
                return self._enter(entry)
        self._pos, self._value_is_due, self._state = start, False, type(self)._scalar
        return True

    def _scalar(self) -> bool:
        buf = self._buf
        if self._reader is None:
            if buf[self._pos] not in BEGINS_JSON:
                return self._bare_scalar()
            self._reader = RegularReader(self.STYLES, self.BREAKS)
        reader = self._reader
        self._pos, self._wanted = reader.read(buf, self._pos, self._final), reader.wanted
        self._out.emit("arguments", reader.take())
        if not self._value_has_ended(reader):
            return False
        self._state = type(self)._lines
        return True

    def _bare_scalar(self) -> bool:
        """Read a number, a word or a text without quotes, up to the line's end or to a marker."""
        buf, start = self._buf, self._pos
        line_end = buf.find("\n", start)
        end = len(buf) if line_end < 0 else line_end
        mark = self.BREAKS.find(buf, start, end)
        if mark is None and line_end < 0 and not self._final:
            return False
        end = end if mark is None else mark.start
        text = LINE_COMMENT.sub("", buf[start:end], 1).rstrip()
        self._pos, self._state, self._value_is_due = end, type(self)._lines, text == ""
        if text:
            literal = literal_of(text, self.STYLES[0].words) or FOREIGN_WORDS.get(text)
            if literal is None or literal != buf[start:end].rstrip():
                what = "missing quotes" if literal is None else "not written as in JSON"
                self._note("arguments_repaired", "arguments: " + what)
                self._repaired = True
            self._out.emit("arguments", literal or f'"{escaped(text)}"')
        return True

    def _enter(self, entry: LineStart) -> bool:
        """Put out what a line begins, after what it closes."""
        levels = self._levels
        level = Level(entry.spaces, "[" if entry.key is None else "{")
        last = levels[-1] if levels else Level(-1, "{")
        # The dashes of a list may be directly below its key.
        is_list = level.spaces == last.spaces and level.opened == "[" != last.opened
        if self._value_is_due and (level.spaces > last.spaces or is_list):
            levels.append(level)
            text = level.opened
        elif level in levels:
            text = self._brackets_closed(levels.index(level) + 1) + ", "
        else:
            return self._end_lines()
        self._out.emit("arguments", text + ("" if entry.key is None else f'"{escaped(entry.key)}": '))
        self._pos, self._value_is_due = entry.end, True
        return True

    def _brackets_closed(self, depth: int) -> str:
        """Close all levels but so many; return the text that does it."""
        text = ""
        if self._value_is_due:
            self._note(*MISSING_VALUE)
            self._repaired, text = True, "null"
        while len(self._levels) > depth:
            text += "]" if self._levels.pop().opened == "[" else "}"
        return text

    def _end_lines(self) -> bool:
        start = next_char(self._buf, self._pos)
        if start == len(self._buf):
            return False
        if self.AFTER_CALL.match_at(self._buf, start) is None:
            if not self._final and self.AFTER_CALL.prefix_of(self._buf, start):
                return False
            self._note_damage(*NO_LINE)
        return self._close_call(self._brackets_closed(0))

    def _finish(self) -> None:
        if not self._open or not self._levels:
            return super()._finish()
        Repairs._finish(self)
        self._out.emit("arguments", self._reader.close() if self._reader is not None else "")
        self._out.emit("arguments", self._brackets_closed(0))
        return None
