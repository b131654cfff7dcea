"""python with_duckdb.py parser.py rows.parquet parsed.parquet"""

import sys
from pathlib import Path

import duckdb
import pyarrow

from tplc.batch import Columns, RowParser, message_fields

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text", struct=True))


def message(texts: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    return read(pyarrow.table({"text": texts}))["message"]


duck = duckdb.connect()
calls = "STRUCT(id VARCHAR, name VARCHAR, arguments VARCHAR)[]"
kinds = ["VARCHAR", "VARCHAR", calls, "BOOLEAN", "VARCHAR[]"]
shape = ", ".join(f"{field.name} {kind}" for field, kind in zip(message_fields(), kinds, strict=True))
duck.create_function("message", message, ["VARCHAR"], f"STRUCT({shape})", type="arrow", null_handling="special")
duck.read_parquet(rows).create_view("rows")
duck.sql("SELECT *, unnest(message(text)) FROM rows").write_parquet(parsed)
