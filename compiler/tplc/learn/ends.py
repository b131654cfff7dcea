"""What ends a turn?

answered                   "{bot}zqcontent0x{end}"
… followed by a question   "{bot}zqcontent0x{end}{user}zquser1x"
→  end "{end}"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, get_args

from tplc.ir.forms import texts_of
from tplc.ir.markers import common_prefix, common_suffix, ends_in_text
from tplc.ir.nodes import FormMarker, TemplateIR, Text
from tplc.ir.write import write_message
from tplc.learn.align import cut_left, cut_right, token_spans
from tplc.learn.probe import (
    CONTENT,
    REASONING,
    Prober,
    Refusal,
    Setup,
    after_content,
    asks,
    assistant,
    id_of,
    sentinel_call,
)
from tplc.learn.turn import TURN, TurnFacts, cut_common, user_header
from tplc.messages import Call, Follow, Message

_LONG_END = 64
_FOLLOWS: tuple[Follow, ...] = ("none", "user")
_FOLLOWS_CALLS: tuple[Follow, ...] = (*_FOLLOWS, "tool")


@asks("turn", TURN)
def learn_ends(prober: Prober, base: Setup, turn: TurnFacts) -> tuple[str, ...]:
    """Return the texts that end a turn: after plain content at the end of a conversation, and before a user message. If
    nothing ends a turn, the next message's header does."""
    ends: list[str] = []
    last = after_content(prober, replace(base, follow="none"))
    next_user = after_content(prober, replace(base, follow="user"))
    with_tools = after_content(prober, replace(base, follow="user", tools="full"))
    if next_user is not None and with_tools is not None and with_tools != next_user:
        # tools may be written into the next message's header
        whole = next_user[: cut_common(next_user, with_tools)].rstrip()
        shared = common_prefix(next_user, with_tools).strip()
        next_user = whole or (shared if len(shared) >= 3 else next_user)  # less is no mark of anything
    before_user = user_header(prober, base)
    if last is None:
        last = ""
    if next_user is not None:
        shared = common_prefix(last, next_user)
        if len(shared) < len(last):
            last = _without_appended(last, next_user, turn, before_user)
    if last.strip():
        ends.append(last)
    if next_user is not None and next_user.strip() and not (last.strip() and next_user.startswith(last.rstrip())):
        own = next_user[: _header_at(next_user, before_user)]
        if not own.strip() and not last.strip():
            own = next_user.rstrip() or next_user
        own = _first_mark(own) if own.strip() else _opening_mark(next_user)
        if own.strip() and own not in ends:
            ends.append(own)
    return (*ends, *_end_of_conversation(prober, base, ends))


def _end_of_conversation(prober: Prober, base: Setup, ends: Sequence[str]) -> list[str]:
    """Return an end that answers may contain as well together with the text that the template writes after it at the
    end of a conversation.  Only together do they end an output that continues so."""
    last = after_content(prober, replace(base, follow="none")) or ""
    appended = prober.tail([], base, generation=True)
    found = []
    for end in ends:
        rest = last.removeprefix(end.rstrip())
        is_appended = isinstance(appended, str) and rest.strip() in appended
        if ends_in_text(end) and rest != last and rest.strip() and not is_appended:
            found.append(last.rstrip())
    return found


@asks("turn", TURN)
def learn_other_ends(prober: Prober, base: Setup, called: Setup | None, ir: TemplateIR) -> tuple[str, ...]:
    """Return the ends of turns of other shapes than plain content, if none of the known ends follows their last
    part."""
    before_user = user_header(prober, base)
    found: list[str] = []
    for setup, message, case in _shapes(prober, base, called, ir):
        for follow in _FOLLOWS_CALLS if case else _FOLLOWS:
            rest = _after(prober, replace(setup, follow=follow), message, case, ir)
            if not rest.strip() or any(end.strip() in rest for end in (*ir.turn.ends, *found)):
                continue
            if follow == "tool":
                # Of the header of results, the model writes the first mark.  A word may be in content as well.
                ends = [mark for mark in [_opening_mark(rest)] if token_spans(mark)]
            else:
                own = rest[: _header_at(rest, before_user)] if follow == "user" else rest
                # A mark that other markers hold says nothing alone: the text around it does.
                ends = [_first_mark(own) if own.strip() else _opening_mark(rest), rest.rstrip()]
            found += [end for end in ends if end.strip() and not _is_in_marker(ir, end.strip())][:1]
    return tuple(found)


def _is_in_marker(ir: TemplateIR, text: str) -> bool:
    calls = (item.text for item in ir.tools.call if isinstance(item, Text))
    roles = (marker_text for role in get_args(FormMarker) if role != "turn.end" for marker_text in texts_of(ir, role))
    return any(text in marker for marker in (ir.turn.header, *ir.turn.anchors, ir.tools.separator, *calls, *roles))


