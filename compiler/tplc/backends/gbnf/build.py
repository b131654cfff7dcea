"""The pipeline: IR and tools → rules → text.

grammar(ir, tools=[{"type": "function", "function": {"name": "f", …}}])
→  Grammar(text='root ::= "<call>" …', lazy=True, triggers=(Trigger("word", "<call>"),), …)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tplc.backends.gbnf.bare import Behind
from tplc.backends.gbnf.derivative import after
from tplc.backends.gbnf.expressions import NEVER, Expr, Ref, alt, names
from tplc.backends.gbnf.layout import Call, TurnRules
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.openers import call_markers, opener_begun
from tplc.backends.gbnf.reader import SchemaReader
from tplc.backends.gbnf.repetitions import bound_repetitions
from tplc.backends.gbnf.report import NotExpressed, Report
from tplc.backends.gbnf.result import Grammar, with_comments
from tplc.backends.gbnf.rules import ROOT, Rules, TooManyRules
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
MOST_CHARACTERS = 4_000_000
# A part with more rules than this of a grammar's characters is not worth finishing.
_LEAST_OF_RULE = 40


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


class GrammarTooLarge(TplcError):
    """Even with the most general arguments the grammar has too many characters."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(size, most)
        self.size = size
        self.most = most

    def __str__(self) -> str:
        return (
            f"the grammar would have {self.size:,} characters and may have {self.most:,}: "
            "offer fewer tools, or allow more (--max-size, most_characters)"
        )


