r"""What the text of a marker says of it, for every backend alike: they must agree on it.

only_punctuation("\n>>")  →  True        only_punctuation("(~why")  →  False
is_distinctive("</call>")  →  True       is_distinctive('"name": ')  →  False
pieces_of("</a>\n</b><c>")  →  ["</a>", "</b>", "<c>"]
"""

from __future__ import annotations

import re
import string

# JSON's own signs and field names say nothing about a template: `{"name": "` could stand in any answer.
FIELD_NAME = re.compile(r"""(["'])\w*\1\s*:?""")
_LEAST_DISTINCTIVE = 3
_SIGNS = frozenset(string.punctuation + string.whitespace)


def only_punctuation(marker: str) -> bool:
    """Whether a marker is made of nothing but signs of ASCII (and white space), which prose and code hold as well.

    Where such a marker counts has to be said more narrowly than for others: `x >> 2` closes nothing.
    """
    return bool(marker.strip()) and _SIGNS.issuperset(marker)


def is_distinctive(text: str) -> bool:
    """Whether a text says by itself that it is a marker: it is like nothing in a value, so anything may follow it."""
    core = text.strip()
    plain = FIELD_NAME.sub("", core)
    return len(core) >= _LEAST_DISTINCTIVE and any(char.isalnum() or ord(char) > 127 for char in plain)


def pieces_of(text: str) -> list[str]:
    """A marker cut where pieces of it may be left out: at white space, and between `>` and `<`, `]` and `[`, …"""
    return [piece for word in text.split() for piece in re.split(r"(?<=[>\])}»])(?=[<\[({«])", word) if piece]


def parts_of(piece: str) -> list[str]:
    """A piece cut behind each closing bracket."""
    return [part for part in re.split(r"(?<=[>\])}»])", piece) if part]
