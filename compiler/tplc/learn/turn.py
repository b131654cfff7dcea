"""Where does a turn start, and what does the prompt already write of it?

tail of [user]                      "{end}"
… with a generation prompt          "{end}{bot}{r}{/r}"
… answered                          "{end}{bot}zqcontent0x{end}"
→  header "{bot}", head "{r}{/r}"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import common_prefix, common_suffix, lead_of
from tplc.ir.nodes import GenerationPrompt, Json
from tplc.learn.align import cut_left, cut_right, token_spans
from tplc.learn.probe import CONTENT, REASONING, USER, Prober, Refusal, Setup, asks, assistant, opening, sentinel_call
from tplc.messages import REASONING_KEYS

TURN = "Where does a turn start, which part of it is in the prompt, and what ends it?"


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """`asked` is the tail of a conversation that ends with the user; `header` and `prompts` as in `ir.Turn`."""

    asked: str
    header: str
    anchors: tuple[str, ...]
    prompts: tuple[GenerationPrompt, ...]
    appended: bool

    def turn_text(self, tail: str) -> str:
        """Return the turn in the tail of an answered conversation: the text after the header."""
        if self.appended:
            anchor = next((anchor for anchor in self.anchors if tail.startswith(anchor)), "")
            return tail[len(anchor) :] if anchor or not self.anchors else tail[cut_common(tail, self.asked) :]
        if self.asked.strip() and self.header.strip() and not tail.startswith(self.asked):
            # The question may go on, for example with the tools.
            _, found, after = tail.partition(self.asked + self.header)
            if found:
                return after
        tail = tail[len(self.asked) :] if tail.startswith(self.asked) else tail[cut_common(tail, self.asked) :]
        if not self.header:
            anchor = next((anchor for anchor in self.anchors if tail.startswith(anchor)), "")
            return tail[len(anchor) :]
        stripped = tail.lstrip()
        if self.header and tail.startswith(self.header):
            return tail[len(self.header) :]
        if self.header.strip() and stripped.startswith(self.header.lstrip()):
            return stripped[len(self.header.lstrip()) :]
        if self.header.strip() and stripped.startswith(self.header.strip()):
            # The white space after a header may be written only in turns of some shapes.
            return stripped[len(self.header.strip()) :].lstrip()
        # A variable may add to the question: the header follows that.
        added, found, after = tail.partition(self.header)
        return after if found and self.header.strip() and CONTENT not in added and REASONING not in added else tail

    def with_context(self, context: tuple[tuple[str, Json], ...]) -> TurnFacts:
        """Return the same turn with the default prompt in this context too, if no prompt is known in it."""
        if any(prompt.context == context for prompt in self.prompts):
            return self
        return replace(self, prompts=(*self.prompts, replace(self.prompts[0], context=context)))

    def with_header_until(self, size: int) -> TurnFacts:
        """Return the same turn with a header cut at `size`: the rest is the head of every prompt."""
        rest = self.header[size:]
        header = self.header[:size]
        prompts = tuple(GenerationPrompt(p.context, p.text, rest + p.head) for p in self.prompts)
        return replace(self, header=header, anchors=(header,) if header else self.anchors, prompts=prompts)


def cut_common(text: str, other: str) -> int:
    """Return where `text` stops being the same as `other`, drawn back to a cut that reads well."""
    return cut_left(text, len(common_prefix(text, other)))


@asks("turn", TURN)
def learn_turn(prober: Prober, base: Setup, contexts: Sequence[Setup]) -> TurnFacts:
    """Return the prompts, and the header that they share with answered turns; `header` removes the part that opens a
    part."""
    asked = prober.tail([], base)
    asked = "" if isinstance(asked, Refusal) else asked
    answered = prober.tail([assistant(base, content=CONTENT)], base)
    assert not isinstance(answered, Refusal)  # base_setup saw it render
    lead = answered[: answered.index(CONTENT)] if CONTENT in answered else _contentless_lead(prober, base, answered)
    prompts = _prompts(prober, (base, *contexts))
    if not prompts.get(base.context):
        return _appended(prober, base, contexts, asked, lead)
    texts = tuple(prompts.values())
    header = _shared_header(texts, _leads(prober, base, asked, lead))
    own = _own_header(prober, base, asked, texts[0], header)
    if own:
        # history and prompt have headers of their own
        anchors = tuple(dict.fromkeys((own, *texts)))
        return TurnFacts(asked, "", anchors, _heads(prompts, lambda text: ""), appended=False)
    offered = generation_prompt(prober, replace(base, tools="full"))
    if offered and offered != header and header.startswith(offered) and _opens(prober, base, asked, header):
        # a header that is longer where no tools are offered
        heads = _heads(prompts, lambda text: text.removeprefix(header))
        return TurnFacts(asked, "", (header, offered), heads, appended=False)
    return TurnFacts(
        asked,
        header=header,
        anchors=(header,) if header else (asked,) if asked.strip() else (),
        prompts=_heads(prompts, lambda text: text.partition(header)[2] if header else text, header),
        appended=False,
    )


_Context = tuple[tuple[str, Json], ...]


def _prompts(prober: Prober, setups: Sequence[Setup]) -> dict[_Context, str]:
    """Return the generation prompts that are unlike one another, by the context that gives them."""
    prompts: dict[_Context, str] = {}
    for setup in setups:
        text = generation_prompt(prober, setup)
        if text is not None and (setup is setups[0] or text not in prompts.values()):
            prompts[setup.context] = text
    return prompts


def _heads(
    prompts: Mapping[_Context, str], head: Callable[[str], str], header: str = ""
) -> tuple[GenerationPrompt, ...]:
    """Return the prompts that have the header, each with its head."""
    return tuple(GenerationPrompt(context, text, head(text)) for context, text in prompts.items() if header in text)


def _leads(prober: Prober, base: Setup, asked: str, lead: str) -> list[str]:
    """Return the texts between the question and the answer: at the end, in the past, and with reasoning."""
    leads = [lead[len(asked) :] if lead.startswith(asked) else lead[cut_common(lead, asked) :]]
    past = prober.tail([assistant(base, content=CONTENT)], replace(base, follow="user"))
    if not isinstance(past, Refusal) and CONTENT in past and past.startswith(asked):
        leads.append(past[len(asked) : past.index(CONTENT)])
    return leads + _reasoning_leads(prober, base, asked)


def _reasoning_leads(prober: Prober, base: Setup, asked: str) -> list[str]:
    """Return the texts between the question and the reasoning of an answer, under the usual keys."""
    leads = []
    for key in REASONING_KEYS:
        tail = prober.tail([assistant(base, content=CONTENT, reasoning=(key, REASONING))], base)
        if not isinstance(tail, Refusal) and REASONING in tail and tail.startswith(asked):
            lead = tail[len(asked) : tail.index(REASONING)]
            if CONTENT not in lead:
                leads.append(lead)
    return leads


def _contentless_lead(prober: Prober, base: Setup, answered: str) -> str:
    """Return the lead of a turn in a template that drops content: the prompt's."""
    prompt = prober.tail([], base, generation=True)
    return "" if isinstance(prompt, Refusal) else answered[: cut_common(answered, prompt)]


