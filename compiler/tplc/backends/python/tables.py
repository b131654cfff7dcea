"""Print the markers that the states of a parser search for: the body of its class, below the rules of its states.

Acceptor(reasoning_starts=("<reason>",), …)
→
    # content = (text | REASONING_START reasoning | …)*
    IN_CONTENT = Scanner(("reasoning", "<reason>", "", "", 0), …, find=r"<(?:(reason>)|…)", …)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from tplc.backends.python.literals import (
    Bracketed,
    Expression,
    assignment,
    called,
    literal,
    mapping,
    raw,
    texts,
)
from tplc.backends.python.turn_states import SCANNERS, flags_after_calls, flags_of_turn
from tplc.ir.markers import without_space
from tplc.ir.nodes import Text
from tplc.ir.spellings import JSON_PUNCTUATION, Spelling
from tplc.lower import Acceptor, CallForm, Following, Marker, PairForm, SlotEnd
from tplc.lower.bounds import CALL_NAME
from tplc.lower.call_form import CallStep, TypeWrap
from tplc.lower.following import (
    after_quoted,
    any_key,
    closer_before_end,
    closes_call,
    name_of_call,
    pattern_of,
    start_of,
)
from tplc.lower.garbled import garbled_closers
from tplc.lower.garbled_values import garbled_end_of_value
from tplc.lower.lexemes import MAX_INNER_SPACE, NOTHING, Lexemes, is_wordless, lexemes_of, plain_word
from tplc.lower.markerlike import damaged_arguments, end_of_cut_values, marker_like_texts, own_fields, own_keys
from tplc.lower.pairs import (
    around_key,
    between_pairs,
    closes_lost_value,
    ends_of_value,
    next_pairs,
    value_ends_and_markers,
    value_opener,
)
from tplc.lower.states import (
    StateName,
    TurnState,
    respelled_kinds,
    states,
    texts_at,
)
from tplc_runtime.lexemes import lexemes_of as runtime_lexemes_of
from tplc_runtime.scanner import SHORTENED
from tplc_runtime.turn import SPACE_SEPARATOR

INDENT = 4


def marker_groups(facts: Acceptor) -> dict[str, Sequence[str]]:
    """Return the format's markers, by their names in rules."""
    groups: dict[str, Sequence[str]] = {
        "TURN_START": facts.headers,
        "TURN_END": facts.ends,
        "OUTPUT_END": facts.last_ends,
        "REASONING_START": _texts_of(facts.reasoning_starts),
        "REASONING_END": facts.reasoning_ends,
        "CONTENT_START": _texts_of(facts.content_starts),
        "CONTENT_END": facts.distinctive_content_ends,
        "WEAK_CONTENT_END": facts.weak_content_ends,
    }
    calls = facts.calls
    if calls is not None:
        groups |= {
            "CALL_START": calls.opening.openers,
            "ORDINARY_CALL_START": calls.opening.ordinary,
            "NEXT_CALL_START": calls.opening.inner,
            "CALL_SEPARATOR": calls.closing.separators,
        }
        groups |= {name: slot.suffixes for slot, name in named_ends(calls.header)}
        groups |= {"CALL_END": calls.closing.closers, "EMPTY_CALL": calls.empty}
        if calls.tail is not None:
            groups["TAIL_START"] = (calls.tail[0],)
            groups |= {f"{slot.kind.upper()}_AGAIN_END": slot.suffixes for slot in calls.tail[1]}
        if calls.pairs is not None:
            groups |= _groups_of_pairs(calls.pairs)
    groups["IGNORABLE_CLOSER"] = texts_at(facts.ignorable_closers, "anywhere")
    return {name: items for name, items in groups.items() if items}


