"""Every command that meets a template keeps to the limits: soon an error that names one, and little memory taken.

Measured from outside: seconds of the processor, and the most that one process of the command took of memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.example_case import EXAMPLES
from tests.hostile.test_bounds import CALL, FOOT, HEAD, with_opener

pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory of processes is bounded on Linux")
MEGABYTES = 1000
SECONDS = 90
LARGE = with_opener("'a' * 60000")
# Each render takes half a second, so that no limit of one render is met.
SLOW = (
    HEAD
    + CALL.replace("OPENER", "'<call>'")
    + FOOT
    + "{% for i in range(3000) %}{% for j in range(3000) %}{% endfor %}{% endfor %}"
)
TOO_LONG = "a marker has more than 1000 characters: "
TOO_SLOW = "all work on the template took more than 1 s (limit total_seconds)"
TIME = ("--limit", "total_seconds=1", "--limit", "render_seconds=60")


@dataclass(frozen=True)
class Done:
    code: int
    said: str
    seconds: float
    megabytes: float


def ran(folder: Path, *command: str) -> Done:
    program = (
        "import resource, subprocess, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))\n"
        "code = subprocess.run([sys.executable, '-m', 'tplc', *sys.argv[1:]]).returncode\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print('used', used.ru_utime + used.ru_stime, used.ru_maxrss)\n"
        "raise SystemExit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache-home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    out, _, used = done.stdout.rpartition("used ")
    seconds, kilobytes = used.split()
    return Done(done.returncode, out + done.stderr, float(seconds), int(kilobytes) / 1024)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("place")
    for name, source in (("large", LARGE), ("slow", SLOW)):
        (place / f"{name}.jinja").write_text(source)
        (place / f"{name}.toml").write_text(
            f'[models.{name}]\nsource = "{name}.jinja"\noutputs = ["{name}.py"]\n'
            + f"[models.{name}.limits]\ntotal_seconds = 1\nrender_seconds = 60\n" * (name == "slow")
        )
    (place / "all").mkdir()
    (place / "all" / "large.jinja").write_text(LARGE)
    (place / "slow").mkdir()
    (place / "slow" / "slow.jinja").write_text(SLOW)
    (place / "outputs.jsonl").write_text('{"text": "Hello."}\n')
    (place / "output.txt").write_text("Hello.")
    (place / "request.json").write_text('{"messages": [{"role": "user", "content": "Hello."}]}')
    for name in ("parser.py", "ir.json"):
        (place / name).write_bytes((EXAMPLES / "tagged-json" / "out" / name).read_bytes())
    return place


@pytest.mark.sweep(9)
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "large.jinja"),
        ("verify", "large.jinja", "parser.py"),
        ("build", "-m", "large.toml"),
        ("check", "-m", "large.toml"),
        ("explain", "large.jinja"),
        ("doctor", "large.jinja"),
        ("diff", "large.jinja", "ir.json"),
        ("parse", "large.jinja", "output.txt"),
        ("observe", "large.jinja", "outputs.jsonl"),
        ("prepare", "large.jinja", "request.json"),
        ("census", "all"),
    ],
    ids=" ".join,
)
def test_long_markers(place: Path, command: tuple[str, ...]) -> None:
    done = ran(place, *command)
    assert (done.code, TOO_LONG in done.said) == (0 if command[0] == "census" else 1, True), done.said
    assert "Traceback" not in done.said
    assert done.megabytes < MEGABYTES
    assert done.seconds < SECONDS


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "slow.jinja", *TIME),
        ("verify", "slow.jinja", "parser.py", *TIME),
        ("build", "-m", "slow.toml"),
        ("check", "-m", "slow.toml"),
        ("explain", "slow.jinja", *TIME),
        ("doctor", "slow.jinja", *TIME),
        ("prepare", "slow.jinja", "request.json", *TIME),
        ("parse", "slow.jinja", "output.txt", *TIME),
        ("parse", "slow.jinja", "outputs.jsonl", "--column", "text", "-o", "messages.jsonl", *TIME),
        ("try", "slow.jinja", "output.txt", *TIME),
        ("observe", "slow.jinja", "outputs.jsonl", *TIME),
        ("diff", "slow.jinja", "ir.json", *TIME),
        ("diff", "ir.json", "slow.jinja", *TIME),
        ("census", "slow", *TIME),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_time_as_a_whole(place: Path, command: tuple[str, ...]) -> None:
    done = ran(place, *command)
    assert (done.code, TOO_SLOW in done.said) == (0 if command[0] == "census" else 1, True), done.said
    assert "Traceback" not in done.said
    assert done.megabytes < MEGABYTES
    assert done.seconds < SECONDS
