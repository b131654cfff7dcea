r"""The pipeline: IR and request → rules → terminals and the remaining rules → text.

lark(ir, tools=[{"type": "function", "function": {"name": "f", …}}], tokens=[AddedToken("<call>", 7, apart=True)])
→  LarkGrammar(text='%llguidance {}\n\nstart: FREE | FREE <call> …', tokens=("<call>",), …)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tplc.backends.lark.disambiguate import SchemasMeet, disambiguated
from tplc.backends.lark.free import with_free_text
from tplc.backends.lark.json_schema import as_it_is
from tplc.backends.lark.result import LarkGrammar, NoLark
from tplc.backends.lark.spelling import LarkSpelling
from tplc.backends.lark.write import HEADER, write_lines
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.nodes import NEVER, Expr
from tplc.grammars.regular.rules import ROOT
from tplc.grammars.request.build import RequestRules, made_of
from tplc.grammars.request.errors import NothingAllowed
from tplc.grammars.request.request import Request
from tplc.grammars.request.size import MOST_CHARACTERS
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.tokens import AddedToken
from tplc.lower import lower


def lark(
    ir: TemplateIR,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: str = "auto",
    parallel_tool_calls: bool | None = None,
    json_schema: Json | None = None,
    context: Mapping[str, Json] | None = None,
    any_order: bool = False,
    strict: bool = False,
    most_characters: int = MOST_CHARACTERS,
    tokens: Sequence[AddedToken] | None = None,
) -> LarkGrammar:
    """Return the grammar of one request.  `tokens` are the tokenizer's added tokens, None if they aren't known."""
    request = Request(
        tools=tools,
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        json_schema=json_schema,
        context=context,
        any_order=any_order,
        strict=strict,
        most_characters=most_characters,
    )
    spelling = LarkSpelling(tokens or ())

    def write(made: RequestRules) -> LarkGrammar:
        return _written(made, spelling, known=tokens is not None)

    try:
        return made_of(ir, request, spelling, write, as_it_is)
    except SchemasMeet:
        return made_of(ir, request, spelling, write)


def _written(made: RequestRules, spelling: LarkSpelling, *, known: bool) -> LarkGrammar:
    ir = made.ir
    finished = _finished(made, spelling) if made.constrains else {}
    text = ""
    if finished:
        made.report_left_out(finished)
        lines = write_lines(disambiguated(ir.provenance.name, finished, spelling))
        text = "".join(lines.values())
        made.check_size(text, {name: len(line) for name, line in lines.items()}, finished)
        made.check_exact()
    apart = tuple(token for token in ir.preserved_tokens if spelling.before_token(token) is not None)
    others = tuple(token for token in ir.preserved_tokens if token not in apart)
    grammar = LarkGrammar(text, apart, others, known, made.prompt.text, made.report.found)
    if not text:
        return grammar
    remarks = "".join(f"// {line}\n" for line in grammar.remarks())
    return LarkGrammar(f"{HEADER}{remarks}\n{text}", apart, others, known, made.prompt.text, made.report.found)


def _finished(made: RequestRules, spelling: LarkSpelling) -> dict[str, Expr]:
    ways = made.ways()
    root = alt(*ways)
    if made.lazy:
        _check_openers(made, spelling)
        root = with_free_text(made.rules, ways, made.fired, spelling, _inside(made.ir))
    finished = made.rules.finished(root)
    if finished[ROOT] == NEVER:
        raise NothingAllowed("grammar")
    return finished


def _check_openers(made: RequestRules, spelling: LarkSpelling) -> None:
    """Raise NoLark if a call begins with tokens that free text contains as well, since one of them can't decide."""
    name, acceptor = made.ir.provenance.name, lower(made.ir)
    starts = [marker.text for marker in (*acceptor.reasoning_starts, *acceptor.content_starts)]
    others = (*starts, *acceptor.reasoning_ends, *acceptor.content_ends)
    used_tokens = {token for marker in others for token in spelling.tokens_in(marker)}
    for text in (text for takeover in made.fired for text in takeover.texts):
        shared = sorted(used_tokens.intersection(spelling.tokens_in(text)))
        cut = [token for token in spelling.tokens if any(text.endswith(token[:end]) for end in range(1, len(token)))]
        if shared or cut:
            feature = f"calls that begin with tokens which free text has too ({', '.join(shared or cut[:1])})"
            shown = json.dumps(text, ensure_ascii=False)
            raise NoLark(name, feature, f"a call begins with {shown}; --tool-choice required does not need this")


def _inside(ir: TemplateIR) -> list[str]:
    """Return the tokens that occur inside a turn."""
    ends = [end.strip() for end in ir.turn.ends]
    return [token for token in ir.preserved_tokens if token not in ends and token != ir.turn.header.strip()]
