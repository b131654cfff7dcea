r"""Halves of surrogate pairs, which no column of text can hold, become their escapes.

"\ud800" in the JSON of arguments, or of a row, means what it meant.
"""

from __future__ import annotations

from typing import Any


def encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {encodable(name): encodable(entry) for name, entry in value.items()}
    return [encodable(entry) for entry in value] if isinstance(value, list) else value
