"""Parsers that share a runtime give the same answers as those that contain their own."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli.conftest import TEMPLATE, Run, run
from tests.example_case import Example, load_examples, standalone_parser
from tplc.backends.python import generate, generate_runtime
from tplc.backends.python.permitted import check_permitted
from tplc.driver import load_ir
from tplc.ir.runtimes import RUNTIME_FILE, Runtime
from tplc.lower import lower
from tplc.lower.states import COUNTED_AS, states
from tplc.verify.artifact import load_module
from tplc.version import VERSION
from tplc_runtime.machine import Machine
from tplc_runtime.turn import TurnStates
from tplc_runtime.version import RUNTIME_VERSION

__all__ = ["run"]
EXAMPLES = load_examples()
SCANNERS = ("Markers", "Scanner")
RUNTIMES: tuple[Runtime, ...] = ("shared", "installed")


def text_of(example: Example, runtime: Runtime) -> str:
    return generate(load_ir((example.out / "ir.json").read_text(encoding="utf-8")), runtime=runtime)


@cache
def standalone(example: str) -> ModuleType:
    return load_module(standalone_parser(example))


def read(module: ModuleType, text: str, tools: object) -> Any:
    stream = module.StreamParser(tools=tools)
    deltas = [stream.feed(text[at : at + 3]) for at in range(0, len(text), 3)] + [stream.finish()]
    return deltas, stream.message, stream.incomplete, stream.trailing, list(map(tuple, stream.diagnostics))


def cuts(text: str) -> Iterator[str]:
    yield text
    yield from (text[: len(text) * part // 7] for part in range(1, 7))


@pytest.mark.sweep(11)
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_they_read_alike(example: Example, runtime: Runtime) -> None:
    module = load_module(text_of(example, runtime), runtime=generate_runtime())
    own = standalone(example.name)
    for output in example.outputs:
        for text in cuts(output.text):
            assert read(module, text, example.tools) == read(own, text, example.tools)


def scanners(module: ModuleType) -> dict[str, object]:
    """Return what the scanners of a parser's states search for, by their names."""
    found = [(name, one) for name, one in vars(module.StreamParser).items() if type(one).__name__ in SCANNERS]
    return {name: (one.markers, one.width, one.leads, one._find.pattern, one._near.pattern) for name, one in found}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_shared_runtime_makes_the_patterns_that_the_compiler_prints(example: Example) -> None:
    own, shared = standalone(example.name), load_module(text_of(example, "shared"), runtime=generate_runtime())
    made, printed = scanners(shared), scanners(own)
    assert made == {name: printed[name] for name in made} != {}


def test_the_states_of_the_runtime_know_the_kinds_of_markers_in_the_table() -> None:
    """The table says which markers count in a state; what one does there is a method of the runtime."""
    compared = [
        item.value
        for line in (TurnStates, Machine)
        for node in ast.walk(ast.parse(inspect.getsource(line)))
        if isinstance(node, ast.Compare)
        for item in ast.walk(node)
        if isinstance(item, ast.Constant)
    ]
    irs = [load_ir((example.out / "ir.json").read_text(encoding="utf-8")) for example in EXAMPLES]
    kinds = {COUNTED_AS.get(kind, kind) for ir in irs for state in states(lower(ir)) for kind, _ in state.on}
    assert kinds - {*compared} == set()


def test_the_runtime_is_one_file_that_does_nothing_but_parse() -> None:
    check_permitted(generate_runtime())
    assert RUNTIME_FILE == "_tplc_runtime.py"
    assert RUNTIME_VERSION == VERSION


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if example.tools], ids=lambda example: example.name
)
def test_attributes_that_are_not_in_slots_are_few(example: Example) -> None:
    """Python shares the keys of at most 30 attributes between objects of a class."""
    parser = standalone(example.name).StreamParser
    for output in example.outputs:
        stream = parser(tools=example.tools)
        stream.feed(output.text)
        stream.finish()
        assert len(vars(stream)) <= 30
        slots = [name for base in parser.__mro__ for name in base.__dict__.get("__slots__", ())]
        assert slots and [name for name in slots if not hasattr(stream, name)] == []


def test_they_are_short() -> None:
    lengths = {example.name: text_of(example, "shared").count("\n") for example in EXAMPLES}
    assert {name: count for name, count in lengths.items() if count > 220} == {}


def vendored(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / RUNTIME_FILE).write_text(generate_runtime(), encoding="utf-8")
    for example in EXAMPLES[::9]:
        for runtime in RUNTIMES:
            path = folder / f"{example.name.replace('-', '_')}_{runtime}.py"
            path.write_text(text_of(example, runtime), encoding="utf-8")


def test_they_are_formatted_linted_and_typed(tmp_path: Path) -> None:
    package = tmp_path / "vendored"
    vendored(package)
    (package / "__init__.py").write_text("")
    reported = [
        tool(tmp_path, "ruff", "format", "--isolated", "--line-length", "120", "--check", "vendored"),
        tool(
            tmp_path,
            "ruff",
            "check",
            "--isolated",
            "--line-length",
            "120",
            "--extend-select",
            "I",
            "--quiet",
            "vendored",
        ),
        tool(tmp_path, "mypy", "--strict", "--no-incremental", "--config-file=", "-p", "vendored"),
    ]
    assert [code for code, _ in reported] == [0, 0, 0], reported


