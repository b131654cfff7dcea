"""Where does reasoning stand, and what opens and closes it?

{"reasoning_content": R, "content": C}  →  "<r>zqreason0x</r>zqcontent0x"
{"content": C}                          →  "<r></r>zqcontent0x"
→  start "<r>", end "</r>", and the same markers, empty, lead a turn without reasoning
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import could_be_prose
from tplc.ir.nodes import ContentMode, Reasoning, ReasoningMode
from tplc.ir.printed import quoted
from tplc.learn.align import common_prefix, cut_left, pieces
from tplc.learn.candidates import Candidates
from tplc.learn.probe import (
    CONTENT,
    REASONING,
    REASONING_KEYS,
    Prober,
    Refused,
    Setup,
    assistant,
    name_of,
    sentinel_call,
)
from tplc.learn.turn import TurnFacts, user_header
from tplc.messages import Call

_CONTROL = "zqcontrol0x"
# keys of messages and names of methods that cannot carry reasoning
_NOT_KEYS = frozenset(
    "role content tool_calls function name arguments id type parameters properties description required items text "
    "function_call tool_call_id refusal strip lstrip rstrip split get keys values upper lower startswith endswith "
    "append pop replace index0 index first last previtem nextitem length join".split()
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One render that shows reasoning: the setup, the key, what stands before it in the turn, after it up to the next
    part (content or the first call's name), what that part is, and what follows it."""

    setup: Setup
    key: str
    before: str
    after: str
    then: str
    rest: str


@dataclass(frozen=True, slots=True)
class ReasoningFacts:
    """`blank` is what leads a turn without reasoning (an empty or closed block); `setup` shows reasoning.
    `turn` has a shorter header than before where the header was found to hold the opening."""

    turn: TurnFacts
    reasoning: Reasoning
    content_start: str
    content_end: str
    content_mode: ContentMode
    blank: str
    setup: Setup | None

    def without_blank(self, text: str) -> str:
        """A turn's text without the empty reasoning that leads it."""
        if self.blank and text.startswith(self.blank):
            return text[len(self.blank) :]
        start, end = self.reasoning.start.strip(), self.reasoning.end.strip()
        if start and end:
            empty = re.match(rf"\s*{re.escape(start)}\s*{re.escape(end)}", text)
            if empty:
                trailing = self.reasoning.end[len(self.reasoning.end.rstrip()) :]
                return text[empty.end() + len(common_prefix(text[empty.end() :], trailing)) :]
        return text


def learn_reasoning(
    prober: Prober, turn: TurnFacts, base: Setup, contexts: Sequence[Setup], calls: Setup | None, found: Candidates
) -> ReasoningFacts:
    lead = _lead(prober, turn, base)
    shown = _first_shown(prober, turn, base, contexts, calls, found)
    if shown:
        start, end = _markers(shown, turn, lead, _call_lead(prober, turn, calls))
        key = shown[0].key
        only_calls = all(s.then == name_of(0) for s in shown)
        setup: Setup | None = shown[0].setup
    else:
        start, end = _stripped(prober, turn, base, found)
        end = _as_written(end, lead)
        if not end:
            start, end = _from_prompts(turn)
        key, only_calls, setup = "", False, None
    if not end and not start:
        return ReasoningFacts(turn, Reasoning(), *_content(shown, lead, "", turn, ""), blank="", setup=None)
    if not start.strip():
        size = _opener_in_header(prober, base, turn.header)
        if size < len(turn.header):
            start = turn.header[size:] + start
            lead = turn.header[size:] + lead
            turn = turn.with_header_until(size)
    blank = _blank(lead, start, end)
    first = any(s.then == CONTENT for s in shown)
    after_content = False
    if shown and (could_be_prose(start) or not first):
        # Signs that content holds as well: then the place matters in every turn, and one more render is worth it.
        after_content = _after_content(prober, turn, shown[0].setup, calls, key)
    mode = _mode(turn, start, end, only_calls)
    start = "" if mode == "delimiter" else start  # white space opens nothing
    plain_end = _plain_end(prober, turn, base)
    wrapped = _content(shown, lead[len(blank) :], end, turn, plain_end)
    return ReasoningFacts(turn, Reasoning(mode, start, end, key, after_content), *wrapped, blank, setup)