class SchemaTooDeep(TplcError):
    """A schema nests deeper than the stack of who asks for the grammar."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what}: the schema nests too deep for the stack that is left: make it flatter"


class _TooLarge(Exception):
    """These schemas, by their tools ("" is the response format), have to be said more generally."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self.names = names


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
    """The grammar of one request.

    `tool_choice` is "auto", "required", "none" or a tool's name.  `context` names a generation prompt by the
    variables that give it.  `any_order` takes properties in any order, `open_objects` takes arguments that a tool's
    schema does not mention; without `formats`, "format" is only a remark.  `strict` refuses to loosen any schema.
    Of a grammar with more than `most_characters`, the largest schemas are said generally.
    """
    attempt = partial(
        _attempt,
        ir,
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
            return attempt(general=general)
        except _TooLarge as error:
            # Each time there are more of them, so this ends.
            general |= error.names
        except RecursionError:
            raise SchemaTooDeep("grammar") from None


def _attempt(
    ir: TemplateIR,
    *,
    tools: Sequence[Mapping[str, Any]] | None,
    tool_choice: str,
    parallel_tool_calls: bool | None,
    json_schema: Json | None,
    context: Mapping[str, Json] | None,
    any_order: bool,
    open_objects: bool,
    formats: bool,
    strict: bool,
    most_characters: int,
    general: frozenset[str],
) -> Grammar:
    prompt = _prompt(ir, context)
    chosen = _chosen(ir, _functions(tools or ()), tool_choice)
    eager = tool_choice not in ("auto", "none")
    if json_schema is not None and eager:
        raise UsageError("a response format and required tools exclude each other: the answer is one or the other")
    report = Report()
    rules = Rules()
    most = most_characters // _LEAST_OF_RULE
    calls: list[Call] = []
    calls_allowed = bool(chosen) and ir.tools.format != "none"
    parallel = ir.tools.parallel if parallel_tool_calls is None else parallel_tool_calls
    if not calls_allowed and json_schema is None:
        return Grammar("", False, (), ir.preserved_tokens, prompt.text, ())
    markers = call_markers(ir)
    turn = TurnRules(rules, ir, markers, prompt.head)
    ways: list[Expr] = []
    if json_schema is not None:
        exactly = Reading(closed=False, plain_integers=False, any_order=any_order, formats=formats)
        wanted = _bounded(report, "", json_schema, True, general, most_characters)
        value = _within(rules, "", None if "" in general else most, partial(_response, rules, report, wanted, exactly))
        ways.append(_continued(rules, ir, turn.with_value(value), prompt))
    if calls_allowed:
        reading = Reading(closed=not open_objects, any_order=any_order, formats=formats)
        bounded = {}
        for name, parameters in chosen.items():
            bounded[name] = _bounded(report, name, parameters, _GENERAL, general, most_characters)
        calls = _calls(rules, report, ir, bounded, reading, {name: most for name in chosen if name not in general})
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
    text = write_rules(finished)
    if len(text) > most_characters:
        parts = {call.name: call.arguments for call in calls} | ({} if json_schema is None else {"": value})
        parts = {name: part for name, part in parts.items() if name not in general}
        raise _TooLarge(_largest(finished, text, parts, most_characters))
    _check(text)
    found = tuple(entry for entry in report.found if entry.effect == "looser")
    if strict and found:
        raise GrammarNotExact(found)
    fired = triggers(ir, markers, [call.name for call in calls], prompt.head) if lazy else ()
    return with_comments(Grammar(text, lazy, fired, ir.preserved_tokens, prompt.text, report.found))


def _bounded(
    report: Report, name: str, schema: Json, instead: Json, general: frozenset[str], most_characters: int
) -> Json:
    """The schema, or what is said instead where it would take too much."""
    if name not in general:
        return schema
    what = "any value" if instead is True else "any object"
    report.tool = name
    keyword = "parameters" if name else "schema"
    report.looser(keyword, "#", f"{what}: the grammar would have more than {most_characters:,} characters")
    report.tool = ""
    return instead


def _within(rules: Rules, name: str, most: int | None, make: Callable[[], Expr]) -> Expr:
    """What `make` gives, unless it takes more rules than that."""
    rules.allow(most)
    try:
        return make()
    except TooManyRules:
        raise _TooLarge(frozenset((name,))) from None
    except RecursionError:
        raise SchemaTooDeep(name or "response format") from None
    finally:
        rules.allow(None)


def _largest(rules: Mapping[str, Expr], text: str, parts: Mapping[str, Expr], most: int) -> frozenset[str]:
    """Without which schemas the grammar would be small enough: the largest ones."""
    if not parts:
        raise GrammarTooLarge(len(text), most)
    sizes = {line.partition(" ::= ")[0]: len(line) + 1 for line in text.splitlines()}
    taken = {name: sum(sizes[rule] for rule in _reached(rules, part)) for name, part in parts.items()}
    found: set[str] = set()
    left = len(text)
    for name in sorted(taken, key=lambda name: -taken[name]):
        if left <= most:
            break
        found.add(name)
        left -= taken[name]
    return frozenset(found)


def _reached(rules: Mapping[str, Expr], part: Expr) -> set[str]:
    todo, seen = names(part), set[str]()
    while todo:
        name = todo.pop()
        if name not in seen and name in rules:
            seen.add(name)
            todo += names(rules[name])
    return seen


def _prompt(ir: TemplateIR, context: Mapping[str, Json] | None) -> GenerationPrompt:
    if context is None:
        return ir.turn.prompts[0]
    wanted = dict(context)
    for prompt in ir.turn.prompts:
        if dict(prompt.context) == wanted:
            return prompt
    known = " or ".join(_variables(dict(prompt.context)) for prompt in ir.turn.prompts)
    raise UsageError(f"no prompt was learned with {_variables(wanted)}: {ir.provenance.name} has prompts with {known}")


def _variables(context: Mapping[str, Json]) -> str:
    shown = [f"{name}={json.dumps(value, ensure_ascii=False, default=repr)}" for name, value in context.items()]
    return " ".join(shown) or "no variables"


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


def _calls(
    rules: Rules,
    report: Report,
    ir: TemplateIR,
    functions: dict[str, Json],
    reading: Reading,
    most: Mapping[str, int],
) -> list[Call]:
    """`most`: how many rules a tool's arguments may take."""
    assert ir.tools.dialect is not None
    values = Values(rules, report, ir.tools.dialect, reading)
    ends = (ir.tools.section_end, *ir.turn.ends)
    opener, name_end = _before_name(ir)
    behind = Behind(_behind(ir, "arguments"), ends, ir.tools.separator, opener, name_end)
    calls = []
    for name, parameters in functions.items():
        report.tool = name
        schema: Json = parameters
        if not isinstance(parameters, dict | bool):
            report.looser("parameters", "#", "any object: this is not a schema")
            schema = _GENERAL
        reader = SchemaReader(schema, report, formats=reading.formats)
        arguments = _within(rules, name, most.get(name), partial(_arguments, values, reader, ir, name, behind))
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


def _before_name(ir: TemplateIR) -> tuple[str, str]:
    """What a call opens with, and what ends a name right behind that; "" where something else comes first."""
    match ir.tools.call:
        case (Text(opener), Slot("name"), *_):
            return opener, _behind(ir, "name")
        case (Slot("name"), *_):
            return "", _behind(ir, "name")
        case (Text(opener), *_):
            return opener, ""
    return "", ""


def _behind(ir: TemplateIR, kind: SlotKind) -> str:
    """The literal text that follows a call's slot; "" when another slot does, or nothing."""
    call = ir.tools.call
    at = next((index for index, item in enumerate(call) if item == Slot(kind)), len(call) - 1)
    following = call[at + 1] if at + 1 < len(call) else None
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


def _check(text: str) -> None:
    problems = lint(text)
    if problems:
        raise BadGrammar(problems)
