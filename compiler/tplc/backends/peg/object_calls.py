"""The rules of a call that is one object.

    {"name": NAME, "arguments": ARGUMENTS}
    →  call_object      = object_open (!name_key field)* name_field field* (object_close / cut)
       field            = arguments_field / other_field / loose_sign
       name_field       = name_key loose_sign* name
       arguments_field  = arguments_key loose_sign* arguments

Fields come in any order; without a name the object is no call.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tplc.backends.peg.facts import Facts
from tplc.backends.peg.known_tools import KnownTool, KnownTools
from tplc.backends.peg.loose import (
    VALUES,
    bare_key_pattern,
    bare_word_pattern,
    break_rules,
    ends,
    maybe,
    no_name_pattern,
    string_pattern,
    unbroken,
)
from tplc.backends.peg.patterns import either, leaf
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.backends.peg.schemas import known_members
from tplc.backends.peg.slots import closing, slot_rules
from tplc.backends.peg.styles import BoundedStyle
from tplc.ir.nodes import Dialect, Slot
from tplc.lower import CallForm
from tplc.lower.call_objects import WRAPPER, other_names
from tplc.lower.lexemes import exact

QUOTES = ('"', "'")


@dataclass(slots=True)
class Field:
    """A field on the way to a slot: `slot` where the path ends, else the fields inside."""

    key: str = ""
    slot: str = ""
    inner: list[Field] = field(default_factory=list)

    def add(self, path: tuple[str, ...], slot: str) -> None:
        found = next((each for each in self.inner if each.key == path[0]), None)
        if found is None:
            found = Field(path[0])
            self.inner.append(found)
        if len(path) == 1:
            found.slot = slot
        else:
            found.add(path[1:], slot)

    def holds(self, slot: str) -> bool:
        return self.slot == slot or any(each.holds(slot) for each in self.inner)

    @property
    def key_rule(self) -> str:
        return f"{self.slot or 'inner'}_key"

    @property
    def rule(self) -> str:
        return f"{self.slot or 'inner'}_field"


def object_call_section(dialect: Dialect, facts: Facts, known: KnownTools, style: BoundedStyle) -> Section:
    calls = facts.calls
    opened = ["call_open"] if facts.call_open else []
    for kind, _ in calls.shape.slots:
        opened += ["gap" if opened else "", kind, f"{kind}_end"]
    opened += ["gap"] if opened else []
    closed = [closing(facts)] if facts.call_close else []
    own = [tool for tool in known.tools if known_members(tool, dialect)] if is_flat(calls) else []
    objects = [*(f"call_object_for_{tool.rule}" for tool in own), "call_object"]
    choice = objects[0] if len(objects) == 1 else f"({' / '.join(objects)})"
    # A rule that were no more than another one's name would lose its own.
    name = "call_object" if opened or closed or own else "call"
    rules = [rule("call", sequence(*opened, choice, *closed))] if name != "call" else []
    if facts.call_open:
        rules.append(rule("call_open", leaf(facts.call_open)))
    rules += slot_rules(facts, known)
    rules += [rule(f"call_object_for_{tool.rule}", tool_object(calls, tool)) for tool in own]
    stop = style.stop
    rules += named_by_key(name, stop) if calls.name_is_key else object_rules(name, fields_of(calls), stop, facts.bare)
    if calls.wrapped:
        rules = with_wrapper(rules, name, stop)
    rules += break_rules(stop)
    rules += [rule(slot, *VALUES) for slot in ("id", "index") if calls.path_of(slot)]
    rules.append(
        rule("other_field", f"loose_key loose_sign* {maybe('loose_value', stop)}", "loose_object", "loose_list")
    )
    rules += name_rules(known, style, is_key=calls.name_is_key, bare=facts.bare)
    if closed:
        rules.append(rule("call_close", leaf(facts.call_close)))
    return Section("One call: an object with its name and its arguments.", (*rules,))


def is_flat(calls: CallForm) -> bool:
    return all(len(path) <= 1 and role != "constant" for path, role in calls.fields)


def tool_object(calls: CallForm, tool: KnownTool) -> str:
    """The object of one tool's call, with its fields in the order of the template."""
    name, arguments = f"&quoted_name_for_{tool.rule} name", f"arguments_for_{tool.rule}"
    if calls.name_is_key:
        return sequence("object_open", name, "colon", arguments, "object_close")
    kinds = dict.fromkeys(item.kind for item in calls.call if isinstance(item, Slot))
    values = {"name": name, "arguments": arguments}
    members = [f"{kind}_key colon {values.get(kind, kind)}" for kind in kinds if calls.path_of(kind)]
    return sequence("object_open", " comma ".join(members), "object_close")


