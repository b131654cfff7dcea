"""The command in a generated file's header makes the same file."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.example_case import EXAMPLES

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
VARIANT = {"kind": "variant", "marker": "<fn>", "text": "<Fn>", "reason": "seen"}
ENTRY = {
    "title": "capitals",
    "reason": "models write them",
    "source": "here",
    "markers": ["<fn>"],
    "tolerances": [{"kind": "variant", "marker": "<fn>", "text": "<FN>"}],
    "outputs": [
        {
            "text": '<FN>\n{"name": "look", "arguments": {}}\n</fn>',
            "message": {"tool_calls": [{"name": "look", "arguments": {}}]},
        }
    ],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    example = EXAMPLES / "tagged-json"
    (tmp_path / "a model.jinja").write_bytes((example / "template.jinja").read_bytes())
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "own.json").write_text(json.dumps({"tolerances": [VARIANT]}))
    (tmp_path / "variants").mkdir()
    (tmp_path / "variants" / "capitals.json").write_text(json.dumps(ENTRY))
    return tmp_path


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("options", "command"),
    [
        ("-o parser.py", "tplc compile 'a model.jinja' -o parser.py"),
        ("-o other.py --force --quiet --json --seed 3 --thorough", "tplc compile 'a model.jinja' -o other.py"),
        ("", "tplc compile 'a model.jinja' -t python"),
        (
            "-o new.txt -t python --token 'eos_token=<e o s>' --tolerances own.json --catalogue variants --openai",
            "tplc compile 'a model.jinja' -t python -o new.txt --token 'eos_token=<e o s>' --tolerances own.json "
            "--catalogue variants --openai",
        ),
        (
            "-o parser.py --runtime installed --no-catalogue --limit total_seconds=100",
            "tplc compile 'a model.jinja' -o parser.py --no-catalogue --runtime installed --limit total_seconds=100",
        ),
        ("-o parser.peg", "tplc compile 'a model.jinja' -o parser.peg"),
        (
            "-o calls.gbnf --tools tools.json --tool-choice required --no-parallel --var deliberate=false "
            "--any-order --max-size 9999",
            "tplc compile 'a model.jinja' -o calls.gbnf --tools tools.json --tool-choice required --no-parallel "
            "--any-order --var deliberate=false --max-size 9999",
        ),
    ],
)
def test_the_command_makes_the_same_file(run: Run, place: Path, options: str, command: str) -> None:
    given = shlex.split(options)
    done = run("compile", "a model.jinja", *given)
    assert done.code == 0, done.err
    text = (place / given[1]).read_text() if given else done.out
    assert [line for line in text.splitlines() if line.startswith("# To regenerate")] == [f"# To regenerate: {command}"]
    if given:
        (place / given[1]).unlink()
    again = run(*shlex.split(command)[1:])
    assert again.code == 0
    assert (again.out or (place / given[1]).read_text()) == text


def test_a_parser_is_the_same_in_any_folder(run: Run, place: Path, tmp_path: Path) -> None:
    """The folder and the template's path don't change a parser: its command names the file alone."""
    source = place / "a model.jinja"
    elsewhere = tmp_path / "deep" / "er"
    elsewhere.mkdir(parents=True)
    (elsewhere / source.name).write_bytes(source.read_bytes())
    for template, output in (
        (source.name, "a.py"),
        (f"./{source.name}", "./b.py"),
        (str(source), str(place / "c.py")),
        (str(source), str(elsewhere / "d.py")),
        (str(elsewhere / source.name), str(elsewhere / "e.py")),
        (f"deep/er/{source.name}", "deep/er/f.py"),
        (str(source), "-"),
    ):
        made = run("compile", template, "-o", output)
        text = made.out or Path(output).read_text()
        written = "-t python" if output == "-" else f"-o {Path(output).name}"
        assert text.splitlines()[1] == f"# To regenerate: tplc compile 'a model.jinja' {written}"
    assert run("compile", source.name, "-o", "deep/g.py").code == 0
    assert (tmp_path / "deep" / "g.py").read_text().splitlines()[1] == (
        "# To regenerate: tplc compile '../a model.jinja' -o g.py"
    )


@pytest.mark.parametrize(
    ("manifest", "command"), [("tplc.toml", "tplc build hut"), ("b.toml", "tplc build -m b.toml hut")]
)
def test_what_a_manifest_builds(run: Run, place: Path, manifest: str, command: str) -> None:
    (place / manifest).write_text('[models.hut]\nsource = "a model.jinja"\noutputs = ["hut.py"]\nopenai = true\n')
    assert run("build", "-m", manifest).code == 0
    made = place / "hut.py"
    text = made.read_text()
    assert text.splitlines()[1] == f"# To regenerate: {command}"
    made.unlink()
    assert run(*shlex.split(command)[1:]).code == 0
    assert made.read_text() == text


@pytest.mark.sweep(3)
@pytest.mark.parametrize("more", [[], ["--openai"], ["--runtime", "shared"]])
def test_a_parser_without_a_command_line(run: Run, place: Path, more: list[str]) -> None:
    """It is shorter, its header shows how it was made, and it counts as complete; only its end must not be missing."""
    assert run("compile", "a model.jinja", "-o", "with.py", *more).code == 0
    assert run("compile", "a model.jinja", "-o", "none.py", "--no-main", *more).code == 0
    with_main, without = (place / "with.py").read_text(), (place / "none.py").read_text()
    assert "__main__" in with_main and "__main__" not in without and "run_command" not in without
    assert len(without) < len(with_main)
    reported = without.splitlines()[1].removeprefix("# To regenerate: ")
    (place / "none.py").unlink()
    assert run(*shlex.split(reported)[1:]).code == 0
    assert (place / "none.py").read_text() == without
    assert run("verify", "a model.jinja", "none.py").code == 0
    (place / "none.py").write_text(without.rstrip().rpartition("\n")[0])
    assert run("verify", "a model.jinja", "none.py").code == 1


def test_a_manifest_says_whether_parsers_have_a_command_line(run: Run, place: Path) -> None:
    (place / "tplc.toml").write_text('[models.hut]\nsource = "a model.jinja"\noutputs = ["hut.py"]\nmain = false\n')
    assert run("build").code == 0
    assert "__main__" not in (place / "hut.py").read_text()


def test_only_parsers_have_a_command_line(run: Run, place: Path) -> None:
    done = run("compile", "a model.jinja", "-o", "g.peg", "--no-main")
    assert (done.code, done.err) == (2, "tplc: --no-main is for --target python, not for peg\n")
