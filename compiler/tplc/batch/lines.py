r"""Read JSON lines as tables: text stays text, the types are those of all rows, and no row can stop a run.

{"id": 1, "text": "Hi.", "at": "2024-01-01"}  →  id: int64, text: string, at: string
{"id": [1, "a"]}, {"id": 5}                   →  id: string, the JSON text of each value, known as such (`is_json_text`)
{"id"                                         →  a row of nulls, with the line and what is wrong with it in `UNREAD`

A file is read twice, first for its types.  So its readers agree, independent of the batch size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from tplc.batch.columns import JSON_TEXT, Columns, is_json_text
from tplc.batch.surrogates import encodable
from tplc.errors import FilePlace

if TYPE_CHECKING:
    import pyarrow as pa

# Of rows that are not read: their text, and why.
UNREAD = "(not read)"
# The members of rows beyond so many names, and those that come late and are called as what is written.
OTHERS = "(others)"
MOST_NAMES = 1000
# A longer line is not read, and its beginning is kept; a table takes no more lines than these bytes.
MOST_BYTES, _KEPT, _AT_ONCE = 64 << 20, 1 << 20, 32 << 20
HEAD = 1000
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_EXACT = 1 << 53  # a float contains all whole numbers up to this one
_INT64 = 1 << 63

Row = Mapping[str, Any]
Open = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file. `row`: None if it can't be read; then `why` says what is wrong with it."""

    number: int
    row: Row | None
    data: bytes
    why: str = ""

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "backslashreplace").strip("\r\n")


def read_lines(file: BinaryIO) -> Iterator[Line]:
    """Yield every line that is not blank, counted from 1."""
    number = 0
    while data := file.readline(MOST_BYTES):
        number += 1
        if len(data) == MOST_BYTES and not data.endswith(b"\n") and _skip_line(file):
            why = f"is longer than {MOST_BYTES >> 20} MB, this is its beginning"
            yield Line(number, None, data[:_KEPT], why)
            continue
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if data.strip():
            yield _line(number, data)


def _skip_line(file: BinaryIO) -> bool:
    """Return whether the line continued."""
    more = False
    while data := file.readline(MOST_BYTES):
        more = True
        if data.endswith(b"\n"):
            break
    return more


def _line(number: int, data: bytes) -> Line:
    try:
        text = data.decode("utf-8")
        row = json.loads(text, strict=False)  # line feeds and tabs in text are no doubt about it
        if _HALF.search(data):
            row = encodable(row)
    except UnicodeDecodeError as error:
        why = f"is not UTF-8: byte 0x{data[error.start]:02x}"
    except json.JSONDecodeError as error:
        why = f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        why = "is nested too deeply"
    except ValueError:  # a number of thousands of digits
        why = "contains a number that is too long"
    else:
        if isinstance(row, dict):
            return Line(number, row, data)
        why = f"is not an object but {_word(row)}"
    return Line(number, None, data, why)


# Types


@dataclass(slots=True)
class Members:
    """The members of rows: for each name the kinds of its values, in the order of their first occurrence."""

    columns: Columns | None = None
    kinds: dict[str, set[str]] = field(default_factory=dict)
    rows: int = 0
    others: bool = False
    unread: Line | None = None

    def add(self, line: Line) -> None:
        if line.row is None:
            self.unread = self.unread or line
            return
        self.rows += 1
        for name, value in line.row.items():
            kinds = self.kinds.get(name)
            if kinds is None:
                if len(self.kinds) >= MOST_NAMES and name not in self._named:
                    self.others = True
                    continue
                kinds = self.kinds.setdefault(name, set())
            kinds.add(_kind(value))

    def survey(self, open_file: Open) -> Members:
        with open_file() as file:
            for line in read_lines(file):
                self.add(line)
        return self

    @property
    def _named(self) -> tuple[str, ...]:
        return self.columns.named if self.columns else ()

    @property
    def complete(self) -> bool:
        return all(name in self.kinds for name in self._named)

    def found(self) -> pa.Schema:
        """Return the types as they are, for error messages."""
        import pyarrow as pa

        output = self.columns.output if self.columns else None
        fields = []
        for name, kinds in self.kinds.items():
            ids = name == output and "ids" in kinds
            one = pa.field(name, pa.list_(pa.int64())) if ids else _field(name, kinds)
            fields.append(pa.field(name, pa.string()) if "text" in kinds else one)
        return pa.schema(fields)

    def schema(self) -> pa.Schema:
        """Return the types with which the rows are read: outputs, prompts and parser names are text, or token ids."""
        import pyarrow as pa

        columns, kinds = self.columns, self.kinds
        written = columns.written if columns else ()
        kept = {name: kinds.get(name, set()) for name in [*kinds, *self._named] if name not in written}
        fields = [self._field(name, those) for name, those in kept.items() if name not in (OTHERS, UNREAD)]
        if self.others or len(fields) < len(kinds.keys() | set(self._named)):
            fields.append(_json_text(OTHERS))
        return pa.schema([*fields, pa.field(UNREAD, pa.struct([("text", pa.string()), ("why", pa.string())]))])

    def _field(self, name: str, kinds: set[str]) -> pa.Field:
        import pyarrow as pa

        columns = self.columns
        if columns is None or name not in columns.named:
            return _field(name, kinds)
        if name == columns.tools and kinds - {"null"} and "text" not in kinds:
            return _json_text(name)
        if name == columns.output and "ids" in kinds and "text" not in kinds:
            return pa.field(name, pa.list_(pa.int64()))
        return pa.field(name, pa.string())


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -_EXACT <= value <= _EXACT else "long" if _is_int64(value) else "json"
    if isinstance(value, float):
        return "float"
    return "ids" if isinstance(value, list) and all(map(_is_int64, value)) else "json"


