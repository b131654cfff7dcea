"""python with_datasets.py parser.py rows.parquet parsed.parquet"""

import sys
from pathlib import Path

import datasets

from tplc.batch import Columns, RowParser

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
loaded = datasets.load_dataset("parquet", data_files=rows, split="train").with_format("arrow")
# Without features the first rows decide the types, and some have no calls.
features = datasets.Features.from_arrow_schema(read(loaded[:0]).schema)
loaded.map(read, batched=True, batch_size=1000, features=features).to_parquet(parsed)
