"""Nothing in a template's strings changes the structure of the parser that is generated."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.backends.parsers import ir_of, module_of
from tests.conftest import ROOT
from tplc.backends import python
from tplc.backends.python import generate
from tplc.backends.python.permitted import BadArtifact, check_permitted
from tplc.cli import main
from tplc.ir.nodes import TemplateIR, Text
from tplc.ir.write import write_message

HOSTILE = [
    '"""',
    "'''",
    "'\"\\",
    "\\",
    '\\\\"',
    "\n",
    "\r\nimport os\r\n",
    '")\nimport os\n#',
    "\N{LINE SEPARATOR}import os",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    "\\N{BULLET}",
    "{}{0}%s",
    "#}",
    "*/ -->",
    "(?P<a>[",
    "\x00",
    "\ud800",
    "\N{PILE OF POO}",
]

NAMES = ("id", "attr", "name", "arg", "module", "asname")  # fields of syntax nodes that hold an identifier


def infected(ir: TemplateIR, text: str) -> TemplateIR:
    """Return the IR with `text` in its name and in the middle of its markers."""

    def within(marker: str) -> str:
        return marker[:1] + text + marker[1:] if marker.strip() else marker

    fields = ir.tools.json
    if fields is None:
        call = tuple(Text(within(item.text)) if isinstance(item, Text) else item for item in ir.tools.call)
    else:
        first, *middle, last = ir.tools.call
        assert isinstance(first, Text) and isinstance(last, Text)
        first = Text(within(fields.prefix) + first.text.removeprefix(fields.prefix))
        last = Text(last.text.removesuffix(fields.suffix) + within(fields.suffix))
        call = (first, *middle, last)
        fields = replace(fields, prefix=within(fields.prefix), suffix=within(fields.suffix))
    return replace(
        ir,
        provenance=replace(ir.provenance, name=text, tplc_version=text, sha256=text),
        turn=replace(ir.turn, ends=tuple(within(end) for end in ir.turn.ends)),
        reasoning=replace(ir.reasoning, start=within(ir.reasoning.start), end=within(ir.reasoning.end)),
        tools=replace(ir.tools, call=call, json=fields, section_start=within(ir.tools.section_start)),
        preserved_tokens=(text,),
    )


@pytest.mark.sweep(29)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("name", ["tagged-json", "parameter-tags", "sectioned-ids"])
def test_hostile_strings_stay_strings(name: str, text: str) -> None:
    ir = infected(ir_of(name), text)
    generated = generate(ir)
    assert _names_in(generated) <= _usual_names(name)
    module = module_of(generated)
    assert (text,) == module.PRESERVED_TOKENS
    message = {"role": "assistant", "content": None, "reasoning_content": "Hm."}
    written = write_message(ir, {**message, "tool_calls": [_call()]})
    if not text.isspace():
        assert module.parse(written)["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": "b"}'}


def _call() -> dict[str, object]:
    return {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"a": "b"}}}


@cache
def _usual_names(name: str) -> frozenset[str]:
    """Return the names in the runtime and in the parser of the same format with harmless markers.  Which parts of the
    runtime a parser contains depends on the characters of its markers."""
    plain = generate(infected(ir_of(name), "x"))
    runtime = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "runtime" / "tplc_runtime").glob("*.py"))]
    names = frozenset[str]().union(*map(_names_in, [plain, *runtime]))
    assert "os" not in names
    return names


def _names_in(text: str) -> frozenset[str]:
    """Return all identifiers of a Python source, those of imports and keyword arguments too."""
    fields = [value for node in ast.walk(ast.parse(text)) for field, value in ast.iter_fields(node) if field in NAMES]
    return frozenset(value for value in fields if isinstance(value, str))


def test_names_of_injected_code_are_seen() -> None:
    generated = generate(ir_of("tagged-json"))
    for added in ("import os", "from x import os", "os = 1", "f(os=1)", "f.os", "def os(): pass", "class os: pass"):
        assert "os" in _names_in(f"{generated}\n{added}\n"), added


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = ", "the generated parser is not Python: invalid syntax (parser.py, line 1)"),
        ("x = '\0'", "the generated parser is not Python: source code string cannot contain null bytes"),
        ("import os", "the generated parser imports os (line 1)"),
        ("import json as os", "the generated parser imports json as os (line 1)"),
        ("from os import path", "the generated parser imports path from os (line 1)"),
        ("from sys import modules", "the generated parser imports modules from sys (line 1)"),
        ("from . import other", "the generated parser imports other from . (line 1)"),
        ("def f():\n    import subprocess", "the generated parser imports subprocess (line 2)"),
        ("x = 1\neval('1')", "the generated parser uses eval (line 2)"),
        ("x = 1\n\n\neval('1')", "the generated parser uses eval (line 4)"),
        ("def f():\n    sys.modules\n\n\nimport sys", "the generated parser uses sys.modules (line 2)"),
        ('x = """\n\nx"""\n\neval', "the generated parser uses eval (line 5)"),
        ("x = [exec]", "the generated parser uses exec (line 1)"),
        ("__import__('os')", "the generated parser uses __import__ (line 1)"),
        ("__builtins__['ex' + 'ec']", "the generated parser uses __builtins__ (line 1)"),
        ("open('x')", "the generated parser uses open (line 1)"),
        ("import sys\nsys.modules['os'].abort()", "the generated parser uses sys.modules (line 2)"),
        ("import argparse\nargparse._os.abort()", "the generated parser uses argparse._os (line 2)"),
        ("import sys\nx = sys\nx.modules", "the generated parser passes on the module sys (line 2)"),
        ("().__class__.__base__", "the generated parser uses .__base__ (line 1)"),
        ("getattr(1, '__reduce__')", "the generated parser uses .__reduce__ (line 1)"),
    ],
)
def test_what_is_not_permitted_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadArtifact) as caught:
        check_permitted(text)
    assert str(caught.value).replace("<unknown>", "parser.py") == problem


@pytest.mark.sweep(2)
@pytest.mark.parametrize("text", ["import os", "print('made by hand')", "x = '"])
def test_what_a_wrong_generator_makes_is_not_written(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(python, "_generate", python._generate.__wrapped__)  # no parser that another test made
    emit = python.emit
    monkeypatch.setattr(python, "emit", lambda *given, **options: emit(*given, **options) + text + "\n")
    with pytest.raises(SystemExit) as stop:
        main(["compile", str(ROOT / "examples/tagged-json/template.jinja"), "-o", str(tmp_path / "parser.py")])
    assert stop.value.code == 1
    assert "tplc: the generated parser" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
