"""Ways to write calls that people copy from one chat template to the next; each like those of wild_calls.

"calls as one value"  →  <vok>[{"name": "look", "arguments": {"q": "a"}}, …]</vok>
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_markers import Markers
from tests.property.wild_calls import ID, JSON, KEY, NAME, RAW, VALUE, Calls, each, text

COUNT = "{{- m.tool_calls | length -}}"
DUMPS = ("tojson", "tojson(indent=2)", "tojson(indent=4)", "tojson(sort_keys=true)", "tojson(ensure_ascii=true)")


def _value(expression: str, rng: random.Random) -> str:
    return "{{- " + expression + " | " + rng.choice(DUMPS) + " -}}"


def calls_as_one_value(rng: random.Random, marks: Markers) -> Calls:
    """All calls are in one list, which the template prints as a whole, or collects before it does."""
    opened, closed = marks.pair()
    if rng.random() < 0.3:
        one = "{%- if loop.last -%}" + _value("m.tool_calls", rng) + "{%- endif -%}"
        return Calls("calls as one value", one, start=text(opened), end=text(closed))
    name, arguments = rng.choice([("name", "arguments"), ("tool", "input"), ("name", "parameters")])
    gathered = "{'" + name + "': c.function.name, '" + arguments + "': c.function.arguments}"
    one = "{%- set all.calls = all.calls + [" + gathered + "] -%}{%- if loop.last -%}"
    one += _value("all.calls", rng) + "{%- endif -%}"
    return Calls(
        "calls as one value", one, start=text(opened) + "{%- set all = namespace(calls=[]) -%}", end=text(closed)
    )


def dumped_object(rng: random.Random, marks: Markers) -> Calls:
    """A filter prints the call, which is a dictionary, in a block or in a line of its own."""
    opened, closed = rng.choice([marks.pair(), ("\nevent: call\ndata: ", "\n"), ("\n```json\n", "\n```")])
    members = ["'name': c.function.name", "'arguments': c.function.arguments", "'id': c.id"]
    made = "{" + ", ".join(members[: rng.choice([2, 3])]) + "}"
    return Calls("dumped object", text(opened) + _value(made, rng) + text(closed))


def arguments_as_text(rng: random.Random, marks: Markers) -> Calls:
    """The arguments are a JSON text inside the call's object."""
    opened, closed = marks.pair()
    made = "{'name': c.function.name, 'arguments': c.function.arguments | tojson}"
    return Calls("arguments as text", text(opened) + "{{- " + made + " | tojson -}}" + text(closed))


def python_object(rng: random.Random, marks: Markers) -> Calls:
    """Python prints the arguments: `look(**{'q': 'a'})`."""
    opened, closed = rng.choice([marks.pair(space=False), ("\n>>> ", "")])
    start, end = rng.choice([("(**", ")"), (" ", ""), ("(", ")")])
    return Calls(
        "python object", text(opened) + NAME + text(start) + "{{- c.function.arguments -}}" + text(end) + text(closed)
    )


def counted_section(rng: random.Random, marks: Markers) -> Calls:
    """The section's opener or closer contains the number of calls."""
    opened, closed = marks.pair(space=False)
    word = marks.word()
    one = text(f"<{word} ") + NAME + text(">") + JSON + text(f"</{word}>")
    where = rng.choice(["opener", "closer", "both"])
    start = text(opened + " n=") + COUNT + text(";") if where != "closer" else text(opened)
    end = text(closed + ":") + COUNT + text(";") if where != "opener" else text(closed)
    return Calls("counted section", one, start=start, end=end)