def _groups_of_pairs(pairs: PairForm) -> dict[str, Sequence[str]]:
    groups: dict[str, Sequence[str]] = {"PAIR_START": pairs.opens}
    groups |= {f"{slot.kind.upper()}_END": slot.suffixes for slot in pairs.slots}
    if pairs.value_end.around_key is not None:
        groups["VALUE_END_AROUND_KEY"] = pairs.value_end.around_key
    elif not pairs.value.guessed:
        groups["VALUE_END"] = pairs.value_end.closers
    if pairs.value.items is not None:
        groups |= {"ITEM_START": pairs.value.items[:1], "ITEM_END": pairs.value.items[1:]}
    return groups


def named_ends(slots: Sequence[SlotEnd], end: str = "_END") -> Iterator[tuple[SlotEnd, str]]:
    """Yield the slots, each with the name of the constant that ends it; a repeated slot has its own."""
    for index, slot in enumerate(slots):
        before = sum(1 for other in slots[:index] if other.kind == slot.kind)
        yield slot, slot.kind.upper() + "_AGAIN" * before + end


def _texts_of(markers: Iterable[Marker]) -> tuple[str, ...]:
    return tuple(marker.text for marker in markers)


def tables(facts: Acceptor, scanners: Scanners) -> list[str]:
    """Return the body of the parser's class, without `feed`."""
    calls = facts.calls
    of_state = {state.name: state for state in states(facts)}
    lines = [*_of_the_turn(facts), *_flags(flags_of_turn(facts, of_state)), *_of_text(facts, of_state, scanners)]
    if calls is None:
        return lines
    lines += _of_calls(calls, facts, scanners)
    if calls.pairs is not None:
        lines += _of_pairs(calls, calls.pairs, facts, scanners)
        lines += _of_lost_ends(calls, calls.pairs, facts)
    lines += scanners.named("AFTER_CALL", of_state["after_call"].lexemes)
    if "over" in of_state:
        lines += scanners.named("AFTER_TURN", of_state["over"].lexemes)
    return lines + _flags(flags_after_calls(of_state["after_call"]))


def _rule(state: str, rule: str) -> str:
    return f"    # {state} = {rule}"


