"""How are the arguments of a call written?

{"k": "v"} → `<p k>v</p>`, two of them → `<p k>v</p>,<p l>w</p>`, none → ``
→  pairs: `<p ` key `>` value `</p>`, separator `,`
{"k": "v"} → `{'k': 'v'}` and a nested object looks the same
→  an object of the dialect
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tplc.errors import NotLearned
from tplc.ir.markers import common_prefix, common_suffix, without_space
from tplc.ir.nodes import (
    JSON_STYLE,
    Arguments,
    Dialect,
    Elements,
    Json,
    JsonType,
    Layout,
    ObjectArguments,
    PairArguments,
    Replaced,
    Slot,
    StringStyle,
    Text,
    TypeWord,
    ValueStyle,
)
from tplc.learn.align import Repetition, cut_left, cut_right, repetition
from tplc.learn.dialect import Position, in_list, in_object, indent_of, learn_style, learn_wrap, on_one_line
from tplc.learn.escapes import learn_escapes, learn_json_escapes, learn_literal_escapes, undoing
from tplc.learn.lines import learn_lines
from tplc.learn.probe import (
    Prober,
    Refusal,
    Setup,
    asks,
    assistant,
    key_of,
    name_of,
    own_id,
    sentinel_call,
    value_of,
)
from tplc.learn.turn import TurnFacts
from tplc.learn.wrappers import Wrappers, learn_wrappers
from tplc.messages import Call

# These stand for the sentinels of one kind in closing markers that repeat them.
NAME, ID, KEY = "zqname0token0x", "zqid0token0x", "zqkey0token0x"
INDEX, COUNT = "zqindex0token0x", "zqcount0token0x"
_TOKENS = {NAME: "name", ID: "id", KEY: "key", INDEX: "index", COUNT: "count"}
NAMED_BY: dict[str, str] = {kind: token for token, kind in _TOKENS.items()}
_INT = 7431
_STRING_OF_OBJECT = re.compile(r'"\{(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """What is around one argument's value: after its key (`lead`, and around a type word), and to the turn's end.

    `key_at` counts the key's occurrences before the value.  `quote` is what the text of a string is put between.
    """

    key_at: int
    lead: str
    type_close: str
    typed: bool
    rest: str
    quote: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ArgumentFacts:
    """`before` and `after` are what the layout of the call keeps of the text around the arguments; `opened` and
    `closed` surround a single (key value) inside them."""

    arguments: Arguments
    dialect: Dialect
    opened: str
    closed: str
    refused: tuple[str, ...]
    escapes: tuple[Replaced, ...] = ()


def call_turn(prober: Prober, turn: TurnFacts, setup: Setup, calls: Sequence[Call]) -> str | Refusal:
    """Return the text of a turn that contains these calls and nothing else."""
    tail = prober.tail([assistant(setup, calls=calls)], setup, calls=calls)
    if isinstance(tail, Refusal):
        return tail
    text = turn.turn_text(tail)
    return _STRING_OF_OBJECT.sub(_decoded, text) if setup.encoded else text


def _decoded(match: re.Match[str]) -> str:
    """Return a JSON string that contains an object, as that object."""
    try:
        text = json.loads(match.group())
        return text if isinstance(json.loads(text), dict) else match.group()
    except json.JSONDecodeError:
        return match.group()


def with_value(value: Json) -> Call:
    return Call(name_of(0), ((key_of(0), value),))


def learn_place(prober: Prober, turn: TurnFacts, setup: Setup) -> ValuePlace:
    """Return where a value is written, from a text and a number in one place."""
    sentinel = value_of(0, 0)
    string = call_turn(prober, turn, setup, [with_value(sentinel)])
    number = call_turn(prober, turn, setup, [with_value(_INT)])
    assert not isinstance(string, Refusal)  # call_setup saw it render
    at = string.index(sentinel)
    key_at = string.count(key_of(0), 0, at)
    before = string[string.rindex(key_of(0), 0, at) + len(key_of(0)) : at]
    after = string[at + len(sentinel) :]
    if isinstance(number, Refusal) or str(_INT) not in number or key_of(0) not in number:
        return ValuePlace(key_at, before, "", False, after, ("", ""))
    number_at = number.index(str(_INT))
    number_before = number[number.rindex(key_of(0), 0, number_at) + len(key_of(0)) : number_at]
    number_after = number[number_at + len(str(_INT)) :]
    rest = common_suffix(after, number_after)
    lead = common_prefix(before, number_before)
    quoted, bare = before[len(lead) :], number_before[len(lead) :]
    shared, quote = common_suffix(quoted, bare), ""
    if not shared and after[:1] == quoted[-1:] and not quoted[-1:].isalnum():
        quote = after[:1]  # a type word may come before a quote
        shared = common_suffix(quoted.removesuffix(quote), bare)
    if bare and quoted and shared:
        lead_end = len(lead)
        while lead_end and lead[lead_end - 1].isalnum():
            lead_end -= 1
        shared = shared.lstrip("".join(ch for ch in shared if ch.isalnum())) if shared[0].isalnum() else shared
        return ValuePlace(key_at, lead[:lead_end], shared, True, rest, (quote, after[: len(after) - len(rest)]))
    return ValuePlace(key_at, lead, "", False, rest, (quoted, after[: len(after) - len(rest)]))


def place_text(text: str, place: ValuePlace) -> tuple[str, str] | None:
    """Return (type word, value text) of the only argument in a call's turn; None if the pair is not there."""
    at = -1
    for _ in range(place.key_at):
        at = text.find(key_of(0), at + 1)
        if at < 0:
            return None
    inner = text[at + len(key_of(0)) :]
    if not inner.startswith(place.lead):
        return None
    if len(inner) < len(place.lead) + len(place.rest) or not inner.endswith(place.rest):
        return None
    inner = inner[len(place.lead) : len(inner) - len(place.rest)]
    if not place.typed:
        return "", inner
    word, found, value = inner.partition(place.type_close)
    return (word, value) if found else None


