r"""Look for texts that a regular expression takes more than linear time for.

    slowest(r"\s*x\s*$", "search")  →  Slow(text=' ' * 2048 + '\0', slope=2.0)
    slowest(r"[^x]*x", "match")     →  None

As recheck does, texts are made from the pattern itself: what leads up to a repetition, then what it repeats (the
classes and the words of the pattern, one or two after another) many times, then what makes the match fail.  Each is
tried at two lengths.  Only one that takes long there is measured in earnest: at growing lengths, the least of several
times at each; and only one whose time clearly grows faster than its length, again and again, counts.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

try:
    from re import _constants as constants  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as constants  # type: ignore[no-redef]
    import sre_parse as parser  # type: ignore[no-redef]

METHODS: dict[str, Callable[[re.Pattern[str], str], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: [*pattern.finditer(text)],
    "findall": lambda pattern, text: pattern.findall(text),
    "split": lambda pattern, text: pattern.split(text),
    "sub": lambda pattern, text: pattern.sub("", text),
}
LENGTH = 2048
SHORT, SOON = 512, 50e-6  # a quarter of that; what takes less time than that is not looked at again
TIMES = 7  # as much time for four times the length: halfway between linear and quadratic
FEW = (12, 18, 24)  # repetitions after which what doubles with each takes long, and not yet for ever
STEEP = 1.5  # the exponent of time over length, halfway between linear and quadratic
MOST_TEXTS = 200
_REPEATS = {constants.MAX_REPEAT, constants.MIN_REPEAT, getattr(constants, "POSSESSIVE_REPEAT", None)}
_ATOMS = {constants.LITERAL, constants.NOT_LITERAL, constants.IN, constants.ANY}
_OFTEN = 8  # a repetition of fewer is none


@dataclass(frozen=True, slots=True)
class Slow:
    prefix: str
    pump: str
    suffix: str
    slope: float

    def __str__(self) -> str:
        return f"{self.prefix!r} + {self.pump!r} * n + {self.suffix!r}: n ** {self.slope:.1f}"


def slowest(
    pattern: str, method: str, flags: int = re.DOTALL, compiled: Callable[..., Any] = re.compile
) -> Slow | None:
    """Return the first text found that takes more than linear time. `compiled`: by another engine, whose own syntax is
    read as that of `re` as far as possible."""
    matcher = compiled(pattern, flags)
    for text in texts_for(pattern if compiled is re.compile else _as_re(pattern), flags):
        seconds = partial(_seconds, METHODS[method], matcher, *text)
        if _takes_long(seconds, len(text[1])):
            slopes = [slope for _ in range(3) if (slope := _slope(seconds)) > STEEP]
            if len(slopes) == 3:
                return Slow(*text, min(slopes))
    return None


def _as_re(pattern: str) -> str:
    """Return a pattern as `re` reads it: possessive repetitions as repetitions, lookbehinds of any length as
    lookbehinds, a group that is repeated or named twice as any text."""
    pattern = re.sub(r"(?<!\\)([*+?}])\+", r"\1", pattern).replace("(?<=", "(?:").replace("(?&nested)", ".")
    names: set[str] = set()
    return re.sub(r"\(\?P<(\w+)>", lambda match: "(" if match[1] in names else names.add(match[1]) or match[0], pattern)


def _seconds(
    run: Callable[[re.Pattern[str], str], object],
    pattern: re.Pattern[str],
    prefix: str,
    pump: str,
    suffix: str,
    count: int,
    runs: int = 1,
) -> float:
    """Return the least time of several runs."""
    text, least = prefix + pump * count + suffix, math.inf
    for _ in range(runs):
        start = time.thread_time()
        run(pattern, text)
        least = min(least, time.thread_time() - start)
    return least


def _takes_long(seconds: Callable[..., float], width: int) -> bool:
    if any(seconds(count) > 1e-3 for count in FEW):
        return True
    long, short = max(LENGTH // width, 1), max(SHORT // width, 1)
    return seconds(long) > SOON and all(seconds(long, n) > TIMES * seconds(short, n) for n in (1, 3, 5))


def _slope(seconds: Callable[..., float]) -> float:
    """Return how steeply time grows with length at the end: 1 is linear, 2 quadratic."""
    measured: list[tuple[int, float]] = []
    count = 8
    while count < 1 << 17:
        measured.append((count, seconds(count, 2)))
        if measured[-1][1] > 0.01:
            break
        count += max(count // 4, 2)
    last, most = measured[-1]
    # Over the last factor of four of the length: at first there is what each match takes.
    first, least = next((n, t) for n, t in measured if n * 4 >= last)
    return math.log(most / max(least, 1e-7)) / math.log(last / first) if last > first else math.inf


def texts_for(pattern: str, flags: int) -> Iterator[tuple[str, str, str]]:
    """Yield a prefix, the text that is repeated, and a suffix."""
    tree = parser.parse(pattern, flags)
    repeats = list(_repeats(tree, ""))
    if not repeats:
        return  # nothing to step back into: at each place as many steps as the pattern is long
    words = sorted({word for word in _words(tree) if word}, key=lambda word: (len(word), word))[:12]
    chars = _representatives(pattern, [atom for _, body in repeats for atom in _atoms(body)])
    own = [char for char in chars if any(_fits(atom, char, flags) for _, body in repeats for atom in _atoms(body))]
    pumps = [*own, *words, *(word[0] for word in words), *(word[:-1] for word in words)]
    pumps += [witness(body) for _, body in repeats]
    pumps += ["".join(two) for two in product(own, repeat=2)]
    pumps += [one + two for one in words for two in own] + [two + one for one in words for two in own]
    prefixes = ["", *(prefix for prefix, _ in repeats), *(prefix + witness(body) for prefix, body in repeats)]
    suffixes = ["\0", "", *chars]
    found = dict.fromkeys(
        (prefix, pump, suffix)
        for suffix in suffixes[:6]
        for pump in dict.fromkeys(pumps)
        for prefix in dict.fromkeys(prefixes)
        if pump
    )
    yield from list(found)[:MOST_TEXTS]


Tree = Any  # of the standard library's own parser: a sequence of (operation, arguments)


def _parts(operation: object, argument: Any) -> list[Tree]:
    """Return the trees inside of one operation: its alternatives, or the only one."""
    if operation in _REPEATS:
        return [argument[2]]
    if operation is constants.BRANCH:
        return list(argument[1])
    if operation is constants.SUBPATTERN:
        return [argument[-1]]
    if operation in (constants.ASSERT, constants.ASSERT_NOT):
        return [argument[1]]
    if operation is getattr(constants, "ATOMIC_GROUP", None):
        return [argument]
    return []


def _repeats(tree: Tree, before: str) -> Iterator[tuple[str, Tree]]:
    """Yield the text that leads up to each repetition, and the repetition's body."""
    for operation, argument in tree:
        for part in _parts(operation, argument):
            yield from _repeats(part, before)
        if operation in _REPEATS and argument[1] > _OFTEN:
            yield before, argument[2]
        before += _shortest(operation, argument)


