"""`tplc` for tests that run many commands: forked from a process that has imported everything (server.py).

`PATH=quick.path()` begins with a folder whose `tplc` behaves like the installed one and starts four times as fast.
Tests of how a command starts, of signals and of closed streams run the installed one, or `ALONE`, which is like it and
takes what other processes of the run have learned and verified.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
INSTALLED = Path(sys.executable).parent
ALONE = (sys.executable, str(Path(__file__).resolve().parent / "alone.py"))
CAN_FORK = hasattr(os, "pidfd_open") and hasattr(socket, "recv_fds")


def path() -> str:
    """Return a PATH with the quick `tplc` first, then the `tplc` and `python` of this environment."""
    quick = [str(command().parent)] if CAN_FORK else []
    return os.pathsep.join([*quick, str(INSTALLED), os.environ["PATH"]])


@cache
def command() -> Path:
    """Start the process to fork from, once for each worker of pytest, and return the path of the quick `tplc`."""
    if not CAN_FORK:
        return INSTALLED / "tplc"
    folder = Path(tempfile.mkdtemp(prefix="tplc-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    client = folder / "tplc"
    client.write_text((Path(__file__).parent / "tplc").read_text(encoding="utf-8").replace("PYTHON", sys.executable, 1))
    client.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.quick.server", str(folder / "socket"), str(os.getpid())],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert server.stdout is not None
    atexit.register(server.wait)
    atexit.register(server.terminate)
    with server.stdout as started:
        assert started.readline() == b"listening\n", "the process to fork commands from has ended"
    return client