def fields_of(calls: CallForm) -> Field:
    root = Field()
    for slot in ("name", "arguments", "id", "index"):
        if path := calls.path_of(slot):
            root.add(path, slot)
    return root


def object_rules(name: str, fields: Field, stop: str, bare: bool) -> list[Rule]:
    """An object that holds the name, after and before other fields; `stop`: what no value holds."""
    # There is none in an object next to the name: that object holds the arguments alone.
    named = next((each for each in fields.inner if each.holds("name")), None)
    others = [each.rule for each in fields.inner if each is not named]
    field_rule = "field" if name != "inner_object" else "inner_object_field"
    # Where calls look like any object, a mistake or an unknown field before the name says that it is none.
    before = f"(!{named.key_rule} {field_rule})*" if named else ""
    if bare:
        before = f"(({' / '.join(others)}) comma)*" if others else ""
    colon = "colon" if bare else "loose_sign*"
    rules = [
        rule(
            name,
            sequence("object_open", before, named.rule if named else "", f"{field_rule}*", ends("object_close", stop)),
        ),
        rule(field_rule, *(unbroken(choice, stop) for choice in (*others, "other_field", "loose_sign"))),
    ]
    for each in fields.inner:
        value = each.slot or "inner_object"
        value = unbroken(value, stop)
        rules.append(rule(each.rule, f"{each.key_rule} {colon if each is named else 'loose_sign*'} {value}"))
        keys = [other.key for other in fields.inner]
        others = [path[-1] for path in other_names((each.key,)) if each.slot == "arguments" and path[-1] not in keys]
        rules.append(rule(each.key_rule, leaf(either([key_pattern(key) for key in (each.key, *others)]))))
        if each.inner:
            rules += object_rules("inner_object", each, stop, bare)
    return rules


def with_wrapper(rules: list[Rule], name: str, stop: str) -> list[Rule]:
    """The object, or one that holds it as the member "function"."""
    before, behind = "(!wrapper_key !name_key field)*", f"field* {ends('object_close', stop)}"
    wrapped = f"object_open {before} wrapper_key loose_sign* wrapped_object {behind}"
    found = []
    for each in rules:
        if each.name == name:
            found += [rule(name, wrapped, "wrapped_object"), rule("wrapped_object", *each.choices)]
            found.append(rule("wrapper_key", leaf(key_pattern(WRAPPER))))
        else:
            found.append(each)
    return found


def key_pattern(key: str) -> str:
    """A key in quotes or without."""
    quoted = [exact(quote + key + quote) for quote in QUOTES]
    return rf"(?:{either(quoted)}|{exact(key)}(?=\s*+(?::|\n|\}}|\Z)))"


def named_by_key(name: str, stop: str) -> list[Rule]:
    """An object whose first key is the name, and the first value the arguments."""
    early = f"({unbroken('(loose_sign / loose_object / loose_list)', stop)})*"
    return [
        rule(name, f"object_open {early} name loose_sign* arguments? field* {ends('object_close', stop)}"),
        rule("field", unbroken("other_field", stop), unbroken("loose_sign", stop)),
    ]


def name_rules(known: KnownTools, style: BoundedStyle, *, is_key: bool, bare: bool) -> list[Rule]:
    """The name in quotes, of any kind; an empty one is none."""
    quoted_names = [(f"quoted_name_for_{tool.rule}", (json_text(tool.name), quoted(tool.name))) for tool in known.tools]
    others = [] if known.closed else ["!no_name quoted_name", *([] if bare else ["bare_name"])]
    rules = [rule("name", *(f'{name} ""' if len(quoted_names) == 1 else name for name, _ in quoted_names), *others)]
    rules += [rule(name, leaf(f"(?:{either([exact(text) for text in texts])})")) for name, texts in quoted_names]
    if others:
        rules.append(rule("no_name", leaf(no_name_pattern(style))))
        rules.append(rule("quoted_name", leaf(string_pattern(style, whole=True))))
    if others and not bare:
        pattern = bare_key_pattern(style) if is_key else bare_word_pattern(style)
        rules.append(rule("bare_name", leaf(pattern)))
    return rules


def quoted(text: str) -> str:
    return "'" + text + "'"


def json_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
