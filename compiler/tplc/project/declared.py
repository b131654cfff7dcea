"""Read the user's declarations of how outputs differ from a template: tolerance files, and the catalogues to use.

read_declared(["t.json"], ["variants"], shipped=True)
→   Declared(tolerances=(…), places=("t.json: tolerances[0]", …), catalogue=(entries that ship, those of the folder))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tplc.catalogue import Entry, load_folder
from tplc.catalogue import shipped as shipped_entries
from tplc.errors import SourceError, ToleranceError
from tplc.ir.nodes import Tolerance
from tplc.paths import input_name
from tplc.project.files import read_tolerances


@dataclass(frozen=True, slots=True)
class Declared:
    """`places` are those of the tolerances, for messages."""

    tolerances: tuple[Tolerance, ...] = ()
    places: tuple[str, ...] = ()
    catalogue: tuple[Entry, ...] = ()


def read_declared(files: Sequence[str], folders: Sequence[str], *, shipped: bool) -> Declared:
    tolerances, places = [], []
    for path in files:
        found = read_tolerances(path)
        tolerances += found
        name = input_name(path)
        places += [f"{name}: tolerances[{index}]" for index in range(len(found))]
    own = [entry for folder in folders for entry in load_folder(folder)]
    return Declared(tuple(tolerances), tuple(places), (*(shipped_entries() if shipped else ()), *own))


@contextmanager
def telling_places(declared: Declared) -> Iterator[None]:
    """Add the tolerance file's name to errors about tolerances without effect."""
    try:
        yield
    except ToleranceError as error:
        other = "" if error.other is None else f" {declared.places[error.other]}"
        raise SourceError(f"{declared.places[error.index]}.{error.member}", error.problem + other) from error
