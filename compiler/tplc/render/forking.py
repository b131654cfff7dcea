"""The process that others are forked from: it has imported what a worker needs, and never reads a template.

    f, with the ends of two pipes and of a line     →  a worker on the pipes; on the line its number: "4711\n"
    on the line: w                                  →  when it has ended by itself, how: "-27\n"
    on the line: k                                  →  it is killed, and its group: "-9\n"

A line that is closed ends its worker, and the end of its own input ends all of them.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from tplc.render import worker

# Between two looks at one that is about to end.
_MILLISECONDS = 1


@dataclass(slots=True)
class _Child:
    """`pid` is None when it is reaped: the number may be another's then."""

    pid: int | None
    line: socket.socket
    awaited: bool = False


def main() -> None:
    worker.load_what_is_late()
    # Existing objects are never collected, so their pages stay shared.
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=0))


def _serve(orders: socket.socket) -> None:
    children: dict[int, _Child] = {}
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    while True:
        awaited = [child for child in children.values() if child.awaited]
        for descriptor, _ in poll.poll(_MILLISECONDS if awaited else None):
            if descriptor in children:
                if _is_over(children[descriptor]):
                    poll.unregister(descriptor)
                    children.pop(descriptor).line.close()
                continue
            order, given, _, _ = socket.recv_fds(orders, 1, 3)
            if not order:
                for child in children.values():
                    _kill(child)
                return
            child = _fork(*given, highest=max([*given, *children]))
            children[child.line.fileno()] = child
            poll.register(child.line, select.POLLIN)
        for child in awaited:
            _look(child)


def _fork(stdin: int, stdout: int, line: int, *, highest: int) -> _Child:
    pid = os.fork()
    if pid == 0:
        _work(stdin, stdout, highest)
    os.close(stdin)
    os.close(stdout)
    child = _Child(pid, socket.socket(fileno=line))
    _send(child, pid)
    return child


def _work(stdin: int, stdout: int, highest: int) -> NoReturn:
    """Do the child's work: it keeps the imported modules of its parent, and nothing else."""
    code = 1
    try:
        os.setsid()
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.closerange(3, highest + 1)
        worker.main()
        code = 0
    finally:
        os._exit(code)


def _is_over(child: _Child) -> bool:
    try:
        request = child.line.recv(1)
    except OSError:
        request = b""
    if request == b"w":
        child.awaited = True
        return False
    code = _kill(child)
    if request and code is not None:
        _send(child, code)
    return True


def _look(child: _Child) -> None:
    """Check whether a child that is about to end has ended."""
    if child.pid is None:
        return
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    if pid:
        child.pid, child.awaited = None, False
        _send(child, os.waitstatus_to_exitcode(status))


def _kill(child: _Child) -> int | None:
    if child.pid is None:
        return None
    for kill in (os.killpg, os.kill):  # it may not have got to a group of its own
        with suppress(OSError):
            kill(child.pid, signal.SIGKILL)
    _, status = os.waitpid(child.pid, 0)
    child.pid, child.awaited = None, False
    return os.waitstatus_to_exitcode(status)


def _send(child: _Child, number: int) -> None:
    with suppress(OSError):
        child.line.sendall(b"%d\n" % number)
