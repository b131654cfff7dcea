"""Every template of the corpus ends in its stated error: soon, small, with nothing touched and nothing left running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.corpus import CORPUS, RECURSION, Hostile
from tests.hostile.measured import measured
from tplc.driver import compile_template
from tplc.errors import LimitExceeded, NotLearned, RenderFailed, TemplateRaised, TplcError
from tplc.render import Limits, Renderer

pytest.importorskip("resource")

SECONDS = 3.0
MEGABYTES = 512
RENDERED = (RenderFailed, TemplateRaised)

# One of each way to end, through the command itself; the processor time, as it takes longest.
COMMANDS = [
    "method resolution order",
    "include",
    "filler text",
    "doubling",
    "output by drops",
    "macro that calls itself",
    "loops in loops",
    "undefined callable",
    "unknown filter",
]


def by_name(*names: str) -> list[Hostile]:
    found = {hostile.name: hostile for hostile in CORPUS}
    return [found[name] for name in names]


@pytest.fixture(scope="module", autouse=True)
def forkers() -> None:
    """Return the processes from which workers are forked; they live as long as this process."""
    for apart in (False, True):
        Renderer("x", apart=apart).close()


@pytest.fixture(autouse=True)
def nothing_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    home = tmp_path / "home"
    for folder in (home, tmp_path / "tmp", tmp_path / "here"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "here")
    before = children()
    yield
    assert children() == before
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def children() -> set[int]:
    """Return the children of this process and theirs, with dead ones that weren't waited for."""
    if not os.path.isdir("/proc/self"):
        return set()
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path("/proc", pid, "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        parents[int(pid)] = int(stat.rsplit(")", 1)[1].split()[1])
    found = {pid for pid, parent in parents.items() if parent == os.getpid()}
    return found | {pid for pid, parent in parents.items() if parent in found}


def processor_seconds() -> float:
    """Return the processor time of this process and the children it waited for, which doesn't depend on other load."""
    return sum(os.times()[:4])


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(CORPUS) >= 60
    assert len({hostile.name for hostile in CORPUS}) == len(CORPUS)


@pytest.mark.sweep(40)
@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
def test_rendering(hostile: Hostile) -> None:
    start = processor_seconds()
    with pytest.raises(TplcError) as caught, Renderer(hostile.source, name="hostile.jinja") as renderer:
        renderer.render([{"role": "user", "content": "hi"}])
    assert processor_seconds() - start < SECONDS
    assert (type(caught.value), str(caught.value)) == (hostile.error, hostile.message)
    assert caught.value.exit_code == 1


@pytest.mark.sweep(3)
@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
def test_compiling(hostile: Hostile) -> None:
    """A refusal is an observation of the learner; if nothing else can be observed, it is reported as the reason."""
    start = processor_seconds()
    # What is nested is refused for its depth; a slow machine would meet the limit of time first.
    limits = {"render_seconds": SECONDS} if hostile.message == f"hostile.jinja: {RECURSION}" else {}
    with pytest.raises(TplcError) as caught:
        compile_template(hostile.source, name="hostile.jinja", limits=limits)
    assert processor_seconds() - start < SECONDS
    if hostile.error in RENDERED:
        assert type(caught.value) is NotLearned
        assert str(caught.value).endswith(": " + hostile.message)
    else:
        assert (type(caught.value), str(caught.value)) == (hostile.error, hostile.message)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("hostile", by_name(*COMMANDS), ids=lambda hostile: hostile.name)
def test_command(hostile: Hostile) -> None:
    done = measured("compile", "-", "-o", "parser.py", given=hostile.source, timeout=60)
    assert done.seconds < 2 * SECONDS
    assert done.megabytes <= MEGABYTES
    assert (done.returncode, done.stdout) == (1, "")
    assert hostile.message.removeprefix("hostile.jinja") in done.stderr.replace("stdin", "")
    assert "Traceback" not in done.stderr


def test_a_limit_that_is_raised_lets_a_slow_template_through() -> None:
    source = "{% for i in range(100000) %}{% for j in range(20) %}{% endfor %}{% endfor %}fine"
    with pytest.raises(LimitExceeded), Renderer(source, limits=replace(Limits(), render_seconds=0.02)) as renderer:
        renderer.render([])
    with Renderer(source, limits=replace(Limits(), render_seconds=20)) as renderer:
        assert renderer.render([]) == "fine"
