"""Learn a template's format from renders.

    renders of probes  →  TemplateIR

The questions, each in a file of its own: what conversation the template takes (`conversation`), where a turn starts and
ends (`turn`), what is around reasoning and content (`reasoning`), how calls (`calls`), arguments (`arguments`) and
values (`dialect`) are written.  All of them work by alignment (`align`) of sentinels (`probe`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from tplc.errors import LimitExceeded, UnsupportedTemplate
from tplc.examples import Example
from tplc.ir.nodes import (
    GENERAL_TOLERANCES,
    Capabilities,
    Content,
    Form,
    PairArguments,
    Part,
    Provenance,
    Reasoning,
    Slot,
    TemplateIR,
    Text,
    Tolerance,
    Tools,
    Turn,
)
from tplc.ir.sizes import longest_text
from tplc.learn.align import common_prefix, common_suffix, cut_right, reads_well
from tplc.learn.calls import CallFacts, learn_calls
from tplc.learn.candidates import candidates
from tplc.learn.conversation import CallProbe, base_setup, call_setup
from tplc.learn.examples import calls_from_examples, reasoning_from_examples
from tplc.learn.held import find_held
from tplc.learn.probe import (
    SYSTEM,
    Observer,
    Prober,
    Refused,
    Setup,
    assistant,
    opening,
    sentinel_call,
)
from tplc.learn.reasoning import ReasoningFacts, learn_reasoning, without_unended
from tplc.learn.results import AfterResults, learn_after_results
from tplc.learn.tokens import held_tokens, markers, preserved_tokens, with_token_ends
from tplc.learn.turn import contexts_that_matter, learn_ends, learn_turn
from tplc.learn.unlearned import check_all_is_learned
from tplc.render import Renderer


def learn(
    renderer: Renderer,
    *,
    name: str,
    source: str,
    special_tokens: Mapping[str, str] | None = None,
    added_tokens: Sequence[str] = (),
    examples: Sequence[Example] = (),
    version: str = "0.1.0",
    observer: Observer | None = None,
) -> TemplateIR:
    """The format of a template's assistant turns, unverified.  `examples` show what the template never renders;
    `observer` is told of every probe.

    `added_tokens` are all that the tokenizer has as one token, where that is known.

    Raises UnsupportedTemplate when no conversation shows an assistant's turn, and LimitExceeded from the renderer.
    """
    prober = Prober(renderer, observer)
    found = candidates(source).without(renderer.special_tokens)
    base = base_setup(prober, found, name)
    contexts = contexts_that_matter(prober, base, found)
    turn = learn_turn(prober, base, contexts)
    probe = call_setup(prober, base, contexts, found)
    reasoning = learn_reasoning(prober, turn, base, contexts, probe.setup if probe else None, found)
    turn = reasoning.turn
    reasoning, left_out = without_unended(prober, turn, base, reasoning)
    turn = reasoning.turn
    ends = learn_ends(prober, base, turn)
    if reasoning.content_start.strip() and reasoning.content_mode != "wrapped_with_reasoning":
        content_end, ends = _without_content(prober, base, reasoning, ends)
        reasoning = replace(reasoning, content_end=content_end)
    calls = learn_calls(prober, turn, reasoning, probe, ends) if probe else None
    if examples:
        reasoning = _with_examples(reasoning, examples)
    content_end = reasoning.content_end
    if calls is not None:
        turn = calls.turn
        content_end, ends, calls = _closings(reasoning, calls, ends)
    after = learn_after_results(prober, turn, probe.setup, contexts) if probe is not None else AfterResults()
    shown = calls_from_examples(examples, ends, name)
    if calls is None and shown is not None:
        calls = CallFacts(turn, shown.tools, shown.content, "", "", (), ())
    ir = TemplateIR(
        provenance=Provenance(
            name=name,
            sha256=_digest(source),
            size=len(source.encode("utf-8", "surrogatepass")),
            tplc_version=version,
            special_tokens=tuple(sorted((special_tokens or {}).items())),
            examples_sha256=_digest(repr(tuple(examples))) if examples else None,
        ),
        capabilities=_capabilities(prober, base, probe, reasoning, calls),
        turn=Turn(turn.header, (*turn.anchors, *after.anchors), turn.prompts, ends, after.heads),
        reasoning=reasoning.reasoning,
        content=_content(reasoning, calls, content_end),
        tools=calls.tools if calls else Tools(),
        triggers=_triggers(calls),
        tolerances=tuple(Tolerance(kind) for kind in GENERAL_TOLERANCES),
        left_out=left_out if reasoning.reasoning.mode == "none" else (),
    )
    if ir.reasoning.end.strip() and ir.reasoning.end.strip() == ir.content.start.strip():
        ir = replace(ir, forms=_shared_opener(ir))
    check_all_is_learned(prober, base, ir)
    _check_sizes(ir, prober)
    _check_slots(ir)
    inner = [marker for path, marker in markers(ir) if path != "turn.end"]
    ends = with_token_ends(prober, base, ends, renderer.special_tokens, inner)
    ir = replace(ir, turn=replace(ir.turn, ends=ends))
    held = find_held(prober, ir, turn.asked, base, probe.setup if probe else None, reasoning.setup, found)
    return replace(ir, preserved_tokens=preserved_tokens(ir, added_tokens), held=(*held_tokens(ir), *held))


def _check_sizes(ir: TemplateIR, prober: Prober) -> None:
    most = prober.renderer.limits.marker_chars
    path, size = longest_text(ir)
    if size > most:
        raise LimitExceeded(ir.provenance.name, "marker_chars", f"{most}: {path} has {size}")


def _shared_opener(ir: TemplateIR) -> tuple[Form, ...]:
    """What opens content ends reasoning: it is written once, and not where no content follows."""
    shapes: list[tuple[Part, ...]] = [("reasoning", "content"), ("reasoning", "content", "calls")]
    opened = [Form(parts, "content.start", "") for parts in shapes]
    space = ir.reasoning.end[: -len(ir.reasoning.end.lstrip())]
    return (*opened, Form(("reasoning",), "reasoning.end", space), Form(("reasoning", "calls"), "reasoning.end", space))


def _check_slots(ir: TemplateIR) -> None:
    """Every slot needs a text behind it that ends it; arguments open with a sign of their own."""
    pairs = ir.tools.arguments
    for layout in (ir.tools.call, pairs.pair if isinstance(pairs, PairArguments) else ()):
        for one, two in pairwise(layout):
            if isinstance(one, Slot) and isinstance(two, Slot) and two.kind != "arguments":
                between = f"nothing stands between the {one.kind} and the {two.kind} of a call"
                raise UnsupportedTemplate(ir.provenance.name, f"{between}, so nothing tells where one ends")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_examples(reasoning: ReasoningFacts, examples: Sequence[Example]) -> ReasoningFacts:
    """Reasoning as examples show it, where no render does."""
    markers = reasoning_from_examples(examples)
    if markers is None or reasoning.reasoning.mode != "none":
        return reasoning
    return replace(reasoning, reasoning=Reasoning("tag_based", *markers))


def _closings(
    reasoning: ReasoningFacts, calls: CallFacts, ends: tuple[str, ...]
) -> tuple[str, tuple[str, ...], CallFacts]:
    """Split the end of content from the end of the turn: the former stands before calls as well, the latter after
    them."""
    ends = (*ends, *(end for end in calls.ends if end not in ends))
    if not ends or not reasoning.content_start.strip() or reasoning.content_end:
        return reasoning.content_end, ends, calls
    if reasoning.content_mode == "wrapped_with_reasoning":
        return "", ends, calls
    header = reasoning.turn.header
    own = calls.content_gap.removesuffix(calls.lead)
    own = own[: len(own) - len(header)] if header.strip() and own.endswith(header) else own
    if calls.content_gap.endswith(calls.lead) and own.strip() and ends[0].startswith(own) and own != ends[0]:
        return own, tuple(dict.fromkeys((ends[0][len(own) :], *ends[1:]))), calls
    shared = common_prefix(ends[0], calls.content_gap)
    while shared and not (reads_well(ends[0], len(shared)) and reads_well(calls.content_gap, len(shared))):
        shared = shared[:-1]
    if shared.strip() and ends[0][len(shared) :].strip():
        return shared, tuple(dict.fromkeys((ends[0][len(shared) :], *ends[1:]))), calls
    closing = calls.tools.section_end
    shared = common_suffix(ends[0], closing)
    shared = closing[cut_right(closing, len(closing) - len(shared)) :]
    own = ends[0][: len(ends[0]) - len(shared)]
    if not shared.strip() or not own.strip() or shared == closing:
        return "", ends, calls
    tools = replace(calls.tools, section_end=closing[: len(closing) - len(shared)])
    return own, tuple(dict.fromkeys((shared, *ends[1:]))), replace(calls, tools=tools)


def _without_content(
    prober: Prober, base: Setup, reasoning: ReasoningFacts, ends: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Split the end of content from the end of the turn: the latter is all that a turn without content has."""
    setup = replace(base, follow="none")
    tail = prober.tail([assistant(setup, content="")], setup)
    rest = "" if isinstance(tail, Refused) else reasoning.without_blank(reasoning.turn.turn_text(tail))
    if not ends or not rest.strip() or not ends[0].endswith(rest) or not ends[0].removesuffix(rest).strip():
        return "", ends
    return ends[0].removesuffix(rest), (rest, *ends[1:])


