"""How are calls written: section, separators, the layout of one call?

    one, two and three calls
    `<all>[f {…}]</all>`, `<all>[f {…}] [g {…}]</all>`, …
    →  section `<all>` … `</all>`, separator ` `, call `[` name ` ` arguments `]`

Counters are text that counts up from call to call.  An id is a slot of its own, or the word that a counter stands in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.ir.nodes import (
    CallId,
    ContentPlace,
    IdPosition,
    JsonFields,
    Layout,
    ObjectArguments,
    Slot,
    SlotKind,
    Text,
    ToolFormat,
    Tools,
    ValueStyle,
)
from tplc.learn.align import (
    Repetition,
    common_prefix,
    common_suffix,
    cut_left,
    cut_right,
    open_token,
    pieces,
    reads_well,
    repetition,
    token_spans,
)
from tplc.learn.arguments import (
    INDEX,
    ArgumentFacts,
    call_turn,
    generalise,
    learn_arguments,
    merged,
    text_items,
)
from tplc.learn.conversation import CallProbe
from tplc.learn.probe import (
    CONTENT,
    Prober,
    Refused,
    Setup,
    assistant,
    key_of,
    name_of,
    own_id,
    value_of,
)
from tplc.learn.reasoning import ReasoningFacts
from tplc.learn.turn import TurnFacts
from tplc.messages import Call


@dataclass(frozen=True, slots=True)
class CallFacts:
    """`turn` has a shorter header where calls reach back into it; `ends` are turn ends seen after calls;
    `content_gap` is the text between content and the first call where content comes before, `lead` what opens the first
    call in a turn of calls only."""

    turn: TurnFacts
    tools: Tools
    content: ContentPlace
    content_gap: str
    lead: str
    ends: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A turn with calls, cut at its slots: text before the first, inside each call, between calls, after the last.

    `kinds` are the slots of one call in order, the arguments as a whole being one of them.
    """

    kinds: tuple[SlotKind, ...]
    pre: str
    inner: tuple[tuple[str, ...], ...]
    mids: tuple[str, ...]
    post: str


def learn_calls(
    prober: Prober, turn: TurnFacts, facts: ReasoningFacts, probe: CallProbe, ends: tuple[str, ...]
) -> CallFacts:
    setup = probe.setup
    arguments = learn_arguments(prober, turn, setup)
    counts = (1, 2, 3) if probe.parallel else (1,)
    outlines = [o for n in counts if (o := _outline(prober, turn, setup, facts, arguments, n)) is not None]
    marked, base = _mark_counters(outlines)
    pre, inner, mids, post = marked.pre, marked.inner, marked.mids, marked.post
    post, turn_end = _split_turn_end(prober, turn, setup, facts, arguments, marked.post, ends, len(counts))
    if mids:
        if not pre.strip():
            shared = _reach_back(turn.header, mids[0])
            if shared:
                turn = turn.with_header_until(len(turn.header) - len(shared))
                pre = shared + pre
        split = repetition(pre, mids[0], post)
    else:
        split = Repetition("", pre, post, "", "")
    if split.end and not split.start.strip() and not split.end.isspace() and not turn_end:
        turn_end, split = split.end, replace(split, end="")
    if not turn_end:
        closer, turn_end = _end_behind_calls(split, ends)
        split = replace(split, end=closer)
    layout = _layout(split, marked.kinds, inner[0])
    json_fields = _json_fields(layout, arguments)
    layout, call_id = _call_id(layout, json_fields)
    call_id = replace(call_id, pattern=_id_pattern(prober, turn, setup))
    place, gap, rest = _content_place(prober, turn, setup, facts)
    if rest.strip() and split.end.endswith(rest) and split.end != rest:
        # what stands after content as well as after calls ends the turn, not the calls
        turn_end, split = rest, replace(split, end=split.end.removesuffix(rest))
    section_start = split.start
    if place == "before":
        lead = split.start + split.open
        extra = gap[: len(gap) - len(gap.lstrip())]
        if gap.endswith(lead) and gap[: len(gap) - len(lead)].isspace():
            section_start = gap[: len(gap) - len(lead)] + section_start
        elif extra and not section_start[:1].isspace() and section_start.strip():
            section_start = extra + section_start
    elif place == "after" and gap.isspace():
        # the last closing has the white space before content, whatever it has at the end of a turn
        if split.end.strip():
            split = replace(split, end=split.end.rstrip() + gap)
        else:
            split = replace(split, end=gap)
        layout = _layout(split, marked.kinds, inner[0])
    tools = Tools(
        format=_format(json_fields, arguments),
        section_start=section_start,
        separator=split.separator,
        section_end=split.end,
        call=layout,
        json=json_fields,
        arguments=arguments.arguments,
        dialect=arguments.dialect,
        call_id=call_id,
        index_base=base,
        parallel=probe.parallel,
    )
    return CallFacts(
        turn=turn,
        tools=tools,
        content=place,
        content_gap=gap if place == "before" else "",
        lead=pre,
        ends=(turn_end,) if turn_end.strip() else (),
        refused=arguments.refused,
    )


