"""python with_spark.py parser.py rows.parquet parsed/ (a folder)"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow
from pyspark.sql import SparkSession

from tplc.batch import Columns, RowParser

parser, rows, parsed = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
CALLS = "array<struct<id:string,name:string,arguments:string>>"
MESSAGE = f"content string, reasoning_content string, tool_calls {CALLS}, incomplete boolean, diagnostics array<string>"


def parse(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        yield from read(pyarrow.Table.from_batches([batch])).to_batches()


spark = SparkSession.builder.getOrCreate()
spark.read.parquet(rows).select("text").mapInArrow(parse, f"text string, {MESSAGE}").write.parquet(parsed)