def _content(reasoning: ReasoningFacts, calls: CallFacts | None, end: str) -> Content:
    start = reasoning.content_start
    if calls is not None and calls.turn.header != reasoning.turn.header:
        start = reasoning.turn.header[len(calls.turn.header) :] + start
    return Content(
        mode="always_wrapped" if start.strip() and reasoning.content_mode == "plain" else reasoning.content_mode,
        start=start,
        end=end,
        with_calls=calls.content if calls else "none",
    )


def _capabilities(
    prober: Prober, base: Setup, probe: CallProbe | None, reasoning: ReasoningFacts, calls: CallFacts | None
) -> Capabilities:
    asked = replace(base, system=True)
    system = prober.render(opening(asked), asked)
    setup = probe.setup if probe else base
    call = sentinel_call(0)
    offered = prober.render(opening(setup), replace(setup, tools="full"), calls=[call])
    refusals = list(probe.refusals) if probe else []
    if calls is not None:
        refusals += [f"{kind} arguments" for kind in calls.refused]
    return Capabilities(
        tools=not isinstance(offered, Refused) and call.name in offered,
        tool_calls=calls is not None,
        parallel_calls=calls is not None and calls.tools.parallel,
        system_role=not isinstance(system, Refused) and SYSTEM in system,
        reasoning=reasoning.reasoning.mode != "none",
        object_arguments=probe is not None and setup.arguments == "object",
        string_arguments=probe is not None and setup.arguments == "text",
        null_content=probe is not None and setup.content == "null",
        list_content=base.parts,
        content_with_calls=calls is not None and calls.content != "none",
        needs_tool_result=probe is not None and setup.follow in ("tool", "tool_user"),
        refusals=tuple(refusals),
    )


def _triggers(calls: CallFacts | None) -> tuple[str, ...]:
    if calls is None:
        return ()
    tools = calls.tools
    opening = tools.section_start.strip()
    if not opening:
        first = tools.call[0] if tools.call else Slot("name")
        opening = first.text.strip() if isinstance(first, Text) else ""
    return (opening,) if opening else ()


__all__ = ["learn"]
