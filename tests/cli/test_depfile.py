"""`tplc compile --depfile`: the rule, and what Make and Ninja do with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import quick
from tests.cli.conftest import TEMPLATE, Run
from tplc.errors import UsageError
from tplc.project.depfile import depfile

# Characters that are special to Make and Ninja: blanks, comments, variables; a backslash before a blank, and an
# ordinary one.
ODD = "a b#c$d\\ e\\f.jinja"
TOOLS = json.dumps([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}])


def test_the_rule() -> None:
    assert depfile("out/p.py", ["t.jinja", "tools.json", "t.jinja"]) == (
        "out/p.py: t.jinja tools.json\n\nt.jinja:\ntools.json:\n"
    )
    assert depfile("p.py", []) == "p.py:\n"
    assert depfile("a b.py", [ODD]) == "a\\ b.py: a\\ b\\#c$$d\\\\\\ e\\f.jinja\n\na\\ b\\#c$$d\\\\\\ e\\f.jinja:\n"
    with pytest.raises(UsageError, match="a name with a line break cannot be written in a rule"):
        depfile("p.py", ["a\nb"])


def test_all_that_was_used(run: Run, template: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(TOOLS)
    (tmp_path / "t.json").write_text('{"tolerances": []}')
    asked = ["--tools", "tools.json", "--tolerances", "t.json"]
    assert run("compile", "chat.jinja", "-o", "c.gbnf", *asked, "--depfile", "c.d", "-q").code == 0
    assert (tmp_path / "c.d").read_text().splitlines()[0] == "c.gbnf: chat.jinja t.json tools.json"


def test_the_files_of_a_model_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "chat_template.jinja").write_text(TEMPLATE)
    (tmp_path / "m" / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    (tmp_path / "m" / "special_tokens_map.json").write_text("{}")
    assert run("compile", "m", "-o", "c.json", "--depfile", "c.d", "-q").code == 0
    assert (tmp_path / "c.d").read_text().splitlines()[0] == (
        "c.json: m/chat_template.jinja m/special_tokens_map.json m/tokenizer_config.json"
    )
    assert run("compile", "-", "-o", "c.json", "--depfile", "c.d", "-q", stdin=TEMPLATE).code == 0
    assert (tmp_path / "c.d").read_text() == "c.json:\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--depfile", "c.d"], "--depfile: a rule needs the output's name; give --output FILE"),
        (
            ["-o", "c.py", "--depfile", "./c.py"],
            "./c.py: is the file of both --output and --depfile; name another file for one of them",
        ),
        (
            ["-o", "c.py", "--depfile", "chat.jinja/c.d"],
            "chat.jinja/c.d: cannot be written: chat.jinja is not a folder",
        ),
    ],
)
def test_usage(run: Run, template: Path, tmp_path: Path, arguments: list[str], error: str) -> None:
    result = run("compile", "chat.jinja", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["chat.jinja"]


MAKEFILE = """\
parser.gbnf:
\ttplc compile {shell} -o $@ --tools 'my tools.json' --depfile parser.d --quiet
-include parser.d
"""
NINJA = """\
rule tplc
  command = tplc compile {shell} -o $out --tools 'my tools.json' --depfile $out.d --quiet
  depfile = $out.d
build parser.gbnf: tplc
"""


@pytest.mark.parametrize("tool", ["make", "ninja"])
def test_a_real_run(tmp_path: Path, tool: str) -> None:
    """Files that were used are checked, whatever their names are; changed ones are rebuilt; missing ones are no error
    of Make.  words: allowed"""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    (tmp_path / ODD).write_text(TEMPLATE)
    (tmp_path / "my tools.json").write_text(TOOLS)
    shell = f"'{ODD}'".replace("$", "$$")
    (tmp_path / "Makefile").write_text(MAKEFILE.format(shell=shell))
    (tmp_path / "build.ninja").write_text(NINJA.format(shell=shell))

    def made() -> bool:
        # Without options of a `make` that runs the tests, such as -s.
        environment = {**os.environ, "PATH": quick.path(), "MAKEFLAGS": ""}
        done = subprocess.run([tool], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return "tplc compile" in done.stdout

    def touched(name: str) -> None:
        later = (tmp_path / "parser.gbnf").stat().st_mtime_ns + 2_000_000_000
        os.utime(tmp_path / name, ns=(later, later))
        assert made()
        # Make and Ninja compare times: what was made has to be the newer one again.
        for path in tmp_path.iterdir():
            if path.name != "parser.gbnf":
                os.utime(path, ns=(0, 0))

    assert [made(), made()] == [True, False]
    touched(ODD)
    assert not made()
    touched("my tools.json")
    assert not made()
