"""Learn a template's format from renders.

    renders of probes  →  TemplateIR

A list of passes, each in a file of its own, each with the question that it asks of the template (`probe.asks`).  All of
them work by alignment (`align`) of sentinels (`probe`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tplc.examples import Example
from tplc.ir.hashes import sha256
from tplc.ir.nodes import GENERAL_TOLERANCES, ObjectArguments, Provenance, TemplateIR, Tolerance, Tools, Turn
from tplc.learn.arguments import ArgumentFacts, learn_arguments
from tplc.learn.calls import learn_calls
from tplc.learn.candidates import candidates
from tplc.learn.capabilities import learn_capabilities
from tplc.learn.captured import captured_tokens, find_captured
from tplc.learn.content import learn_content, split_end_before_calls, split_end_of_content
from tplc.learn.contexts import contexts_that_matter
from tplc.learn.conversation import CallSetup, base_setup, call_setup
from tplc.learn.ends import learn_ends, learn_other_ends
from tplc.learn.examples import calls_from_examples, reasoning_from_examples
from tplc.learn.forms import forms_of_shared_opener
from tplc.learn.header import learn_header
from tplc.learn.limits import check_sizes, check_slots
from tplc.learn.object_escapes import UnescapingProber, learn_object_escapes
from tplc.learn.probe import Observer, Prober
from tplc.learn.reasoning import ReasoningMarkers, learn_markers, learn_reasoning, with_end
from tplc.learn.replaced import learn_replaced
from tplc.learn.results import AfterResults, learn_after_results
from tplc.learn.text_escapes import learn_text_escapes
from tplc.learn.tokens import preserved_tokens, with_token_ends
from tplc.learn.turn import TurnFacts, learn_turn
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
    """Learn the format of a template's assistant turns, without verifying it.  `examples` show what the template never
    renders; `observer` is called with every probe.

    `added_tokens` are all that the tokenizer has as one token, where that is known.

    Raises UnsupportedTemplate when no conversation shows an assistant's turn, and LimitExceeded from the renderer.
    """
    prober = Prober(renderer, observer)
    found = candidates(source).without(renderer.special_tokens)
    base = base_setup(prober, found, name)
    contexts = contexts_that_matter(prober, base, found)
    turn = learn_turn(prober, base, contexts)
    called = call_setup(prober, base, contexts, found)
    markers = learn_markers(prober, turn, base, contexts, called.setup if called else None, found)
    turn = _with_contexts(turn, markers, called)
    asked, arguments = _arguments(prober, turn, called)
    turn, markers = learn_header(asked, base, turn, markers, called, arguments)
    markers, left_out = with_end(markers)
    reasoning = learn_reasoning(prober, turn, markers, called.setup if called else None)
    content = learn_content(prober, base, turn, markers)
    ends = learn_ends(prober, base, turn)
    content, ends = split_end_of_content(prober, base, turn, markers, content, ends)
    calls = learn_calls(asked, turn, markers, called, arguments, ends) if called and arguments else None
    after = learn_after_results(prober, turn, called.setup, contexts) if called else AfterResults()
    if reasoning.mode == "none":
        reasoning = reasoning_from_examples(examples)
    calls = calls or calls_from_examples(examples, ends, name)
    tools = _with_replaced(prober, turn, calls.tools, called, arguments) if calls else Tools()
    if calls:
        ends = tuple(dict.fromkeys((*ends, *calls.ends)))
        content, tools, ends = split_end_before_calls(turn, content, calls.placement, tools, ends)
        content = replace(content, with_calls=calls.placement.place)
    ir = TemplateIR(
        provenance=_provenance(name, source, version, special_tokens or {}, examples),
        capabilities=learn_capabilities(prober, base, called, arguments),
        turn=Turn(turn.header, (*turn.anchors, *after.anchors), turn.prompts, ends, after.heads),
        reasoning=reasoning,
        content=content,
        tools=tools,
        tolerances=tuple(Tolerance(kind) for kind in GENERAL_TOLERANCES),
        left_out=left_out if reasoning.mode == "none" else (),
    )
    check_slots(prober, called.setup if called else None, ir)
    ir = replace(ir, forms=forms_of_shared_opener(prober, base, markers, ir))
    ir = replace(ir, escapes=learn_text_escapes(prober, base, called.setup if called else None, ir))
    others = learn_other_ends(prober, base, called.setup if called else None, ir)
    ir = replace(ir, turn=replace(ir.turn, ends=(*ir.turn.ends, *others)))
    check_sizes(ir, renderer.limits)
    check_all_is_learned(prober, base, ir)
    ir = with_token_ends(prober, base, ir, renderer.special_tokens)
    captured = find_captured(prober, ir, turn.asked, base, called, markers, found)
    return replace(ir, preserved_tokens=preserved_tokens(ir, added_tokens), captured=(*captured_tokens(ir), *captured))


def _with_contexts(turn: TurnFacts, markers: ReasoningMarkers, called: CallSetup | None) -> TurnFacts:
    """Return the turn with prompts in the contexts in which reasoning and calls are shown."""
    if markers.shown:
        turn = turn.with_context(markers.shown[0].setup.context)
    return turn.with_context(called.setup.context) if called else turn


def _arguments(prober: Prober, turn: TurnFacts, called: CallSetup | None) -> tuple[Prober, ArgumentFacts | None]:
    """Return what is known of arguments, and the prober that calls are learned with: if all of their text is escaped,
    one that undoes that."""
    if called is None:
        return prober, None
    escapes = learn_object_escapes(prober, turn, called.setup)
    if not escapes:
        return prober, learn_arguments(prober, turn, called.setup)
    asked = UnescapingProber(prober.renderer, prober.observer, escapes=escapes)
    facts = learn_arguments(asked, turn, called.setup)
    if not isinstance(facts.arguments, ObjectArguments):
        return prober, learn_arguments(prober, turn, called.setup)
    return asked, replace(facts, escapes=escapes)


def _with_replaced(
    prober: Prober, turn: TurnFacts, tools: Tools, called: CallSetup | None, arguments: ArgumentFacts | None
) -> Tools:
    """Return the tools with the texts that the template writes for others in names, keys and values."""
    if called is None:
        return tools
    tools = learn_replaced(prober, turn, called.setup, tools, () if arguments is None else arguments.escapes)
    if arguments is None or tools.json is not None:  # of a call that is an object, no part can be escaped by itself
        return tools
    return replace(tools, replaced=(*tools.replaced, *arguments.escapes))


def _provenance(
    name: str, source: str, version: str, special_tokens: Mapping[str, str], examples: Sequence[Example]
) -> Provenance:
    return Provenance(
        name=name,
        sha256=sha256(source),
        size=len(source.encode("utf-8", "surrogatepass")),
        tplc_version=version,
        special_tokens=tuple(sorted(special_tokens.items())),
        examples_sha256=sha256(json.dumps([example.to_json() for example in examples])) if examples else None,
    )


__all__ = ["learn"]
