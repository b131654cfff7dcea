"""Ways to write calls that a careful person can invert; each like those of wild_calls.

"JSON in elements"  →  <vok look><q>"a"</q><n>1</n></vok>
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_markers import Markers
from tests.property.wild_calls import ID, JSON, KEY, NAME, RAW, VALUE, Calls, each, text

COUNT = "{{- m.tool_calls | length -}}"


def json_in_elements(rng: random.Random, marks: Markers) -> Calls:
    """Values are JSON, strings in quotes, in elements that are named by the key, or between the key and the key."""
    opened, closed = marks.pair(space=False)
    space = rng.choice(["", "", "\n"])
    word = marks.word()
    before, middle, again, after = rng.choice(
        [("<", ">", "</", ">"), (f"<{word}:", ">", f"</{word}:", ">"), ("[", "]", "[/", "]"), ("", " = ", " =", ";")]
    )
    pair = text(before) + KEY + text(middle) + VALUE + text(again) + KEY + text(after + space)
    return Calls("JSON in elements", text(opened) + NAME + text(">" + space) + each(pair) + text(closed))


def json_in_tags(rng: random.Random, marks: Markers) -> Calls:
    """Values are JSON, strings in quotes, in tags that hold the key."""
    word = marks.word()
    opened, closed = marks.pair(space=False)
    space, quote = rng.choice(["", "\n"]), rng.choice(['"', "'", ""])
    attribute = rng.choice([" name=", " key=", "=", ":"])
    pair = text(f"<{word}{attribute}{quote}") + KEY + text(f"{quote}>") + VALUE + text(f"</{word}>{space}")
    return Calls("JSON in tags", text(opened) + NAME + text(">" + space) + each(pair) + text(closed))


def name_begins_turn(rng: random.Random, marks: Markers) -> Calls:
    """A message with a call begins with its name, with nothing but the header before that."""
    return Calls("name begins turn", NAME + text(rng.choice(["\n", "\n", " ", "\n\n"])) + JSON, blocks=True)


def name_after_object(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    between = rng.choice([" -> ", " | ", marks.one(space=False), "\n"])
    return Calls("name after object", text(opened) + JSON + text(between) + NAME + text(closed))


def type_names_element(rng: random.Random, marks: Markers) -> Calls:
    """The element around the key and the value is named by the value's type: `<text q>a</text>`."""
    opened, closed = marks.pair(space=False)
    attribute = rng.choice([" name=", " ", ":", "="])
    string, other = rng.choice([("text", "json"), ("str", "lit"), ("raw", "value"), ("string", "any")])
    word = "{{- ('" + string + "' if v is string else '" + other + "') -}}"
    pair = text("<") + word + text(attribute) + KEY + text(">") + RAW + text("</") + word + text(">")
    return Calls("type names element", text(opened) + NAME + text(">") + each(pair) + text(closed))


def counted_words(rng: random.Random, marks: Markers) -> Calls:
    """A sentence before the calls says how many there are."""
    before, after = rng.choice([("\nCalling ", " tools:\n"), ("\n\n# Calls (", ")\n"), ("\n<n=", ">\n")])
    one = text("* ") + NAME + text(" ") + JSON + text("\n")
    return Calls("counted words", one, start=text(before) + COUNT + text(after))


def words_open_section(rng: random.Random, marks: Markers) -> Calls:
    """Plain words after the content open all calls, of which each is on a line."""
    words = rng.choice(["Let me call these functions", "Tools to run", "I use"])
    between = rng.choice([": ", " with ", " <- "])
    one = text("- ") + NAME + text(between) + JSON + text("\n")
    return Calls("words open section", one, start=text(f"\n\n{words}:\n"))


def yaml_by_macro(rng: random.Random, marks: Markers) -> Calls:
    """A recursive macro writes YAML whose scalars are JSON."""
    opened, closed = rng.choice([("\n```tool\n", "\n```"), marks.pair()])
    lines = (
        "{%- macro yaml(v, by) -%}{%- if v is mapping and v -%}{%- for k, x in v.items() -%}"
        "{{- '\\n' ~ '  ' * by ~ k ~ ':' -}}{{- yaml(x, by + 1) -}}{%- endfor -%}"
        "{%- elif v is sequence and v is not string and v -%}{%- for x in v -%}"
        "{{- '\\n' ~ '  ' * by ~ '-' -}}{{- yaml(x, by + 1) -}}{%- endfor -%}"
        "{%- else -%}{{- ' ' ~ (v | tojson) -}}{%- endif -%}{%- endmacro -%}"
    )
    one = text(opened + "name: ") + NAME + text("\nargs:") + "{{- yaml(c.function.arguments, 1) -}}" + text(closed)
    return Calls("YAML by macro", one, start=lines)


def turn_as_json(rng: random.Random, marks: Markers) -> Calls:
    """The calls, with their ids, are members of one object that is all the turn has but content."""
    gathered = "{'name': c.function.name, 'arguments': c.function.arguments, 'id': c.id}"
    one = "{%- set all.calls = all.calls + [" + gathered + "] -%}"
    one += "{%- if loop.last -%}{{- {'calls': all.calls} | tojson -}}{%- endif -%}"
    return Calls("calls as JSON turn", one, start="{%- set all = namespace(calls=[]) -%}")


def id_and_name_lines(rng: random.Random, marks: Markers) -> Calls:
    """Each slot of a call has a line of its own with a word before it."""
    opened, closed = marks.pair(space=False)
    one = text(opened + "\nid: ") + ID + text("\nname: ") + NAME + text("\nargs: ") + JSON + text("\n" + closed)
    return Calls("id and name lines", one)


INVERTED: tuple[Callable[[random.Random, Markers], Calls], ...] = (
    json_in_elements,
    json_in_tags,
    name_begins_turn,
    name_after_object,
    type_names_element,
    counted_words,
    words_open_section,
    yaml_by_macro,
    turn_as_json,
    id_and_name_lines,
)
