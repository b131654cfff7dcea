"""Texts that try to end what they stand in, and formats with such a text in one place, or in all places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tplc.ir.check import check
from tplc.ir.nodes import TemplateIR, Text, Tolerance
from tplc.ir.serialize import from_dict, to_dict
from tplc.ir.tolerances import apply_tolerances

# INJECTED stands where code, a rule, an element or a line would be if the text got out.
STRINGS: Mapping[str, str] = {
    "double quote": '"',
    "single quote": "'",
    "quotes and a backslash": "'\"\\",
    "triple quotes": '"""\nINJECTED()\n"""',
    "triple single quotes": "'''\nINJECTED()\n'''",
    "backslash": "\\",
    "backslash and quote": '\\\\"',
    "line feed": "\nINJECTED\n",
    "carriage return": "\r\nimport INJECTED\r\n",
    "a statement": '")\nINJECTED()\n#',
    "a rule of a PEG": '"\nINJECTED = "a"\n',
    "a rule of GBNF": '"\nINJECTED ::= "a"\n',
    "line separator": "\N{LINE SEPARATOR}INJECTED",
    "paragraph separator": "\N{PARAGRAPH SEPARATOR}INJECTED",
    "next line": "\x85INJECTED",
    "form feed": "\x0cINJECTED\x0b",
    "bidi override": "\N{RIGHT-TO-LEFT OVERRIDE}x\N{LEFT-TO-RIGHT ISOLATE}",
    "a named character": "\\N{DIGIT ONE}",
    "numbered characters": "\\u0022\\x22\\42",
    "format": "{}{0}{INJECTED}%s%(INJECTED)s$INJECTED",
    "template": "{{ INJECTED }}{% INJECTED %}",
    "comment ends": "*/ --> #} */",
    "comment": "# INJECTED // INJECTED",
    "an element": "</script></pre><INJECTED a='b'>&lt;&#60;",
    "an attribute": "\" INJECTED='x' \"",
    "Markdown": "```\nINJECTED\n```|a|b|\n|--|--|[a](INJECTED)",
    "console markup": "[bold]INJECTED[/bold][link=INJECTED]",
    "classes": "[^]-a]{0,9}",
    "groups": "(?P<INJECTED>[",
    "operators": "a / b | c* !d &e ~f ::= <- <INJECTED>",
    "NUL": "\x00",
    "escape sequence": "\x1b[2J\x1b]0;INJECTED\x07",
    "delete": "\x7f0",
    "lone surrogates": "\ud800 \udc00",
    "beyond the BMP": "\N{PILE OF POO}\U000e0041",
}
ALL_OF_THEM = "".join(STRINGS.values())
HARMLESS = "x"


def within(marker: str, text: str) -> str:
    return marker[:1] + text + marker[1:] if marker.strip() else marker


def infected(ir: TemplateIR, text: str) -> TemplateIR:
    """Return the format with the text in its name and its tokens, and in the middle of its markers."""
    fields = ir.tools.json
    if fields is None:
        call = tuple(Text(within(item.text, text)) if isinstance(item, Text) else item for item in ir.tools.call)
    else:
        first, *middle, last = ir.tools.call
        assert isinstance(first, Text) and isinstance(last, Text)
        first = Text(within(fields.prefix, text) + first.text.removeprefix(fields.prefix))
        last = Text(last.text.removesuffix(fields.suffix) + within(fields.suffix, text))
        call = (first, *middle, last)
        fields = replace(fields, prefix=within(fields.prefix, text), suffix=within(fields.suffix, text))
    ir = replace(
        ir,
        provenance=replace(ir.provenance, name=text, tplc_version=text, sha256=text, special_tokens=((text, text),)),
        turn=replace(ir.turn, ends=tuple(within(end, text) for end in ir.turn.ends)),
        reasoning=replace(ir.reasoning, start=within(ir.reasoning.start, text), end=within(ir.reasoning.end, text)),
        tools=replace(ir.tools, call=call, json=fields, section_start=within(ir.tools.section_start, text)),
        preserved_tokens=(text,),
        verification=replace(ir.verification, failures=(text,), not_shown=(text,)),
    )
    if ir.reasoning.mode == "none":
        return ir
    return apply_tolerances(ir, [Tolerance("variant", True, "reasoning.end", f"</{text}>", text, text)])


def places(ir: TemplateIR, text: str) -> Iterator[tuple[str, TemplateIR]]:
    """Yield every place of a text in the format, with the format that has this text only in that place."""
    data = to_dict(ir)
    for path in _paths(data):
        changed = json.loads(json.dumps(data))
        holder: Any = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = within(holder[path[-1]], text)
        found = _read(changed)
        if found is not None:
            yield ".".join(map(str, path)), found


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str) and item.strip():
            yield (*path, key)
        yield from _paths(item, (*path, key))


def _read(data: Any) -> TemplateIR | None:
    """Return the format; None if the IR allows only certain words there, or requires that the place agrees with
    another."""
    from tplc.errors import BadIR

    try:
        ir = from_dict(data)
    except BadIR:
        return None
    return None if check(ir) else ir


def tools_of(text: str) -> list[dict[str, Any]]:
    """Return a tool with the text in each of its places."""
    string = {"type": "string", "description": text}
    properties = {
        f"key{text}": {"type": "string", "description": text, "title": text},
        "chosen": {"enum": [text, "x"]},
        "fixed": {"const": text},
        "object": {"type": "object", "properties": {text: string}, "required": [text]},
        "pattern": {"type": "string", "pattern": "^a+$"},
        "reference": {"$ref": "#/$defs/" + text.replace("~", "~0").replace("/", "~1")},
    }
    schema = {"type": "object", "properties": properties, "required": [f"key{text}"], "$defs": {text: string}}
    function = {"name": f"f{text}", "description": text, "parameters": schema}
    return [{"type": "function", "function": function}]
