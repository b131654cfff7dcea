"""The JSON schemas that ship with tplc.

    load_schema("ir")  →  the contents of ir.schema.json

In a wheel the files stand beside this module; in a checkout they are in the `schemas/` folder at the top.
"""

from __future__ import annotations

import json
from pathlib import Path

from tplc.ir.nodes import Json

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parents[2] / "schemas"
_SUFFIX = ".schema.json"


def schema_names() -> list[str]:
    folder = _HERE if (_HERE / f"ir{_SUFFIX}").is_file() else _CHECKOUT
    return sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))


def load_schema(name: str) -> dict[str, Json]:
    installed = _HERE / f"{name}{_SUFFIX}"
    path = installed if installed.is_file() else _CHECKOUT / installed.name
    schema: dict[str, Json] = json.loads(path.read_text(encoding="utf-8"))
    return schema
