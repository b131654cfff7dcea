"""The JSON schemas that ship with tplc.

    load_schema("ir")  →  the contents of ir.schema.json

In a wheel the files are next to this module; in a checkout they are in the `schemas/` folder at the top.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tplc.ir.nodes import Json

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parents[2] / "schemas"
_SUFFIX = ".schema.json"


def schema_names() -> list[str]:
    folder = _HERE if (_HERE / f"ir{_SUFFIX}").is_file() else _CHECKOUT
    return sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))


def load_schema(name: str) -> dict[str, Json]:
    """Return the schema of a file, with the other schemas it refers to included."""
    schema = _read(name)
    others: dict[str, Json] = {}
    whole = _standing(schema, "", others)
    return {**whole, "$defs": {**others, **whole.get("$defs", {})}} if others else whole


def _read(name: str) -> dict[str, Any]:
    installed = _HERE / f"{name}{_SUFFIX}"
    path = installed if installed.is_file() else _CHECKOUT / installed.name
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def _standing(node: Any, place: str, others: dict[str, Json]) -> Any:
    """Return a part of a schema whose references to other files point to `others`.  `place`: the file that it is from,
    "" for the schema itself."""
    if isinstance(node, list):
        return [_standing(item, place, others) for item in node]
    if not isinstance(node, dict):
        return node
    named = node.get("$ref")
    if not isinstance(named, str) or (named.startswith("#") and not place):
        return {key: _standing(value, place, others) for key, value in node.items()}
    file, _, pointer = named.partition("#")
    file = file.removesuffix(_SUFFIX) or place
    key = "_".join([file, *pointer.split("/")[2:]])
    if key not in others:
        others[key] = {}  # it may name itself
        part: Any = _read(file)
        for name in pointer.split("/")[1:]:
            part = part[name]
        part = {name: value for name, value in part.items() if name not in ("$schema", "$defs")}
        others[key] = _standing(part, file, others)
    return {**node, "$ref": f"#/$defs/{key}"}
