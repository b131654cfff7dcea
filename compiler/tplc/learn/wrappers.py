"""Is a value written between texts that depend on its type?

    "a" → `<p=k><str>a</str></p>`, 1 → `<p=k><lit>1</lit></p>`, [1] → `<p=k><lit>[1]</lit></p>`
    →  strings between `<str>` and `</str>`, all else between `<lit>` and `</lit>`
    "a" → `<str k>a</str>`, 1 → `<lit 1>1</lit>`
    →  pairs of strings between `<str ` and `</str>`, their key ends with `>`

Text before a value alone is a type word, and quotes around strings alone are the dialect's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import Json, JsonType, TypeWord
from tplc.ir.write import json_type
from tplc.learn.align import reads_well

Render = Callable[[Json], "str | None"]  # a call with such a value

_NUMBER, _FRACTION = 7431, 7431.5
# Values whose text is known in most dialects.
_SAMPLES: tuple[tuple[JsonType, Json, str], ...] = (
    ("number", _FRACTION, str(_FRACTION)),
    ("array", [], "[]"),
    ("object", {}, "{}"),
)
_NULLS = ("null", "None", "none", "nil")


@dataclass(frozen=True, slots=True)
class Wrappers:
    """`before` and `after` are what is around the wrapped value of the only argument, `words` the wrappers.

    If the wrappers surround the key as well, `key_end` is what follows it up to the value; otherwise it is "".
    """

    before: str
    after: str
    words: tuple[TypeWord, ...]
    key_end: str = ""

    def of(self, kind: JsonType) -> tuple[str, str]:
        return next(((word.word, word.close) for word in self.words if word.type == kind), ("", ""))

    def without(self, text: str, value: Json) -> str:
        """Return a written value without its wrapper."""
        wrapper = self.of(json_type(value))
        return _inside(text, wrapper) if _is_around(wrapper, text) else text

    def value_of_pair(self, text: str, value: Json, key: str) -> str | None:
        """Return the value in the text of a call's turn if the wrappers surround the key as well; None if it isn't
        there."""
        word, close = self.of(json_type(value))
        around = self.before + word + key + self.key_end, close + self.after
        return _inside(text, around) if _is_around(around, text) else None


def learn_wrappers(render: Render, sentinel: str, key: str) -> Wrappers | None:
    """Return the wrappers by type; None if there are none.  `sentinel` is a text to write, `key` the argument's key."""
    string, number = render(sentinel), render(_NUMBER)
    if string is None or number is None or string.count(sentinel) != 1 or number.count(str(_NUMBER)) != 1:
        return None
    (before, after), (other_before, other_after) = string.split(sentinel), number.split(str(_NUMBER))
    start = _shared_start(before, other_before)
    end = _shared_end(after, other_after)
    texts = (before[start:], after[: len(after) - end])
    of_number = (other_before[start:], other_after[: len(other_after) - end])
    around_key = key in texts[0] and key in of_number[0]
    if not around_key and (key in texts[0] + of_number[0] or not _is_wrapper(of_number)):
        return None
    if not (around_key or _is_wrapper(texts) or texts == ("", "")):
        return None
    shared = before[:start], after[len(after) - end :]
    words = [TypeWord("string", *texts), TypeWord("integer", *of_number)]
    known = [of_number, *([texts] if any(texts) else [])]
    inner = _Inner(render, *shared, key if around_key else "")
    for kind, wrapper in _of_others(inner, known):
        words.append(TypeWord(kind, *wrapper))
        known += [wrapper] * any(wrapper)
    found = Wrappers(*shared, tuple(words))
    return _around_key(found, key) if around_key else found


Wrapper = tuple[str, str]


def _around_key(found: Wrappers, key: str) -> Wrappers | None:
    """Return wrappers of the value without the key in them; None if it isn't once in the opener of each, with the same
    text between it and the value."""
    parts = [word.word.split(key) for word in found.words]
    if any(len(part) != 2 or not part[0].strip() for part in parts) or any(key in word.close for word in found.words):
        return None
    ends = {end for _, end in parts}
    if key in found.before + found.after or len(ends) != 1 or not "".join(ends).strip():
        return None
    words = (replace(word, word=part[0]) for word, part in zip(found.words, parts, strict=True))
    return replace(found, words=tuple(words), key_end=ends.pop())


@dataclass(frozen=True, slots=True)
class _Inner:
    """The text of values with their wrappers.  `key` is in each opener, if it isn't ""."""

    render: Render
    before: str
    after: str
    key: str

    def text(self, value: Json) -> str | None:
        text = self.render(value)
        shared = (self.before, self.after)
        return _inside(text, shared) if text is not None and _is_around(shared, text) else None

    def is_wrapper(self, texts: Wrapper) -> bool:
        return self.key in texts[0] if self.key else _is_wrapper(texts)


def _of_others(inner: _Inner, known: Sequence[Wrapper]) -> Iterator[tuple[JsonType, Wrapper]]:
    """Yield the wrappers of the other types; those that were found may be `known` by then."""
    true, false, null = (inner.text(value) for value in (True, False, None))
    if true is not None and false is not None:
        own = (true[: _shared_start(true, false)], true[len(true) - _shared_end(true, false) :])
        yield "boolean", _known(true, known) or (own if inner.is_wrapper(own) else ("", ""))
    for kind, value, usual in _SAMPLES:
        text = inner.text(value)
        if text is not None:
            opened, _, closed = text.partition(usual)
            own = (opened, closed) if inner.is_wrapper((opened, closed)) else ("", "")
            yield kind, _known(text, known) or own
    if null is not None:
        yield "null", _known(null, known) or (_of_null(null, inner.key) if inner.key else ("", ""))


def _of_null(text: str, key: str) -> Wrapper:
    """Return the wrapper of null, which the key before it shows: many words stand for null."""
    before, found, after = text.partition(key)
    word = next((word for word in _NULLS if word in after), "")
    opened, _, closed = after.partition(word) if word else ("", "", "")
    return (before + found + opened, closed) if word else ("", "")


def _known(text: str, known: Sequence[Wrapper]) -> Wrapper | None:
    return next((wrapper for wrapper in known if _is_around(wrapper, text)), None)


def _is_wrapper(texts: Wrapper) -> bool:
    return all(text.strip() for text in texts)


def _is_around(wrapper: Wrapper, text: str) -> bool:
    opened, closed = wrapper
    return text.startswith(opened) and text.endswith(closed) and len(text) >= len(opened) + len(closed)


def _inside(text: str, wrapper: Wrapper) -> str:
    return text[len(wrapper[0]) : len(text) - len(wrapper[1])]


def _shared_start(one: str, two: str) -> int:
    """Return how much the texts begin with alike, up to a place that reads well in both."""
    at = len(common_prefix(one, two))
    while not (reads_well(one, at) and reads_well(two, at)):
        at -= 1
    return at


def _shared_end(one: str, two: str) -> int:
    size = len(common_suffix(one, two))
    while not (reads_well(one, len(one) - size) and reads_well(two, len(two) - size)):
        size -= 1
    return size