def _appended(prober: Prober, base: Setup, contexts: Sequence[Setup], asked: str, lead: str) -> TurnFacts:
    """Return the turn of a template whose prompt is always there, or never. It begins where the answered conversation
    does; the rest of a prompt is its head."""
    anchor = asked if lead.startswith(asked) else asked[: cut_common(asked, lead)]
    if asked.strip() and not anchor.strip():
        closed = _closes_question(prober, base, lead)
        if closed.strip():
            # history closes the question differently from the prompt
            prompts = [GenerationPrompt(base.context, "", "")]
            return TurnFacts(asked, header="", anchors=(closed, asked), prompts=tuple(prompts), appended=True)
    tails = {setup: prober.tail([], setup, generation=True) for setup in (base, *contexts)}
    shared = [_shared_well([anchor, tail]) for tail in tails.values() if isinstance(tail, str)]
    anchor = min((text for text in shared if text.strip()), key=len, default=anchor)
    prompts = []
    for setup, tail in tails.items():
        if not isinstance(tail, Refusal) and tail.startswith(anchor):
            head = tail[len(anchor) :]
            if setup is base or head not in [prompt.head for prompt in prompts]:
                prompts.append(GenerationPrompt(setup.context, head, head))
    return TurnFacts(
        asked, header="", anchors=(anchor,) if anchor.strip() else (), prompts=tuple(prompts), appended=True
    )


