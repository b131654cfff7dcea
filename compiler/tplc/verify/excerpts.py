"""Texts and values as reports quote them: a long one without its middle."""

from __future__ import annotations

import json

_LONGEST_TEXT = 400


def excerpt(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT // 2] + " … " + text[-_LONGEST_TEXT // 2 :]


def quoted(value: object) -> str:
    """Return an excerpt of the value as JSON."""
    return excerpt(json.dumps(value, ensure_ascii=False))