def _shapes(
    prober: Prober, base: Setup, called: Setup | None, ir: TemplateIR
) -> Iterator[tuple[Setup, Message, tuple[Call, ...]]]:
    """Yield one message of each shape, how to render it, and its calls."""
    base = _without_printed_none(prober, base, ir.reasoning.key)
    key = ir.reasoning.key
    calls = () if called is None or ir.tools.format == "none" else (sentinel_call(0),)
    for setup, made in ((base, ()), *([(called, calls)] if called is not None and calls else ())):
        for content, reasoning in product((CONTENT, ""), (REASONING, "") if key else ("",)):
            if content or reasoning or made:
                pair = (key, reasoning) if reasoning else None
                yield setup, assistant(setup, content=content or None, reasoning=pair, calls=made), made


def _without_printed_none(prober: Prober, base: Setup, key: str) -> Setup:
    """Return the setup whose form of absent content leaves less text after reasoning: a template may print None."""
    forms = (base, replace(base, content="empty"))
    tails = [prober.tail([assistant(form, reasoning=(key, REASONING))], form) for form in forms] if key else []
    lengths = [len(tail) for tail in tails if isinstance(tail, str) and REASONING in tail]
    return forms[1] if len(lengths) == len(forms) and lengths[1] < lengths[0] else base


def _after(prober: Prober, setup: Setup, message: Message, calls: tuple[Call, ...], ir: TemplateIR) -> str:
    """Return what follows everything that the format writes of a message in a render; "" if the render doesn't show
    it."""
    tail = prober.tail([message], setup, calls=calls)
    if isinstance(tail, Refusal):
        return ""
    if not calls and message.get("content"):
        return tail.partition(CONTENT)[2]
    if not calls:
        closed = tail.partition(REASONING)[2].lstrip()
        end = ir.reasoning.end.strip()
        return closed.removeprefix(end) if end and closed.startswith(end) else ""
    last = str(calls[-1].arguments[-1][1])
    if last not in tail:
        return ""
    rest = tail[tail.rindex(last) + len(last) :]
    for section_end in (ir.tools.section_end, ""):  # it may close several calls only
        form = replace(ir, turn=replace(ir.turn, ends=()), tools=replace(ir.tools, section_end=section_end))
        closing = write_message(form, _as_read(setup, calls)).rpartition(last)[2].rstrip()
        if closing and rest.startswith(closing):
            rest = rest[len(closing) :]
            return rest.partition(CONTENT)[2] if CONTENT in rest else rest  # it may come after the calls
    return ""


def _as_read(setup: Setup, calls: tuple[Call, ...]) -> dict[str, Any]:
    made = [
        {"id": id_of(i, setup), "function": {"name": call.name, "arguments": dict(call.arguments)}}
        for i, call in enumerate(calls)
    ]
    return {"content": "", "reasoning_content": "", "tool_calls": made}


def _opening_mark(text: str) -> str:
    """Return the mark that a text begins with, else the text."""
    space = len(text) - len(text.lstrip())
    spans = token_spans(text)
    return text[: spans[0][1]] if spans and spans[0][0] == space else text.rstrip()


def _first_mark(end: str) -> str:
    """Return the first marker of a text that opens the next message; it is enough to end the turn."""
    spans = token_spans(end)
    space = len(end) - len(end.lstrip())
    return end[: spans[0][1]] if len(end) > _LONG_END and spans and spans[0][0] == space else end


def _without_opened_header(shared: str, last: str, next_user: str) -> str:
    """Return the ends without the common beginning of two headers that continue differently."""
    spans = token_spans(shared)
    words = last[len(shared) :][:1].isalnum() and next_user[len(shared) :][:1].isalnum()
    if words and len(spans) > 1 and spans[-1][1] == len(shared):
        return shared[: spans[-1][0]]
    return shared


def _header_at(text: str, before_user: str) -> int:
    """Return where in `text`, which ends with the user's header, that header begins."""
    shared = common_suffix(text, before_user)
    return cut_right(text, len(text) - len(shared)) if len(shared) < len(text) else 0


def _without_appended(last: str, next_user: str, turn: TurnFacts, before_user: str) -> str:
    """Return `last` without the text that the template always appends (a generation prompt, a final instruction)."""
    shared = last[: cut_left(last, len(common_prefix(last, next_user)))]
    opening = turn.prompts[0].text if turn.prompts else ""
    for size in range(min(len(opening), len(shared)), 0, -1):
        if shared.endswith(opening[:size]) and cut_left(opening, size) == size:
            return shared[: len(shared) - size]
    at = _header_at(next_user, before_user)
    if 0 < at < len(shared):
        return shared[:at]
    return _without_opened_header(shared, last, next_user) or last
