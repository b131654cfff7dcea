"""The pipeline: IR and request → rules → text.

grammar(ir, tools=[{"type": "function", "function": {"name": "f", …}}])
→  Grammar(text='root ::= "<call>" …', lazy=True, triggers=(Trigger("word", "<call>"),), …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tplc import given
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.result import Grammar, with_comments
from tplc.backends.gbnf.spelling import GBNF
from tplc.backends.gbnf.write import write_rules
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.nodes import NEVER, Expr
from tplc.grammars.regular.repetitions import bound_repetitions
from tplc.grammars.regular.rules import ROOT, Rules
from tplc.grammars.request.build import RequestRules, made_of
from tplc.grammars.request.errors import BadGrammar, NothingAllowed
from tplc.grammars.request.request import Request
from tplc.grammars.request.size import MOST_CHARACTERS
from tplc.grammars.request.triggers import triggers
from tplc.ir.nodes import Json, TemplateIR


def grammar(
    ir: TemplateIR,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: str = "auto",
    parallel_tool_calls: bool | None = None,
    json_schema: Json | None = None,
    context: Mapping[str, Json] | None = None,
    any_order: bool = False,
    open_objects: bool = False,
    formats: bool = True,
    strict: bool = False,
    most_characters: int = MOST_CHARACTERS,
) -> Grammar:
    """Returns the grammar of one request; see `Request` for what it can ask for."""
    given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
    given.tools(tools)
    request = Request(
        tools=tools,
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        json_schema=json_schema,
        context=context,
        any_order=any_order,
        open_objects=open_objects,
        formats=formats,
        strict=strict,
        most_characters=most_characters,
    )
    return made_of(ir, request, GBNF, _written)


def _written(made: RequestRules) -> Grammar:
    ir, prompt = made.ir, made.prompt.text
    if not made.constrains:
        return Grammar("", False, (), ir.preserved_tokens, prompt, ())
    finished = _finished(made.rules, made.ways())
    made.report_left_out(finished)
    text = write_rules(finished)
    made.check_size(text, {line.partition(" ::= ")[0]: len(line) + 1 for line in text.split("\n")}, finished)
    _check(text)
    made.check_exact()
    return with_comments(Grammar(text, made.lazy, triggers(made.fired), ir.preserved_tokens, prompt, made.report.found))


def _finished(rules: Rules, ways: list[Expr]) -> dict[str, Expr]:
    root = bound_repetitions(rules, ROOT, alt(*ways))
    rules.rewrite(lambda name, body: bound_repetitions(rules, name, body))
    finished = rules.finished(root)
    if finished[ROOT] == NEVER:
        raise NothingAllowed("grammar")
    return finished


def _check(text: str) -> None:
    problems = lint(text)
    if problems:
        raise BadGrammar(problems)
