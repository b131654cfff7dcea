"""Schemas for editors accept what tplc accepts, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Run
from tplc.errors import SourceError
from tplc.ir.nodes import GENERAL_TOLERANCES
from tplc.ir.tolerances import tolerances_from
from tplc.schemas import load_schema, schema_names

NAMES = [
    "build",
    "catalogue",
    "census",
    "check",
    "compile",
    "delta",
    "diagnostic",
    "diff",
    "doctor",
    "entries",
    "explanation",
    "failure",
    "grammar",
    "ir",
    "lint",
    "manifest",
    "mask",
    "message",
    "observe",
    "parsed",
    "prepare",
    "rows",
    "tolerances",
    "try",
    "verify",
]
VARIANT = {"kind": "variant", "marker": "<fn>", "text": "<Fn>", "reason": "seen"}


def test_they_are_listed_and_printed(run: Run) -> None:
    assert run("schema").out == (
        "build        Output of tplc build --json\n"
        "catalogue    An entry of a catalogue of observed variants\n"
        "census       Output of tplc census --json\n"
        "check        Output of tplc check --json\n"
        "compile      Output of tplc compile --json\n"
        "delta        A line of tplc parse --stream\n"
        "diagnostic   A diagnostic of a parser\n"
        "diff         Output of tplc diff --json\n"
        "doctor       Output of tplc doctor --json\n"
        "entries      Output of tplc catalogue --json\n"
        "explanation  Output of tplc explain --json\n"
        "failure      The error of a command with --json\n"
        "grammar      The grammar in the output of tplc compile --json\n"
        "ir           The format of a template: the output of tplc compile -t json\n"
        "lint         Output of tplc lint --json\n"
        "manifest     A manifest, tplc.toml\n"
        "mask         Output of tplc mask --json\n"
        "message      Output of tplc parse\n"
        "observe      Output of tplc observe --json\n"
        "parsed       Output of tplc parse --json\n"
        "prepare      Output of tplc prepare\n"
        "rows         Output of tplc parse --column --json\n"
        "tolerances   A tolerance file: how outputs may differ from what a template renders\n"
        "try          Output of tplc try --json\n"
        "verify       Output of tplc verify --json\n"
    )
    for name in NAMES:
        assert json.loads(run("schema", name).out) == load_schema(name)
    wrong = run("schema", "tolerance")
    assert (wrong.code, wrong.err) == (
        2,
        f"tplc: no schema is called 'tolerance' (did you mean tolerances?): there are {', '.join(NAMES)}\n",
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_schema(name: str) -> None:
    """Each schema is self-contained: it includes what it uses from other files."""
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    named = re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema))
    assert [ref for ref in named if not ref.startswith("#/")] == []
    for ref in named:
        part: Any = schema
        for step in ref.split("/")[1:]:
            part = part[step]
    assert schema_names() == NAMES


@pytest.mark.parametrize(
    "tolerances",
    [
        *([{"kind": kind, "enabled": False}] for kind in GENERAL_TOLERANCES),
        [],
        [VARIANT, {"kind": "whitespace", "enabled": True, "reason": "always"}],
        [{**VARIANT, "source": "issue 12", "enabled": False}],
        [{"kind": "none"}],
        [{"enabled": True}],
        [{**VARIANT, "reason": ""}],
        [{name: value for name, value in VARIANT.items() if name != "text"}],
        [{**VARIANT, "markers": "<fn>"}],
        [{**VARIANT, "entry": "capitals"}],
        [{**VARIANT, "enabled": "no"}],
        [{**VARIANT, "text": 5}],
        ["whitespace"],
        {"kind": "whitespace"},
        None,
    ],
    ids=str,
)
def test_a_tolerance_file_is_what_the_schema_says(tolerances: Any) -> None:
    data = {"$schema": "tolerances.schema.json", "tolerances": tolerances}
    valid = jsonschema.Draft202012Validator(load_schema("tolerances")).is_valid(data)
    try:
        tolerances_from(data, "own.json")
    except SourceError:
        assert not valid
    else:
        assert valid


def test_files_may_name_their_schema(run: Run, tmp_path: Path) -> None:
    entry = {
        "$schema": "catalogue.schema.json",
        "title": "capitals",
        "reason": "seen",
        "source": "here",
        "markers": ["<fn>"],
        "tolerances": [VARIANT],
        "outputs": [{"text": "Hi.", "message": {"content": "Hi."}}],
    }
    (tmp_path / "variants").mkdir()
    (tmp_path / "variants" / "capitals.json").write_text(json.dumps(entry))
    listed = run("catalogue", "--catalogue", "variants", "--no-catalogue")
    assert (listed.code, listed.out.splitlines()[0]) == (0, "capitals: capitals")
    assert run("init").code == 0
    assert (tmp_path / "tplc.toml").read_text().splitlines()[1:3] == [
        "# For editors with Taplo: tplc schema manifest > tplc.schema.json, and begin this file with",
        "# #:schema ./tplc.schema.json",
    ]
