"""Load a printed PEG: parsimonious' grammar of it, made rule by rule.

    PrintedGrammar('turn = content cut\\ncontent = ~r".+"s\\n…')  →  what Grammar makes of the text

Parsimonious takes longer to read a grammar than to parse most outputs with it.  Grammars of one format for different
tools have most rules alike, so each rule is parsed once, and a pattern is compiled when it is first tried.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from parsimonious.expressions import Expression, Regex
from parsimonious.grammar import Grammar, RuleVisitor, rule_grammar
from parsimonious.nodes import Node

_RULE = re.compile(r"\n(?=\w+\s*=)")


class PrintedGrammar(Grammar):  # type: ignore[misc]  # parsimonious has no types
    """A grammar whose rules begin at the beginning of a line, with nothing else that looks like `name =` there."""

    def _expressions_from_rules(
        self, rules: str, custom_rules: dict[str, Expression]
    ) -> tuple[dict[str, Expression], Expression]:
        visitor = _Visitor(custom_rules)
        self.patterns = visitor.patterns
        found = [visitor.visit(node) for text in _RULE.split(rules) for node in _parsed(text)]
        collected: tuple[dict[str, Expression], Expression] = visitor.visit_rules(None, (None, found))
        return collected

    def compile_all(self) -> None:
        """Compile all patterns; raises what a wrong one raises."""
        for pattern in self.patterns:
            _ = pattern.re


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[Node, ...]:
    """Return the syntax trees of the rules in a piece of a grammar, which may be comments alone."""
    _, rules = rule_grammar.parse(text).children
    return tuple(rules.children)


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


class _Visitor(RuleVisitor):  # type: ignore[misc]
    """Makes expressions of syntax trees as parsimonious does, with patterns that are compiled later."""

    def __init__(self, custom_rules: dict[str, Expression]) -> None:
        super().__init__(custom_rules)
        self.patterns: list[LazyRegex] = []

    def visit_regex(self, _: Node, regex: tuple[Any, ...]) -> LazyRegex:
        _, literal, flags, _ = regex
        names = {"I": "ignore_case", "L": "locale", "M": "multiline", "S": "dot_all", "U": "unicode"}
        names |= {"X": "verbose", "A": "ascii"}
        found = LazyRegex(literal.literal, {names[flag]: True for flag in flags.text.upper()})
        self.patterns.append(found)
        return found