def probe_call(call: int) -> Call:
    return Call(name_of(call), ((key_of(call), value_of(call, 0)),))


def _outline(
    prober: Prober, turn: TurnFacts, setup: Setup, facts: ReasoningFacts, arguments: ArgumentFacts, count: int
) -> Outline | None:
    text = call_turn(prober, turn, setup, [probe_call(i) for i in range(count)])
    if isinstance(text, Refused) or any(name_of(i) not in text for i in range(count)):
        return None
    return outline(facts.without_blank(text), setup, arguments, count)


def outline(text: str, setup: Setup, arguments: ArgumentFacts, count: int) -> Outline:
    calls = [_slots(text, setup, arguments, call) for call in range(count)]
    begins = [slots[0][1] for slots in calls]
    ends = [slots[-1][2] for slots in calls]
    return Outline(
        kinds=tuple(kind for kind, _, _ in calls[0]),
        pre=generalise(text[: begins[0]], setup),
        inner=tuple(tuple(generalise(text[a[2] : b[1]], setup) for a, b in pairwise(slots)) for slots in calls),
        mids=tuple(generalise(text[end:begin], setup) for end, begin in zip(ends, begins[1:], strict=False)),
        post=generalise(text[ends[-1] :], setup),
    )


def _slots(text: str, setup: Setup, arguments: ArgumentFacts, call: int) -> list[tuple[SlotKind, int, int]]:
    """The slots of one call by first occurrence: (kind, start, end), in order."""
    key, value = key_of(call), value_of(call, 0)
    begin = text.index(key)
    begin = _back_over(text, begin, arguments.opened)
    end = text.index(value) + len(value)
    quote = _quote_close(arguments)
    if quote and text.startswith(quote, end):
        end += len(quote)
    end = _over(text, end, arguments.closed, setup, call)
    slots: list[tuple[SlotKind, int, int]] = [("arguments", begin, end)]
    sentinels: list[tuple[SlotKind, str | None]] = [("name", name_of(call)), ("id", own_id(call, setup))]
    for kind, sentinel in sentinels:
        if sentinel and sentinel in text:
            at = text.index(sentinel)
            slots.append((kind, at, at + len(sentinel)))
    return sorted(slots, key=lambda slot: slot[1])


def _quote_close(arguments: ArgumentFacts) -> str:
    strings = arguments.dialect.top.strings
    return strings[0].close if strings else ""


def _back_over(text: str, at: int, opened: str) -> int:
    """The start of `opened`, which ends at `at`; white space inside it is free (pretty-printed values)."""
    for ch in reversed(opened):
        if ch.isspace():
            continue
        while at and text[at - 1].isspace() and text[at - 1] != ch:
            at -= 1
        if at and text[at - 1] == ch:
            at -= 1
    lead = opened[: len(opened) - len(opened.lstrip())]
    return at - len(lead) if lead and text.endswith(lead, 0, at) else at


def _over(text: str, at: int, closed: str, setup: Setup, call: int) -> int:
    """The end of `closed`, which begins at `at`; white space is free, stand-ins are this call's sentinels."""
    literal = closed.replace("zqkey0token0x", key_of(call))
    if text.startswith(literal, at):
        return at + len(literal)
    for ch in literal:
        if ch.isspace():
            continue
        while at < len(text) and text[at].isspace():
            at += 1
        if at < len(text) and text[at] == ch:
            at += 1
    return at


# -- counters ---------------------------------------------------------------------------------------------------------


def _mark_counters(outlines: Sequence[Outline]) -> tuple[Outline, int]:
    """The last outline with counters replaced by a stand-in, and the first counter's value."""
    last = outlines[-1]
    if len(last.inner) < 2:
        return last, 0
    base = 0
    inner = list(last.inner[0])
    for i, (first, second) in enumerate(zip(last.inner[0], last.inner[1], strict=True)):
        marked, value = _marked(first, second)
        inner[i] = marked
        base = value if value is not None else base
    pre, mids, post = last.pre, last.mids, last.post
    if len(mids) > 1:
        marked, value = _marked(mids[0], mids[1])
        if value is not None:
            parts = marked.split(INDEX)
            pre, opened_at = _counters_in_opening(pre, parts)
            post = _counters_in_closing(post, parts)
            base = value if opened_at is None else opened_at
            mids = (marked,)
    return Outline(last.kinds, pre, (tuple(inner),), mids, post), base


