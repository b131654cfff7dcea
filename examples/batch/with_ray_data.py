"""python with_ray_data.py parser.py rows.parquet parsed/ (a folder)"""

import sys
from pathlib import Path

import ray

from tplc.batch import Columns, RowParser

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
ray.data.DataContext.get_current().execution_options.preserve_order = True
ray.data.read_parquet(rows).map_batches(read, batch_format="pyarrow", batch_size=1000).write_parquet(parsed)
