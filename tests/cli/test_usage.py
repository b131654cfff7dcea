"""Typing mistakes, for every command."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.cli.conftest import TEMPLATE, Run
from tplc.cli.app import app


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["compile", "chat.jinja", "-o", "a.py", "-o", "b.py"], "--output"),
        (["compile", "chat.jinja", "-o", "a.py", "--output=a.py"], "--output"),
        (["parse", "chat.jinja", "-", "--tools", "a.json", "--tools", "b.json"], "--tools"),
        (["build", "-j", "1", "-j2"], "--jobs"),
        (["check", "--format", "text", "--format", "json"], "--format"),
    ],
    ids=str,
)
def test_an_option_that_holds_one_value_is_given_once(
    run: Run, template: Path, arguments: list[str], option: str
) -> None:
    done = run(*arguments)
    message = f"{option} is given twice but takes one value; give it once"
    shown = json.loads(done.out)["error"]["message"] if "json" in arguments else message + done.out
    assert (done.code, shown, done.err) == (2, message, f"tplc: {message}\n")


def test_options_that_may_come_again(run: Run, template: Path) -> None:
    done = run("compile", "chat.jinja", "-o", "a.py", "-q", "-q", "--token", "a=<a>", "--token", "b=<b>")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["compile", "a.jinja", "--tol", "x"], "--tolerances"),
        (
            ["compile", "a.jinja", "--to"],
            "--token, --token-literals, --tokenizer, --tolerances, --tool-choice, --tools",
        ),
        (["compile", "a.jinja", "--no-par"], "--no-parallel"),
        (["observe", "a.jinja", "b", "--fail"], "--fail-above"),
    ],
)
def test_an_option_is_suggested_by_its_beginning(run: Run, typed: list[str], meant: str) -> None:
    result = run(*typed)
    assert (result.code, result.err.splitlines()[-1].partition(" (")[2]) == (2, f"Possible options: {meant})")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("prepare a.jinja --nope", "No such option: --nope"),
        ("parse a.jinja --nope", "No such option: --nope"),
        ("parse a.jinja --stram", "No such option: --stram (Possible options: --stream)"),
    ],
)
def test_only_options_like_the_unknown_one_are_suggested(run: Run, typed: str, shown: str) -> None:
    result = run(*typed.split())
    assert (result.code, result.err.splitlines()[-1]) == (2, f"Error: {shown}")


@pytest.mark.parametrize("command", ["compile", "parse", "doctor", "observe", "diff"])
def test_help_groups_options_and_writes_arguments_without_braces(run: Run, command: str) -> None:
    shown = run(command, "--help").out
    usage = " ".join(shown.partition("\n\n")[0].split())
    assert usage.startswith(f"Usage: tplc {command} [OPTIONS] ") and "{" not in usage
    panels = {"compile": "For response_template:", "parse": "Rows:"}
    assert f"\n{panels.get(command, 'Options:')}\n" in shown


def options() -> Iterator[tuple[str, Any]]:
    """Yield each option with the name of its command."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield name, parameter


def test_an_option_has_one_meaning() -> None:
    """It is a switch in all commands or takes a value in all, and a short name stands for one long name."""
    switches, longs, shorts = defaultdict(set), defaultdict(set), defaultdict(set)
    for name, option in options():
        long = [text for text in (*option.opts, *option.secondary_opts) if text.startswith("--")]
        for text in option.opts:
            if not text.startswith("--"):
                longs[text].add(long[0])
                shorts[long[0]].add(text)
        for text in long:
            switches[text].add((bool(option.is_flag or option.count), option.metavar))
            assert long.index(text) == 0 or text in option.secondary_opts, f"{name}: {text} is a second name"
    assert not {text: names for text, names in longs.items() if len(names) > 1}
    assert not {text: kinds for text, kinds in switches.items() if len({is_flag for is_flag, _ in kinds}) > 1}
    with_short = {name for name, option in options() for text in option.opts if text in shorts}
    for name, option in options():
        for text in option.opts:
            if text in shorts:
                assert shorts[text] <= {*option.opts}, f"{name} {text} has no {shorts[text]}"
    assert with_short


@pytest.mark.parametrize("command", sorted({name for name, _ in options()}))
def test_help_shows_every_option(run: Run, command: str) -> None:
    shown = run(command, "--help").out
    assert not [text for name, option in options() for text in option.opts if name == command and text not in shown]


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        (["observe", "chat.jinja", "out.jsonl", "--write", "t.json"], "--write is now --output"),
        (
            ["compile", "chat.jinja", "-t", "structural_tag", "-q", "--reasoning=inside"],
            "--reasoning is now --tag-reasoning",
        ),
        (["compile", "chat.jinja", "-q", "--special-token", "a=b"], "--special-token is now --token"),
        (["parse", "chat.jinja", "--engine", "peg"], "--engine peg is now --with-peg; --engine is for rows"),
        (["parse", "chat.jinja", "--engine", "parser"], "--engine parser is the default; --engine is for rows"),
    ],
    ids=str,
)
def test_an_earlier_name_of_an_option_still_works(run: Run, template: Path, earlier: list[str], now: str) -> None:
    Path("out.jsonl").write_text(json.dumps({"text": "Hi."}) + "\n", encoding="utf-8")
    done = run(*earlier, stdin="Hi.")
    assert f"warning: {now}\n" in done.err
    assert done.code == (2 if "structural_tag" in earlier else 0)


