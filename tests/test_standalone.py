"""Generated parsers as a project vendors them: one file, no packages, formatted, linted, typed."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import ROOT, amount
from tests.example_case import Example, load_examples, standalone_parser
from tplc.verify.artifact import load_module

EXAMPLES = load_examples()


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Writes the parsers of all examples to one folder, under names that can be imported."""
    folder = tmp_path_factory.mktemp("parsers")
    paths = [folder / f"{example.name.replace('-', '_')}.py" for example in EXAMPLES]
    for path, example in zip(paths, EXAMPLES, strict=True):
        path.write_text(standalone_parser(example.name), encoding="utf-8")
    return paths


@pytest.mark.sweep(6)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_parser_runs_alone(example: Example, tmp_path: Path) -> None:
    """The parser can be copied elsewhere and runs without site packages, as a command."""
    parser = tmp_path / "vendored.py"
    parser.write_text(standalone_parser(example.name), encoding="utf-8")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(example.tools or []), encoding="utf-8")
    output = next(output for output in example.outputs if output.variables == example.variables[0])
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", str(parser), "--tools", str(tools)],
        input=output.text.encode(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert result.stderr.decode() == ""
    assert result.returncode == 0
    assert json.loads(result.stdout) == output.message


@pytest.mark.parametrize(
    ("option", "text", "reported"),
    [
        ("--tools", "[", "Expecting value: line 1 column 2 (char 1)"),
        ("--tools", None, "No such file or directory"),
        ("--prompt", None, "No such file or directory"),
    ],
)
def test_unreadable_files_are_wrong_usage(option: str, text: str | None, reported: str, tmp_path: Path) -> None:
    (tmp_path / "parser.py").write_text(standalone_parser("plain-chat"), encoding="utf-8")
    if text is not None:
        (tmp_path / "given").write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", "parser.py", option, "given"]
    result = subprocess.run(command, input="Hi", capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"parser.py: error: given: {reported}"


def as_command(tmp_path: Path, *options: str, stdin: bytes = b"", encoding: str = "utf-8") -> tuple[int, bytes, str]:
    (tmp_path / "parser.py").write_text(standalone_parser("tagged-json"), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-S", "parser.py", *options],
        input=stdin,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "100"},
        check=False,
    )
    return result.returncode, result.stdout, result.stderr.decode()


def test_its_help_says_what_it_reads(tmp_path: Path) -> None:
    code, shown, _ = as_command(tmp_path, "--help")
    assert code == 0
    assert b"Parse a model's output into a message, printed as JSON." in shown
    assert re.search(rb"FILE +text file; - is standard input\n", shown)


def test_it_reads_a_file_or_standard_input(tmp_path: Path) -> None:
    call = (ROOT / "examples" / "tagged-json" / "outputs" / "call.txt").read_bytes()
    (tmp_path / "output.txt").write_bytes(call)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    read = as_command(tmp_path, stdin=call)
    assert read[0] == 0 and json.loads(read[1])["tool_calls"]
    assert as_command(tmp_path, "-", stdin=call) == as_command(tmp_path, "output.txt") == read
    for given, reported in (
        ("missing.txt", "missing.txt: No such file or directory"),
        (".", ".: Is a directory"),
        ("latin.txt", "latin.txt: this is not UTF-8 text"),
        ("-", "standard input: this is not UTF-8 text"),
    ):
        code, printed, error = as_command(tmp_path, given, stdin=b"caf\xe9")
        assert (code, printed, error.splitlines()[-1]) == (2, b"", f"parser.py: error: {reported}")


@pytest.mark.parametrize(
    ("tools", "reported"),
    [
        ("7", "the tools are no list"),
        ("[7]", "a tool has no name"),
        ('{"look": {}}', "a tool has no name"),
        ('"{"', "the tools are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_tools_that_are_none_are_wrong_usage(tools: str, reported: str, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(tools, encoding="utf-8")
    code, printed, error = as_command(tmp_path, "--tools", "tools.json", stdin=b"Hi")
    assert (code, printed, error.splitlines()[-1]) == (2, b"", f"parser.py: error: tools.json: {reported}")


def test_it_ends_quietly_when_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "parser.py").write_text(standalone_parser("plain-chat"), encoding="utf-8")
    command = [sys.executable, "-I", "-S", "parser.py", "--stream"]
    pipe = subprocess.PIPE
    usual = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # jobs in the background ignore it
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, preexec_fn=usual) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"Hi.\nHi.\n")
        process.stdin.flush()
        process.stdout.readline()  # it waits for more input now
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1] == b""
        assert process.returncode == 130