def with_texts(rule: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Return a rule with the markers' first texts, as the template writes them, in place of their names."""
    return re.sub(
        r"\b[A-Z_]{4,}\b", lambda match: literal(groups[match[0]][0].strip()) if match[0] in groups else match[0], rule
    )


def _packed(items: Iterable[Expression]) -> Bracketed:
    """Return a tuple with as many items in a line as fit."""
    return Bracketed("", tuple(items), packed=True)


def _flags(flags: Mapping[str, bool]) -> list[str]:
    return [f"    {name} = {on}" for name, on in flags.items()]


def _of_the_turn(facts: Acceptor) -> list[str]:
    lines = assignment("HEADS", texts(facts.heads), INDENT) if any(facts.heads) else []
    lines += assignment("ANCHORS", texts(facts.anchors), INDENT) if facts.anchors else []
    if facts.content_spaces:
        lines.append(f"    SPACE = {literal(SPACE_SEPARATOR.join(facts.content_spaces))}")
    if facts.reasoning_starts:
        starts = [text.strip() for text in _texts_of(facts.reasoning_starts)]
        ends = [text.strip() for text in facts.reasoning_ends]
        lines += assignment("AROUND_REASONING", called("", [texts(starts), texts(ends)]), INDENT)
    return [*lines, *_escapes(facts), *_marker_like(facts)]


def _of_text(facts: Acceptor, of_state: Mapping[StateName, TurnState], scanners: Scanners) -> list[str]:
    """Return the scanners of the states of a turn."""
    apart = ("after_call", "over")
    named = [(name, state) for name, state in of_state.items() if name not in apart]
    lines = [line for name, state in named for line in scanners.named(SCANNERS[name], state.lexemes)]
    if "before_content" in of_state:
        lines.append(f"    OPENS_FIRST = {texts(of_state['before_content'].counting)}")
    if facts.repeated_reasoning and not of_state.keys().isdisjoint(("reasoning", "pending")):
        lines += scanners.named("REASONING_AGAIN", lexemes_of([("reasoning", facts.repeated_reasoning)]))
    return lines


# Calls


def _of_calls(calls: CallForm, facts: Acceptor, scanners: Scanners) -> list[str]:
    lines = _openers(calls)
    if calls.object.fields:
        lines += _of_objects(calls, respelled_kinds(facts), scanners)
    elif calls.header:
        respelled = respelled_kinds(facts)
        lines.append(_rule("call", slots_rule(calls.header) + " arguments"))
        lines += _slots("HEADER", calls.header, calls.breaks, scanners, respelled)
        lines += _of_names(calls)
        if "other_forms" in facts.tolerances:  # parts of headers may be missing or come twice
            lines += assignment("HEADER_PARTS", _packed(map(literal, calls.header_texts)), INDENT)
            lines += assignment("HEADER_TEXTS", called("Pattern", [raw(calls.header_pattern)]), INDENT)
    own = own_keys(calls)
    lines += [f"    OWN_KEYS = {texts(own)}"] * bool(own)
    if fields := own_fields(calls):
        usual = mapping([(literal(key), literal(role)) for key, role in fields.items()], packed=True)
        lines += assignment("OWN_FIELDS: ClassVar[dict[str, str]]", usual, INDENT)
    lines += _like_text(calls)
    if calls.unwrapped is not None and calls.closing.last:
        lines.append(f"    UNWRAPPED = {texts(calls.unwrapped[1:])}")
    if calls.opening.twice:
        least = str(min(map(len, calls.opening.twice)))
        lines += assignment("OPENED_TWICE", _packed([least, *map(literal, calls.opening.twice)]), INDENT)
    if pieces := calls.closing.last_pieces:
        lines += assignment("LAST_CLOSERS", _packed(map(literal, pieces)), INDENT)
    if calls.opening.short and calls.header:
        lines.append(f"    SHORT_OPENERS = {texts(without_space(text) for text in calls.opening.short)}")
    named = _named_styles(calls)
    if named:
        lines.append(f"    STYLES = ({', '.join(named[style] for style in calls.arguments.styles or ())})")
    if calls.breaks:
        lines += scanners.named("BREAKS", lexemes_of([("mark", calls.breaks)]), first=True)
    if calls.arguments.ends:
        lines += scanners.named("ARGUMENT_ENDS", lexemes_of([("mark", calls.arguments.ends)]))
    if facts.left_over:
        lines += scanners.named("LEFT_OVER", lexemes_of([("call", facts.left_over)]))
    if (garbled := garbled_closers(facts)) is not None:
        words = texts(garbled.words)
        lines += assignment(
            "GARBLED", _packed([f"Pattern({literal(garbled.pattern)})", literal(garbled.first_chars), words]), INDENT
        )
    lines += _expected("USUAL_NEXT", calls.opening.usual_next)
    if calls.tail is not None:
        lines += _slots("TAIL", calls.tail[1], calls.breaks, scanners)
    return lines + _flags(_call_flags(calls, facts))


def _like_text(calls: CallForm) -> list[str]:
    """Return the constants for calls whose opener is like text, or is missing."""
    lines = list[str]()
    if calls.whole:
        lines += assignment("WHOLE_CALL", _whole(calls), INDENT)
        lines += _flags({"NAME_IS_FIRST": False} if not calls.name_is_first else {})
    begins = {"CALL_BEGINS": calls.opening.begins, "ARGUMENTS_BEGIN": calls.pairs_begin}
    for name, pattern in begins.items():
        lines += assignment(name, called("Pattern", [literal(pattern)]), INDENT) if pattern else []
    if (pieces := calls.pieces_before_name) is not None:
        lines += [f"    OWN_HEADER = (CALL_BEGINS, {', '.join(map(literal, ('', *pieces)))})"]
    lone = [text.strip() for text in calls.opening.ordinary]
    lines += [f"    LONE_OPENERS = {texts(lone)}"] * bool(lone)
    return lines


def _call_flags(calls: CallForm, facts: Acceptor) -> dict[str, bool]:
    return {
        "NAME_FOLLOWS_SPACE": bool(calls.tail and calls.tail[0].isspace() and not calls.name_is_before_arguments),
        "CALLS_HAVE_CLOSER": calls.is_closed,
        "CLOSERS_COME_ONCE": calls.closing.come_once(facts.ends),
        "MAY_BE_EMPTY": bool(calls.bare_call),
        "ARGUMENTS_ARE_TEXT": calls.arguments.encoded,
        "ENDS_TURN": calls.is_closed and calls.closing.ends_turn,
        "REREADS_CALLS": "other_forms" in facts.tolerances,
        "CORRECTS_TOOL_NAMES": "tool_names" in facts.tolerances,
    }


def _openers(calls: CallForm) -> list[str]:
    """Return openers whose beginning, at the output's end, is not text. A whole opener is not a truncated one."""
    if calls.opening.at_lines:
        return _flags({"OPENER_IS_UNAMBIGUOUS": False})
    openers = lexemes_of([("call", [text.strip() for text in calls.opening.truncatable])]).all
    spelled = Bracketed("", tuple(literal(lexeme.spelled) for lexeme in openers), packed=True)
    return assignment("OPENERS", spelled, INDENT) if openers else []


def _whole(calls: CallForm) -> Expression:
    """Return a call as the template writes it."""
    named = _named_styles(calls)
    styles = f"styles=({', '.join(named[style] for style in calls.arguments.styles or ())})" if named else ""
    return called("WholeCall", [*map(_step_of, calls.whole), *([styles] if styles else [])])


def _step_of(step: CallStep) -> Expression:
    kind = literal(step.kind)
    if step.kind == "pairs":
        return called(
            "", [kind, *(called("", map(_step_of, row)) for row in (step.pair, step.between)), str(step.least)]
        )
    if step.kind in ("object", "value"):
        return called("", [kind])
    text = str(step.least) if step.kind == "line" else literal(step.text)
    return called("", [kind, called("Pattern", [literal(step.pattern)]), text])


def _of_names(calls: CallForm) -> list[str]:
    """Return the constants for reading the name and the id of a call."""
    lines = _replaced("NAME_ESCAPES", calls.replaced) if calls.replaced else []
    lines += _replaced("ARGUMENT_ESCAPES", calls.arguments.escapes) if calls.arguments.escapes else []
    lines += [f"    FIRST_INDENTATION = {calls.arguments.lines}"] if calls.arguments.lines else []
    if calls.call_id:
        doubled = {ord("{"): "{{", ord("}"): "}}"}
        parts = [
            part.text.translate(doubled) if isinstance(part, Text) else f"{{{part.kind}}}" for part in calls.call_id
        ]
        lines.append(f"    CALL_ID = {literal(''.join(parts))}")
    if calls.only_tools or calls.calls_are_juxtaposed:
        lines += _flags({"ONLY_TOOLS": True, "OPENER_IS_ONE_CHARACTER": calls.only_tools})
    return lines


def _of_objects(calls: CallForm, respelled: Sequence[str], scanners: Scanners) -> list[str]:
    lines = [_rule("call", (slots_rule(calls.header) + " object").strip())]
    lines += _slots("HEADER", calls.header, calls.breaks, scanners, respelled) if calls.header else []
    fields = mapping(
        [(texts(path), literal(role)) for path, role in (*calls.object.fields, *calls.object.wrapped)], packed=True
    )
    lines += [
        *assignment("FIELDS: ClassVar[Mapping[tuple[str, ...], str]]", fields, INDENT),
        f"    OBJECT_OPENER = {literal(calls.object.opener)}",
    ]
    lines += [f"    CLOSERS = {texts(calls.closing.distinctive)}"] if calls.closing.distinctive else []
    lines += _flags({"OBJECTS_HAVE_ID": any(role == "id" for _, role in calls.object.fields)})
    if calls.object.head:
        lines += assignment("HEAD", called("Pattern", [literal(calls.object.head[0])]), INDENT)
        lines.append(f"    TO_ARGUMENTS = {literal(calls.object.head[1])}")
        lines.append(
            f"    USUAL_KEYS = {texts([calls.object.path_of('name')[0], calls.object.path_of('arguments')[0]])}"
        )
    return lines


def slots_rule(slots: Sequence[SlotEnd], end: str = "_END") -> str:
    """Return the slots with the text that ends each, as a comment writes the rule."""
    return " ".join(f"{slot.kind} {name}" if slot.suffixes else slot.kind for slot, name in named_ends(slots, end))


def _named_styles(calls: CallForm) -> dict[Spelling, str]:
    """Return the spellings in which values are read, with the names of their constants."""
    if calls.arguments.styles is None or not (calls.pairs is None or calls.pairs.value.quoted):
        return {}
    styles = dict.fromkeys(calls.arguments.styles)
    return {style: f"STYLE_{i}" if len(styles) > 1 else "STYLE" for i, style in enumerate(styles, 1)}


def _style(name: str, style: Spelling) -> list[str]:
    items: list[Expression] = [called("", (texts(string) for string in style.strings)), _words(style.words)]
    if style.punctuation != JSON_PUNCTUATION:
        items.append(texts(style.punctuation))
    if style.bare_keys:
        items.append("bare_keys=True")
    return assignment(name, called("Style" if style.as_json else "WordStyle", items))


def styles(facts: Acceptor) -> list[str]:
    """Return the spellings of values.  They are above the class, because mypyc finds no names of the class in its
    body."""
    named = _named_styles(facts.calls) if facts.calls is not None else {}
    return [line for style, name in named.items() for line in _style(name, style)]


def _words(words: Iterable[tuple[str, str]]) -> Expression:
    return mapping((literal(word), literal(value)) for word, value in sorted(words))


def _escapes(facts: Acceptor) -> list[str]:
    if not facts.escapes:
        return []
    by_kind = mapping(
        (literal(each.kind), called("Escapes", [_replaced_texts(each.replaced)])) for each in facts.escapes
    )
    lines = assignment("ESCAPES", by_kind, INDENT)
    return lines + [f"    ESCAPE_OF_ENDS = {literal(facts.escape_of_ends)}"] * bool(facts.escape_of_ends)


def _marker_like(facts: Acceptor) -> list[str]:
    found = marker_like_texts(facts)
    if found is None:
        return []
    patterns = [called("Pattern", [raw(one)]) for one in (found.text, found.edge, found.value, *found.alone)]
    return assignment("MARKER_LIKE", _packed(patterns), INDENT)


def _expected(name: str, usual: Iterable[str]) -> list[str]:
    """Return the constant for the usual texts in one place, if there are any."""
    found = [literal(text) for text in usual]
    return assignment(name, called("ExpectedText", found), INDENT) if found else []


def _replaced_texts(replaced: Sequence[tuple[str, str]]) -> Expression:
    return mapping((literal(text), literal(char)) for text, char in replaced)


def _replaced(name: str, replaced: Sequence[tuple[str, str]]) -> list[str]:
    return assignment(name, called("Escapes", [_replaced_texts(replaced)]), INDENT)


# Pairs


def _of_pairs(calls: CallForm, pairs: PairForm, facts: Acceptor, scanners: Scanners) -> list[str]:
    """Return the constants for pairs."""
    respelled = respelled_kinds(facts)
    start = "PAIR_START " if pairs.opens else ""
    lines = [_rule("arguments", f"({start}{slots_rule(pairs.slots)} value)*")]
    lines += _slots("PAIR", pairs.slots, calls.breaks, scanners, respelled)
    lines += scanners.named("BETWEEN", between_pairs(pairs, respelled))
    if pairs.opens and not pairs.separator.strip():
        lines += _expected("USUAL_PAIR", [pairs.opens[0].lstrip()])
    lines += _flags(
        {
            "PAIR_OPENS": bool(pairs.opens),
            "ELEMENTS_FIRST": bool(pairs.value_end.unprefixed),
            "RESUMES": pairs.resumes,
            "ARGUMENTS_OPEN": pairs.pairs_have_opener,
        }
    )
    around = around_key(pairs)
    if around is not None and "other_forms" in facts.tolerances:  # the pair is searched for by its key
        patterns = [called("Pattern", [raw(pattern)]) for pattern in around]
        width = max([len(text) for found in pairs.key_texts or () for text in found], default=1) + MAX_INNER_SPACE
        lines += assignment("AROUND_KEY", _packed([*patterns, str(width)]), INDENT)
        opener = value_opener(pairs)
        lines += [] if opener is None else assignment("VALUE_OPENER", called("Pattern", [raw(opener)]), INDENT)
    lines += _replaced("KEY_ESCAPES", pairs.replaced) if pairs.replaced else []
    if not pairs.value.quoted:
        return lines + _of_raw_values(calls, pairs, facts, scanners)
    patterns = [called("Pattern", [literal(pattern)]) for pattern in _follow(pairs.value_end.following)]
    close = pairs.value_end.around_key or (pairs.close_like_opener,)
    lines += assignment("VALUE_CLOSE", texts(close), INDENT) if close[0] else []
    return lines + assignment("FOLLOW", called("", patterns), INDENT)


def _of_raw_values(calls: CallForm, pairs: PairForm, facts: Acceptor, scanners: Scanners) -> list[str]:
    """Return the constants for values without quotes of their own."""
    value, lines = pairs.value, []
    damaged = damaged_arguments(facts)
    if damaged is not None:
        lines += assignment("DAMAGED", called("Pattern", [raw(damaged)]), INDENT)
    lines += assignment("WORDS", Bracketed("ValueWords", tuple(map(_words, value.words)), packed=True), INDENT)
    lines += _escapes_in_values(pairs)
    lines += _ends_of_raw_values(pairs, calls, respelled_kinds(facts), scanners)
    if value.types:
        types = mapping((literal(word), texts(types)) for word, types in value.types)
        lines += assignment("TYPE_WORDS: ClassVar[Mapping[str, Sequence[str]]]", types, INDENT)
    lines += [f"    WRAP = {texts(value.wrap)}"] if value.wrap else []
    wraps = called("", [_wrap(wrap, pairs, calls, scanners) for wrap in value.wraps])
    lines += assignment("WRAPS", wraps, INDENT) if value.wraps else []
    lines += ["    TYPES_OPEN_PAIRS = True"] * pairs.types_open_pairs
    if value.items is None:
        return lines
    broken = (pairs.value_end.around_key or ())[:1]
    elements = [("item", value.items[:1]), ("pair", pairs.opens), ("broken", broken)]
    lines += scanners.named("ELEMENT", lexemes_of(elements))
    return [*lines, f"    AFTER_ITEM = {literal(value.items[1])}"]


def _escapes_in_values(pairs: PairForm) -> list[str]:
    lines: list[str] = []
    slots = {
        slot: [(text, char) for one, text, char in pairs.value.escapes if one == slot]
        for slot, _, _ in pairs.value.escapes
    }
    for slot, found in slots.items():
        lines += _replaced("LITERAL_ESCAPES" if slot == "literal" else "VALUE_ESCAPES", found)
        lines += _flags({"ESCAPES_STRINGS": True} if slot == "string" else {})
    return lines + _flags({"JSON_VALUES": True} if pairs.value.json else {})


def _wrap(wrap: TypeWrap, pairs: PairForm, calls: CallForm, scanners: Scanners) -> Expression:
    """Return the text before a value, its types, its end, and the end if the next pair may come before that."""
    if wrap.around_key is not None:
        ends: Expression = texts(wrap.around_key)
    else:
        ends = scanners.call(lexemes_of([("end", wrap.ends)])) if wrap.ends else "None"
    found: list[Expression] = [literal(wrap.opened), texts(wrap.types), ends]
    if pairs.types_open_pairs and pairs.value_end.next_pair is not None:
        next_pair = ("next", next_pairs(pairs)), ("breaks", calls.innermost_breaks)
        found.append(scanners.call(lexemes_of([("end", wrap.ends), *next_pair])))
    return called("", found)


def _of_lost_ends(calls: CallForm, pairs: PairForm, facts: Acceptor) -> list[str]:
    """Return the constants for irregular raw values: other forms, and other ends."""
    if pairs.value.quoted:
        return []
    lines = _flags({"RETYPES_VALUES": "other_forms" in facts.tolerances})
    following = closes_lost_value(pairs, facts.tolerances)
    if following is None:
        return lines
    patterns = [closes_call(following, begun=begun) for begun in (False, True)]
    first_chars = (following.closer[0] or "")[0]
    garbled = garbled_end_of_value(facts)
    patterns += [rf"{garbled.pattern}\s*\Z", garbled.begun] if garbled is not None else [NOTHING, NOTHING]
    first_chars += garbled.first_chars + "\\" if garbled is not None else ""
    chars = called("frozenset", [literal("".join(dict.fromkeys(first_chars)))])
    closes = _packed([chars, *(called("Pattern", [raw(pattern)]) for pattern in patterns)])
    return lines + assignment("CALL_CLOSES", closes, INDENT)


def _ends_of_raw_values(pairs: PairForm, calls: CallForm, respelled: Sequence[str], scanners: Scanners) -> list[str]:
    """Return the ends of a raw value; in another spelling they count before the next pair or the end of the call."""
    last = scanners.named("LAST_CLOSER", value_ends_and_markers(pairs)) if pairs.value_end.marks else []
    if pairs.value_end.around_key is not None:
        return [*assignment("VALUE_CLOSE", texts(pairs.value_end.around_key), INDENT), *last]
    if pairs.value.guessed:
        lines = assignment(
            "AFTER_VALUE",
            called("LookaheadEnd", map(literal, _guess(pairs.value_end.following, pairs.value_end.close))),
            INDENT,
        )
    else:
        lines = [*scanners.named("AFTER_VALUE", ends_of_value(pairs, respelled)), *last]
        lines += _expected("USUAL_ENDS", pairs.value_end.usual)
    if pairs.value_end.next_pair is not None:
        before, after = pairs.value_end.next_pair
        ends = [
            ends_of_value(pairs, respelled, ("next", next_pairs(pairs)), ("breaks", calls.innermost_breaks)),
            lexemes_of([("end", [after])]),
        ]
        lines += assignment("NEXT_PAIR", called("", map(scanners.call, ends)), INDENT)
        openers = [text.strip() for text in before]
        lines += assignment("NEXT_PAIR_OPENER", literal(openers[0]) if len(openers) == 1 else texts(openers), INDENT)
        lead = before[0][: -len(before[0].lstrip())]
        lines += [f"    NEXT_PAIR_LEAD = {literal(lead)}"] * (lead != "\n")
        lines += [f"    NEXT_UNOPENED = {literal(pairs.value_end.next_unopened)}"] * bool(pairs.value_end.next_unopened)
    is_other = pairs.value.guessed and pairs.value.nested_quotes != '"'
    lines += [f"    NESTED_QUOTES = {literal(pairs.value.nested_quotes)}"] * is_other
    lines += [f"    CALL_END = {literal(cut)}"] if (cut := end_of_cut_values(calls)) else []
    lines += [f"    LITERALS = {literal(pairs.value.literals)}"] if pairs.value.literals else []
    lines += _flags({"SPACE_AROUND_KEY_END": pairs.value.spaced})
    if pairs.value_end.bare is not None:
        lines += assignment("BARE_END", called("LookaheadEnd", map(literal, _guess(pairs.value_end.bare, ""))), INDENT)
    return lines


def _guess(following: Following, close: str) -> tuple[str, str]:
    """Return the patterns of a value's end, and of text that may become one.  `close`: the text that closes a value."""
    names = (CALL_NAME, CALL_NAME)
    if None in following.next_call:
        names = name_of_call(following, f"(?P<name>{CALL_NAME})"), f"(?P<bare>{CALL_NAME})"
    key, tool = f"(?P<key>{any_key(following)})", f"(?P<known>{CALL_NAME})"
    end = pattern_of(following, over=True, key=key, names=names, tool=tool)
    return f"{closer_before_end(close)}(?={end})", start_of(following)


def _follow(following: Following) -> tuple[str, str]:
    return after_quoted(following, over=False), after_quoted(following, over=True)


# Scanners and slots


@dataclass(slots=True)
class Scanners:
    """Prints scanners, and keeps what they search for.  `shared`: the runtime makes their patterns."""

    shared: bool = False
    printed: list[Lexemes] = field(default_factory=list)

    def named(self, name: str, found: Lexemes, *, first: bool = False) -> list[str]:
        return assignment(name, self.call(found, first=first), INDENT)

    def call(self, found: Lexemes, *, first: bool = False) -> Bracketed:
        """Return the call that creates a scanner.  `first`: the characters that its markers begin with matter."""
        self.printed.append(found)
        by_kind = _by_kind(found) if self.shared else None
        if by_kind is not None:
            return Bracketed("Markers", by_kind, packed=True)
        items: list[Expression] = [
            *(_of_marker(*marker) for marker in found.markers),
            raw(reduce(lambda find, short: find.replace(short[1], short[0]), SHORTENED, found.find), "find"),
            raw(found.near, "near"),
            f"width={found.width}",
        ]
        named = (("leads", found.leads), ("first", found.first if first else ""))
        return Bracketed("Scanner", (*items, *(f"{name}={literal(text)}" for name, text in named if text)), packed=True)


def _by_kind(found: Lexemes) -> tuple[Expression, ...] | None:
    """Return the markers of each kind, and which of them are respelled; None if that doesn't say all."""
    kinds = {one.core: one.kind for one in found.given}
    by_kind: dict[str, list[str]] = {}
    for one in found.given:
        by_kind.setdefault(one.kind, []).append(one.text)
    alike = [one for one in found.all if one.respelled]
    respelled = list(dict.fromkeys(one.kind for one in alike if one.kind == kinds[one.core]))
    apart = list(dict.fromkeys(kinds[one.core] for one in alike if one.kind != kinds[one.core]))
    any_number = [one.core for one in alike if one.any_number]
    again = runtime_lexemes_of(by_kind.items(), respelled, apart=apart, any_number=any_number)
    if again.markers != found.markers or again.scanner != found.scanner:
        return None
    every = len(any_number) == len(alike) > 0
    given = by_kind | {"respelled": respelled, "apart": apart, "any_number": [] if every else any_number}
    packed = [Bracketed("", tuple(map(literal, one)), f"{name}=", packed=True) for name, one in given.items() if one]
    return (*packed, *["any_number=True"] * every)


def _of_marker(kind: str, spelled: str, lead: str, trail: str, ambiguous: int) -> str:
    return str(called("", [*map(literal, (kind, spelled, lead, trail)), str(ambiguous)]))


def _slots(
    name: str, slots: Sequence[SlotEnd], breaks: Sequence[str], scanners: Scanners, respelled: Sequence[str] = ()
) -> list[str]:
    # A plain word may contain a marker that begins with a character of words.
    plain = is_wordless(lexemes_of([("mark", breaks)]))
    rows = []
    for slot in slots:
        found = lexemes_of([("suffix", slot.suffixes), ("next", slot.nexts), ("bare", slot.bare)], respelled)
        word, trails = plain_word(found) if plain else (NOTHING, ())
        after = called("", ("None" if trail is None else literal(trail) for trail in trails))
        pattern: Expression = "NO_WORD" if word == NOTHING else called("Pattern", [raw(word)])
        row = (literal(slot.kind), scanners.call(found), literal(slot.stops), pattern, after)
        rows.append(_packed(row))
    return assignment(name, called("", rows), INDENT)
