"""`tplc compile --watch`: the command again whenever a file that it reads has changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from types import FrameType

from tplc.cli.exit_codes import INTERRUPTED
from tplc.ir.visible import shown

# Seconds between two looks.  A file is looked at by its status: no event of any system is waited for.
_EVERY = 0.25
WRONG_USAGE = 2
State = dict[str, tuple[int, int, int] | None]


def watch(command: Sequence[str], files: Callable[[], Sequence[str]]) -> None:
    """Runs the command now and after each change, until it is interrupted.  `files` are those of the moment: what a
    template is made of may change with it."""
    signal.signal(signal.SIGINT, _leave)
    print(f"watching {_named(files())}; Ctrl-C ends it", file=sys.stderr)
    for run in count():
        before = _state(files())
        # In a process of its own: it has its own limits and its resources are freed.
        code = subprocess.run([sys.executable, "-m", "tplc", *command], check=False).returncode
        if code == WRONG_USAGE and run == 0:
            raise SystemExit(code)
        changed = _changed(before)
        print(f"\n{time.strftime('%H:%M:%S')} {_named(changed)} changed", file=sys.stderr)


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process at once: no clean-up is needed, and an exception raised in a finaliser would be lost. A running
    command is interrupted by its own signal."""
    os._exit(INTERRUPTED)


def _changed(before: State) -> list[str]:
    """Waits until something differs, and until it differs no more: an editor may write in steps."""
    while (now := _state(before)) == before:
        time.sleep(_EVERY)
    while True:
        time.sleep(_EVERY)
        later = _state(before)
        if later == now:
            return [path for path in now if now[path] != before[path]]
        now = later


def _state(paths: Iterable[str]) -> State:
    return {path: _status(path) for path in paths}


def _status(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _named(paths: Sequence[str]) -> str:
    return ", ".join(shown(os.path.relpath(path)) for path in paths)
