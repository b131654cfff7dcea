"""The pipeline: IR and request → rules → text.

grammar(ir, tools=[{"type": "function", "function": {"name": "f", …}}])
→  Grammar(text='root ::= "<call>" …', lazy=True, triggers=(Trigger("word", "<call>"),), …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tplc.backends.gbnf.dialect.values import Reading
from tplc.backends.gbnf.grammar.calls import GENERAL, calls_of, response
from tplc.backends.gbnf.grammar.errors import BadGrammar, GrammarNotExact, NothingAllowed, SchemaTooDeep
from tplc.backends.gbnf.grammar.layout import Call, TurnRules
from tplc.backends.gbnf.grammar.lint import lint
from tplc.backends.gbnf.grammar.openers import call_markers, opener_begun
from tplc.backends.gbnf.grammar.request import Request, check_request, chosen_tools, prompt_of
from tplc.backends.gbnf.grammar.result import Grammar, with_comments
from tplc.backends.gbnf.grammar.size import LEAST_OF_RULE, MOST_CHARACTERS, TooLarge, bounded, largest, within
from tplc.backends.gbnf.grammar.triggers import Trigger, triggers
from tplc.backends.gbnf.regular.derivative import after
from tplc.backends.gbnf.regular.expressions import NEVER, Expr, Ref, alt
from tplc.backends.gbnf.regular.repetitions import bound_repetitions
from tplc.backends.gbnf.regular.rules import ROOT, Rules
from tplc.backends.gbnf.regular.write import write_rules
from tplc.backends.gbnf.schema.report import Report
from tplc.ir.forms import forms_with
from tplc.ir.nodes import GenerationPrompt, Json, TemplateIR
from tplc.lower import lower


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
    """The grammar of one request; what it may ask for is told at `Request`."""
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
    general: frozenset[str] = frozenset()
    while True:
        try:
            return _Attempt(ir, request, general).grammar()
        except TooLarge as error:
            # Each time there are more of them, so this ends.
            general |= error.names
        except RecursionError:
            raise SchemaTooDeep("grammar") from None


class _Attempt:
    """One try, with these schemas said generally (by their tools; "" is the response format)."""

    def __init__(self, ir: TemplateIR, request: Request, general: frozenset[str]) -> None:
        self.ir, self.request, self.general = ir, request, general
        self.prompt = prompt_of(ir, request.context)
        chosen = chosen_tools(ir, request)
        self.chosen = chosen if ir.tools.format != "none" else {}
        check_request(request)
        self.report, self.rules = Report(), Rules()
        # What takes over where a lazy grammar is asked for.
        self.fired: list[Trigger] = []
        # What the schemas allow, as rules: of each tool, and of the response format as "".
        self.parts: dict[str, Expr] = {}

    def grammar(self) -> Grammar:
        ir, request = self.ir, self.request
        if not self.chosen and request.json_schema is None:
            return Grammar("", False, (), ir.preserved_tokens, self.prompt.text, ())
        ways = [] if request.json_schema is None else [self.answer(request.json_schema)]
        calls = self.calls() if self.chosen else []
        # One way for each shape of turn that has markers of its own.
        ways += [way for form in forms_with(ir, "calls") for way in self.ways_to_call(form, calls)] if calls else []
        finished = _finished(self.rules, ways)
        self.report_left_out(calls, finished)
        text = self.written(finished)
        found = tuple(entry for entry in self.report.found if entry.effect == "looser")
        if request.strict and found:
            raise GrammarNotExact(found)
        fired = tuple(dict.fromkeys(self.fired))
        return with_comments(Grammar(text, self.lazy, fired, ir.preserved_tokens, self.prompt.text, self.report.found))

    @property
    def lazy(self) -> bool:
        return bool(self.chosen) and not self.request.eager

    @property
    def most_rules(self) -> int:
        return self.request.most_characters // LEAST_OF_RULE

    def bounded(self, name: str, schema: Json, instead: Json) -> Json:
        return bounded(self.report, name, schema, instead, self.general, self.request.most_characters)

    def answer(self, schema: Json) -> Expr:
        """reasoning? answer, in the response format"""
        request = self.request
        reading = Reading(closed=False, plain_integers=False, any_order=request.any_order, formats=request.formats)
        wanted = self.bounded("", schema, True)
        most = None if "" in self.general else self.most_rules
        value = within(self.rules, "", most, partial(response, self.rules, self.report, wanted, reading))
        self.parts[""] = value
        turn = TurnRules(self.rules, self.ir, call_markers(self.ir, lower(self.ir)), self.prompt.head)
        return _continued(self.rules, self.ir, turn.with_value(value), self.prompt)

    def calls(self) -> list[Call]:
        request = self.request
        reading = Reading(closed=not request.open_objects, any_order=request.any_order, formats=request.formats)
        schemas = {name: self.bounded(name, schema, GENERAL) for name, schema in self.chosen.items()}
        most = {name: self.most_rules for name in self.chosen if name not in self.general}
        calls = calls_of(self.rules, self.report, self.ir, schemas, reading, most)
        self.parts |= {call.name: call.arguments for call in calls}
        return calls

    def ways_to_call(self, form: TemplateIR, calls: list[Call]) -> list[Expr]:
        """Where the grammar takes over, the calls; else all of the turn up to them as well."""
        wanted, head, acceptor = self.request.parallel_tool_calls, self.prompt.head, lower(form)
        parallel = self.ir.tools.parallel if wanted is None else wanted
        markers = call_markers(form, acceptor)
        rules = TurnRules(self.rules, form, markers, head)
        if self.lazy:
            self.fired += triggers(acceptor, markers, [call.name for call in calls], head)
            section = rules.section(calls, parallel=parallel)
            begun = opener_begun(markers, head)
            return [section, after(self.rules, section, begun)] if begun else [section]
        turn = rules.with_calls(calls, parallel=parallel)
        ways = [_continued(self.rules, form, turn, self.prompt)]
        return [*ways, rules.at_once(calls, parallel=parallel)] if _leaves_reasoning_open(form, head) else ways

    def report_left_out(self, calls: list[Call], finished: Mapping[str, Expr]) -> None:
        for call in calls:
            if isinstance(call.arguments, Ref) and call.arguments.name not in finished:
                self.report.tool = call.name
                self.report.tighter("parameters", "#", "the tool is left out: no finite arguments satisfy the schema")

    def written(self, finished: Mapping[str, Expr]) -> str:
        most = self.request.most_characters
        text = write_rules(finished)
        if len(text) > most:
            parts = {name: part for name, part in self.parts.items() if name not in self.general}
            raise TooLarge(largest(finished, text, parts, most))
        _check(text)
        return text


def _continued(rules: Rules, ir: TemplateIR, turn: Expr, prompt: GenerationPrompt) -> Expr:
    """The turn behind what the prompt already holds of it."""
    rest = after(rules, turn, prompt.head)
    # A head that is no beginning of such a turn (it opens plain content) leaves the turn to begin afresh; so may one
    # that closes reasoning.
    if rest == NEVER:
        return turn
    end = next(iter(lower(ir).reasoning_ends), "").strip()
    return alt(rest, turn) if end and end in prompt.head else rest


def _leaves_reasoning_open(ir: TemplateIR, head: str) -> bool:
    acceptor = lower(ir)
    starts, ends = [start.text.strip() for start in acceptor.reasoning_starts], acceptor.reasoning_ends
    return any(start in head and ends[0].strip() not in head.rpartition(start)[2] for start in starts[:1])


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
