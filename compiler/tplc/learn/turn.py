"""Where does a turn start, what does the prompt already write of it, what ends it?

tail of [user]                      "{end}"
… with a generation prompt          "{end}{bot}{r}{/r}"
… answered                          "{end}{bot}zqcontent0x{end}"
→  header "{bot}", head "{r}{/r}", end "{end}"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tplc.ir.nodes import GenerationPrompt
from tplc.learn.align import common_prefix, common_suffix, cut_left, cut_right, token_spans
from tplc.learn.candidates import Candidates
from tplc.learn.probe import (
    CONTENT,
    REASONING,
    REASONING_KEYS,
    USER,
    Prober,
    Refused,
    Setup,
    assistant,
    opening,
    sentinel_call,
)

_LONG_END = 64


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """`asked` is the tail of a conversation that ends with the user; `header` and `prompts` as in `ir.Turn`."""

    asked: str
    header: str
    anchors: tuple[str, ...]
    prompts: tuple[GenerationPrompt, ...]
    appended: bool

    def turn_text(self, tail: str) -> str:
        """The turn in the tail of an answered conversation: what follows the header."""
        if self.appended:
            anchor = next((anchor for anchor in self.anchors if tail.startswith(anchor)), "")
            return tail[len(anchor) :] if anchor or not self.anchors else tail[cut_common(tail, self.asked) :]
        tail = tail[len(self.asked) :] if tail.startswith(self.asked) else tail[cut_common(tail, self.asked) :]
        if not self.header:
            anchor = next((anchor for anchor in self.anchors if tail.startswith(anchor)), "")
            return tail[len(anchor) :]
        stripped = tail.lstrip()
        if self.header and tail.startswith(self.header):
            return tail[len(self.header) :]
        if self.header.strip() and stripped.startswith(self.header.lstrip()):
            return stripped[len(self.header.lstrip()) :]
        return tail

    def with_header_until(self, size: int) -> TurnFacts:
        """The same turn with a header cut at `size`: the rest is the head of every prompt."""
        rest = self.header[size:]
        header = self.header[:size]
        prompts = tuple(GenerationPrompt(p.context, p.text, rest + p.head) for p in self.prompts)
        return replace(self, header=header, anchors=(header,) if header else self.anchors, prompts=prompts)


def cut_common(text: str, other: str) -> int:
    """Where `text` stops being the same as `other`, drawn back to a cut that reads well."""
    return cut_left(text, len(common_prefix(text, other)))


def contexts_that_matter(prober: Prober, base: Setup, found: Candidates) -> tuple[Setup, ...]:
    """The settings of undeclared variables that change the generation prompt or a plain answer: one setup for each
    distinct effect, in a stable order."""
    effects = {_effect(prober, base)}
    setups: list[Setup] = []
    for name, constants in found.variables:
        if _is_data(prober, base, name):
            continue
        for value in (True, False, *(c for c in constants if not isinstance(c, bool))):
            setup = base.with_context(**{name: value})
            effect = _effect(prober, setup)
            if effect is not None and effect not in effects:
                effects.add(effect)
                setups.append(setup)
    return tuple(setups)


def _is_data(prober: Prober, base: Setup, name: str) -> bool:
    """Whether the variable's own text is written out: then it is data (a date, a system prompt), not a switch."""
    control = "zqcontrol0x"
    setup = base.with_context(**{name: control})
    renders = (prober.tail([], setup, generation=True), prober.tail([assistant(setup, content=CONTENT)], setup))
    return any(not isinstance(text, Refused) and control in text for text in renders)


def _effect(prober: Prober, setup: Setup) -> tuple[str, str] | None:
    prompt = prober.tail([], setup, generation=True)
    answer = prober.tail([assistant(setup, content=CONTENT)], setup)
    if isinstance(prompt, Refused) or isinstance(answer, Refused):
        return None
    return prompt, answer


def learn_turn(prober: Prober, base: Setup, contexts: Sequence[Setup]) -> TurnFacts:
    asked = prober.tail([], base)
    asked = "" if isinstance(asked, Refused) else asked
    answered = prober.tail([assistant(base, content=CONTENT)], base)
    assert not isinstance(answered, Refused)  # base_setup saw it render
    lead = answered[: answered.index(CONTENT)] if CONTENT in answered else _contentless_lead(prober, base, answered)
    prompts: list[tuple[Setup, str]] = []
    for setup in (base, *contexts):
        text = _generation_prompt(prober, setup)
        if text is not None and (setup is base or text not in [seen for _, seen in prompts]):
            prompts.append((setup, text))
    texts = [text for _, text in prompts]
    if not any(texts):
        return _appended(prober, base, contexts, asked, lead)
    plain = lead[len(asked) :] if lead.startswith(asked) else lead[cut_common(lead, asked) :]
    past = prober.tail([assistant(base, content=CONTENT)], replace(base, follow="user"))
    old = [plain]
    if not isinstance(past, Refused) and CONTENT in past and past.startswith(asked):
        old.append(past[len(asked) : past.index(CONTENT)])
    old += _reasoning_leads(prober, base, asked)
    header = _header(texts, old)
    own = _own_header(prober, base, asked, texts[0], header)
    if own:
        # history and prompt have headers of their own
        named = tuple(GenerationPrompt(setup.context, text, "") for setup, text in prompts)
        return TurnFacts(asked, "", tuple(dict.fromkeys((own, *texts))), named, appended=False)
    offered = _generation_prompt(prober, replace(base, tools="full"))
    if offered and offered != header and header.startswith(offered) and _opens(prober, base, asked, header):
        # a header that is longer where no tools are offered
        named = tuple(GenerationPrompt(setup.context, text, text.removeprefix(header)) for setup, text in prompts)
        return TurnFacts(asked, "", (header, offered), named, appended=False)
    return TurnFacts(
        asked,
        header=header,
        anchors=(header,) if header else (asked,) if asked.strip() else (),
        prompts=tuple(
            GenerationPrompt(setup.context, text, text[text.index(header) + len(header) :] if header else text)
            for setup, text in prompts
            if header in text
        ),
        appended=False,
    )


