"""Identify texts by their SHA-256.

sha256("{{ messages }}")  →  "f24189f0…"
"""

from __future__ import annotations

import hashlib


def sha256(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 as 64 hexadecimal digits.  Half of a surrogate pair has one, too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
