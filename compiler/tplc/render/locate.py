"""Where in its line a template stops being Jinja.

    "{{ a b }}"  →  6

Jinja's errors contain only a line, so the source is read again to find the token at which its parser stopped.
"""

from __future__ import annotations

import re

from jinja2 import Environment
from jinja2.exceptions import TemplateSyntaxError
from jinja2.parser import Parser

_NEWLINES = re.compile(r"\r\n|\r|\n")
_OFFSET = re.compile(r" at (\d+)$")


def source_line(source: str, line: int) -> str:
    lines = _NEWLINES.split(source)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def locate(environment: Environment, source: str, error: TemplateSyntaxError) -> int | None:
    """Return the column, from 1; None if the error is not in this line."""
    text = "\n".join(_NEWLINES.split(source))
    offset = _stop(environment, text, error)
    if offset is None or text.count("\n", 0, offset) + 1 != error.lineno:
        return None
    return offset - (text.rfind("\n", 0, offset) + 1) + 1


def _stop(environment: Environment, text: str, error: TemplateSyntaxError) -> int | None:
    offset = _OFFSET.search(error.message or "")
    if offset is not None:
        return int(offset.group(1))
    try:
        offsets = _token_offsets(environment, text)
        stream = Parser(environment, text).stream
        tokens = len(list(stream))
        parser = Parser(environment, text)
    except TemplateSyntaxError:
        return None
    try:
        parser.parse()
    except TemplateSyntaxError:
        left = len(list(parser.stream))
        return offsets[tokens - left] if left and len(offsets) == tokens else None
    return None


def _token_offsets(environment: Environment, text: str) -> list[int]:
    """Return the offset of each of the parser's tokens. Jinja strips white space from the source, so each token is
    searched for."""
    offsets: list[int] = []
    position = 0
    for line, token, value in environment.lexer.tokeniter(text, None):
        found = text.find(value, position)
        if found < 0:
            return []
        position = found + len(value)
        if [*environment.lexer.wrap(iter([(line, token, value)]))]:
            offsets.append(found)
    return offsets
