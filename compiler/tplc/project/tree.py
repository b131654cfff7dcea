"""The tree that a manifest lies in: a stranger may have made it, so nothing is written or read beyond it.

    Tree("clone").write("out/hut.py", "…")       makes clone/out, and clone/out/hut.py as a new file
    Tree("clone").write("../.profile", "…")      SourceError: ../.profile: is outside the manifest's folder
    Tree("clone").write("out/hut.py", "…")       where out, or hut.py in it, is a link: SourceError, nothing is touched

Each folder on the way is opened by its name within the one before it, and is no link; the file is a new one that takes
the old one's place.  Where the system has no such calls (Windows), the names are looked at before the file is made.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tplc.errors import SourceError
from tplc.paths import unwritable

# The files of version control belong to the user, even if the rest of the tree is a stranger's.
_KEPT_BY_OTHERS = (".git", ".hg", ".jj", ".svn")
_BY_FOLDER = {os.open, os.mkdir, os.stat, os.rename, os.unlink} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LINK = "is a link: tplc only writes regular files of this folder"


class Tree:
    """`folder` is trusted to be what the user means; names within are relative to it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder or "."

    def path(self, name: str) -> str:
        """Return the path for messages and for reading."""
        return os.path.normpath(os.path.join(self._folder, name))

    def check_name(self, name: str) -> None:
        """Raises SourceError for what is not in the tree, going by its name."""
        self._parts(name)

    def write(self, name: str, text: str) -> None:
        """Write the file atomically; an existing file is replaced and keeps its mode."""
        self.write_bytes(name, text.encode("utf-8"))

    def write_bytes(self, name: str, data: bytes) -> None:
        *folders, file = self._parts(name)
        try:
            with self._opened(folders, make=True) as place:
                place.replace(file, data)
        except OSError as error:
            raise unwritable(self.path(name), error) from error

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        *folders, file = self._parts(name)
        try:
            with self._opened(folders, make=False) as place:
                place.remove(file)
        except OSError as error:
            raise SourceError(self.path(name), f"cannot be removed: {error.strerror}") from error

    def read(self, name: str, most_bytes: int) -> bytes | None:
        """Return the bytes of a regular file, reached without links; None if there is none, or if it is larger."""
        *folders, file = self._parts(name)
        try:
            with self._opened(folders, make=False) as place:
                return place.read(file, most_bytes)
        except (OSError, SourceError):
            return None

    def is_taken(self, name: str) -> bool:
        """Return whether a file of this name exists and may be replaced. Raises SourceError for one that must not
        be."""
        *folders, file = self._parts(name)
        try:
            with self._opened(folders, make=False) as place:
                return place.mode_of(file) is not None
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unwritable(self.path(name), error) from error

    def check_input(self, name: str) -> None:
        """Raises SourceError for a file that is outside, or a link to one, or no file (a pipe would be waited for)."""
        self._parts(name)
        path = self.path(name)
        real, root = os.path.realpath(path), os.path.realpath(self._folder)
        if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
            raise SourceError(path, "is a link to what is outside the manifest's folder")
        if os.path.exists(path) and not os.path.isfile(path):
            raise SourceError(path, "is a directory" if os.path.isdir(path) else "is not a regular file")

    def _parts(self, name: str) -> list[str]:
        within = os.path.normpath(name)
        root = os.path.join(os.path.abspath(self._folder), "")
        if os.path.isabs(within) and within.startswith(root):
            within = within[len(root) :]
        parts = within.split(os.sep)
        if parts[0] == os.pardir or os.path.isabs(within) or os.path.splitdrive(within)[0]:
            raise SourceError(name, "is outside the manifest's folder", "a manifest names files of its own folder")
        if "\0" in within or parts == [os.curdir]:
            raise SourceError(name, "cannot be the name of a file")
        kept = next((part for part in parts if part.lower() in _KEPT_BY_OTHERS), None)
        if kept is not None:
            raise SourceError(name, f"is in {kept}, which belongs to version control")
        return parts

    @contextmanager
    def _opened(self, folders: list[str], *, make: bool) -> Iterator[_Place]:
        place = _Place(self._folder, os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY) if _BY_FOLDER else None)
        try:
            for folder in folders:
                place.enter(folder, make=make)
            yield place
        finally:
            place.close()


class _Place:
    """One folder: opened as a descriptor if the system can, otherwise its path."""

    def __init__(self, path: str, handle: int | None) -> None:
        self._path = path
        self._handle = handle

    def enter(self, folder: str, *, make: bool) -> None:
        if make:
            with suppress(FileExistsError):
                os.mkdir(self._name(folder), dir_fd=self._handle)
        kind = os.stat(self._name(folder), dir_fd=self._handle, follow_symlinks=False)
        inside = os.path.normpath(os.path.join(self._path, folder))
        if _is_link(kind, inside):
            raise SourceError(inside, _LINK)
        if not stat.S_ISDIR(kind.st_mode):
            raise SourceError(inside, "is not a folder")
        if self._handle is not None:
            # One that became a link just now is not opened.
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=self._handle)
            os.close(self._handle)
            self._handle = handle
        self._path = inside

    def mode_of(self, file: str) -> int | None:
        """Return the mode of the file that may be replaced; None if there is none."""
        try:
            kind = os.stat(self._name(file), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        path = os.path.normpath(os.path.join(self._path, file))
        if _is_link(kind, path):
            raise SourceError(path, _LINK)
        if stat.S_ISDIR(kind.st_mode):
            raise SourceError(path, "is a directory", "name a file to write")
        if not stat.S_ISREG(kind.st_mode):
            raise SourceError(
                path, "is not a regular file: name one on the command line (tplc compile -o) to write to it"
            )
        return stat.S_IMODE(kind.st_mode) & 0o777

    def replace(self, file: str, data: bytes) -> None:
        temporary = f".{file[:100]}.{secrets.token_hex(8)}"
        try:
            self._make(temporary, data, self.mode_of(file))
            self._rename(temporary, file)
        except BaseException:
            self.remove(temporary)
            raise

    def _make(self, file: str, data: bytes, mode: int | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
        handle = os.open(self._name(file), flags, 0o666 if mode is None else mode, dir_fd=self._handle)
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(opened.fileno(), mode)

    def read(self, file: str, most_bytes: int) -> bytes | None:
        if self.mode_of(file) is None:
            return None
        # A pipe in the file's place just now is not waited for.
        flags = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(self._name(file), flags, dir_fd=self._handle), "rb") as opened:
            data = opened.read(most_bytes + 1)
        return data if len(data) <= most_bytes else None

    def _rename(self, file: str, to: str) -> None:
        if self._handle is None:
            os.replace(self._name(file), self._name(to))
        else:
            os.rename(file, to, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def remove(self, file: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._name(file), dir_fd=self._handle)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def _name(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self._path, name)


def _is_link(kind: os.stat_result, path: str) -> bool:
    """Return whether it is a link, or a junction of Windows."""
    junction = getattr(kind, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
    return stat.S_ISLNK(kind.st_mode) or junction
