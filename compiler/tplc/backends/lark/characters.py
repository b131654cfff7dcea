r"""Split terminals into single characters, so that none matches further than another.

    "ab"                     →  "a" "b"
    text without "</"        →  text-0: "" | text-0 /[^<]/ | text-1 /[^\/<]/        text-1: text-0 "<" | text-1 "<"

A state is what leads to it, and a character: the engine reads rules that begin with themselves in constant time.
"""

from __future__ import annotations

from tplc.backends.lark.arrange import Arranged
from tplc.grammars.regular.expressions import alt, chars, lit
from tplc.grammars.regular.nodes import EMPTY, Alt, Expr, Lit, Ref, Rep, Seq, Spelled


def in_characters(made: Arranged, apart: set[Expr]) -> Arranged:
    """Return the same rules with these terminals divided into characters."""
    characters = _Characters(made)
    rules = {name: characters.divided(body, apart) for name, body in made.rules.items()}
    return Arranged({**rules, **characters.rules}, made.terminals)


class _Characters:
    def __init__(self, made: Arranged) -> None:
        self._made = made
        self.rules: dict[str, Expr] = {}
        self._known: dict[Expr, Expr] = {}

    def divided(self, body: Expr, apart: set[Expr]) -> Expr:
        if body in apart or (isinstance(body, Spelled)):
            return self._one_by_one(body)
        if isinstance(body, Seq):
            return Seq(tuple(self.divided(item, apart) for item in body.items))
        if isinstance(body, Alt):
            return Alt(tuple(self.divided(item, apart) for item in body.items))
        return Rep(self.divided(body.item, apart), body.low, body.high) if isinstance(body, Rep) else body

    def _one_by_one(self, expr: Expr) -> Expr:
        if isinstance(expr, Lit):
            return Seq(tuple(lit(character) for character in expr.text)) if len(expr.text) > 1 else expr
        if isinstance(expr, Ref):
            terminal = self._made.terminals.get(expr.name)
            return expr if terminal is None else self._one_by_one(terminal)
        if isinstance(expr, Seq):
            return Seq(tuple(map(self._one_by_one, expr.items)))
        if isinstance(expr, Alt):
            return Alt(tuple(map(self._one_by_one, expr.items)))
        if isinstance(expr, Spelled):
            return self._states(expr)
        return Rep(self._one_by_one(expr.item), expr.low, expr.high) if isinstance(expr, Rep) else expr

    def _states(self, expr: Spelled) -> Expr:
        if expr not in self._known:
            automaton = expr.automaton
            names = [self._free_name(f"text-{state}") for state in range(len(automaton.edges))]
            ways: list[list[Expr]] = [[] for _ in names]
            for name, row in zip(names, automaton.edges, strict=True):
                for ranges, to in row:
                    ways[to].append(Seq((Ref(name), chars(ranges))))
            ways[0].insert(0, EMPTY)
            self.rules |= {name: Alt(tuple(leading)) for name, leading in zip(names, ways, strict=True)}
            self._known[expr] = alt(*(Ref(names[state]) for state in sorted(automaton.accepting)))
        return self._known[expr]

    def _free_name(self, hint: str) -> str:
        count, name = 1, hint
        while name in self._made.rules or name in self._made.terminals or name in self.rules:
            count += 1
            name = f"{hint}-{count}"
        self.rules[name] = EMPTY
        return name