def without_unended(
    prober: Prober, turn: TurnFacts, base: Setup, facts: ReasoningFacts
) -> tuple[ReasoningFacts, tuple[str, ...]]:
    """Without reasoning that only white space ends: nothing tells where content begins after it.  What is left out, and
    why, is told."""
    reasoning = facts.reasoning
    if reasoning.mode == "none" or reasoning.end.strip():
        return facts, ()
    if reasoning.start.strip() and facts.content_start.strip() and facts.content_mode == "always_wrapped":
        # What opens content ends reasoning; other shapes show what does there.
        return replace(facts, reasoning=replace(reasoning, end=reasoning.end + facts.content_start)), ()
    place = f" of {reasoning.key}" if reasoning.key else ""
    why = (
        f"reasoning{place}: only white space ({quoted(reasoning.end)}) ends it, so nothing tells where content or a "
        "call begins after it; an example pair (--example) can give it other markers"
    )
    lead = _lead(prober, turn, base)
    return ReasoningFacts(turn, Reasoning(), *_content((), lead, "", turn, ""), blank="", setup=None), (why,)


def _lead(prober: Prober, turn: TurnFacts, setup: Setup) -> str:
    tail = prober.tail([assistant(setup, content=CONTENT)], setup)
    assert not isinstance(tail, Refused)
    text = turn.turn_text(tail)
    return text[: text.index(CONTENT)] if CONTENT in text else ""


def _call_lead(prober: Prober, turn: TurnFacts, calls: Setup | None) -> str:
    """What stands before the name of the first call in a turn of calls only."""
    if calls is None:
        return ""
    one = [sentinel_call(0)]
    tail = prober.tail([assistant(calls, calls=one)], calls, calls=one)
    text = "" if isinstance(tail, Refused) else turn.turn_text(tail)
    return text[: text.index(name_of(0))] if name_of(0) in text else ""


def _first_shown(
    prober: Prober, turn: TurnFacts, base: Setup, contexts: Sequence[Setup], calls: Setup | None, found: Candidates
) -> list[Shown]:
    """Renders of the first key that shows reasoning: with content, and with calls."""
    keys = [*REASONING_KEYS, *(key for key in found.keys if key not in _NOT_KEYS and key not in REASONING_KEYS)]
    for key in keys:
        for context in (base, *contexts):
            shown = list(_show(prober, turn, context, calls, key))
            if shown:
                return shown
    return []


def _printed_whole(prober: Prober, setup: Setup, key: str, calls: Sequence[Call]) -> bool:
    """Whether a content part shows only because the template prints parts it does not know: so would any kind."""
    if not key.startswith("content:"):
        return False
    content = None if calls else CONTENT
    message = assistant(setup, content=content, reasoning=("content:" + _CONTROL, REASONING), calls=calls)
    tail = prober.tail([message], setup, calls=calls)
    return not isinstance(tail, Refused) and REASONING in tail


def _show(prober: Prober, turn: TurnFacts, context: Setup, calls: Setup | None, key: str) -> Iterator[Shown]:
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
    """Whether a message with both has its reasoning after the content, alone or beside a call."""
    beside: list[list[Call]] = [[], [sentinel_call(0)]] if calls is not None else [[]]
    for some in beside:
        message = assistant(setup, content=CONTENT, reasoning=(key, REASONING), calls=some)
        tail = prober.tail([message], setup, calls=some)
        text = "" if isinstance(tail, Refused) else turn.turn_text(tail)
        if REASONING in text.partition(CONTENT)[2]:
            return True
    return False


def _split(turn: TurnFacts, setup: Setup, key: str, tail: str | Refused, then: str) -> Iterator[Shown]:
    if isinstance(tail, Refused) or tail.count(REASONING) != 1 or _CONTROL in tail:
        return
    text = turn.turn_text(tail)
    if REASONING not in text:
        return
    before, _, after = text.partition(REASONING)
    if then not in after:
        return
    at = after.index(then)
    yield Shown(setup, key, before, after[:at], then, after[at + len(then) :])