def _reasoning_leads(prober: Prober, base: Setup, asked: str) -> list[str]:
    """What stands between the question and the reasoning of an answer, under the usual keys."""
    leads = []
    for key in REASONING_KEYS:
        tail = prober.tail([assistant(base, content=CONTENT, reasoning=(key, REASONING))], base)
        if not isinstance(tail, Refused) and REASONING in tail and tail.startswith(asked):
            lead = tail[len(asked) : tail.index(REASONING)]
            if CONTENT not in lead:
                leads.append(lead)
    return leads


def _contentless_lead(prober: Prober, base: Setup, answered: str) -> str:
    """A template that drops content: the turn opens as its prompt does."""
    prompt = prober.tail([], base, generation=True)
    return "" if isinstance(prompt, Refused) else answered[: cut_common(answered, prompt)]


def _appended(prober: Prober, base: Setup, contexts: Sequence[Setup], asked: str, lead: str) -> TurnFacts:
    """The prompt is the same with and without a generation prompt: there is none, or one that is always there.  The
    turn begins where the answered conversation does; what a prompt holds beyond that is its head."""
    anchor = asked if lead.startswith(asked) else asked[: cut_common(asked, lead)]
    if asked.strip() and not anchor.strip():
        closed = _closes_question(prober, base, lead)
        if closed.strip():
            # history closes the question otherwise than the prompt does
            prompts = [GenerationPrompt(base.context, "", "")]
            return TurnFacts(asked, header="", anchors=(closed, asked), prompts=tuple(prompts), appended=True)
    prompts = []
    for setup in (base, *contexts):
        tail = prober.tail([], setup)
        if not isinstance(tail, Refused) and tail.startswith(anchor):
            head = tail[len(anchor) :]
            if setup is base or head not in [prompt.head for prompt in prompts]:
                prompts.append(GenerationPrompt(setup.context, head, head))
    return TurnFacts(
        asked, header="", anchors=(anchor,) if anchor.strip() else (), prompts=tuple(prompts), appended=True
    )


def _own_header(prober: Prober, base: Setup, asked: str, prompt: str, header: str) -> str:
    """The header of past turns, where they all begin with another word than the prompt has, and the same mark behind
    it: the prompt's word then stands for no part of a turn."""
    tails = [prober.tail([assistant(base, content=CONTENT)], base)]
    leads = _call_leads(prober, base)
    if not leads or isinstance(tails[0], Refused) or CONTENT not in tails[0]:
        return ""
    shared = _shared_well([tails[0][: tails[0].index(CONTENT)], *leads])
    if not shared.startswith(asked + header):
        return ""
    own, other = shared[len(asked + header) :], prompt[prompt.index(header) + len(header) :]
    behind = common_suffix(own, other)
    behind = own[cut_right(own, len(own) - len(behind)) :]
    words = own[: len(own) - len(behind)], other[: len(other) - len(behind)]
    if not behind.strip() or not all(word.strip() and not token_spans(word) for word in words):
        return ""
    return header + own


def _opens(prober: Prober, base: Setup, asked: str, header: str) -> bool:
    """Whether a turn of history opens with this header, no tools being offered."""
    tail = prober.tail([assistant(base, content=CONTENT)], replace(base, tools="none"))
    return not isinstance(tail, Refused) and tail.startswith(asked + header)


def _call_leads(prober: Prober, base: Setup) -> list[str]:
    """What stands between the question and the name of a call, where calls show at once."""
    leads = []
    call = sentinel_call(0)
    for tools in ("full", "none"):
        setup = replace(base, tools=tools)
        tail = prober.tail([assistant(setup, calls=[call])], setup, calls=[call])
        if not isinstance(tail, Refused) and call.name in tail:
            leads.append(tail[: tail.index(call.name)])
    return leads