def _closes_question(prober: Prober, base: Setup, lead: str) -> str:
    """Return the text between a question and its answer, which is the same for all answers."""
    return _shared_well([lead, *_call_leads(prober, base)])


def generation_prompt(prober: Prober, setup: Setup) -> str | None:
    """Return what the template appends for the model to continue from; None if it refuses."""
    without = prober.tail([], setup)
    prompt = prober.tail([], setup, generation=True)
    if isinstance(prompt, Refusal):
        return None
    if isinstance(without, Refusal):
        return None
    if prompt.startswith(without):
        return prompt[len(without) :]
    return prompt[cut_left(prompt, len(common_prefix(prompt, without))) :]


def _shared_header(prompts: Sequence[str], leads: Sequence[str]) -> str:
    """Return the longest text that opens every prompt and every answered turn, cut where it reads well."""
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
        # where the prompts are how answered turns begin, the header is before them
        return "" if any(leads[0].startswith(text) for text in whole) else _overlap(whole[0], leads[0])
    # white space before the header belongs to it when every prompt writes the same
    space = common_suffix(*map(lead_of, starts))
    return space + shared[:cut]


def _overlap(prompt: str, lead: str) -> str:
    """Return the header when the answered turn shows only its end (what is before was taken for the question's
    end)."""
    for size in range(min(len(prompt), len(lead)), 0, -1):
        if prompt.endswith(lead[:size]) and cut_left(lead, size) == size and lead[:size].strip():
            return lead[:size]
    return prompt


def _own_header(prober: Prober, base: Setup, asked: str, prompt: str, header: str) -> str:
    """Return the header of past turns, if they all begin with another word than the prompt and the same marker
    follows.  The prompt's word then belongs to no part of a turn."""
    tails = [prober.tail([assistant(base, content=CONTENT)], base)]
    leads = _call_leads(prober, base)
    if not leads or isinstance(tails[0], Refusal) or CONTENT not in tails[0]:
        return ""
    shared = _shared_well([tails[0][: tails[0].index(CONTENT)], *leads])
    if not shared.startswith(asked + header):
        return ""
    own, other = shared[len(asked + header) :], prompt[prompt.index(header) + len(header) :]
    after = common_suffix(own, other)
    after = own[cut_right(own, len(own) - len(after)) :]
    words = own[: len(own) - len(after)], other[: len(other) - len(after)]
    if not after.strip() or not all(word.strip() and not token_spans(word) for word in words):
        return ""
    return header + own


def _opens(prober: Prober, base: Setup, asked: str, header: str) -> bool:
    """Return whether a turn of history opens with this header, no tools being offered."""
    tail = prober.tail([assistant(base, content=CONTENT)], replace(base, tools="none"))
    return not isinstance(tail, Refusal) and tail.startswith(asked + header)


def _call_leads(prober: Prober, base: Setup) -> list[str]:
    """Return the texts between the question and the name of a call that follows directly."""
    leads = []
    call = sentinel_call(0)
    for tools in ("full", "none"):
        setup = replace(base, tools=tools)
        tail = prober.tail([assistant(setup, calls=[call])], setup, calls=[call])
        if not isinstance(tail, Refusal) and call.name in tail:
            leads.append(tail[: tail.index(call.name)])
    return leads


def _shared_well(texts: Sequence[str]) -> str:
    """Return the common beginning of the texts, up to a readable place."""
    shared = common_prefix(*texts)
    while shared and any(cut_left(text, len(shared)) != len(shared) for text in texts):
        shared = shared[:-1]
    return shared


def user_header(prober: Prober, base: Setup) -> str:
    """Return the text before the first user message; its end is the user's header."""
    rendered = prober.render(opening(base), base)
    return "" if isinstance(rendered, Refusal) or USER not in rendered else rendered[: rendered.index(USER)]
