"""JSON that Python's own reader does not accept: each command gives the same message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 150 + "]" * 150, "9" * 5000, '{"a": ' + "9" * 5000 + "}"])
def test_commands_say_so(run: Run, tmp_path: Path, text: str) -> None:
    problem = "is nested too deeply" if "[" in text else "has a number of too many digits"
    (tmp_path / "bad.json").write_text(text)
    (tmp_path / "a.jinja").write_text("{{ messages[0].content }}")
    unread = f"tplc: bad.json: is not JSON that can be read: it {problem}\n"
    for command, error in (
        ("render a.jinja bad.json", unread),
        ("prepare a.jinja bad.json", unread),
        ("compile a.jinja -o a.gbnf --tools bad.json", unread),
        ("compile a.jinja -o a.gbnf --json-schema bad.json", unread),
        ("compile a.jinja --tolerances bad.json", unread),
        ("compile a.jinja --example bad.json", unread.replace("bad.json", "bad.json: line 1")),
        ("inspect bad.json", unread),
        ("prepare a.jinja --ir bad.json", f"tplc: bad.json: IR: expected JSON that can be read: this {problem}\n"),
    ):
        result = run(*command.split(), stdin='{"messages": [{"role": "user", "content": "hi"}]}')
        assert (result.code, result.out, result.err) == (2, "", error), command
