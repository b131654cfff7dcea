"""Ways to write a call that look like text, change values, or differ by what is written; each like those of wild_calls.

"words in a section"  →  <calls>\\ncall {{- c.function.name -}}: {{- c.function.arguments | tojson -}}\\n</calls>
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_markers import Markers
from tests.property.wild_calls import JSON, KEY, NAME, RAW, VALUE, Calls, each, text

WORDS = ("call", "use", "run", "ask", "do", "to")


def words_in_section(rng: random.Random, marks: Markers) -> Calls:
    """An ordinary word opens a call: `call look: {"q": "a"}`."""
    opened, closed = marks.pair()
    one = text(rng.choice(WORDS) + " ") + NAME + text(": ") + JSON + text("\n")
    return Calls("words in a section", one, start=text(opened.rstrip() + "\n"), end=text(closed.lstrip()))


def word_and_lines(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    pairs = each(KEY + text(" = ") + VALUE + text("\n"))
    one = text(rng.choice(WORDS) + " ") + NAME + text(":\n") + pairs
    return Calls("word and lines", one, start=text(opened), end=text(closed))


def namespace(rng: random.Random, marks: Markers) -> Calls:
    """The function has a namespace: `tools.look({"q": "a"});`, with a section or without."""
    opened, closed = marks.pair(space=False) if rng.random() < 0.5 else ("", "")
    one = text(rng.choice(["tools.", "functions.", "api."])) + NAME + text("(") + JSON + text(");")
    return Calls("namespace", one, start=text(opened), end=text(closed))


def word_after_content(rng: random.Random, marks: Markers) -> Calls:
    """Return calls such as `fn:look {"q": "a"};` directly after the content."""
    one = text(rng.choice(["fn:", "call:", "tool="])) + NAME + text(" ") + JSON + text(";")
    return Calls("word after content", one)


def symbol_and_number(rng: random.Random, marks: Markers) -> Calls:
    one = text(rng.choice("@$&")) + NAME + text("#") + "{{- n -}}" + text(" ") + JSON + text("\n")
    return Calls("symbol and number", one, start=text("\n"))


def wrapped_by_type(rng: random.Random, marks: Markers) -> Calls:
    """The value's type chooses one of two wrappers."""
    opened, closed = marks.pair(space=False)
    value = "{%- if v is string -%}" + text("<str>") + "{{- v -}}" + text("</str>")
    value += "{%- else -%}" + text("<lit>") + VALUE + text("</lit>") + "{%- endif -%}"
    pair = text("<p=") + KEY + text(">") + value + text("</p>")
    return Calls("wrapper by type", text(opened) + NAME + text("|") + each(pair) + text(closed))


def escaped_values(rng: random.Random, marks: Markers) -> Calls:
    """Values pass through a filter that escapes them."""
    opened, closed = marks.pair(space=False)
    escape = rng.choice(["e", "urlencode", "replace('\"', '&quot;')"])
    value = "{{- (v if v is string else v | tojson) | " + escape + " -}}"
    pair = text("<p=") + KEY + text(">") + value + text("</p>")
    return Calls("escaped values", text(opened) + NAME + text("|") + each(pair) + text(closed))


def form_by_name(rng: random.Random, marks: Markers) -> Calls:
    """The template writes `server.tool` in two attributes."""
    opened, closed = marks.pair(space=False)
    parts = "{%- set parts = c.function.name.split('.') -%}{%- if parts | length == 2 -%}"
    parts += text('server="') + "{{- parts[0] -}}" + text('" tool="') + "{{- parts[1] -}}" + text('"')
    parts += "{%- else -%}" + text('tool="') + NAME + text('"') + "{%- endif -%}"
    return Calls("form by name", text(opened + " ") + parts + text(">") + JSON + text(closed))


def raw_keywords(rng: random.Random, marks: Markers) -> Calls:
    opened, closed = marks.pair(space=False)
    one = NAME + text("(") + each(KEY + text("=") + rng.choice([RAW, VALUE]), ", ") + text(")")
    return Calls("raw keywords", one, join=rng.choice([", ", "\n"]), start=text(opened), end=text(closed))


def numbered_results(rng: random.Random, marks: Markers) -> Calls:
    """Calls are assignments, each on its line: `r1 = look(q="a")`."""
    one = text("r") + "{{- n + 1 -}}" + text(" = ") + NAME + text("(") + each(KEY + text("=") + VALUE, ", ")
    return Calls("numbered results", one + text(")\n"), start=text("\n```python\n"), end=text("```"))


def expressions(rng: random.Random, marks: Markers) -> Calls:
    """Calls are expressions as in Lisp: `(begin (set :x 1) (ping))`."""
    pair = text(" :") + KEY + text(" ") + rng.choice([RAW, VALUE])
    return Calls("expressions", text(" (") + NAME + each(pair) + text(")"), start=text("(begin"), end=text(")"))


def closer_with_name(rng: random.Random, marks: Markers) -> Calls:
    """The value is bare, and the call's closer contains the name."""
    value = rng.choice([RAW, VALUE])
    pair = text("<|arg:") + KEY + text("|>") + value + (text("<|/arg|>") if rng.random() < 0.5 else "")
    return Calls(
        "closer with name", text("<|tool:") + NAME + text("|>") + each(pair) + text("<|end:") + NAME + text("|>")
    )


def separated_raw(rng: random.Random, marks: Markers) -> Calls:
    """Raw values have a separator, or are options of a command line."""
    opened, closed = marks.pair(space=False)
    pair, join = rng.choice([(KEY + text("=") + RAW, " | "), (text("-") + KEY + text("=") + RAW, " ")])
    return Calls("separated raw", text(opened) + NAME + text(" ") + each(pair, join) + text(closed))


CONSTRUCTIONS: tuple[Callable[[random.Random, Markers], Calls], ...] = (
    words_in_section,
    word_and_lines,
    namespace,
    word_after_content,
    symbol_and_number,
    wrapped_by_type,
    escaped_values,
    form_by_name,
    raw_keywords,
    numbered_results,
    expressions,
    closer_with_name,
    separated_raw,
)
