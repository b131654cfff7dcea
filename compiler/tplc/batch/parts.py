"""One output file, and the input files that it is made of: written in this process, whole or not at all.

PartFile((RowFile("rows/a.parquet"),), "parsed/a.parquet").write(tables, Summary(…))  →  the summary of its rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tplc.batch.files import PendingFile, RowFile, laid_out
from tplc.batch.summary import Summary

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PartFile:
    inputs: tuple[RowFile, ...]
    output: str

    def write(
        self,
        tables: Callable[[RowFile], Iterator[pa.Table]],
        summary: Summary,
        progress: Callable[[int], None] = lambda rows: None,
    ) -> Summary:
        """Write the tables of an input with their messages.  The summary counts the rows as they are written."""
        summary.place = self.output
        with PendingFile(self.output) as written:
            for file in laid_out(self.inputs, summary.columns):
                for table in tables(file):
                    written.add(table)
                    summary.add(table)
                    progress(table.num_rows)
        return summary
