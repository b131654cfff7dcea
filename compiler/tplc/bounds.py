"""Limit the time and memory that this process takes while it works on an untrusted template.

    with bounded("hut.jinja", Limits(total_seconds=5)):
        …   LimitExceeded, raised after five seconds at any place

Only commands do this (`enforce`): timers and limits of a process belong to its owner.  The process that watches a
command learns its deadline, because a command that never returns to Python can't stop itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, ModuleType

from tplc.errors import LimitExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tplc.render.limits import Limits

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

# An error that something on its way took for one of its own is raised again after so many seconds; and one that had to
# wait, after so many.
_AGAIN = 0.5
_SOON = 0.001
_MB = 1024 * 1024
_watcher: int | None = None
_enforced = False
_active = False
_undisturbed = 0
_late = False


def enforce() -> None:
    """Enforce limits from now on. Programs that use tplc as a library have timers and limits of their own."""
    global _enforced
    _enforced = True


def enforced() -> bool:
    return _enforced


def set_watcher(descriptor: int) -> None:
    """Set the descriptor to which deadlines are written, one JSON line each; an empty object when the work is done."""
    global _watcher
    _watcher = descriptor


@contextmanager
def bounded(name: str, limits: Limits) -> Iterator[None]:
    """Raises LimitExceeded when the work in it takes more than `total_seconds`, or `total_memory_mb`.  The outermost
    bound counts."""
    global _active
    if not _enforced or _active:
        yield
        return
    _active = True
    before = _lower_memory(limits.total_memory_mb)
    try:
        with _timed(name, limits.total_seconds):
            yield
    except MemoryError:
        _restore_memory(before)
        raise LimitExceeded(name, "total_memory_mb", str(limits.total_memory_mb)) from None
    except RecursionError:
        raise LimitExceeded(name, "recursion", str(sys.getrecursionlimit())) from None
    finally:
        _restore_memory(before)
        _active = False


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay a limit that is exceeded in this block until its end, so that resources are released completely."""
    global _undisturbed, _late
    if not _hears_signals():
        yield
        return
    _undisturbed += 1
    try:
        yield
    finally:
        _undisturbed -= 1
        if _late and not _undisturbed:
            _late = False
            # Not at once: who ends this may be the garbage collector, that swallows what is raised.
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)


def _hears_signals() -> bool:
    """Return whether this is the main thread, which alone receives signals."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def _timed(name: str, seconds: float) -> Iterator[None]:
    """Limit the time of the block. Outside of the main thread, the time is checked at each render."""
    global _late
    if not _hears_signals():
        yield
        return

    def stop(_: int, __: FrameType | None) -> None:
        global _late
        if _undisturbed:
            _late = True
        else:
            raise LimitExceeded(name, "total_seconds", f"{seconds:g}")

    _late = False
    usual = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    _send_deadline({"name": name, "seconds": seconds, "until": time.monotonic() + seconds})
    try:
        yield
    finally:
        # The limit ends here: a late signal must not set an alarm that no block waits for.
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
        _send_deadline({})


def _send_deadline(what: dict[str, object]) -> None:
    if _watcher is not None:
        with suppress(OSError):
            os.write(_watcher, json.dumps(what).encode("ascii") + b"\n")


def _lower_memory(megabytes: int) -> tuple[int, int] | None:
    """Limit the memory to so much beyond the present use; return None if the system doesn't report or limit it."""
    if resource is None:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        before: tuple[int, int] = resource.getrlimit(resource.RLIMIT_AS)
        soft, hard = before
        most = pages * resource.getpagesize() + megabytes * _MB
        if soft == resource.RLIM_INFINITY or most < soft:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (OSError, ValueError):
        return None
    return before


def _restore_memory(before: tuple[int, int] | None) -> None:
    if before is not None:
        assert resource is not None
        resource.setrlimit(resource.RLIMIT_AS, before)
