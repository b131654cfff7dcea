"""Where entries come from: those that ship with tplc, and folders of the user's own.

load_folder("variants")   →   (Entry("late-openers", …), …), one for each variants/*.json, by name
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tplc.catalogue.entries import Entry, read_entry, validated
from tplc.errors import SourceError
from tplc.ir.json_text import NotJson, not_json_in, parse_json
from tplc.paths import check_folder, missing, unreadable

_SHIPPED = Path(__file__).resolve().parent


@cache
def shipped() -> tuple[Entry, ...]:
    """Return the shipped entries without validating them: tests do that, because loading the schema takes time."""
    return tuple(read_entry(_read(path, path.name), path.stem, path.name) for path in sorted(_SHIPPED.glob("*.json")))


def load_folder(folder: str) -> tuple[Entry, ...]:
    if not Path(folder).is_dir():
        if not Path(folder).exists():
            raise missing(folder, "folder")
        raise SourceError(folder, "is not a folder: a catalogue is one with an entry in each *.json")
    check_folder(folder)
    files = files_in(folder)
    if not files:
        raise SourceError(folder, "contains no *.json: a catalogue is a folder with an entry in each")
    return tuple(read_entry(validated(_read(Path(file), file), file), Path(file).stem, file) for file in files)


def files_in(folder: str) -> list[str]:
    return [f"{folder.rstrip('/')}/{path.name}" for path in sorted(Path(folder).glob("*.json"))]


def _read(path: Path, shown: str) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8-sig"))
    except NotJson as error:
        raise not_json_in(shown, error) from error
    except OSError as error:
        raise unreadable(shown, error) from error
    except UnicodeDecodeError as error:
        raise SourceError(shown, f"cannot be read: {error}") from error
