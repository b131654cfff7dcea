"""What a chat template of random design writes, as data: markers, layout, values, the shape of a turn.

A design is complete: `random_source` makes the template of it, `random_messages` the text of any message.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from tests.property.random_markers import Markers

Slot = Literal["name", "id", "index", "arguments", "key", "type", "value"]
Item = str | tuple[Slot]  # literal text, or a slot
Nested = Literal["json", "python", "custom", "elements"]
Prompt = Literal["bare", "opened", "closed", "opened_on", "closed_off", "opened_or_closed", "closed_or_opened"]
Shown = Literal["always", "last_turn", "with_calls", "never"]
Parallel = Literal["yes", "raises", "first_only"]
NextTo = Literal["before", "after", "dropped"]

NAME: Item = ("name",)
ID: Item = ("id",)
INDEX: Item = ("index",)
ARGUMENTS: Item = ("arguments",)
KEY: Item = ("key",)
TYPE: Item = ("type",)
VALUE: Item = ("value",)


@dataclass(frozen=True, slots=True)
class Custom:
    """How one value is written between marks of the template's own."""

    quote: str
    unquote: str
    true: str
    false: str
    null: str
    list_open: str
    list_separator: str
    list_close: str
    object_open: str
    key_open: str
    key_close: str
    colon: str
    object_separator: str
    object_close: str


