"""`tplc observe`: the report on recorded outputs, the files it writes, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import TEMPLATE, Run

CALL = '<call>{"name": "look", "arguments": {"at": "you"}}</call><end>'
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
        },
    }
]
OUTPUTS: list[dict[str, Any]] = [
    {"text": "Hi.<end>"},
    {"text": CALL},
    {"output": CALL.replace("<call>", "<kall>")},
    {"text": "So. " + CALL.replace("<call>", "<kall>")},
    {"text": CALL.replace("look", "lock"), "tools": TOOLS},
    {"text": CALL.replace("at", "to"), "tools": TOOLS},
    {"text": CALL[:30]},
]
REPORT = """\
outputs              7 in out.jsonl
clean                2 (28.6%)
marker in content    2
unknown tool         1
arguments            1
incomplete           2

marker in content "<kall>": 2 outputs
    ⟦<kall>⟧{"name": "look", "arguments": {"at": "you"}}</call><end>   out.jsonl: line 3

unknown tool "lock": 1 output
    <call>{"name": "⟦lock⟧", "arguments": {"at": "you"}}</call><end>   out.jsonl: line 5

arguments "look: 'at' is missing": 1 output
    <call>{"name": "⟦look⟧", "arguments": {"to": "you"}}</call><end>   out.jsonl: line 6

