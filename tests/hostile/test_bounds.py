"""Templates that take the compiler's own time and memory get a clear error, soon, and take little."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hostile.measured import Measured, measured
from tplc.bounds import bounded, enforce, undisturbed
from tplc.cli.watched import CAN_WATCH
from tplc.driver import compile_template
from tplc.errors import LimitExceeded, TplcError
from tplc.render import Limits, Renderer

resource = pytest.importorskip("resource")
watched = pytest.mark.skipif(not CAN_WATCH, reason="commands are watched on Linux")
MEGABYTES = 2000
FOR_EVER = 3600  # seconds; a test is ended before that (pytest-timeout)
HEAD = "{%- for m in messages %}{{- '<' + m.role + '>' }}"
CALL = (
    '{%- for c in m.tool_calls or [] %}{{- OPENER + \'{"name": "\' + c.function.name + \'", "arguments": \' + '
    "(c.function.arguments | tojson) + '}</call>' }}{%- endfor %}"
)
FOOT = (
    "{{- m.content or '' }}{{- '<end>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
)


def with_opener(expression: str) -> str:
    return HEAD + CALL.replace("OPENER", expression) + FOOT


# Each with the beginning of its error.
LARGE = [
    ("'a' * 1500", "a marker has more than 1000 characters: tools.call[0] has 1510"),
    ("'a' * 60000", "a marker has more than 1000 characters: tools.call[0] has 60010"),
    ("'a' * 200000", "the render of a conversation of a few words has more than 200000 characters: 200103"),
    ("'a' * 1900000", "the render of a conversation of a few words has more than 200000 characters: 1900103"),
    ("'a' * 2100000", "a render has more than 2000000 characters"),
    ("'a b ' * 15000", "a marker has more than 1000 characters: "),
    ("'<' * 15000 + '>' * 15000", "a marker has more than 1000 characters: "),
    ("'<' * 60000", "a marker has more than 1000 characters: "),
    ("'é ' * 30000", "a marker has more than 1000 characters: "),
    ("' ' * 60000 + 'x'", "a marker has more than 1000 characters: "),
    ("'\\n' * 60000 + '<x>'", "a marker has more than 1000 characters: "),
]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("opener", "error"), LARGE)
def test_large_markers(opener: str, error: str) -> None:
    done = compiled(with_opener(opener), "total_seconds=60")
    assert (done.returncode, done.stdout) == (1, "")
    assert error in done.stderr
    assert "Traceback" not in done.stderr
    assert done.megabytes < MEGABYTES
    assert done.seconds < 60 + 10


def test_the_longest_marker_that_is_taken() -> None:
    done = compiled(with_opener("'<' + 'a' * 900 + '>'"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.megabytes < 300


def compiled(source: str, *limits: str) -> Measured:
    """Return what compiling a template took, with limits other than the default ones."""
    options = [word for limit in limits for word in ("--limit", limit)]
    arguments = ("compile", "-", "-o", os.devnull, "-t", "python", "-q", *options)
    return measured(*arguments, given=source, most_bytes=3_000_000_000)


@pytest.fixture
def enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tplc.bounds._enforced", False)
    enforce()


@pytest.mark.usefixtures("enforced")
def test_time_and_memory_of_this_process() -> None:
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(LimitExceeded) as caught, bounded("a.jinja", Limits(total_seconds=0.2)):
        with suppress(LimitExceeded):
            time.sleep(FOR_EVER)
        time.sleep(FOR_EVER)  # who swallows it hears of it again
    assert str(caught.value) == "a.jinja: all work on the template took more than 0.2 s (limit total_seconds)"
    with pytest.raises(LimitExceeded) as caught, bounded("a.jinja", Limits(total_seconds=0.2)):
        time.sleep(FOR_EVER)
    assert str(caught.value) == "a.jinja: all work on the template took more than 0.2 s (limit total_seconds)"

    def deeper(value: object) -> object:
        return deeper([value])

    with pytest.raises(LimitExceeded) as caught, bounded("a.jinja", Limits()):
        deeper(None)
    assert str(caught.value) == "a.jinja: code or values are nested more than 1000 levels deep"
    if sys.platform == "linux":
        with pytest.raises(LimitExceeded) as caught, bounded("a.jinja", Limits(total_memory_mb=50)):
            bytearray(200_000_000)
        assert (
            str(caught.value)
            == "a.jinja: all work on the template needed more than 50 MB of memory (limit total_memory_mb)"
        )
    assert resource.getrlimit(resource.RLIMIT_AS) == limits
    assert compile_template(with_opener("'<call>'"), name="hut.jinja").verification.verified


@pytest.mark.usefixtures("enforced")
def test_a_compile_ends_in_time() -> None:
    """The limit also holds between two renders."""
    slow = HEAD + "{% for i in range(20000) %}{% for j in range(100) %}{% endfor %}{% endfor %}" + FOOT
    start = sum(os.times()[:4])  # of the processor, with its children
    with pytest.raises(TplcError) as caught:
        compile_template(slow, name="slow.jinja", limits=Limits(total_seconds=2))
    assert str(caught.value) in (
        "slow.jinja: all work on the template took more than 2 s (limit total_seconds)",
        "slow.jinja: one render took more than 1.5 s of processor time (limit render_seconds)",
    )
    assert sum(os.times()[:4]) - start < 10


WATCHED = """
import signal, time, os
from tplc.cli.watched import split
split()
from tplc.bounds import bounded, enforce, undisturbed
from tplc.render.limits import Limits
enforce()
"""
ENDS = [
    (
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\n"
        "with bounded('a\\n::error::b', Limits(total_seconds=0.2)): time.sleep(3600)",
        1,
        "tplc: a\n\\u003a:error::b: all work on the template took more than 0.2 s (limit total_seconds)\n",
    ),
    (
        "with bounded('a.jinja', Limits()): os.kill(os.getpid(), signal.SIGSEGV)",
        1,
        "tplc: a.jinja: the process that compiles ended with signal SIGSEGV\n",
    ),
    ("os.kill(os.getpid(), signal.SIGKILL)", 1, "tplc: the process that compiles ended with signal SIGKILL\n"),
    ("with bounded('a.jinja', Limits()): pass\nraise SystemExit(7)", 7, ""),
    ("os.kill(os.getppid(), signal.SIGTERM); time.sleep(3600)", -15, ""),
]


@watched
@pytest.mark.parametrize(("body", "code", "error"), ENDS)
def test_how_a_watched_command_ends(body: str, code: int, error: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED + body], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", error)


@pytest.mark.usefixtures("enforced")
def test_what_the_limit_breaks_off_leaves_nothing_open() -> None:
    """The limit may come at any time: while a worker is started, or while it is ended."""
    before = open_descriptors()
    for milliseconds in range(1, 21):
        limits = Limits(total_seconds=milliseconds / 1000)
        with pytest.raises(LimitExceeded), bounded("a.jinja", limits):
            while True:
                Renderer("x").close()
    gc.collect()
    assert open_descriptors() == before


@pytest.mark.usefixtures("enforced")
def test_a_limit_that_had_to_wait_is_heard_of_at_once() -> None:
    with pytest.raises(LimitExceeded), bounded("a.jinja", Limits(total_seconds=0.1)):
        with undisturbed():
            with undisturbed():
                time.sleep(0.2)
            left = True
        time.sleep(FOR_EVER)
    assert left


def open_descriptors() -> int:
    Renderer("x").close()  # what workers are forked from stays
    return len(os.listdir("/dev/fd"))
