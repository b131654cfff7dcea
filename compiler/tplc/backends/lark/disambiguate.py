"""Terminals of which the longest match is the right one.

    start: WORD "!" | WORD_2      WORD: "a"      WORD_2: /a[!?]/       after "a", "!" is taken for that of WORD_2

As they come, most are.  Where they would not be, rules are written where they are used and free text as an expression,
so that more is one terminal; then all of the answer, if it can be; else what is left is read one character at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tplc.backends.lark.absorb import without_spare_space
from tplc.backends.lark.arrange import Arranged, arranged, replaced, rewritten
from tplc.backends.lark.characters import in_characters
from tplc.backends.lark.lexing import Unclear, conflicts
from tplc.backends.lark.result import NoLark
from tplc.backends.lark.spelling import LarkSpelling, as_plain
from tplc.backends.lark.write import write_lines
from tplc.grammars.regular.expressions import names, walk
from tplc.grammars.regular.nodes import Expr, Lit, Ref, Spelled, Written
from tplc.grammars.regular.rules import ROOT

_MOST_ROUNDS = 12
Bodies = dict[str, Expr]
PairList = list[tuple[Expr, Expr]]


class SchemasMeet(Exception):
    """Two schemas may begin at the same place, where only our own rules can be distinguished."""


def disambiguated(name: str, finished: Mapping[str, Expr], spelling: LarkSpelling) -> Arranged:
    """Return the rules as terminals and as rules for the rest.

    Raises SchemasMeet, and NoLark for what can't be expressed.
    """
    bodies = without_spare_space({rule: rewritten(body, spelling.in_tokens) for rule, body in finished.items()})
    found: PairList = []
    larger = bodies
    for _ in range(_MOST_ROUNDS):
        made = in_characters(arranged(larger), set())
        try:
            found = conflicts(made)
        except Unclear:
            break
        if not found:
            return made
        more = _larger(larger, made, _in_pairs(found))
        if more == larger:
            break
        larger = more
    whole = arranged(_merged(bodies, None))
    if len(whole.rules) == 1 and whole.rules[ROOT] == Ref("answer"):
        return whole
    return _in_characters(name, arranged(bodies), found)


def _larger(bodies: Bodies, made: Arranged, apart: set[Expr]) -> Bodies:
    """Return the rules with larger terminals where two of them conflict; the same rules if none can be larger."""
    more = _inlined(bodies, _rules_with(apart, made))
    if more != bodies:
        return more
    return _merged(bodies, {made.terminals.get(one.name, one) for one in apart if isinstance(one, Ref)})


def _in_characters(name: str, made: Arranged, found: PairList) -> Arranged:
    made = in_characters(made, set())
    for _ in range(_MOST_ROUNDS):
        try:
            found = conflicts(made)
        except Unclear:
            break
        if not found:
            return made
        made = in_characters(made, _in_pairs(found))
    shown = _example(found[0], made) if found else "the request takes too many rules"
    raise NoLark(name, "text that can end where other text continues", shown)


def _in_pairs(found: PairList) -> set[Expr]:
    apart = {one for pair in found for one in pair}
    if any(isinstance(one, Written) for one in apart):
        raise SchemasMeet
    return apart


def _rules_with(apart: set[Expr], made: Arranged) -> set[str]:
    """Return the rules that name these terminals, and the rules named next to them."""
    naming = {name for name, body in made.rules.items() if any(node in apart for node in walk(body))}
    return {rule for name in naming for rule in (name, *names(made.rules[name])) if rule in made.rules and rule != ROOT}


def _inlined(bodies: Bodies, wanted: set[str]) -> Bodies:
    """Return the rules with those of `wanted` inlined that are used once, so that a terminal contains more."""
    uses = Counter(name for body in bodies.values() for name in names(body))
    for name in sorted(wanted):
        if uses[name] == 1 and name not in names(bodies[name]):
            change: dict[Expr, Expr] = {Ref(name): bodies[name]}
            bodies = {other: replaced(old, change) for other, old in bodies.items() if other != name}
    return bodies


def _merged(bodies: Bodies, texts: set[Expr] | None) -> Bodies:
    """Return the rules with these texts (None: all) as expressions, which may become part of larger terminals."""

    def change(expr: Lit | Spelled) -> Expr:
        return as_plain(expr) if isinstance(expr, Spelled) and (texts is None or expr in texts) else expr

    return {name: rewritten(body, change) for name, body in bodies.items()}


def _example(pair: tuple[Expr, Expr], made: Arranged) -> str:
    texts = {f"TEXT_{at}": one for at, one in enumerate(pair, 1) if not isinstance(one, Ref)}
    lines = write_lines(Arranged({}, {**made.terminals, **texts}))
    shown = [lines[name].strip() for name in (*(one.name for one in pair if isinstance(one, Ref)), *texts)]
    return " and ".join(dict.fromkeys(shown))
