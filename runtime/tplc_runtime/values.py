r"""Read one value of a dialect piece by piece, and write it as JSON.

    {'a': True, 'b': 'it is'}  →  {"a": true, "b": "it is"}

JSON is passed on unchanged.  Invalid text is repaired: quotes of another kind, bare words, missing commas, raw control
characters.  Nothing is evaluated, and there is no recursion.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring

from .message import Copyable
from .pattern import LONGEST_FOLLOW, LONGEST_KEY, MOST_SPACE, Pattern
from .scanner import NO_MARKERS, NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar

    from .scanner import Scanner

NUMBER = Pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
NONSTANDARD_NUMBER = Pattern(r"([+-]?)([0-9][0-9_]*)?(?:(\.)([0-9_]*))?([eE][+-]?[0-9]+)?")
HEX_NUMBER = Pattern(r"0[xX][0-9a-fA-F]{1,16}")
JSON_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
ESCAPE = Pattern(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(?:x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.)))")
PART_OF_ESCAPE = Pattern(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7}|[0-7]{1,2})?\Z")
UNQUOTED_END = Pattern(r"[,\n\]}]|\Z")  # what ends a string without quotes
WORD_WINDOW = 256  # after so many characters of a word, its end is searched for up to the next marker only
SPACE = Pattern(r"[^\S \t\n\r]")  # none of JSON's four kinds
CUT = "missing closing bracket"  # before a marker
JSON_WORDS = ("true", "false", "null")
FOREIGN_WORDS = {**{word.upper(): word for word in JSON_WORDS}, "Null": "null", "nil": "null", "undefined": "null"}
# A number or literal word can't continue with these, so it ends by itself, in any format.
AFTER_LITERAL = Pattern(rf"\s{{0,{MOST_SPACE}}}[,;)\]}}<>|]|[^\S\n]{{0,{MOST_SPACE}}}\n")
JSON_SPACE = r"[ \t\n\r]"
COMMENT = Pattern(r"(?://|#)[^\n]*(?:\n|\Z)|/\*.*?\*/")
# A key with its quotes and its colon (the second group), or its beginning; also a key without the second quote.
KEY = Pattern(r'"([^"\\\x00-\x1f]{0,64})(?:"[ \t\n\r]{0,16}(?:(:[ \t\n\r]*)|\Z)|\Z)')
# Shorter than KEY, and without control characters: as long as this may match, so may KEY, which waits for more input.
OPEN_KEY = Pattern(r'"(\w{1,32}) {0,4}:(?= {0,16}(?:["\[{0-9-]|(?:true|false|null)\b))')
# A key whose quotes are doubled (groups: the key, and its second quotes), or the beginning of one.  Doubled quotes of a
# value (the group: the second), or quotes that may be the beginning of such.
DOUBLED_KEY = Pattern(r'"{2,3}(?:(\w{1,32})(?:("{1,3}) {0,4}(?=:)|"{0,3} {0,4}\Z)|\Z)')
DOUBLED_OPENING = Pattern(r'"(?:(")(?=[^\s,:"\]}][^"\n]{0,200}"")|"?(?:[^\s,:"\]}][^"\n]{0,200}"?)?\Z)')
# What opens a string in Python (groups: its prefix and its quotes), or the beginning of it.
PYTHON_STRING = Pattern(r"""[bBfFrRuU]{0,2}(?:"{0,2}|'{0,2})\Z|([bBfFrRuU]{0,2})("{3}|'{3}|["'])""")
BEGINS_STRING = frozenset("bBfFrRuU\"'")
ODD_IN_WORDS = frozenset('"`[]{}<|：#')  # a word with these may contain more than one value
LONGEST_SEPARATOR = 256  # longer than any separator


def plain_run(quote: str, escape: str) -> Pattern:
    """Return a pattern for the plain run of a string with this quote: text, and escapes that JSON has too."""
    plain = rf'[^"\\{re.escape(quote)}\x00-\x1f]*'
    # Bounded, because each repetition takes memory while the pattern is matched.
    escapes = "(?:" + JSON_ESCAPE + plain + "){0,99}" if escape != "none" else ""
    return Pattern(plain + escapes)


def until_quote(close: str, escape: str) -> Pattern:
    """Return a pattern for the text of a string up to its possible end, with no escape in it."""
    first, second = re.escape(close[0]), re.escape(close[1:2])
    escapes = "\\\\" * (escape != "none")
    plain = f"[^{first}{escapes}]*"
    return Pattern(plain + (f"(?:{first}(?=[^{second}{escapes}]){plain}){{0,99}}" if second else ""))


def any_prefix(text: str) -> str:
    """Return a pattern for the truncated beginnings of a text."""
    return "|".join(re.escape(text[:end]) for end in range(len(text) - 1, 0, -1)) or NOTHING


def escaped(text: str) -> str:
    """Return a text escaped as the inside of a JSON string."""
    return encode_basestring(text)[1:-1]


def text_of(string: str) -> str:
    """Return the text of a JSON string."""
    return str(json.loads(string, strict=False)) if "\\" in string else string[1:-1]


# Numbers stay text: int() refuses 10,000 digits.  NaN and Infinity are refused, because JSON doesn't have them.
decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=int)


def json_end(buf: str, pos: int, most: int = 1 << 18) -> int:
    """Return the end of the JSON value of at most so many characters that begins here, 0 if there is none."""
    try:  # the fastest way to read a whole one; an error counts all lines before it
        return pos + int(decoder.raw_decode(buf[pos : pos + most])[1])
    except (ValueError, RecursionError):
        return 0


IN_STRING = plain_run('"', "json")


class Quoting:
    """How a string continues and ends: `plain_run` is passed on unchanged, `until_quote` only needs JSON's escapes."""

    def __init__(self, close: str, escape: str) -> None:
        self.close, self.escape = close, escape
        # If quotes inside are not escaped, one ends the string only before a text that may follow.  So do three.
        self.is_guessed = escape == "none" and (len(close) < 3 or len({*close}) == 1)
        self.plain_run, self.until_quote = plain_run(close[0], escape), until_quote(close, escape)

    def plain_end(self, text: str) -> int:
        """Return where the text ends that is passed on unchanged; -1 if more than a partial escape follows."""
        end: int = self.plain_run.match(text).end()
        if end == len(text) or (text[end] == "\\" and self.escape != "none" and PART_OF_ESCAPE.match(text, end)):
            return end
        return -1


