"""Markers that prose and code hold as well.

only_punctuation("\\n>>")  →  True        only_punctuation("(~why")  →  False

Where such a marker counts has to be said more narrowly than for others: `x >> 2` closes nothing.
"""

from __future__ import annotations

import string

_SIGNS = frozenset(string.punctuation + string.whitespace)


def only_punctuation(marker: str) -> bool:
    """Whether a marker is made of nothing but signs of ASCII (and white space)."""
    return bool(marker.strip()) and _SIGNS.issuperset(marker)