@asks("arguments", "How are the arguments of a call written?")
def learn_arguments(prober: Prober, turn: TurnFacts, setup: Setup) -> ArgumentFacts:
    return _lines(prober, turn, setup) or _object_or_pairs(prober, turn, setup)


def _lines(prober: Prober, turn: TurnFacts, setup: Setup) -> ArgumentFacts | None:
    """Return what is known of arguments that are indented lines; None if they are not."""

    def render(arguments: Mapping[str, Json]) -> str | None:
        text = call_turn(prober, turn, setup, [Call(name_of(0), tuple(arguments.items()))])
        return None if isinstance(text, Refusal) else text

    found = learn_lines(render)
    if found is None:
        return None
    lines, style = found
    dialect = Dialect(top=style, in_list=style, in_object=style)
    opened = "\n" + " " * lines.first
    return ArgumentFacts(ObjectArguments(lines=lines), dialect, opened, "", _refused(prober, turn, setup))


def _object_or_pairs(prober: Prober, turn: TurnFacts, setup: Setup) -> ArgumentFacts:
    wrappers = _wrappers(prober, turn, setup)
    place = learn_place(prober, turn, setup) if wrappers is None else _place_of_wrapped(wrappers)
    written = _position(prober, turn, setup, place, wrappers)
    texts = _texts_by_count(prober, turn, setup)
    pairs = _repeated_pairs(texts, setup, place.quote[1])
    escapes = learn_escapes(written) or learn_literal_escapes(written)
    if pairs is not None and not escapes:
        escapes = learn_json_escapes(written, pairs.close.removeprefix(place.quote[1]))
    position = _unescaped(written, escapes)
    top = learn_style(position)
    styles = _nested_styles(position, top)
    if pairs is None or _is_object(pairs, place, top, position):
        style = _object_style(top, pairs, place)
        in_lists, in_objects, indent = styles
        dialect = Dialect(top=style, in_list=in_lists, in_object=style, indent=indent)
        opened = style.object_open + style.key_open
        whole = ObjectArguments(encoded=setup.encoded)
        return ArgumentFacts(whole, dialect, opened, style.object_close, _refused(prober, turn, setup))
    layout = _pair_layout(pairs, place, wrappers)
    elements = _elements(position, layout, pairs) if wrappers is None else None
    in_lists, in_objects, indent = styles
    if elements is not None:
        top = in_lists = in_objects = _elements_only(top)
    dialect = Dialect(
        top=top,
        in_list=in_lists,
        in_object=in_objects,
        elements=elements,
        wrap=None if top.strings or wrappers else learn_wrap(position),
        types=_type_words(prober, turn, setup, place) if wrappers is None else wrappers.words,
        indent=indent,
    )
    start, end, empty = _around(texts[0], pairs, setup, _slots_before(texts[1], setup))
    if not start and empty and empty == pairs.open:
        # It is written without arguments as well, so it opens no pair: it separates them.
        pairs, empty = replace(pairs, open="", separator=pairs.separator + empty), ""
        layout = layout[1:]
    if not (place.typed or wrappers):
        pairs, layout, end = _separated(pairs, layout, end, place.quote[1])
    arguments = PairArguments(start=start, pair=layout, separator=pairs.separator, end=end, empty=empty)
    closed = place.quote[1] * (wrappers is not None) + pairs.close.removeprefix(place.quote[1]) + end
    return ArgumentFacts(arguments, dialect, start + pairs.open, closed, _refused(prober, turn, setup), escapes)


