"""Run a command in a process of its own, and watch from a second process how it ends.

The command limits itself (`tplc.bounds`) and reports its own errors.  If it is killed, or no longer reacts to its time
limit, that is reported here: `tplc: hut.jinja: all work on the template took more than 5 s (limit total_seconds)`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from tplc.cli.exit_codes import INTERRUPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

CAN_WATCH = sys.platform != "win32" and hasattr(os, "fork") and hasattr(os, "pidfd_open")
# Seconds that a command has to report its end itself.
_GRACE = 3.0
# Seconds in which interrupts are one.
_SAME = 2.0
_PR_SET_PDEATHSIG = 1


def split() -> None:
    """Returns in the command's process; the one that watches it ends with it, and with its exit code."""
    read_end, write_end = os.pipe()
    watcher = os.getpid()
    command = os.fork()
    if command == 0:
        os.close(read_end)
        from tplc.bounds import set_watcher

        set_watcher(write_end)
        _end_with(watcher)
        _hear_of_interrupts_once()
        return
    os.close(write_end)
    code = _watch(command, read_end)
    # Nothing of this process is to be run twice.
    os._exit(code)


def _end_with(watcher: int) -> None:
    """Ends the command if the watching process is killed, so that it can clean up."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != watcher:
        os.kill(os.getpid(), signal.SIGTERM)


def _hear_of_interrupts_once() -> None:
    """Ignore the second of two interrupts: the terminal interrupts both processes, and the watching one passes it
    on."""
    if signal.getsignal(signal.SIGINT) != signal.default_int_handler:
        return
    heard = -_SAME

    def interrupted(_: int, __: FrameType | None) -> None:
        nonlocal heard
        before, heard = heard, time.monotonic()
        if heard - before > _SAME:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)


def _watch(command: int, read_end: int) -> int:
    import select

    def hand_on(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(command, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as for `nohup`, and what shells put in the background
            signal.signal(number, hand_on)
    poll, ended = select.poll(), os.pidfd_open(command)
    poll.register(read_end, select.POLLIN)
    poll.register(ended, select.POLLIN)
    last: dict[str, object] = {}
    while True:
        ready = dict(poll.poll(_milliseconds(last)))
        # Its last output is read first: it may be available together with the end of the process.
        if read_end in ready:
            if ready[read_end] & select.POLLIN:
                last = _read(read_end, last)
            else:
                poll.unregister(read_end)
        if ended in ready:
            break
        if not ready and last:
            os.kill(command, signal.SIGKILL)
            os.waitpid(command, 0)
            from tplc.errors import exceeded

            return _print_error(last, exceeded("total_seconds", f"{last['seconds']:g}"))
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    if code >= 0:
        return code
    if -code == signal.SIGINT:
        return INTERRUPTED  # interrupted again at its very end, where the interpreter hears of it no more
    if -code in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        # As if there were one process.
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return _print_error(last, f"the process that compiles ended with signal {signal.Signals(-code).name}")


def _milliseconds(last: dict[str, object]) -> float | None:
    until = last.get("until")
    return max(0.0, until + _GRACE - time.monotonic()) * 1000 if isinstance(until, float) else None


def _read(read_end: int, last: dict[str, object]) -> dict[str, object]:
    import json

    lines = os.read(read_end, 1 << 16).splitlines()
    return dict(json.loads(lines[-1])) if lines else last


def _print_error(last: dict[str, object], what: str) -> int:
    from tplc.ir.visible import shown

    name = f"{last['name']}: " if last else ""
    sys.stderr.write(f"tplc: {shown(name)}{what}\n")
    sys.stderr.flush()
    return 1
