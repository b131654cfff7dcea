"""The slots of a call's header, of an argument and of what follows a call: texts up to a marker.

"get_weather" of "<call>get_weather>", where ">" ends the name
"""

from __future__ import annotations

from .pattern import NAME_LIMIT, ONE_WORD
from .scanner import NO_MARKERS, PLAIN_WORD, SPELLED_OTHERWISE, Match, Scanner, next_char
from .schema import properties_of, tool_named
from .turn import SPELLING, TurnStates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

NEVER_IN_NAMES = frozenset("<>{}\\\n")  # characters of markup and of escapes, which stand in no name but in a tool's
ODD_IN_NAMES = frozenset("<>{}()[]\"'`,;=\\ \t\n")  # what is reported in a name where no tools are given
MAY_BE_EMPTY = ("key", "type")
NUMBERS = ("index", "count")  # slots that contain a number
REPEATED_SLOT = "repeated_slot"  # a code of diagnostics
MOST_ODD = 64  # the most names with unusual characters that are searched for


class Slots(TurnStates):
    ODD_NAMES: ClassVar[bool] = False  # names that contain ends of names are searched for
    CALLS_HAVE_INDEX: ClassVar[bool] = True  # calls are written with a number
    BREAKS: ClassVar[Scanner] = NO_MARKERS  # markers that never occur in names, or in values outside of a string
    _slot_diagnostics: Sequence[tuple[str, str]] = ()  # diagnostics of the slots: codes and texts
    _odd: dict[tuple[str, str], list[str]] | None = None  # names and keys that contain ends of names

    def _slots(self, pos: int, slots: Sequence[Any], name: str | None = None) -> tuple[dict[str, str], int, str]:
        """Read slots with the markers that end them; return values, the end, and what was expected instead.

        The third result is a text, or "more" (more input is needed) or "end" (it was needed, but the output has
        ended). A marker of the kind "next" belongs to the text after the slot, as "bare" does after one word; white
        space in place of the markers' own is accepted.  A repeated name (if `name` is known) must be equal, or a
        diagnostic is added to `_slot_diagnostics`.
        """
        values: dict[str, str] = {} if name is None else {"name": name}
        buf, others, earlier = self._buf, [], ("", pos, "")  # the previous slot, its start, and the text that ends it
        for slot, ends, stops, plain, trails in slots:
            pos = next_char(buf, pos)
            known = 0
            if self.ODD_NAMES and self._tools and slot in ("name", "key"):
                known = self._known(slot, pos, ends, stops)
                if known < 0:
                    return values, pos, "more"
            word = plain.match(buf, pos) if not (known or self._final) else None
            if word is not None and word.lastindex is None:
                self._is_still_ambiguous, self._ambiguous_from = PLAIN_WORD.fullmatch, pos
                return values, pos, "more"
            if word is not None and values.setdefault(slot, word[1]) == word[1] and slot not in NUMBERS:
                earlier = (slot, pos, buf[word.end(1) : word.end()])
                trail = trails[word.lastindex - 2]
                pos, self._space = word.end(1 if trail is None else 0), trail or ""
                continue
            mark, expected = self._end_of_slot(slot, pos, known, ends, stops, earlier[2])
            if mark is None:
                return values, pos, expected
            text = buf[pos : mark.start].strip()
            if self.CALLS_HAVE_INDEX and slot in NUMBERS and earlier[2] and not text.isdigit():
                # A name may contain the text before the index, too.
                last, start, separator = earlier
                longer, _, count = buf[start : mark.start].rpartition(separator)
                if "\n" not in longer.strip() and count.strip().isdigit() and self.BREAKS.find(longer, 0) is None:
                    values[last], text = longer.strip(), count.strip()
            if values.setdefault(slot, text) != text:
                others.append((REPEATED_SLOT, f"the {slot} comes again as {text}"))
            earlier = (slot, pos, buf[mark.start : mark.end])
            expected = self._is_no_slot(slot, text, pos, known, ends, mark)
            if expected:
                return values, pos, expected
            kept = mark.kind in ("next", "bare")
            pos = mark.start if kept else mark.end
            self._space = "" if kept else mark.trail
            if self.OTHER_SPELLINGS and mark.ambiguous >= SPELLED_OTHERWISE and not kept:
                others.append(SPELLING)
        self._slot_diagnostics = others
        return values, pos, ""

    def _note_slot_diagnostics(self) -> None:
        """Note repeated slots with different values, and markers in another spelling."""
        for code, text in self._slot_diagnostics:
            self._note(code, text)

    def _end_of_slot(
        self, slot: str, pos: int, known: int, ends: Scanner, stops: str, separator: str
    ) -> tuple[Match | None, str]:
        """Return the marker that ends a slot, or what was expected instead."""
        buf, limit = self._buf, pos + NAME_LIMIT
        mark = ends.find(buf, pos + known, stop=limit)
        partial = ends.partial_match(buf, pos, limit if mark is None else mark.start)
        pending_from = len(buf) if self._final else partial
        end = min(pending_from, limit if mark is None else mark.start)
        stop = min((at for ch in stops if (at := buf.find(ch, pos + known, end)) >= 0), default=end)
        if slot != "key" and not (self.BREAKS.wordless and buf[pos:stop].isalnum()):
            broken = self.BREAKS.find(buf, pos, stop=min(limit, stop + self.BREAKS.width))
            if broken is not None and broken.start < stop:
                return None, slot
            if not self._final and self.BREAKS.partial_match(buf, pos, stop) < stop:
                return None, "more"
        if stop < end:
            # White space that ends a key is no part of its value.
            return (Match("end", stop, stop + 1) if slot == "key" else Match("next", stop, stop)), ""
        if mark is not None and pending_from > mark.start:
            return mark, ""
        rest = next_char(buf, partial)  # white space alone may be the beginning of the slot's own end
        of_slot = rest == len(buf) or ends.prefix_of(buf, rest, ("suffix",)) != ""
        if self._final and partial < len(buf) and not of_slot and buf[pos:partial].strip() in self._tools:
            return Match("next", partial, partial), ""  # a truncated marker comes after the whole name
        text = buf[pos : min(partial, limit)].strip()
        parts = text.split(separator) if slot in NUMBERS and separator else [text]
        in_lines = any("\n" in part.strip() for part in parts)
        wait = end - pos < NAME_LIMIT and not (in_lines and "\n" not in "".join(self._tools))
        if self._final and len(text.split()) > 1:  # several words are probably the words of an answer
            wait = any(name.startswith(text) for name in self._tools)
        return None, slot if not wait else "end" if self._final else "more"

    def _is_no_slot(self, slot: str, text: str, pos: int, known: int, ends: Scanner, mark: Match) -> str:
        """Return what was expected instead of a slot with this text before this marker; "" if the slot is valid."""
        lacks = not text and (slot not in MAY_BE_EMPTY or mark.kind in ("next", "bare"))
        in_lines = "\n" in text and text not in self._tools and not known
        if lacks or in_lines or (slot == "type" and not {*NEVER_IN_NAMES, '"', "="}.isdisjoint(text)):
            return slot
        if mark.kind == "bare" and self._final and not ends.is_decided(mark, self._buf, pos):
            return "end"  # the output ends in the text between two slots
        if mark.kind != "bare":
            return ""
        # Prose contains such a text: with tools, only the name of one is a name there.
        unknown = slot == "name" and self._tools and tool_named(text, self._tools) not in self._tools
        return slot if unknown or ONE_WORD.fullmatch(text) is None else ""

    def _known(self, slot: str, pos: int, ends: Scanner, stops: str) -> int:
        """Return the length of a tool's name here that contains an end of names; -1 if more input is needed."""
        buf, names, stop = self._buf, self._odd_names(slot, ends, stops), pos + NAME_LIMIT
        for name in names:
            at = next_char(buf, pos + len(name)) if buf.startswith(name, pos) else -1
            if at >= 0 and (ends.match_at(buf, at) is not None or any(ch in stops for ch in buf[pos + len(name) : at])):
                return len(name)
            left = at == len(buf) or ends.prefix_of(buf, at) != "" if at >= 0 else name.startswith(buf[pos:stop])
            if left and not self._final:
                return -1
        return 0

    def _odd_names(self, slot: str, ends: Scanner, stops: str) -> list[str]:
        """Return the names of tools (or of the tool's parameters) that contain ends of names, the longest first."""
        of = self._out.calls[-1][0] if slot == "key" and self._out.calls else ""
        self._odd = {} if self._odd is None else self._odd
        if (slot, of) not in self._odd:
            names = self._tools if slot == "name" else properties_of(self._tools.get(of))
            names, ends_of_all = [name for name in names if not name.isidentifier()], "\n" + stops
            odd = [name for name in names if any(ch in name for ch in ends_of_all) or ends.find(name, 0) is not None]
            fit = [name for name in odd if name == name.strip() and 0 < len(name) < NAME_LIMIT]
            self._odd[slot, of] = sorted(fit, key=len, reverse=True)[:MOST_ODD]
        return self._odd[slot, of]
