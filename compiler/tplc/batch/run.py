"""All rows of a file or a folder through an engine into files that are whole.

rows/ → parsed/: parsed/a.parquet, parsed/b.parquet; a second run with `resume` does those that are not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tplc.batch.engines import Engine
from tplc.batch.files import SUFFIXES, RowFile, existing, make_folder, part_files, sweep
from tplc.batch.parts import PartFile
from tplc.batch.rows import RowParser
from tplc.batch.summary import Summary
from tplc.errors import UsageError


@dataclass(frozen=True, slots=True)
class Job:
    read: RowParser
    engine: Engine
    parts: tuple[PartFile, ...]

    @property
    def rows(self) -> int | None:
        """Return the number of rows if all files contain it; otherwise None."""
        counts = [file.rows() for part in self.parts for file in part.inputs]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def run(self, progress: Callable[[int], None] = lambda rows: None) -> Summary:
        outputs = [part.output for part in self.parts]
        summary = Summary.of(self.read)
        sweep(outputs)
        try:
            for one in self.engine.summaries(self.read, self.parts, progress):
                summary.merge(one)
        except BaseException:
            self.engine.stop()
            raise
        finally:
            sweep(outputs)
        return summary


def plan(read: RowParser, engine: Engine, rows: str, output: str, *, force: bool, resume: bool, shown: str = "") -> Job:
    """Return the work to do; raise an error first if files would be overwritten.  `shown`: the name of `rows` in
    messages."""
    files = [replace(file, shown=shown) for file in part_files(rows)]
    parts = tuple(_parts(files, rows, output))
    _check_apart(parts, rows, output)
    root = output.rpartition("/")[0] if output.endswith(SUFFIXES) else output.rstrip("/")
    taken = existing([part.output for part in parts], root)
    there = [part for part in parts if part.output in taken]
    if there and not (force or resume):
        raise is_there(there[0].output, len(there) - 1)
    left = tuple(part for part in parts if part not in there) if resume and not force else parts
    for part in left:
        for file in part.inputs:
            file.check(read.columns, ids=read.tokenizer is not None)
    for folder in sorted({part.output.rpartition("/")[0] for part in left}):
        make_folder(folder)
    return Job(read, engine, left)


def is_there(output: str, others: int = 0) -> UsageError:
    more = f" (and {others} more)" if others else ""
    return UsageError(f"{output} already exists{more}: --resume skips complete files, --force overwrites them")


def _check_apart(parts: Sequence[PartFile], rows: str, output: str) -> None:
    """Raise an error if an input would be written, or if two parts would write one file."""
    is_folder = any(file.path != rows for part in parts for file in part.inputs)
    if is_folder and f"{_real(output)}/".startswith(f"{_real(rows)}/"):
        raise UsageError(f"{output} is in {rows}, which is read: a second run would read it as well: write elsewhere")
    read = {_real(file.path) for part in parts for file in part.inputs}
    written: dict[str, PartFile] = {}
    for part in parts:
        place = _real(part.output)
        if place in read:
            raise UsageError(f"{part.output}: is also read; name another file to write")
        other = written.setdefault(place, part)
        if other is not part:
            both = " and ".join(sorted(one.inputs[0].place for one in (other, part)))
            raise UsageError(f"{both} would both be written to {part.output}: rename one, or write one file")


def _real(path: str) -> str:
    path = path.removeprefix("file://")
    return path.rstrip("/") if "://" in path else os.path.realpath(path)


def _parts(files: list[RowFile], rows: str, output: str) -> Iterator[PartFile]:
    if output.endswith(SUFFIXES):
        yield PartFile(tuple(files), output)
        return
    base = rows.rstrip("/") + "/"
    for file in files:
        inside = file.stem.removeprefix(base) if file.path != rows else file.stem.rpartition("/")[2]
        yield PartFile((file,), f"{output.rstrip('/')}/{inside}.parquet")
