"""Rules for the arguments of known tools, where arguments are objects.

    {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}}
    →  member_for_forecast  = key_for_forecast_city colon string
                            / key_for_forecast_days colon (number / null)
                            / member

What a schema does not know is read all the same: a grammar that parses is no judge.
"""

from __future__ import annotations

from tplc.backends.peg.known_tools import KnownTool, Parameter
from tplc.backends.peg.patterns import leaf, literal
from tplc.backends.peg.rules import Rule, rule
from tplc.ir.nodes import Dialect, ValueStyle
from tplc.lower.lexemes import exact

KEY_QUOTES = ("", '"', "'")
TYPE_RULES = {
    "object": ("object",),
    "array": ("list",),
    "string": ("string",),
    "number": ("number",),
    "integer": ("number",),
    "boolean": ("true", "false"),
    "null": ("null",),
}


def schema_rules(tool: KnownTool, dialect: Dialect, *, fenced: bool = False) -> list[Rule]:
    """Return the rules of a tool's parameters.  `fenced`: a Markdown fence may be before the arguments."""
    style = dialect.in_object
    members, fence = known_members(tool, dialect), "fence_open* " * fenced
    other = f"other_arguments_for_{tool.rule} / " * fenced
    if not members:
        return [rule(f"arguments_for_{tool.rule}", fence + (f"({other}arguments)" if fenced else 'arguments ""'))]
    member = f"member_for_{tool.rule}"
    choices = [f"key_for_{each.rule} colon {type_choice(each)}" for each in members]
    return [
        rule(f"arguments_for_{tool.rule}", f"{fence}({other}object_for_{tool.rule} / arguments)"),
        rule(f"object_for_{tool.rule}", f"object_open ({member} (comma {member})*)? object_close"),
        rule(member, *choices, "member"),
        *(rule(f"key_for_{each.rule}", _key(each.name, style)) for each in members),
    ]


def _key(name: str, style: ValueStyle) -> str:
    """Return a key; one without quotes continues to its colon."""
    if style.key_open:
        return literal(style.key_open + name + style.key_close)
    return leaf(rf"{exact(name)}[^\S\n]*+(?={exact(style.colon.strip())})")


def known_members(tool: KnownTool, dialect: Dialect) -> list[Parameter]:
    """Return the parameters whose keys are written unchanged."""
    if dialect.in_object.key_open not in KEY_QUOTES:
        return []
    return [parameter for parameter in tool.parameters if parameter.name.isidentifier()]


def type_choice(parameter: Parameter) -> str:
    """Return the rules of the types that a parameter's value may have."""
    types = parameter.types or frozenset()
    names = list(dict.fromkeys(name for kind, rules in TYPE_RULES.items() if kind in types for name in rules))
    if not names:
        return "value"
    return names[0] if len(names) == 1 else f"({' / '.join(names)})"
