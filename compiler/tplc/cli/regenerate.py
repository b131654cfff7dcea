"""Write the command for a generated file's header that regenerates the file.

Run the command in the folder of the file.  The same template and options give the same bytes, independent of where the
folder is: paths are relative to the file's folder, and paths elsewhere on this machine are shortened to their last
name.  Options that only report, overwrite or verify (--json, --force, --seed, …) are left out.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tplc.cli.declare import parameters_of
from tplc.driver import SUFFIXES, target_of
from tplc.sources import is_elsewhere

if TYPE_CHECKING:
    from tplc.cli.options import CompileOptions
    from tplc.driver import Target


def command_of(options: CompileOptions, target: Target) -> str:
    folder = "" if options.output == "-" else os.path.dirname(options.output)

    def seen(path: str) -> str:
        return path if path == "-" else _from(folder, path)

    source = options.source if is_elsewhere(options.source) else seen(options.source)
    return shlex.join(["tplc", "compile", source, *_options(options, target, seen)])


def _options(options: CompileOptions, target: Target, seen: Callable[[str], str]) -> Iterator[str]:
    yield from _written(options, target)
    for parameter in parameters_of(type(options)):
        value = parameter.value_in(options)
        if parameter.in_header is None or value == parameter.default:
            continue
        for one in value if parameter.is_repeated else [value]:
            yield parameter.flag(one)
            if not isinstance(one, bool):
                yield seen(str(one)) if parameter.in_header.is_path(str(one)) else str(one)


def _written(options: CompileOptions, target: Target) -> Iterator[str]:
    """Yield the option for the file's own name, and the target if the name doesn't determine it."""
    if options.into is not None or options.output == "-":
        yield from ("-t", target)
        return
    name = os.path.basename(options.output)
    if not (name.endswith(tuple(SUFFIXES)) and target_of(name, None) == target):
        yield from ("-t", target)
    yield from ("-o", name)


def _from(folder: str, path: str) -> str:
    """Return the path relative to the folder.  Of an absolute path outside of it, only the file name is kept, because
    it is valid on this machine only."""
    inside = os.path.relpath(path, folder or os.curdir)
    return os.path.basename(path) if os.path.isabs(path) and inside.startswith(os.pardir) else inside
