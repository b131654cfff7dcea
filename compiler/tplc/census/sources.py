"""Which templates a census takes: those of a folder, or those that a list names.

models/  →  models/a/tokenizer_config.json, models/b.jinja        list.txt  →  org/model, ./b.jinja
"""

from __future__ import annotations

import os
from pathlib import Path

from tplc.errors import SourceError
from tplc.paths import check_folder
from tplc.project.files import read_text
from tplc.sources import check_name

_MODEL = "tokenizer_config.json"
_SUFFIXES = (".jinja", ".jinja2", ".gguf")


def sources_in(place: str) -> list[str]:
    """Return the sources: sorted for a folder, in the list's order without repetitions for a file with a source on each
    line. A template file is the only source of its collection."""
    path = Path(place)
    if path.is_dir():
        check_folder(path, place)
        found = sorted(_in_folder(path))
        if not found:
            raise SourceError(place, f"there are no templates in it ({', '.join(_SUFFIXES)}, {_MODEL})")
        return found
    if path.name == _MODEL or path.name.endswith(_SUFFIXES):
        check_name(place)
        return [place]
    lines = [line.split("#")[0].strip() for line in read_text(place).splitlines()]
    listed = list(dict.fromkeys(line for line in lines if line))
    if not listed:
        raise SourceError(place, "lists no templates: expected a source on each line")
    return listed


def _in_folder(folder: Path) -> list[str]:
    found = []
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if _MODEL in files:
            found.append(at)  # a model: its folder knows its special tokens as well
            files = [name for name in files if name.endswith(".gguf")]
        found += [os.path.join(at, name) for name in files if name.endswith(_SUFFIXES)]
    return found
