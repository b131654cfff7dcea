r"""Read one value of a dialect piece by piece and write it as JSON.

    {'a': True, 'b': 'it is'}  →  {"a": true, "b": "it is"}

JSON passes through as it came.  What is not valid is repaired (or, when `strict`, refused): quotes of another kind,
bare words, missing commas, raw control characters.  Nothing is evaluated, and there is no recursion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
LOOSE_NUMBER = re.compile(r"([+-]?)0*([0-9][0-9_]*)?(?:\.([0-9_]*))?([eE][+-]?[0-9]+)?")
ESCAPE = re.compile(r"\\(?:(u[0-9a-fA-F]{4}|[\"\\/bfnrt])|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.S)
PART_OF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7}|[0-7]{1,2})?\Z")
TYPES = {'"': "string", "[": "array", "{": "object"}
JSON_WORDS = {"true": "true", "false": "false", "null": "null"}

FOLLOW = re.compile(r"\s*(?:[,\]}):]|\Z)")

# What a reader is waiting for.
VALUE, ITEM, KEY, MEMBER, COLON, COMMA, DONE = range(7)


def escaped(text: str) -> str:
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _refuse(text: str) -> Any:
    raise ValueError(text)


# Numbers stay text: a number of 10,000 digits is no int.
scan_json = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse).scan_once


class Style:
    """How values are written: `strings` as (open, close, escape), `words` for true, false and null,
    `signs` as list open, separator and close, object open, colon, separator and close; `key` around bare keys."""

    def __init__(
        self,
        strings: Sequence[tuple[str, str, str]],
        words: Mapping[str, str],
        signs: Sequence[str] = ("[", ",", "]", "{", ":", ",", "}"),
        bare_keys: bool = False,
    ) -> None:
        self.strings = {string[0]: string for string in strings}
        self.words = dict(words)
        self.bare_keys = bare_keys
        self.is_json = ('"', '"', "json") in strings and not bare_keys
        tokens = dict(zip(signs, "[,]{:,}"))
        tokens.pop("", None)
        self.tokens = {**dict.fromkeys(self.strings, '"'), **tokens}
        signs = sorted(self.tokens, key=len, reverse=True)
        alternation = "|".join(map(re.escape, signs)) or "(?!)"
        single = re.escape("".join(sorted(sign for sign in signs if len(sign) == 1)))
        self.token = re.compile(rf"(\s+)|({alternation})|((?:(?!{alternation})[^\s{single}])+)")
        self.long_signs = [sign for sign in signs if len(sign) > 1]
        colon = re.escape(signs_colon(tokens))
        self.key_run = re.compile(rf"(?:(?!{colon})[^\n}}])+")
        self.word_run = re.compile(r"[^,\n\]}]+")


def signs_colon(tokens: Mapping[str, str]) -> str:
    return next((sign for sign, token in tokens.items() if token == ":"), ":")


class Reader:
    """Reads one value with `styles`: at the top, inside a top-level list, inside a top-level object."""

    def __init__(
        self, styles: tuple[Style, Style, Style], strict: bool = False, key: bool = False, follow: str = ""
    ) -> None:
        self.styles = styles
        self.style = styles[0]
        self.strict = strict
        self.failed = False
        self.type = ""
        self.state = KEY if key else VALUE
        self.only_key = key
        self.out: list[str] = []
        self.pending: list[str] = []  # a comma, and white space after it, until something follows
        self.stack: list[str] = []
        self.lists = 0
        self.string: Optional[tuple[str, str, str]] = None  # the kind of string being read
        self.repairs: list[str] = []
        self.follow = re.compile(follow) if follow else None  # what may follow the value

    def copy(self) -> Reader:
        twin = Reader.__new__(Reader)
        twin.__dict__.update(self.__dict__)
        twin.out, twin.pending, twin.stack, twin.repairs = self.out[:], self.pending[:], self.stack[:], self.repairs[:]
        return twin

    @property
    def done(self) -> bool:
        return self.state == DONE or self.failed

    def take(self) -> str:
        text = "".join(self.out)
        self.out.clear()
        return text

    def read(self, buf: str, pos: int, final: bool) -> int:
        """Consume `buf` from `pos`; stops at the value's end, or where more input is needed."""
        stop = len(buf)
        while pos < stop and not self.done:
            if self.string is not None:
                start = pos
                pos = self._string(buf, pos, final, *self.string)
                if self.string is not None and pos == start:
                    break
                continue
            style = self.style
            found = style.token.match(buf, pos)
            if found is None:
                break
            kind = found.lastindex
            text = found.group()
            if (
                not final
                and stop - pos < 16
                and any(sign != buf[pos:] and sign.startswith(buf[pos:]) for sign in style.long_signs)
            ):
                break
            if kind == 1:
                if not text.isascii() or "\v" in text or "\f" in text or "\x1c" <= max(text) <= "\x1f":
                    text = " " * len(text)
                if self.stack:
                    (self.pending or self.out).append(text)
                pos = found.end()
            elif kind == 2:
                token = style.tokens[text]
                if token in "[{" and self.state == VALUE and not self.stack and style.is_json and stop - pos > 64:
                    end = self._whole(buf, pos, token)
                    if end:
                        return end
                self._sign(token, text)
                pos = found.end()
            else:
                end = self._word(buf, pos, found.end(), final)
                if end == pos:
                    break
                pos = end
        return pos

    def _whole(self, buf: str, pos: int, token: str) -> int:
        # All of it is there and it is JSON: the standard library's scanner is faster than any loop.
        try:
            end: int = scan_json(buf, pos)[1]
        except (ValueError, StopIteration, RecursionError):
            return 0
        self.type = TYPES[token]
        self.out.append(buf[pos:end])
        self.state = DONE
        return end

    def _repair(self, text: str) -> None:
        if self.strict:
            self.failed = True
        elif len(self.repairs) < 10:
            self.repairs.append(text)

    def _begin(self, kind: str) -> None:
        """A value or a key begins: what must stand before it."""
        if self.state == COLON:
            self._repair("missing colon")
            self.out.append(": ")
            self.state = VALUE
        elif self.state == COMMA:
            self._repair("missing comma")
            self.out.append(", ")
            self.state = VALUE if self.stack[-1] == "[" else MEMBER
        if self.pending:
            self.out += self.pending
            self.pending.clear()
        if self.state in (KEY, MEMBER) and kind in "[{":
            self._repair("missing key")
            self.out.append('"": ')
            self.state = VALUE
        if not self.type:
            self.type = TYPES.get(kind, kind)

    def _ended(self) -> None:
        """A value or a key has ended."""
        if self.state in (KEY, MEMBER):
            self.state = DONE if self.only_key and not self.stack else COLON
        else:
            self.state = COMMA if self.stack else DONE

    def _sign(self, token: str, text: str) -> None:
        if token == '"':
            self._begin('"')
            self.string = self.style.strings[text]
            self.out.append('"')
        elif token in "[{":
            self._begin(token)
            if not self.stack:
                self.style = self.styles[1 if token == "[" else 2]
            self.stack.append(token)
            self.lists += token == "["
            self.out.append(token)
            self.state = ITEM if token == "[" else KEY
        elif token in "]}":
            self._closed(token)
        elif token == ":":
            if self.state == COLON:
                self.out.append(":")
                self.state = VALUE
            else:
                self._repair("stray colon")
        elif self.state == COMMA:
            self.pending.append(",")
            self.state = VALUE if self.stack[-1] == "[" else MEMBER
        else:
            self._repair("stray comma")

    def _closed(self, token: str) -> None:
        opened = "[" if token == "]" else "{"
        if not (self.lists if token == "]" else len(self.stack) - self.lists):
            if self.stack or self.only_key:
                return self._repair("stray " + token)
            self.failed = True
            return None
        if self.state in (VALUE, MEMBER) and self.pending:
            self._repair("trailing comma")
        while self.stack[-1] != opened:
            self._repair("missing " + ("]" if self.stack[-1] == "[" else "}"))
            self._pop()
        self._pop()
        return None

    def _pop(self) -> None:
        if self.state == COLON:
            self._repair("missing value")
            self.out.append(": null")
        elif self.state == VALUE and self.stack[-1] == "{":
            self._repair("missing value")
            self.out.append(" null")
        self.out += [space for space in self.pending if space != ","]
        self.pending.clear()
        opened = self.stack.pop()
        self.lists -= opened == "["
        self.out.append("]" if opened == "[" else "}")
        self.state = COMMA if self.stack else DONE
        if not self.stack:
            self.style = self.styles[0]

    def _word(self, buf: str, pos: int, end: int, final: bool) -> int:
        if self.state in (KEY, MEMBER):
            run = self.style.key_run.match(buf, pos)
            end = run.end() if run else end
            if end == len(buf) and not final:
                return pos
            if not self.style.bare_keys:
                self._repair("bare key")
            self._begin('"')
            self.out.append('"' + escaped(buf[pos:end].rstrip()) + '"')
            self._ended()
            return end
        if end == len(buf) and not final:
            return pos
        if self.follow is not None and not self.stack:
            follow = self.follow.search(buf, pos)
            end = follow.start() if follow else len(buf)
            if not final and not (follow and follow.group().strip()):
                return pos
        text = buf[pos:end].rstrip()
        literal = self.style.words.get(text) or number(text)
        if literal is None:
            if self.strict:
                self.failed = True
                return pos
            if self.stack or self.follow is None:
                run = self.style.word_run.match(buf, pos)
                end = run.end() if run else end
            if end == len(buf) and not final:
                return pos
            self._repair("bare word")
            literal = '"' + escaped(buf[pos:end].rstrip()) + '"'
        self._begin(literal_type(literal))
        self.out.append(literal)
        self._ended()
        return end

    def _string(self, buf: str, pos: int, final: bool, _: str, close: str, escape: str) -> int:
        first = close[0]
        run = _RUNS.get(first) or _RUNS.setdefault(first, re.compile(rf'[^"\\{re.escape(first)}\x00-\x1f]*'))
        found = run.match(buf, pos)
        end = found.end() if found else pos
        if end > pos:
            self.out.append(buf[pos:end])
        if end == len(buf):
            return end
        char = buf[end]
        if char == first and buf.startswith(close, end):
            after = end + len(close)
            guess = escape == "none" and len(close) < 3
            if guess and not final and (len(buf) - after < 96 or buf[after:].isspace()):
                return end
            if not guess or self._may_end(buf, after):
                self.string = None
                self.out.append('"')
                self._ended()
                return after
        elif char == first and not final and close.startswith(buf[end:]):
            return end
        if char == "\\" and escape != "none":
            return self._escape(buf, end, final, escape)
        self.out.append(escaped(char))
        return end + 1

    def _may_end(self, buf: str, pos: int) -> bool:
        # Quotes inside are not escaped: a quote ends the string only where something follows that may follow.
        return bool((FOLLOW if self.stack or self.follow is None else self.follow).match(buf, pos))

    def _escape(self, buf: str, pos: int, final: bool, escape: str) -> int:
        if not final and PART_OF_ESCAPE.match(buf, pos):
            return pos
        found = ESCAPE.match(buf, pos)
        if found is None:  # a backslash at the very end
            self.out.append("\\\\")
            return pos + 1
        if found.group(1):
            self.out.append(found.group())
        elif escape == "python" or found.group() == "\\'":
            self.out.append(_python_escape(found))
        else:
            self._repair("invalid escape")
            self.out.append("\\\\")
            return pos + 1
        return found.end()

    def close(self) -> str:
        """What is missing to make the text so far a JSON value; "" when the value is whole."""
        if self.state == DONE:
            return ""
        if self.string is not None:
            self.string = None
            self.out.append('"')
            self._ended()
        elif self.state == VALUE and not self.stack:
            self.out.append("null")
        while self.stack:
            self._pop()
        self.state = DONE
        return self.take()