def test_a_byte_order_mark_is_no_part_of_what_it_reads(tmp_path: Path) -> None:
    for name, text in (("tools.json", "[]"), ("prompt.txt", "Hi")):
        (tmp_path / name).write_text("\ufeff" + text, encoding="utf-8")
    code, printed, reported = as_command(
        tmp_path, "--tools", "tools.json", "--prompt", "prompt.txt", stdin="\ufeffHi.<end>".encode()
    )
    assert (code, reported) == (0, "")
    assert "\ufeff" not in json.loads(printed)["content"]


@pytest.mark.parametrize("options", [[], ["--stream"]], ids=str)
def test_it_prints_text_as_it_is(options: list[str], tmp_path: Path) -> None:
    """Text is escaped only if it could control a terminal, or if the output's encoding lacks it."""
    said = "\u00f8 \U0001f389 \u009b2J \u202e"
    for encoding, seen in (
        ("utf-8", '"\u00f8 \U0001f389 \\u009b2J \\u202e"'),
        ("ascii", '"\\u00f8 \\ud83c\\udf89 \\u009b2J \\u202e"'),
    ):
        code, printed, reported = as_command(tmp_path, *options, stdin=said.encode(), encoding=encoding)
        assert (code, reported) == (0, "")
        assert f'"content": {seen}' in printed.decode(encoding)


def test_parsers_are_formatted(parsers: list[Path], tmp_path: Path) -> None:
    # They tell formatters to leave them alone, so that no other settings make other files of them.  words: allowed
    # --isolated: by the tool's own rules, because a project that vendors the file has other settings; only the line
    # length is given.
    copies = []
    for path in parsers:
        copies.append(tmp_path / path.name)
        text = path.read_text(encoding="utf-8").replace("# fmt: off\n", "", 1)
        # The tables of scanners have several markers in a line, those of fields several of them.
        text = re.sub(r"(?ms)^(    [A-Z_]+(?:: [^=]+)? = (?:\w*\(|\{)$.*?^    [)}])$", r"\1  # fmt: skip", text)
        copies[-1].write_text(text, encoding="utf-8")
    assert run("ruff", "format", "--isolated", "--line-length", "120", "--check", *map(str, copies)) == (0, "")


def test_a_formatter_leaves_them_alone(parsers: list[Path]) -> None:
    assert run("ruff", "format", "--isolated", "--line-length", "60", "--check", str(parsers[0])) == (0, "")


def test_public_names_are_listed_and_can_be_imported() -> None:
    for example in EXAMPLES:
        module = load_module(standalone_parser(example.name))
        assert {*module.__all__} >= {"Delta", "Message", "StreamParser", "parse", "parse_many"}
        parser = module.StreamParser
        public = [parser, *(getattr(parser, name) for name in ("parse", "parse_many", "feed", "finish", "copy"))]
        public += [module, module.parse, module.parse_many, parser.message, parser.trailing]
        assert [one for one in public if not inspect.getdoc(one)] == []
        assert {name: getattr(module, name) for name in ("Message", "Delta")} == {"Message": dict, "Delta": dict}


def test_parsers_are_linted(parsers: list[Path]) -> None:
    assert run("ruff", "check", "--isolated", "--line-length", "120", "--quiet", *map(str, parsers)) == (0, "")


@pytest.mark.sweep(1)
def test_parsers_are_typed(parsers: list[Path]) -> None:
    """Most of a parser is the runtime, which mypy reads again in each of them."""
    options = ("--strict", "--no-incremental", "--no-error-summary", "--config-file=")
    code, reported = run("mypy", *options, *map(str, parsers[:: amount(5, sweep=1)]))
    assert (code, reported) == (0, "")


def test_the_format_is_shown_with_its_markers() -> None:
    for example in EXAMPLES:
        module = load_module(standalone_parser(example.name))
        shown = module.__doc__ or ""
        named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", shown))
        assert {name for name in named if not hasattr(module.StreamParser, name)} == set()
        scanned = [marker for marker in module.StreamParser.IN_CONTENT.markers if marker[0] == "end"]
        assert not scanned or any(core in shown for _, core, _, _, _ in scanned), example.name


def longer_than(lines: int) -> dict[str, int]:
    counts = {example.name: standalone_parser(example.name).count("\n") for example in EXAMPLES}
    return {name: count for name, count in counts.items() if count > lines}


def test_parsers_do_not_grow() -> None:
    assert longer_than(4091) == {}
    assert "plain-chat" not in longer_than(714)


def run(tool: str, *arguments: str) -> tuple[int, str]:
    """Return the exit code, and the output if that is not 0."""
    result = subprocess.run(
        [sys.executable, "-m", tool, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    return result.returncode, (result.stdout + result.stderr) if result.returncode else ""
