"""Load a printed PEG: parsimonious' grammar of it, made rule by rule.

    PrintedGrammar('turn = content cut\\ncontent = ~r".+"s\\n…')  →  what Grammar makes of the text

Parsimonious takes longer to read a grammar than to parse most outputs with it.  Grammars of one format for different
tools have most rules alike, so each rule is read once, and a pattern is compiled when it is first tried.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from parsimonious.exceptions import BadGrammar
from parsimonious.expressions import (
    Compound,
    Expression,
    Literal,
    Lookahead,
    OneOf,
    OneOrMore,
    Optional,
    Regex,
    Sequence,
    ZeroOrMore,
)
from parsimonious.grammar import Grammar, LazyReference, RuleVisitor

from tplc.backends.peg.rules import TEXT

_RULE = re.compile(r"\n(?=\w+\s*=)")
_TOKEN = re.compile(rf"#[^\n]*|{TEXT.pattern}|\w+|\S", re.DOTALL)
_FLAGS = {"s": "dot_all"}
_QUANTIFIERS: Mapping[str, Callable[[Expression], Expression]] = {"?": Optional, "*": ZeroOrMore, "+": OneOrMore}
_ATTRIBUTES = ("name", "identity_tuple", "negativity", "min", "max")  # of expressions that contain others


class PrintedGrammar(Grammar):  # type: ignore[misc]  # parsimonious has no types
    """A grammar whose rules begin at the beginning of a line, with nothing else that looks like `name =` there."""

    def _expressions_from_rules(
        self, rules: str, custom_rules: dict[str, Expression]
    ) -> tuple[dict[str, Expression], Expression]:
        found = [_copied(rule) for text in _RULE.split(rules) for rule in _read(text)]
        self.patterns = list(_patterns(found))
        collected: tuple[dict[str, Expression], Expression] = RuleVisitor(custom_rules).visit_rules(None, (None, found))
        return collected

    def compile_all(self) -> None:
        """Compile all patterns; raises what a wrong one raises."""
        for pattern in self.patterns:
            _ = pattern.re


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Expression, ...]:
    """Return the rule in a piece of a grammar, with names in place of other rules.  A piece may be comments alone."""
    tokens = deque(found for found in _TOKEN.findall(text) if not found.startswith("#"))
    if not tokens:
        return ()
    name, equals = tokens.popleft(), tokens.popleft() if tokens else ""
    rule = _choices(tokens)
    if tokens or equals != "=":
        raise BadGrammar(f"not a rule: {text}")
    rule.name = name
    return (rule,)


def _choices(tokens: deque[str]) -> Expression:
    found = [_items(tokens)]
    while tokens and tokens[0] == "/":
        tokens.popleft()
        found.append(_items(tokens))
    return found[0] if len(found) == 1 else OneOf(*found)


def _items(tokens: deque[str]) -> Expression:
    found = [_item(tokens)]
    while tokens and tokens[0] not in ("/", ")"):
        found.append(_item(tokens))
    return found[0] if len(found) == 1 else Sequence(*found)


def _item(tokens: deque[str]) -> Expression:
    token = tokens.popleft() if tokens else ""
    if token in ("!", "&"):
        return Lookahead(_item(tokens), negative=token == "!")
    if token == "(":
        found = _choices(tokens)
        if not tokens or tokens.popleft() != ")":
            raise BadGrammar("a bracket is not closed")
    else:
        found = _atom(token)
    quantifier = _QUANTIFIERS.get(tokens[0]) if tokens else None
    if quantifier is None:
        return found
    tokens.popleft()
    return quantifier(found)


def _atom(token: str) -> Expression:
    if token[:1].isalpha() or token.startswith("_"):
        return LazyReference(token)
    if token.startswith('"'):
        return Literal(literal_eval(token))
    if not token.startswith('~r"'):
        raise BadGrammar(f"neither a name nor a text nor a pattern: {token}")
    pattern, flags = token[3:].rsplit('"', 1)
    return LazyRegex(pattern, {_FLAGS[flag]: True for flag in flags})


def _copied(rule: Expression) -> Expression:
    """Return a rule for one grammar, which puts its own rules in place of names.  Texts and patterns are shared."""
    if not isinstance(rule, Compound):
        return rule
    copied = object.__new__(type(rule))
    for name in _ATTRIBUTES:
        if hasattr(rule, name):
            setattr(copied, name, getattr(rule, name))
    copied.members = tuple(map(_copied, rule.members))
    return copied


def _patterns(rules: Iterable[Expression]) -> Iterable[LazyRegex]:
    for rule in rules:
        if isinstance(rule, LazyRegex):
            yield rule
        elif isinstance(rule, Compound):
            yield from _patterns(rule.members)


class LazyRegex(Regex):  # type: ignore[misc]
    """A pattern that is compiled when it is first tried."""

    def __init__(self, pattern: str, options: dict[str, bool]) -> None:
        Expression.__init__(self)
        self._pattern, self._options = pattern, options
        self._compiled: Any = None
        self.identity_tuple = ("", pattern, *sorted(options.items()))

    @property
    def re(self) -> Any:
        if self._compiled is None:
            self._compiled = Regex(self._pattern, **self._options).re
        return self._compiled
