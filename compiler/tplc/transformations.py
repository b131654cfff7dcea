"""What templates do to a text: the transformation that turns it into what a render holds.

`a < b`, in a render with `a &lt; b`  →  "escapes HTML", `a &lt; b`
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from urllib.parse import quote

from tplc.ir.printed import quoted

_LEAST = 4  # characters of a text by which its beginning is recognised
_LONGEST = 8  # characters of what a template writes for one
_ESCAPED_WITH_NUMBERS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})


def _indented(size: int, text: str) -> str:
    return text.replace("\n", "\n" + " " * size)


def _indented_if_not_blank(size: int, text: str) -> str:
    first, *lines = text.split("\n")
    return "\n".join([first, *(" " * size + line if line else "" for line in lines)])


_TRANSFORMATIONS: Mapping[str, Callable[[str], str]] = {
    "escapes HTML": lambda text: text.translate(_ESCAPED_WITH_NUMBERS),
    "escapes HTML with named quotes": html.escape,
    "escapes HTML twice": lambda text: text.translate(_ESCAPED_WITH_NUMBERS).translate(_ESCAPED_WITH_NUMBERS),
    "percent-encodes": quote,
    "writes capital letters": str.upper,
    "writes small letters": str.lower,
    "writes words with capital letters": str.title,
    "writes the first letter as a capital": str.capitalize,
    "reverses the text": lambda text: text[::-1],
    "leaves out white space at the ends": str.strip,
    "writes JSON strings": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "writes JSON strings in ASCII": lambda text: json.dumps(text)[1:-1],
    "writes JSON strings twice": lambda text: json.dumps(json.dumps(text, ensure_ascii=False)[1:-1])[1:-1],
    "writes line breaks as spaces": lambda text: text.replace("\n", " "),
    "writes all white space as one space": lambda text: " ".join(text.split()),
    "writes spaces as underscores": lambda text: text.replace(" ", "_"),
    "leaves out double quotes": lambda text: text.replace('"', ""),
    "writes double quotes as &quot;": lambda text: text.replace('"', "&quot;"),
    "writes double quotes as &quot; after backslashes": lambda text: text.replace('"', "\\&quot;"),
    "writes backslashes before double quotes alone": lambda text: text.replace('"', '\\"'),
    "writes single quotes twice": lambda text: text.replace("'", "''"),
    "writes double quotes twice": lambda text: text.replace('"', '""'),
    "writes backslashes before single quotes": lambda text: text.replace('"', "'").replace("'", "\\'"),
    **{f"indents by {size}": partial(_indented, size) for size in (1, 2, 3, 4, 6, 8)},
    **{f"indents by {size} all but empty lines": partial(_indented_if_not_blank, size) for size in (1, 2, 3, 4, 6, 8)},
}


def transformations(text: str, render: str) -> Iterator[tuple[str, str]]:
    """Yield the names of transformations of the text that are in a render without the text itself, with what is written
    there."""
    if text in render:
        return
    for name, change in _TRANSFORMATIONS.items():
        written = change(text)
        if written.strip() and written != text and written in render:
            yield name, written
    for char, written, changed in _replaced(text, render):
        yield f"writes {quoted(char)} as {quoted(written)}", changed
    if text[-_LEAST:] in render:
        return
    for size in range(len(text) - 1, _LEAST - 1, -1):
        _, found, after = render.partition(text[:size])
        if found:
            if not after[:1].isalnum():  # else the text continues in another way
                yield "writes only the beginning", found
            return


def is_contradicted(name: str, text: str, render: str) -> bool:
    """Return whether a render lacks what a transformation makes of a text."""
    change = _TRANSFORMATIONS.get(name)
    return change is not None and change(text) not in render


def _replaced(text: str, render: str) -> Iterator[tuple[str, str, str]]:
    """Yield a character of the text, neither a letter nor a digit, that the render has another text for in all places,
    with that and what the text has become."""
    if len(text) < _LEAST:
        return
    for char in dict.fromkeys(char for char in text if not char.isalnum()):
        first, *rest = map(re.escape, text.split(char))
        # Quotes and markup would be another form of what is around the text.
        found = re.search(rf"{first}(?P<written> |[^\s\"'<>]{{0,{_LONGEST}}}?){'(?P=written)'.join(rest)}", render)
        if found is not None:
            yield char, found["written"], found.group()
