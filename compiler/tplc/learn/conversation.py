"""Which conversations does this template render, and which of them show calls?

every setup refuses but the one with list content              →  Setup(parts=True)
calls show only if a tool result follows, and only as objects  →  Setup(follow="tool", arguments="object")
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

from tplc.errors import NotLearned
from tplc.ir.nodes import Json
from tplc.learn.candidates import Candidates
from tplc.learn.contexts import settings
from tplc.learn.probe import (
    CHANGED,
    CONTENT,
    NOT_SHOWN,
    Prober,
    Refusal,
    Setup,
    ToolsGiven,
    asks,
    assistant,
    key_of,
    name_of,
    sentinel_call,
    value_of,
)
from tplc.messages import Call, Follow, text_content

_QUESTION = "Which conversations does this template render, and which of them show calls?"
# what an undeclared variable may have to be before anything renders
_FILLERS: tuple[Json, ...] = ("", "2025-01-02", [], {}, True, 1)
# values of one variable, and of all variables together, that are tried for it
_MOST_OF_ONE, _MOST_TOGETHER = 8, 16


@asks("conversation", _QUESTION)
def base_setup(prober: Prober, found: Candidates, name: str) -> Setup:
    """Return the first setup in which a user message and an answer to it show; failing that, in which one renders at
    all (some templates write calls and nothing else)."""
    reasons: list[str] = []
    silent: Setup | None = None
    change = ""
    for setup in _base_setups(found):
        tail = prober.tail([assistant(setup, content=CONTENT)], setup)
        if isinstance(tail, Refusal):
            reasons.append(tail.reason)
        elif setup.parts and str(text_content(CONTENT, parts=True)) in tail:
            continue  # a list that is printed as Python prints it is not read
        elif CONTENT in tail:
            return _without_needless(prober, setup)
        elif silent is None:
            silent, change = setup, prober.change_of(CONTENT, tail)
    if silent is not None and call_setup(prober, silent, (), found) is not None:
        return silent
    # A reason is reported if nothing rendered; otherwise the template did render, but without the assistant.  What
    # renders comes further than what is refused.
    shown = [reason for reason in reasons if reason.startswith(NOT_SHOWN)]
    reason = f": {(shown or reasons)[0]}" if reasons and silent is None else ""
    reason = f": {CHANGED.format('assistant', change)}" if change else reason
    if not found.messages and set(reasons) <= {NOT_SHOWN}:
        others = [variable for variable, _ in found.variables]
        reason = ": it never reads the variable messages" + (
            f", but {', '.join(others)}, which tplc does not set" if others else "; is it a chat template?"
        )
    raise NotLearned(
        name,
        "none of the conversations that were tried renders the assistant's text" + reason,
    )


def _without_needless(prober: Prober, setup: Setup) -> Setup:
    """Return the setup with only the variables that rendering needs."""
    for name, _ in setup.context:
        fewer = replace(setup, context=tuple(pair for pair in setup.context if pair[0] != name))
        tail = prober.tail([assistant(fewer, content=CONTENT)], fewer)
        if not isinstance(tail, Refusal) and CONTENT in tail:
            setup = fewer
    return setup


def _base_setups(found: Candidates) -> Iterator[Setup]:
    plain = Setup()
    tool_forms: tuple[ToolsGiven, ...] = ("none", "full")
    followers: tuple[Follow, ...] = ("none", "user")
    shapes = [
        replace(plain, parts=parts, system=system, follow=follow, tools=tools)
        for tools, system, follow, parts in product(tool_forms, (False, True), followers, (False, True))
    ]
    yield from shapes
    names = [name for name, _ in found.variables]
    for filler in _FILLERS:
        yield plain.with_context(**dict.fromkeys(names, filler))
    for name in names:
        for filler in _FILLERS:
            yield plain.with_context(**{name: filler})
    compared = list(_compared_values(found))
    yield from (shape.with_context(**values) for shape, values in product(shapes, compared))
    others = [name for name, constants in found.variables if not constants]
    for filler, values in product(_FILLERS if others else (), compared):
        yield plain.with_context(**dict.fromkeys(others, filler), **values)


def _compared_values(found: Candidates) -> Iterator[dict[str, Json]]:
    """Yield values that the template compares its variables with: of one variable at a time, then of all."""
    compared = [[(name, value) for value in constants] for name, constants in found.variables if constants]
    yield from ({name: value} for values in compared for name, value in values[:_MOST_OF_ONE])
    if len(compared) > 1:
        yield from map(dict, islice(product(*compared), _MOST_TOGETHER))


@dataclass(frozen=True, slots=True)
class CallSetup:
    """The setup in which calls show best, and what was refused on the way."""

    setup: Setup
    parallel: bool
    refusals: tuple[str, ...]


@asks("conversation", _QUESTION)
def call_setup(prober: Prober, base: Setup, contexts: tuple[Setup, ...], found: Candidates) -> CallSetup | None:
    """Return the setup that shows the name, keys and values of a call, undamaged; None if none does."""
    contexts = (base, *contexts)
    if all(_ignores_calls(prober, context) for context in contexts):
        contexts = tuple(setup for setup in settings(base, found) if _names_call(prober, setup))
    best: tuple[int, Setup] | None = None
    for context in contexts:
        for setup in _call_setups(context, found):
            score = _call_score(prober, setup)
            if score > (best[0] if best else 0):
                best = (score, setup)
            if score == _PERFECT:
                break
        if best is not None and best[0] == _PERFECT:
            break
    if best is None:
        return None
    setup = _quiet(prober, replace(best[1], encoded=best[0] == _TWICE))
    two = [sentinel_call(0), sentinel_call(1)]
    tail = prober.tail([assistant(setup, calls=two)], setup, calls=two)
    refusals = ("parallel calls: " + tail.reason,) if isinstance(tail, Refusal) else ()
    parallel = not isinstance(tail, Refusal) and name_of(1) in tail and name_of(0) in tail
    return CallSetup(setup, parallel, refusals)


def _names_call(prober: Prober, base: Setup) -> bool:
    """Return whether the name of a call shows, with content that is empty."""
    calls, setup = [sentinel_call(0)], replace(base, content="empty")
    tail = prober.tail([assistant(setup, calls=calls)], setup, calls=calls)
    return not isinstance(tail, Refusal) and name_of(0) in tail


def _ignores_calls(prober: Prober, base: Setup) -> bool:
    """Return whether messages render the same with their calls and without, in all the usual forms: no form shows
    them."""
    rendered = False
    for content, follow, tools in product(("null", "empty", "absent"), ("none", "tool"), ("full", "none")):
        setup = replace(base, content=content, follow=follow, tools=tools)  # type: ignore[arg-type]
        calls = [sentinel_call(0)]
        called = assistant(setup, calls=calls)
        bare = {key: value for key, value in called.items() if key != "tool_calls"}
        tails = [prober.tail([message], setup, calls=calls) for message in (called, bare)]
        if tails[0] != tails[1]:
            return False
        rendered = rendered or not isinstance(tails[0], Refusal)
    return rendered


def _quiet(prober: Prober, setup: Setup) -> Setup:
    """Return the setup whose form of absent content leaves the least text (a template may print None)."""
    call = sentinel_call(0)
    sizes = []
    for order, content in enumerate(("null", "empty", "absent")):
        form = replace(setup, content=content)  # type: ignore[arg-type]
        tail = prober.tail([assistant(form, calls=[call])], form, calls=[call])
        if not isinstance(tail, Refusal) and name_of(0) in tail and value_of(0, 0) in tail:
            sizes.append((len(tail), order, form))
    return min(sizes, key=lambda size: size[:2])[2] if sizes else setup


def _call_setups(base: Setup, found: Candidates) -> Iterator[Setup]:
    for follow, arguments, content, tools, ids in product(
        ("none", "tool", "tool_user", "user"),
        ("object", "text"),
        ("null", "empty", "absent"),
        ("full", "bare", "none"),
        (9, 24, 0, *found.sizes),
    ):
        yield replace(base, follow=follow, arguments=arguments, content=content, tools=tools, ids=ids)  # type: ignore[arg-type]
    # a template may look into a list of parts where there is nothing to say
    for follow, arguments, ids in product(("none", "tool"), ("object", "text"), (9, 24, 0)):
        yield replace(
            base,
            follow=follow,  # type: ignore[arg-type]
            arguments=arguments,  # type: ignore[arg-type]
            content="empty",
            parts=not base.parts,
            tools="full",
            ids=ids,
        )
    # or an id may be all that says which function is called
    for naming, follow, arguments, content in product(
        _NAMINGS, ("none", "tool"), ("object", "text"), ("null", "empty", "absent")
    ):
        yield replace(base, follow=follow, arguments=arguments, content=content, tools="full", naming=naming)  # type: ignore[arg-type]


# ids of callers that say which function is called, as servers make them
_NAMINGS = ("functions.{name}:{index}", "{name}:{index}", "call_{name}_{index}")
_PERFECT, _TWICE = 4, 2


def _call_score(prober: Prober, setup: Setup) -> int:
    """Return 0 if the call does not show, 1 if its arguments are encoded more than twice, 2 if twice, 3 if text
    arguments are unchanged, 4 if name, key and value show as in an object."""
    call = Call(name_of(0), ((key_of(0), value_of(0, 0)), (key_of(1), 7431)))
    tail = prober.tail([assistant(setup, calls=[call])], setup, calls=[call])
    if isinstance(tail, Refusal):
        # a template may know text values only
        call = sentinel_call(0)
        tail = prober.tail([assistant(setup, calls=[call])], setup, calls=[call])
        if isinstance(tail, Refusal):
            return 0
    if any(part not in tail for part in (name_of(0), key_of(0), value_of(0, 0))):
        return 0
    if "tool" in setup.follow:
        # the name must be the call's own, not what a tool's result says
        nameless = replace(setup, tool_names=False)
        own = prober.tail([assistant(nameless, calls=[call])], nameless, calls=[call])
        if not isinstance(own, Refusal) and name_of(0) not in own:
            return 0
    if '\\\\\\"' + key_of(0) in tail:
        return 1
    if json.dumps(f'"{value_of(0, 0)}"')[1:-1] in tail or f'\\"{key_of(0)}\\"' in tail:
        return _TWICE
    if setup.arguments == "text" and f'"{key_of(0)}": "{value_of(0, 0)}"' in tail:
        # text went through as it was: shows no dialect of the template's own, yet nothing is damaged
        return 3
    return _PERFECT
