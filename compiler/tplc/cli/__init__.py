"""The command line: `tplc` runs `main`."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from contextlib import suppress

from tplc.cli.exit_codes import CLOSED_PIPE, INTERRUPTED
from tplc.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_EXPLAINED = "tplc explain TEMPLATE shows the conversations that were tried, and their renders"
# How often garbage is collected: Python's own default takes a tenth of a compilation, and finds next to nothing.
_COLLECTIONS = (50_000, 20, 50)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command.  Every mistake of the user's is one message on standard error, and an exit code."""
    if sys.stdin is None:
        from tplc.cli.closed import closed_input

        sys.stdin = closed_input()
    if sys.stdout is None:  # closed by the caller: `tplc … >&-`
        # Writing there fails, and no file is opened in its place.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    try:
        try:
            _run(arguments)
        finally:
            sys.stdout.flush()
    except SystemExit as stop:
        # Rich and typer make this of a pipe that is closed.
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
    except KeyboardInterrupt:
        if arguments is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends already
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        pass
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        _drop_what_is_left()
        why = "it is closed" if error.errno == errno.EBADF else error.strerror
        print(f"tplc: standard output: cannot be written: {why}", file=sys.stderr)
        raise SystemExit(2) from None
    else:
        return
    # The reader closed the pipe early (`tplc explain … | head`).
    _drop_what_is_left()
    raise SystemExit(CLOSED_PIPE) from None


def _drop_what_is_left() -> None:
    """Discard the rest of the output, so that the interpreter reports no error when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(nowhere, stream.fileno())


def _run(arguments: Sequence[str] | None) -> None:
    if (sys.argv[1:] if arguments is None else list(arguments)) == ["--version"]:
        print(f"tplc {VERSION}")  # without what the other commands need: scripts ask this at every start
        return
    from tplc.cli.watched import CAN_WATCH, split

    if arguments is None:
        gc.set_threshold(*_COLLECTIONS)
        if CAN_WATCH:
            split()
    from tplc.bounds import enforce
    from tplc.cli.app import app, keep_command
    from tplc.errors import LimitExceeded, NotLearned, TplcError
    from tplc.ir.visible import shown
    from tplc.paths import unreadable

    enforce()
    if arguments is None:
        keep_command("".join(sys.argv[1:2]))
    try:
        app(args=None if arguments is None else list(arguments), prog_name="tplc")
    except TplcError as error:
        print(f"tplc: {shown(str(error))}", file=sys.stderr)
        if isinstance(error, LimitExceeded):
            _print_how_to_raise(error.limit)
        if isinstance(error, NotLearned):
            print(f"    {_EXPLAINED}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except PermissionError as error:
        if error.filename is None:
            raise
        print(f"tplc: {shown(str(unreadable(os.fsdecode(error.filename), error)))}", file=sys.stderr)
        raise SystemExit(2) from None


def _print_how_to_raise(limit: str) -> None:
    """Print the option that raises a limit; the sandbox has limits that none raises."""
    from dataclasses import fields

    from tplc.render.limits import Limits

    if limit in [field.name for field in fields(Limits)]:
        print(f"    --limit {limit}=NUMBER raises this limit", file=sys.stderr)
