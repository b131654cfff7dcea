"""The pipeline: IR and tools → rules → text.

grammar(ir, tools=[{"type": "function", "function": {"name": "f", …}}])
→  Grammar(text='root ::= "<call>" …', lazy=True, triggers=(Trigger("word", "<call>"),), …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tplc.backends.gbnf.bare import Behind
from tplc.backends.gbnf.derivative import after
from tplc.backends.gbnf.expressions import NEVER, Expr, Ref, alt
from tplc.backends.gbnf.layout import Call, TurnRules
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.openers import call_markers, opener_begun
from tplc.backends.gbnf.reader import SchemaReader
from tplc.backends.gbnf.repetitions import bound_repetitions
from tplc.backends.gbnf.report import NotExpressed, Report
from tplc.backends.gbnf.result import Grammar, with_comments
from tplc.backends.gbnf.rules import ROOT, Rules
from tplc.backends.gbnf.triggers import triggers
from tplc.backends.gbnf.values import Reading, Values
from tplc.backends.gbnf.write import write_rules
from tplc.errors import TplcError, UsageError
from tplc.ir.nodes import (
    JSON_STYLE,
    Dialect,
    GenerationPrompt,
    Json,
    PairArguments,
    Slot,
    SlotKind,
    TemplateIR,
    Text,
)

_JSON = Dialect(top=JSON_STYLE, in_list=JSON_STYLE, in_object=JSON_STYLE)
_GENERAL: Json = {"type": "object"}


class GrammarNotExact(TplcError):
    """Asked to be strict, and some schema can't be said in a grammar."""

    def __init__(self, found: Sequence[NotExpressed]) -> None:
        super().__init__(tuple(found))
        self.found = tuple(found)

    def __str__(self) -> str:
        lines = [f"    {entry}" for entry in self.found]
        return "\n".join(["the grammar would accept what the schemas do not:", *lines])


class NothingAllowed(TplcError):
    """A schema that no value satisfies."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what}: no value satisfies the schema, so no text would satisfy the grammar"


class BadGrammar(TplcError):
    """A grammar outside the portable subset: a defect of tplc, found before anyone uses it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(["tplc wrote a grammar that not every engine reads:", *(f"    {p}" for p in self.problems)])


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
) -> Grammar:
    """The grammar of one request.

    `tool_choice` is "auto", "required", "none" or a tool's name.  `context` names a generation prompt by the
    variables that give it.  `any_order` takes properties in any order, `open_objects` takes arguments that a tool's
    schema does not mention; without `formats`, "format" is only a remark.  `strict` refuses to loosen any schema.
    """
    prompt = _prompt(ir, context)
    chosen = _chosen(ir, _functions(tools or ()), tool_choice)
    eager = tool_choice not in ("auto", "none")
    if json_schema is not None and eager:
        raise UsageError("a response format and required tools exclude each other: the answer is one or the other")
    report = Report()
    rules = Rules()
    calls: list[Call] = []
    calls_allowed = bool(chosen) and ir.tools.format != "none"
    parallel = ir.tools.parallel if parallel_tool_calls is None else parallel_tool_calls
    if not calls_allowed and json_schema is None:
        return Grammar("", False, (), ir.preserved_tokens, prompt.text, ())
    markers = call_markers(ir)
    turn = TurnRules(rules, ir, markers)
    ways: list[Expr] = []
    if json_schema is not None:
        exactly = Reading(closed=False, plain_integers=False, any_order=any_order, formats=formats)
        value = _response(rules, report, json_schema, exactly)
        ways.append(_continued(rules, ir, turn.with_value(value), prompt))
    if calls_allowed:
        reading = Reading(closed=not open_objects, any_order=any_order, formats=formats)
        calls = _calls(rules, report, ir, chosen, reading)
        lazy = json_schema is None and not eager
        if lazy:
            section = turn.section(calls, parallel=parallel)
            begun = opener_begun(markers, prompt.head)
            ways += [section, after(rules, section, begun)] if begun else [section]
        else:
            ways.append(_continued(rules, ir, turn.with_calls(calls, parallel=parallel), prompt))
            if _leaves_reasoning_open(ir, prompt.head):
                ways.append(turn.at_once(calls, parallel=parallel))
    else:
        lazy = False
    finished = _finished(rules, ways)
    for call in calls:
        if isinstance(call.arguments, Ref) and call.arguments.name not in finished:
            report.tool = call.name
            report.tighter("parameters", "#", "the tool is left out: no finite arguments satisfy the schema")
    text = _text(finished)
    found = tuple(entry for entry in report.found if entry.effect == "looser")
    if strict and found:
        raise GrammarNotExact(found)
    fired = triggers(ir, markers, [call.name for call in calls], prompt.head) if lazy else ()
    return with_comments(Grammar(text, lazy, fired, ir.preserved_tokens, prompt.text, report.found))


def _prompt(ir: TemplateIR, context: Mapping[str, Json] | None) -> GenerationPrompt:
    if context is None:
        return ir.turn.prompts[0]
    wanted = dict(context)
    for prompt in ir.turn.prompts:
        if dict(prompt.context) == wanted:
            return prompt
    known = [dict(prompt.context) for prompt in ir.turn.prompts]
    raise UsageError(f"no generation prompt was learned for the context {wanted}; known are: {known}")


