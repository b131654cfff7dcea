"""Every command and every exit code: 0 success, 1 template or artifact isn't right, 2 wrong usage or input.

And what holds for all commands: colours and progress on terminals only, completion, files whole or not at all.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
import typer
from typer.core import TyperGroup

from tests import quick
from tests.cli.conftest import TEMPLATE, Run
from tplc.cli.app import app
from tplc.errors import SourceError
from tplc.project.artifacts import write_output
from tplc.schemas import load_schema

COMMANDS = [command.name for command in app.registered_commands]
NOT_SO = "there is no such outcome"
# What makes each command end with each code, in the folder that `here` lays out.
TABLE: dict[tuple[str, int], list[str] | str] = {
    ("compile", 0): ["compile", "good.jinja", "-o", "new.py"],
    ("compile", 1): ["compile", "bad.jinja", "-o", "new.py"],
    ("compile", 2): ["compile", "missing.jinja", "-o", "new.py"],
    ("mask", 0): ["mask", "good.jinja", "chats.jsonl", "--tokenizer", "tokenizer.json", "-o", "new.jsonl"],
    ("mask", 1): ["mask", "bad.jinja", "chats.jsonl", "--tokenizer", "tokenizer.json", "-o", "new.jsonl"],
    ("mask", 2): ["mask", "good.jinja", "missing.jsonl", "--tokenizer", "tokenizer.json", "-o", "new.jsonl"],
    ("inspect", 0): ["inspect", "good.jinja"],
    ("inspect", 1): ["inspect", "bad.jinja"],
    ("inspect", 2): ["inspect", "missing.jinja"],
    ("parse", 0): ["parse", "good.json", "output.txt"],
    ("parse", 1): ["parse", "bad.jinja", "output.txt"],
    ("parse", 2): ["parse", "good.json", "missing.txt"],
    ("verify", 0): ["verify", "good.jinja", "good.json"],
    ("verify", 1): ["verify", "other.jinja", "good.json"],
    ("verify", 2): ["verify", "good.jinja", "output.txt"],
    ("render", 0): ["render", "good.jinja", "request.json"],
    ("render", 1): ["render", "bad.jinja", "request.json"],
    ("render", 2): ["render", "good.jinja", "output.txt"],
    ("prepare", 0): ["prepare", "good.jinja", "request.json", "--ir", "good.json"],
    ("prepare", 1): ["prepare", "bad.jinja", "request.json"],
    ("prepare", 2): ["prepare", "other.jinja", "request.json", "--ir", "good.json"],
    ("explain", 0): ["explain", "good.jinja"],
    ("explain", 1): ["explain", "bad.jinja"],
    ("explain", 2): ["explain", "good.jinja", "--step", "--html", "page.html"],
    ("try", 0): ["try", "good.json", "output.txt"],
    ("try", 1): ["try", "bad.jinja", "output.txt"],
    ("try", 2): ["try", "good.json", "missing.txt"],
    ("doctor", 0): ["doctor", "good.jinja"],
    ("doctor", 1): ["doctor", "bad.jinja"],
    ("doctor", 2): ["doctor", "missing.jinja"],
    ("lint", 0): ["lint", "good.jinja"],
    ("lint", 1): ["lint", "bad.jinja"],
    ("lint", 2): ["lint", "missing.jinja"],
    ("new", 0): ["new", "hut"],
    ("new", 1): NOT_SO,  # it looks into no template
    ("new", 2): ["new", "hut", "--layout", "none"],
    ("build", 0): ["build", "good"],
    ("build", 1): ["build", "bad"],
    ("build", 2): ["build", "missing"],
    ("check", 0): ["check", "fixed"],
    ("check", 1): ["check", "good"],
    ("check", 2): ["check", "--format", "xml"],
    ("init", 0): ["init", "good.jinja", "-o", "new.toml"],
    ("init", 1): NOT_SO,  # it looks into no template
    ("init", 2): ["init", "good.jinja"],
    ("schema", 0): ["schema", "ir"],
    ("schema", 1): NOT_SO,  # it looks into no template
    ("schema", 2): ["schema", "none"],
    ("census", 0): ["census", "good.txt", "-j", "1"],
    ("census", 1): ["census", "worse.txt", "-j", "1", "--against", "earlier.jsonl"],
    ("census", 2): ["census", "missing.txt"],
    ("diff", 0): ["diff", "good.json", "good.jinja"],
    ("diff", 1): ["diff", "good.json", "other.jinja"],
    ("diff", 2): ["diff", "good.json", "missing.jinja"],
    ("catalogue", 0): ["catalogue"],
    ("catalogue", 1): NOT_SO,  # it looks into no template
    ("catalogue", 2): ["catalogue", "--catalogue", "missing"],
    ("observe", 0): ["observe", "good.jinja", "output.txt"],
    ("observe", 1): ["observe", "bad.jinja", "output.txt"],
    ("observe", 2): ["observe", "good.jinja", "missing.txt"],
}
MANIFEST = "".join(
    f'[models.{name}]\nsource = "{source}.jinja"\noutputs = ["{path}"]\n'
    for name, source, path in (("good", "good", "out.py"), ("bad", "bad", "bad.py"), ("fixed", "good", "good.json"))
)
COMPILED: list[bytes] = []  # good.json, compiled for the first test that needs it


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "good.jinja").write_text(TEMPLATE)
    (tmp_path / "other.jinja").write_text(TEMPLATE.replace("call>", "order>"))
    (tmp_path / "bad.jinja").write_text("{{ raise_exception('no') }}")
    (tmp_path / "output.txt").write_text('Sure.<call>{"name": "look", "arguments": {}}</call><end>')
    (tmp_path / "request.json").write_text('{"messages": [{"role": "user", "content": "Hi"}]}')
    (tmp_path / "tplc.toml").write_text(MANIFEST)
    (tmp_path / "good.txt").write_text("good.jinja\n")
    (tmp_path / "worse.txt").write_text("bad.jinja\n")
    (tmp_path / "earlier.jsonl").write_text('{"source": "bad.jinja", "state": "verified"}\n')
    (tmp_path / "chats.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')
    if not COMPILED:
        assert run("compile", "good.jinja", "-o", "good.json", "-q").code == 0
        COMPILED.append((tmp_path / "good.json").read_bytes())
    (tmp_path / "good.json").write_bytes(COMPILED[0])
    return tmp_path


def with_tokenizer(here: Path, command: str) -> None:
    """Write the tokenizer that `mask` reads; skip the test if the packages that it needs aren't installed."""
    if command == "mask":
        pytest.importorskip("pyarrow")
        tokenizers = pytest.importorskip("tokenizers")
        (here / "tokenizer.json").write_text(tokenizers.Tokenizer(tokenizers.models.BPE()).to_str())


