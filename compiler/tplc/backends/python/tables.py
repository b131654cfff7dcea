"""What the states of a parser look for: the body of its class, below the rules of its states.

Acceptor(reasoning_starts=("<reason>",), …)
→
    # content = (text | REASONING_START reasoning | …)*
    IN_CONTENT = Marks(reasoning=REASONING_START, …)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tplc.backends.python.literals import Expression, assignment, called, literal, mapping, texts
from tplc.ir.nodes import Text
from tplc.ir.spellings import JSON_SIGNS, Spelling
from tplc.lower import Acceptor, CallForm, Following, Marker, PairForm, SlotEnd
from tplc.lower.acceptor import Where
from tplc.lower.bounds import KEY
from tplc.lower.following import after_quoted, pattern_of, start_of

INDENT = 4
Kinds = list[tuple[str, str | Sequence[str]]]  # of markers: each with the name of its constant, or with texts
Groups = Mapping[str, Sequence[str]]  # the markers by the names of their constants


def marker_groups(facts: Acceptor) -> dict[str, Sequence[str]]:
    """The format's markers, by the names that the parser has for them."""
    groups: dict[str, Sequence[str]] = {
        "TURN_ANCHORS": facts.anchors,
        "PROMPT_HEADS": facts.heads,
        "TURN_START": facts.headers,
        "TURN_END": facts.ends,
        "OUTPUT_END": facts.last_ends,
        "REASONING_START": _texts_of(facts.reasoning_starts),
        "REASONING_END": facts.reasoning_ends,
        "CONTENT_START": _texts_of(facts.content_starts),
        "CONTENT_END": facts.content_marks,
        "CONTENT_SIGN": facts.content_signs,
    }
    calls = facts.calls
    if calls is not None:
        groups |= {"CALL_START": calls.openers, "NEXT_CALL_START": calls.inner, "CALL_SEPARATOR": calls.separators}
        groups |= {name: slot.suffixes for slot, name in named_ends(calls.header)}
        groups |= {"CALL_END": calls.closers, "EMPTY_CALL": calls.empty}
        if calls.tail is not None:
            groups["TAIL_START"] = (calls.tail[0],)
            groups |= {f"{slot.kind.upper()}_AGAIN_END": slot.suffixes for slot in calls.tail[1]}
        if calls.pairs is not None:
            groups |= _groups_of_pairs(calls.pairs)
    groups["STRAY"] = texts_at(facts.strays, "anywhere")
    return {name: items for name, items in groups.items() if items}


def _groups_of_pairs(pairs: PairForm) -> dict[str, Sequence[str]]:
    groups: dict[str, Sequence[str]] = {"PAIR_START": pairs.opens}
    groups |= {f"{slot.kind.upper()}_END": slot.suffixes for slot in pairs.slots}
    if pairs.value_close is not None:
        groups["VALUE_END_AROUND_KEY"] = pairs.value_close
    elif not pairs.guessed:
        groups["VALUE_END"] = pairs.value_ends
    if pairs.items is not None:
        groups |= {"ITEM_START": pairs.items[:1], "ITEM_END": pairs.items[1:]}
    return groups


def named_ends(slots: Sequence[SlotEnd], end: str = "_END") -> Iterator[tuple[SlotEnd, str]]:
    """The slots, each with the name of the constant that ends it: a slot that comes again has its own."""
    for index, slot in enumerate(slots):
        before = sum(1 for other in slots[:index] if other.kind == slot.kind)
        yield slot, slot.kind.upper() + "_AGAIN" * before + end


def texts_at(markers: Iterable[Marker], where: Where) -> tuple[str, ...]:
    return tuple(marker.text for marker in markers if marker.where == where)


def _texts_of(markers: Iterable[Marker]) -> tuple[str, ...]:
    return tuple(marker.text for marker in markers)


def is_unopened(facts: Acceptor) -> bool:
    """Nothing opens reasoning: it is what stands before its end."""
    return bool(facts.reasoning_ends) and not facts.reasoning_starts


