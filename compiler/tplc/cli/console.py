"""Consoles for people: colours on a terminal, no escape codes elsewhere.

If NO_COLOR is set (https://no-color.org), there is no bold, no dim and no progress either.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def is_plain(file: TextIO) -> bool:
    return bool(os.environ.get("NO_COLOR")) or not file.isatty()


def new_console(file: TextIO | None = None, *, soft_wrap: bool = True) -> Console:
    """Return a console that writes to the file, or to standard output if none is given."""
    from rich.console import Console

    file = sys.stdout if file is None else file
    return Console(
        file=file, highlight=False, emoji=False, soft_wrap=soft_wrap, color_system=None if is_plain(file) else "auto"
    )
