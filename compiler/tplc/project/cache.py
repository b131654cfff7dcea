"""The results of earlier runs: the inputs, and the outputs made from them or the error.

    .tplc_cache/build.json
    {"hut": {"inputs": "9f2c…", "outputs": {"hut.py": "41d0…"}, "verified": true},
     "inn": {"inputs": "03ab…", "error": "inn.jinja: …"}}

The warnings of a template are noted next to either.

It only saves time: without it everything is made again.  It is in a folder that others may write, so what was not
noted by this user is not believed: `.tplc_cache/signature` is made with a key that lies outside (`tplc.project.key`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tplc
import tplc_runtime
from tplc.errors import TplcError
from tplc.ir.hashes import sha256
from tplc.project.artifacts import MOST_BYTES
from tplc.project.key import own_key
from tplc.project.manifest import Manifest, Model
from tplc.project.tree import Tree

if TYPE_CHECKING:
    from tplc.audit.warnings import TemplateWarning

CACHE = ".tplc_cache"
_FILE = f"{CACHE}/build.json"
_SIGNATURE = f"{CACHE}/signature"
_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Known:
    """The recorded result for a model's present inputs: the hashes of its outputs by path, or the error."""

    outputs: Mapping[str, str]
    verified: bool
    error: str
    warnings: tuple[TemplateWarning, ...]

    def are_written(self, model: Model) -> bool:
        """Return whether all outputs exist as they were made."""
        return not self.error and all(
            self.outputs.get(output.path) == file_sha256(model.tree, output.path) for output in model.outputs
        )


class Cache:
    def __init__(self, manifest: Manifest) -> None:
        self._tree = Tree(os.path.dirname(manifest.path))
        self._entries = self._load()
        self._models = {model.name for model in manifest.models}

    def known(self, model: Model, inputs: str) -> Known | None:
        """Return the result recorded for these inputs; None if there is none."""
        entry = self._entries.get(model.name)
        if not isinstance(entry, Mapping) or entry.get("inputs") != inputs:
            return None
        outputs, error, warnings = entry.get("outputs", {}), entry.get("error", ""), _warnings(entry.get("warnings"))
        if not isinstance(outputs, Mapping) or not isinstance(error, str) or warnings is None:
            return None
        return Known(outputs, entry.get("verified") is True, error, warnings)

    def note_outputs(
        self, model: Model, inputs: str, texts: Sequence[str], warnings: Sequence[TemplateWarning], *, verified: bool
    ) -> None:
        outputs = {output.path: sha256(text) for output, text in zip(model.outputs, texts, strict=True)}
        self._note(model, warnings, {"inputs": inputs, "outputs": outputs, "verified": verified})

    def note_error(self, model: Model, inputs: str, error: str, warnings: Sequence[TemplateWarning]) -> None:
        self._note(model, warnings, {"inputs": inputs, "error": error})

    def _note(self, model: Model, warnings: Sequence[TemplateWarning], entry: dict[str, Any]) -> None:
        self._entries[model.name] = {**entry, "warnings": [asdict(warning) for warning in warnings]}

    def save(self) -> None:
        kept = {name: entry for name, entry in sorted(self._entries.items()) if name in self._models}
        try:
            text, key = json.dumps(kept, indent=1) + "\n", own_key()
            self._tree.write(f"{CACHE}/.gitignore", "*\n")
            self._tree.write(_FILE, text)
            if key is not None:
                self._tree.write(_SIGNATURE, _signature(key, text.encode("ascii")) + "\n")
        except TplcError:
            # A folder that may not be written to, or a link: the next run does everything again.
            return

    def _load(self) -> dict[str, Any]:
        noted, signature = self._tree.read(_FILE, _MOST_BYTES), self._tree.read(_SIGNATURE, 100)
        key = own_key() if noted and signature else None
        if key is None or not noted or not signature:
            return {}
        if not hmac.compare_digest(_signature(key, noted).encode("ascii"), signature.strip()):
            return {}
        try:
            data = json.loads(noted)
        except (ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}


def _signature(key: bytes, noted: bytes) -> str:
    return hmac.new(key, noted, hashlib.sha256).hexdigest()


def _warnings(entries: object) -> tuple[TemplateWarning, ...] | None:
    """Return the recorded warnings; None if no run of tplc wrote them."""
    if not isinstance(entries, list):
        return None
    if not entries:
        return ()
    # Only now: what knows templates takes its time to load.
    from tplc.audit.warnings import TemplateWarning

    try:
        return tuple(TemplateWarning(**entry) for entry in entries)
    except TypeError:
        return None


@cache
def tool_sha256() -> str:
    """Return the hash of tplc's own code: another tplc makes other outputs, even under the same version number."""
    folders = [Path(package.__path__[0]) for package in (tplc, tplc_runtime)]
    texts = [
        (path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted([*folder.rglob("*.py"), *folder.glob("catalogue/*.json")])
    ]
    return sha256(json.dumps(texts))


def file_sha256(tree: Tree, name: str) -> str | None:
    data = tree.read(name, MOST_BYTES)
    return None if data is None else hashlib.sha256(data).hexdigest()