def tables(facts: Acceptor) -> list[str]:
    """The body of the parser's class, but for `feed`."""
    calls = facts.calls
    opens, content = _opening(facts), _in_content(facts)
    lines = [*_of_the_turn(facts), *_of_text(facts, opens, content)]
    if calls is None:
        return lines
    groups = marker_groups(facts)
    lines += _of_calls(calls, groups, facts)
    if calls.pairs is not None:
        lines += _of_pairs(calls.pairs, _respelled(facts))
    lines += [_rule("after_call", _after_call_rule(calls))]
    again: Kinds = [pair for pair in [*opens, *content] if pair[1] != "CALL_START"]
    lines += _marks("AFTER_CALL", [*_after_calls(calls), *again], _respelled(facts))
    if calls.openers and calls.where == "anywhere":
        lines += assignment("AFTER_TURN", called("Marks", ["call=CALL_START", *_further(facts)]), INDENT)
    return lines


def _respelled(facts: Acceptor) -> tuple[str, ...]:
    """The kinds of markers whose case and separators may be others."""
    kinds = ("tail", "both", "call", "separator", "section", "closed", "close", "line", "pair", "end", "skip", "next")
    return (*kinds, "suffix") if "marker_spelling" in facts.tolerances else ()


def _rule(state: str, rule: str) -> str:
    return f"    # {state} = {rule}"


def _flags(flags: Mapping[str, bool]) -> list[str]:
    return [f"    {name} = True" for name, on in flags.items() if on]


def _of_the_turn(facts: Acceptor) -> list[str]:
    lines = ["    HEADS = PROMPT_HEADS", *["    ANCHORS = TURN_ANCHORS"] * bool(facts.anchors)]
    if facts.content_space:
        lines.append(f"    SPACE = {literal(facts.content_space)}")
    if facts.reasoning_starts:
        starts = [text.strip() for text in _texts_of(facts.reasoning_starts)]
        ends = [text.strip() for text in facts.reasoning_ends]
        lines += assignment("AROUND_REASONING", called("", [texts(starts), texts(ends)]), INDENT)
    return lines + _flags(
        {
            "AT_LINES": _counts_at_lines(facts),
            "AT_ENDS": bool(facts.last_ends or facts.content_signs),
            "REASONS": bool(facts.reasoning_starts),
            "PENDING_TEXT": is_unopened(facts),
            "CLOSED_FIRST": _starts_with_closer(facts),
            "HEADERS_ALIKE": facts.headers_alike,
            "CUT_MARKERS": "cut_markers" in facts.tolerances,
        }
    )


def _of_text(facts: Acceptor, opens: Kinds, content: Kinds) -> list[str]:
    lines = []
    first, anywhere = [kind for kind, _ in _starts(facts, "before content")], _starts(facts, "anywhere")
    if _starts_with_closer(facts):
        lines.append(_rule("turn", "REASONING_END* content"))
        lines += _marks("AT_START", [("reasoning_end", texts_at(facts.strays, "turn start")), *opens, *content])
    if is_unopened(facts):
        lines.append(_rule("turn", "text REASONING_END content | content"))
        known = anywhere if first else opens
        lines += _marks("IN_REASONING", [("reasoning_end", "REASONING_END"), *known, *content])
    elif facts.reasoning_ends:
        by_call = _calls_end_reasoning(facts)
        rule = "text (REASONING_END content | CALL_START call)" if by_call else "text REASONING_END content"
        lines += [_rule("reasoning", rule), *_marks("IN_REASONING", _ends_of_reasoning(facts), _respelled(facts))]
    lines.append(_rule("content", _content_rule(facts)))
    lines += _marks("IN_CONTENT", [*(anywhere if first else opens), *content], _respelled(facts))
    if first:
        lines.append(f"    # What opens {' or '.join(first)} is text once content has begun.")
        lines.append(f"    FIRST = {texts(first)}")
        lines += _marks("BEFORE_CONTENT", [*opens, *content], _respelled(facts))
    return lines


