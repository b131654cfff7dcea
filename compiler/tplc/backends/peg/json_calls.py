"""The rules of a call that is one object.

    {"name": NAME, "arguments": ARGUMENTS}
    →  call_object      = object_open (early_field comma?)* name_field (comma? field)* call_object_end
       name_field       = ~r'"name"' colon name
       arguments_field  = ~r'"arguments"' colon arguments

Fields come in any order; without a name the object is no call.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tplc.backends.peg.facts import Facts
from tplc.backends.peg.known_tools import KnownTool, KnownTools
from tplc.backends.peg.patterns import either, exact, leaf
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.backends.peg.schemas import known_members
from tplc.backends.peg.values import string_rules, value_rules
from tplc.ir.nodes import JsonFields, Slot, Tools

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
    def rule(self) -> str:
        return f"{self.slot or 'inner'}_field"


def json_call_section(tools: Tools, facts: Facts, known: KnownTools) -> Section:
    assert tools.json is not None and tools.dialect is not None
    opened = ["call_open", "gap"] if facts.call_open else []
    closed = []
    if facts.call_close:
        closed = ["(gap call_close)*" if "|" in facts.call_close else "(gap call_close)?"]
    fields = tools.json
    own = [tool for tool in known.tools if known_members(tool, tools.dialect)] if is_flat(fields) else []
    objects = [*(f"call_object_for_{tool.rule}" for tool in own), "call_object"]
    choice = objects[0] if len(objects) == 1 else f"({' / '.join(objects)})"
    # A rule that were no more than another one's name would lose its own.
    alone = not opened and not closed and len(objects) == 1
    rules = [rule("call", sequence(*opened, choice, *closed, '""' if alone else ""))]
    if opened:
        rules.append(rule("call_open", leaf(facts.call_open)))
    rules += [rule(f"call_object_for_{tool.rule}", tool_object(tools, tool)) for tool in own]
    if fields.name_is_key:
        rules.append(rule("call_object", "object_open name (colon arguments)? (gap object_close / loose_rest)"))
    else:
        rules += object_rules("call_object", fields_of(fields), bare=facts.bare)
    rules += [rule(slot, *value_choices(tools)) for slot in ("id", "index") if getattr(fields, slot)]
    inner = "!inner_field" if len(fields.name) > 1 else ""
    rules.append(rule("other_field", sequence("!name_field", inner, "key colon (value / loose_object / loose_list)")))
    rules.append(rule("loose_rest", "(loose_object / loose_list / loose_text / list_close)* (object_close / cut)"))
    rules += name_rules(known, tools)
    if closed:
        rules.append(rule("call_close", leaf(facts.call_close)))
    return Section("One call: an object with its name and its arguments.", (*rules,))


def is_flat(fields: JsonFields) -> bool:
    paths = [fields.name, fields.arguments, fields.id or (), fields.index or ()]
    return not fields.constants and all(len(path) <= 1 for path in paths)


def tool_object(tools: Tools, tool: KnownTool) -> str:
    """The object of one tool's call, with its fields in the order of the template."""
    assert tools.json is not None
    name, arguments = f"&quoted_name_for_{tool.rule} name", f"arguments_for_{tool.rule}"
    if tools.json.name_is_key:
        return sequence("object_open", name, "colon", arguments, "object_close")
    kinds = dict.fromkeys(item.kind for item in tools.call if isinstance(item, Slot))
    values = {"name": name, "arguments": arguments}
    fields = [f"{kind}_key colon {values.get(kind, kind)}" for kind in kinds if getattr(tools.json, kind, None)]
    return sequence("object_open", " comma ".join(fields), "object_close")


def fields_of(fields: JsonFields) -> Field:
    root = Field()
    for slot in ("name", "arguments", "id", "index"):
        path = getattr(fields, slot)
        if path:
            root.add(path, slot)
    return root


def object_rules(name: str, fields: Field, *, bare: bool) -> list[Rule]:
    """An object that holds the name, after and before other fields."""
    named = next(each for each in fields.inner if each.holds("name"))
    others = [each.rule for each in fields.inner if each is not named]
    # Where calls look like any object, an unknown field before the name says that it is none.
    early = others if bare else [*others, "other_field"]
    before = f"(({' / '.join(early)}) comma?)*" if early else ""
    after = f"(comma? ({' / '.join([*others, 'other_field'])}))*"
    rules = [rule(name, sequence("object_open", before, named.rule, after, "(comma? object_close / loose_rest)"))]
    for each in fields.inner:
        key = leaf(rf"(?:{either([exact(quote + each.key + quote) for quote in QUOTES])})")
        slot = each.slot or "inner_object"
        rules += [rule(each.rule, f"{each.slot or 'inner'}_key colon {slot}"), rule(f"{each.slot or 'inner'}_key", key)]
        if each.inner:
            rules += object_rules("inner_object", each, bare=bare)
    return rules


def name_rules(known: KnownTools, tools: Tools) -> list[Rule]:
    """The name in quotes, of any kind; an empty one is none."""
    quoted_names = [(f"quoted_name_for_{tool.rule}", (json_text(tool.name), quoted(tool.name))) for tool in known.tools]
    others = [] if known.closed else [*(f"!no_name {each}" for each in own_strings(tools)), "!no_name quoted_name"]
    rules = [rule("name", *(f'{name} ""' if len(quoted_names) == 1 else name for name, _ in quoted_names), *others)]
    rules += [rule(name, leaf(f"(?:{either([exact(text) for text in texts])})")) for name, texts in quoted_names]
    if others:
        rules.append(rule("no_name", leaf(r"""["']\s*+["']""")))
        rules.append(rule("quoted_name", leaf(r""""[^"\\\n]++"|'[^'\\\n]++'""")))
    return rules


def own_strings(tools: Tools) -> list[str]:
    """Text in the quotes of the dialect."""
    assert tools.dialect is not None
    return [choice for each in string_rules(tools.dialect.in_object, "")[:1] for choice in each.choices]


def value_choices(tools: Tools) -> list[str]:
    assert tools.dialect is not None
    return list(value_rules(tools.dialect.in_object, tools.dialect)[0].choices)


def quoted(text: str) -> str:
    return "'" + text + "'"


def json_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
