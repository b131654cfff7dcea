"""Special tokens: the ones that a template writes and no one gave, and those that markers hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conftest import ROOT
from tplc import compile_template
from tplc.ir.nodes import Captured
from tplc.ir.stand_ins import names_stood_for, stand_in, without_stand_ins
from tplc.learn.tokens import stand_ins

CASES = ROOT / "tests" / "cases" / "learn"
BARE = (CASES / "end-token-not-given.jinja").read_text(encoding="utf-8")
BOTH = (CASES / "a-mark-and-a-token-end-the-turn.jinja").read_text(encoding="utf-8")
INSIDE = (CASES / "tokens-inside-markers.jinja").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("{{ bos_token }}{{ m + eos_token }}", ["bos_token", "eos_token"]),
        ("{{ m ~ turn_token }}", ["turn_token"]),
        ("{{ eos_token if last else '' }}", ["eos_token"]),
        ("{% if add_bos_token %}x{% endif %}", []),
        ("{{ 'x' if add_bos_token else 'y' }}", []),
        ("{% set eos_token = '<e>' %}{{ eos_token }}", []),
        ("{% if", []),
    ],
)
def test_stand_ins(source: str, names: list[str]) -> None:
    assert stand_ins(source, {}) == {name: stand_in(name) for name in names}


def test_given_tokens_need_no_stand_in() -> None:
    assert stand_ins("{{ bos_token }}{{ eos_token }}", {"eos_token": ""}) == {"bos_token": "<bos_token:not-given>"}


def test_stand_ins_in_a_text() -> None:
    assert names_stood_for("a<eos_token:not-given>b<eos_token:not-given>") == ("eos_token",)
    assert without_stand_ins("a<eos_token:not-given>b") == "ab"


def test_an_end_token_that_was_not_given_is_part_of_the_format() -> None:
    ir = compile_template(BARE)
    assert ir.verification.verified
    assert ir.turn.ends == ("<eos_token:not-given>",)
    assert ir.captured == (
        Captured("token", "eos_token", "<eos_token:not-given>", "turn.end", "<eos_token:not-given>"),
    )
    assert ir.preserved_tokens == ()


def test_an_end_token_that_was_given() -> None:
    ir = compile_template(BARE, special_tokens={"eos_token": "<eos>", "bos_token": "<bos>"})
    assert ir.verification.verified
    assert (ir.turn.ends, ir.captured, ir.preserved_tokens) == (("<eos>",), (), ("<eos>",))


def test_a_mark_and_a_token_both_end_the_turn() -> None:
    assert compile_template(BOTH, special_tokens={"eos_token": "<eos>"}).turn.ends == ("<:over:>\n", "<eos>")
    together = BOTH.replace("<:over:>\\n' -}}", "<:over:>' + eos_token -}}").replace(
        "{%- else -%}{{- eos_token -}}", ""
    )
    ends = compile_template(together, special_tokens={"eos_token": "<eos>"}).turn.ends
    assert ends == ("<:over:><eos>", "<eos>", "<:over:>")


def test_every_token_in_a_marker_is_preserved() -> None:
    assert compile_template(INSIDE).preserved_tokens == ("<:act:>", "<:args:>", "<:done:>", "<:form:>", "<:over:>")


def test_the_tokenizer_knows_its_tokens() -> None:
    added = ["<:act:>", "<:args:>", "<:never:>", "to="]
    assert compile_template(INSIDE, added_tokens=added).preserved_tokens == ("<:act:>", "<:args:>", "to=")


# As its user sees it

REPORTED = (
    'not given    eos_token: in turn.end, "<eos_token:not-given>" stands for it; give it with --token eos_token=TEXT '
    "or --token tokenizer_config.json, or name the model's folder as the source"
)


def test_the_report_begins_with_what_was_not_given(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text(BARE)
    for options in ((), ("--quiet",)):
        result = run("compile", "chat.jinja", "-o", "parser.py", "--force", *options)
        assert (result.code, result.err.splitlines()[0]) == (0, REPORTED)
    assert 'STOP = ("<eos_token:not-given>",)\n' in (tmp_path / "parser.py").read_text()


@pytest.mark.parametrize("token", ["eos_token=<eos>", "model", "model/tokenizer_config.json"])
def test_ways_to_give_it(run: Run, tmp_path: Path, token: str) -> None:
    (tmp_path / "chat.jinja").write_text(BARE)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer_config.json").write_text('{"eos_token": {"content": "<eos>"}}')
    result = run("compile", "chat.jinja", "-o", "parser.py", "--token", token)
    assert (result.code, result.err.splitlines()[0][:12]) == (0, "template    ")
    assert 'STOP = ("<eos>",)\n' in (tmp_path / "parser.py").read_text()


def test_prompts_hold_no_stand_in(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text(BARE)
    request = '{"messages": [{"role": "user", "content": "Hi"}]}'
    assert run("render", "chat.jinja", stdin=request).out == "(ask) Hi (/ask)"
    prepared = run("prepare", "chat.jinja", stdin=request).out
    assert '"prompt": "(ask) Hi (/ask)"' in prepared
    assert "not-given" not in prepared
