"""python with_polars.py parser.py rows.parquet parsed.parquet"""

import sys
from pathlib import Path

import polars

from tplc.batch import Columns, RowParser

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
polars.from_arrow(read(polars.read_parquet(rows).to_arrow())).write_parquet(parsed)
