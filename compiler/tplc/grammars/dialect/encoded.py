r"""Rules inside a JSON string: what they match, as such a string has it.

seq(lit('{"a": '), Ref("number"), lit("}"))  →  '{\\"a\\": ' number '}', with a copy of the rule `number`
"""

from __future__ import annotations

import json

from tplc.grammars.regular.expressions import alt, lit, rep, seq
from tplc.grammars.regular.nodes import Alt, Chars, Expr, Lit, Ref, Rep, Seq
from tplc.grammars.regular.quoting import StringQuoting, quoting_of
from tplc.grammars.regular.rules import Rules
from tplc.ir.nodes import JSON_STRING


def in_json_string(rules: Rules, inner: Rules, expr: Expr) -> Expr:
    """Return the string whose text the expression matches.  `inner`: the rules that the expression refers to, which are
    copied to `rules`."""
    copy = _Copy(rules, inner, quoting_of(rules, JSON_STRING))
    body = copy.of(expr)
    copy.finish()
    return seq(lit(JSON_STRING.open), body, lit(JSON_STRING.close))


class _Copy:
    def __init__(self, rules: Rules, inner: Rules, write: StringQuoting) -> None:
        self._rules, self._inner, self._write = rules, inner, write
        self._names: dict[str, str] = {}
        self._todo: list[str] = []

    def of(self, expr: Expr) -> Expr:
        if isinstance(expr, Lit):
            return lit(json.dumps(expr.text, ensure_ascii=False)[1:-1])
        if isinstance(expr, Chars):
            return self._write.characters(expr.ranges)
        if isinstance(expr, Seq):
            return seq(*map(self.of, expr.items))
        if isinstance(expr, Alt):
            return alt(*map(self.of, expr.items))
        if isinstance(expr, Rep):
            return rep(self.of(expr.item), expr.low, expr.high)
        assert isinstance(expr, Ref)  # quoted strings need no spelling of the target's own
        if expr.name not in self._names:
            self._names[expr.name] = self._rules.reserve(f"{expr.name}-in-text")
            self._todo.append(expr.name)
        return Ref(self._names[expr.name])

    def finish(self) -> None:
        """Add the rules that were referred to."""
        while self._todo:
            name = self._todo.pop()
            self._rules.define(self._names[name], self.of(self._inner.body(name)))
