"""Documents that run: the code blocks of Markdown files, in order, in one folder per document.

    ```console          each `$ ` line is a command (`> ` continues it), what follows is what it prints
    $ tplc --version
    tplc 0.2.0
    ```

    ```python           run in one namespace per document; a `text` block directly after it is what it prints
    print(1 + 1)
    ```

    <!-- file: chat.jinja -->     saves the next block under that name
    <!-- not run: why -->         leaves the next block alone
    <!-- needs: package -->       the document runs where this package is installed
    <!-- uses: hut.jinja -->      the folder holds this file of docs/

A line of `...` in what is printed stands for any lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests import quick

SHOWN = frozenset({"text", "jinja", "json", "toml", "yaml", "make", "diff"})
RUN = frozenset({"console", "python"})
_FENCE = re.compile(r"^```(\w*)\s*$")
_NOTE = re.compile(r"^<!-- (file|not run): (.+) -->$")
_ANY = "..."


@dataclass(frozen=True, slots=True)
class Block:
    """`line` is the number of the block's first line; `output` the `text` block after a Python block, if any."""

    language: str
    text: str
    line: int
    file: str = ""
    not_run: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was run, what the document says it prints, and what it printed.

    A Python block without a `text` block after it must print nothing.
    """

    line: int
    source: str
    expected: str
    actual: str
    has_place: bool = True

    @property
    def as_expected(self) -> bool:
        return matches(self.expected.splitlines(), self.actual.splitlines())


def read_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    lines = text.splitlines()
    at = 0
    note: dict[str, str] = {}
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i] == "```")
            body = "".join(line + "\n" for line in lines[at + 1 : end])
            blocks.append(Block(fence[1], body, at + 2, note.get("file", ""), note.get("not run", "")))
            at, note = end, {}
        elif lines[at].strip():
            marked = _NOTE.match(lines[at])
            note = {marked[1]: marked[2]} if marked else {}
        at += 1
    return blocks


def run_document(text: str, folder: Path) -> Iterator[Step]:
    """Run all blocks in `folder`.  Python modules that blocks import from there are forgotten at the end."""
    namespace: dict[str, Any] = {"__name__": "document"}
    blocks = read_blocks(text)
    known = set(sys.modules)
    with inside(folder):
        sys.path.insert(0, str(folder))
        try:
            for block, following in zip_longest(blocks, blocks[1:]):
                if block.file:
                    Path(block.file).parent.mkdir(parents=True, exist_ok=True)
                    Path(block.file).write_text(block.text, encoding="utf-8")
                elif block.not_run:
                    continue
                elif block.language == "console":
                    yield from _run_console(block)
                elif block.language == "python":
                    yield _run_python(block, _output_of(block, following), namespace)
        finally:
            sys.path.remove(str(folder))
            for name in set(sys.modules) - known:
                if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                    del sys.modules[name]


def updated(text: str, steps: list[Step]) -> str:
    """Return the document with what was really printed; parts that match with `...` in them stay."""
    lines = text.splitlines()
    for step in sorted(steps, key=lambda step: -step.line):
        if not step.as_expected:
            size = len(step.expected.splitlines())
            actual = step.actual.splitlines()
            lines[step.line - 1 : step.line - 1 + size] = actual if step.has_place else ["", "```text", *actual, "```"]
    return "".join(line + "\n" for line in lines)


def matches(expected: list[str], actual: list[str]) -> bool:
    """Compare line by line; `...` stands for any lines."""
    if not expected:
        return not actual
    if expected[0].strip() == _ANY:
        return any(matches(expected[1:], actual[at:]) for at in range(len(actual) + 1))
    return bool(actual) and expected[0].rstrip() == actual[0].rstrip() and matches(expected[1:], actual[1:])


def _output_of(block: Block, following: Block | None) -> Block | None:
    """Return the `text` block that starts within three lines of the end of a Python block."""
    end = block.line + len(block.text.splitlines())
    return (
        following
        if following and following.language == "text" and not following.file and following.line - end <= 3
        else None
    )


def _run_console(block: Block) -> Iterator[Step]:
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {block.line + at}: expected a command, got {lines[at]!r}"
        command = [lines[at][2:]]
        at += 1
        while at < len(lines) and lines[at].startswith("> "):
            command.append(lines[at][2:])
            at += 1
        start = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        expected = "".join(line + "\n" for line in lines[start:at])
        yield Step(block.line + start, "\n".join(command), expected, run_shell("\n".join(command)))


def run_shell(command: str) -> str:
    """Return what a command prints, on both streams; `tplc` and `python` are those of the present environment."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")},
        "PATH": quick.path(),
        "COLUMNS": "100",
        "PYTHONUNBUFFERED": "1",  # both streams in the order of a terminal
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env=environment, timeout=120,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


def _run_python(block: Block, output: Block | None, namespace: dict[str, Any]) -> Step:
    # The line numbers of a traceback are those of the document.
    code = compile("\n" * (block.line - 1) + block.text, "document", "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    if output is not None:
        return Step(output.line, block.text, output.text, printed.getvalue())
    following = block.line + len(block.text.splitlines()) + 1
    return Step(following, block.text, "", printed.getvalue(), has_place=False)


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
