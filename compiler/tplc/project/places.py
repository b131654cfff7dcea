"""Find the line of a key in a TOML file, which the TOML reader doesn't report.

place_of("tplc.toml", ["models", "hut", "output"])  →  "tplc.toml:3:1"
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from tplc.errors import FilePlace
from tplc.project.files import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def place_of(path: str, keys: Sequence[str]) -> str | FilePlace:
    """Return the file with line and column of the key, or of the nearest key around it that has a line of its own."""
    text = read_text(path)
    for end in range(len(keys), 0, -1):
        found = _find(text, keys[:end])
        if found is not None:
            return FilePlace(path, *found)
    return path


def _find(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    header = ""
    for number, line in enumerate(text.splitlines(), 1):
        is_header = line.lstrip().startswith("[")
        header = line if is_header else header
        # A line by itself, under its header; its value may continue in the next one.
        entry = "" if is_header else line.partition("=")[0] + "= 0"
        try:
            table: Any = tomllib.loads(f"{header}\n{entry}" if entry.strip() != "= 0" else header)
            for key in keys[:-1]:
                table = table[key]
            if keys[-1] in table:
                return number, _column(line, keys[-1])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return None


def _column(line: str, key: str) -> int:
    """Return the last column in which the key occurs in the line: `[models.models]` has two."""
    names = line if line.lstrip().startswith("[") else line.partition("=")[0]
    spelt = (f'"{key}"', f"'{key}'", json.dumps(key))
    found = [names.rfind(name) for name in spelt]
    if key:
        found += [match.start() for match in re.finditer(rf"(?<![\w'\"-]){re.escape(key)}(?![\w'\"-])", names)]
    return (max(found) if max(found) >= 0 else len(line) - len(line.lstrip())) + 1