def _unescaped(written: Position, escapes: Sequence[Replaced]) -> Position:
    """Return what is written for a value, with these escapes undone."""
    undone = undoing(escapes)

    def position(value: Json) -> str | None:
        text, slot = written(value), "string" if isinstance(value, str) else "literal"
        is_escaped = any(one.slot in ("value", slot) for one in escapes)
        return undone.unescape(text) if text is not None and is_escaped else text

    return position if escapes else written


def _separated(pairs: Repetition, layout: Layout, end: str, quote: str) -> tuple[Repetition, Layout, str]:
    """Return pairs that nothing opens with white space between them, if it is written after each: it follows the last
    one as well."""
    space = pairs.close.removeprefix(quote)
    if not space.isspace() or pairs.open or pairs.separator:
        return pairs, layout, end
    return replace(pairs, close=quote, separator=space), layout[:-1], space + end


def _position(prober: Prober, turn: TurnFacts, setup: Setup, place: ValuePlace, wrappers: Wrappers | None) -> Position:
    def written(value: Json) -> str | None:
        text = call_turn(prober, turn, setup, [with_value(value)])
        if wrappers is not None and wrappers.key_end:
            return None if isinstance(text, Refusal) else wrappers.value_of_pair(text, value, key_of(0))
        found = None if isinstance(text, Refusal) else place_text(text, place)
        if found is None or wrappers is None:
            return None if found is None else found[1]
        return wrappers.without(found[1], value)

    return written


def _wrappers(prober: Prober, turn: TurnFacts, setup: Setup) -> Wrappers | None:
    def render(value: Json) -> str | None:
        text = call_turn(prober, turn, setup, [with_value(value)])
        return text if isinstance(text, str) and key_of(0) in text else None

    return learn_wrappers(render, value_of(0, 0), key_of(0))


def _place_of_wrapped(wrappers: Wrappers) -> ValuePlace:
    before = wrappers.before
    if wrappers.key_end:
        return ValuePlace(1, wrappers.key_end, "", False, wrappers.after, wrappers.of("string"))
    lead = before[before.rindex(key_of(0)) + len(key_of(0)) :]
    return ValuePlace(before.count(key_of(0)), lead, "", False, wrappers.after, wrappers.of("string"))


def _nested_styles(position: Position, top: ValueStyle) -> tuple[ValueStyle, ValueStyle, int | None]:
    nested_list, nested_object = learn_style(in_list(position)), learn_style(in_object(position))
    if position([1]) is None:
        nested_list = JSON_STYLE
    if position({"zqka0x": 1}) is None:
        nested_object = JSON_STYLE
    return on_one_line(nested_list), on_one_line(nested_object), indent_of(top)


def _refused(prober: Prober, turn: TurnFacts, setup: Setup) -> tuple[str, ...]:
    values: tuple[tuple[str, Json], ...] = (
        ("integer", 7), ("number", 7.5), ("boolean", True), ("null", None), ("array", [1]), ("object", {"zqka0x": 1})
    )  # fmt: skip
    return tuple(
        kind for kind, value in values if isinstance(call_turn(prober, turn, setup, [with_value(value)]), Refusal)
    )


def _is_object(pairs: Repetition, place: ValuePlace, style: ValueStyle, position: Position) -> bool:
    """Return whether the arguments look as an object does that is a value itself, white space apart."""
    if position({"zqka0x": 71001, "zqkb0x": 71002}) is None:
        return pairs.start.rstrip().endswith("{") and place.lead.split() == ['":'] and place.quote[0].strip() == '"'
    before = without_space(pairs.start + pairs.open)
    between = without_space(pairs.close.removeprefix(place.quote[1]) + pairs.separator + pairs.open)
    after = without_space((pairs.close + pairs.end).removeprefix(place.quote[1]))
    return (
        before.endswith(without_space(style.object_open + style.key_open))
        and without_space(place.lead) == without_space(style.key_close + style.colon)
        and between == without_space(style.object_separator + style.key_open)
        and after.startswith(without_space(style.object_close))
        and bool(without_space(style.object_open))
        and KEY not in pairs.close + pairs.separator + pairs.end
        and not place.typed
    )


