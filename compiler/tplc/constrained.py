"""Whether the grammars of a format accept what its template writes.

A grammar that refuses a render forces a model to write calls that the template doesn't.  So plain turns with calls that
came back are read by the rules of two requests: by those of a lazy grammar from its trigger on, and by those of
required calls from the end of the generation prompt on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tplc.errors import TplcError
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.reading import GrammarReading, Unspelled
from tplc.grammars.request.build import RequestRules, made_of
from tplc.grammars.request.request import Request
from tplc.grammars.request.triggers import fires_at, triggers
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.printed import quoted
from tplc.verify.causes import Tried
from tplc.verify.conversation import fitting_tools


def refused_by_grammars(ir: TemplateIR, tried: Sequence[Tried]) -> str:
    """Return the first plain turn with calls that the grammars of a format don't accept, and where; "" if there is
    none.  What no grammar can express is reported when one is made."""
    for one in tried:
        if one.passed and one.case.calls and one.case.is_plain:
            try:
                where = refused_by_grammar(ir, one.turn, fitting_tools(one.case), has_content=bool(one.case.content))
            except TplcError:
                return ""
            if where:
                return f"{one.case.title}: {quoted(one.turn)} {where}"
    return ""


def refused_by_grammar(
    ir: TemplateIR, turn: str, tools: Sequence[Mapping[str, Json]], *, has_content: bool = False
) -> str:
    """Return where the grammars of a format don't accept a turn with calls; "" if they do, or if the turn continues
    after its end.  After content, a lazy grammar need not take over; required calls may leave no room for content."""
    text = without_end(ir, turn)
    if any(end.strip() and end.strip() in text for end in ir.turn.ends):
        return ""
    wanted = list({str(_name(tool)): tool for tool in tools}.values())
    prompt = ir.turn.prompts[0]
    context = dict(prompt.context)
    lazy = _rules(ir, Request(tools=wanted, any_order=True, context=context))
    ways = lazy.ways()
    place = fires_at(triggers(lazy.fired), text)
    if place is None and not has_content:
        return "contains no trigger of a lazy grammar"
    if place is not None and not GrammarReading(lazy.rules, text[place:]).accepts(alt(*ways)):
        return f"is not accepted from its trigger on: {quoted(text[place : place + 20])}"
    if has_content:
        return ""
    eager = _rules(ir, Request(tools=wanted, any_order=True, tool_choice="required", context=context))
    rest = text.removeprefix(prompt.head)
    if text.startswith(prompt.head) and not GrammarReading(eager.rules, rest).accepts(alt(*eager.ways())):
        return "is not accepted where calls are required"
    return ""


def _rules(ir: TemplateIR, request: Request) -> RequestRules:
    return made_of(ir, request, Unspelled(), lambda made: made)


def _name(tool: Mapping[str, Json]) -> Json:
    function = tool["function"]
    assert isinstance(function, dict)
    return function["name"]


def without_end(ir: TemplateIR, text: str) -> str:
    """Return a turn without the text that ends it, and without white space after that."""
    for end in sorted(ir.turn.ends, key=len, reverse=True):
        if end.strip() and text.rstrip().endswith(end.strip()):
            return text.rstrip().removesuffix(end.strip())
    return text
