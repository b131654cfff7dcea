"""Show progress on standard error if that is a terminal with colours; otherwise show nothing.

⠋ learning chat.jinja
building hut ━━━━━━━━╸━━━━ 0:00:12
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tplc.cli.console import is_plain, new_console
from tplc.ir.visible import one_line


@contextmanager
def working(title: str) -> Iterator[None]:
    """Show a spinner during work of a second or more."""
    if is_plain(sys.stderr):
        yield
        return
    from rich.text import Text

    with new_console(sys.stderr).status(Text(one_line(title))):
        yield


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with the name of each finished item, to show progress."""
    if is_plain(sys.stderr):
        yield lambda _: None
        return
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=new_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda name: bar.update(task, advance=1, description=f"{title} {escape(name)}")


@contextmanager
def advancing(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the size of each finished group.  `total` None: the total is unknown."""
    if is_plain(sys.stderr):
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=new_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(one_line(title), total=total)
        yield lambda size: bar.update(task, advance=size)
