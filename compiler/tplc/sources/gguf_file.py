"""Read the templates and special tokens in the head of a GGUF file; its tensors are not looked at.

tokenizer.chat_template, tokenizer.chat_template.tool_use, tokenizer.ggml.bos_token_id = 1
→  templates {"default": …, "tool_use": …}, special tokens {"bos_token": "<start>"}

The file is a stranger's: no length in it is believed before so much is there, and what is not asked for is skipped.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

from tplc.errors import SourceError
from tplc.ir.nodes import Token
from tplc.ir.tokens import AddedToken
from tplc.paths import unreadable
from tplc.sources.choose import DEFAULT
from tplc.sources.source import Offer
from tplc.sources.text import TEMPLATE_BYTES
from tplc.sources.tokenizer_config import with_ends

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_TEMPLATE = "tokenizer.chat_template"
_TOKENS = "tokenizer.ggml.tokens"
_KINDS = "tokenizer.ggml.token_type"
_CONTROL, _USER_DEFINED = 3, 4
_TOKEN_IDS = {
    "tokenizer.ggml.bos_token_id": "bos_token",
    "tokenizer.ggml.eos_token_id": "eos_token",
    "tokenizer.ggml.unknown_token_id": "unk_token",
    "tokenizer.ggml.padding_token_id": "pad_token",
    "tokenizer.ggml.seperator_token_id": "sep_token",  # spelt so in the format
    "tokenizer.ggml.mask_token_id": "mask_token",
}
# All of them end an answer.
_ENDS = tuple(f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))
# Kinds of values by their number: the letter and the bytes of a plain one, a text, a list.
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
# Many times what the largest known files have.
_MOST_KEYS = 10_000
_MOST_TEXTS = 4_000_000
_MOST_HEAD_BYTES = 1 << 30
_DEEPEST_LIST = 2


class _Damaged(Exception):
    pass


def is_gguf(path: Path) -> bool:
    """Return whether the file is GGUF. Pipes are not read, because the bytes would be gone."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_gguf(path: Path, origin: str) -> Offer:
    head = _read(path, origin)
    try:
        return Offer(_templates(head), _special_tokens(head), (str(path),), _added_tokens(head))
    except UnicodeDecodeError as error:
        raise _damaged(origin, "a text of it is not UTF-8") from error


def _read(path: Path, origin: str) -> _Head:
    try:
        with path.open("rb") as file:
            head = _Head(file)
            head.read()
        return head
    except OSError as error:
        raise unreadable(origin, error) from error
    except (_Damaged, UnicodeDecodeError) as error:
        problem = "a text of it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise _damaged(origin, problem) from error


def _damaged(origin: str, problem: str) -> SourceError:
    return SourceError(origin, f"this GGUF file is damaged, or of an unknown kind: {problem}")


def read_gguf_tokens(path: Path, origin: str) -> tuple[AddedToken, ...]:
    """Return the tokens that mean more than their text: control tokens, which no text matches, and user-defined
    ones."""
    head = _read(path, origin)
    try:
        texts = [(number, head.tokens[number].decode("utf-8")) for number in _numbers(head, _CONTROL, _USER_DEFINED)]
    except UnicodeDecodeError as error:
        raise _damaged(origin, "a text of it is not UTF-8") from error
    return tuple(AddedToken(text, number, head.kinds[number] == _CONTROL) for number, text in texts)


def _numbers(head: _Head, *kinds: int) -> list[int]:
    return [number for number, kind in enumerate(head.kinds[: len(head.tokens)]) if kind in kinds]


