"""Compile the text of a parser, once for the check of what it does and for running it."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=64)
def code_of(text: str, name: str) -> CodeType:
    """Return the code of a file; raise SyntaxError or ValueError if it isn't Python."""
    return compile(text, name, "exec", dont_inherit=True)
