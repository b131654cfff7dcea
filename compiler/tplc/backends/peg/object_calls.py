"""The rules of a call that is one object.

    {"name": NAME, "arguments": ARGUMENTS}
    →  call_object  = object_open name_key colon name comma arguments_key colon arguments object_close
                    / loose_call

Such an object has its members in the order of the template.  Any other is read by `loose_call`: members in any order,
or more of them, and mistakes.  Without a name an object is no call.
"""

from __future__ import annotations

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.patterns import either, leaf
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.backends.peg.schemas import known_members
from tplc.backends.peg.slots import CLOSING, closing, slot_rules
from tplc.lower import CallForm
from tplc.lower.lexemes import exact

QUOTES = ('"', "'")


def object_call_section(form: FormPatterns) -> Section:
    calls, known = form.calls, form.known
    opened = [item for kind, _ in calls.shape.slots for item in ("gap", kind, f"{kind}_end")][1:]
    opened += ["gap"] if opened else []
    flat = all(len(path) <= 1 and role != "constant" for path, role in calls.object.fields)
    own = [tool for tool in known.tools if known_members(tool, form.dialect)] if flat else []
    strict = [
        rule(f"call_object_for_{one.rule}", object_of(calls, f"name_for_{one.rule}", f"arguments_for_{one.rule}"))
        for one in own
    ]
    names: list[Rule] = []
    if flat and not known:
        strict = [rule("call_object", object_of(calls, "name", "arguments"))]
        names = [rule("name", '!no_name string ""'), rule("no_name", leaf(r"""["']\s*+["']|["'](?:(?!["']).)*+\n"""))]
    choice = sequence(f"({' / '.join([*(each.name for each in strict), 'loose_call'])})", closing(form))
    rules = [rule("call", sequence(*opened, choice), sequence(*opened, "other_calls", closing(form)))]
    rules += [*slot_rules(form), *strict, *names]
    rules += [rule(f"name_for_{tool.rule}", leaf(_any([json_text(tool.name), quoted(tool.name)]))) for tool in own]
    if strict:
        keys = {kind: calls.object.path_of(kind) for kind in ("name", "arguments", "id", "index")}
        rules += [
            rule(f"{kind}_key", leaf(_any([q + path[0] + q for q in QUOTES]))) for kind, path in keys.items() if path
        ]
        rules += [rule(slot, 'string ""', 'number ""') for slot in ("id", "index") if calls.object.path_of(slot)]
    rules += [form.external("loose_call"), form.external("other_calls"), *form.leaves(*CLOSING)]
    return Section("One call: an object with its name and its arguments.", (*rules,))


def object_of(calls: CallForm, name: str, arguments: str) -> str:
    """Return an object with the members of a call in the order of the template."""
    if calls.object.name_is_key:
        return sequence("object_open", name, "colon", arguments, "object_close")
    kinds = calls.slot_order
    values = {"name": name, "arguments": arguments}
    members = [f"{kind}_key colon {values.get(kind, kind)}" for kind in kinds if calls.object.path_of(kind)]
    return sequence("object_open", " comma ".join(members), "object_close")


def _any(texts: list[str]) -> str:
    return f"(?:{either([exact(text) for text in texts])})"


def quoted(text: str) -> str:
    return "'" + text + "'"


def json_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
