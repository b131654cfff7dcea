r"""Change the markers of real templates, to find defects of a learner that fits only this collection.

mutations("{{ '<|im_start|>' + m.role + '\n' }}…", rng)
→  Mutation("rename", "{{ '<|vokzim|>' + m.role + '\n' }}…"), Mutation("swap", …), Mutation("drop", …), …

A mark is a bracketed token of the source's own texts.  All its occurrences are changed, also where the template
searches for it, so that the mutated template is as consistent as the real one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.property.random_markers import Markers

_TOKEN = re.compile(
    r"<\|[^<>|{}'\"\n]{1,40}\|>|</?[A-Za-z_][\w:.-]{1,40}>|\[/?[A-Z][A-Z_]{1,40}\]|<｜[^<>{}'\"\n]{1,40}｜>"
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Mutation:
    kind: str
    source: str


def mutations(source: str, rng: random.Random) -> Iterator[Mutation]:
    """Yield one mutation of each kind for which the source has marks."""
    for kind, mutate in KINDS.items():
        changed = mutate(source, rng)
        if changed is not None and changed != source:
            yield Mutation(kind, changed)


def tokens(source: str) -> list[str]:
    return sorted(set(_TOKEN.findall(source)))


def _rename(source: str, rng: random.Random) -> str | None:
    """Give every mark other words; marks that share a word share the new one, so that closers still fit."""
    words = sorted({word for token in tokens(source) for word in _WORD.findall(token)})
    marks = Markers(rng)
    new = {word: marks.word().upper() if word.isupper() else marks.word() for word in words}
    return _TOKEN.sub(lambda token: _WORD.sub(lambda word: new[word.group()], token.group()), source)


def _reshape(source: str, rng: random.Random) -> str | None:
    """Replace one mark by one of another theme."""
    found = tokens(source)
    return source.replace(rng.choice(found), f"@~{Markers(rng).word()}~@") if found else None


def _swap(source: str, rng: random.Random) -> str | None:
    """Swap two marks."""
    found = tokens(source)
    if len(found) < 2:
        return None
    one, two = rng.sample(found, 2)
    return re.sub(f"{re.escape(one)}|{re.escape(two)}", lambda m: two if m.group() == one else one, source)


def _drop(source: str, rng: random.Random) -> str | None:
    """Delete a mark; parts that it separated may then be ambiguous."""
    found = tokens(source)
    return source.replace(rng.choice(found), "") if len(found) > 2 else None


def _separate(source: str, rng: random.Random) -> str | None:
    """Change the white space after a mark."""
    found = [token for token in tokens(source) if token + "\\n" in source]
    if not found:
        return None
    token = rng.choice(found)
    return source.replace(token + "\\n", token + rng.choice(["", " ", "\\n\\n", "\\n  "]))


def _move(source: str, rng: random.Random) -> str | None:
    """Move the text after a mark before it: `<|user|>\\n` becomes `\\n<|user|>`."""
    found = [token for token in tokens(source) if token + "\\n" in source]
    token = rng.choice(found) if found else ""
    return source.replace(token + "\\n", "\\n" + token) if found else None


def _double(source: str, rng: random.Random) -> str | None:
    """Write a mark as two, one directly after the other."""
    found = tokens(source)
    token = rng.choice(found) if found else ""
    return source.replace(token, f"{token}<|{Markers(rng).word()}|>") if found else None


def _word_for_call(source: str, rng: random.Random) -> str | None:
    """Replace a mark of calls by an ordinary word."""
    found = [token for token in tokens(source) if re.search("call|tool|function|invoke", token, re.IGNORECASE)]
    return source.replace(rng.choice(found), rng.choice(["call ", "use: ", "tools."])) if found else None


def _escape(source: str, rng: random.Random) -> str | None:
    """Pass values through a filter that escapes them."""
    found = [match.end() for match in re.finditer(r"(?:arguments|value|v)\s*\|\s*tojson\b(?:\([^()]*\))?", source)]
    at = rng.choice(found) if found else 0
    return source[:at] + rng.choice([" | e", " | urlencode"]) + source[at:] if found else None


def _dump(source: str, rng: random.Random) -> str | None:
    """Print JSON with another option."""
    found = [match.end() for match in re.finditer(r"\|\s*tojson\b(?!\s*\()", source)]
    at = rng.choice(found) if found else 0
    option = rng.choice(["indent=2", "indent=4", "ensure_ascii=true", "sort_keys=true", "separators=(',', ':')"])
    return f"{source[:at]}({option}){source[at:]}" if found else None


def _count(source: str, rng: random.Random) -> str | None:
    """Write the number of calls before each of them, or around all."""
    found = list(re.finditer(r"\{%-?\s*for\s+\w+\s+in\s+(\w+\.tool_calls)\s*-?%\}", source))
    if not found:
        return None
    loop = rng.choice(found)
    at = rng.choice([loop.start(), loop.end()])
    return source[:at] + "{{- '<|" + Markers(rng).word() + "=' ~ (" + loop[1] + " | length) ~ '|>' }}" + source[at:]


KINDS: dict[str, Callable[[str, random.Random], str | None]] = {
    "rename": _rename,
    "reshape": _reshape,
    "swap": _swap,
    "drop": _drop,
    "separate": _separate,
    "move": _move,
    "double": _double,
    "word": _word_for_call,
    "escape": _escape,
    "dump": _dump,
    "count": _count,
}