def _counters_in_opening(pre: str, parts: Sequence[str]) -> tuple[str, int | None]:
    """`pre` with the numbers marked that stand where counters open an item, and the first of them.  `parts` are the
    texts around the counters between two items."""
    for first in range(1, len(parts)):
        tail = "".join(r"(\d+)" + re.escape(part) for part in parts[first:])
        found = re.search(tail + r"\Z", pre)
        if found:
            return pre[: found.start()] + "".join(INDEX + part for part in parts[first:]), int(found.group(1))
    return pre, None


def _counters_in_closing(post: str, parts: Sequence[str]) -> str:
    """`post` with the numbers marked that stand where counters close an item."""
    for last in range(len(parts) - 1, 0, -1):
        head = re.escape(parts[0]) + "".join(r"\d+" + re.escape(part) for part in parts[1:last]) + r"\d+"
        found = re.match(head, post)
        if found:
            return INDEX.join(parts[:last]) + INDEX + post[found.end() :]
    return post


def _marked(first: str, second: str) -> tuple[str, int | None]:
    """`first` with a number replaced that is one more in `second`; and the number."""
    one, two = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(one) != len(two) or one[::2] != two[::2]:
        return first, None
    value = None
    for i in range(1, len(one), 2):
        if int(two[i]) == int(one[i]) + 1:
            value = int(one[i]) if value is None else value
            one[i] = INDEX
    return "".join(one), value


# -- around the calls -------------------------------------------------------------------------------------------------


def _split_turn_end(
    prober: Prober,
    turn: TurnFacts,
    setup: Setup,
    facts: ReasoningFacts,
    arguments: ArgumentFacts,
    post: str,
    ends: tuple[str, ...],
    count: int,
) -> tuple[str, str]:
    """What follows the last call, without the end of the turn; and a turn end seen after calls only."""
    trailer = _trailer(prober, setup, post, count)
    if trailer:
        return post[: len(post) - len(trailer)].rstrip(), ""
    for end in ends:
        if end.strip() and post.endswith(end):
            return post[: len(post) - len(end)], ""
        if end.strip() and setup.follow != "none" and end in post:
            return post[: post.index(end)], ""  # what follows it is the next message's
        if end.strip() and post.rstrip().endswith(end.strip()):
            return post[: post.rindex(end.strip())].rstrip(), ""
    followed = _outline(prober, turn, replace(setup, follow="tool"), facts, arguments, count)
    alone = _outline(prober, turn, replace(setup, follow="none"), facts, arguments, count)
    if followed is not None and alone is not None and not followed.post.startswith(alone.post):
        # something is appended to every render
        shared = alone.post[: cut_left(alone.post, len(common_prefix(alone.post, followed.post)))]
        if not shared.strip() and not (_after_content(prober, setup) or "").endswith(alone.post):
            return post, ""  # the call itself is another when something follows it
        for end in ends:
            if end.strip() and end.strip() in shared:
                return shared[: shared.index(end.strip())], ""
        for anchor in turn.anchors:
            for size in range(min(len(anchor), len(shared)), 0, -1):
                if shared.endswith(anchor[:size]) and reads_well(anchor, size):
                    return shared[: len(shared) - size], ""
        return shared, ""
    return post, ""


def _end_behind_calls(split: Repetition, ends: Sequence[str]) -> tuple[str, str]:
    """What closes the calls, and what ends the turn behind them: a mark that is written as other ends are, between the
    same brackets, where no marker of calls is."""
    spans = token_spans(split.end)
    if len(spans) < 2 or spans[-1][1] < len(split.end.rstrip()):
        return split.end, ""
    last = split.end[spans[-1][0] : spans[-1][1]]
    others = split.start + split.open + split.close + split.separator + split.end[: spans[-1][0]]
    marks = {_brackets(others[start:stop]) for start, stop in token_spans(others)}
    usual = {_brackets(end[start:stop]) for end in ends for start, stop in token_spans(end)[-1:]}
    if _brackets(last) not in usual or _brackets(last) in marks:
        return split.end, ""
    return split.end[: spans[-1][0]], split.end[spans[-1][0] :]


def _brackets(mark: str) -> tuple[str, str]:
    """What a mark is written between: the signs before and behind its words."""
    inner = mark.strip("".join(ch for ch in set(mark) if not ch.isalnum()))
    at = mark.index(inner) if inner else 0
    return mark[:at], mark[at + len(inner) :]


