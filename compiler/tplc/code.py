"""Compile the text of a parser, once for the check of what it does and for running it."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType


def code_of(text: str, name: str = "parser.py") -> CodeType:
    """Return the code of a file; raise SyntaxError or ValueError if it isn't Python."""
    return _code(text, name)  # with the default: for the cache, a call without it is another one


@lru_cache(maxsize=64)
def _code(text: str, name: str) -> CodeType:
    return compile(text, name, "exec", dont_inherit=True)