@dataclass(frozen=True, slots=True)
class Values:
    """How values are written.  `raw`: text at the top of a pair stands bare.  `types`: the words of a type slot, for
    text and for everything else ("flag"), or one for each JSON type ("word")."""

    nested: Nested
    raw: bool = False
    ascii: bool = False
    indent: int | None = None
    compact: bool = False
    custom: Custom | None = None
    item: tuple[str, str] = ("", "")
    types: Literal["none", "flag", "word"] = "none"
    wrap: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Pairs:
    start: str
    pair: tuple[Item, ...]
    separator: str
    end: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a call object: its path, and the slot or constant text that it holds."""

    path: tuple[str, ...]
    value: Item


@dataclass(frozen=True, slots=True)
class Calls:
    """`members` are set when a call is one object (`prefix` object `suffix`), else `layout`."""

    family: str
    section_start: str
    separator: str
    section_end: str
    values: Values
    layout: tuple[Item, ...] = ()
    prefix: str = ""
    suffix: str = ""
    members: tuple[Member, ...] = ()
    name_is_key: bool = False
    pairs: Pairs | None = None
    index_base: int = 0
    id_length: int = 0  # the template refuses ids of another length; 0: any
    parallel: Parallel = "yes"
    text_arguments: Literal["refused", "passed"] = "refused"


@dataclass(frozen=True, slots=True)
class Reasoning:
    key: str  # "" : no message carries it; "part:KIND": a content part
    start: str
    end: str
    shown: Shown
    empty: bool  # the markers are written also when there is no reasoning


@dataclass(frozen=True, slots=True)
class Switch:
    """The variable of the template that changes its prompt, and the value that does."""

    name: str
    on: object
    off: object


@dataclass(frozen=True, slots=True)
class Design:
    seed: int
    bos: str
    system: tuple[str, str]
    user: tuple[str, str]
    tool: tuple[str, str]
    header: str
    end: str
    call_end: str  # ends a turn with calls; equals `end` in most designs
    repeat_header: bool
    head: str  # the beginning of content or call that the prompt holds already
    prompt: Prompt
    switch: Switch | None
    reasoning: Reasoning | None
    content: tuple[str, str]
    wrapped: Literal["never", "always", "with_reasoning"]
    always_prompts: bool  # the generation prompt is appended whether asked for or not
    content_place: NextTo
    calls: Calls | None
    ambiguities: tuple[str, ...]  # no parser can distinguish two messages
    typing: tuple[str, ...]  # only the tool's schema distinguishes two values
    themes: tuple[str, ...]

    @property
    def summary(self) -> str:
        calls = self.calls
        parts = [
            f"seed {self.seed}",
            "+".join(self.themes),
            calls.family if calls else "no calls",
            f"values {_values(calls.values)}" if calls else "",
            f"parallel {calls.parallel}" if calls and calls.parallel != "yes" else "",
            f"reasoning {self.reasoning.key or 'unseen'} {self.reasoning.shown}" if self.reasoning else "",
            f"prompt {self.prompt}" if self.reasoning else "",
            f"content {self.wrapped} wrapped" if self.wrapped != "never" else "",
            f"content {self.content_place} calls" if calls and self.content_place != "before" else "",
            "prompt always appended" if self.always_prompts else "",
            "header repeated" if self.repeat_header else "",
            "no end marker" if not self.end and not self.repeat_header else "",
            f"ambiguous: {', '.join(self.ambiguities)}" if self.ambiguities else "",
        ]
        return "; ".join(part for part in parts if part)


def _values(values: Values) -> str:
    words = ["raw +" if values.raw else "", values.nested, "ascii" if values.ascii else ""]
    words += [f"indent {values.indent}" if values.indent else "", values.types if values.types != "none" else ""]
    return " ".join(word for word in words if word)


def random_design(seed: int) -> Design:
    rng = random.Random(f"template {seed}")
    markers = Markers(rng)
    ambiguity = rng.choice(_AMBIGUITIES) if rng.random() < 0.12 else ""
    shape = rng.choice(["plain"] * 6 + ["channels", "recipients"])
    if ambiguity:
        shape = "plain"
    user, system, tool = (markers.pair() for _ in range(3))
    header, end = markers.pair()
    if shape == "plain" and not ambiguity and rng.random() < 0.12:
        end = ""
        # What ends the turn is then the next header, and it must say so by itself.
        user, tool = (markers.one(), ""), (markers.one(), "")
        header = markers.one()
    reasoning = _reasoning(rng, markers, ambiguity, shape)
    prompt = _prompt(rng, reasoning)
    wrapped, content = _content(rng, markers, shape, reasoning)
    calls = _calls(rng, markers, ambiguity, shape, content)
    if reasoning and reasoning.shown == "with_calls" and calls is None:
        reasoning = None
        prompt = "bare"
    if reasoning and end and rng.random() < 0.1 and not ambiguity:
        end = markers.around(reasoning.end) + rng.choice(["", "\n"])
    call_end = markers.one() if calls and end and rng.random() < 0.15 else end
    content_place: NextTo = "before"
    if calls:
        content_place = rng.choice(["before"] * 5 + ["dropped", "after"])
        if shape != "plain" or calls.family.startswith("bare"):
            content_place = "before" if shape != "plain" else "dropped"
        # After a call that nothing closes, text would have no beginning.
        if content_place == "after" and (wrapped == "never" and not calls.section_end.strip() and not _closed(calls)):
            content_place = "before"
    head = ""
    if shape == "recipients":
        head = _common_prefix(content[0], _first_text(calls)) if calls else ""
        if head == content[0]:
            head = ""
    return Design(
        seed=seed,
        bos=markers.one() if rng.random() < 0.3 else "",
        system=system,
        user=user,
        tool=tool,
        header=header,
        end=end,
        call_end=call_end,
        repeat_header=shape == "channels",
        head=head,
        prompt=prompt,
        switch=_switch(rng, markers) if prompt not in ("bare", "opened", "closed") else None,
        reasoning=reasoning,
        content=content,
        wrapped=wrapped,
        always_prompts=prompt == "bare" and not head and shape == "plain" and rng.random() < 0.06,
        content_place=content_place,
        calls=calls,
        ambiguities=(ambiguity,) if ambiguity else (),
        typing=_typing(calls),
        themes=tuple(markers.themes),
    )


_AMBIGUITIES = [
    "name runs into arguments",  # <call>NAMEkey=value;
    "bare text between commas",  # NAME(a=one, two, b=three)
    "quotes not escaped",  # NAME(a='it's', b='x')
    "reasoning runs into content",  # nothing between them
    "reasoning ends with a blank line",  # and so does a paragraph of it
]

_KEYS = ["reasoning_content", "reasoning", "thinking", "reasoning_content", "part:thinking", "part:reasoning"]


def _reasoning(rng: random.Random, markers: Markers, ambiguity: str, shape: str) -> Reasoning | None:
    if ambiguity.startswith("reasoning"):
        end = "\n\n" if "blank line" in ambiguity else ""
        return Reasoning("reasoning_content", "", end, "always", empty=False)
    if shape == "recipients" or (rng.random() < 0.35 and shape == "plain"):
        return None
    start, end = markers.pair()
    key = rng.choice([*_KEYS, markers.word()])
    shown: Shown = rng.choice(["always", "always", "always", "last_turn", "with_calls", "never"])
    if shape == "channels":
        shown = rng.choice(["always", "last_turn"])
    if shown == "never":
        # The prompt opens it and past turns are stripped of it: the end is a bare constant in the template.
        return Reasoning("", start, end.strip(), "never", empty=False)
    return Reasoning(key, start, end, shown, empty=shape == "plain" and shown == "always" and rng.random() < 0.15)


def _prompt(rng: random.Random, reasoning: Reasoning | None) -> Prompt:
    if reasoning is None or not reasoning.start:
        return "bare"
    if reasoning.shown == "never":
        return rng.choice(["opened", "opened_or_closed", "closed_or_opened", "opened_on"])
    return rng.choice(
        ["bare", "bare", "opened", "closed", "opened_on", "closed_off", "opened_or_closed", "closed_or_opened"]
    )


def _switch(rng: random.Random, markers: Markers) -> Switch:
    on, off = rng.choice([(True, False), ("on", "off"), ("deep", "none"), ("enabled", "disabled"), (1, 0)])
    return Switch(f"{markers.word()}_{rng.choice(['mode', 'thinking', 'depth'])}", on, off)


def _content(
    rng: random.Random, markers: Markers, shape: str, reasoning: Reasoning | None
) -> tuple[Literal["never", "always", "with_reasoning"], tuple[str, str]]:
    if shape == "channels":
        return "always", markers.pair()
    if shape == "recipients":
        # The mark before the word is what content and calls share.
        return "always", (markers.one(space=False) + ">" + markers.word() + "\n", "")
    choice = rng.random()
    if choice < 0.15:
        return "always", markers.pair()
    if choice < 0.25 and reasoning and reasoning.shown == "always" and reasoning.start and not reasoning.empty:
        return "with_reasoning", markers.pair()
    return "never", ("", "")


# The calls.


def _calls(rng: random.Random, markers: Markers, ambiguity: str, shape: str, content: tuple[str, str]) -> Calls | None:
    if ambiguity == "name runs into arguments":
        pairs = Pairs("", (KEY, "=", VALUE, ";"), "", "")
        opening, closing = markers.pair()
        return Calls("run together", "", "", "", Values("json"), (opening, NAME, ARGUMENTS, closing), pairs=pairs)
    if ambiguity in ("bare text between commas", "quotes not escaped"):
        quote = "'" if ambiguity.startswith("quotes") else ""
        pairs = Pairs("(", (KEY, "=", VALUE), ", ", ")")
        opening, closing = markers.pair()
        values = Values("custom", custom=_python_like(quote))
        return Calls("keywords", opening, ", ", closing, values, (NAME, ARGUMENTS), pairs=pairs)
    if ambiguity and rng.random() < 0.5:
        return None
    if shape == "channels":
        return _in_header(rng, markers)
    if shape == "recipients":
        opening = _recipient(content[0])
        return Calls("recipients", "", "", "", _json(rng, compact=False), (opening, NAME, "\n", ARGUMENTS))
    if rng.random() < 0.1:
        return None
    family = rng.choice(list(_FAMILIES))
    return _FAMILIES[family](rng, markers)


def _recipient(content_start: str) -> str:
    r"""Return the opening that content and calls share: `=>everyone\n` → `=>`."""
    return content_start[: content_start.rindex(">") + 1]


def _parallel(rng: random.Random) -> Parallel:
    return rng.choice(["yes"] * 8 + ["raises", "first_only"])


def _json(rng: random.Random, *, compact: bool = True) -> Values:
    return Values("json", ascii=rng.random() < 0.2, compact=compact and rng.random() < 0.2)


def _any_object_values(rng: random.Random) -> Values:
    choice = rng.random()
    if choice < 0.6:
        return _json(rng)
    if choice < 0.75:
        return Values("json", indent=rng.choice([2, 4]))
    return Values("python")


def _section(rng: random.Random, markers: Markers) -> tuple[str, str, str]:
    if rng.random() < 0.5:
        start, end = markers.pair()
        return start, rng.choice(["", "\n", ", "]), end
    return "", rng.choice(["", "\n"]), ""


def _array(rng: random.Random, markers: Markers, *, marked: bool) -> tuple[str, str, str]:
    separator = rng.choice([", ", ",", ",\n"])
    if not marked:
        return "[", separator, "]"
    opening, closing = markers.pair()
    if rng.random() < 0.3:
        closing = ""
    return f"{opening}[", separator, f"]{closing}"


def _members(rng: random.Random, *, ids: bool) -> tuple[Member, ...]:
    outer = rng.choice([(), (), ("function",)])
    name, arguments = rng.choice([("name", "arguments"), ("name", "parameters"), ("tool", "input"), ("fn", "args")])
    members = [Member((*outer, name), NAME), Member((*outer, arguments), ARGUMENTS)]
    if rng.random() < 0.25:
        members.reverse()
    if ids:
        members.insert(rng.choice([0, len(members)]) if not outer else 0, Member(("id",), ID))
    if rng.random() < 0.2:
        members.insert(0, Member(("kind",), rng.choice(["function", "call"])))
    return tuple(members)


def _object(rng: random.Random, markers: Markers) -> Calls:
    start, separator, end = _section(rng, markers)
    prefix, suffix = markers.pair()
    ids = rng.random() < 0.25
    return Calls(
        "tagged object",
        start,
        separator,
        end,
        _any_object_values(rng),
        prefix=prefix,
        suffix=suffix,
        members=_members(rng, ids=ids),
        id_length=rng.choice([9, 9, 12]) if ids and rng.random() < 0.4 else 0,
        parallel=_parallel(rng),
    )


def _object_array(rng: random.Random, markers: Markers) -> Calls:
    ids = rng.random() < 0.3
    return Calls(
        "object array",
        *_array(rng, markers, marked=True),
        _any_object_values(rng),
        members=_members(rng, ids=ids),
        parallel=_parallel(rng),
    )


def _bare_object(rng: random.Random, markers: Markers) -> Calls:
    return Calls("bare object", "", ",", "", _json(rng), members=_members(rng, ids=False), parallel="raises")


def _bare_array(rng: random.Random, markers: Markers) -> Calls:
    array = _array(rng, markers, marked=False)
    return Calls("bare array", *array, _json(rng), members=_members(rng, ids=False))


def _name_as_key(rng: random.Random, markers: Markers) -> Calls:
    return Calls("name as key", *_array(rng, markers, marked=True), _any_object_values(rng), name_is_key=True)


def _name_then_object(rng: random.Random, markers: Markers) -> Calls:
    """Write name, arguments, and perhaps an id, a counter, or the name once more, between markers."""
    start, separator, end = _section(rng, markers)
    opening, closing = markers.pair()
    layout: list[Item] = [opening, NAME, markers.one(), ARGUMENTS, closing]
    extra = rng.random()
    if extra < 0.15:
        layout[3:3] = [ID, markers.one()]
    elif extra < 0.25:
        layout[1:1] = [ID, markers.one()]
    elif extra < 0.32:
        layout[4:4] = [markers.one(), ID]
    elif extra < 0.45:
        layout[2:2] = [":", INDEX]
        if rng.random() < 0.5:
            layout[1:1] = [markers.word() + "."]
    elif extra < 0.55:
        layout[4:] = [markers.one(space=False), NAME, closing.lstrip()]
    elif extra < 0.65:
        layout[1:1] = [f"{markers.word()} "]
    elif extra < 0.75 and not start.strip():
        layout.pop()  # only what comes next closes a call
    return Calls(
        "name then object",
        start,
        separator,
        end,
        _any_object_values(rng) if rng.random() < 0.8 else Values("custom", custom=_custom(rng, markers)),
        tuple(layout),
        index_base=rng.choice([0, 1]),
        parallel=_parallel(rng),
        text_arguments="passed" if rng.random() < 0.3 else "refused",
    )


def _in_header(rng: random.Random, markers: Markers) -> Calls:
    """Write `<to>functions.NAME<body>{…}<call>` after the repeated header."""
    opening, closing = markers.pair()
    prefix = rng.choice(["", f"{markers.word()}."])
    layout = (opening + prefix, NAME, markers.one(), ARGUMENTS, closing)
    return Calls("channels", "", "", "", _json(rng), layout)


def _pairs(rng: random.Random, markers: Markers) -> Calls:
    """Write each argument between markers of its own; text is bare."""
    start, separator, end = _section(rng, markers)
    opening, closing = markers.pair()
    types = rng.choice(["none", "none", "none", "flag", "word"])
    space = rng.choice(["", "\n"])
    word = markers.word()
    left, right = rng.choice([("<", ">"), ("[", "]"), ("⟨", "⟩")])
    markers.reserve(f"{left}{word}", f"{left}/{word}")
    if types != "none":
        pair = (f'{left}{word} n="', KEY, '" t="', TYPE, f'"{right}', VALUE, f"{left}/{word}{right}{space}")
    else:
        key_open, key_close = markers.pair()
        value_open, value_close = markers.pair()
        pair = rng.choice(
            [
                (f"{left}{word}=", KEY, right + space, VALUE, f"{space}{left}/{word}{right}{space}"),
                (f'{left}{word} name="', KEY, f'"{right}', VALUE, f"{left}/{word}{right}{space}"),
                (key_open, KEY, key_close + value_open, VALUE, value_close),
                (key_open, KEY, value_open, VALUE, f"{left}/{word}:", KEY, right + space),
            ]
        )
    nested: Nested = rng.choice(["json", "json", "python"])
    wrap = (f"<!{markers.word()}[", "]!>") if types == "none" and rng.random() < 0.15 else ("", "")
    first = rng.choice([markers.one(), f"{right}{space}"])
    name_open = f"{opening}{left}" if first == f"{right}{space}" else opening
    return Calls(
        "pairs",
        start,
        separator,
        end,
        Values(nested, raw=True, types=types, wrap=wrap),
        (name_open, NAME, first, ARGUMENTS, closing),
        pairs=Pairs("", pair, rng.choice(["", "", "\n"]) if not space else "", ""),
        parallel=_parallel(rng),
    )


def _elements(rng: random.Random, markers: Markers) -> Calls:
    start, separator, end = _section(rng, markers)
    opening, closing = markers.pair()
    mark = rng.choice(["", "^", "§", "¬]"])
    word = markers.word()
    pair = (f"{mark}<", KEY, ">", VALUE, f"{mark}</", KEY, ">")
    markers.reserve(f"{mark}<{word}>", f"{mark}</{word}>")
    values = Values("elements", raw=True, item=(f"{mark}<{word}>", f"{mark}</{word}>"))
    layout = (opening, NAME, markers.one(), ARGUMENTS, closing)
    return Calls("elements", start, separator, end, values, layout, pairs=Pairs("", pair, "", ""))


def _delimited(rng: random.Random, markers: Markers) -> Calls:
    start, separator, end = _section(rng, markers)
    opening, closing = markers.pair(space=False)
    values = Values("custom", custom=_custom(rng, markers))
    return Calls("delimited", start, separator, end, values, (opening, NAME, ARGUMENTS, closing))


def _keywords(rng: random.Random, markers: Markers) -> Calls:
    opening, closing = markers.pair()
    values = rng.choice([Values("python"), Values("json"), Values("custom", custom=_custom(rng, markers))])
    pairs = Pairs("(", (KEY, "=", VALUE), ", ", ")")
    array = (f"{opening}[", ", ", f"]{closing}")
    section = rng.choice([array, (opening, "\n", closing), ("", "", "")])
    layout: tuple[Item, ...] = (NAME, ARGUMENTS)
    if section == ("", "", ""):
        layout = (opening.rstrip(), NAME, ARGUMENTS, closing)
    return Calls("keywords", *section, values, layout, pairs=pairs, parallel=_parallel(rng))


def _bare_keywords(rng: random.Random, markers: Markers) -> Calls:
    pairs = Pairs("(", (KEY, "=", VALUE), ", ", ")")
    values = rng.choice([Values("python"), Values("json")])
    return Calls("bare keywords", "[", ", ", "]", values, (NAME, ARGUMENTS), pairs=pairs)


_FAMILIES = {
    "object": _object,
    "object array": _object_array,
    "bare object": _bare_object,
    "bare array": _bare_array,
    "name as key": _name_as_key,
    "name then object": _name_then_object,
    "pairs": _pairs,
    "elements": _elements,
    "delimited": _delimited,
    "keywords": _keywords,
    "bare keywords": _bare_keywords,
}


def _custom(rng: random.Random, markers: Markers) -> Custom:
    quote, unquote = markers.pair(space=False)
    true, false, null = rng.choice(
        [("true", "false", "null"), ("yes", "no", "nil"), ("True", "False", "None"), ("true", "false", "None")]
    )
    comma = rng.choice([",", ", "])
    key = rng.choice([("", ""), ("", ""), (quote, unquote)])
    colon = rng.choice([":", ": ", "="])
    return Custom(quote, unquote, true, false, null, "[", comma, "]", "{", *key, colon, comma, "}")


def _python_like(quote: str) -> Custom:
    return Custom(quote, quote, "True", "False", "None", "[", ", ", "]", "{", quote, quote, ": ", ", ", "}")


def _typing(calls: Calls | None) -> tuple[str, ...]:
    if calls is None:
        return ()
    found = []
    if calls.values.raw and calls.values.types == "none":
        found.append("text or number")
    if calls.values.nested == "elements":
        found += ["null is left out", "empty text, list or object"]
    return tuple(found)


def _closed(calls: Calls) -> bool:
    last = calls.suffix if calls.members else calls.layout[-1] if calls.layout else ""
    return isinstance(last, str) and bool(last.strip())


def _first_text(calls: Calls) -> str:
    first = calls.layout[0] if calls.layout else ""
    return calls.section_start + (first if isinstance(first, str) else "")


def _common_prefix(one: str, two: str) -> str:
    size = 0
    while size < min(len(one), len(two)) and one[size] == two[size]:
        size += 1
    return one[:size]