def _object_style(top: ValueStyle, pairs: Repetition | None, place: ValuePlace) -> ValueStyle:
    """Return the style of the arguments themselves: the spacing of their own separators where they show it."""
    style = on_one_line(top)
    if place.quote != ("", "") and not style.strings:
        return replace(style, strings=(StringStyle(*place.quote, "json"),))
    return style


def generalise(text: str, setup: Setup) -> str:
    """Return the text with all sentinels of a kind replaced by one."""
    for i in range(4):
        text = text.replace(key_of(i), KEY).replace(name_of(i), NAME)
        identifier = own_id(i, setup)
        if identifier:
            text = text.replace(identifier, ID)
    return text


def _repeated_pairs(texts: Sequence[str | Refusal], setup: Setup, quote: str) -> Repetition | None:
    """Split the call of two arguments around its pairs; None when it has none of its own (refused).  `quote` is what
    closes a text: it is a value's, so nothing is cut inside it."""
    for count in (3, 2):
        text = texts[count]
        first_value, second_value = value_of(0, count - 2), value_of(0, count - 1)
        if isinstance(text, Refusal) or not all(part in text for part in (key_of(0), first_value, second_value)):
            continue
        if key_of(count - 1) not in text.partition(first_value)[2]:
            continue
        at_key = text.index(key_of(0))
        slot_end = max((text.rindex(s, 0, at_key) + len(s) for s in _outer(setup) if s in text[:at_key]), default=0)
        pre = text[slot_end:at_key]
        mid = text[text.index(first_value) + len(first_value) : _key_index(text, first_value, count - 1)]
        post = text[text.index(second_value) + len(second_value) :]
        stop = min((post.index(s) for s in _outer(setup) if s in post), default=len(post))
        quote = quote if mid.startswith(quote) and post.startswith(quote) else ""
        mid, post = mid[len(quote) :], post[len(quote) : max(stop, len(quote))]
        split = repetition(generalise(pre, setup), generalise(mid, setup), generalise(post, setup))
        return replace(split, close=quote + split.close)
    return None


def _texts_by_count(prober: Prober, turn: TurnFacts, setup: Setup) -> list[str | Refusal]:
    """Return the turns of calls of no, one, two and three arguments.  Raises NotLearned if they hold no pairs of keys
    and values."""
    texts = [call_turn(prober, turn, setup, [sentinel_call(0, count)]) for count in range(4)]
    if why := next(filter(None, map(_disorder, texts[2:])), ""):
        raise NotLearned(prober.renderer.name, why)
    return texts


def _disorder(text: str | Refusal) -> str:
    """Return why pairs of keys and values can't be found in a call of two arguments or more; "" if they can."""
    sought = [part for at in (0, 1) for part in (key_of(at), value_of(0, at))]
    if isinstance(text, Refusal) or not all(part in text for part in sought):
        return ""
    first, second = (text.index(value_of(0, at)) for at in (0, 1))
    if second < first:
        return "the template writes arguments in another order than a message has"
    return "" if key_of(1) in text[first:second] else "no key is written between the values of two arguments"


def _slots_before(one: str | Refusal, setup: Setup) -> int:
    """Return how many names and ids precede the arguments."""
    if isinstance(one, Refusal):
        return 1
    return len(re.findall(f"{NAME}|{ID}", generalise(one[: one.index(key_of(0))], setup)))


def _key_index(text: str, value: str, argument: int) -> int:
    return text.index(key_of(argument), text.index(value))


def _outer(setup: Setup) -> list[str]:
    identifier = own_id(0, setup)
    return [name_of(0), *([identifier] if identifier else [])]