def _content_rule(facts: Acceptor) -> str:
    parts = ["text"]
    parts += ["CONTENT_START"] * bool(facts.content_starts) + ["CONTENT_END"] * bool(facts.content_ends)
    parts += ["TURN_END"] * bool(facts.ends)
    then = ["REASONING_START reasoning"] * bool(facts.reasoning_starts)
    then += ["CALL_START call"] * (facts.calls is not None and bool(facts.calls.openers))
    rule = f"({' | '.join(parts)})*" if len(parts) > 1 else "text"
    return rule + (f" ({' | '.join(then)})?" if then else "")


def _ends_of_reasoning(facts: Acceptor) -> Kinds:
    ends: Kinds = [("reasoning_end", "REASONING_END"), *([("end", "TURN_END")] if facts.ends else [])]
    ends += [("last", "OUTPUT_END")] if facts.last_ends else []
    return ends + ([("line", "CALL_START")] if _calls_end_reasoning(facts) else [])


def _opening(facts: Acceptor) -> Kinds:
    opens: Kinds = [("reasoning", "REASONING_START")] if facts.reasoning_starts else []
    return opens + [("content", "CONTENT_START")] * bool(facts.content_starts)


def _in_content(facts: Acceptor) -> Kinds:
    calls = facts.calls
    return [
        *([("content_end", "CONTENT_END")] if facts.content_marks else []),
        *([("sign", "CONTENT_SIGN")] if facts.content_signs else []),
        *([(_opener_kind(calls), "CALL_START")] if calls is not None and calls.openers else []),
        *([("end", "TURN_END")] if facts.ends else []),
        *([("last", "OUTPUT_END")] if facts.last_ends else []),
        *([("header", "TURN_START")] if facts.headers else []),
        *([("stray", "STRAY")] if texts_at(facts.strays, "anywhere") else []),
        *([("empty", "EMPTY_CALL")] if calls is not None and calls.empty else []),
    ]


def _starts(facts: Acceptor, where: Where) -> Kinds:
    """What opens reasoning and content, where it counts there."""
    kinds = (("reasoning", facts.reasoning_starts), ("content", facts.content_starts))
    return [(kind, found) for kind, starts in kinds if (found := texts_at(starts, where))]


def _starts_with_closer(facts: Acceptor) -> bool:
    return bool(texts_at(facts.strays, "turn start")) and not is_unopened(facts)


def _calls_end_reasoning(facts: Acceptor) -> bool:
    return facts.calls is not None and facts.calls.in_reasoning is not None


def _counts_at_lines(facts: Acceptor) -> bool:
    calls = facts.calls
    return calls is not None and bool(calls.openers) and (_opener_kind(calls) == "line" or _calls_end_reasoning(facts))


def _opener_kind(calls: CallForm) -> str:
    return "call" if calls.where == "anywhere" else "line"


# Calls


