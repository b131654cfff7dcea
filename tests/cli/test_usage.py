"""Typing mistakes, for every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


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
    assert (done.code, done.out) == (2, "")
    assert done.err == f"tplc: {option} is given twice but takes one value; give it once\n"


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


@pytest.mark.parametrize("command", ["compile", "parse", "doctor", "observe", "diff"])
def test_help_groups_options_and_writes_arguments_without_braces(run: Run, command: str) -> None:
    shown = run(command, "--help").out
    usage = " ".join(shown.partition("\n\n")[0].split())
    assert usage.startswith(f"Usage: tplc {command} [OPTIONS] ") and "{" not in usage
    panels = {"compile": "For response_template:", "parse": "Rows:"}
    assert f"\n{panels.get(command, 'Options:')}\n" in shown