def test_the_table_is_whole() -> None:
    assert list(TABLE) == [(command, code) for command in COMMANDS for code in (0, 1, 2)]


@pytest.mark.sweep(19)
@pytest.mark.parametrize(("command", "code"), [key for key, value in TABLE.items() if value != NOT_SO])
def test_exit_code(run: Run, here: Path, command: str, code: int) -> None:
    with_tokenizer(here, command)
    before = sorted(path.name for path in here.iterdir())
    result = run(*TABLE[command, code])
    assert (result.code, "Traceback" in result.err) == (code, False)
    if code == 2:
        assert (result.out, result.err[:6]) == ("", "tplc: ")
        assert sorted(path.name for path in here.iterdir()) == before
    elif code == 1:
        assert (result.out + result.err).strip() != ""


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option(run: Run, command: str) -> None:
    result = run(command, "--no-such-option")
    assert (result.code, result.out) == (2, "")
    assert "No such option: --no-such-option" in result.err


# The schema of what a command writes for scripts.
SCHEMAS = {
    "compile": "compile", "mask": "mask",
    "inspect": "ir", "parse": "rows", "verify": "verify", "explain": "explanation", "try": "try",
    "doctor": "doctor", "lint": "lint", "build": "build", "check": "check", "census": "census", "diff": "diff",
    "catalogue": "entries", "observe": "observe",
}  # fmt: skip


def valid(text: str, schema: str) -> bool:
    return jsonschema.Draft202012Validator(load_schema(schema)).is_valid(json.loads(text))


def test_every_json_has_a_schema() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    options = {name: [opt for param in one.params for opt in param.opts] for name, one in group.commands.items()}
    assert [name for name, opts in options.items() if "--json" in opts] == list(SCHEMAS)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("command", SCHEMAS)
def test_what_a_script_reads(run: Run, here: Path, command: str) -> None:
    """Scripts can read the outcome in each case; a compiled artifact has standard output, so the report is on the other
    stream."""
    with_tokenizer(here, command)
    (here / "rows.jsonl").write_text('{"text": "Hi.<end>"}\n')
    (here / "out.jsonl").write_text('{"text": "Hi.<end>"}\n{"text": "<Call>{}</call>"}\n')
    given = {
        ("parse", 0): ["parse", "good.json", "rows.jsonl", "--column", "text", "-o", "new.jsonl"],
        ("parse", 1): ["parse", "bad.jinja", "rows.jsonl", "--column", "text", "-o", "other.jsonl"],
        ("parse", 2): ["parse", "good.json", "none.jsonl", "--column", "text", "-o", "new.jsonl"],
        ("mask", 1): ["mask", "bad.jinja", "chats.jsonl", "--tokenizer", "tokenizer.json", "-o", "other.jsonl"],
        ("observe", 0): ["observe", "good.jinja", "out.jsonl"],
        ("check", 2): ["check", "none"],
    }
    for code in (0, 1, 2):
        arguments = given.get((command, code), TABLE[command, code])
        if arguments == NOT_SO:
            continue
        result = run(*arguments, "--json")
        assert result.code == code
        written = result.err if command == "compile" else result.out
        schema = SCHEMAS[command]
        if not valid(written, schema):
            assert code > 0, written
            assert valid(written, "failure"), written
            assert json.loads(written)["exit_code"] == code