def _is_int64(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


def _field(name: str, kinds: set[str]) -> pa.Field:
    import pyarrow as pa

    kinds = kinds - {"null"}
    if not kinds:
        return pa.field(name, pa.null())
    if kinds == {"text"}:
        return pa.field(name, pa.string())
    if kinds == {"bool"}:
        return pa.field(name, pa.bool_())
    if kinds <= {"int", "long"}:
        return pa.field(name, pa.int64())
    if kinds <= {"int", "float"}:
        return pa.field(name, pa.float64())
    return _json_text(name)


def _json_text(name: str) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, pa.string(), metadata=JSON_TEXT)


def _word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float)):
        return "a number" if not isinstance(value, bool) else "true or false"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


def head(open_file: Open, columns: Columns) -> Members:
    """Return the members of the first rows, and of as many more as are needed to see every named column."""
    members = Members(columns)
    with open_file() as file:
        for count, line in enumerate(read_lines(file), 1):
            members.add(line)
            if count >= HEAD and members.complete:
                break
    return members


# Tables


def tables_of_lines(
    open_file: Open, place: str, size: int, schema: pa.Schema, columns: Columns | None
) -> Iterator[pa.Table]:
    """Yield tables of at most `size` rows, limited in bytes too."""
    reader = _Reader(schema, columns, place)
    rows: list[Row] = []
    taken = 0
    with open_file() as file:
        for line in read_lines(file):
            rows.append(reader.row(line))
            taken += len(line.data)
            if len(rows) >= size or taken >= _AT_ONCE:
                yield reader.table(rows)
                rows, taken = [], 0
    if rows:
        yield reader.table(rows)


class _Misfit(Exception):
    """A value that its column cannot hold."""


class _Reader:
    def __init__(self, schema: pa.Schema, columns: Columns | None, place: str) -> None:
        self._schema, self._place = schema, place
        self._output = columns.output if columns else None
        # Names of parsers and tools may be anything: their reader reports what is wrong.
        self._lenient = (columns.parser, columns.tools) if columns else ()
        self._fit = {one.name: _fit_of(one) for one in schema if one.name not in (UNREAD, OTHERS)}

    def table(self, rows: list[Row]) -> pa.Table:
        import pyarrow as pa

        arrays = [pa.array([row.get(one.name) for row in rows], one.type) for one in self._schema]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def row(self, line: Line) -> Row:
        if line.row is None:
            return self._not_read({}, line, line.text, line.why)
        try:
            return self._row(line, line.row)
        except RecursionError:
            return self._not_read({}, line, line.text, "is nested too deeply")

    def _row(self, line: Line, row: Row) -> Row:
        found: dict[str, Any] = {}
        others: dict[str, Any] = {}
        why = ""
        for name, value in row.items():
            fit = self._fit.get(name)
            if fit is None:
                others[name] = value
            elif value is not None:
                try:
                    found[name] = fit(value)
                except _Misfit:
                    found[name] = json_text(value) if fit is _text else None
                    if name not in self._lenient:
                        why = why or f"{name} is {_word(value)}"
        if others:
            found[OTHERS] = json_text(others)
        if not why:
            return found
        output = row.get(self._output) if self._output else None
        return self._not_read(found, line, output if isinstance(output, str) else json_text(output), why)

    def _not_read(self, found: dict[str, Any], line: Line, text: str, why: str) -> Row:
        found[UNREAD] = {"text": text, "why": f"{FilePlace(self._place, line.number)}: {why}"}
        return found


def _fit_of(one: pa.Field) -> Callable[[Any], Any]:
    import pyarrow.types as types

    kinds: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
        (types.is_string, _text),
        (types.is_int64, _whole),
        (types.is_float64, _real),
        (types.is_boolean, _truth),
        (types.is_list, _ids),
    )
    if is_json_text(one):
        return json_text
    return next((fit for is_kind, fit in kinds if is_kind(one.type)), _never)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Misfit
    return value


def _ids(value: Any) -> list[int]:
    if not isinstance(value, list) or not all(map(_is_int64, value)):
        raise _Misfit
    return value


def _whole(value: Any) -> int:
    if not _is_int64(value):
        raise _Misfit
    return int(value)


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Misfit
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Misfit
    return value


def _never(_: Any) -> None:
    raise _Misfit


def json_text(value: Any) -> str:
    """Return the value as JSON in one line.  Numbers that JSON lacks (NaN, infinity) become null, times become text."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    return [_finite(entry) for entry in value] if isinstance(value, list) else value