def _of_calls(calls: CallForm, groups: Groups, facts: Acceptor) -> list[str]:
    lines = []
    if calls.where == "line start":
        lines.append("    DISTINCT = False")
    elif calls.openers:
        lines.append("    OPENERS = CALL_START")
    if calls.fields:
        lines += _of_objects(calls, _respelled(facts))
    elif calls.header:
        lines += [
            _rule("call", slots_rule(calls.header) + " arguments"),
            *_slots("HEADER", calls.header, _respelled(facts)),
        ]
        lines += _of_names(calls)
        if "other_forms" in facts.tolerances:
            parts = "|".join(map(re.escape, calls.header_texts))
            lines.append(f"    HEADER_PARTS = {texts(calls.header_texts)}")
            lines += assignment(
                "HEADER_TEXTS", called("Pattern", [literal(f"(?:{parts}|[^\\S\\n]*[\\n:.,'\"`]|[0-9]+)")]), INDENT
            )
    named = _named_styles(calls)
    if named:
        lines.append(f"    STYLES = ({', '.join(named[style] for style in calls.styles or ())})")
    if calls.breaks:
        lines += assignment("BREAKS", called("Marks", [f"mark={_by_name(calls.breaks, groups)}"]), INDENT)
    if calls.left_over and "repeated_markers" in facts.tolerances:
        lines += _marks("LEFT_OVER", [("call", calls.left_over)])
    if calls.usual_next:
        lines += assignment("USUAL_NEXT", called("", [f"Usual({literal(text)})" for text in calls.usual_next]), INDENT)
    if calls.tail is not None:
        lines += _slots("TAIL", calls.tail[1], (), "_AGAIN_END")
    closed = bool(calls.last or calls.tail is not None)
    return lines + _flags(
        {
            "CLOSED": closed,
            "ENDS_TURN": closed and calls.ends_turn,
            "TURN_CLOSED": bool(calls.turn_closers),
            "SEPARATED": bool(calls.separators) and not (calls.fields or calls.inner),
            "UNMARKED": calls.unmarked,
            "BOTH": bool(_both(calls)),
            "READ_AGAIN": "other_forms" in facts.tolerances,
            "REPEATED": "repeated_markers" in facts.tolerances,
            "NAMES_ALIKE": "tool_names" in facts.tolerances,
            "COUNTED": any(slot.kind == "index" for slot in (*calls.header, *(calls.tail[1] if calls.tail else ()))),
        }
    )


def _of_names(calls: CallForm) -> list[str]:
    """How the name of a call and its id are read."""
    lines = _replaced("NAME_SIGNS", calls.replaced) if calls.replaced else []
    if calls.call_id:
        parts = [_in_format(part.text) if isinstance(part, Text) else f"{{{part.kind}}}" for part in calls.call_id]
        lines.append(f"    CALL_ID = {literal(''.join(parts))}")
    if calls.where == "line start" or calls.unmarked or calls.faint:
        lines.append("    ONLY_TOOLS = True")
        lines += ["    FAINT = False"] * (calls.where == "anywhere" and not calls.faint)
    return lines