class Style:
    """How values are written: `strings` as (open, close, escape), `words`, and `punctuation` for `[ , ] { : , }`."""

    HAS_WORDS: ClassVar[bool] = False
    # Steps of regular text, here of JSON: without the last of its groups, a match needs more input.
    next_member = Pattern(rf"(?:,{JSON_SPACE}*)?(?:{KEY.pattern}|\Z)")
    next_item = Pattern(rf',{JSON_SPACE}*(?:()()(?=["\[{{\w-])|\Z)')
    scalar = Pattern(rf"(true|false|null|{NUMBER.pattern})(?=[,\]}} \n\r\t])|(?:[\w.+-]+|\")\Z")
    opening = Pattern(r'"(?!"|\Z)')
    closing = Pattern('"')
    around_key = (0, 0)  # so many characters of quotes
    part_in_string = PART_OF_ESCAPE

    def __init__(
        self,
        strings: Sequence[tuple[str, str, str]],
        words: Mapping[str, str],
        punctuation: Sequence[str] = ("[", ",", "]", "{", ":", ",", "}"),
        *,
        bare_keys: bool = False,
    ) -> None:
        self.strings = {opened: Quoting(close, escape) for opened, close, escape in strings}
        self.usual = strings[0][1] if strings else ""
        self.is_python = self.strings.keys() >= {'"', "'"}
        self.words, self.bare_keys = words, bare_keys
        self.tokens = {**dict.fromkeys(self.strings, '"'), **dict(zip(punctuation, "[,]{:,}"))}
        ordered = sorted(self.tokens, key=len, reverse=True)
        either = "|".join(map(re.escape, ordered))
        self.token = Pattern(rf"(\s+)|({either})|(.)")
        # Searched for, because a pattern that steps through a word takes a hundred bytes of memory per character.
        self.word_end = Pattern(rf"[\s;；，、]|{either}|\Z")
        self.prefixes = {character[:n] for character in ordered for n in range(1, len(character))}
        follow = "|".join(re.escape(character) for character, token in self.tokens.items() if token in ",]}:")
        self.follow = Pattern(rf"\s{{0,{MOST_SPACE}}}(?:{follow}|\)|\Z)")
        self.literal = Pattern("|".join([*map(re.escape, sorted(words, key=len, reverse=True)), NUMBER.pattern]))
        self.key_end = Pattern(rf"[\n}}=：]|{re.escape(punctuation[4])}|\Z")
        self.opened = strings[0][0] if strings else ""
        self.quoting = self.strings.get(self.opened)
        is_json = self.opened == self.usual == '"' and self.strings['"'].escape == "json" and not bare_keys
        is_json = is_json and '"' not in self.prefixes and "".join(punctuation) == "[,]{:,}"
        self.is_json = self.is_regular = is_json and all(words.get(word) == word for word in JSON_WORDS)
        if self.HAS_WORDS:
            self._set_steps(punctuation)

    def _set_steps(self, punctuation: Sequence[str]) -> None:
        """Set the steps of regular text in a style that is not JSON."""
        if self.quoting is None or not self.prefixes.isdisjoint([self.opened, *punctuation]):
            return
        self.is_regular = "".join(punctuation) == "[,]{:,}"
        close, few = re.escape(self.usual), f"{JSON_SPACE}{{0,{MOST_SPACE}}}"
        part_of_quote, part_of_close = any_prefix(self.opened), any_prefix(self.usual)
        if self.bare_keys:
            key = rf"([^\W\d]\w{{0,{LONGEST_KEY - 1}}})(?:(:{JSON_SPACE}*)|\Z)|\Z"
        else:
            inside = rf'[^"\\{re.escape(self.usual[:1])}\x00-\x1f]{{0,{LONGEST_KEY}}}'
            after = rf"{close}{few}(?:(:{JSON_SPACE}*)|\Z)|(?:{part_of_close})?\Z"
            key = rf"{re.escape(self.opened)}({inside})(?:{after})|(?:{part_of_quote})?\Z"
        self.around_key = (0, 0) if self.bare_keys else (len(self.opened), len(self.usual))
        if not self.is_json:
            tripled = rf"(?!{close}|\Z)" * (len(self.opened) == 1)
            self.opening = Pattern(re.escape(self.opened) + tripled)
        self.next_member = Pattern(rf"(?:,{JSON_SPACE}*)?(?:{key})")
        self.next_item = Pattern(
            rf",{JSON_SPACE}*(?:()()(?=[\[{{\w-]|{re.escape(self.opened)})|(?:{part_of_quote})?\Z)"
        )
        known = "|".join([*sorted(filter(str.isalnum, self.words), key=len, reverse=True), NUMBER.pattern])
        self.scalar = Pattern(rf"({known})(?=[,\]}} \n\r\t])|(?:[\w.+-]+|{part_of_quote})\Z")
        follow = self.follow.pattern.replace(r"|\Z)", ")")
        self.closing = Pattern(close + f"(?={follow})" * self.quoting.is_guessed)
        part = rf"{part_of_close}|{close}\s{{0,{MOST_SPACE}}}" if self.quoting.is_guessed else part_of_close
        escapes = f"|{PART_OF_ESCAPE.pattern}" * (self.quoting.escape != "none")
        self.part_in_string = Pattern(rf"(?:{part})\Z{escapes}")


