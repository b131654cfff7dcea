"""Read a file that should be text, and say what it is when it is not.

b"GIF89a\\x00…"  →  picture.jinja: this is not text: there is a NUL at byte 6
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from tplc.errors import SourceError
from tplc.paths import unreadable

# Many times the largest that is known; what is larger is something else.
TEMPLATE_BYTES = 4 << 20
CONFIG_BYTES = 256 << 20


def read_text(path: Path, origin: str, most_bytes: int) -> str:
    try:
        with path.open("rb") as file:
            return decode(read_bytes(file, origin, most_bytes), origin)
    except OSError as error:
        raise unreadable(origin, error) from error


def read_bytes(file: BinaryIO, origin: str, most_bytes: int) -> bytes:
    data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise SourceError(origin, f"this is larger than {most_bytes >> 20} MB, too large for a template")
    return data


def decode(data: bytes, origin: str) -> str:
    nul = data.find(b"\0")
    if nul >= 0:
        raise SourceError(origin, f"this is not text: there is a NUL at byte {nul}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"this is not UTF-8 text: byte 0x{data[error.start]:02x} at {error.start}"
        raise SourceError(origin, problem, "save it as UTF-8") from error


def check_template(text: str, origin: str) -> str:
    if not text.strip():
        raise SourceError(origin, "the template is empty")
    surrogate = next((at for at, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
    if surrogate is not None:
        raise SourceError(
            origin, f"the template is not text: it contains half a character (a surrogate) at {surrogate}"
        )
    # As Jinja reads it: templates that differ only in their line ends are one template, with one hash.
    return text.replace("\r\n", "\n").replace("\r", "\n")
