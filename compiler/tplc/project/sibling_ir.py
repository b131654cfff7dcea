"""The format of an artifact, from the IR that was written next to it.

parsers/hut.py, made from the template with SHA-256 9f2c…  →  parsers/hut.json, made from the same one
"""

from __future__ import annotations

from pathlib import Path

from tplc import driver
from tplc.errors import SourceError, TplcError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import TemplateIR
from tplc.project.files import read_text

_MEMBERS = {"version", "provenance", "turn"}


def sibling_ir(path: str, sha256: str) -> TemplateIR | None:
    """Return the IR with this template hash from the artifact's folder: the one with the artifact's name, or any
    other."""
    artifact = Path(path)
    own = artifact.with_suffix(".json")
    for file in [own, *sorted(artifact.parent.glob("*.json"))]:
        if not is_ir(str(file)):
            continue
        try:
            ir = driver.load_ir(read_text(str(file)))
        except TplcError:
            # Of another version, or damaged: as good as none.
            continue
        if ir.provenance.sha256 == sha256:
            return ir
    return None


def is_ir(path: str) -> bool:
    """Return whether a file is an IR: a JSON object with the members that every IR has."""
    if not path.endswith(".json") or not Path(path).is_file():
        return False
    try:
        data = parse_json(read_text(path))
    except (NotJson, SourceError):
        return False
    return isinstance(data, dict) and data.keys() >= _MEMBERS
