"""The rules of a request: the turn, its calls, and when they take over.  A backend spells them.

request_rules(ir, Request(tools=…), frozenset(), spelling)
→  RequestRules(ways=[Seq(Lit("<call>"), …)], takeovers=(Takeover("word", ("<call>",)),), lazy=True, …)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tplc.errors import UnsupportedTemplate
from tplc.grammars.dialect.context import SchemaReading
from tplc.grammars.regular.derivative import after
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.nodes import NEVER, Expr, Ref
from tplc.grammars.regular.rules import Rules, TextSpelling
from tplc.grammars.request.calls import GENERAL, Whole, calls_of, response
from tplc.grammars.request.errors import GrammarNotExact, SchemaTooDeep
from tplc.grammars.request.layout import ToolRule, TurnRules
from tplc.grammars.request.openers import opener_begun
from tplc.grammars.request.request import Request, check_request, chosen_tools, prompt_of
from tplc.grammars.request.size import LEAST_OF_RULE, RequestTooLarge, bounded, largest, limited
from tplc.grammars.request.triggers import Takeover, takeovers
from tplc.grammars.request.variants import variants_of
from tplc.grammars.schema.report import Report
from tplc.ir.escaped import refuse_values
from tplc.ir.forms import forms_with
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.word_slots import with_slots
from tplc.lower import lower

Product = TypeVar("Product")


def made_of(
    ir: TemplateIR,
    request: Request,
    spelling: TextSpelling,
    write: Callable[[RequestRules], Product],
    whole: Whole | None = None,
) -> Product:
    """Return the product that `write` makes of the rules; if they are too large, the schemas are generalised first."""
    general: frozenset[str] = frozenset()
    while True:
        try:
            return write(RequestRules(ir, request, general, spelling, whole))
        except RequestTooLarge as error:
            # Each time there are more of them, so this ends.
            general |= error.names
        except RecursionError:
            raise SchemaTooDeep("grammar") from None


class RequestRules:
    """The rules with these schemas said generally (by their tools; "" is the response format)."""

    def __init__(
        self,
        ir: TemplateIR,
        request: Request,
        general: frozenset[str],
        spelling: TextSpelling,
        whole: Whole | None = None,
    ) -> None:
        refuse_values(ir, "a grammar")
        if request.tools:
            _require_accepted_turns(ir)
        self.ir, self.request, self.general, self.whole = with_slots(ir), request, general, whole
        self.prompt = prompt_of(ir, request.context)
        chosen = chosen_tools(ir, request)
        self.chosen = chosen if ir.tools.format != "none" else {}
        check_request(request)
        self.report, self.rules = Report(), Rules(spelling)
        # The places where a lazy grammar takes over.
        self.fired: list[Takeover] = []
        # The rules for the schemas: of each tool, and of the response format as "".
        self.parts: dict[str, Expr] = {}
        self.made_calls: list[ToolRule] = []

    @property
    def lazy(self) -> bool:
        return bool(self.chosen) and not self.request.eager

    @property
    def constrains(self) -> bool:
        return bool(self.chosen) or self.request.json_schema is not None

    @property
    def most_rules(self) -> int:
        return self.request.most_characters // LEAST_OF_RULE

    def ways(self) -> list[Expr]:
        """Return the possible answers; for a lazy grammar, the texts that may follow where it takes over."""
        ir, request = self.ir, self.request
        ways = [] if request.json_schema is None else [self.answer(request.json_schema)]
        calls = self.made_calls = self.calls() if self.chosen else []
        # One way for each shape of turn that has markers of its own.
        return ways + (
            [way for form in forms_with(ir, "calls") for way in self.ways_to_call(form, calls)] if calls else []
        )

    def bounded(self, name: str, schema: Json, instead: Json) -> Json:
        return bounded(self.report, name, schema, instead, self.general, self.request.most_characters)

    def answer(self, schema: Json) -> Expr:
        """Return the rule `reasoning? answer`, with an answer in the response format."""
        request = self.request
        # A response format is taken by the letter of JSON Schema: docs/grammars.md says so.
        reading = SchemaReading(
            closed=False, plain_integers=False, any_order=request.any_order, formats=request.formats
        )
        wanted = self.bounded("", schema, True)
        most = None if "" in self.general else self.most_rules
        value = limited(self.rules, "", most, partial(response, self.rules, self.report, wanted, reading, self.whole))
        self.parts[""] = value
        turn = TurnRules(self.rules, self.ir, variants_of(replace(self.ir, forms=())), self.prompt.head)
        return _continued(self.rules, self.ir, turn.with_value(value), self.prompt.head)

    def calls(self) -> list[ToolRule]:
        request = self.request
        reading = SchemaReading(closed=not request.open_objects, any_order=request.any_order, formats=request.formats)
        schemas = {name: self.bounded(name, schema, GENERAL) for name, schema in self.chosen.items()}
        most = {name: self.most_rules for name in self.chosen if name not in self.general}
        calls = calls_of(self.rules, self.report, self.ir, schemas, reading, most, self.whole)
        self.parts |= {call.name: call.arguments for call in calls}
        return calls

    def ways_to_call(self, form: TemplateIR, calls: list[ToolRule]) -> list[Expr]:
        """Return the calls where the grammar takes over; for an eager grammar, with the turn before them.  A prompt may
        have another head if tools are given."""
        ways = [
            way for head in (self.prompt.head, *form.turn.other_heads) for way in self._after_head(form, calls, head)
        ]
        return list(dict.fromkeys(ways))

    def _after_head(self, form: TemplateIR, calls: list[ToolRule], head: str) -> list[Expr]:
        wanted, acceptor = self.request.parallel_tool_calls, lower(form)
        parallel = self.ir.tools.parallel if wanted is None else wanted
        variants = variants_of(form)
        markers = variants.calls[0]
        if self.lazy:
            before = (*variants.turn.opens, *variants.turn.reasoning_ends, *variants.turn.content_ends)
            variants = variants.that_begin_calls()
            names, index = [call.name for call in calls], form.tools.index_base
            for one in variants.calls:
                self.fired += takeovers(acceptor, one, names, head, before, index=index)
        rules = TurnRules(self.rules, form, variants, head)
        if self.lazy:
            section = rules.section(calls, parallel=parallel)
            begun = opener_begun(markers, head)
            return [section, after(self.rules, section, begun)] if begun else [section]
        turn = rules.with_calls(calls, parallel=parallel)
        ways = [_continued(self.rules, form, turn, head)]
        return [*ways, rules.at_once(calls, parallel=parallel)] if _leaves_reasoning_open(form, head) else ways

    def report_left_out(self, finished: Mapping[str, Expr]) -> None:
        for call in self.made_calls:
            if isinstance(call.arguments, Ref) and call.arguments.name not in finished:
                self.report.tool = call.name
                self.report.tighter("parameters", "#", "the tool is left out: no finite arguments satisfy the schema")

    def check_exact(self) -> None:
        """Raise GrammarNotExact where a strict request got looser rules."""
        found = tuple(entry for entry in self.report.found if entry.effect == "looser")
        if self.request.strict and found:
            raise GrammarNotExact(found)

    def check_size(self, text: str, sizes: Mapping[str, int], finished: Mapping[str, Expr]) -> None:
        """Raise an error if the text is too large.  `sizes`: the number of characters of each rule."""
        most = self.request.most_characters
        if len(text) > most:
            parts = {name: part for name, part in self.parts.items() if name not in self.general}
            raise RequestTooLarge(largest(finished, sizes, len(text), parts, most))


def _require_accepted_turns(ir: TemplateIR) -> None:
    """Raise UnsupportedTemplate if verification found a turn that the grammars of the format don't accept."""
    refused = ir.verification.refused_by_grammars
    if refused:
        reason = f"a grammar would not accept what the template writes, {refused}: use the generated parser"
        raise UnsupportedTemplate(ir.provenance.name, reason)


def _continued(rules: Rules, ir: TemplateIR, turn: Expr, head: str) -> Expr:
    """Return the turn after the part that is in the prompt."""
    rest = after(rules, turn, head)
    # A head that is no beginning of such a turn (it opens plain content) leaves the turn to begin afresh; so may one
    # that closes reasoning.
    if rest == NEVER:
        return turn
    end = next(iter(lower(ir).reasoning_ends), "").strip()
    return alt(rest, turn) if end and end in head else rest


def _leaves_reasoning_open(ir: TemplateIR, head: str) -> bool:
    acceptor = lower(ir)
    starts, ends = [start.text.strip() for start in acceptor.reasoning_starts], acceptor.reasoning_ends
    return any(start in head and ends[0].strip() not in head.rpartition(start)[2] for start in starts[:1])