def name_after_arguments(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    arguments = rng.choice([JSON, each(text("<p=") + KEY + text(">") + RAW + text("</p>"))])
    between = rng.choice([" -> ", " => ", marks.one(space=False)])
    return Calls("name after arguments", text(opened) + arguments + text(between) + NAME + text(closed))


def escaped_object(rng: random.Random, marks: Markers) -> Calls:
    """A filter escapes the whole object."""
    escape = rng.choice(["e", "urlencode", "replace('\"', '&quot;')"])
    word = marks.word()
    one = text(f'<{word} name="') + NAME + text('" args="') + "{{- c.function.arguments | tojson | " + escape + " -}}"
    return Calls("escaped object", one + text('"/>'))


def typed_elements(rng: random.Random, marks: Markers) -> Calls:
    """Arguments are elements with a type: `<q t="str">a</q>`."""
    word, kind = marks.word(), rng.choice(["t", "type", "kind"])
    words = "'str' if v is string else 'bool' if v is boolean else 'num' if v is number else 'json'"
    pair = text("<") + KEY + text(f' {kind}="') + "{{- " + words + " -}}" + text('">') + RAW + text("</") + KEY
    return Calls("typed elements", text(f"<{word} ") + NAME + text(">") + each(pair + text(">")) + text(f"</{word}>"))


def raw_attributes(rng: random.Random, marks: Markers) -> Calls:
    """Arguments are attributes whose quotes aren't escaped."""
    word = marks.word()
    pair = text(" ") + KEY + text('="') + RAW + text('"')
    return Calls("raw attributes", text(f"<{word} ") + NAME + each(pair) + text(rng.choice(["/>", f"></{word}>"])))


def wrapped_if_needed(rng: random.Random, marks: Markers) -> Calls:
    """Strings with brackets or line breaks are between delimiters, others are bare."""
    word = marks.word()
    start, end = rng.choice([("<![CDATA[", "]]>"), ("<raw>", "</raw>"), ('"""', '"""')])
    needed = rng.choice(["'<' in v", "'<' in v or '&' in v", "'\\n' in v or '<' in v"])
    value = "{%- if v is string and (" + needed + ") -%}" + text(start) + "{{- v -}}" + text(end)
    value += "{%- else -%}" + RAW + "{%- endif -%}"
    pair = text("<p=") + KEY + text(">") + value + text("</p>")
    return Calls("wrapped if needed", text(f"<{word} ") + NAME + text(">") + each(pair) + text(f"</{word}>"))


def query(rng: random.Random, marks: Markers) -> Calls:
    word = marks.word()
    pair = KEY + text("=") + "{{- (v if v is string else v | tojson) | urlencode -}}"
    return Calls("query", text(f"<{word} ") + NAME + text("?") + each(pair, "&") + text(">"))


def options(rng: random.Random, marks: Markers) -> Calls:
    """Write calls as a command line: `$ look --q="a"`."""
    start = rng.choice(["\n$ ", "\n> ", f"\n/{marks.word()} "])
    pair = text(" --") + KEY + text("=") + VALUE
    return Calls("options", text(start) + NAME + each(pair))


def between_symbols(rng: random.Random, marks: Markers) -> Calls:
    """Write one symbol around a call, and no arguments if there are none: `@look{q: "a"}@`."""
    symbol = rng.choice("@$~|%")
    pairs = text("{") + each(KEY + text(": ") + VALUE, rng.choice(["; ", ", "])) + text("}")
    given = "{%- if c.function.arguments -%}" + pairs + "{%- endif -%}"
    return Calls("between symbols", text(symbol) + NAME + given + text(symbol))


def call_with_id(rng: random.Random, marks: Markers) -> Calls:
    """The id is before, between or after name and arguments, perhaps with the call's number."""
    opened, closed = marks.pair(space=False)
    number = text(" #") + "{{- loop.index -}}" if rng.random() < 0.4 else ""
    parts = [text(" id=") + ID + text(";"), text(" ") + NAME + text(":")]
    rng.shuffle(parts)
    late = rng.random() < 0.3
    middle = parts[0] + parts[1] + JSON if not late else text(" ") + NAME + text(": ") + JSON + text(" id=") + ID
    return Calls("call with id", text(opened) + number + middle + text(closed))


def members_in_macro(rng: random.Random, marks: Markers) -> Calls:
    """A macro writes the arguments by type, objects and lists by itself: `{q: "a", n: [1, 2]}`."""
    opened, closed = marks.pair(space=False)
    quote = rng.choice(['"', "'", '<|"|>', "`"])
    macro = "{%- macro w(v) -%}{%- if v is mapping -%}{{- '{' -}}{%- for k, x in v.items() -%}"
    macro += "{{- ', ' if not loop.first -}}{{- k ~ ':' -}}{{- w(x) -}}{%- endfor -%}{{- '}' -}}"
    macro += "{%- elif v is string -%}{{- '" + quote.replace("'", "\\'") + "' ~ v ~ '" + quote.replace("'", "\\'")
    macro += "' -}}{%- elif v is sequence -%}{{- '[' -}}{%- for x in v -%}{{- ', ' if not loop.first -}}"
    macro += "{{- w(x) -}}{%- endfor -%}{{- ']' -}}{%- else -%}{{- v | tojson -}}{%- endif -%}{%- endmacro -%}"
    return Calls(
        "members in a macro", text(opened) + NAME + "{{- w(c.function.arguments) -}}" + text(closed), start=macro
    )


def lines_in_macro(rng: random.Random, marks: Markers) -> Calls:
    """A macro writes the arguments as indented lines, scalars as JSON."""
    opened, closed = marks.pair()
    macro = "{%- macro y(v, d) -%}{%- if v is mapping and v -%}{%- for k, x in v.items() -%}"
    macro += "{{- '\\n' ~ '  ' * d ~ k ~ ':' -}}{{- y(x, d + 1) -}}{%- endfor -%}"
    macro += "{%- elif v is sequence and v is not string and v -%}{%- for x in v -%}"
    macro += "{{- '\\n' ~ '  ' * d ~ '-' -}}{{- y(x, d + 1) -}}{%- endfor -%}"
    macro += "{%- else -%}{{- ' ' ~ (v | tojson) -}}{%- endif -%}{%- endmacro -%}"
    one = text(opened.rstrip() + "\nname: ") + NAME + text("\nargs:") + "{{- y(c.function.arguments, 1) -}}"
    return Calls("lines in a macro", one + text("\n" + closed.lstrip()), start=macro)


IDIOMS: tuple[Callable[[random.Random, Markers], Calls], ...] = (
    calls_as_one_value,
    dumped_object,
    arguments_as_text,
    python_object,
    counted_section,
    name_after_arguments,
    escaped_object,
    typed_elements,
    raw_attributes,
    wrapped_if_needed,
    query,
    options,
    between_symbols,
    call_with_id,
    members_in_macro,
    lines_in_macro,
)
