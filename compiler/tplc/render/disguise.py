"""Replace the probes' words by others for the template, so that it can't recognise probes.

    "zqcontent0x", "zqkey0x", "zqkey1x"  →  "lonarutebis", "vapenoh", "vapenuh"  →  (in the render) back

Learning uses words that occur in no text (`zq…`): a template that looked for them could show it other markers than it
shows everybody.  So they never reach the template.  What does is drawn for each template, by its hash, as long as the
word that it stands for, and sorts as that one does among those that differ from it at the end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from string import ascii_lowercase

from tplc.ir.hashes import sha256

# Letters, a number, maybe one more number, and a last letter; ids are filled up with `w` to the length that is wanted.
_PROBE = re.compile(r"zq([a-z]*?)([a-z]?)([0-9]+)((?:n|token)[0-9]+)?(x|w*)")
_PHRASE = re.compile(r"(?<=['\"])[a-z]{1,12}(?=['\"])")
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"
_DIGITS = "0123456789"


class Disguise:
    """The words for one template. With `chance`, they have random letters, for a second look."""

    def __init__(self, source: str, *, chance: random.Random | None = None) -> None:
        self._source = source.lower()
        # No word contains what a template names, and so may look for or change; letters only where others are left.
        named = set(_PHRASE.findall(self._source))
        self._phrases = {phrase for phrase in named if len(phrase) > 1}
        self._consonants, self._vowels, self._letters = (
            _others(letters, named) for letters in (_CONSONANTS, _VOWELS, ascii_lowercase)
        )
        self._seed = sha256(source)
        self._chance = chance
        self._stems: dict[str, tuple[str, str]] = {}
        self._hidden: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._any: re.Pattern[str] | None = None

    def hide(self, text: str) -> str:
        """Probe words in a text replaced by those that the template sees."""
        return _PROBE.sub(lambda match: self._hidden.get(match[0]) or self._draw(match), text)

    def show(self, text: str) -> str:
        """Return the template's output with the probe words in place again."""
        if self._any is None:
            if not self._shown:
                return text
            self._any = re.compile(_any_of(self._shown))
        return self._any.sub(lambda match: self._shown[match[0]], text)

    def show_all(self, texts: Sequence[str]) -> list[str]:
        """Return the outputs with the probe words in place again, all at once, because most are short. No word crosses
        from one text into the next."""
        shown = self.show("\0".join(texts)).split("\0") if texts else []
        return shown if len(shown) == len(texts) else list(map(self.show, texts))

    def first_unlike(self, other: Disguise, question: str, one: str, two: str) -> int | None:
        """Return where two renders of one question differ in more than the letters of their words: `one` in these
        words, `two` in the words of `other`.  The words need not be whole, because templates truncate their input."""
        letters = {
            pair
            for match in _PROBE.finditer(question)
            for word, different in ((self.hide(match[0]), other.hide(match[0])),)
            for pair in (*zip(word, different, strict=True), *zip(word.upper(), different.upper(), strict=True))
        }
        for at, pair in enumerate(zip(one, two, strict=False)):
            if pair[0] != pair[1] and pair not in letters:
                return at
        return None if len(one) == len(two) else min(len(one), len(two))

    def _draw(self, match: re.Match[str]) -> str:
        word = match[0]
        for attempt in range(1000):
            drawn = self._word(match, attempt)
            others = self._shown.keys()
            if (
                drawn not in self._source
                and not any(drawn in other or other in drawn for other in others)
                and not any(phrase in drawn for phrase in self._phrases)
            ):
                break
        self._hidden[word], self._shown[drawn] = drawn, word
        self._any = None
        return drawn

    def _word(self, match: re.Match[str], attempt: int) -> str:
        stem, letter, number, more, last = match.groups(default="")
        kind = f"{stem} {len(more)} {len(last)} {attempt}"
        if kind not in self._stems:
            rng = self._chance or random.Random(f"{self._seed} {kind}")
            digits = "".join(sorted(rng.sample(self._letters, len(_DIGITS))))
            self._stems[kind] = self._drawn(rng, 2 + len(stem)), digits + self._drawn(rng, len(more) + len(last))
        begin, rest = self._stems[kind]
        digits, end = rest[: len(_DIGITS)], rest[len(_DIGITS) :]
        counted = str.maketrans(_DIGITS, digits)
        # The second number is at the end of its part, so that words with 0 and 1 there are sorted as they were.
        second = more.translate(counted)[len(more.rstrip(_DIGITS)) :]
        middle = end[: len(more) - len(second)] + second
        return begin + letter + number.translate(counted) + middle + end[len(more) :]

    def _drawn(self, rng: random.Random, count: int) -> str:
        if self._chance is not None:
            return "".join(rng.choice(self._letters) for _ in range(count))
        first = rng.randrange(2)
        return "".join(rng.choice((self._consonants, self._vowels)[(first + at) % 2]) for at in range(count))


def _others(letters: str, named: set[str]) -> list[str]:
    others = [letter for letter in letters if letter not in named]
    return others if 2 * len(others) > len(letters) else list(letters)


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern that finds any of the words, the longest first.  Words with the same two first letters are in
    one group, so that few of them are tried at each character."""
    groups: dict[str, dict[str, list[str]]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], {}).setdefault(word[1], []).append(word[2:])
    return _either(
        first + _either(second + _either(rests) for second, rests in seconds.items())
        for first, seconds in groups.items()
    )


def _either(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