def _markers(shown: Sequence[Shown], turn: TurnFacts, lead: str, call_lead: str) -> tuple[str, str]:
    """start and end of reasoning: what stands before it; what follows it, less what opens the next part.

    `lead` and `call_lead` are what stands before content and before the first call in turns without reasoning.
    """
    start = shown[0].before
    header = turn.header
    for s in shown:
        opening = lead if s.then == CONTENT else call_lead
        if opening.strip() and s.after.endswith(opening) and s.after != opening:
            end = s.after[: len(s.after) - len(opening)]
            # what stands behind the header opens the next part, if only beside reasoning
            end = end[: end.index(header)] if header.strip() and header in end else end
            if end.strip():
                return start, _with_lead(shown, end, lead)
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
        end = common_prefix(*after)
        while end and any(cut_left(text, len(end)) != len(end) for text in after):
            end = end[:-1]
        # white space between reasoning and a call may be the call's own
        if end.strip() and after[0].strip() == end.strip():
            end = after[0]
    elif shown[0].then != CONTENT:
        first = _closing_piece(end, start)
        end = end[:first] if first else end
    return start, end


def _with_lead(shown: Sequence[Shown], end: str, lead: str) -> str:
    """White space that opens content in every turn belongs to the end of reasoning where it follows that: white space
    that neighbours share is written once."""
    both = any(s.then == CONTENT and s.after == end + lead for s in shown)
    return end + lead if both and lead.isspace() else end


def _closing_piece(after: str, start: str) -> int:
    """Reasoning is shown before calls only: the end is the first piece of what follows; the rest opens the call."""
    found = pieces(after)
    if len(found) < 2:
        return len(after) if found and not start else (after.index(found[0]) + len(found[0]) if found else 0)
    return after.index(found[0]) + len(found[0])


def _opener_in_header(prober: Prober, base: Setup, header: str) -> int:
    """Where the header ends and an opening that every turn and prompt write begins: the last piece of the header, when
    it is a mark (not a role's word) and the user's header does not end in it too."""
    found = pieces(header)
    if len(found) < 2 or found[-1].isalnum() or user_header(prober, base).rstrip().endswith(found[-1]):
        return len(header)
    return header.rindex(found[-1])


def _blank(lead: str, start: str, end: str) -> str:
    """The part of a plain turn's lead that closes (or opens and closes) reasoning without any."""
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
    if start.strip() and head.strip().startswith(start.strip()[: len(head.strip())] or "\0") and head.strip():
        return "forced_open"
    return "tools_only" if only_calls else "tag_based"


def _plain_end(prober: Prober, turn: TurnFacts, base: Setup) -> str:
    """What follows content that stands alone in its turn."""
    tail = prober.tail([assistant(base, content=CONTENT)], base)
    return "" if isinstance(tail, Refused) or CONTENT not in tail else tail[tail.rindex(CONTENT) + len(CONTENT) :]


def _content(
    shown: Sequence[Shown], lead: str, end: str, turn: TurnFacts, plain_end: str
) -> tuple[str, str, ContentMode]:
    """What opens and closes content, and when: the lead of a plain turn (always), or what stands between reasoning and
    content (then what follows content is more than the end of a plain turn)."""
    if lead.strip():
        return lead, "", "always_wrapped"
    for s in shown:
        if s.then == CONTENT:
            rest = s.after[len(end) :] if s.after.startswith(end) else ""
            header = turn.header.strip()
            if header and header in rest:
                rest = rest[rest.index(header) + len(header) :]
            if rest.strip():
                closing = s.rest[: len(s.rest) - len(plain_end)] if s.rest.endswith(plain_end) else ""
                return rest, closing, "wrapped_with_reasoning"
    return lead, "", "plain"