def _trailer(prober: Prober, setup: Setup, post: str, count: int) -> str:
    """What every render ends with, answered or not (an instruction, a prompt that is always there)."""
    calls = [probe_call(i) for i in range(count)]
    asked = prober.tail([], setup, calls=calls)
    answered = prober.tail([assistant(setup, calls=calls)], setup, calls=calls)
    if isinstance(asked, Refused) or isinstance(answered, Refused) or answered.startswith(asked):
        return ""
    shared = common_suffix(asked, post)
    rest = _after_content(prober, setup)
    # what is in every render stands behind a text as well
    shared = common_suffix(shared, rest) if rest is not None else shared
    return post[cut_right(post, len(post) - len(shared)) :]


def _after_content(prober: Prober, setup: Setup) -> str | None:
    """What follows a text at the end of the conversation; None where it does not show."""
    tail = prober.tail([assistant(setup, content=CONTENT)], setup)
    return None if isinstance(tail, Refused) or CONTENT not in tail else tail[tail.rindex(CONTENT) + len(CONTENT) :]


def _reach_back(header: str, mid: str) -> str:
    """What the text between calls shares with the end of the header: then the first call opens inside the header."""
    shared = common_suffix(header, mid)
    if shared != mid:
        shared = header[cut_right(header, len(header) - len(shared)) :]
    while shared and not reads_well(mid, len(mid) - len(shared)):
        shared = shared[1:]
    if shared == header:
        # every call repeats the whole header: its last mark is what opens a call
        found, spans = pieces(header), token_spans(header)
        if spans and spans[-1][1] == len(header):
            shared = header[spans[-1][0] :]
        else:
            shared = header[header.rindex(found[-1]) :] if len(found) > 1 and not found[-1].isalnum() else ""
    return shared if shared.strip() and len(shared) < len(header) else ""


def _content_place(
    prober: Prober, turn: TurnFacts, setup: Setup, facts: ReasoningFacts
) -> tuple[ContentPlace, str, str]:
    """Where one message's content stands beside calls, the text between content and call, and what follows both."""
    call = probe_call(0)
    tail = prober.tail([assistant(setup, content=CONTENT, calls=[call])], setup, calls=[call])
    if isinstance(tail, Refused) or CONTENT not in tail or name_of(0) not in tail:
        return "none", "", ""
    text = turn.turn_text(tail)
    first = min(text.index(s) for s in (name_of(0), own_id(0, setup)) if s and s in text)
    at = text.index(CONTENT)
    if at < first:
        return "before", generalise(text[at + len(CONTENT) : first], setup), ""
    rest = text[at + len(CONTENT) :] if setup.follow == "none" else ""
    return "after", text[len(text[:at].rstrip()) : at], rest


# -- the layout of one call -------------------------------------------------------------------------------------------


def _layout(split: Repetition, kinds: Sequence[SlotKind], inner: Sequence[str]) -> Layout:
    items = text_items(split.open)
    for i, kind in enumerate(kinds):
        items.append(Slot(kind))
        items += text_items(inner[i] if i < len(inner) else split.close)
    return merged(items)


def _format(fields: JsonFields | None, facts: ArgumentFacts) -> ToolFormat:
    if fields is not None:
        return "json_native"
    if isinstance(facts.arguments, ObjectArguments):
        return "tag_with_json"
    pairs = facts.arguments
    keyword = facts.dialect.top.strings or (len(pairs.pair) == 3 and pairs.separator.strip())
    return "keyword_arguments" if keyword and not facts.dialect.types else "tag_with_tagged"


_PLACEHOLDER = {"name": '"@name@"', "id": '"@id@"', "index": "0", "arguments": '{"@arguments@": 0}'}


def _json_fields(layout: Layout, facts: ArgumentFacts) -> JsonFields | None:
    """Whether the call is one JSON object: decode it with placeholders in its slots and look where they come out."""
    if not isinstance(facts.arguments, ObjectArguments):
        return None
    text = "".join(
        item.text
        if isinstance(item, Text)
        else f"@{item.kind}@"
        if item.kind != "arguments"
        else _PLACEHOLDER["arguments"]
        for item in layout
    )
    decoder = json.JSONDecoder()
    first_slot = text.index("@")
    for match in re.finditer(r"\{", text):
        if match.start() > first_slot:
            return None
        try:
            value, end = decoder.raw_decode(text, match.start())
        except json.JSONDecodeError:
            continue
        if not isinstance(value, dict):
            continue
        found = _fields_of(value, text[: match.start()], text[end:])
        if found is not None:
            return found
    return None


