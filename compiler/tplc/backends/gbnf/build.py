"""The pipeline: IR and request → rules → text.

grammar(ir, tools=[{"type": "function", "function": {"name": "f", …}}])
→  Grammar(text='root ::= "<call>" …', lazy=True, triggers=(Trigger("word", "<call>"),), …)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tplc import given
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.result import Grammar, with_comments
from tplc.backends.gbnf.spelling import GBNF, TokenGbnfSpelling
from tplc.backends.gbnf.write import write_rules
from tplc.errors import UsageError
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.nodes import NEVER, Expr
from tplc.grammars.regular.repetitions import bound_repetitions
from tplc.grammars.regular.rules import ROOT, Rules
from tplc.grammars.request.build import RequestRules, made_of
from tplc.grammars.request.errors import BadGrammar, NothingAllowed
from tplc.grammars.request.request import Request
from tplc.grammars.request.size import MOST_CHARACTERS
from tplc.grammars.request.triggers import Trigger, triggers
from tplc.ir.nodes import Json, TemplateIR
from tplc.lower import lower
from tplc.lower.special import special_tokens


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
    token_literals: bool = False,
) -> Grammar:
    """Returns the grammar of one request; see `Request` for what it can ask for.

    `token_literals`: markers that are tokens of a known id are written as `<[ID]>`, so a call cannot be opened by text
    that spells them.  llama.cpp reads that; other engines of the dialect do not.  Raises UsageError if no id is known.
    """
    given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
    given.tools(tools)
    if token_literals and all(token.id is None for token in ir.tokens):
        raise UsageError(
            "token literals: the ids of the format's tokens are not known: name a model's folder as the source, or "
            "its tokenizer"
        )
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
    portable = made_of(ir, request, GBNF, _written)
    numbers = _usable(ir, portable.triggers) if token_literals else {}
    if not numbers:
        return portable
    return made_of(ir, request, TokenGbnfSpelling(numbers), partial(_written, numbers=numbers))


def _usable(ir: TemplateIR, fired: Iterable[Trigger]) -> dict[str, int]:
    """Return the ids of the tokens that can be written as such: none of a trigger that does not begin with one of
    them."""
    tokens = special_tokens(ir, lower(ir))
    numbers = {token.text: token.id for token in tokens.markers if token.id is not None}
    for word in [trigger.value for trigger in fired if trigger.type == "word"]:
        if not any(word.startswith(text) and text not in tokens.elsewhere for text in numbers):
            numbers = {text: number for text, number in numbers.items() if text not in word}
    return numbers


def _by_token(trigger: Trigger, numbers: Mapping[str, int]) -> Trigger:
    """Return what fires where a token begins it: the token alone, as text that spells it is no beginning of the
    grammar."""
    begun = [text for text in numbers if trigger.type == "word" and trigger.value.startswith(text)]
    token = max(begun, key=len, default="")
    return Trigger("token", token, numbers[token]) if token else trigger


def _written(made: RequestRules, numbers: Mapping[str, int] | None = None) -> Grammar:
    ir, prompt = made.ir, made.prompt.text
    if not made.constrains:
        return Grammar("", False, (), ir.preserved_tokens, prompt, ())
    finished = _finished(made.rules, made.ways())
    made.report_left_out(finished)
    spelling = made.rules.spelling
    if isinstance(spelling, TokenGbnfSpelling):
        finished = {name: spelling.in_tokens(body) for name, body in finished.items()}
    text = write_rules(finished)
    made.check_size(text, {line.partition(" ::= ")[0]: len(line) + 1 for line in text.split("\n")}, finished)
    _check(text, has_tokens=bool(numbers))
    made.check_exact()
    fired = tuple(_by_token(trigger, numbers or {}) for trigger in triggers(made.fired))
    return with_comments(Grammar(text, made.lazy, fired, ir.preserved_tokens, prompt, made.report.found))


def _finished(rules: Rules, ways: list[Expr]) -> dict[str, Expr]:
    root = bound_repetitions(rules, ROOT, alt(*ways))
    rules.rewrite(lambda name, body: bound_repetitions(rules, name, body))
    finished = rules.finished(root)
    if finished[ROOT] == NEVER:
        raise NothingAllowed("grammar")
    return finished


def _check(text: str, *, has_tokens: bool) -> None:
    problems = lint(text, has_tokens=has_tokens)
    if problems:
        raise BadGrammar(problems)