def _stripped(prober: Prober, turn: TurnFacts, base: Setup, found: Candidates) -> tuple[str, str]:
    """Reasoning that the template only strips from old turns: a constant of its own, put between two texts, makes the
    first vanish.  A text of no meaning, put there for control, does not."""
    marks = [
        c for c in found.constants if len(c.strip()) >= 3 and any(not ch.isalnum() and not ch.isspace() for ch in c)
    ]
    for setup in (base, replace(base, follow="user")):
        if _kept(prober, setup, _CONTROL) != (True, True):
            continue
        for constant in sorted(marks, key=len):
            if _kept(prober, setup, constant) == (False, True):
                return _start_for(prober, turn, setup, constant, found), constant
        for constant in sorted(marks, key=len):
            end = _rewritten(prober, setup, constant)
            if end:
                return _start_for(prober, turn, setup, end, found), end
    return "", ""


def _as_written(end: str, lead: str) -> str:
    """The closing marker with the white space that follows it where a turn without reasoning has it."""
    core = end.strip()
    if not core or core not in lead:
        return end
    after = lead[lead.rindex(core) + len(core) :]
    return end.rstrip() + after if not after.strip() else end


def _kept(prober: Prober, base: Setup, between: str) -> tuple[bool, bool]:
    content = f"{REASONING}{between}{CONTENT}"
    tail = prober.tail([assistant(base, content=content)], base)
    if isinstance(tail, Refused):
        return False, False
    return REASONING in tail, CONTENT in tail and between in (tail if between == _CONTROL else between)


def _rewritten(prober: Prober, base: Setup, constant: str) -> str:
    """What stands between two texts with `constant` between them, when the template writes white space of its own
    around it: then it knows it as a closing marker."""
    tail = prober.tail([assistant(base, content=f"{REASONING}{constant}{CONTENT}")], base)
    if isinstance(tail, Refused) or REASONING not in tail or CONTENT not in tail:
        return ""
    between = tail[tail.index(REASONING) + len(REASONING) : tail.index(CONTENT)] if REASONING in tail else ""
    return between if between != constant and between.strip() == constant.strip() else ""


def _start_for(prober: Prober, turn: TurnFacts, base: Setup, end: str, found: Candidates) -> str:
    """The opening that goes with a stripped `end`: what a prompt leaves open, else a constant of the template that
    vanishes with the text after it, while what stands before it stays."""
    for prompt in turn.prompts:
        head = prompt.head
        if head.strip() and end.strip() not in head:
            return head
        if head.strip() and end.strip() in head and head.index(end.strip()):
            return head[: head.index(end.strip())].rstrip() or ""
    for constant in found.constants:
        if constant == end or len(constant.strip()) < 3:
            continue
        content = f"zqbefore0x{constant}{REASONING}{end}{CONTENT}"
        tail = prober.tail([assistant(base, content=content)], base)
        if not isinstance(tail, Refused) and constant not in tail and REASONING not in tail and "zqbefore0x" in tail:
            return constant
    return ""


def _from_prompts(turn: TurnFacts) -> tuple[str, str]:
    """Markers seen in generation prompts only: one prompt opens a block that another opens and closes."""
    heads = [prompt.head for prompt in turn.prompts if prompt.head.strip()]
    for opened in sorted(heads, key=len):
        for closed in heads:
            if closed != opened and closed.rstrip().startswith(opened.rstrip()):
                return opened, closed[len(opened.rstrip()) :]
    for closed in heads[:1]:
        # the usual prompt has closed what another one opens: both marks are of one word
        for opened in heads[1:]:
            if _word_of(opened) == _word_of(closed) and len(opened.strip()) < len(closed.strip()):
                return opened, closed
    for head in heads:
        parts = pieces(head)
        if len(parts) == 2:
            at = head.index(parts[1], head.index(parts[0]) + len(parts[0]))
            first = head.index(parts[0]) + len(parts[0])
            between = head[first:at]
            half = len(between) // 2
            return head[:first] + between[:half], between[half:] + head[at:]
    return "", ""


def _word_of(mark: str) -> str:
    """The letters of a mark that stands alone; else the whole text."""
    return "".join(ch for ch in mark if ch.isalnum()) if len(pieces(mark)) == 1 else mark
