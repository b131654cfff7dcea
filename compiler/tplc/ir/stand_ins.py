"""Mark the place of a special token that wasn't given.

    stand_in("eos_token")                        →  "<eos_token:not-given>"
    without_stand_ins("\\n<eos_token:not-given>")  →  "\\n"

It marks the place of the token, which isn't known yet; no model writes it.
"""

from __future__ import annotations

import re

_STAND_IN = re.compile(r"<(\w+):not-given>")


def stand_in(name: str) -> str:
    return f"<{name}:not-given>"


def names_stood_for(text: str) -> tuple[str, ...]:
    """Return the names of the tokens whose stand-ins occur in a text."""
    return tuple(dict.fromkeys(_STAND_IN.findall(text)))


def without_stand_ins(text: str) -> str:
    return _STAND_IN.sub("", text)
