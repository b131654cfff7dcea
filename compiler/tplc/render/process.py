"""The process that renders, from its parent's side: forked from a process that has imported Jinja, or started alone.

    process = start()  →  process.stdin, process.stdout; process.wait(2), process.end(), process.returncode

Python and Jinja take longer to start than most templates to compile, so they start once: children are forked from a
process that has imported what they need and has never read a template.  Children don't share anything and return only
their answers.  Without fork, each process is started separately.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import IO, Protocol, cast

import jinja2
import markupsafe

_RENDER = Path(__file__).resolve().parent
_LIBRARIES = sorted({str(Path(module.__path__[0]).resolve().parent) for module in (jinja2, markupsafe)})

# Isolated mode reads neither the environment nor the user's site; the two packages above the worker are made empty, for
# importing the real ones takes longer than everything else together.
_START = """
import importlib, sys, types
for name, path in zip(("tplc", "tplc.render"), sys.argv[2:4]):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]
sys.path += sys.argv[4:]
importlib.import_module("tplc.render." + sys.argv[1]).main()
"""
_KEPT_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_POSIX = os.name == "posix"
_FORKS = _POSIX and hasattr(os, "fork") and hasattr(socket, "send_fds")
_FORK_SECONDS = 20.0


class Process(Protocol):
    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    returncode: int | None

    def wait(self, timeout: float) -> int:
        """Wait for the end of the worker and return its exit code; raise TimeoutExpired like `subprocess`."""

    def end(self) -> None:
        """Kill its group and reap it; also when it is long gone."""


def start(*, apart: bool = False) -> Process:
    """Start a worker.  `apart`: not from the process that others are forked from, so that behaviour that depends on
    addresses or hashes can differ."""
    if _FORKS:
        forker = _forker(apart=apart)
        for _ in range(2):
            with suppress(_NotForked):
                return forker.fork()
            forker = _forker(apart=apart)  # somebody killed it
    return _Started("worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class _Started(subprocess.Popen[bytes]):
    def __init__(self, module: str, *, stdin: int, stdout: int) -> None:
        super().__init__(
            [
                *(sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, module),
                *(str(_RENDER.parent), str(_RENDER), *_LIBRARIES),
            ],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ},
            # A group of its own: it is killed as a whole, and the terminal's interrupt is for the parent alone.
            start_new_session=True,
        )

    def end(self) -> None:
        if self.poll() is None:
            if _POSIX:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self.kill()
        self.wait()


class _NotForked(Exception):
    """The process to fork from is gone, or does not answer."""


class _Forker:
    """Its process ends when this end of the socket is closed, and with it all that it forked."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.alive = True
        self._socket, other = socket.socketpair()
        with other:
            self._process = _Started("forking", stdin=other.fileno(), stdout=subprocess.DEVNULL)
        self._finalizer = weakref.finalize(self, _leave, self._socket, self._process, self.owner)

    def fork(self) -> _Forked:
        line, other = socket.socketpair()
        read, stdin = os.pipe()
        stdout, write = os.pipe()
        line.settimeout(_FORK_SECONDS)
        pipes = FileIO(stdin, "w"), FileIO(stdout)
        try:
            try:
                socket.send_fds(self._socket, [b"f"], [read, write, other.fileno()])
            finally:
                os.close(read)
                os.close(write)
                other.close()
            return _Forked(line, *pipes)
        except BaseException as error:
            for end in (line, *pipes):
                end.close()
            if isinstance(error, (OSError, _NotForked)):
                self.close()
                raise _NotForked from error
            raise

    def close(self) -> None:
        self.alive = False
        self._finalizer()


class _Forked:
    """A child of the forker.  It is reaped when this end of the line says so, or is closed: until then the number is
    its own."""

    def __init__(self, line: socket.socket, stdin: FileIO, stdout: FileIO) -> None:
        self._line = line
        self.stdin: IO[bytes] | None = cast("IO[bytes]", stdin)
        self.stdout: IO[bytes] | None = cast("IO[bytes]", stdout)
        self.returncode: int | None = None
        self.pid = int(self._read_line())

    def wait(self, timeout: float) -> int:
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                self._line.sendall(b"w")
                self.returncode = int(self._read_line())
            except TimeoutError:
                raise subprocess.TimeoutExpired("worker", timeout) from None
            except (OSError, _NotForked):
                self._lost()
        return self.returncode or 0

    def end(self) -> None:
        if self.returncode is None:
            self._line.settimeout(_FORK_SECONDS)
            try:
                self._line.sendall(b"k")
                self.returncode = int(self._read_line())
            except (OSError, _NotForked):
                self._lost()
        self._line.close()

    def _read_line(self) -> bytes:
        """Read a line; all lines are short."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self._line.recv(16)
            if not piece:
                raise _NotForked
            line += piece
        return line

    def _lost(self) -> None:
        """Handle the loss of the forker: the exit code of this worker is unknown."""
        with suppress(OSError):
            if os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, signal.SIGKILL)
        self.returncode = -signal.SIGKILL


_forkers: dict[bool, _Forker] = {}
_making = Lock()


def _forker(*, apart: bool) -> _Forker:
    """Return this process's forker; a forked copy of this process has its own."""
    with _making:
        forker = _forkers.get(apart)
        if forker is None or not forker.alive or forker.owner != os.getpid():
            forker = _forkers[apart] = _Forker()
        return forker


def _leave(line: socket.socket, process: subprocess.Popen[bytes], owner: int) -> None:
    line.close()
    if os.getpid() == owner:
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
