r"""Write rules and terminals as Lark text, one per line.

rules {"root": Seq((Written("<call>"), Ref("name")))}, terminals {"name": Lit('a"')}
→  start: <call> NAME
   NAME: "a\""
"""

from __future__ import annotations

from tplc.backends.lark.arrange import Arranged
from tplc.backends.lark.regex import character_class
from tplc.grammars.regular.nodes import Alt, Chars, Expr, Lit, Ref, Rep, Seq, Spelled, Written
from tplc.grammars.regular.rules import ROOT

HEADER = "%llguidance {}\n"
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def write_lines(made: Arranged) -> dict[str, str]:
    """Return the line of each rule and each terminal, by its name."""
    names = {name: _rule_name(name) for name in made.rules}
    names |= {name: name.upper().replace("-", "_") for name in made.terminals}
    in_rules, in_terminals = _LarkWriter(names, together=False), _LarkWriter(names, together=True)
    lines = {name: f"{names[name]}: {in_rules.alternatives(body)}\n" for name, body in made.rules.items()}
    more = {name: f"{names[name]}: {in_terminals.alternatives(body)}\n" for name, body in made.terminals.items()}
    return lines | more


def _rule_name(name: str) -> str:
    return "start" if name == ROOT else name.replace("-", "_")


class _LarkWriter:
    def __init__(self, names: dict[str, str], *, together: bool) -> None:
        """Keep the names.  `together`: adjacent texts become one regular expression, as in a terminal."""
        self._names = names
        self._together = together

    def alternatives(self, expr: Expr) -> str:
        if isinstance(expr, Alt) and expr.items:
            return " | ".join(self._sequence(item) for item in expr.items)
        return self._sequence(expr)

    def _sequence(self, expr: Expr) -> str:
        if isinstance(expr, Seq) and expr.items:
            return " ".join(self._item(item) for item in expr.items)
        return self._item(expr)

    def _item(self, expr: Expr) -> str:
        if isinstance(expr, Lit):
            return _literal(expr.text)
        if isinstance(expr, Chars):
            return f"/{character_class(expr.ranges)}/"
        if isinstance(expr, Rep):
            return self._repeated(expr)
        if isinstance(expr, Ref):
            return self._names[expr.name]
        if isinstance(expr, Seq | Alt):
            return f"({self.alternatives(expr)})" if expr.items else '""'
        assert isinstance(expr, Written | Spelled)
        return expr.text

    def _repeated(self, expr: Rep) -> str:
        counts = _counts(expr.low, expr.high)
        if isinstance(expr.item, Chars) and self._together:
            return f"/{character_class(expr.item.ranges)}{counts}/"
        grouped = isinstance(expr.item, Rep) or (isinstance(expr.item, Written) and " " in expr.item.text)
        item = f"({self.alternatives(expr.item)})" if grouped else self._item(expr.item)
        return item + counts


def _counts(low: int, high: int | None) -> str:
    quantifiers = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if (low, high) in quantifiers:
        return quantifiers[low, high]
    return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


def _literal(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else character