def _in_format(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _of_objects(calls: CallForm, respelled: Sequence[str]) -> list[str]:
    lines = [_rule("call", (slots_rule(calls.header) + " object").strip())]
    lines += _slots("HEADER", calls.header, respelled) if calls.header else []
    fields = mapping((texts(path), literal(role)) for path, role in (*calls.fields, *calls.wrapped))
    lines += [
        *assignment("FIELDS: ClassVar[Mapping[tuple[str, ...], str]]", fields, INDENT),
        f"    OPENED = {literal(calls.object_open)}",
    ]
    lines += [f"    CLOSERS = {texts(calls.distinctive_closers)}"] if calls.distinctive_closers else []
    if calls.object_head:
        lines += assignment("HEAD", called("Pattern", [literal(calls.object_head[0])]), INDENT)
        lines.append(f"    TO_ARGUMENTS = {literal(calls.object_head[1])}")
        lines.append(f"    USUAL_KEYS = {texts([calls.path_of('name')[0], calls.path_of('arguments')[0]])}")
    return lines


def slots_rule(slots: Sequence[SlotEnd], end: str = "_END") -> str:
    """The slots with what ends each, as a rule tells them."""
    return " ".join(f"{slot.kind} {name}" if slot.suffixes else slot.kind for slot, name in named_ends(slots, end))


def _after_call_rule(calls: CallForm) -> str:
    starts = [*(["NEXT_CALL_START"] if calls.inner else []), *(["CALL_START"] if calls.openers else [])]
    skipped = [*(["CALL_END"] if calls.closers else []), *(["CALL_SEPARATOR"] if calls.separators else [])]
    return (f"({' | '.join(skipped)})* " if skipped else "") + f"({_one_of(starts)} call | content)"


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({' | '.join(names)})"


def _after_calls(calls: CallForm) -> Kinds:
    starts = " + ".join(
        name for name, items in (("NEXT_CALL_START", calls.inner), ("CALL_START", calls.openers)) if items
    )
    named = {"tail": "TAIL_START", "call": _with_joints(starts, calls), "separator": "CALL_SEPARATOR"}
    named["close"] = "CALL_END"
    kinds: Kinds = [(kind, named.get(kind, markers)) for kind, markers in calls.behind if markers]
    # One marker is of one kind, the first.
    at = kinds.index(("tail", "TAIL_START")) + 1 if calls.tail is not None else 0
    return [*kinds[:at], *([("both", _both(calls))] if _both(calls) else []), *kinds[at:]]


def _further(facts: Acceptor) -> list[Expression]:
    """What opens a further message behind the turn's end, as an argument."""
    if not facts.further:
        return []
    if facts.in_messages:
        return ["header=TURN_START"]
    both = '(f"{start.rstrip()} {call.lstrip()}" for start in TURN_START for call in CALL_START)'
    return [f"header=tuple{both}"]


def _both(calls: CallForm) -> tuple[str, ...]:
    """Markers that close a call as well as open the next."""
    cores = {text.strip() for text in calls.openers}
    return tuple(text for text in calls.closers if text.strip() in cores)


def _with_joints(starts: str, calls: CallForm) -> str:
    """What opens a further call, also behind the signs that may stand before it."""
    if not calls.usual_next:
        return starts
    joined = f'(f"{{sign}}\\n{{text}}" for sign in {literal(calls.joints)} for text in NEXT_CALL_START)'
    return f"{starts} + tuple{joined}"


def _named_styles(calls: CallForm) -> dict[Spelling, str]:
    """The spellings that values are read in, with the names of their constants."""
    if calls.styles is None or not (calls.pairs is None or calls.pairs.quoted):
        return {}
    styles = dict.fromkeys(calls.styles)
    return {style: f"STYLE_{i}" if len(styles) > 1 else "STYLE" for i, style in enumerate(styles, 1)}


def _style(name: str, style: Spelling) -> list[str]:
    items: list[Expression] = [called("", (texts(string) for string in style.strings)), _words(style.words)]
    if style.signs != JSON_SIGNS:
        items.append(texts(style.signs))
    if style.bare_keys:
        items.append("bare_keys=True")
    return assignment(name, called("Style" if style.as_json else "PlainStyle", items))


def styles(facts: Acceptor) -> list[str]:
    """The spellings of values, above the class: mypyc finds no names of the class in its body."""
    named = _named_styles(facts.calls) if facts.calls is not None else {}
    return [line for style, name in named.items() for line in _style(name, style)]


def _words(words: Iterable[tuple[str, str]]) -> Expression:
    return mapping((literal(word), literal(value)) for word, value in sorted(words))


def _replaced(name: str, replaced: Sequence[tuple[str, str]]) -> list[str]:
    signs = mapping((literal(text), literal(sign)) for text, sign in replaced)
    return assignment(name, called("Signs", [signs]), INDENT)


# Pairs


def _of_pairs(pairs: PairForm, respelled: Sequence[str]) -> list[str]:
    start = "PAIR_START " if pairs.opens else ""
    lines = [_rule("arguments", f"({start}{slots_rule(pairs.slots)} value)*"), *_slots("PAIR", pairs.slots, respelled)]
    kinds: dict[str, list[str]] = {}
    for kind, items in pairs.between:
        kinds.setdefault(kind, []).extend(items)
    named = {"pair": "PAIR_START"}
    lines += _marks("BETWEEN", [(kind, named.get(kind) or items) for kind, items in kinds.items()], respelled)
    if pairs.opens and not pairs.separator.strip():
        lines.append(f"    USUAL_PAIR = (Usual({literal(pairs.opens[0].lstrip())}),)")
    lines += ["    PAIR_OPENS = False"] * (not pairs.opens) + ["    RESUMES = True"] * pairs.resumes
    lines += ["    ARGUMENTS_OPEN = True"] * pairs.opens_at_once
    lines += _replaced("KEY_SIGNS", pairs.replaced) if pairs.replaced else []
    if pairs.quoted:
        patterns = [called("Pattern", [literal(pattern)]) for pattern in _follow(pairs.following)]
        return lines + assignment("FOLLOW", called("", patterns), INDENT)
    lines += assignment("WORDS", called("ValueWords", [_words(pairs.words)]), INDENT)
    lines += _of_raw_values(pairs)
    if pairs.types:
        types = mapping((literal(word), texts(types)) for word, types in pairs.types)
        lines += assignment("TYPE_WORDS: ClassVar[Mapping[str, Sequence[str]]]", types, INDENT)
    lines += [f"    WRAP = {texts(pairs.wrap)}"] if pairs.wrap else []
    if pairs.items is None:
        return lines
    broken = ["broken=VALUE_END_AROUND_KEY[:1]"] if pairs.value_close else []
    lines += assignment("ELEMENT", called("Marks", ["item=ITEM_START", "pair=PAIR_START", *broken]), INDENT)
    return [*lines, "    AFTER_ITEM = ITEM_END[0]"]


def _of_raw_values(pairs: PairForm) -> list[str]:
    """What ends a raw value."""
    if pairs.value_close is not None:
        return ["    VALUE_CLOSE = VALUE_END_AROUND_KEY"]
    if pairs.guessed:
        lines = assignment("AFTER_VALUE", called("Guess", map(literal, _guess(pairs.following))), INDENT)
    else:
        lines = ["    AFTER_VALUE = Marks(end=VALUE_END)"]
    if pairs.next_pair is not None:
        lines += ["    VALUE_CLOSERS = VALUE_END", f"    NEXT_PAIR = {texts(pairs.next_pair)}"]
    lines += [f"    LITERALS = {literal(pairs.literals)}"] if pairs.literals else []
    if pairs.bare is not None:
        lines += assignment("BARE_END", called("Guess", map(literal, _guess(pairs.bare))), INDENT)
    return lines


def _guess(following: Following) -> tuple[str, str]:
    """Where a value ends, and what may turn out to be that."""
    end = pattern_of(following, over=True, key=f"(?P<key>{KEY})")
    return f"(?={re.escape(following.close)}{end})", start_of(following)


def _follow(following: Following) -> tuple[str, str]:
    return after_quoted(following, over=False), after_quoted(following, over=True)


# Markers and slots


def _marks(name: str, kinds: Kinds, respelled: Sequence[str] = ()) -> list[str]:
    """`respelled`: the kinds whose markers may be spelled otherwise."""
    alike = [kind for kind, _ in kinds if kind in respelled]
    first = [texts(alike, "respelled")] if alike else []
    return assignment(name, called("Marks", [*first, *(_kind(kind, markers) for kind, markers in kinds)]), INDENT)


def _kind(kind: str, markers: str | Sequence[str]) -> Expression:
    """The markers of one kind: the name of a constant, or texts."""
    return f"{kind}={markers}" if isinstance(markers, str) else texts(markers, kind)


def _by_name(markers: Sequence[str], groups: Groups) -> str:
    """Markers by the names of their groups, and those of no group as they are."""
    left, named = list(markers), []
    for name, items in groups.items():
        if (
            name not in ("TURN_ANCHORS", "PROMPT_HEADS")
            and set(items) <= set(markers)
            and not set(items).isdisjoint(left)
        ):
            named.append(name)
            left = [text for text in left if text not in items]
    return " + ".join([*named, *([str(texts(left))] if left else [])])


def _slots(name: str, slots: Sequence[SlotEnd], respelled: Sequence[str], end: str = "_END") -> list[str]:
    items = []
    for slot, name_of_end in named_ends(slots, end):
        kinds: list[Expression] = [texts(("suffix",), "respelled")] if slot.suffixes and "suffix" in respelled else []
        kinds += [f"suffix={name_of_end}"] if slot.suffixes else []
        kinds += [texts(slot.nexts, "next")] if slot.nexts else []
        kinds += [texts(slot.bare, "bare")] if slot.bare else []
        items.append(called("", [literal(slot.kind), called("Marks", kinds), literal(slot.stops)]))
    return assignment(name, called("", items), INDENT)
