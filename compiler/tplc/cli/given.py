"""Find the files among the arguments of a command: those that it reads and those that it writes.

tplc explain hut.jinja --html page.html  →  reads hut.jinja, writes page.html
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tplc.errors import UsageError
from tplc.overwriting import check_not_input, protect

# Parameters, by their names in the functions of commands.
OUTPUTS = ("output", "html", "junit", "depfile")
AMENDED = ("into",)
_PATHS = ("FILE", "PATH", "DIR", "NAME=TEXT")
_KINDS = {"source": "the source", "tools": "the file of tools", "json_schema": "the schema"}


def check_outputs(parameters: Sequence[Any], given: Mapping[str, Any]) -> None:
    """Raise UsageError if a file to write is also a file to read, or is named by two options."""
    for parameter in parameters:
        if is_input(parameter):
            protect(_texts(given.get(parameter.name)), _KINDS.get(parameter.name, "also read"))
    written: dict[str, str] = {}
    for parameter in parameters:
        for path in _texts(given.get(parameter.name)) if parameter.name in OUTPUTS else ():
            check_not_input(path)
            option = parameter.opts[-1]
            other = written.setdefault(os.path.realpath(path), option)
            if other != option:
                raise UsageError(f"{path}: is the file of both {other} and {option}; name another file for one of them")


def is_input(parameter: Any) -> bool:
    """Return whether the values of an argument or an option may be files that the command reads."""
    if parameter.name in (*OUTPUTS, *AMENDED):
        return False
    return parameter.param_type_name == "argument" or parameter.metavar in _PATHS


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts that were given, except `-` and what can't be a path."""
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(text, str) and text != "-" and "\0" not in text:
            yield text