class _Head:
    """The values by key, of the keys that are asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = min(os.fstat(file.fileno()).st_size, _MOST_HEAD_BYTES)
        self._texts_left = _MOST_TEXTS
        self._order = "<"
        self.texts: dict[str, bytes] = {}
        self.numbers: dict[str, int] = {}
        self.tokens: list[bytes] = []
        self.kinds: tuple[int, ...] = ()

    def read(self) -> None:
        if self._take(len(MAGIC)) != MAGIC:
            raise _Damaged("it does not begin with GGUF")
        version = self._take(4)
        # The number also shows the byte order, because it is small.
        self._order = "<" if version[0] else ">"
        number = int(struct.unpack(f"{self._order}I", version)[0])
        if number not in _VERSIONS:
            raise _Damaged(f"version {number}; {' and '.join(map(str, _VERSIONS))} are read")
        self._size()  # of tensors
        keys = self._size()
        if keys > _MOST_KEYS:
            raise _Damaged(f"it has {keys:,} keys")
        for _ in range(keys):
            self._read_pair()

    def _read_pair(self) -> None:
        key = self._text(_MOST_KEY_BYTES).decode("utf-8")
        kind = self._number("I")
        if kind == _TEXT and (key == _TEMPLATE or key.startswith(f"{_TEMPLATE}.")):
            self.texts.setdefault(key, self._text(TEMPLATE_BYTES))
        elif (key in _TOKEN_IDS or key in _ENDS) and kind in _PLAIN:
            self.numbers.setdefault(key, int(self._number(_PLAIN[kind])))
        elif key == _TOKENS and kind == _LIST and not self.tokens:
            self._read_tokens()
        elif key == _KINDS and kind == _LIST and not self.kinds:
            self._read_kinds()
        else:
            self._skip(kind, 0)

    def _read_tokens(self) -> None:
        kind, count = self._number("I"), self._size()
        if kind != _TEXT:
            raise _Damaged("its tokens are not strings")
        self._check_texts(count)
        self.tokens = [self._text(_MOST_TOKEN_BYTES) for _ in range(count)]

    def _read_kinds(self) -> None:
        kind, count = self._number("I"), self._size()
        if _PLAIN.get(kind) not in ("I", "i"):
            raise _Damaged("the types of its tokens are not numbers")
        data = self._take(count * 4)
        self.kinds = struct.unpack(f"{self._order}{count}{_PLAIN[kind]}", data)

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _PLAIN:
            self._pass(struct.calcsize(f"={_PLAIN[kind]}"))
        elif kind == _TEXT:
            self._pass(self._size())
        elif kind == _LIST and depth < _DEEPEST_LIST:
            inner, count = self._number("I"), self._size()
            if inner in _PLAIN:
                self._pass(count * struct.calcsize(f"={_PLAIN[inner]}"))
                return
            self._check_texts(count)
            for _ in range(count):
                self._skip(inner, depth + 1)
        else:
            raise _Damaged("its lists are nested" if kind == _LIST else f"a value of the unknown kind {kind}")

    def _check_texts(self, count: int) -> None:
        """Raise an error for an impossible count: each text has at least eight bytes, and takes time."""
        self._texts_left -= count
        if count * 8 > self._left or self._texts_left < 0:
            raise _Damaged(f"a list of {count:,}")

    def _text(self, most: int) -> bytes:
        size = self._size()
        if size > most:
            raise _Damaged(f"a text of {size:,} bytes")
        return self._take(size)

    def _size(self) -> int:
        return self._number("Q")

    def _number(self, letter: str) -> int:
        value = struct.unpack(f"{self._order}{letter}", self._take(struct.calcsize(f"={letter}")))[0]
        return int(value) if value == value and abs(value) != float("inf") else -1

    def _take(self, size: int) -> bytes:
        self._count(size)
        data = self._file.read(size)
        if len(data) < size:
            raise _Damaged("it ends too early")
        return data

    def _pass(self, size: int) -> None:
        self._count(size)
        self._file.seek(size, os.SEEK_CUR)

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _Damaged("it ends too early")


_MOST_KEY_BYTES = 1 << 16
_MOST_TOKEN_BYTES = 1 << 16


def _templates(head: _Head) -> dict[str, str]:
    return {
        DEFAULT if key == _TEMPLATE else key[len(_TEMPLATE) + 1 :]: text.decode("utf-8")
        for key, text in head.texts.items()
    }


def _special_tokens(head: _Head) -> dict[str, str]:
    return {
        _TOKEN_IDS[key]: head.tokens[number].decode("utf-8")
        for key, number in head.numbers.items()
        if key in _TOKEN_IDS and 0 <= number < len(head.tokens)
    }


def _added_tokens(head: _Head) -> tuple[Token, ...]:
    """Return the control tokens and the user-defined ones."""
    ends = [head.numbers[key] for key in _ENDS if key in head.numbers]
    numbers = _numbers(head, _CONTROL, _USER_DEFINED)
    tokens = [Token(head.tokens[n].decode("utf-8"), n, head.kinds[n] == _CONTROL) for n in numbers if head.tokens[n]]
    return with_ends(tokens, {}, ends)
