r"""Print the IR as text, one fact per line, for tests, diffs and people.

    Reasoning("tag_based", "<r>\n", "\n</r>", "reasoning_content")
    →  reasoning.mode = tag_based
       reasoning.start = "<r>\n"
       reasoning.end = "\n</r>"
       reasoning.key = reasoning_content

Markers are JSON strings.  What is empty, absent or the default is not printed, and a value style is printed as what
sets it apart from JSON.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

from tplc.ir.nodes import (
    JSON_STYLE,
    Arguments,
    Capabilities,
    Dialect,
    JsonFields,
    Layout,
    ObjectArguments,
    StringStyle,
    TemplateIR,
    Text,
    Token,
    Tools,
    ValueStyle,
    Verification,
)
from tplc.ir.visible import one_line


def printed(ir: TemplateIR) -> str:
    return "".join(line + "\n" for line in lines(ir))


def lines(ir: TemplateIR) -> Iterator[str]:
    """Yield the facts of a format, each in one line even if a text contains line ends."""
    return map(one_line, _all_facts(ir))


def _all_facts(ir: TemplateIR) -> Iterator[str]:
    source = ir.provenance
    yield f"ir {ir.version} of {quoted(source.name)} (sha256 {source.sha256[:12]}, {source.size} bytes)"
    if source.examples_sha256:
        yield f"examples = sha256 {source.examples_sha256[:12]}"
    for name, token in sorted(source.special_tokens):
        yield f"special_token.{name} = {quoted(token)}"
    yield from _capabilities(ir.capabilities)
    yield from _turn(ir)
    if ir.reasoning.mode != "none":
        yield from _facts("reasoning", ir.reasoning, bare=("mode", "key"))
    yield from _facts("content", ir.content, bare=("mode", "with_calls"))
    if ir.tools.format != "none":
        yield from _tools(ir.tools)
    for one_escape in ir.escapes:
        yield f"escape {one_escape.slot} {quoted(one_escape.char)} = {quoted(one_escape.text)}"
    for form in ir.forms:
        yield f"form {'+'.join(form.parts)}: {form.marker} = {quoted(form.text)}"
    for token in sorted(ir.preserved_tokens):
        yield f"preserved = {quoted(token)}"
    for one_token in ir.tokens:
        yield f"token = {quoted(one_token.text)}{_of_token(one_token)}"
    yield from _tolerances(ir)
    for one in ir.captured:
        place = f"{one.marker} {quoted(one.whole)}" if one.marker else quoted(one.whole)
        text = quoted(one.text) + " or any word" * one.any_word
        yield f"captured.{one.by}{' ' + one.name if one.name else ''} = {text} in {place}"
    for reason in ir.left_out:
        yield f"left out = {reason}"
    if ir.verification != Verification():
        yield from _verification(ir.verification)


def _of_token(token: Token) -> str:
    facts = [str(token.id)] * (token.id is not None) + ["special"] * token.special + ["ends an answer"] * token.ends
    return f" ({', '.join(facts)})" if facts else ""


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def printed_layout(layout: Layout) -> str:
    return " ".join(quoted(item.text) if isinstance(item, Text) else item.kind for item in layout)


def _capabilities(seen: Capabilities) -> Iterator[str]:
    flags = [field.name for field in dataclasses.fields(seen) if getattr(seen, field.name) is True]
    yield "capabilities = " + (", ".join(sorted(flags)) or "none")
    for refusal in seen.refusals:
        yield f"refusal = {quoted(refusal)}"


def _turn(ir: TemplateIR) -> Iterator[str]:
    yield f"turn.header = {quoted(ir.turn.header)}"
    for anchor in ir.turn.anchors:
        if anchor != ir.turn.header:
            yield f"turn.anchor = {quoted(anchor)}"
    for prompt in ir.turn.prompts:
        context = json.dumps(dict(prompt.context), ensure_ascii=False, sort_keys=True)
        # The text is the header and the head; only one that is not (a wrong IR) is printed whole.
        whole = "" if prompt.text == ir.turn.header + prompt.head else f" in {quoted(prompt.text)}"
        yield f"turn.prompt {context} = header {quoted(prompt.head)}{whole}"
    for head in ir.turn.other_heads:
        yield f"turn.other_head = {quoted(head)}"
    for end in ir.turn.ends:
        yield f"turn.end = {quoted(end)}"


def _facts(path: str, node: object, *, bare: tuple[str, ...]) -> Iterator[str]:
    assert dataclasses.is_dataclass(node)
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if value:
            yield f"{path}.{field.name} = {value if field.name in bare else quoted(value)}"


def _tools(tools: Tools) -> Iterator[str]:
    yield f"tools.format = {tools.format}"
    yield f"tools.parallel = {_word(tools.parallel)}"
    for name in ("section_start", "separator", "section_end"):
        if text := getattr(tools, name):
            yield f"tools.{name} = {quoted(text)}"
    yield f"tools.call = {printed_layout(tools.call)}"
    if tools.bare_call:
        yield f"tools.bare_call = {printed_layout(tools.bare_call)}"
    for replaced in tools.replaced:
        yield f"tools.replaced {replaced.slot} {quoted(replaced.char)} = {quoted(replaced.text)}"
    if tools.index_base:
        yield f"tools.index_base = {tools.index_base}"
    if tools.json is not None:
        yield from _json_fields(tools.json)
    if tools.arguments is not None:
        yield from _arguments(tools.arguments)
    if tools.call_id.position != "none":
        yield f"tools.call_id = {tools.call_id.position}: {printed_layout(tools.call_id.layout)}"
    if tools.call_id.pattern is not None:
        yield f"tools.call_id.pattern = {quoted(tools.call_id.pattern)}"
    if tools.dialect is not None:
        yield from _dialect(tools.dialect)


def _json_fields(fields: JsonFields) -> Iterator[str]:
    yield f"tools.json = {quoted(fields.prefix)} object {quoted(fields.suffix)}"
    if fields.name_is_key:
        yield "tools.json.name_is_key = true"
    for name in ("name", "arguments", "id", "index"):
        if path := getattr(fields, name):
            yield f"tools.json.{name} = {'.'.join(path)}"
    for path, text in fields.constants:
        yield f"tools.json.constant {'.'.join(path)} = {text}"


def _arguments(arguments: Arguments) -> Iterator[str]:
    if isinstance(arguments, ObjectArguments):
        yield "tools.arguments = object" + (" in a JSON string" if arguments.encoded else "")
        if arguments.lines is not None:
            yield f"tools.arguments.lines = {arguments.lines.first} spaces, {arguments.lines.indent} more a level"
        return
    yield f"tools.arguments = {quoted(arguments.start)} pairs {quoted(arguments.end)}"
    yield f"tools.arguments.pair = {printed_layout(arguments.pair)}"
    yield f"tools.arguments.separator = {quoted(arguments.separator)}"
    if arguments.empty != arguments.start + arguments.end:
        yield f"tools.arguments.empty = {quoted(arguments.empty)}"


def _dialect(dialect: Dialect) -> Iterator[str]:
    yield f"tools.dialect = {printed_style(dialect.top)}"
    for name in ("in_list", "in_object"):
        if (style := getattr(dialect, name)) != dialect.top:
            yield f"tools.dialect.{name} = {printed_style(style)}"
    if dialect.elements is not None:
        item = f"{quoted(dialect.elements.item_open)} value {quoted(dialect.elements.item_close)}"
        yield f"tools.dialect.elements = {item}"
    if dialect.wrap is not None:
        yield f"tools.dialect.wrap = {_string(dialect.wrap)}"
    for word in dialect.types:
        closed = f" value {quoted(word.close)}" if word.close else ""
        yield f"tools.dialect.type {word.type} = {quoted(word.word)}{closed}"
    if dialect.indent is not None:
        yield f"tools.dialect.indent = {dialect.indent}"


def printed_style(style: ValueStyle) -> str:
    if style == JSON_STYLE:
        return "json"
    differences: list[str] = []
    for field in dataclasses.fields(style):
        value = getattr(style, field.name)
        if value == getattr(JSON_STYLE, field.name):
            continue
        if field.name == "strings":
            differences.append("strings " + (" or ".join(map(_string, value)) or "raw"))
        elif value is None:
            differences.append(f"{field.name} left out")
        else:
            differences.append(f"{field.name} {quoted(value)}")
    return "json with " + ", ".join(differences)


def _string(style: StringStyle) -> str:
    escape = {"json": "json escapes", "python": "python escapes", "none": "no escapes"}[style.escape]
    return f"{quoted(style.open)} {quoted(style.close)} ({escape}{', ascii' if style.ascii else ''})"


def _tolerances(ir: TemplateIR) -> Iterator[str]:
    general = sorted(tolerance.kind for tolerance in ir.tolerances if tolerance.kind != "variant" and tolerance.enabled)
    if general:
        yield "tolerances = " + ", ".join(general)
    for tolerance in ir.tolerances:
        if tolerance.kind == "variant":
            state = "" if tolerance.enabled else " (off)"
            yield f"tolerance {quoted(tolerance.text)} for {quoted(tolerance.marker)}{state}: {tolerance.reason}"


def _verification(result: Verification) -> Iterator[str]:
    verdict = "verified" if result.verified else "not verified"
    chunkings = f", {result.chunkings} chunkings" if result.chunkings else ""
    counts = f"{result.passed} of {result.messages} messages{chunkings}, seed {result.seed}"
    yield f"verification = {verdict}: {counts}"
    for text in result.not_shown:
        yield f"not rendered = {text}"
    for ambiguity in result.ambiguities:
        yield f"ambiguity ({ambiguity.kind}): {ambiguity.first} | {ambiguity.second} | {quoted(ambiguity.render)}"
    for excused in result.distinct_excused:
        message, other = (json.dumps(one, ensure_ascii=False) for one in (excused.message, excused.other))
        kind = "" if excused.title.endswith(excused.kind) else f" ({excused.kind})"
        yield f"excused{kind} {excused.title}: {message} | {other} | {quoted(excused.render)}"
    for found in result.needs_tools:
        message, other = (json.dumps(one, ensure_ascii=False) for one in (found.message, found.other))
        yield f"needs tools ({found.kind}) {found.title}: {message} | {other} | {quoted(found.render)}"
    for text in result.not_read:
        yield f"not read = {text}"
    if result.refused_by_grammars:
        yield f"no grammars = {result.refused_by_grammars}"
    for failure in result.failures:
        yield f"failure = {failure}"


def _word(value: bool) -> str:
    return "true" if value else "false"
