"""Markers of random design.

    theme "tag"       <vok>            </vok>
    theme "cjk"       【蝶湖】          【/蝶湖】
    theme "overlap"   =+=+=            +=+=+
    theme "spaces"    -- vok begins    vok ends --

No marker that `Markers` hands out equals, or is the beginning of, another one of it (white space apart), so at any
place in a text at most one of them begins.  They may share beginnings, overlap themselves, and hold one another.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_SYLLABLES = (
    "vok",
    "zim",
    "tra",
    "plu",
    "gne",
    "dox",
    "rif",
    "ska",
    "mub",
    "lod",
    "wex",
    "qua",
    "fyl",
    "bro",
    "hun",
    "jit",
)
_CJK = "蝶湖鍵雲石森橋舟影鐘"
_EMOJI = "🦊🍋🌀🪁🧩🐙🪐🎈🥁🧭"
_CONTROL = "\x02\x03\x0e\x10\x1c\x1d\x1e\x1f"
_OVERLAP = ["=+", "#-", "~.", "aXa", "^^", "°|"]

Pair = tuple[str, str]


def _tag(rng: random.Random, word: str) -> Pair:
    return f"<{word}>", f"</{word}>"


def _pipe(rng: random.Random, word: str) -> Pair:
    bar = rng.choice("|!~¦")
    return f"<{bar}{word}{bar}>", f"<{bar}/{word}{bar}>"


def _square(rng: random.Random, word: str) -> Pair:
    return f"[{word.upper()}]", f"[/{word.upper()}]"


def _braces(rng: random.Random, word: str) -> Pair:
    return f"{{{{{word}}}}}", f"{{{{/{word}}}}}"


def _cjk(rng: random.Random, word: str) -> Pair:
    text = "".join(rng.sample(_CJK, 3))
    return rng.choice([(f"【{text}】", f"【/{text}】"), (f"「{text}", f"{text}」"), (f"{text}：", f"：{text}")])


def _emoji(rng: random.Random, word: str) -> Pair:
    return "".join(rng.choices(_EMOJI, k=3)), "".join(rng.choices(_EMOJI, k=4))


def _control(rng: random.Random, word: str) -> Pair:
    one, two = rng.sample(_CONTROL, 2)
    return f"{one}{word}{two}", f"{two}{word}{one}"


def _spaces(rng: random.Random, word: str) -> Pair:
    return rng.choice([(f"-- {word} begins", f"{word} ends --"), (f"@ {word} @", f"@ no {word} @")])


def _quotes(rng: random.Random, word: str) -> Pair:
    return rng.choice([(f"\"'{word}", f"{word}'\""), (f"`'{word}`", f"`{word}'`"), (f'\\"{word}', f'{word}\\"')])


def _shared(rng: random.Random, word: str) -> Pair:
    return f"<#a:a:{word}", f"<#a:a/{word}"


def _overlap(rng: random.Random, word: str) -> Pair:
    unit = rng.choice(_OVERLAP)
    return unit * rng.randint(2, 4) + unit[0] + word[0], unit * rng.randint(1, 3) + word[:2] + unit[0] * 2


def _colon(rng: random.Random, word: str) -> Pair:
    return f"\n{word.capitalize()}: ", f" .{word}.\n"


def _arrows(rng: random.Random, word: str) -> Pair:
    return f"{word}>>", f"<<{word}"


THEMES: dict[str, Callable[[random.Random, str], Pair]] = {
    "tag": _tag,
    "pipe": _pipe,
    "square": _square,
    "braces": _braces,
    "cjk": _cjk,
    "emoji": _emoji,
    "control": _control,
    "spaces": _spaces,
    "quotes": _quotes,
    "shared": _shared,
    "overlap": _overlap,
    "colon": _colon,
    "arrows": _arrows,
}

_BEFORE = ["", "", "", "", "\n", " ", "\n\n"]
_AFTER = ["", "", "", "\n", "\n", " ", "\n\n"]


class Markers:
    """Hands out markers of a few themes, no two of which could begin at one place."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        names = list(THEMES)
        self.themes = rng.sample(names, rng.choice([1, 1, 2, 3]))
        self._words: set[str] = set()
        self._cores: set[str] = set()

    def word(self) -> str:
        while True:
            word = "".join(self.rng.choices(_SYLLABLES, k=self.rng.randint(1, 3)))
            if word not in self._words:
                self._words.add(word)
                return word

    def pair(self, *, space: bool = True) -> Pair:
        """Return an opening and a closing marker; with `space`, white space may be outside and inside of them."""
        while True:
            opening, closing = THEMES[self.rng.choice(self.themes)](self.rng, self.word())
            if self._free(opening) and self._free(closing) and not _compete(_core(opening), _core(closing)):
                break
        self._cores |= {_core(opening), _core(closing)}
        if not space:
            return opening.strip(), closing.strip()
        return opening + self.rng.choice(_AFTER), self.rng.choice(_BEFORE) + closing + self.rng.choice(_AFTER)

    def one(self, *, space: bool = True) -> str:
        return self.pair(space=space)[0]

    def around(self, inner: str) -> str:
        """Return a marker that contains another one: `<vok>` → `@zim<vok>zim@`."""
        while True:
            word = self.word()
            marker = f"@{word}{inner.strip()}{word}@"
            if self._free(marker):
                self._cores.add(_core(marker))
                return marker

    def reserve(self, *texts: str) -> None:
        self._cores |= {_core(text) for text in texts if _core(text)}

    def _free(self, marker: str) -> bool:
        return not any(_compete(_core(marker), taken) for taken in self._cores)


def _core(marker: str) -> str:
    return re.sub(r"\s", "", marker)


def _compete(one: str, two: str) -> bool:
    return one.startswith(two) or two.startswith(one)