@pytest.mark.parametrize("command", ["parse", "prepare"])
def test_what_is_json_anyway(run: Run, here: Path, command: str) -> None:
    assert valid(run(*TABLE[command, 0]).out, command.replace("parse", "message"))
    assert run(*TABLE[command, 1]).out == ""
    (here / "output.txt").write_text('<call>{"name": "look", "arguments": {}}</call><end>')
    assert valid(run(*TABLE[command, 0]).out, command.replace("parse", "message"))


def test_deltas_are_lines_of_json(run: Run, here: Path) -> None:
    lines = run("parse", "good.json", "output.txt", "--stream").out.splitlines()
    assert len(lines) > 1
    assert all(valid(line, "delta") for line in lines)


def test_an_error_as_json(run: Run, here: Path) -> None:
    (here / "bad.jinja").write_text("{% for m in messages %}\n  {% fi m %}\n{% endfor %}")
    result = run("lint", "bad.jinja", "--json")
    message = (
        "bad.jinja:2:6: Encountered unknown tag 'fi'. Jinja was looking for the following tags: 'endfor' or 'else'. "
        "The innermost block that needs to be closed is 'for'.\n    {% fi m %}\n       ^"
    )
    error = {"type": "TemplateSyntaxError", "message": message, "name": "bad.jinja", "line": 2, "column": 6}
    assert (result.code, json.loads(result.out)) == (1, {"error": error, "exit_code": 1})
    assert result.err == f"tplc: {message}\n"
    compiled = run("compile", "bad.jinja", "--json")
    assert (compiled.code, compiled.out, json.loads(compiled.err)) == (1, "", {"error": error, "exit_code": 1})


def test_the_outcomes_of_a_build(run: Run, here: Path) -> None:
    report = json.loads(run("build", "good", "bad", "--json").out)
    assert [(outcome["model"], outcome["state"]) for outcome in report] == [("good", "built"), ("bad", "failed")]


# Terminals


def on_a_terminal(arguments: list[str], folder: Path, typed: str = "", **environment: str) -> str:
    """Return all that a command writes if standard output and error are one terminal, and input is typed there."""
    own, its = pty.openpty()
    usual = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [quick.command(), *arguments],
        stdin=its if typed else subprocess.DEVNULL, stdout=its, stderr=its, cwd=folder,
        env={**usual, "TERM": "xterm", "COLUMNS": "100", **environment},
    )  # fmt: skip
    os.close(its)
    os.write(own, typed.encode())
    written = b""
    while True:
        try:
            piece = os.read(own, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(own)
    assert process.wait() == 0
    return written.decode("utf-8")


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m")


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "arguments",
    [["compile", "good.jinja", "-o", "new.py"], ["try", "good.jinja", "output.txt"], ["inspect", "good.jinja"]],
    ids=lambda arguments: arguments[0],
)
def test_colours(run: Run, here: Path, arguments: list[str]) -> None:
    coloured = on_a_terminal(arguments, here)
    assert COLOUR.search(coloured)
    assert "\x1b" not in on_a_terminal(arguments, here, NO_COLOR="1")
    plain = run(*arguments)
    assert "\x1b" not in plain.out + plain.err


def test_progress(here: Path) -> None:
    assert "learning and verifying good.jinja" in on_a_terminal(["compile", "good.jinja", "-o", "new.py", "-q"], here)
    assert "building" in on_a_terminal(["build", "good"], here)


def test_a_terminal_gets_a_summary_and_no_artifact(here: Path) -> None:
    shown = COLOUR.sub("", on_a_terminal(["compile", "good.jinja"], here, NO_COLOR="1")).splitlines()
    assert shown[-1] == "tplc: nothing written: give -o FILE, or pipe the output to a file or a command"
    assert [line for line in shown if line.startswith("verified ")]
    assert not [line for line in shown if line.startswith(("# Generated by", "class "))]