def _pair_layout(pairs: Repetition, place: ValuePlace, wrappers: Wrappers | None) -> Layout:
    around_key = wrappers is not None and wrappers.key_end != ""
    opened = pairs.open.removesuffix(place.quote[0]) if around_key else pairs.open
    items: list[Text | Slot] = [*text_items(opened), Slot("key"), *text_items(place.lead)]
    if around_key:
        items.insert(-1 - len(text_items(place.lead)), Slot("type"))
    if place.typed:
        items += [Slot("type"), *text_items(place.type_close)]
    if wrappers is not None and not around_key:
        items.append(Slot("type"))
    items += [Slot("value"), *text_items(pairs.close.removeprefix(place.quote[1]))]
    return tuple(items)


def text_items(text: str) -> list[Text | Slot]:
    """Return literal text with the stand-ins of repeated slots in it."""
    parts = re.split("(" + "|".join(_TOKENS) + ")", text)
    return [Slot(_TOKENS[part]) if part in _TOKENS else Text(part) for part in parts if part]  # type: ignore[arg-type]


def merged(items: Sequence[Text | Slot]) -> Layout:
    """Return a layout of the items, with neighbouring texts joined and empty ones left out."""
    layout: list[Text | Slot] = []
    for item in items:
        if isinstance(item, Text) and layout and isinstance(layout[-1], Text):
            layout[-1] = Text(layout[-1].text + item.text)
        elif not isinstance(item, Text) or item.text:
            layout.append(item)
    return tuple(layout)


def _elements(position: Position, layout: Layout, pairs: Repetition) -> Elements | None:
    """Return the layout of nested elements if a nested object is written as pairs of the same layout; otherwise
    None."""
    text = position({"zqka0x": 71001, "zqkb0x": 71002})
    if text is None or len(layout) < 3:
        return None

    def pair(key: str, value: str) -> str:
        filled = {"key": key, "value": value, "type": ""}
        return "".join(item.text if isinstance(item, Text) else filled.get(item.kind, "") for item in layout)

    one, two = pair("zqka0x", "71001"), pair("zqkb0x", "71002")
    if one not in text or two not in text:
        return None
    if text.replace(one, "", 1).replace(two, "", 1).strip() not in ("", pairs.separator.strip()):
        return None  # an object has delimiters of its own
    items = position([71001, 71002])
    if items is None or "71001" not in items or "71002" not in items:
        return None
    before = items[: items.index("71001")]
    middle = items[items.index("71001") + 5 : items.index("71002")]
    after = items[items.index("71002") + 5 :]
    split = repetition(before, middle, after)
    return Elements(split.open, split.close)


def _elements_only(style: ValueStyle) -> ValueStyle:
    """Return the style without delimiters of its own for nested values."""
    return replace(
        style,
        list_open="",
        list_separator="",
        list_close="",
        object_open="",
        key_open="",
        key_close="",
        colon="",
        object_separator="",
        object_close="",
    )


def _type_words(prober: Prober, turn: TurnFacts, setup: Setup, place: ValuePlace) -> tuple[TypeWord, ...]:
    if not place.typed:
        return ()
    samples: tuple[tuple[JsonType, Json], ...] = (
        ("string", "zqs0x"), ("integer", 7), ("number", 7.5), ("boolean", True), ("null", None), ("array", [1]),
        ("object", {"zqka0x": 1}),
    )  # fmt: skip
    words = []
    for kind, sample in samples:
        text = call_turn(prober, turn, setup, [with_value(sample)])
        found = None if isinstance(text, Refusal) else place_text(text, place)
        if found is not None:
            words.append(TypeWord(kind, found[0]))
    return tuple(words)


def _around_slots(text: str, before: int) -> str:
    """Return the text in place of the arguments of a call without any, after `before` names and ids."""
    slots = [match.span() for match in re.finditer(f"{NAME}|{ID}", text)]
    begin = slots[before - 1][1] if before else 0
    return text[begin : slots[before][0]] if before < len(slots) else text[begin:]


def _around(none: str | Refusal, pairs: Repetition, setup: Setup, before: int) -> tuple[str, str, str]:
    """Return start, end and empty of the arguments. Text that a call has with and without arguments belongs to the
    call."""
    if isinstance(none, Refusal) or name_of(0) not in none:
        return "", "", ""
    text = generalise(none, setup)
    pre, post = pairs.start, pairs.end
    bare = _around_slots(text, before)
    kept = cut_left(pre, len(common_prefix(bare, pre)))
    rest = bare[kept:]
    tail = common_suffix(rest, post)
    closing = post[: cut_right(post, len(post) - len(tail))]
    return pre[kept:], closing, rest[: len(rest) - (len(post) - len(closing))] if len(post) > len(closing) else rest
