"""Run the command line in this process: arguments and standard input in, texts and exit code out."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import compiled
from tplc import constrained, driver
from tplc.cli import main
from tplc.ir.nodes import TemplateIR
from tplc.render.renderer import Renderer
from tplc.verify.causes import Tried

TEMPLATE = """\
{%- for m in messages %}
    {{- '<' + m.role + '>' }}
    {%- if m.reasoning %}{{- '<why>' + m.reasoning + '</why>' }}{%- endif %}
    {{- m.content or '' }}
    {%- for c in m.tool_calls or [] %}
        {{- '<call>{"name": "' + c.function.name + '", "arguments": ' + (c.function.arguments | tojson) + '}</call>' }}
    {%- endfor %}
    {{- '<end>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]
VERIFIED: dict[object, Any] = {}
LEARN = compiled.shared_learning(driver.learn_format)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, cache_home: Path) -> Run:
    """Return a function for `run("compile", "a.jinja", stdin="…")` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_home))
    # The width of help texts and tables.
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")

    def call(*arguments: str, stdin: str | bytes = "") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        code: object = 0
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        assert isinstance(code, int)
        # How many messages verify a template grows with the battery.
        out = re.sub(r"^(built .*)\((\d+) of \2 messages\)$", r"\1(all messages)", captured.out, flags=re.MULTILINE)
        return Result(code, out, captured.err)

    return call


@pytest.fixture(autouse=True)
def _templates_are_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn and verify each template once, with its warnings and its grammars: hundreds of tests compile the same few,
    and they test commands, not verification."""
    verified, warnings_of, refused = (
        compiled.shared(driver._verified),
        driver.warnings_of,
        constrained.refused_by_grammars,
    )

    def once(ir: TemplateIR, *, renderer: Renderer, **given: Any) -> Any:
        # All targets but the PEG are verified by the parser.
        given["target"] = "peg" if given["target"] == "peg" else "python"
        key = ("verified", ir, *shown(renderer), repr(sorted(given.items())))
        return kept(key, lambda: verified(ir, renderer=renderer, **given))

    def warnings_once(renderer: Renderer, ir: TemplateIR) -> Any:
        return kept(("warnings", ir, *shown(renderer)), lambda: warnings_of(renderer, ir))

    def refused_once(ir: TemplateIR, tried: tuple[Tried, ...]) -> Any:
        # What was verified once is the same object each time, and is kept, so no other has its number.
        key = ("refused", ir, id(tried))
        return kept(key, lambda: (refused(ir, tried), tried))[0]

    monkeypatch.setattr(driver, "learn_format", LEARN)
    monkeypatch.setattr(driver, "_verified", once)
    monkeypatch.setattr(driver, "warnings_of", warnings_once)
    monkeypatch.setattr(constrained, "refused_by_grammars", refused_once)


def shown(renderer: Renderer) -> tuple[object, ...]:
    return renderer.source, renderer.limits, repr(renderer.special_tokens)


def kept(key: tuple[object, ...], make: Callable[[], Any]) -> Any:
    if key not in VERIFIED:
        VERIFIED[key] = make()
    return VERIFIED[key]


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jinja"
    path.write_text(TEMPLATE)
    return path
