"""Turn signals that end the process into an exception, so that half-written files are removed first.

with unwinding():
    …   SIGTERM: the blocks inside end one by one, and the process by SIGTERM
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has one of them


class _Signalled(BaseException):
    """Raised to end the command; no handler of errors catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def unwinding() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for name in _NAMES if (number := getattr(signal, name, None)) is not None]
    usual = {number: signal.getsignal(number) for number in numbers}

    owner = os.getpid()

    def on_signal(number: int, _: FrameType | None) -> None:
        if os.getpid() != owner:  # one that was forked has nothing to clean up
            _end_by(number)
        for one in numbers:
            signal.signal(one, signal.SIG_IGN)  # once is enough
        raise _Signalled(number)

    for number in numbers:
        if usual[number] != signal.SIG_IGN:
            signal.signal(number, on_signal)
    try:
        yield
    except BaseException as error:
        # On the way other errors may have come of it.
        for cause in _contexts(error):
            if isinstance(cause, _Signalled):
                _end_by(cause.number)
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def _end_by(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _contexts(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__context__
