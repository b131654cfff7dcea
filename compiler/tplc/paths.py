"""Say what is wrong with a path that a user named, and what to do about it.

"hat.jinja"  →  hat.jinja: there is no such file
                    did you mean hut.jinja?
"""

from __future__ import annotations

import os
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from tplc.errors import SourceError

NO_NAME = "this cannot be the name of a file"
_MOST_NEAR, _ALIKE = 20, 0.5
_MOST_LISTED = 5


def missing(path: str, what: str = "file") -> SourceError:
    """Return the error for a path at which nothing is."""
    if not is_name(path):
        return SourceError(path, NO_NAME)
    return SourceError(path, f"there is no such {what}", next_step(path))


def unreadable(path: str, error: OSError) -> SourceError:
    """Return the error for a file that the system doesn't read."""
    if isinstance(error, FileNotFoundError):
        return missing(path)
    if isinstance(error, IsADirectoryError):
        return SourceError(path, "is a directory", "name a file in it")
    if isinstance(error, PermissionError):
        return SourceError(path, "may not be read", "check its permissions")
    return SourceError(path, f"cannot be read: {error.strerror or error}")


def next_step(path: str) -> str:
    """Return what helps to find the file: a similar name, the folder that is missing, or what its folder contains."""
    wanted = Path(path)
    near = nearest(wanted)
    if near is not None:
        return f"did you mean {near}?"
    absent = [folder for folder in wanted.parents if not os.path.isdir(folder)]
    if absent:
        return f"the folder {absent[-1]} does not exist"
    return _listed(wanted)


def is_name(path: str) -> bool:
    """Return whether a file could have this name."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def nearest(path: Path) -> Path | None:
    """Return the existing path whose name is most similar; each of its folders may be misspelt."""
    folder = path.parent if os.path.isdir(path.parent) else nearest(path.parent)
    if folder is None or not os.path.isdir(folder):
        return None
    if folder != path.parent and os.path.exists(folder / path.name):
        return folder / path.name
    near = get_close_matches(path.name, _entries(folder), n=_MOST_NEAR)
    # A suffix that many files have makes none of them alike.
    return next((folder / name for name in near if _stems_alike(path.name, name)), None)


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []


def _stems_alike(name: str, other: str) -> bool:
    return SequenceMatcher(None, Path(name).stem, Path(other).stem).ratio() > _ALIKE


def _listed(path: Path) -> str:
    """Return what the folder contains: files of the same kind, or anything if the path has no suffix."""
    folder = "this folder" if path.parent == Path() else str(path.parent)
    found = [name for name in _entries(path.parent) if not path.suffix or Path(name).suffix == path.suffix]
    if not found:
        return f"{folder} has no *{path.suffix}" if path.suffix else f"{folder} is empty"
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return f"{folder} has {', '.join(found[:_MOST_LISTED])}{more}"
