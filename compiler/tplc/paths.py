"""Say what is wrong with a path that a user named, and what to do about it.

"hat.jinja"  →  hat.jinja: there is no such file
                    did you mean hut.jinja?
"""

from __future__ import annotations

import os
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from tplc.errors import SourceError

STANDARD_INPUT = "standard input"
NO_NAME = "this cannot be the name of a file"
_MOST_NEAR, _ALIKE, _SUFFIX_ALIKE = 20, 0.5, 0.7
_MOST_LISTED = 5


def input_name(path: str) -> str:
    """Return how messages name an input: `-` is standard input."""
    return STANDARD_INPUT if path == "-" else path


def missing(path: str, what: str = "file") -> SourceError:
    """Return the error for a path at which nothing is."""
    if not is_name(path):
        return SourceError(path, NO_NAME)
    return hidden(path) or SourceError(path, f"there is no such {what}", next_step(path))


def hidden(path: str) -> SourceError | None:
    """Return the error for a path inside a folder that may not be entered: whether it exists is unknown."""
    folder = next((folder for folder in Path(path).parents if os.path.isdir(folder)), None)
    return None if folder is None or os.access(folder, os.X_OK) else unreadable(path, PermissionError())


def unreadable(path: str, error: OSError) -> SourceError:
    """Return the error for a file that the system doesn't read."""
    if isinstance(error, FileNotFoundError):
        return missing(path)
    if isinstance(error, IsADirectoryError):
        return SourceError(path, "is a directory", "name a file in it")
    if isinstance(error, PermissionError):
        return SourceError(path, "may not be read", "check its permissions, and those of its folder")
    return SourceError(path, f"cannot be read: {error.strerror or error}")


def check_folder(folder: str | Path, shown: str = "") -> None:
    """Raise SourceError if the folder's files can't be listed and read."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise unreadable(shown or str(folder), PermissionError())


def unwritable(path: str, error: OSError) -> SourceError:
    """Return the error for a file or folder that the system doesn't write."""
    hint = "check the permissions of its folder" if isinstance(error, PermissionError) else ""
    return SourceError(path, f"cannot be written: {error.strerror or error}", hint)


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
    return next((folder / name for name in near if _are_alike(path, Path(name))), None)


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []


def _are_alike(path: Path, other: Path) -> bool:
    """Return whether one name may be meant by the other; a suffix that many files have makes none of them alike."""
    if path.stem == other.stem:
        return True
    of_one_kind = not (path.suffix and other.suffix) or _ratio(path.suffix, other.suffix) > _SUFFIX_ALIKE
    return of_one_kind and _ratio(path.stem, other.stem) > _ALIKE


def _ratio(text: str, other: str) -> float:
    return SequenceMatcher(None, text, other).ratio()


def _listed(path: Path) -> str:
    """Return what the folder contains: files of the same kind, or anything if the path has no suffix."""
    folder = "this folder" if path.parent == Path() else str(path.parent)
    found = [name for name in _entries(path.parent) if not path.suffix or Path(name).suffix == path.suffix]
    if not found:
        return f"{folder} has no *{path.suffix}" if path.suffix else f"{folder} is empty"
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return f"{folder} has {', '.join(found[:_MOST_LISTED])}{more}"
