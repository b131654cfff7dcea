"""Ways to write calls whose delimiters also occur elsewhere; each like those of wild_calls.

"separator without arguments"  →  <vok>look|q="a"|n=1</vok>, and <vok>look|</vok>
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_markers import Markers
from tests.property.wild_calls import JSON, KEY, NAME, RAW, VALUE, Calls, each, text


def separator_without_arguments(rng: random.Random, marks: Markers) -> Calls:
    """What separates two arguments also ends the name, with arguments and without."""
    opened, closed = marks.pair(space=False)
    between = rng.choice(["|", ";", marks.one(space=False), " & "])
    value = rng.choice([VALUE, RAW]) if len(between) > 1 else VALUE
    pair = KEY + text(rng.choice(["=", ": ", "<=>"])) + value
    return Calls(
        "separator without arguments", text(opened) + NAME + text(between) + each(pair, between) + text(closed)
    )


def values_up_to_a_word(rng: random.Random, marks: Markers) -> Calls:
    """Write values up to a line with a word: `q <<END`, the lines, `END`."""
    opened, closed = marks.pair(space=False)
    word = rng.choice(["EOT", "END", "TEXT"])
    pair = KEY + text(f" <<{word}\n") + RAW + text(f"\n{word}\n")
    return Calls("values up to a word", text(opened) + NAME + text("\n") + each(pair) + text(closed))


def words_around_calls(rng: random.Random, marks: Markers) -> Calls:
    """A sentence holds the call: "Invoking `look` with `{}`."."""
    verb, joint = rng.choice([("Invoking", "with"), ("I call", "on"), ("Using tool", "and")])
    one = text(f"\n{verb} `") + NAME + text(f"` {joint} `") + JSON + text("`.")
    return Calls("words around calls", one)


def plain_closers(rng: random.Random, marks: Markers) -> Calls:
    """Words with a symbol open and close calls: `CALL|look|q=a|ENDCALL|`."""
    symbol, word = rng.choice("|#~"), marks.word().upper()
    pairs = each(KEY + text("=") + RAW + text(symbol)) if rng.random() < 0.6 else JSON
    return Calls("plain closers", text(f"{word}{symbol}") + NAME + text(symbol) + pairs + text(f"END{word}{symbol}"))


def terminated_pairs(rng: random.Random, marks: Markers) -> Calls:
    """Each pair ends with a terminator, and nothing opens it."""
    opened, closed = marks.pair(space=False)
    last = rng.choice(["<,>", "<;>", "<br>", marks.one(space=False)])
    pair = KEY + text("<is>") + RAW + text(last)
    return Calls("terminated pairs", text(opened) + NAME + text("<in>") + each(pair) + text(closed))


def type_around_pairs(rng: random.Random, marks: Markers) -> Calls:
    """The element of an argument is named by its value's type: `<str n="q">a</str>`."""
    opened, closed = marks.pair(space=False)
    word = "{{- ('str' if v is string else 'json') -}}"
    pair = text("<") + word + text(' n="') + KEY + text('">') + RAW + text("</") + word + text(">")
    return Calls("type around pairs", text(opened) + NAME + text(">") + each(pair) + text(closed))


DELIMITED: tuple[Callable[[random.Random, Markers], Calls], ...] = (
    separator_without_arguments,
    values_up_to_a_word,
    words_around_calls,
    plain_closers,
    terminated_pairs,
    type_around_pairs,
)