def _functions(tools: Sequence[object]) -> dict[str, Json]:
    """Names and parameter schemas.  A tool without parameters takes none."""
    found: dict[str, Json] = {}
    for index, tool in enumerate(tools):
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise UsageError(f'tools[{index}]: expected {{"type": "function", "function": {{"name": …}}}}')
        if name in found:
            raise UsageError(f"tools[{index}]: the name {name!r} is taken by an earlier tool")
        parameters = function.get("parameters")
        found[name] = {"type": "object", "properties": {}} if parameters is None else parameters
    return found


def _chosen(ir: TemplateIR, functions: dict[str, Json], tool_choice: str) -> dict[str, Json]:
    if tool_choice == "none":
        return {}
    if tool_choice == "auto":
        return functions
    if ir.tools.format == "none":
        raise UsageError(f"{ir.provenance.name} shows no tool calls, so no grammar can ask for one")
    if not functions:
        raise UsageError(f"tool_choice is {tool_choice!r}, and there are no tools")
    if tool_choice == "required":
        return functions
    if tool_choice not in functions:
        raise UsageError(
            f"tool_choice is {tool_choice!r}; expected auto, required, none or one of: {', '.join(functions)}"
        )
    return {tool_choice: functions[tool_choice]}


def _calls(rules: Rules, report: Report, ir: TemplateIR, functions: dict[str, Json], reading: Reading) -> list[Call]:
    assert ir.tools.dialect is not None
    values = Values(rules, report, ir.tools.dialect, reading)
    ends = (ir.tools.section_end, *ir.turn.ends)
    behind = Behind(_behind(ir, "arguments"), ends, ir.tools.separator, _behind(ir, "name"))
    calls = []
    for name, parameters in functions.items():
        report.tool = name
        schema: Json = parameters
        if not isinstance(parameters, dict | bool):
            report.looser("parameters", "#", "any object: this is not a schema")
            schema = _GENERAL
        arguments = _arguments(values, SchemaReader(schema, report, formats=reading.formats), ir, name, behind)
        if arguments == NEVER:
            report.tighter("parameters", "#", "the tool is left out: no arguments satisfy the schema")
            continue
        end_of_name = _behind(ir, "name").strip()
        if end_of_name and end_of_name in name:
            report.looser("name", "#", "it holds what ends a name, so what is called can't be told")
        calls.append(Call(name, rules.add(f"{name}-arguments", arguments)))
    report.tool = ""
    if not calls:
        raise NothingAllowed(", ".join(functions))
    return calls


def _arguments(values: Values, reader: SchemaReader, ir: TemplateIR, name: str, behind: Behind) -> Expr:
    values.read(reader, name)
    assert ir.tools.arguments is not None
    if isinstance(ir.tools.arguments, PairArguments):
        return values.pair_arguments(reader.root, ir.tools.arguments, behind)
    return values.object_arguments(reader.root)


def _behind(ir: TemplateIR, kind: SlotKind) -> str:
    """The literal text that follows a call's slot, "" when another slot does."""
    call = ir.tools.call
    at = next((index for index, item in enumerate(call) if item == Slot(kind)), len(call) - 1)
    if at + 1 == len(call):
        return ir.tools.separator or ir.tools.section_end
    following = call[at + 1]
    return following.text if isinstance(following, Text) else ""


def _response(rules: Rules, report: Report, schema: Json, reading: Reading) -> Expr:
    reader = SchemaReader(schema, report, formats=reading.formats)
    values = Values(rules, report, _JSON, reading)
    values.read(reader, "response")
    value = values.value(reader.root, "top")
    if value == NEVER:
        raise NothingAllowed("response format")
    return value


def _continued(rules: Rules, ir: TemplateIR, turn: Expr, prompt: GenerationPrompt) -> Expr:
    """The turn behind what the prompt already holds of it."""
    rest = after(rules, turn, prompt.head)
    # A head that is no beginning of such a turn (it opens plain content) leaves the turn to begin afresh; so may one
    # that closes reasoning.
    if rest == NEVER:
        return turn
    end = ir.reasoning.end.strip()
    return alt(rest, turn) if end and end in prompt.head else rest


def _leaves_reasoning_open(ir: TemplateIR, head: str) -> bool:
    start, end = ir.reasoning.start.strip(), ir.reasoning.end.strip()
    return bool(start) and start in head and end not in head.rpartition(start)[2]


def _finished(rules: Rules, ways: list[Expr]) -> dict[str, Expr]:
    root = bound_repetitions(rules, ROOT, alt(*ways))
    rules.rewrite(lambda name, body: bound_repetitions(rules, name, body))
    finished = rules.finished(root)
    if finished[ROOT] == NEVER:
        raise NothingAllowed("grammar")
    return finished


def _text(rules: Mapping[str, Expr]) -> str:
    text = write_rules(rules)
    problems = lint(text)
    if problems:
        raise BadGrammar(problems)
    return text
