"""Start Ray once in a process, without its messages, for moving rows or compiling collections."""

from __future__ import annotations

import logging
import signal
import threading
from typing import Any

from tplc.errors import SourceError

_ours: set[Any] = set()


def start_ray(address: str | None = None, jobs: int | None = None) -> Any:
    """Return the module `ray`, connected to the cluster at `address`, or to a new one on this machine with this many
    workers."""
    import ray
    import ray.data  # it sets up its log when it is imported, so the level is set after it

    if not ray.is_initialized():
        # Ray would exit if it is asked to end; a caller's own signal handlers are kept.
        usual = signal.getsignal(signal.SIGTERM)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            ray.init(address=address, num_cpus=None if address else jobs, include_dashboard=False, **quiet)
        except Exception as error:  # Ray raises nothing narrower where it cannot start
            raise SourceError(address or "ray", f"cannot be started: {reason(error)}") from error
        if callable(usual) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, usual)
        _ours.add(ray)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True  # rows come back in the order of the file
    context.enable_progress_bars = False
    return ray


def stop_ray() -> None:
    """Stop the cluster if `start_ray` started it."""
    while _ours:
        _ours.pop().shutdown()


def reason(error: BaseException) -> str:
    """Return the last line of Ray's error; stack traces of its workers precede it."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