class WordStyle(Style):
    """A style with keys, strings or words that JSON doesn't have, so regular text is translated."""

    HAS_WORDS: ClassVar[bool] = True


class ValueWriter(Copyable):
    """Writes one value as JSON: what was read, and what was missing around it.  `styles`: at the top, in a top-level
    list, and in a top-level object.  `breaks`: markers that close everything; values have them only in strings."""

    MADE_OF: ClassVar[tuple[str, ...]] = ("styles",)

    def __init__(self, styles: tuple[Style, Style, Style], breaks: Scanner = NO_MARKERS) -> None:
        self.breaks, self.first = breaks, breaks.first
        self.styles, self.style = styles, styles[0]
        self.want = "value"  # … item, key, member (a key after a comma), colon, comma; "" at the end
        self.stack: list[str] = []
        self.lists = 0  # the number of open lists
        self.doubled_braces: list[int] = []  # the depths at which braces are doubled
        self.string: Quoting | None = None  # the open string
        self.out: list[str] = []
        self.comma: list[str] = []  # a comma with the white space after it, until something follows
        self.repair = ""  # the first repair
        self.unlike_json = ""  # the last text that JSON doesn't have there, if the template writes JSON
        self.is_guessed = False  # a repair had to guess where a value or an object ends
        self.pause = False
        self.needs_more = False  # the rest of regular JSON depends on the following text
        self.wanted = 0  # so many characters are needed before anything is decided
        self.floor = 0  # deeper values are read only for their text

    def take(self) -> str:
        text = "".join(self.out)
        self.out.clear()
        return text

    def _put_whole(self, text: str, end: int) -> int:
        """Put out a whole value or key, as JSON; return where it ends."""
        self._begin()
        self.out.append(text)
        self._end()
        return end

    def _open(self, character: str) -> None:
        self.stack.append(character)
        self.lists += character == "["
        self.want = "item" if character == "[" else "key"

    def _at_top(self) -> bool:
        return not self.stack

    def _repaired(self, what: str, *, guessed: bool = False) -> None:
        self.repair = self.repair or what
        self.is_guessed |= guessed

    def _note_unlike_json(self, what: str) -> None:
        """Note what is read as it is meant, if the template writes JSON there."""
        if self.style.is_json and not self.style.HAS_WORDS:
            self.unlike_json = what

    def _no_value(self, pos: int) -> int:
        self._repaired("missing value", guessed=True)
        self.out.append("null")
        self.want = ""
        return pos

    def _begin(self) -> None:
        """Begin a value or a key: write the text that must precede it."""
        if self.want in ("colon", "comma"):
            self._repaired("missing " + self.want)
            self.out.append(": " if self.want == "colon" else ", ")
            self.want = "value" if self.want == "colon" or self.stack[-1] == "[" else "member"
        self.out += self.comma
        self.comma.clear()

    def _end(self) -> None:
        self.want = "colon" if self.want in ("key", "member") else "comma" if self.stack else ""

    def _punctuation(self, token: str, text: str) -> None:
        if token == '"':
            self._begin()
            if text != self.style.opened:
                self._note_unlike_json(text + " for quotes")
            self.string = self.style.strings[text]
            self.out.append('"')
        elif token == "{" and self.want == "key":
            self._repaired("doubled braces")
            self.doubled_braces.append(len(self.stack))
        elif token == "}" and self.doubled_braces and self.doubled_braces[-1] == len(self.stack):
            self.doubled_braces.pop()
        elif token in "[{":
            self._begin()
            if self.want in ("key", "member"):
                self._repaired("missing key", guessed=True)
                self.out.append('"": ')
            if not self.stack:
                self.style = self.styles[1 if token == "[" else 2]
            self.out.append(token)
            self._open(token)
        elif token in "]}":
            opened = "[" if token == "]" else "{"
            if not (self.lists if token == "]" else len(self.stack) - self.lists):
                return self._repaired("stray " + token)
            while self.stack[-1] != opened:
                self._repaired("missing closing bracket", guessed=True)
                self._pop()
            self._pop()
        elif token == ":" and (self.want == "colon" or (self.style.bare_keys and self.want in ("key", "member"))):
            self.out += [*self.comma, ":" if self.want == "colon" else '"":']  # a key may be empty
            self.comma.clear()
            self.want = "value"
        elif token == "," and self.want == "comma":
            self.comma.append(",")
            self.want = "value" if self.stack[-1] == "[" else "member"
        else:
            self._repaired("stray " + text, guessed=token == "," and self.want == "colon")  # as in a set
        return None

    def _pop(self) -> None:
        if self.want == "colon" or (self.want == "value" and self.stack[-1] == "{"):
            self._repaired("missing value", guessed=len(self.stack) > self.floor)
            self.out.append(": null" if self.want == "colon" else " null")
        if self.comma:
            self._note_unlike_json("a comma too many")
        self.out += self.comma[1:]
        self.comma.clear()
        opened = self.stack.pop()
        self.lists -= opened == "["
        self.out.append("]" if opened == "[" else "}")
        self.style = self.style if self.stack else self.styles[0]
        self.want = "value"
        self._end()

    def close(self) -> str:
        """Return the rest of a truncated value, and what closes it."""
        if self.string is not None:
            self.string = None
            self.out.append('"')
            self._end()
        if self.want == "value" and not self.stack:
            self.out.append("null")
        while self.stack:
            self._pop()
        self.want = ""
        return self.take()