_RUNS: dict[str, re.Pattern[str]] = {}


def _python_escape(found: re.Match[str]) -> str:
    text = found.group()
    digits = found.group(2) or found.group(3)
    code = int(digits, 16) if digits else int(found.group(4), 8) if found.group(4) else -1
    if 0 <= code < 0x110000:
        return escaped(chr(code))
    if text == "\\\n":
        return ""
    plain = {"\\'": "'", "\\a": "\\u0007", "\\v": "\\u000b"}
    return plain.get(text, "\\" + escaped(text))


def number(text: str) -> Optional[str]:
    """A number as JSON writes it; nan and inf, which JSON lacks, as strings; None for anything else."""
    if NUMBER.fullmatch(text):
        return text
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return '"' + text + '"'
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text):
        return str(int(text, 16))
    found = LOOSE_NUMBER.fullmatch(text)
    if not found or not (found.group(2) or found.group(3)):
        return None
    sign, whole, fraction, exponent = (group or "" for group in found.groups())
    digits = whole.replace("_", "") or "0"
    return (
        sign.replace("+", "")
        + digits
        + ("." + (fraction.replace("_", "") or "0") if found.group(3) is not None else "")
        + exponent
    )


def literal_type(literal: str) -> str:
    if literal[0] == '"':
        return "string"
    return "null" if literal == "null" else "boolean" if literal in ("true", "false") else "number"
