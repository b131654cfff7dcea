"""Keep a key of this user outside of every project: notes signed with it were written by this user.

    ~/.cache/tplc/key, or under $XDG_CACHE_HOME: 32 random bytes that the user alone may read

It only protects the time that notes save: a user who can't keep a key makes everything again.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

_LENGTH = 32


def own_key() -> bytes | None:
    """Return the user's key, created at its first use; None if it can't be saved or read."""
    path = _path()
    if path is None:
        return None
    key = _read(path)
    if key is None:
        _make(path)
        key = _read(path)  # another process may have been first
    return key


def _path() -> str | None:
    named = os.environ.get("XDG_CACHE_HOME", "")
    folder = named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(folder, "tplc", "key") if os.path.isabs(folder) else None


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            key = file.read(_LENGTH + 1)
    except OSError:
        return None
    return key if len(key) == _LENGTH else None


def _make(path: str) -> None:
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        # Whole or not at all.
        fresh = f"{path}.{os.getpid()}"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        os.replace(fresh, path)