class Reader(ValueWriter):
    """Reads one value."""

    KNOWS_REGULAR_TEXT: ClassVar[bool] = False
    # What may follow a value whose end only the text after it shows: a pattern, and one for the output's end.
    follow: tuple[Pattern, ...] = ()
    is_regular: ClassVar[Callable[[Any], bool]]
    regular: ClassVar[Callable[..., int]]

    def read(self, buf: str, pos: int, final: bool) -> int:
        """Consume `buf` from `pos` on, up to the value's end or to text that needs more input."""
        stop, self.wanted = len(buf), 0
        while pos < stop and self.want and not self.pause:
            if self.KNOWS_REGULAR_TEXT and self.is_regular():
                start, pos = pos, self.regular(buf, pos, stop, pos)
                if not self.style.HAS_WORDS:
                    self.out.append(buf[start:pos])
                if pos == stop or (self.needs_more and not final):
                    break
            if self.string is not None:
                end = self._inside(buf, pos, final, self.string)
                end = -1 if end == pos and self.string is not None else end
            else:
                end = self._token(buf, pos, final)
            if end < 0:
                break
            pos = end
        return pos

    def _token(self, buf: str, pos: int, final: bool) -> int:
        """Return the end of the token that begins here; -1 if more input is needed."""
        match = self.style.token.match(buf, pos)
        text: str = match.group()
        end: int = match.end()
        if text[0] in self.first and self.stack:
            if not final and self.breaks.prefix_of(buf, pos):
                return -1
            if self.breaks.match_at(buf, pos):
                self._repaired(CUT)
                self._pop()
                return pos
        if text in BEGINS_STRING and self.want in ("value", "item") and self.style.is_python:
            odd = self._python_string(buf, pos, final)
            if odd != pos:
                return odd
        if match.lastindex == 3:
            if self.stack and text in "/=#：，;；、\\" and (other := self._between_members(buf, pos, final)) != pos:
                return other
            return self._word(buf, pos, self._end_of(self.style.word_end, buf, end), final)
        if match.lastindex == 1:
            if self.stack:
                (self.comma or self.out).append(SPACE.sub(" ", text))
            return end
        rest = len(buf) - pos
        if text in self.style.prefixes and rest < LONGEST_SEPARATOR and buf[pos:] in self.style.prefixes and not final:
            return -1
        token = self.style.tokens[text]
        if text == '"' and self.stack and (odd := self._irregular_quotes(buf, pos, final)) != pos:
            return odd
        if self.follow and not self.stack and token not in '"[{':
            return self._no_value(pos)
        if token in "[{" and self.want == "value" and rest > 64 and self.style.is_json and self._at_top():
            whole = 0 if ("]" if token == "[" else "}") in self.first else json_end(buf, pos)  # it may begin a marker
            if whole:
                return self._put_whole(buf[pos:whole], whole)
        self._punctuation(token, text)
        return end

    def _python_string(self, buf: str, pos: int, final: bool) -> int:
        """Return the end of Python's opening of a string; `pos` if there is none, -1 if more input is needed."""
        found = PYTHON_STRING.match(buf, pos)
        if found is None or found[2] is None:
            return pos if found is None or final else -1
        prefix, quotes = found.groups()
        string = self.style.strings.get(quotes[0])
        if string is None or not (prefix or (len(quotes) == 3 and string.escape != "none")):
            return pos
        self._repaired("a string as in Python")
        self._punctuation('"', quotes[0])
        self.string = Quoting(quotes, "none" if "r" in prefix.lower() else string.escape)
        return int(found.end())

    def _irregular_quotes(self, buf: str, pos: int, final: bool) -> int:
        """Return the end of a key without its second quote, of one in doubled quotes, of the doubled quotes that a
        value begins with, or of one quote too many; `pos` if there is none of these, -1 if more input is needed."""
        found, after = None, buf[pos + 1 : pos + 2]
        ends = {"comma": ",]}", "colon": ":"}.get(self.want, "") if self.repair in ("", "doubled quotes") else ""
        if after and after in ends and self.style.is_json:
            self._repaired("doubled quotes")
            return pos + 1
        if self.stack[-1] == "{" and self.want in ("key", "member", "comma"):
            key = KEY.match(buf, pos)
            if key is not None and key.lastindex != 2 and not final:
                return -1
            left_open = OPEN_KEY.match(buf, pos) if key is None or key.lastindex != 2 else None
            if left_open is not None:
                self._repaired("missing quotes")
                return self._put_whole(f'"{left_open[1]}"', int(left_open.end(1)))
            found = DOUBLED_KEY.match(buf, pos) if key is None else None
            if found is not None and found[2]:
                self._repaired("doubled quotes")
                return self._put_whole(f'"{found[1]}"', int(found.end(2)))
        elif after in ("", '"') and self.style.is_json:
            found = DOUBLED_OPENING.match(buf, pos)
            if found is not None and found[1]:
                self._repaired("doubled quotes")
                self._punctuation('"', '"')
                self.string = Quoting('""', "json")
                return int(found.end())
        return pos if found is None or final else -1

    def _between_members(self, buf: str, pos: int, final: bool) -> int:
        """Return the end of a comment, of escaped white space, or of what is meant as `:` or `,`; else `pos` or -1."""
        if buf[pos] == "\\":
            if buf[pos + 1 : pos + 2] in ("n", "r", "t"):
                self._repaired("escaped white space")
                return pos + 2
            return pos if pos + 1 < len(buf) or final else -1
        if buf[pos] in "=：，;；、":
            meant, arrow = ("colon" if buf[pos] in "=：" else "comma"), buf[pos : pos + 2] == "=>"
            if self.want != meant:
                return pos
            if buf[pos] == "=" and pos + 1 == len(buf) and not final:
                return -1
            self._repaired(buf[pos] + " for a " + meant)
            self._punctuation({"colon": ":", "comma": ","}[meant], "")
            return pos + 1 + arrow
        if buf[pos] == "#" and self.want not in ("key", "member", "comma", "item"):
            return pos
        comment = COMMENT.match(buf, pos)
        if comment is None:
            return -1 if not final and buf[pos + 1 : pos + 2] in ("", "*") else pos
        if not final and comment.end() == len(buf) and buf[pos : pos + 2] != "/*":
            return -1
        self._repaired("a comment")
        mark = self.breaks.find(buf, pos, stop=comment.end())
        return int(comment.end()) if mark is None else mark.start

    def _word(self, buf: str, pos: int, end: int, final: bool) -> int:
        """Read a word: a literal, a key without quotes, or a string without quotes; -1 if more input is needed."""
        bare_key = self.want in ("key", "member") or (self.want == "comma" and self.stack[-1] == "{")
        if bare_key:
            key_end = self._end_of(self.style.key_end, buf, pos)
            end = key_end if key_end > pos else end
        elif self.follow and not self.stack:
            # If nothing separates arguments, a number or a literal word ends at the end of its own syntax.
            own = self.style.literal.match(buf, pos)
            if own and (self.follow[final].match(buf, own.end()) or AFTER_LITERAL.match(buf, own.end())):
                end = own.end()
            else:
                follow = self.follow[final].search(buf, pos)
                end = follow.start() if follow else len(buf)
                # The following text may show that it ends earlier.
                if not final and len(buf) - end < LONGEST_FOLLOW:
                    return -1
        breaks = (self.stack or not self.follow) and not (bare_key and self.style.bare_keys)
        end = self._before_break(buf, pos, end, final) if breaks else end
        if (end == len(buf) or (breaks and end == pos)) and not final:
            return -1
        if end == pos:
            return self._no_value(pos)
        word = buf[pos:end].rstrip()
        words, bare = self.style.words, word.rstrip(")>") if self.stack else ""  # another bracket than the last
        literal = None if bare_key else literal_of(word, words) or FOREIGN_WORDS.get(word) or literal_of(bare, words)
        if literal is not None and literal != word:
            self._note_unlike_json(f"{word} for {literal}")
            if word[-1] in ")>" or (self.style.is_json and word not in words):
                self._repaired("not written as in JSON")
        if literal is None:
            if not bare_key and (self.stack or not self.follow):
                unquoted = self._end_of(UNQUOTED_END, buf, pos)
                end = unquoted if unquoted > pos else end
                end = self._before_break(buf, pos, end, final) if breaks else end
                if end in (pos, len(buf)) and not final:
                    return -1
            if not (bare_key and self.style.bare_keys):
                self._repaired("missing quotes")
            text = buf[pos:end].rstrip()
            # The first quote of a value may be missing.
            bare = text.strip("`").rstrip("\"'" * (bare_key or (text[-1:] == '"' and text.count('"') == 1)))
            # No comma before it: the quote after the value before it may be missing.
            odd = not ODD_IN_WORDS.isdisjoint(bare) or bare[-1:] == "'" or bare.count("(") != bare.count(")")
            self.is_guessed |= odd or self.want == "comma"
            literal = '"' + escaped(bare) + '"'
        return self._put_whole(literal, end)

    def _end_of(self, pattern: Pattern, buf: str, pos: int) -> int:
        """Return where a word ends by its pattern; after a marker in a long word, it isn't searched for."""
        near = pos + WORD_WINDOW
        end = pattern.search(buf, pos, near).start()
        if end == near < len(buf):
            mark = self.breaks.find(buf, pos)
            end = pattern.search(buf, pos, len(buf) if mark is None else mark.start).start()
        return int(end)

    def _before_break(self, buf: str, pos: int, end: int, final: bool) -> int:
        """Return where the word ends; `pos` if more input is needed."""
        mark = self.breaks.find(buf, pos, stop=end + self.breaks.width)
        end = end if mark is None else min(end, mark.start)  # which may be inside of a longer one
        return pos if not final and self.breaks.partial_match(buf, pos, end) < end else end

    def _inside(self, buf: str, pos: int, final: bool, string: Quoting) -> int:
        """Read text of a string, up to something that is not plain."""
        close, escape = string.close, string.escape
        end: int = string.plain_run.match(buf, pos).end()
        if end > pos:
            self.out.append(buf[pos:end])
        if end < len(buf) and (text := string.until_quote.match(buf, end).group()):
            self.out.append(escaped(text))
            if close[0] == "&" and "&" in text:  # it stays as it is
                self._repaired("a character that is escaped for HTML", guessed=True)
            end += len(text)
        if end == len(buf):
            return end
        after = end + len(close)
        if buf.startswith(close, end):
            guess, follow, needed = string.is_guessed, self.style.follow, 0
            if self.follow and not self.stack:
                follow, needed = self.follow[final], LONGEST_FOLLOW
            elif guess:
                following = buf[after : after + LONGEST_SEPARATOR]
                undecided = not following.strip() or following.lstrip() in self.style.prefixes
                needed = min(len(following), MOST_SPACE) + 1 if undecided else 0
            if guess and not final and len(buf) - after < needed:
                self.wanted = needed - (len(buf) - after)
                return end
            if not guess or follow.match(buf, after):
                self.string = None
                self.out.append('"')
                self._end()
                return after
        elif not final and len(buf) < after and close.startswith(buf[end:]):
            return end
        if buf[end] != "\\" or escape == "none":
            self.out.append(escaped(buf[end]))
            return end + 1
        if PART_OF_ESCAPE.match(buf, end) and not final:
            return end
        match = ESCAPE.match(buf, end)
        if match is None or (escape == "json" and not match.group(1) and match.group() != "\\'"):
            self._repaired("invalid escape")
            # JSON5 has `\x27` and a backslash at a line's end; others are backslashes of paths and patterns.
            self.is_guessed |= match is not None and (match[5] == "\n" or match[2] is not None)
            self.out.append("\\\\")
            return end + 1
        self.out.append(match.group() if match.group(1) else unescaped(match))
        return int(match.end())


