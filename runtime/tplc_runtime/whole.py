r"""Recognise a whole call, exactly as the template writes it, if its opener looks like any text.

WholeCall(("text", Pattern("call "), "call"), ("name", Pattern(r"\w+?(?=: )"), ":"), …)
    .end_of_call('call f: {"a": 1}\n', 0, …)  →  18
"""

from __future__ import annotations

from .pattern import NAME_CHARACTERS, Pattern
from .values import Reader, json_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from .values import Style

NO, MORE = -1, -2  # no whole call is here; more input is needed to decide
NAME_PART = Pattern(f"[{NAME_CHARACTERS}]{{0,64}}")
KEY_PART = Pattern(r"[^\s=:,(){}\[\]]{0,64}")
LITERAL_WORD = Pattern(r"[-+\w.]*")
LONGEST_TEXT = 512  # a longer rest of a line is not examined
LONGEST_AFTER_VALUE = 160  # the text after a raw value that shows that it is over


class WholeCall:
    """The steps of a call: (kind, pattern, text without white space), and ("pairs", steps, steps between, least).
    Several texts of which a step is one have "\\0" between them."""

    def __init__(self, *steps: Any, styles: tuple[Style, ...] = ()) -> None:
        self.steps, self.styles = steps, styles

    def end_of_call(self, buf: str, pos: int, final: bool, names: Collection[str]) -> int:
        """Return where the call that begins here ends.  `names`: those of the tools; any name if there are none."""
        return self._row(self.steps, buf, pos, final, names)

    def _row(self, steps: Any, buf: str, pos: int, final: bool, names: Collection[str]) -> int:
        for step in steps:
            pos = self._step(step, buf, pos, final, names)
            if pos < 0:
                return NO if final else pos
        return pos

    def _step(self, step: Any, buf: str, pos: int, final: bool, names: Collection[str]) -> int:
        what = step[0]
        if what == "pairs":
            return self._pairs(step, buf, pos, final, names)
        if what == "raw":
            return _raw(step[1], buf, pos, final)
        if what not in ("object", "value"):
            return _text(step, buf, pos, final, names)
        end = _nested(buf, pos, final, self.styles, "{" if what == "object" else '{["')
        if what == "object":
            return end
        return _end_of_literal(buf, pos, final, self.styles[0]) if end == NO else end

    def _pairs(self, step: Any, buf: str, pos: int, final: bool, names: Collection[str]) -> int:
        _, pair, between, least = step
        count = 0
        while True:
            steps = (*between, *pair) if count else pair
            end = self._row(steps, buf, pos, final, names)
            if end == MORE:
                return MORE
            if end == NO:
                return pos if count >= least else NO
            pos, count = end, count + 1


def _nested(buf: str, pos: int, final: bool, styles: tuple[Style, ...], opened: str) -> int:
    """Return the end of a value that one of these tokens opens."""
    top = styles[0]
    if pos == len(buf):
        return MORE
    if top.tokens.get(top.token.match(buf, pos).group(), "-") not in opened:
        return NO
    reader = Reader((top, styles[1], styles[2]))
    end = reader.read(buf, pos, final)
    if reader.repair:
        return NO
    if reader.want:
        return MORE
    return NO if styles[2].is_json and json_end(buf, pos, end - pos) != end else end


def _end_of_literal(buf: str, pos: int, final: bool, style: Style) -> int:
    """Return the end of a number or a word for true, false or null, by its own syntax.  Punctuation that a number could
    contain may follow it: the call's next text decides that."""
    word = LITERAL_WORD.match(buf, pos).end()
    if word == len(buf) and not final:
        return MORE if word - pos < LONGEST_TEXT else NO
    match = style.literal.match(buf, pos)
    end = pos if match is None else match.end()
    return end if end > pos and (end == word or buf[end] in "-+.") else NO


def _raw(pattern: Pattern, buf: str, pos: int, final: bool) -> int:
    """Return the end of a raw value in a line; more of the line may show that it ends earlier."""
    last = pos + LONGEST_TEXT
    match, line_end = pattern.match(buf, pos, last), buf.find("\n", pos, last)
    # The text after a value may go on in the next line.
    needed = last if line_end < 0 else line_end + (0 if match else LONGEST_AFTER_VALUE)
    return MORE if not final and len(buf) < min(needed, last) else match.end() if match else NO


def _text(step: Any, buf: str, pos: int, final: bool, names: Collection[str]) -> int:
    what, pattern, text = step
    match = pattern.match(buf, pos)
    rest = buf[pos : pos + LONGEST_TEXT]
    if what == "line":
        if not final and len(rest) < text and (match is None or "\n" not in rest):
            return MORE
        return NO if match is None else int(match.end())
    of_tool = what == "name" and names
    if match is not None and not (of_tool and match.group() not in names):
        return int(match.end())
    if of_tool and match is not None:  # a tool's name may contain what ends a name: then the following steps decide
        word = NAME_PART.match(rest).group()
        longer = max((len(name) for name in names if word.startswith(name)), default=NO)
        if longer > 0:
            return pos + longer
    if what != "text":
        part = (KEY_PART if what == "key" else NAME_PART).match(rest).group()
        if of_tool and not any(name.startswith(part) or part.startswith(name) for name in names):
            return NO
        # The text after the slot may begin with characters that the slot may have.
        ends: tuple[int, ...] = tuple(range(len(part), -1, -1))
    else:
        ends = (0,)
    may_continue = any("\0" + "".join(rest[end:].split()) in "\0" + text for end in ends)
    return MORE if may_continue and len(rest) < LONGEST_TEXT else NO