def _shared_well(texts: Sequence[str]) -> str:
    """What the texts begin with alike, up to where that reads well in all of them."""
    shared = common_prefix(*texts)
    while shared and any(cut_left(text, len(shared)) != len(shared) for text in texts):
        shared = shared[:-1]
    return shared


def _closes_question(prober: Prober, base: Setup, lead: str) -> str:
    """What stands between a question and its answer, whatever the answer is."""
    return _shared_well([lead, *_call_leads(prober, base)])


def _generation_prompt(prober: Prober, setup: Setup) -> str | None:
    without = prober.tail([], setup)
    prompt = prober.tail([], setup, generation=True)
    if isinstance(prompt, Refused):
        return None
    if isinstance(without, Refused):
        return None
    if prompt.startswith(without):
        return prompt[len(without) :]
    return prompt[cut_left(prompt, len(common_prefix(prompt, without))) :]


def _header(prompts: Sequence[str], leads: Sequence[str]) -> str:
    """The longest text that opens every prompt and every answered turn, cut where it reads well."""
    whole = [text for text in prompts if text]
    # a lead that shares nothing with the prompts (an odd history) has no say
    close = [lead for lead in leads if common_prefix(lead.lstrip(), whole[0].lstrip())]
    starts = [*whole, *close]
    shared = common_prefix(*(text.lstrip() for text in starts))
    cut = len(shared)
    # a prompt that ends with what is shared shows where the header ends
    while cut and cut not in map(len, starts) and any(cut_left(text.lstrip(), cut) != cut for text in starts):
        cut -= 1
    if not shared[:cut].strip():
        # where the prompts are how answered turns begin, the header stands before them
        return "" if any(leads[0].startswith(text) for text in whole) else _overlap(whole[0], leads[0])
    # white space before the header belongs to it when every prompt writes the same
    space = common_suffix(*(text[: len(text) - len(text.lstrip())] for text in starts))
    return space + shared[:cut]


def _overlap(prompt: str, lead: str) -> str:
    """The header when the answered turn shows only its end (what stands before was taken for the question's end)."""
    for size in range(min(len(prompt), len(lead)), 0, -1):
        if prompt.endswith(lead[:size]) and cut_left(lead, size) == size and lead[:size].strip():
            return lead[:size]
    return prompt


def learn_ends(prober: Prober, base: Setup, turn: TurnFacts) -> tuple[str, ...]:
    """The texts that end a turn: after plain content at the end of a conversation, and before a user message.  Where
    nothing ends a turn, the next message's header does."""
    ends: list[str] = []
    last = _after(prober, replace(base, follow="none"), CONTENT)
    next_user = _after(prober, replace(base, follow="user"), CONTENT)
    with_tools = _after(prober, replace(base, follow="user", tools="full"), CONTENT)
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
        own = _first_mark(own)
        if own.strip() and own not in ends:
            ends.append(own)
    return tuple(ends)


def _first_mark(end: str) -> str:
    """What opens the next message ends the turn: of a long text (an instruction) the mark it begins with is enough."""
    spans = token_spans(end)
    space = len(end) - len(end.lstrip())
    return end[: spans[0][1]] if len(end) > _LONG_END and spans and spans[0][0] == space else end


def _without_opened_header(shared: str, last: str, next_user: str) -> str:
    """What two headers share where they go on with different words opens them: the last token is theirs, if another one
    ends the turn."""
    spans = token_spans(shared)
    words = last[len(shared) :][:1].isalnum() and next_user[len(shared) :][:1].isalnum()
    if words and len(spans) > 1 and spans[-1][1] == len(shared):
        return shared[: spans[-1][0]]
    return shared


def _after(prober: Prober, setup: Setup, sentinel: str) -> str | None:
    tail = prober.tail([assistant(setup, content=CONTENT)], setup)
    if isinstance(tail, Refused) or sentinel not in tail:
        return None
    return tail[tail.rindex(sentinel) + len(sentinel) :]


def user_header(prober: Prober, base: Setup) -> str:
    """What stands before the first user message; its end is the user's header."""
    rendered = prober.render(opening(base), base)
    return "" if isinstance(rendered, Refused) or USER not in rendered else rendered[: rendered.index(USER)]


def _header_at(text: str, before_user: str) -> int:
    """Where in `text`, which ends with the user's header, that header begins."""
    shared = common_suffix(text, before_user)
    return cut_right(text, len(text) - len(shared)) if len(shared) < len(text) else 0


def _without_appended(last: str, next_user: str, turn: TurnFacts, before_user: str) -> str:
    """`last` without what the template always appends (a generation prompt, a final instruction)."""
    shared = last[: cut_left(last, len(common_prefix(last, next_user)))]
    opening = turn.prompts[0].text if turn.prompts else ""
    for size in range(min(len(opening), len(shared)), 0, -1):
        if shared.endswith(opening[:size]) and cut_left(opening, size) == size:
            return shared[: len(shared) - size]
    at = _header_at(next_user, before_user)
    if 0 < at < len(shared):
        return shared[:at]
    return _without_opened_header(shared, last, next_user) or last
