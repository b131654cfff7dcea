r"""Print JSON for people and scripts, without invisible characters.

print_json({"role": "assistant"})  →  {\n  "role": "assistant"\n}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from tplc.ir.visible import shown

if TYPE_CHECKING:
    from rich.text import Text


def print_json(value: object, file: TextIO | None = None) -> None:
    """Print a value as JSON of several lines, to standard output if no file is given."""
    print(shown(json.dumps(value, ensure_ascii=False, indent=2)), file=file)


def shown_text(text: Text) -> Text:
    """Return the text without characters that control a terminal; if it has any, its styles are dropped."""
    from rich.text import Text

    plain = shown(text.plain)
    return text if plain == text.plain else Text(plain)


def one_line_json(value: object) -> str:
    return shown(json.dumps(value, ensure_ascii=False))


def diagnostics_of(stream: Any) -> list[dict[str, Any]]:
    """Return the diagnostics of a parser as data; those of a parser of tplc 0.1.0 have no code."""
    found = []
    for one in stream.diagnostics:
        code = getattr(one, "code", None)
        found.append({"offset": one.offset, "text": one.text, **({} if code is None else {"code": code})})
    return found
