"""Recorded outputs from a file: lines of JSON, a table, or one text.

{"text": "Hi.", "prompt": "…", "tools": […]}   →   Recorded("out.jsonl: line 1", "Hi.", "…", (…,))

The text may be called `output` as well.  A .txt file is one output.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tplc.errors import FilePlace, MissingPackage, SourceError, UsageError
from tplc.ir.json_text import NotJson, not_json, not_json_in, parse_json
from tplc.paths import missing, unreadable

_TEXTS = ("text", "output")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded output.  `place`: where it is, for messages.  `tools`: None if they are unknown."""

    place: str
    text: str
    prompt: str | None = None
    tools: tuple[Mapping[str, Any], ...] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the keyword arguments for the parser of this output."""
        return {"tools": list(self.tools) if self.tools is not None else None, "prompt": self.prompt}


def read_outputs(path: str, tools: tuple[Mapping[str, Any], ...] | None = None) -> tuple[Recorded, ...]:
    """Return the recorded outputs.  `tools` are for outputs that name none."""
    if path != "-" and not os.path.isfile(path):
        raise SourceError(path, "is a folder", "name a file of outputs") if os.path.isdir(path) else missing(path)
    if path.endswith(".parquet"):
        rows = list(_table(path))
    elif path.endswith((".jsonl", ".ndjson")):
        rows = list(_lines(path))
    elif path.endswith(".txt"):
        rows = [(path, {"text": _decoded(_bytes(path), path)})]
    else:
        raise UsageError(f"{path}: outputs are read from .jsonl, .parquet and .txt")
    if not rows:
        raise SourceError(path, "holds no outputs", 'expected lines such as {"text": "…"}')
    return tuple(_recorded(row, place, tools) for place, row in rows)


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise unreadable(path, error) from error


def _decoded(text: bytes, place: str | FilePlace) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(place, "is not UTF-8 text", "save it as UTF-8") from error


def _lines(path: str) -> Iterator[tuple[str | FilePlace, Any]]:
    for number, line in enumerate(_bytes(path).split(b"\n"), 1):
        if line.strip():
            place = FilePlace(path, number)
            try:
                yield place, parse_json(_decoded(line, place))
            except NotJson as error:
                raise not_json_in(path, error, line=number) from error


def _table(path: str) -> Iterator[tuple[str | FilePlace, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingPackage(f"{path}: Parquet", "batch", "use .jsonl") from error
    try:
        rows = parquet.read_table(path).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise SourceError(path, f"cannot be read: {str(error).splitlines()[0]}") from error
    return ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))


def _recorded(row: Any, place: str | FilePlace, tools: tuple[Mapping[str, Any], ...] | None) -> Recorded:
    if not isinstance(row, Mapping):
        raise SourceError(place, 'expected an object such as {"text": "…"}')
    text = next((row[name] for name in _TEXTS if row.get(name) is not None), None)
    if not isinstance(text, str):
        raise SourceError(place, f"has no output: expected a text in {' or '.join(_TEXTS)}")
    prompt, listed = row.get("prompt"), row.get("tools")
    if prompt is not None and not isinstance(prompt, str):
        raise SourceError(place, "prompt: expected the text of the prompt")
    if isinstance(listed, str):  # as tables have it
        try:
            listed = parse_json(listed)
        except NotJson as error:
            raise SourceError(place, f"tools: {not_json(error)}") from error
    if listed is not None and not (isinstance(listed, list) and all(isinstance(tool, dict) for tool in listed)):
        raise SourceError(place, "tools: expected a list of tools")
    return Recorded(str(place), text, prompt, tuple(listed) if listed is not None else tools)