# A file or folder that is missing, in every place of a command that names one; `hat` is meant to be `hut`.
MISSING = [
    ["compile", "hat.jinja"],
    ["compile", "hut.jinja", "--tolerances", "hat.jinja"],
    ["compile", "hut.jinja", "--example", "hat.jinja"],
    ["compile", "hut.jinja", "--catalogue", "hat.jinja"],
    ["compile", "hut.jinja", "--tokenizer", "hat.jinja"],
    ["compile", "hut.jinja", "-t", "gbnf", "--tools", "hat.jinja"],
    ["compile", "hut.jinja", "-t", "gbnf", "--json-schema", "hat.jinja"],
    ["compile", "hut.jinja", "-t", "response_template", "--into", "hat.jinja"],
    ["inspect", "hat.jinja"],
    ["parse", "hat.jinja"],
    ["parse", "hut.jinja", "hat.jinja"],
    ["parse", "hut.jinja", "--tools", "hat.jinja"],
    ["parse", "hut.jinja", "--prompt", "hat.jinja"],
    ["parse", "hut.jinja", "hat.jinja", "--column", "text", "-o", "out.jsonl"],
    ["verify", "hut.jinja", "hat.jinja"],
    ["render", "hat.jinja"],
    ["render", "hut.jinja", "hat.jinja"],
    ["prepare", "hat.jinja", "-"],
    ["prepare", "hut.jinja", "hat.jinja"],
    ["prepare", "hut.jinja", "--ir", "hat.jinja"],
    ["explain", "hat.jinja"],
    ["try", "hat.jinja"],
    ["try", "hut.jinja", "hat.jinja"],
    ["doctor", "hat.jinja"],
    ["lint", "hat.jinja"],
    ["mask", "hat.jinja", "rows.jsonl", "--tokenizer", "tokenizer.json"],
    ["mask", "hut.jinja", "hat.jinja", "--tokenizer", "hut.jinja"],
    ["mask", "hut.jinja", "rows.jsonl", "--tokenizer", "hat.jinja"],
    ["census", "hat.jinja"],
    ["census", "hut.jinja", "--against", "hat.jinja"],
    ["diff", "hat.jinja", "hut.jinja"],
    ["diff", "hut.jinja", "hat.jinja"],
    ["observe", "hat.jinja", "out.jsonl"],
    ["observe", "hut.jinja", "hat.jinja"],
    ["catalogue", "--catalogue", "hat.jinja"],
    ["init", "hat.jinja"],
    ["build", "-m", "hat.jinja"],
    ["check", "-m", "hat.jinja"],
]


@pytest.mark.parametrize("arguments", MISSING, ids=" ".join)
def test_a_missing_file_is_named_with_the_next_step(run: Run, arguments: list[str]) -> None:
    Path("hut.jinja").write_text(TEMPLATE, encoding="utf-8")
    Path("out.jsonl").write_text('{"text": "Hi."}\n', encoding="utf-8")
    request = '{"messages": [{"role": "user", "content": "Hi."}]}'
    done = run(*arguments, stdin=request if arguments[0] in ("prepare", "render") else "Hi.")
    problem, _, hint = done.err.rstrip("\n").partition("\n    ")
    name = next(argument for argument in arguments if argument.startswith("hat"))
    assert (done.code, problem.partition(": there is no such ")[0]) == (2, f"tplc: {name}")
    assert hint == ("tplc init starts one" if "-m" in arguments else "did you mean hut.jinja?")


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("hat.jinja", "did you mean hut.jinja?"),
        ("zz.jinja", "this folder has hut.jinja"),
        ("zz.txt", "this folder has no *.txt"),
        ("hut.json", "did you mean hut.jinja?"),
        ("hutt.jnja", "did you mean hut.jinja?"),
        ("hutt.json", "this folder has a.json, b.json, c.json, f.json"),
        ("zz", "this folder has a.json, b.json, c.json, empty, f.json and 1 more"),
        ("sub/zz.txt", "the folder sub does not exist"),
        ("empty/zz", "empty is empty"),
    ],
)
def test_the_next_step_for_a_missing_file(run: Run, named: str, hint: str) -> None:
    Path("empty").mkdir()
    for name in ("hut.jinja", *(f"{letter}.json" for letter in "abcf")):
        Path(name).write_text("{}", encoding="utf-8")
    assert run("observe", "hut.jinja", named).err == f"tplc: {named}: there is no such file\n    {hint}\n"


def test_a_file_in_place_of_a_command(run: Run) -> None:
    Path("my hut.jinja").write_text(TEMPLATE, encoding="utf-8")
    done = run("my hut.jinja")
    hint = "To compile a template: tplc compile 'my hut.jinja' -o PARSER.py"
    assert (done.code, done.out) == (2, "")
    assert " ".join(done.err.split()).endswith(f"Error: No such command 'my hut.jinja'. {hint}")
    Path("my-hut").touch()
    done = run("new", "my-hut")
    assert (done.code, done.err) == (2, "tplc: my-hut: already exists\n    name a new folder\n")


def test_an_output_that_is_empty(run: Run) -> None:
    Path("hut.jinja").write_text(TEMPLATE, encoding="utf-8")
    Path("out.txt").touch()
    for name, shown in (("out.txt", "out.txt"), ("-", "standard input")):
        done = run("parse", "hut.jinja", name)
        assert (done.code, done.err) == (0, f"tplc: {shown}: is empty\n")
