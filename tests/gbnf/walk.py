"""Random texts of a grammar, from its GBNF text alone.

walker = Walker('root ::= "a" [bc]+')        walker.text(random.Random(0))  →  "acb"
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r'\s*(?:"(?P<literal>(?:[^"\\]|\\.)*)"|\[(?P<set>(?:[^\]\\]|\\.)*)\]|(?P<counts>[*+?]|\{\d+(?:,\d*)?\})'
    r"|(?P<symbol>[()|])|(?P<name>[a-z][a-z0-9-]*))"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
# What a model might write where a class leaves it open: letters, and what markers and quotes are made of.
_POOL = "abcxyz019 _-.,:;/\\\"'`<>[]{}()|=&#!?\n\téß世🎉"
_MANY = 10**6


@dataclass(frozen=True)
class Node:
    kind: str
    parts: tuple[Node, ...] = ()
    text: str = ""
    low: int = 0
    high: int = 0


class Walker:
    def __init__(self, grammar: str) -> None:
        self.rules: dict[str, Node] = {}
        for line in grammar.split("\n"):
            if line.strip() and not line.startswith("#"):
                name, body = line.split(" ::= ", 1)
                self.rules[name] = _Parser(body).alternatives()
        self.heights = dict.fromkeys(self.rules, _MANY)
        changed = True
        while changed:
            changed = False
            for name, body in self.rules.items():
                height = min(self._height(body) + 1, _MANY)
                if height < self.heights[name]:
                    self.heights[name] = height
                    changed = True

    def text(self, rng: random.Random, *, depth: int = 40, repeats: int = 4) -> str:
        self._rng, self._repeats = rng, repeats
        found: list[str] = []
        self._walk(self.rules["root"], depth, found)
        return "".join(found)

    def _height(self, node: Node) -> int:
        if node.kind == "name":
            return self.heights[node.text]
        if node.kind == "repeat" and node.low == 0:
            return 0
        heights = [self._height(part) for part in node.parts]
        return (min(heights) if node.kind == "alt" else max(heights)) if heights else 0

    def _walk(self, node: Node, depth: int, found: list[str]) -> None:
        if node.kind == "text":
            found.append(node.text)
        elif node.kind == "set":
            found.append(self._rng.choice(_members(node.text)))
        elif node.kind == "name":
            self._walk(self.rules[node.text], depth - 1, found)
        elif node.kind == "seq":
            for part in node.parts:
                self._walk(part, depth, found)
        elif node.kind == "alt":
            choices = list(node.parts)
            if depth <= 0:
                lowest = min(map(self._height, choices))
                choices = [part for part in choices if self._height(part) == lowest]
            self._walk(self._rng.choice(choices), depth, found)
        else:
            most = min(node.high, node.low + self._repeats)
            for _ in range(node.low if depth <= 0 else self._rng.randint(node.low, most)):
                self._walk(node.parts[0], depth - 1, found)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = [(match.lastgroup, match[match.lastgroup]) for match in _TOKEN.finditer(text)]
        self._at = 0

    def alternatives(self) -> Node:
        parts = [self._sequence()]
        while self._next() == ("symbol", "|"):
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Node("alt", tuple(parts))

    def _next(self) -> tuple[str | None, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else (None, "")

    def _sequence(self) -> Node:
        parts = []
        while self._next() not in ((None, ""), ("symbol", "|"), ("symbol", ")")):
            parts.append(self._item())
        return Node("seq", tuple(parts))

    def _item(self) -> Node:
        kind, text = self._next()
        self._at += 1
        if kind == "symbol":
            node = self.alternatives()
            self._at += 1
        elif kind == "literal":
            node = Node("text", text=unescaped(text))
        else:
            node = Node("set" if kind == "set" else "name", text=text)
        if self._next()[0] == "counts":
            low, high = _bounds(self._next()[1])
            self._at += 1
            node = Node("repeat", (node,), low=low, high=high)
        return node


def unescaped(text: str) -> str:
    return re.sub(
        r"\\(?:x([0-9A-F]{2})|(.))",
        lambda match: chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2]),
        text,
    )


def _bounds(counts: str) -> tuple[int, int]:
    if counts in "*+?":
        return int(counts == "+"), 1 if counts == "?" else _MANY
    low, comma, high = counts[1:-1].partition(",")
    return int(low), int(high) if high else _MANY if comma else int(low)


@lru_cache(maxsize=10_000)
def _members(inside: str) -> str:
    negated = inside.startswith("^")
    atoms = re.findall(r"\\x[0-9A-F]{2}|\\.|.", inside[1:] if negated else inside, re.DOTALL)
    ranges = []
    at = 0
    while at < len(atoms):
        low = unescaped(atoms[at])
        if at + 2 < len(atoms) and atoms[at + 1] == "-":
            ranges.append((low, unescaped(atoms[at + 2])))
            at += 3
        else:
            ranges.append((low, low))
            at += 1
    if negated or sum(ord(high) - ord(low) for low, high in ranges) > 200:
        held = [
            character for character in _POOL if any(low <= character <= high for low, high in ranges) is not negated
        ]
        return "".join(held) or ranges[0][0]
    return "".join(chr(code) for low, high in ranges for code in range(ord(low), ord(high) + 1))
