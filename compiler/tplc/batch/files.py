"""Read files of rows in tables of so many rows, and write files atomically.

part_files("rows/")  →  rows/a.parquet, rows/b.jsonl        PendingFile("out.parquet").add(table) … done()
"""

from __future__ import annotations

import errno
import io
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from tplc.batch.columns import Columns, is_json_text
from tplc.batch.lines import Members, head, json_text, tables_of_lines
from tplc.errors import FilePlace, SourceError, UsageError
from tplc.paths import missing, unreadable, unwritable

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".parquet", ".jsonl", ".ndjson")
# pyarrow reads compressed files by their suffix.
_COMPRESSED = tuple(f"{lines}{suffix}" for lines in (".jsonl", ".ndjson") for suffix in (".gz", ".zst", ".bz2"))
READ = (*SUFFIXES, *_COMPRESSED)
_FORMS = f"{', '.join(SUFFIXES)}, lines also compressed (.jsonl.gz)"
_NO_PATTERNS = "wildcards are not supported; name a file or a folder"
HALF = ".half"


# A group of rows is read as a whole by each worker that has a piece of it.
MOST_PIECES = 16


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows from `start` up to `stop` of a group."""

    group: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file on this machine, or at an address that pyarrow's file systems know (s3://, gs://, hdfs://).

    `schema`: that its rows are read with, where it is known (`laid_out`).  `shown`: what people know it as.
    """

    path: str
    shown: str = ""
    schema: pa.Schema | None = None
    columns: Columns | None = None

    @property
    def place(self) -> str:
        return self.shown or self.path

    @property
    def stem(self) -> str:
        """Return the path without its suffix."""
        return next((self.path.removesuffix(suffix) for suffix in READ if self.path.endswith(suffix)), self.path)

    @property
    def is_json(self) -> bool:
        return not self.path.endswith(".parquet")

    def rows(self) -> int | None:
        """Return the number of rows if the file contains it; otherwise None."""
        if self.is_json:
            return None
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.place):
            return int(parquet.read_metadata(path, filesystem=system).num_rows)

    def check(self, columns: Columns, *, ids: bool) -> None:
        """Raise if the file's columns don't match the description; for JSON lines, the first lines decide."""
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.place):
            if not self.is_json:
                schema = parquet.read_schema(path, filesystem=system)
            else:
                first = head(self.stream, columns)
                if first.rows == 0 and first.unread is not None:
                    raise SourceError(FilePlace(self.place, first.unread.number), first.unread.why)
                schema = first.found()
                if first.rows == 0:
                    return
        try:
            columns.check(schema, ids=ids)
        except UsageError as error:
            raise UsageError(f"{self.place}: {error}") from error

    def stream(self) -> BinaryIO:
        system, path = located(self.path)
        return io.BufferedReader(system.open_input_stream(path), 1 << 20)

    def tables(self, size: int) -> Iterator[pa.Table]:
        """Yield the rows in order, at most `size` at once; one table without rows for an empty file."""
        with _reading(self.place):
            if self.is_json:
                schema = Members(self.columns).survey(self.stream).schema() if self.schema is None else self.schema
                tables = tables_of_lines(self.stream, self.place, size, schema, self.columns)
            else:
                schema, tables = self._of_parquet(size)
            first = next(tables, None)
            yield schema.empty_table() if first is None else first
            yield from tables

    def _of_parquet(self, size: int) -> tuple[pa.Schema, Iterator[pa.Table]]:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        file = parquet.ParquetFile(path, filesystem=system)
        batches = file.iter_batches(batch_size=size)
        tables = (self._fitted(pa.Table.from_batches([batch])) for batch in batches)
        return self.schema or file.schema_arrow, tables

    def _fitted(self, table: pa.Table) -> pa.Table:
        """Return the table with the columns of all files that are written into one."""
        return table if self.schema is None else fitted(table, self.schema)

    def pieces(self, size: int) -> list[RowRange]:
        """Return the ranges of a Parquet file that workers read separately, of about `size` rows each.

        A group of many rows is cut in a few pieces only, as each of them has to read all of it.
        """
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.place):
            found = parquet.read_metadata(path, filesystem=system)
        cut = []
        for group in range(found.num_row_groups):
            rows = found.row_group(group).num_rows
            step = max(size, -(-rows // MOST_PIECES))
            cut += [RowRange(group, start, min(start + step, rows)) for start in range(0, rows, step)]
        return cut

    def piece(self, piece: RowRange, size: int) -> Iterator[pa.Table]:
        import pyarrow.parquet as parquet

        system, path = located(self.path)
        with _reading(self.place):
            rows = parquet.ParquetFile(path, filesystem=system).read_row_group(piece.group)
            for start in range(piece.start, piece.stop, size):
                yield self._fitted(rows.slice(start, min(size, piece.stop - start)))


def part_files(path: str) -> list[RowFile]:
    """Return the file, or all files of rows in the folder, sorted."""
    import pyarrow.fs as arrow_fs

    system, inside = located(path)
    with _reading(path):
        info = system.get_file_info(inside)
        if info.type == arrow_fs.FileType.NotFound:
            raise SourceError(path, "there is no such file", _NO_PATTERNS) if set(path) & set("*?[") else missing(path)
        if info.type != arrow_fs.FileType.Directory:
            if not path.endswith(READ):
                raise UsageError(f"{path}: rows are read from {_FORMS}, or from a folder of such files")
            return [RowFile(path)]
        found = system.get_file_info(arrow_fs.FileSelector(inside, recursive=True))
    names = sorted(item.path for item in found if item.is_file and item.path.endswith(READ))
    if not names:
        raise SourceError(path, f"there are no files of rows ({_FORMS}) in it")
    scheme = path.partition("://")[0] + "://" if "://" in path else ""
    return [RowFile(scheme + name) for name in names]


def located(path: str) -> tuple[Any, str]:
    """Return the file system, and the path in it."""
    import pyarrow as pa
    import pyarrow.fs as arrow_fs

    if "://" not in path:
        return arrow_fs.LocalFileSystem(), path
    try:
        system, inside = arrow_fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from error
    return system, inside


def existing(paths: Sequence[str], root: str) -> set[str]:
    """Return those of these files (all under `root`) that exist, with one query for all of them."""
    import pyarrow.fs as arrow_fs

    if "://" not in root:
        return {path for path in paths if os.path.lexists(path)}
    system, inside = located(root)
    with _reading(root):
        found = system.get_file_info([f"{inside}{path.removeprefix(root)}" for path in paths])
    return {path for path, info in zip(paths, found, strict=True) if info.type != arrow_fs.FileType.NotFound}


def make_folder(folder: str) -> None:
    """Create the folder, unless it is in an object store, which has none."""
    if "://" in folder and not folder.startswith(("file://", "hdfs://")):
        return
    system, inside = located(folder or ".")
    with _writing(folder):
        system.create_dir(inside, recursive=True)


class PendingFile:
    """Writes a file atomically: rows go to a temporary file in the same folder, which is renamed at the end.

    That name begins with a dot: those who read whole folders leave such files out.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._system, self._inside = located(path)
        folder, slash, name = self._inside.rpartition("/")
        self._half = f"{folder}{slash}.{name}.{uuid.uuid4().hex[:8]}{HALF}"
        self._writer: Any = None

    def __enter__(self) -> PendingFile:
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
        self._writer.write("".join(lines_of(table)).encode("utf-8", "backslashreplace"))

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._writer is None:
            return
        with _writing(self.path):
            self._writer.close()
            if kind is None:
                self._system.move(self._half, self._inside)
            else:
                self._system.delete_file(self._half)


def lines_of(table: pa.Table) -> Iterator[str]:
    """Yield the rows as JSON lines; columns of JSON text keep their text."""
    as_it_stood = {one.name for one in table.schema if is_json_text(one)}
    for row in table.to_pylist():
        if as_it_stood:
            members = (
                f"{json_text(name)}: {value if name in as_it_stood and value is not None else json_text(value)}"
                for name, value in row.items()
            )
            yield "{" + ", ".join(members) + "}\n"
        else:
            yield json_text(row) + "\n"


def laid_out(files: Sequence[RowFile], columns: Columns) -> list[RowFile]:
    """Return the files that are written into one, each with the columns and types of all.  Line files are read for
    that."""
    surveyed = [file for file in files if file.is_json]
    schema = None
    if surveyed:
        members = Members(columns)
        for file in surveyed:
            with _reading(file.path):
                members.survey(file.stream)
        schema = members.schema()
    if len(files) > len(surveyed) and len(files) > 1:
        schema = _common(schema, surveyed, [file for file in files if not file.is_json])
    return [replace(file, schema=schema, columns=columns) for file in files]


def _common(schema: pa.Schema | None, surveyed: Sequence[RowFile], files: Sequence[RowFile]) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    first = (surveyed or files)[0].path
    for file in files:
        system, path = located(file.path)
        with _reading(file.path):
            own = parquet.read_schema(path, filesystem=system)
        try:
            schema = (
                own if schema is None else pa.unify_schemas([_plain(schema, own), own], promote_options="permissive")
            )
        except (pa.ArrowException, TypeError) as error:
            raise UsageError(f"{file.path} cannot be written into one file with {first}: {error}") from error
    assert schema is not None
    return schema


def _plain(schema: pa.Schema, other: pa.Schema) -> pa.Schema:
    """Return the schema without the note that a column contains JSON text, for columns without that note in the other
    schema."""
    for at, one in enumerate(schema):
        if is_json_text(one) and one.name in other.names and not is_json_text(other.field(one.name)):
            schema = schema.set(at, one.remove_metadata())
    return schema


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = [
        table[one.name].cast(one.type) if one.name in table.column_names else pa.nulls(table.num_rows, one.type)
        for one in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


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
    """Turns problems with a file into one clear error that names it."""

    verb, refused = "read", staticmethod(unreadable)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        import pyarrow as pa

        if isinstance(error, (pa.ArrowException, OSError)):
            if isinstance(error, PermissionError):
                raise self.refused(self.path, PermissionError(error.errno, os.strerror(errno.EACCES))) from error
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            raise SourceError(self.path, f"cannot be {self.verb}: {reason}") from error


class _writing(_reading):
    verb, refused = "written", staticmethod(unwritable)
