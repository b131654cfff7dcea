"""Ways to write a call that are wilder than `random_design` has: each gives the Jinja text of one call `c`.

"attributes"  →  {{- '<vok name=' -}}{{- c.function.name -}}{%- for k, v in … -%} zim="…"{%- endfor -%}{{- '/>' -}}
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.property.random_markers import Markers


@dataclass(frozen=True, slots=True)
class Calls:
    """`one` writes the call `c` (its number is `n`), `join` is between calls, `start` and `end` around them.  With
    `blocks` each call is a message of its own, header and all."""

    kind: str
    one: str
    join: str = ""
    start: str = ""
    end: str = ""
    blocks: bool = False
    ambiguous: str = ""


def text(literal: str) -> str:
    """Return an expression that writes a text as it is."""
    escaped = literal.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return "{{- '" + "".join(ch if ch >= " " else f"\\x{ord(ch):02x}" for ch in escaped) + "' -}}" if literal else ""


NAME = "{{- c.function.name -}}"
JSON = "{{- c.function.arguments | tojson -}}"
ID = "{{- c.id -}}"


def each(body: str, join: str = "", until: str = "") -> str:
    """Return a loop over each argument, `k` and `v`."""
    between = "{%- if not loop.first -%}" + text(join) + "{%- endif -%}" if join else ""
    return "{%- for k, v in c.function.arguments.items() -%}" + between + body + "{%- endfor -%}" + until


KEY, VALUE = "{{- k -}}", "{{- v | tojson -}}"
RAW = "{{- (v if v is string else v | tojson) -}}"


def object_between_marks(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair()
    names = rng.choice([("name", "arguments"), ("tool", "input"), ("fn", "with")])
    one = text(opened + '{"' + names[0] + '": "') + NAME + text('", "' + names[1] + '": ') + JSON + text("}" + closed)
    return Calls("object between marks", one)


def recipient(rng: random.Random, marks: Markers) -> Calls:
    """The header of the message names the function."""
    before, after, closed = marks.one(), marks.one(), marks.one()
    before = rng.choice([" to=", before, ">>>"])
    after = rng.choice(["\n", after]) if before == ">>>" else after
    return Calls("recipient", text(before) + NAME + text(after) + JSON + text(closed), blocks=rng.random() < 0.5)


def name_value_pairs(rng: random.Random, marks: Markers) -> Calls:
    """Arguments are a list of objects, one for each argument."""
    opened, closed = marks.pair()
    key, value = rng.choice([("name", "value"), ("key", "val"), ("k", "v")])
    pair = text('{"' + key + '": "') + KEY + text('", "' + value + '": ') + VALUE + text("}")
    one = text(opened + '{"name": "') + NAME + text('", "arguments": [') + each(pair, ", ") + text("]}" + closed)
    return Calls("list of pairs", one)


def double_encoded(rng: random.Random, marks: Markers) -> Calls:
    """The arguments are a JSON string that holds JSON."""
    opened, closed = marks.pair()
    one = text(opened + '{"name": "') + NAME + text('", "arguments": ')
    one += "{{- c.function.arguments | tojson | tojson -}}" + text("}" + closed)
    return Calls("double-encoded", one)


def extra_members(rng: random.Random, marks: Markers) -> Calls:
    """Return calls with constants, ids and numbers next to name and arguments."""
    opened, closed = marks.pair()
    members = [text('"name": "') + NAME + text('"'), text('"arguments": ') + JSON]
    members.append(text(rng.choice(['"type": "function"', '"version": 2', '"meta": null'])))
    if rng.random() < 0.5:
        members.append(text('"id": "') + ID + text('"'))
    rng.shuffle(members)
    return Calls("extra members", text(opened + "{") + text(", ").join(members) + text("}" + closed))


def yaml_like(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair()
    pair = text("\n    ") + KEY + text(": ") + VALUE
    one = text(opened.rstrip() + "\nname: ") + NAME + text("\nargs:") + each(pair) + text("\n" + closed.lstrip())
    return Calls("yaml-like", one)


def attributes(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    pair = text(" ") + KEY + text("=") + VALUE
    return Calls("attributes", text(f"<{word} name=") + NAME + each(pair) + text(rng.choice(["/>", f"></{word}>"])))


def s_expression(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    pair = text(" (") + KEY + text(" ") + VALUE + text(")")
    return Calls("s-expression", text(f"({word} ") + NAME + each(pair) + text(")"), join="\n")


def toml_like(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    pair = KEY + text(" = ") + VALUE + text("\n")
    one = text(f'[[{word}]]\nname = "') + NAME + text(f'"\n[{word}.args]\n') + each(pair) + text(f"[end {word}]\n")
    return Calls("toml-like", one)


def fence(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    name, arguments = rng.choice([("name", "arguments"), ("tool_name", "parameters")])
    one = text(f'\n```{word}\n{{"{name}": "') + NAME + text(f'", "{arguments}": ') + JSON + text("}\n```")
    return Calls("code fence", one)


def name_value_lines(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair()
    pair = text("\n") + KEY + text(": ") + VALUE
    return Calls("lines", text(opened.rstrip() + "\n") + NAME + each(pair) + text("\n" + closed.lstrip()))


def raw_pairs(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair()
    key, value = marks.pair(space=False)
    last = marks.one(space=False)
    named = rng.random() < 0.5
    pair = text(key) + KEY + text(value) + RAW + text(last)
    one = text(opened + ("" if named else "tool=")) + NAME + text(marks.one(space=False)) + each(pair) + text(closed)
    return Calls("raw pairs", one)


def meaningful_ids(rng: random.Random, marks: Markers) -> Calls:
    """The template composes the id of the name and the number."""
    opened, closed = marks.pair()
    between = marks.one(space=False)
    prefix, base = rng.choice(["functions.", "fn/", ""]), rng.choice([0, 1])
    number = "{{- n }}" if base == 0 else "{{- n + 1 }}"
    one = text(opened + prefix) + NAME + text(":") + number + text(between) + JSON + text(closed)
    return Calls("ids with meaning", one)


def counted(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    one = text(opened + " ") + "{{- n + 1 }}" + text(' {"name": "') + NAME + text('", "arguments": ') + JSON
    return Calls("counters", one + text("}" + closed))


def keywords(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    one = NAME + text("(") + each(KEY + text("=") + VALUE, ", ") + text(")")
    return Calls("keywords", one, join=", ", start=text(opened + "["), end=text("]" + closed))


def name_twice(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    return Calls("name twice", text(f"<{word}:") + NAME + text(">") + JSON + text(f"</{word}:") + NAME + text(">"))


def object_array(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair()
    one = text('{"name": "') + NAME + text('", "arguments": ') + JSON + text("}")
    return Calls("object array", one, join=", ", start=text(opened + "["), end=text("]" + closed))


FAMILIES: tuple[Callable[[random.Random, Markers], Calls], ...] = (
    object_between_marks,
    recipient,
    name_value_pairs,
    double_encoded,
    extra_members,
    yaml_like,
    attributes,
    s_expression,
    toml_like,
    fence,
    name_value_lines,
    raw_pairs,
    meaningful_ids,
    counted,
    keywords,
    name_twice,
    object_array,
)