def witness(tree: Tree) -> str:
    """Return a short text that matches, apart from assertions."""
    return "".join(_shortest(operation, argument) for operation, argument in tree)


def _shortest(operation: object, argument: Any) -> str:
    if operation in _ATOMS:
        return next((char for char in _candidates("") if _fits((operation, argument), char, re.DOTALL)), "")
    if operation in _REPEATS:
        return witness(argument[2]) * min(argument[0], 99)
    if operation in (constants.ASSERT, constants.ASSERT_NOT):
        return ""
    parts = _parts(operation, argument)
    return min((witness(part) for part in parts), key=len) if parts else ""


def _atoms(tree: Tree) -> Iterator[tuple[object, Any]]:
    for operation, argument in tree:
        if operation in _ATOMS:
            yield operation, argument
        for part in _parts(operation, argument):
            yield from _atoms(part)


def _words(tree: Tree) -> Iterator[str]:
    """Yield runs of characters."""
    run = ""
    for operation, argument in tree:
        if operation is constants.LITERAL:
            run += chr(argument)
            continue
        yield run
        run = ""
        for part in _parts(operation, argument):
            yield from _words(part)
    yield run


def _candidates(pattern: str) -> str:
    characters = "".join(map(chr, range(33, 127)))
    return "".join(dict.fromkeys("a0_ \n\\\"'.-+,e[{" + pattern + characters + "\t\x01é\u2003世"))


def _representatives(pattern: str, atoms: list[tuple[object, Any]]) -> list[str]:
    """Return one character for all that match the same of these atoms."""
    classes: dict[tuple[bool, ...], str] = {}
    for char in _candidates(pattern):
        classes.setdefault(tuple(_fits(atom, char, re.DOTALL) for atom in atoms), char)
    return list(classes.values())


def _fits(atom: tuple[object, Any], char: str, flags: int) -> bool:
    operation, argument = atom
    if operation is constants.LITERAL:
        return ord(char) == argument
    if operation is constants.NOT_LITERAL:
        return ord(char) != argument
    if operation is constants.ANY:
        return bool(flags & re.DOTALL) or char != "\n"
    negated = any(kind is constants.NEGATE for kind, _ in argument)
    return negated != any(_in_class(kind, value, char) for kind, value in argument)


_CATEGORIES: dict[object, Callable[[str], bool]] = {
    constants.CATEGORY_SPACE: str.isspace,
    constants.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    constants.CATEGORY_DIGIT: str.isdecimal,
    constants.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    constants.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    constants.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _in_class(kind: object, value: Any, char: str) -> bool:
    if kind is constants.LITERAL:
        return ord(char) == value
    if kind is constants.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return kind is constants.CATEGORY and _CATEGORIES[value](char)
