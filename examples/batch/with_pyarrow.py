"""python with_pyarrow.py parser.py rows.parquet parsed.parquet"""

import sys
from pathlib import Path

import pyarrow.parquet as parquet

from tplc.batch import Columns, RowParser

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
parquet.write_table(read(parquet.read_table(rows)), parsed)
