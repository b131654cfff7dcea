"""Text between the arguments of a call and its closer, and objects before or after the one with the arguments."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tests.slips.test_near_forms import OSLO, TEMPLATE
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

NAMED = "{{- '[[call]]' + call.function.name + '[[with]]' + call.function.arguments | tojson"
OBJECT = '{{- \'[[call]]{"name": "\' + call.function.name + \'", "arguments": \' + call.function.arguments | tojson'
CALLS = {"closed": NAMED + " + '[[over]]' }}", "open": NAMED + " }}", "object": OBJECT + " + '}[[over]]' }}"}
GIVEN = '{"city": "Oslo", "days": 3}'
WHOLE = '{"name": "get_weather", "arguments": ' + GIVEN + "}"
NONE: Any = ("get_weather", {})
ALL = ("list_all", {})
FOLLOWS = "text follows the arguments of a call"
BEFORE = "arguments: an object without members before them"
AFTER = "the arguments follow the object with the name"
LEFT = "{} is left over after a call"
LIKE = "[[over]] is like a marker, but remains in the message"

# The format, the text, content, calls, whether the message is incomplete, diagnostics.
Case = tuple[str, str, str, list[tuple[str, Any]], bool, list[str]]
CASES: list[Case] = []
for note in ("// as asked", "# as asked", "/* as\nasked */", "<!-- as asked -->"):
    CASES += [
        ("closed", f"[[call]]get_weather[[with]]{GIVEN} {note}\n[[over]]", "", [OSLO], False, [LEFT.format(note)]),
        ("object", f"[[call]]{WHOLE} {note}\n[[over]]", "", [OSLO], False, [LEFT.format(note)]),
    ]
for text in ("null", "as asked", ', {"a": 1}', "<!-- a --> b <!-- c -->"):
    CASES.append(("closed", f"[[call]]get_weather[[with]]{GIVEN} {text} [[over]]", text, [OSLO], True, [FOLLOWS]))
CASES += [
    ("object", f"[[call]]{WHOLE} as asked[[over]]", "as asked", [OSLO], True, [FOLLOWS]),
    (
        "closed",
        f"[[call]]get_weather[[with]]{GIVEN} one[[over]][[call]]list_all[[with]]{{}}[[over]]",
        "one",
        [OSLO, ALL],
        True,
        [FOLLOWS],
    ),
    # Before another call, or the end of the turn, text is content: nothing shows where the call ends.
    ("closed", f"[[call]]get_weather[[with]]{GIVEN} one", " one", [OSLO], False, []),
    ("object", f"[[call]]{WHOLE} one[[call]]{WHOLE}[[over]]", " one", [OSLO, OSLO], False, []),
    ("closed", f"[[call]]get_weather[[with]]{GIVEN}[[over]] one", " one", [OSLO], False, []),
    ("closed", f"[[call]]get_weather[[with]]{GIVEN}{'a' * 600}[[over]]", "a" * 600 + "[[over]]", [OSLO], False, [LIKE]),
]
for nothing in ("{}", "{} ", "{ }\n", "{}, "):
    for calls, over in (("closed", "[[over]]"), ("open", "")):
        CASES.append((calls, f"[[call]]get_weather[[with]]{nothing}{GIVEN}{over}", "", [OSLO], False, [BEFORE]))
CASES += [
    ("open", '[[call]]get_weather[[with]]{}{"a": 1}', '{"a": 1}', [NONE], True, [FOLLOWS]),
    ("open", '[[call]]list_all[[with]]{}{"a": 1}', '{"a": 1}', [ALL], False, []),
    ("open", "[[call]]list_all[[with]]{}[[call]]list_all[[with]]{}", "", [ALL, ALL], False, []),
]
for between in ("", " ", "\n", ", "):
    text = f'[[call]]{{"name": "get_weather"}}{between}{{"arguments": {GIVEN}}}[[over]]'
    CASES.append(("object", text, "", [OSLO], False, [AFTER]))


@cache
def ir_of(calls: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("CALL", CALLS[calls]))


@cache
def parser_of(calls: str) -> ModuleType:
    return load_module(generate(ir_of(calls), "python"))


@pytest.mark.parametrize("case", CASES)
def test_text_between_a_call_and_its_closer(case: Case) -> None:
    calls, text, *want, incomplete, notes = case
    text += "[end]"
    for size in (len(text), 1, 2, 3, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, deltas = read(parser_of(calls), text, TOOLS, chunks)
        for content, _, found in (reading(stream), joined(deltas)):
            assert [content, [(name, json.loads(arguments)) for name, arguments in found]] == want, size
        assert (stream.incomplete, [note.text for note in stream.diagnostics]) == (incomplete, notes), size
    parsed = PegEngine(ir_of(calls)).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (stream.message, stream.incomplete)


@pytest.mark.parametrize("text", ['["sea"", "hill"]', '["sea", "hill""]', '["sea"", "hill""]'])
def test_one_quote_too_many(text: str) -> None:
    whole = f'[[call]]make_plan[[with]]{{"tags": {text}, "options": {{}}}}[[over]][end]'
    for size in (len(whole), 1, 2):
        chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
        stream, _ = read(parser_of("closed"), whole, TOOLS, chunks)
        [call] = stream.message["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"tags": ["sea", "hill"], "options": {}}
        assert (stream.incomplete, [note.text for note in stream.diagnostics]) == (False, ["arguments: doubled quotes"])
