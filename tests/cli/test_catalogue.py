"""`tplc catalogue`, and the options that say which observed variants are asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT
from tplc.catalogue import applied_entries, shipped
from tplc.ir.serialize import loads

CASES = ROOT / "tests" / "cases" / "catalogue"
TEMPLATE = """\
{%- for message in messages %}
    {{- '[' + message.role + ']' + (message.content or '') }}
    {%- for call in message.tool_calls or [] %}
        {{- '<do>' + call.function.name + ' ' + (call.function.arguments | tojson) + '</do>' }}
    {%- endfor %}
    {{- '[end]' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{% endif %}
"""
OWN: dict[str, Any] = {
    "title": "capitals",
    "reason": "seen",
    "source": "a user",
    "markers": ["<do>"],
    "lacks": ["reasoning.start"],
    "tolerances": [{"kind": "variant", "marker": "<do>", "text": "<Do>"}],
    "outputs": [{"text": "<Do>f {}</do>", "message": {"tool_calls": [{"name": "f", "arguments": {}}]}}],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "capitals.json").write_text(json.dumps(OWN))
    return tmp_path


def test_a_folder_of_the_users_own(run: Run, project: Path) -> None:
    result = run("compile", "hut.jinja", "-o", "hut.json", "--catalogue", "own")
    assert result.code == 0
    assert "catalogue    capitals: 1 variant\n" in result.err
    ir = loads((project / "hut.json").read_text())
    assert [(t.text, t.marker, t.reason, t.source, t.entry) for t in ir.tolerances if t.kind == "variant"] == [
        ("<Do>", "<do>", "seen", "a user", "capitals")
    ]
    calls = [("parse", "hut.json"), ("parse", "hut.jinja", "--catalogue", "own")]
    for command in calls:
        message = json.loads(run(*command, stdin="<Do>f {}</do>").out)
        assert [call["function"]["name"] for call in message["tool_calls"]] == ["f"]
    assert json.loads(run("parse", "hut.jinja", stdin="<Do>f {}</do>").out)["tool_calls"] == []


def test_a_folder_in_the_manifest(run: Run, project: Path) -> None:
    (project / "tplc.toml").write_text(
        '[models.hut]\nsource = "hut.jinja"\noutputs = ["hut.json"]\ncatalogue = ["own"]\n'
    )
    assert run("build").code == 0
    assert dict(applied_entries(loads((project / "hut.json").read_text()))) == {"capitals": 1}
    assert run("check").code == 0
    (project / "own" / "capitals.json").write_text(json.dumps({**OWN, "markers": ["<other>"]}))
    assert run("check").code == 1  # stale
    assert run("build").code == 0
    assert not applied_entries(loads((project / "hut.json").read_text()))


def test_what_ships_is_left_out(run: Run, project: Path) -> None:
    name = "granite-reasoning"
    (project / "t.jinja").write_text((CASES / f"{name}.jinja").read_text(encoding="utf-8"))
    text = "<think>Hm.</think>Yes."
    assert json.loads(run("parse", "t.jinja", stdin=text).out)["reasoning_content"] == "Hm."
    assert json.loads(run("parse", "t.jinja", "--no-catalogue", stdin=text).out)["reasoning_content"] is None
    manifest = '[models.t]\nsource = "t.jinja"\noutputs = ["t.json"]\nno-catalogue = true\n'
    (project / "tplc.toml").write_text(manifest)
    assert run("build").code == 0
    assert not applied_entries(loads((project / "t.json").read_text()))


def test_the_list(run: Run, project: Path) -> None:
    result = run("catalogue", "--no-catalogue", "--catalogue", "own")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "capitals: capitals\n"
        '    needs    "<do>"\n'
        "    needs no reasoning.start\n"
        '    variant  "<Do>" for "<do>"\n'
        "    reason   seen\n"
        "    source   a user\n"
    )
    listed = json.loads(run("catalogue", "--json").out)
    assert [entry["name"] for entry in listed] == [entry.name for entry in shipped()]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"markers": []}, "own/capitals.json: is not an entry of a catalogue: markers: [] should be non-empty"),
        ({"lacks": ["x"]}, "own/capitals.json: is not an entry of a catalogue: lacks[0]: 'x' is not one of "),
        ({"tolerances": [{"kind": "kindness"}]}, "own/capitals.json: tolerances[0].kind: expected variant, or one of "),
    ],
)
def test_bad_entries(run: Run, project: Path, change: dict[str, Any], error: str) -> None:
    (project / "own" / "capitals.json").write_text(json.dumps({**OWN, **change}))
    result = run("catalogue", "--catalogue", "own")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"tplc: {error}")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--catalogue", "none"], "none: there is no such folder\n    this folder has hut.jinja, own"),
        (["--catalogue", "."], ".: contains no *.json: a catalogue is a folder with an entry in each"),
    ],
)
def test_bad_folders(run: Run, project: Path, arguments: Sequence[str], error: str) -> None:
    result = run("compile", "hut.jinja", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")
