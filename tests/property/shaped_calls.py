"""Ways to write a call whose markers depend on what the calls hold; each like those of wild_calls.

"counted"  →  <vok zim={{- m.tool_calls | length -}}>{{- c.function.name -}} …
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_markers import Markers
from tests.property.wild_calls import JSON, KEY, NAME, RAW, VALUE, Calls, each, text

COUNT, NUMBER = "{{- m.tool_calls | length -}}", "{{- n + 1 -}}"


def counted(rng: random.Random, marks: Markers) -> Calls:
    """The number of calls is in each call, alone or after the call's own number, or in its closer."""
    opened, closed = marks.pair(space=False)
    word, arguments = marks.word(), rng.choice([JSON, each(text("<p=") + KEY + text(">") + RAW + text("</p>"))])
    place = rng.choice(["before", "both", "after"])
    one = text(opened)
    if place != "after":
        one += (NUMBER + text("/") if place == "both" else text(f" {word}=")) + COUNT + text(" ")
    one += NAME + text(rng.choice([": ", "|", "=>"])) + arguments
    one += text(f"<{word} ") + COUNT + text(">") if place == "after" else text(closed)
    return Calls("counted", one)


def left_out(rng: random.Random, marks: Markers) -> Calls:
    """The arguments and the texts around them are left out if there are none, or another text is in their place."""
    opened, closed = marks.pair(space=False)
    before, after = marks.pair(space=False)
    if rng.random() < 0.4:
        before, after = rng.choice([(" ", ""), (" with ", ""), (": ", ""), ("\n", "\n")])
    other = rng.choice(["", "", "!", marks.one(space=False)])
    one = text(opened) + NAME + "{%- if c.function.arguments -%}" + text(before) + JSON + text(after)
    one += "{%- else -%}" + text(other) + "{%- endif -%}" + text(closed)
    return Calls("arguments left out", one)


def wrapped(rng: random.Random, marks: Markers) -> Calls:
    """Values are between texts that depend on their type, strings perhaps bare."""
    opened, closed = marks.pair(space=False)
    pairs = [marks.pair(space=False), marks.pair(space=False)]
    string, other = pairs if rng.random() < 0.75 else (("", ""), pairs[1])
    value = "{%- if v is string -%}" + text(string[0]) + "{{- v -}}" + text(string[1])
    value += "{%- else -%}" + text(other[0]) + VALUE + text(other[1]) + "{%- endif -%}"
    start, end = rng.choice([("<p=", "</p>"), ("[", "]"), ("<p=", "")])
    pair = text(start) + KEY + text(">" if start == "<p=" else "] ") + value + text(end if string[0] or end else "</p>")
    return Calls("wrapper by type, of any kind", text(opened) + NAME + text("|") + each(pair) + text(closed))


SHAPED: tuple[Callable[[random.Random, Markers], Calls], ...] = (counted, left_out, wrapped)
