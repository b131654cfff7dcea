"""Pass rows of standard input and output through files, because rows are read twice and written atomically.

with standard_rows("-", "-") as (rows, output):  →  /tmp/tplc…/input.jsonl, /tmp/tplc…/output.jsonl
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from tplc.cli import inputs
from tplc.errors import UsageError


def check_report(output: str | None, report: str, *, as_json: bool) -> None:
    """Raise UsageError if rows and a report would both go to standard output."""
    if output == "-" and as_json:
        raise UsageError(f"--json: the rows go to standard output (-o -), so the {report} cannot go there as well")


@contextmanager
def standard_rows(rows: str, output: str) -> Iterator[tuple[str, str]]:
    """Yield files in place of `-`, and other names unchanged; the output is passed on if all went well."""
    if "-" not in (rows, output):
        yield rows, output
        return
    with tempfile.TemporaryDirectory(prefix="tplc") as folder:
        read, written = os.path.join(folder, "input.jsonl"), os.path.join(folder, "output.jsonl")
        if rows == "-":
            inputs.ask_for_input("-", "the rows")
            with open(read, "wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        yield read if rows == "-" else rows, written if output == "-" else output
        if output == "-":
            with open(written, "rb") as file:
                _pass_on(file)


def _pass_on(file: BinaryIO) -> None:
    shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