def _fields_of(value: dict[str, object], prefix: str, suffix: str) -> JsonFields | None:
    if list(value) == ["@name@"] and value["@name@"] == {"@arguments@": 0}:
        return JsonFields(prefix, suffix, (), (), name_is_key=True)
    paths: dict[str, tuple[str, ...]] = {}
    constants: list[tuple[tuple[str, ...], str]] = []

    def walk(node: object, path: tuple[str, ...]) -> None:
        if node == {"@arguments@": 0}:
            paths["arguments"] = path
        elif isinstance(node, dict):
            for key, child in node.items():
                walk(child, (*path, key))
        elif isinstance(node, str) and re.search("@(name|id|index)@", node):
            for kind in re.findall("@(name|id|index)@", node):
                paths.setdefault(kind, path)
        else:
            constants.append((path, json.dumps(node, ensure_ascii=False)))

    walk(value, ())
    if "name" not in paths or "arguments" not in paths:
        return None
    return JsonFields(
        prefix,
        suffix,
        name=paths["name"],
        arguments=paths["arguments"],
        id=paths.get("id", paths.get("index")),
        index=paths.get("index") if "id" in paths else None,
        constants=tuple(constants),
    )


# -- ids --------------------------------------------------------------------------------------------------------------


def _call_id(layout: Layout, fields: JsonFields | None) -> tuple[Layout, CallId]:
    kinds = [item.kind for item in layout if isinstance(item, Slot)]
    if "id" in kinds:
        return layout, CallId(_position(layout, Slot("id")), (Slot("id"),))
    if "index" not in kinds:
        return layout, CallId()
    items = list(layout)
    at = items.index(Slot("index"))
    left, right = _word_left(items, at, fields is not None), _word_right(items, at, fields is not None)
    if left is None or right is None:
        return layout, CallId()
    word = (*left, Slot("index"), *right)
    position = _position(layout, Slot("index")) if Slot("name") not in word else "pre_func_name"
    return layout, CallId(position, word)


def _id_pattern(prober: Prober, turn: TurnFacts, setup: Setup) -> str | None:
    """The shape a template demands of ids: it refuses others."""
    if setup.naming:
        return None
    call = probe_call(0)
    taken = [isinstance(call_turn(prober, turn, replace(setup, ids=size), [call]), str) for size in (9, 24, setup.ids)]
    return f"[a-zA-Z0-9]{{{setup.ids}}}" if setup.ids and taken[2] and not all(taken) else None


_Items = list["Text | Slot"]


def _word_left(items: _Items, at: int, in_json: bool) -> _Items | None:
    """What stands before the counter in its own word; None inside a bracketed token."""
    word: _Items = []
    for item in reversed(items[:at]):
        if isinstance(item, Slot):
            if item.kind not in ("name", "id"):
                return word
            word.insert(0, item)
            continue
        cut = _last_boundary(item.text, in_json)
        if cut is None:
            return None
        if cut < len(item.text):
            word.insert(0, Text(item.text[cut:]))
        if cut > 0:
            return word
    return word


def _word_right(items: _Items, at: int, in_json: bool) -> _Items | None:
    word: _Items = []
    for item in items[at + 1 :]:
        if isinstance(item, Slot):
            if item.kind not in ("name", "id"):
                return word
            word.append(item)
            continue
        cut = _first_boundary(item.text, in_json)
        if cut is None:
            return None
        if cut:
            word.append(Text(item.text[:cut]))
        return word
    return word


def _last_boundary(text: str, in_json: bool) -> int | None:
    """Where the last word of `text` begins: after a bracketed token, a quote or white space; None inside a token."""
    if in_json:
        return text.rindex('"') + 1 if '"' in text else None
    if open_token(text):
        return None
    ends = [end for _, end in token_spans(text)] + [i + 1 for i, ch in enumerate(text) if ch.isspace() or ch in "\"'"]
    return max(ends, default=0)


def _first_boundary(text: str, in_json: bool) -> int | None:
    if in_json:
        return text.index('"') if '"' in text else None
    begins = [begin for begin, _ in token_spans(text)] + [i for i, ch in enumerate(text) if ch.isspace() or ch in "\"'"]
    return min(begins, default=len(text))


def _position(layout: Layout, slot: Slot) -> IdPosition:
    at, name, arguments = (layout.index(s) for s in (slot, Slot("name"), Slot("arguments")))
    if at < name:
        return "pre_func_name"
    return "between_func_and_args" if at < arguments else "post_args"


__all__ = ["CallFacts", "ValueStyle", "learn_calls"]
