"""Where is reasoning written, and what opens and closes it?

{"reasoning_content": R, "content": C}  →  "<r>zqreason0x</r>zqcontent0x"
{"content": C}                          →  "<r></r>zqcontent0x"
→  start "<r>", end "</r>", and the same markers, empty, lead a turn without reasoning
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tplc.ir.markers import common_prefix, could_be_prose, is_unmistakable
from tplc.ir.nodes import Reasoning, ReasoningMode
from tplc.ir.printed import quoted
from tplc.learn.align import cut_left, pieces
from tplc.learn.candidates import Candidates
from tplc.learn.contexts import settings
from tplc.learn.probe import (
    CONTENT,
    CONTROL,
    REASONING,
    Prober,
    Refusal,
    Setup,
    asks,
    assistant,
    name_of,
    sentinel_call,
)
from tplc.learn.stripped import learn_stripped
from tplc.learn.turn import TurnFacts
from tplc.messages import REASONING_KEYS, Call

REASONED = "Where is reasoning written, and what opens and closes it?"
# keys of messages and names of methods that cannot carry reasoning
_NOT_KEYS = frozenset(
    "role content tool_calls function name arguments id type parameters properties description required items text "
    "function_call tool_call_id refusal strip lstrip rstrip split get keys values upper lower startswith endswith "
    "append pop replace index0 index first last previtem nextitem length join".split()
)


@dataclass(frozen=True, slots=True)
class ReasoningShown:
    """One render that shows reasoning: the setup, the key, what is before it in the turn, after it up to the next
    part (content or the first call's name), what that part is, and what follows it."""

    setup: Setup
    key: str
    before: str
    after: str
    then: str
    rest: str


@dataclass(frozen=True, slots=True)
class ReasoningMarkers:
    """What opens and closes reasoning, and the renders that `shown` it: none where the template only strips it.

    `lead` is before content in a turn without reasoning; it begins with `blank`, an empty or a closed block."""

    start: str
    end: str
    lead: str
    blank: str = ""
    shown: tuple[ReasoningShown, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.start or self.end)

    @property
    def opens_content(self) -> str:
        """Return the rest of the lead, which opens content."""
        return self.lead[len(self.blank) :]

    def with_opener(self, opener: str) -> ReasoningMarkers:
        """Return the same, with a text before it that was taken for the turn's header."""
        start, lead = opener + self.start, opener + self.lead
        return replace(self, start=start, lead=lead, blank=_blank(lead, start, self.end))

    def without_blank(self, text: str) -> str:
        """Return a turn's text without the empty reasoning that leads it."""
        if self.blank and text.startswith(self.blank):
            return text[len(self.blank) :]
        start, end = self.start.strip(), self.end.strip()
        if start and end:
            # The white space around it may depend on the shape of the turn.
            opened = rf"(?:{re.escape(start)}\s*){'?' * (self.blank.strip() == end)}"
            empty = re.match(rf"\s*{opened}{re.escape(end)}", text)
            if empty:
                trailing = self.end[len(self.end.rstrip()) :]
                return text[empty.end() + len(common_prefix(text[empty.end() :], trailing)) :]
        return text


@asks("reasoning", REASONED)
def learn_markers(
    prober: Prober, turn: TurnFacts, base: Setup, contexts: Sequence[Setup], calls: Setup | None, found: Candidates
) -> ReasoningMarkers:
    """Return the openers and closers of reasoning: from renders, otherwise from a strip in the template or from a
    prompt."""
    lead = plain_lead(prober, turn, base)
    shown = _first_shown(prober, turn, base, contexts, calls, found)
    if shown:
        start, end = _markers(shown, turn, lead, _call_lead(prober, turn, calls))
    else:
        start, end = learn_stripped(prober, turn, base, found, lead)
    return ReasoningMarkers(start, end, lead, _blank(lead, start, end) if start or end else "", shown)


def with_end(markers: ReasoningMarkers) -> tuple[ReasoningMarkers, tuple[str, ...]]:
    """Leave out reasoning that only white space ends, because the beginning of content after it is unknown.  Return the
    remaining markers, and the reasons for what is left out."""
    if not markers or markers.end.strip():
        return markers, ()
    if markers.start.strip() and markers.opens_content.strip():
        # What opens content ends reasoning; other shapes show what does there.
        opener = markers.opens_content
        # White space before it may belong to a turn that begins with content.
        between = (s.after for s in markers.shown if s.then == CONTENT and s.after.strip() == opener.strip())
        return replace(markers, end=next(between, markers.end + opener)), ()
    place = f" of {markers.shown[0].key}" if markers.shown else ""
    why = (
        f"reasoning{place}: only white space ({quoted(markers.end)}) ends it, so the beginning of content or a "
        "call after it is unknown; only a template that writes a marker there can be read"
    )
    return ReasoningMarkers("", "", markers.lead), (why,)


@asks("reasoning", REASONED)
def learn_reasoning(prober: Prober, turn: TurnFacts, markers: ReasoningMarkers, calls: Setup | None) -> Reasoning:
    """Return the mode of reasoning, and its place."""
    if not markers:
        return Reasoning()
    shown = markers.shown
    only_calls = bool(shown) and all(s.then == name_of(0) for s in shown)
    after_content = False
    if shown and (could_be_prose(markers.start) or only_calls):
        # Content may contain the same punctuation.  Then the place matters in every turn, and is worth one more render.
        after_content = _after_content(prober, turn, shown[0].setup, calls, shown[0].key)
    mode = _mode(turn, markers.start, markers.end, only_calls)
    start = "" if mode == "delimiter" else markers.start  # white space opens nothing
    return Reasoning(mode, start, markers.end, shown[0].key if shown else "", after_content)


def plain_lead(prober: Prober, turn: TurnFacts, setup: Setup) -> str:
    tail = prober.tail([assistant(setup, content=CONTENT)], setup)
    assert not isinstance(tail, Refusal)
    text = turn.turn_text(tail)
    return text[: text.index(CONTENT)] if CONTENT in text else ""


def _call_lead(prober: Prober, turn: TurnFacts, calls: Setup | None) -> str:
    """Return the text before the name of the first call in a turn of calls only."""
    if calls is None:
        return ""
    one = [sentinel_call(0)]
    tail = prober.tail([assistant(calls, calls=one)], calls, calls=one)
    text = "" if isinstance(tail, Refusal) else turn.turn_text(tail)
    return text[: text.index(name_of(0))] if name_of(0) in text else ""


def _first_shown(
    prober: Prober, turn: TurnFacts, base: Setup, contexts: Sequence[Setup], calls: Setup | None, found: Candidates
) -> tuple[ReasoningShown, ...]:
    """Renders of the first key that shows reasoning: with content, and with calls."""
    keys = [*REASONING_KEYS, *(key for key in found.keys if key not in _NOT_KEYS and key not in REASONING_KEYS)]
    for setups in ((base, *contexts), tuple(_contexts_with_reasoning(prober, base, keys, found))):
        for key, setup in product(keys, setups):
            shown = tuple(_show(prober, turn, setup, calls, key))
            if shown:
                return shown
    return ()


def _contexts_with_reasoning(prober: Prober, base: Setup, keys: Sequence[str], found: Candidates) -> Iterator[Setup]:
    """Yield settings of undeclared variables with which a message shows reasoning under some key."""
    for setup in settings(base, found):
        message = {**assistant(setup, content=CONTENT), **{key: REASONING for key in keys if ":" not in key}}
        tail = prober.tail([message], setup)
        if not isinstance(tail, Refusal) and REASONING in tail:
            yield setup


def _printed_whole(prober: Prober, setup: Setup, key: str, calls: Sequence[Call]) -> bool:
    """Return whether a content part shows only because the template prints parts it does not know: so would any
    kind."""
    if not key.startswith("content:"):
        return False
    content = None if calls else CONTENT
    message = assistant(setup, content=content, reasoning=("content:" + CONTROL, REASONING), calls=calls)
    tail = prober.tail([message], setup, calls=calls)
    return not isinstance(tail, Refusal) and REASONING in tail


def _show(prober: Prober, turn: TurnFacts, context: Setup, calls: Setup | None, key: str) -> Iterator[ReasoningShown]:
    if _printed_whole(prober, context, key, ()):
        return
    tail = prober.tail([assistant(context, content=CONTENT, reasoning=(key, REASONING))], context)
    yield from _split(turn, context, key, tail, CONTENT)
    if calls is not None:
        setup = replace(calls, context=tuple(sorted({**dict(calls.context), **dict(context.context)}.items())))
        one: list[Call] = [sentinel_call(0)]
        if _printed_whole(prober, setup, key, one):
            return
        tail = prober.tail([assistant(setup, reasoning=(key, REASONING), calls=one)], setup, calls=one)
        yield from _split(turn, setup, key, tail, name_of(0))


def _after_content(prober: Prober, turn: TurnFacts, setup: Setup, calls: Setup | None, key: str) -> bool:
    """Return whether a message with both has its reasoning after the content, alone or with a call."""
    placement: list[list[Call]] = [[], [sentinel_call(0)]] if calls is not None else [[]]
    for some in placement:
        message = assistant(setup, content=CONTENT, reasoning=(key, REASONING), calls=some)
        tail = prober.tail([message], setup, calls=some)
        text = "" if isinstance(tail, Refusal) else turn.turn_text(tail)
        if REASONING in text.partition(CONTENT)[2]:
            return True
    return False


def _split(turn: TurnFacts, setup: Setup, key: str, tail: str | Refusal, then: str) -> Iterator[ReasoningShown]:
    if isinstance(tail, Refusal) or tail.count(REASONING) != 1 or CONTROL in tail:
        return
    text = turn.turn_text(tail)
    if REASONING not in text:
        return
    before, _, after = text.partition(REASONING)
    if then not in after:
        return
    at = after.index(then)
    yield ReasoningShown(setup, key, before, after[:at], then, after[at + len(then) :])


def _markers(shown: Sequence[ReasoningShown], turn: TurnFacts, lead: str, call_lead: str) -> tuple[str, str]:
    """Return start and end of reasoning: what is before it; what follows it, less what opens the next part.

    `lead` and `call_lead` are what is before content and before the first call in turns without reasoning.
    """
    shown = _without_calls_inside(shown, lead)
    start = shown[0].before
    header = turn.header
    for s in shown:
        opening = lead if s.then == CONTENT else call_lead
        if opening.strip() and s.after.endswith(opening) and s.after != opening:
            end = s.after[: len(s.after) - len(opening)]
            # Text after the header opens the next part, even if it is seen only with reasoning.
            end = end[: end.index(header)] if header.strip() and header in end else end
            if end.strip():
                return start, _with_lead(shown, end, lead)
    between = _before_similar_openers(shown, lead, call_lead)
    if between is not None:
        return start, between
    after = [s.after for s in shown]
    # an empty block, in a prompt or before plain content, is start and end and nothing else
    for block in (lead, *(prompt.head for prompt in turn.prompts)):
        end = block[len(start) :] if start and block.startswith(start) else ""
        if end.strip() and all(text.startswith(end) for text in after):
            return start, end
    for i, text in enumerate(after):
        if header.strip() and header.strip() in text:
            after[i] = text[: text.index(header.strip())]
    end = after[0]
    if len(after) > 1:
        end = _shared_end(after)
        if not end.strip():
            # White space before it may depend on the next part.  What only begins two markers alike is no end.
            core = _shared_end([text.lstrip() for text in after])
            end = after[0][: after[0].index(core)] + core if is_unmistakable(core) else end
        # white space between reasoning and a call may be the call's own
        if end.strip() and after[0].strip() == end.strip():
            end = after[0]
    elif shown[0].then != CONTENT:
        first = _closing_piece(end, start)
        end = end[:first] if first else end
    return start, end


def _before_similar_openers(shown: Sequence[ReasoningShown], lead: str, call_lead: str) -> str | None:
    """Return the white space after reasoning if the openers of content and of calls follow it, which only begin alike:
    `# Answer`, `# Tools`; otherwise None."""
    openers = [lead if s.then == CONTENT else call_lead for s in shown]
    alike = _shared_end([opener.lstrip() for opener in openers])
    between = {s.after.removesuffix(opener) for s, opener in zip(shown, openers, strict=True)}
    if len(shown) < 2 or not alike or is_unmistakable(alike) or alike in openers:
        return None
    return between.pop() if len(between) == 1 and not "".join(between).strip() else None


def _shared_end(texts: Sequence[str]) -> str:
    """Return what all texts begin with, cut where each of them reads well."""
    end = common_prefix(*texts)
    while end and any(cut_left(text, len(end)) != len(end) for text in texts):
        end = end[:-1]
    return end


def _without_calls_inside(shown: Sequence[ReasoningShown], lead: str) -> Sequence[ReasoningShown]:
    """Return the renders without those in which what ends reasoning comes after the call: calls are inside of it."""
    first = shown[0]
    end = first.after.removesuffix(lead).strip() if first.then == CONTENT else ""
    return [first, *(s for s in shown[1:] if not end or end in s.after or end not in s.rest)]


def _with_lead(shown: Sequence[ReasoningShown], end: str, lead: str) -> str:
    """Return the end of reasoning with the white space that opens content in every turn, if it follows: neighbours
    share that white space, and it is written once."""
    both = any(s.then == CONTENT and s.after == end + lead for s in shown)
    return end + lead if both and lead.isspace() else end


def _closing_piece(after: str, start: str) -> int:
    """Return the length of reasoning's end if reasoning is shown before calls only: the first piece of the text after
    it; the rest opens the call."""
    found = pieces(after)
    if len(found) < 2:
        return len(after) if found and not start else (after.index(found[0]) + len(found[0]) if found else 0)
    return after.index(found[0]) + len(found[0])


def _blank(lead: str, start: str, end: str) -> str:
    """Return the part of a plain turn's lead that closes (or opens and closes) reasoning without any."""
    core = end.strip()
    if start.strip() and lead.strip() == start.strip():
        return lead  # opened, and left open: the text after it is content all the same
    if not core or core not in lead:
        return ""
    at = lead.rindex(core) + len(core)
    tail = end[len(end.rstrip()) :]
    return lead[: at + len(common_prefix(lead[at:], tail))]


def _mode(turn: TurnFacts, start: str, end: str, only_calls: bool) -> ReasoningMode:
    head = turn.prompts[0].head if turn.prompts else ""
    if not start.strip():
        return "delimiter"
    if end.strip() and end.strip() in head:
        return "forced_closed"
    if head.strip().startswith(start.strip()):
        return "forced_open"
    return "tools_only" if only_calls else "tag_based"