class RegularReader(Reader):
    """A reader that reads regular text in steps, which is faster, and in chunks."""

    KNOWS_REGULAR_TEXT: ClassVar[bool] = True

    def is_regular(self) -> bool:
        """Return whether what was read so far is regular text, of which more may follow."""
        if len(self.stack) <= self.floor or not self.style.is_regular or self.comma or self.doubled_braces:
            return False
        if self.string not in (None, self.style.quoting) or (self.want == "member" and self.string is None):
            return False
        if self.style.HAS_WORDS and not self.breaks.wordless:
            return False
        return self.first == "" or self.style.opened[0] not in self.first

    def regular(self, buf: str, pos: int, stop: int, done: int = 0) -> int:
        """Return the end of regular text: that of all text, or where something irregular is, or something that depends
        on the following text (`needs_more`).  JSON is left to the caller, other text is translated, from `done` on."""
        self.needs_more, style, want, string, first = False, self.style, self.want, self.string, self.first
        while pos < stop:
            character = buf[pos]
            if string is not None:
                pos = string.plain_run.match(buf, pos).end()
                if pos == stop or (not style.closing.match(buf, pos) if style.HAS_WORDS else buf[pos] != '"'):
                    self.needs_more = style.part_in_string.match(buf, pos) is not None
                    break
                if style.HAS_WORDS:
                    done = self._put(buf[done:pos] + '"', pos + len(string.close))
                pos, string, want = pos + len(string.close), None, "colon" if want in ("key", "member") else "comma"
            elif character in first or want == "colon":
                break
            elif character in " \n\r\t":
                pos += 1
            elif character in "[]{}":
                if not self._bracket(character, want, pos + 1 == stop):
                    break
                pos, want = pos + 1, self.want
            elif want == "comma" or want == "key":
                match = (style.next_item if self.stack[-1] == "[" else style.next_member).match(buf, pos)
                if match is None or (character == ",") != (want == "comma"):
                    break
                self.needs_more = match.lastindex != 2
                if self.needs_more or (self.stack[-1] == "[" and buf[match.end()] in first):
                    break
                if style.HAS_WORDS and self.stack[-1] == "{":
                    key = f'{buf[done : match.start(1) - style.around_key[0]]}"{match[1]}"'
                    done = self._put(key, match.end(1) + style.around_key[1])
                pos, want = match.end(), "value"
            elif character == style.opened[0] and style.opening.match(buf, pos):
                if style.HAS_WORDS:
                    done = self._put(buf[done:pos] + '"', pos + len(style.opened))
                pos, string = pos + len(style.opened), style.quoting
            else:
                match = style.scalar.match(buf, pos)
                if match is None or match.lastindex is None:
                    self.needs_more = match is not None and self.breaks.wordless
                    break
                if style.HAS_WORDS and match[1] in style.words:
                    done = self._put(buf[done:pos] + style.words[match[1]], match.end())
                pos, want = match.end(), "comma"
        self.string, self.want = string, want
        return self._put(buf[done:pos], pos) if style.HAS_WORDS else pos

    def _put(self, text: str, end: int) -> int:
        """Put out translated text; return where the text that it stands for ends."""
        self.out.append(text)
        return end

    def _bracket(self, bracket: str, want: str, is_last: bool) -> bool:
        """Open or close a list or an object if regular text may do so here; return whether it does."""
        if bracket in "[{":
            if want in ("value", "item"):
                self._open(bracket)
            return want in ("value", "item")
        opened = want in ("comma", "item", "key") and len(self.stack) > self.floor + 1 and self.stack[-1]
        if opened != ("[" if bracket == "]" else "{"):
            self.needs_more = is_last and self.floor > 0  # the text around it usually ends at once
            return False
        self.lists -= self.stack.pop() == "["
        self.want = "comma"
        return True


