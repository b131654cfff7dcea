"""The command line: `main` is what `tplc` runs."""

from __future__ import annotations

import signal
import sys

from tplc.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command.  Every mistake of the user's is one message on standard error, and an exit code."""
    if (sys.argv[1:] if arguments is None else list(arguments)) == ["--version"]:
        print(f"tplc {VERSION}")  # without what the other commands need: scripts ask this at every start
        return
    from tplc.cli.watched import CAN_WATCH, split

    if arguments is None and CAN_WATCH:
        split()
    from tplc.bounds import enforce
    from tplc.cli.app import app
    from tplc.errors import TplcError
    from tplc.ir.visible import shown

    enforce()
    try:
        app(args=None if arguments is None else list(arguments), prog_name="tplc")
    except TplcError as error:
        print(f"tplc: {shown(str(error))}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        if arguments is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends already
        raise SystemExit(130) from None
