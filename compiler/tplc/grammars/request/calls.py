"""The rules of what a request's schemas allow: the arguments of each tool, the answer in a response format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from tplc.grammars.dialect.context import SchemaContext, SchemaReading
from tplc.grammars.dialect.encoded import in_json_string
from tplc.grammars.dialect.pair_values import PairValues
from tplc.grammars.dialect.values import Values
from tplc.grammars.regular.nodes import NEVER, Expr
from tplc.grammars.regular.reading import Unspelled
from tplc.grammars.regular.rules import Rules
from tplc.grammars.request.errors import NothingAllowed
from tplc.grammars.request.layout import ToolRule
from tplc.grammars.request.size import limited
from tplc.grammars.schema.reader import SchemaReader
from tplc.grammars.schema.report import Report
from tplc.ir.nodes import JSON_STYLE, Dialect, Json, TemplateIR
from tplc.lower import lower
from tplc.lower.call_form import WHITE_SPACE
from tplc.lower.tolerated import tolerated
from tplc.lower.written import WrittenCalls, written_calls

GENERAL: Json = {"type": "object"}
# A target's own way to express a JSON value of a schema, instead of rules; None if it can't express the schema.
Whole = Callable[[Json, Dialect, SchemaReading], Expr | None]
_JSON = Dialect(top=JSON_STYLE, in_list=JSON_STYLE, in_object=JSON_STYLE)


def calls_of(
    rules: Rules,
    report: Report,
    ir: TemplateIR,
    functions: dict[str, Json],
    reading: SchemaReading,
    most: Mapping[str, int],
    whole: Whole | None = None,
) -> list[ToolRule]:
    """Return the rules of the tools.  `most`: the largest number of rules for a tool's arguments; `whole`: functions
    that express a schema exactly."""
    assert ir.tools.dialect is not None
    context = SchemaContext(rules, report, ir.tools.dialect, reading)
    form, written = lower(ir).calls, written_calls(ir.tools)
    assert form is not None
    after_call = (written.section_end, *ir.turn.ends, written.separator + written.opener + _first_name(written))
    values: Values | PairValues = Values(context)
    if form.pairs is not None:
        values = PairValues(context, form.pairs, written, after_call, cache(tolerated(ir).texts))
    calls = []
    for name, parameters in functions.items():
        report.tool = name
        schema: Json = parameters
        if not isinstance(parameters, dict | bool):
            report.looser("parameters", "#", "any object: this is not a schema")
            schema = GENERAL
        reader = SchemaReader(schema, report, formats=reading.formats)
        written_whole = (
            None
            if whole is None or form.pairs is not None or form.arguments.encoded
            else whole(schema, ir.tools.dialect, reading)
        )
        if written_whole is not None:
            may_be_empty = bool(form.bare_call) and _may_be_empty(schema)
            calls.append(ToolRule(name, rules.add(f"{name}-arguments", written_whole), may_be_empty))
            continue
        make = partial(_encoded if form.arguments.encoded else _arguments, context, values, reader, name)
        arguments = limited(rules, name, most.get(name), make)
        if arguments == NEVER:
            report.tighter("parameters", "#", "the tool is left out: no arguments satisfy the schema")
            continue
        end_of_name = written.after_name.strip()
        one_word = any(slot.kind == "name" and slot.stops == WHITE_SPACE for slot in form.header)
        if (end_of_name and end_of_name in name) or (one_word and len(name.split()) > 1):
            report.looser("name", "#", "it contains the text that ends a name, so the function can't be identified")
        may_be_empty = bool(form.bare_call) and _may_be_empty(schema)
        calls.append(ToolRule(name, rules.add(f"{name}-arguments", arguments), may_be_empty))
    report.tool = ""
    if not calls:
        raise NothingAllowed(", ".join(functions))
    return calls


def _arguments(context: SchemaContext, values: Values | PairValues, reader: SchemaReader, name: str) -> Expr:
    context.read(reader, name)
    return values.arguments(reader.root)


def _encoded(context: SchemaContext, _: object, reader: SchemaReader, name: str) -> Expr:
    """Return the arguments inside a JSON string."""
    inner = SchemaContext(Rules(Unspelled()), context.report, context.dialect, context.reading)
    arguments = _arguments(inner, Values(inner), reader, name)
    return arguments if arguments == NEVER else in_json_string(context.rules, inner.rules, arguments)


# Keywords that may forbid an empty object.
_DEMANDS = ("required", "minProperties", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "$ref", "$dynamicRef")


def _may_be_empty(schema: Json) -> bool:
    """Return whether a schema clearly allows an empty object."""
    if not isinstance(schema, dict):
        return schema is True
    return schema.get("type", "object") == "object" and not any(schema.get(keyword) for keyword in _DEMANDS)


def _first_name(written: WrittenCalls) -> str:
    """Return a name and its end if calls begin with that; otherwise ""."""
    return "f" + written.after_name if written.slot_order[:1] == ("name",) else ""


def response(rules: Rules, report: Report, schema: Json, reading: SchemaReading, whole: Whole | None = None) -> Expr:
    written = None if whole is None else whole(schema, _JSON, reading)
    if written is not None:
        return rules.add("response", written)
    reader = SchemaReader(schema, report, formats=reading.formats)
    context = SchemaContext(rules, report, _JSON, reading)
    context.read(reader, "response")
    value = Values(context).value(reader.root, "top")
    if value == NEVER:
        raise NothingAllowed("response format")
    return value