def unwrapped(text: str, styles: tuple[Style, Style, Style]) -> Reader | None:
    """Return the reader of the object in a JSON string; None if there is none."""
    inside, reader = text_of(text) if text[:1] == '"' else "", Reader(styles)
    if inside.lstrip()[:1] == "{" and not inside[reader.read(inside, 0, True) :].strip():
        return reader
    return None


def unescaped(match: re.Match[str]) -> str:
    """Return one of Python's escapes as JSON writes that character."""
    _, two, eight, octal, other = match.groups()
    code = int(two or eight, 16) if two or eight else int(octal, 8) if octal else -1
    if 0 <= code < 0x110000:
        return escaped(chr(code))
    known = {"\n": "", "'": "'", "a": "\\u0007", "v": "\\u000b"}
    return known.get(other, "\\\\" + escaped(match.group()[1:]))


def is_usual_number(text: str) -> bool:
    """Return whether JSON writes a number like this: neither 007 nor -0, 1e5 or 1.50."""
    return text != "-0" and bool(NUMBER.fullmatch(text)) and (text.lstrip("-").isdigit() or repr(float(text)) == text)


def literal_of(text: str, words: Mapping[str, str]) -> str | None:
    """Return a word or a number as JSON (nan and inf, which JSON lacks, as strings); None for anything else."""
    if text in words:
        return words[text]
    if NUMBER.fullmatch(text):
        return text
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return '"' + text + '"'
    if HEX_NUMBER.fullmatch(text):
        return str(int(text, 16))
    match = NONSTANDARD_NUMBER.fullmatch(text)
    if not match or not ((match.group(2) or "").lstrip("0") or match.group(4)):
        return None
    character, whole, point, fraction, exponent = (group or "" for group in match.groups())
    fraction = point + (fraction.replace("_", "") or "0") if point else ""
    return character.replace("+", "") + (whole.replace("_", "").lstrip("0") or "0") + fraction + exponent
