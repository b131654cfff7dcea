"""Which markers of reasoning does the template know that it never writes?

{{ m.content.split("</r>")[-1] }}, and a prompt that ends with "<r>"  →  start "<r>", end "</r>"
"""

from __future__ import annotations

from dataclasses import replace

from tplc.learn.align import pieces
from tplc.learn.candidates import Candidates
from tplc.learn.probe import CONTENT, CONTROL, REASONING, Prober, Refusal, Setup, assistant
from tplc.learn.turn import TurnFacts


def learn_stripped(prober: Prober, turn: TurnFacts, base: Setup, found: Candidates, lead: str) -> tuple[str, str]:
    """Return (start, end) of reasoning that no render shows; `lead` opens a turn without any."""
    start, end = _stripped(prober, turn, base, found)
    end = _as_written(end, lead)
    return (start, end) if end else _from_prompts(turn)


def _stripped(prober: Prober, turn: TurnFacts, base: Setup, found: Candidates) -> tuple[str, str]:
    """Return reasoning that the template only strips from old turns: a constant of its own, put between two texts,
    makes the first vanish. A text of no meaning, put there for control, does not."""
    marks = [
        c for c in found.constants if len(c.strip()) >= 3 and any(not ch.isalnum() and not ch.isspace() for ch in c)
    ]
    for setup in (base, replace(base, follow="user")):
        if _kept(prober, setup, CONTROL) != (True, True):
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
    """Return the closing marker with the white space that follows it where a turn without reasoning has it."""
    core = end.strip()
    if not core or core not in lead:
        return end
    after = lead[lead.rindex(core) + len(core) :]
    return end.rstrip() + after if not after.strip() else end


def _kept(prober: Prober, base: Setup, between: str) -> tuple[bool, bool]:
    content = f"{REASONING}{between}{CONTENT}"
    tail = prober.tail([assistant(base, content=content)], base)
    if isinstance(tail, Refusal):
        return False, False
    return REASONING in tail, CONTENT in tail and between in (tail if between == CONTROL else between)


def _rewritten(prober: Prober, base: Setup, constant: str) -> str:
    """Return what is between two texts with `constant` between them, when the template writes white space of its
    own around it: then it knows it as a closing marker.  It doesn't if it changes white space around any word."""
    between, core = _between(prober, base, constant), constant.strip()
    if between == constant or between.strip() != core:
        return ""
    control = constant.replace(core, CONTROL)
    return between if _between(prober, base, control) == control else ""


def _between(prober: Prober, base: Setup, constant: str) -> str:
    """Return the render of a text that is between two others in content; "" if they aren't rendered."""
    tail = prober.tail([assistant(base, content=f"{REASONING}{constant}{CONTENT}")], base)
    if isinstance(tail, Refusal) or REASONING not in tail or CONTENT not in tail:
        return ""
    return tail[tail.index(REASONING) + len(REASONING) : tail.index(CONTENT)]


def _start_for(prober: Prober, turn: TurnFacts, base: Setup, end: str, found: Candidates) -> str:
    """Return the opening that goes with a stripped `end`: what a prompt leaves open, else a constant of the template
    that vanishes with the text after it, while what is before it stays."""
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
        if not isinstance(tail, Refusal) and constant not in tail and REASONING not in tail and "zqbefore0x" in tail:
            return constant
    return ""


def _from_prompts(turn: TurnFacts) -> tuple[str, str]:
    """Return markers seen in generation prompts only: one prompt opens a block that another opens and closes."""
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
    """Return the letters of a mark that is alone; else the whole text."""
    return "".join(ch for ch in mark if ch.isalnum()) if len(pieces(mark)) == 1 else mark
