"""Arguments that are one object, and calls that are one object.

    {"name": "f", "arguments": {"a": 1}}  →  a call of f with the arguments {"a": 1}

The members of a call come in any order; until its name is known, it may still turn out to be text.
"""

from __future__ import annotations

import json
from typing import ClassVar, Optional

from .machine import NON_SPACE, Machine
from .values import Reader, Style


class Objects(Machine):
    STYLES: ClassVar[tuple[Style, Style, Style]]
    _reader: Optional[Reader] = None

    def _arguments(self) -> bool:
        found = NON_SPACE.search(self._buf, self._pos)
        if found is None and not self._reader:
            return False
        if self._reader is None and found is not None:
            style = self.STYLES[0]
            rest = self._buf[found.start() : found.start() + 16]
            if not self._final and any(len(rest) < len(sign) and sign.startswith(rest) for sign in style.long_signs):
                return False
            token = style.token.match(self._buf, found.start())
            kind = style.tokens.get(token.group(), "") if token else ""
            if kind not in ("{", '"'):
                self._note("expected the arguments", found.start())
                self._say("arguments", "{}")
                self._close_call()
                return True
            self._reader = Reader(self.STYLES)
        if self._reader is not None and self._read_arguments(self._reader):
            self._reader = None
            self._close_call()
            return True
        return False

    def _read_arguments(self, reader: Reader) -> bool:
        """Say what has come of the arguments; True at their end."""
        self._pos = reader.read(self._buf, self._pos, self._final)
        if reader.type == "object":
            self._say("arguments", reader.take())
        if reader.done:
            if reader.type != "object":
                self._say("arguments", self._unwrapped(reader))
            for repair in reader.repairs:
                self._note("arguments: " + repair)
        return reader.done

    def _unwrapped(self, reader: Reader) -> str:
        """Arguments written as a string that holds an object; other text is no arguments, so it is content."""
        text = reader.take() + reader.close()
        if reader.type == "string":
            inside = json.loads(text, strict=False)
            inner = Reader(self.STYLES)
            end = inner.read(inside, 0, True)
            if inner.type == "object" and not inside[end:].strip():
                return inner.take() + inner.close()
        if reader.type not in ("null", "") and text != '""':
            self._note("the arguments are not an object")
            self._say("content", text)
        return "{}"

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            reader, self._reader = self._reader, None
            if reader is not None and reader.type == "object":
                self._say("arguments", reader.take() + reader.close())
            else:
                self._say("arguments", self._unwrapped(reader) if reader else "{}")


