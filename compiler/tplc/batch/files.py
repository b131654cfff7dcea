"""Files of rows: read in tables of so many rows, written whole or not at all.

part_files("rows/")  →  rows/a.parquet, rows/b.jsonl        Written("out.parquet").add(table) … done()
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tplc.errors import SourceError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".parquet", ".jsonl", ".ndjson")
# A line of JSON has to fit a block that is read: outputs of some megabytes are rare, and are there.
BLOCK = 64 << 20
HALF = ".half"


# A group of rows is read as a whole by each worker that has a piece of it.
MOST_PIECES = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows from `start` up to `stop` of a group."""

    group: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file on this machine, or at an address that pyarrow's file systems know (s3://, gs://, hdfs://)."""

    path: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path.replace("\\", "/")).name

    @property
    def is_json(self) -> bool:
        return not self.path.endswith(".parquet")

    def rows(self) -> int | None:
        """How many, where the file says it."""
        if self.is_json:
            return None
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.path):
            return int(parquet.read_metadata(path, filesystem=system).num_rows)

    def schema(self) -> pa.Schema:
        with _reading(self.path):
            return self._batches(1)[0]

    def tables(self, size: int) -> Iterator[pa.Table]:
        """The rows in order, at most `size` at once; a table without rows for a file without."""
        import pyarrow as pa

        with _reading(self.path):
            schema, batches = self._batches(size)
            empty = True
            for batch in batches:
                empty = False
                for start in range(0, max(batch.num_rows, 1), size):
                    yield pa.Table.from_batches([batch.slice(start, size)])
            if empty:
                yield schema.empty_table()

    def pieces(self, size: int) -> list[Piece]:
        """Of a Parquet file: what workers read on their own, of about `size` rows.

        A group of many rows is cut in a few pieces only, as each of them has to read all of it.
        """
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.path):
            found = parquet.read_metadata(path, filesystem=system)
        cut = []
        for group in range(found.num_row_groups):
            rows = found.row_group(group).num_rows
            step = max(size, -(-rows // MOST_PIECES))
            cut += [Piece(group, start, min(start + step, rows)) for start in range(0, rows, step)]
        return cut

    def piece(self, piece: Piece, size: int) -> Iterator[pa.Table]:
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.path):
            rows = parquet.ParquetFile(path, filesystem=system).read_row_group(piece.group)
            for start in range(piece.start, piece.stop, size):
                yield rows.slice(start, min(size, piece.stop - start))

    def _batches(self, size: int) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        system, path = located(self.path)
        if self.is_json:
            import pyarrow.json as arrow_json

            options = arrow_json.ReadOptions(use_threads=False, block_size=BLOCK)
            lines = arrow_json.open_json(system.open_input_stream(path), read_options=options)
            return lines.schema, lines
        import pyarrow.parquet as parquet

        file = parquet.ParquetFile(path, filesystem=system)
        return file.schema_arrow, file.iter_batches(batch_size=size)


def part_files(path: str) -> list[RowFile]:
    """The file, or all files of rows in the folder, sorted."""
    import pyarrow.fs as arrow_fs

    system, inside = located(path)
    with _reading(path):
        info = system.get_file_info(inside)
        if info.type == arrow_fs.FileType.NotFound:
            raise SourceError(path, "there is no such file")
        if info.type != arrow_fs.FileType.Directory:
            if not path.endswith(SUFFIXES):
                raise UsageError(f"{path}: rows are read from {', '.join(SUFFIXES)}, or from a folder of such files")
            return [RowFile(path)]
        found = system.get_file_info(arrow_fs.FileSelector(inside, recursive=True))
    names = sorted(item.path for item in found if item.is_file and item.path.endswith(SUFFIXES))
    if not names:
        raise SourceError(path, f"there are no files of rows ({', '.join(SUFFIXES)}) in it")
    scheme = path.partition("://")[0] + "://" if "://" in path else ""
    return [RowFile(scheme + name) for name in names]


def located(path: str) -> tuple[Any, str]:
    """The file system and the path in it."""
    import pyarrow as pa
    import pyarrow.fs as arrow_fs

    if "://" not in path:
        return arrow_fs.LocalFileSystem(), path
    try:
        system, inside = arrow_fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from error
    return system, inside


class Written:
    """A file that is there when all of it is: until then the rows stand in one with a name of its own beside it.

    That name begins with a dot: those who read whole folders leave such files out.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._system, self._inside = located(path)
        folder, slash, name = self._inside.rpartition("/")
        self._half = f"{folder}{slash}.{name}.{uuid.uuid4().hex[:8]}{HALF}"
        self._writer: Any = None

    def __enter__(self) -> Written:
        return self

    def add(self, table: pa.Table) -> None:
        with _writing(self.path):
            if self.path.endswith(".parquet"):
                self._add_rows(table)
            else:
                self._add_lines(table)

    def _add_rows(self, table: pa.Table) -> None:
        import pyarrow.parquet as parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._half, table.schema, filesystem=self._system)
        self._writer.write_table(table)

    def _add_lines(self, table: pa.Table) -> None:
        if self._writer is None:
            self._writer = self._system.open_output_stream(self._half)
        lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in table.to_pylist())
        self._writer.write("".join(lines).encode("utf-8", "backslashreplace"))

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._writer is None:
            return
        with _writing(self.path):
            self._writer.close()
            if kind is None:
                self._system.move(self._half, self._inside)
            else:
                self._system.delete_file(self._half)


def sweep(outputs: Sequence[str]) -> None:
    """Remove the halves of these files that processes left which were killed."""
    import pyarrow.fs as arrow_fs

    wanted = set(outputs)
    for folder in sorted({output.rpartition("/")[0] for output in outputs}):
        system, inside = located(folder or ".")
        with _writing(folder):
            for item in system.get_file_info(arrow_fs.FileSelector(inside, allow_not_found=True)):
                match = re.fullmatch(rf"\.(.*)\.[0-9a-f]{{8}}{re.escape(HALF)}", item.base_name)
                if match and (f"{folder}/{match[1]}" if folder else match[1]) in wanted:
                    system.delete_file(item.path)


class _reading:
    """What goes wrong with a file is one clear error that names it."""

    verb = "read"

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        import pyarrow as pa

        if isinstance(error, (pa.ArrowException, OSError)):
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            raise SourceError(self.path, f"cannot be {self.verb}: {reason}") from error


class _writing(_reading):
    verb = "written"
