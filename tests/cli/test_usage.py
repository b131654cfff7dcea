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
    assert done.err == f"tplc: {option} is given twice, and holds one value: give it once\n"


def test_options_that_may_come_again(run: Run, template: Path) -> None:
    done = run("compile", "chat.jinja", "-o", "a.py", "-q", "-q", "--token", "a=<a>", "--token", "b=<b>")
    assert (done.code, done.err) == (0, "")
