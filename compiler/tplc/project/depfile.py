"""Write the inputs of an output as a rule for Make and Ninja.

    "out/a b.py" from "a b.jinja", "tools.json"
    →
    out/a\\ b.py: a\\ b.jinja tools.json

    a\\ b.jinja:
    tools.json:

The rules without prerequisites let Make continue when a file that was used is no longer there: then it is made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tplc.errors import UsageError

# A backslash counts only where it is before a character that it protects.
_PROTECTED = re.compile(r"(\\*)([ \t#])")


def depfile(output: str, used: Iterable[str]) -> str:
    """Return a rule for Make that lists each file once, in the order of use."""
    target = _escaped(output)
    files = [_escaped(path) for path in dict.fromkeys(used)]
    empty = "".join(f"{path}:\n" for path in files if path != target)
    return f"{target}: {' '.join(files)}".rstrip(" ") + "\n" + (f"\n{empty}" if empty else "")


def _escaped(path: str) -> str:
    if "\n" in path or "\r" in path:
        raise UsageError(f"--depfile: {path!r}: a name with a line break cannot be written in a rule")
    return _PROTECTED.sub(r"\1\1\\\2", path).replace("$", "$$")