incomplete "the output ends inside a call": 1 output
    <call>{"name": "look", "argume⟦⟧   out.jsonl: line 7

proposed             "<kall>" for "<call>" (2 outputs; 2 clean because of it, 2 changed by it alone)
with them            4 of 7 outputs are clean
"""
PROPOSED = {
    "kind": "variant",
    "marker": "<call>",
    "text": "<kall>",
    "reason": "stood in its place in 2 recorded outputs",
    "source": "out.jsonl",
}


@pytest.fixture
def outputs(template: Path, tmp_path: Path) -> Path:
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(output) + "\n" for output in OUTPUTS))
    return path


def test_the_report(run: Run, outputs: Path) -> None:
    result = run("observe", "chat.jinja", "out.jsonl")
    assert (result.code, result.out, result.err) == (0, REPORT, "")


def test_proposals_are_written_and_mend(run: Run, outputs: Path, tmp_path: Path) -> None:
    result = run("observe", "chat.jinja", "out.jsonl", "-o", "t.json", "--html", "page.html")
    assert (result.code, result.out) == (0, REPORT + "wrote                t.json\nwrote                page.html\n")
    assert json.loads((tmp_path / "t.json").read_text()) == {"tolerances": [PROPOSED]}
    page = (tmp_path / "page.html").read_text()
    assert "<del>&lt;kall&gt;</del>{&quot;name&quot;" in page
    after = json.loads(run("observe", "chat.jinja", "out.jsonl", "--tolerances", "t.json", "--json").out)
    assert (after["clean"], after["tolerances"], after["kinds"]["marker in content"]) == (4, [], 0)
    again = run("observe", "chat.jinja", "out.jsonl", "-o", "t.json")
    assert (again.code, again.err) == (
        2,
        "tplc: t.json: exists and may have been edited; use --force to overwrite it\n",
    )


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call><end>',
        '<calls>[{"name": "look", "arguments": {"at": 1}}]</calls><end>',
        "<tool_call>look(at=1)</tool_call><end>",
    ],
)
def test_what_opens_calls_is_no_reasoning(run: Run, tmp_path: Path, text: str) -> None:
    """In a format without reasoning, a proposal has both ends of the part that a text begins with."""
    (tmp_path / "plain.jinja").write_text(TEMPLATE.replace("if m.reasoning", "if false"))
    (tmp_path / "out.jsonl").write_text(json.dumps({"text": text}) + "\n")
    reported = run("observe", "plain.jinja", "out.jsonl").out
    assert "reasoning.start" not in reported
    assert ('"<tool_call>" for "<call>"' in reported) == ('>{"name"' in text)
    (tmp_path / "out.jsonl").write_text('{"text": "<think>Hm.</think>Yes.<end>"}\n')
    assert '"<think>" for "reasoning.start"' in run("observe", "plain.jinja", "out.jsonl").out


def test_what_would_change(run: Run, outputs: Path) -> None:
    shown = run("observe", "chat.jinja", "out.jsonl", "--try").out.removeprefix(REPORT)
    call = r'[{"name": "look", "arguments": "{\"at\": \"you\"}"}]'
    without = r'{"content": "<kall>{\"name\": \"look\", \"arguments\": {\"at\": \"you\"}}</call>"}'
    assert shown == (
        f'\nout.jsonl: line 3\n    without {without}\n    with    {{"calls": {call}}}\n'
        f"\nout.jsonl: line 4\n    without {without.replace('<kall>', 'So. <kall>')}\n"
        f'    with    {{"content": "So. ", "calls": {call}}}\n'
    )


def test_json_and_exit_code(run: Run, outputs: Path) -> None:
    result = run("observe", "chat.jinja", "out.jsonl", "--json", "--fail-above", "50")
    assert (result.code, result.err) == (1, "tplc: 71.4% of the outputs are odd, above 50%\n")
    report = json.loads(result.out)
    assert {name: report[name] for name in ("outputs", "clean", "share_odd", "clean_with_them", "tolerances")} == {
        "outputs": 7,
        "clean": 2,
        "share_odd": 71.43,
        "clean_with_them": 4,
        "tolerances": [PROPOSED],
    }
    assert report["groups"][0] == {
        "kind": "marker in content",
        "what": "<kall>",
        "outputs": 2,
        "places": ["out.jsonl: line 3", "out.jsonl: line 4"],
        "example": {"text": OUTPUTS[2]["output"], "start": 0, "end": 6},
    }
    assert run("observe", "chat.jinja", "out.jsonl", "--json", "--fail-above", "80").code == 0


def test_text_and_tables(run: Run, outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(CALL)
    assert run("observe", "chat.jinja", "one.txt").out == (
        "outputs              1 in one.txt\nclean                1 (100.0%)\n"
    )
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    rows = [{"text": o.get("text") or o["output"], "tools": json.dumps(o.get("tools"))} for o in OUTPUTS]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "out.parquet")
    report = json.loads(run("observe", "chat.jinja", "out.parquet", "--json").out)
    assert (report["outputs"], report["clean"]) == (7, 2)
    assert report["groups"][0]["places"] == ["out.parquet: row 3", "out.parquet: row 4"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'out.jsonl: holds no outputs\n    expected lines such as {"text": "…"}'),
        ("{", "out.jsonl:1:2: is not JSON: Expecting property name enclosed in double quotes"),
        ("no", "out.jsonl:1:1: is not JSON: Expecting value"),
        ("[" * 9999, "out.jsonl: line 1: is not JSON that can be read: it is nested too deeply"),
        ('{"text": "", "tools": "["}', "out.jsonl: line 1: tools: is not JSON: Expecting value at character 2"),
        ("[]", 'out.jsonl: line 1: expected an object such as {"text": "…"}'),
        ("{}", "out.jsonl: line 1: has no output: expected a text in text or output"),
        ('{"text": "", "prompt": 1}', "out.jsonl: line 1: prompt: expected the text of the prompt"),
        ('{"text": "", "tools": {}}', "out.jsonl: line 1: tools: expected a list of tools"),
    ],
)  # fmt: skip
def test_what_is_no_output(run: Run, template: Path, tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "out.jsonl").write_text(text)
    result = run("observe", "chat.jinja", "out.jsonl")
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")


def test_bytes_that_are_no_text(run: Run, template: Path, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_bytes(b'{"text": "\xff"}\n')
    error = "tplc: out.jsonl: line 1: is not UTF-8 text\n    save it as UTF-8\n"
    assert run("observe", "chat.jinja", "out.jsonl").err == error
    (tmp_path / "out.txt").write_bytes(b"\xff\xfe")
    assert run("observe", "chat.jinja", "out.txt").err == "tplc: out.txt: is not UTF-8 text\n    save it as UTF-8\n"


def test_wrong_usage(run: Run, outputs: Path, tmp_path: Path) -> None:
    reported = run("observe", "chat.jinja", "no.jsonl").err
    assert reported == "tplc: no.jsonl: there is no such file\n    this folder has out.jsonl\n"
    (tmp_path / "out.csv").write_text("")
    reported = run("observe", "chat.jinja", "out.csv").err
    assert reported == "tplc: out.csv: outputs are read from .jsonl, .parquet and .txt\n"
    reported = run("observe", "chat.py", "out.jsonl").err
    assert reported == "tplc: chat.py: a parser does not contain its format; name the template or its IR (.json)\n"