def tool(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return result.returncode, result.stdout + result.stderr


def python(folder: Path, code: str, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-S", *options, "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return result.returncode, result.stdout or result.stderr.splitlines()[-1]


def test_in_a_package_and_next_to_a_script(tmp_path: Path) -> None:
    vendored(tmp_path / "some")
    (tmp_path / "some" / "__init__.py").write_text("")
    first = f"{EXAMPLES[0].name.replace('-', '_')}_shared"
    assert python(tmp_path, f"from some import {first} as p; print(p.parse('Hi.')['content'])", "-I") == (0, "Hi.\n")
    assert python(tmp_path / "some", f"import {first} as p; print(p.parse('Hi.')['content'])", "-I") == (0, "Hi.\n")


def test_another_version_is_reported(tmp_path: Path) -> None:
    vendored(tmp_path)
    first = f"{EXAMPLES[0].name.replace('-', '_')}_shared"
    text = generate_runtime()
    (tmp_path / RUNTIME_FILE).write_text(text.replace(f'RUNTIME_VERSION = "{VERSION}"', 'RUNTIME_VERSION = "0.1.9"'))
    assert python(tmp_path, f"import {first}", "-I") == (
        1,
        f"ImportError: {first} was generated for the runtime of tplc {VERSION}, and _tplc_runtime is of 0.1.9: "
        "generate it again with `tplc compile` or `tplc build`\n".strip(),
    )
    (tmp_path / RUNTIME_FILE).write_text(text.replace("def run_command(", "def run_main("))
    assert python(tmp_path, f"import {first}", "-I") == (
        1,
        f"ImportError: _tplc_runtime is the runtime of tplc {VERSION} and has no run_command: the parser that wants it "
        "is of another version; generate it again with `tplc compile` or `tplc build`",
    )


def test_compile_verify_parse_diff(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    compiled = run("compile", "hut.jinja", "-o", "hut.py", "--runtime", "shared")
    assert (compiled.code, compiled.err.splitlines()[-1]) == (0, "wrote        hut.py, _tplc_runtime.py")
    assert (tmp_path / "hut.py").read_text().splitlines()[1] == (
        "# To regenerate: tplc compile hut.jinja -o hut.py --runtime shared"
    )
    assert run("verify", "hut.jinja", "hut.py").code == 0
    assert json.loads(run("parse", "hut.py", stdin="<why>Hm.</why>Yes.").out)["reasoning_content"] == "Hm."
    assert run("diff", "hut.py", "hut.jinja").code == 0
    (tmp_path / RUNTIME_FILE).unlink()
    reported = "tplc: hut.py: has no runtime of its own, and there is no _tplc_runtime.py next to it\n"
    assert (run("verify", "hut.jinja", "hut.py").code, run("verify", "hut.jinja", "hut.py").err) == (2, reported)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--runtime", "else"], "--runtime else: expected standalone, shared or installed"),
        (["--runtime", "shared", "-t", "peg"], "--runtime is for --target python, not for peg"),
        (
            ["-o", "-", "--runtime", "shared"],
            "--runtime shared writes _tplc_runtime.py next to the parser; give --output FILE",
        ),
        (
            ["--runtime", "shared"],
            "_tplc_runtime.py: exists and was not generated by tplc; use --force to overwrite it",
        ),
    ],
)
def test_wrong_usage(run: Run, tmp_path: Path, arguments: list[str], reported: str) -> None:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    (tmp_path / RUNTIME_FILE).write_text("mine = 1\n")
    output = [] if "-o" in arguments else ["-o", "hut.py"]
    result = run("compile", "hut.jinja", *output, *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {reported}\n")
    assert not (tmp_path / "hut.py").exists()


def test_a_manifest_has_one_for_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    (tmp_path / "inn.jinja").write_text(TEMPLATE.replace("call>", "order>"))
    (tmp_path / "tplc.toml").write_text(
        '[options]\nruntime = "shared"\n'
        '[models.hut]\nsource = "hut.jinja"\noutputs = ["out/hut.py"]\n'
        '[models.inn]\nsource = "inn.jinja"\noutputs = ["out/inn.py", "out/inn.json"]\n'
    )
    assert run("build", "inn").code == 0
    assert re.sub(r"\((\d+) of \1 messages\)", "(all messages)", run("build").out) == (
        "built    hut: out/hut.py, out/_tplc_runtime.py (all messages)\ncurrent  inn\n"
        "2 models: 1 built, 1 current, 0 failed\n"
    )
    current = run("check")
    assert (current.code, current.out) == (
        0,
        "out/hut.py: current\nout/_tplc_runtime.py: current\nout/inn.py: current\nout/inn.json: current\n",
    )
    runtime = tmp_path / "out" / RUNTIME_FILE
    runtime.write_text(runtime.read_text().replace(f"Generated by tplc {VERSION}", "Generated by tplc 0.1.9"))
    stale = run("check")
    assert (stale.code, stale.out.splitlines()[1]) == (
        1,
        f"out/_tplc_runtime.py: stale: it was made by tplc 0.1.9, this is {VERSION}: "
        "a build would add 1, remove 1 lines",
    )
    assert run("build", "hut").out.startswith("built    hut")
    assert run("check").code == 0