@pytest.mark.parametrize(
    ("arguments", "typed", "asked"),
    [
        (["parse", "good.json"], "Hi.<end>\n\x04", "Paste the output"),
        (["try", "good.json"], "Hi.<end>\n\x04", "Paste the output"),
        (["render", "good.jinja"], '[{"role": "user", "content": "Hi."}]\n\x04', "Paste the messages"),
        (["parse", "good.json", "--stream"], "Hi.<end>\n\x04", "Paste the output"),
        (["parse", "good.json", "output.txt", "--prompt", "-", "--continue-final-message", "--echo"],
         "<assistant>Hi.\n\x04", "Paste the prompt"),
        (["inspect", "-"], "{%- for m in messages %}[{{ m.role }}]{{ m.content }}[Hi.]{% endfor %}\n\x04",
         "Paste the template"),
        (["prepare", "good.jinja", "--ir", "good.json"], '{"messages": [{"role": "user", "content": "Hi."}]}\n\x04',
         "Paste the request"),
    ],
)  # fmt: skip
def test_a_terminal_gets_a_hint_that_input_is_typed(here: Path, arguments: list[str], typed: str, asked: str) -> None:
    shown = on_a_terminal(arguments, here, typed)
    assert f"{asked}, then press Ctrl-D on a line of its own:" in shown
    assert "Hi." in shown.partition("own:")[2]


BOTH = {
    "parse -": "the template and the output",
    "try -": "the template and the output",
    "render -": "the template and the messages",
    "prepare -": "the template and the request",
    "diff - -": "the first template and the second template",
    "explain - --step": "the template and what --step waits for",
    "explain - --example -": "the template and the examples",
    "parse good.json --tools -": "the output and the tools",
    "compile - -o x.gbnf --tools -": "the template and the tools",
    "compile good.jinja -o x.gbnf --tools - --json-schema -": "the tools and the schema",
}


@pytest.mark.parametrize("command", BOTH)
def test_standard_input_is_read_once(run: Run, command: str) -> None:
    """A second reader of standard input would find it empty."""
    result = run(*command.split(), stdin=TEMPLATE)
    assert (result.code, result.out, result.err) == (
        2,
        "",
        f"tplc: standard input (-) cannot be both {BOTH[command]}: name a file for one of them\n",
    )


def test_no_option_is_given_standard_input_twice(run: Run) -> None:
    result = run("compile", "good.jinja", "--tolerances", "-", "--tolerances", "-")
    reported = "tplc: standard input (-) cannot be the tolerances twice: name a file for one of them\n"
    assert (result.code, result.out, result.err) == (2, "", reported)


# Completion


@pytest.mark.parametrize(("words", "found"), [("tplc comp", ["compile"]), ("tplc diff --js", ["--json"])])
def test_completion(words: str, found: list[str]) -> None:
    environment = {
        **os.environ, "_TPLC_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")),
    }  # fmt: skip
    done = subprocess.run([quick.command()], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (found, "")


# Files


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "parser.py"
    path.write_text("before")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(SourceError) as caught:
        write_output(str(path), "after")
    assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("parser.py", "before")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_or_a_device_is_written_to(run: Run, here: Path) -> None:
    """`-o /dev/null` leaves a device where it was, and no file in its place."""
    assert run("compile", "good.jinja", "-o", "good.py", "-q").code == 0
    os.mkfifo(here / "pipe.py")
    reader = subprocess.Popen(["cat", "pipe.py"], cwd=here, stdout=subprocess.PIPE)
    try:
        assert run("compile", "good.jinja", "-o", "pipe.py", "-q").code == 0
        assert (here / "pipe.py").is_fifo()
        assert reader.communicate(timeout=10)[0] == (here / "good.py").read_bytes().replace(b"-o good", b"-o pipe")
    finally:
        reader.kill()


def test_what_a_link_points_to_is_written(run: Run, here: Path) -> None:
    (here / "vendored").mkdir()
    (here / "link.py").symlink_to("vendored/parser.py")
    for _ in range(2):
        assert run("compile", "good.jinja", "-o", "link.py", "-q").code == 0
        assert (here / "link.py").is_symlink()
        assert (here / "vendored" / "parser.py").read_text(encoding="utf-8").startswith("# Generated by tplc ")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (["parse", "parser.py"], "a generated parser"),
        (["parse", "good.json"], "an IR"),
        (["parse", "parser.py", "rows.jsonl", "--column", "text", "-o", "new.jsonl"], "a generated parser"),
        (
            ["parse", ".", "rows.jsonl", "--column", "text", "--parser-column", "by", "-o", "x.jsonl"],
            "a folder of parsers",
        ),
        (["try", "parser.py"], "a generated parser"),
        (["observe", "good.json", "output.txt"], "an IR"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_limit_that_would_bound_nothing(run: Run, here: Path, command: list[str], what: str) -> None:
    (here / "parser.py").write_text("")
    (here / "rows.jsonl").write_text('{"text": "Hi.", "by": "parser"}\n')
    result = run(*command, "--limit", "total_seconds=4")
    assert (result.code, result.err) == (
        2,
        f"tplc: --limit total_seconds=4: {what} is not learned: name a template\n",
    )