class CallObjects(Objects):
    FIELDS: ClassVar[dict[tuple[str, ...], str]]
    NAME_IS_KEY: ClassVar[bool] = False
    DISTINCT: ClassVar[bool] = True  # the opener is like nothing else, so what follows is a call
    OPEN: ClassVar[str] = "{"

    def _begin_object(self) -> None:
        """The opener of a call has come, with the object's opening at its end."""
        end = self._pos + self._skip - len(self.OPEN)
        self._raw = [self._buf[self._pos : end]]  # all of it, while it may still be text
        self._raw_base = self._base + self._pos
        self._pos = end
        self._eat = ""
        self._named = False
        self._path: list[str] = []
        self._depth = 0
        self._want = "{"
        self._role = ""
        self._reader = None
        self._call_id: Optional[str] = None
        self._early: Optional[str] = None  # arguments that came before the name
        self._state = type(self)._object

    def _object(self) -> bool:
        while self._state is type(self)._object:
            if self._reader is not None:
                if not self._member(self._reader):
                    return False
                continue
            style, pos = self.STYLES[2], self._pos
            found = style.token.match(self._buf, pos)
            rest = self._buf[pos : pos + 16]
            if found is None or (
                not self._final and any(len(rest) < len(sign) and sign.startswith(rest) for sign in style.long_signs)
            ):
                return False
            if found.lastindex == 1:
                self._consume(found.end())
            else:
                self._token(style.tokens.get(found.group(), "w"), found.end())
        return True

    def _consume(self, end: int) -> None:
        if not self._named:
            self._raw.append(self._buf[self._pos : end])
        self._pos = end

    def _token(self, token: str, end: int) -> None:
        want = self._want
        if want == ":" and token == ":":
            self._consume(end)
            self._want = "value"
        elif want == "value":
            path = tuple(self._path)
            if token == "{" and any(field[: len(path)] == path and len(field) > len(path) for field in self.FIELDS):
                self._consume(end)
                self._depth += 1
                self._want = "key"
                return
            role = "arguments" if self.NAME_IS_KEY else self.FIELDS.get(path, "other")
            if role == "other" and not self.DISTINCT and not self._named:
                return self._broken("a known field")
            self._role = role
            self._reader = Reader(self.STYLES)
        elif want == "{" and token == "{":
            self._consume(end)
            self._depth += 1
            self._want = "key"
        elif want == "," and token == ",":
            self._consume(end)
            self._want = "key"
        elif want in ("key", ",") and token == "}":
            self._consume(end)
            self._depth -= 1
            self._want = ","
            if self._path:
                self._path.pop()
            if not self._depth:
                self._object_end()
        elif want in ("key", ",") and token in ('"', "w"):
            self._role = "key"
            self._reader = Reader((self.STYLES[2],) * 3, key=True)
        else:
            self._broken({"key": "a field", ",": "a comma"}.get(want, want))

    def _member(self, reader: Reader) -> bool:
        role = self._role
        if role == "arguments" and self._named:
            if not self._read_arguments(reader):
                return False
        else:
            end = reader.read(self._buf, self._pos, self._final)
            self._consume(end)
            if not reader.done:
                return False
        self._reader = None
        self._want = ":" if role == "key" else ","
        if role == "key":
            if reader.failed:
                self._broken("a field")
                return True
            self._path[self._depth - 1 :] = [json.loads(reader.take(), strict=False)]
            if self.NAME_IS_KEY:
                self._name(self._path[0])
            return True
        if self._path:
            self._path.pop()
        if reader.failed:
            self._broken("a value")
        elif role == "name" and reader.type == "string" and not self._named:
            self._name(json.loads(reader.take(), strict=False))
        elif role == "name":
            self._broken("a name")
        elif role == "id":
            text = reader.take()
            value = json.loads(text, strict=False) if reader.type == "string" else text
            if self._named and self._calls:
                self._set_id(value)
            else:
                self._call_id = value
        elif role == "arguments" and not self._named:
            self._early = reader.take() if reader.type == "object" else self._unwrapped(reader)
        elif role == "arguments":
            self._early = ""
        elif role == "other":
            self._note("unknown field")
        return True

    def _name(self, name: str) -> None:
        if self._named:
            return self._broken("one name")
        if not name.strip() or ("\n" in name and name not in self._tools):
            return self._broken("a name")
        if not self.DISTINCT and self._tools and name not in self._tools:
            return self._broken("the name of a tool")
        self._named = True
        self._raw.clear()
        self._open_call(name, self._call_id)
        if self._early is not None:
            self._say("arguments", self._early)
        return None

    def _broken(self, expected: str) -> None:
        if self._named:
            self._note("a call's object: expected " + expected)
            return self._object_end()
        self._note("not a call: expected " + expected)
        self._say_raw()
        self._literal = True
        self._fresh = False
        self._line_start = False
        self._state = self._back
        return None

    def _say_raw(self) -> None:
        text = "".join(self._raw)
        self._raw.clear()
        self._say(self._back_kind, text if self._echo else text[max(0, -self._raw_base) :])

    def _object_end(self) -> None:
        if not self._named:
            return self._broken("a name")
        if self._early is None:
            self._say("arguments", "{}")
        self._role = ""
        self._close_call()
        return None

    def _finish(self) -> None:
        if self._state is type(self)._object:
            if not self._named:
                self._note("not a call: the output ends")
                self._say_raw()
            elif self._early is not None and self._role != "arguments":
                self.incomplete = True
                self._note("the output ends inside a call")
                self._open = False
            elif self._role != "arguments":
                self._reader = None
        super()._finish()
