"""A process that has imported tplc and forks for each command: `python -m tests.quick.server SOCKET PARENT`.

It ends with the process PARENT.

A command that starts from nothing spends two thirds of its time on importing.  A process forked from this one has all
modules already, and begins with the arguments, folder, environment and open files that `tests/quick/tplc` sends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
from functools import cache
from pathlib import Path
from typing import Any, cast

import typer.main

from tplc.render import process

STREAMS = 3  # standard input, output and error
LONGEST_REQUEST = 1 << 20
LEFT_OUT = ("tplc.__main__",)


def share() -> None:
    """Take what other processes of the run have compiled, learned and verified."""
    from tests import compiled
    from tplc import driver

    compiled.share()
    driver.learn_format = compiled.shared_learning(driver.learn_format)
    driver._verified = compiled.shared(driver._verified)


def import_modules() -> None:
    """Import all modules of tplc, and read the declarations of its commands."""
    import tplc
    from tplc.cli.app import app

    typer.main.get_command = cache(typer.main.get_command)
    for module in pkgutil.walk_packages(tplc.__path__, "tplc."):
        if not module.name.startswith(LEFT_OUT):
            try:
                importlib.import_module(module.name)
            except ImportError:  # of an extra that is not installed
                continue
    typer.main.get_command(app)


def import_everything() -> None:
    """Import all modules, do what each command does first, and share what others made."""
    from tests.example_case import standalone_parser

    share()
    import_modules()
    for apart in (False, True):
        process._forker(apart=apart)
    for example in ("plain-chat", "tagged-json", "parameter-tags"):
        standalone_parser(example)


def serve(listening: socket.socket, parent: int) -> list[str]:
    """Fork for each request; return, in the forked process, the arguments of its command."""
    watch = selectors.DefaultSelector()
    watch.register(listening, selectors.EVENT_READ)
    watch.register(parent, selectors.EVENT_READ)
    waiting: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for key, _ in watch.select():
            if key.fileobj is listening:
                client, _ = listening.accept()
                request, files, _, _ = socket.recv_fds(client, LONGEST_REQUEST, STREAMS)
                child = os.fork()
                if not child:
                    watch.close()
                    for connection in (listening, client, *(other for _, other in waiting.values())):
                        connection.close()
                    for descriptor in (parent, *waiting):
                        os.close(descriptor)
                    return begin(json.loads(request), files)
                for file in files:
                    os.close(file)
                client.sendall(child.to_bytes(8, "little"))
                ended = os.pidfd_open(child)
                waiting[ended] = (child, client)
                watch.register(ended, selectors.EVENT_READ)
            elif key.fileobj == parent:
                os._exit(0)
            else:
                ended = cast(int, key.fileobj)
                watch.unregister(ended)
                os.close(ended)
                child, client = waiting.pop(ended)
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                client.sendall(status.to_bytes(8, "little", signed=True))
                client.close()


def begin(request: dict[str, Any], files: list[int]) -> list[str]:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    for forker in process._forkers.values():
        forker.owner = os.getpid()  # an order is one message, with pipes of its own
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(number, "w", closefd=False)),
            encoding="utf-8",
            errors=errors,
            line_buffering=number == 2 or os.isatty(number) or "PYTHONUNBUFFERED" in os.environ,
        )
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return list(request["arguments"])


if __name__ == "__main__":
    place = Path(sys.argv[1])
    import_everything()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen()
    print("listening", flush=True)
    arguments = serve(listener, os.pidfd_open(int(sys.argv[2])))
    from tplc.cli import main

    sys.argv = ["tplc", *arguments]
    code: object = None
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    if os.environ.get("TPLC_END"):  # of the interpreter is tested
        sys.exit(code)  # type: ignore[arg-type]
    # It touches all that was imported, and copies it.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
