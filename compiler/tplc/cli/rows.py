"""`tplc parse SOURCE ROWS --column NAME`: files of outputs to files of messages, with a summary."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tplc import driver
from tplc.cli import inputs
from tplc.cli.ending import unwinding
from tplc.cli.progress import advancing
from tplc.cli.shown import print_json
from tplc.errors import SourceError, UsageError
from tplc.ir.runtimes import RUNTIME_FILE
from tplc.ir.visible import one_line
from tplc.project.artifacts import check_output, write_output
from tplc.project.beside import is_ir
from tplc.project.files import read_text, read_tools
from tplc.verify.artifact import runtime_beside

if TYPE_CHECKING:
    from tplc.batch.summary import Summary

ROW_SUFFIXES = (".parquet", ".jsonl", ".ndjson")
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RowOptions:
    source: str
    rows: str
    output: str | None
    column: str
    prompt_column: str | None
    tools_column: str | None
    parser_column: str | None
    tools: str | None
    tokenizer: str | None
    struct: bool
    engine: str | None
    address: str | None
    jobs: int | None
    batch_size: int
    resume: bool
    force: bool
    as_json: bool
    quiet: bool
    html: str | None
    template_name: str | None
    special_tokens: tuple[str, ...]
    variants: inputs.Variants = inputs.NO_VARIANTS


def rows_command(options: RowOptions) -> None:
    from tplc.batch import Columns, RowParser
    from tplc.batch.engines import choose_engine
    from tplc.batch.run import plan

    if options.output is None:
        raise UsageError("rows are written to a file or a folder: give -o FILE.parquet, FILE.jsonl, or a folder")
    if options.tools and options.tools_column:
        raise UsageError("give --tools for all rows, or --tools-column for each row's own, and not both")
    engine = choose_engine(options.engine, address=options.address, jobs=options.jobs, batch=options.batch_size)
    columns = Columns(
        options.column, options.prompt_column, options.tools_column, options.parser_column, options.struct
    )
    read = RowParser(
        _parsers(options),
        columns,
        tools=read_tools(options.tools) if options.tools else None,
        tokenizer=read_text(options.tokenizer) if options.tokenizer else None,
        runtime=runtime_beside(_place_of_parsers(options)),
    )
    if options.html is not None:
        check_output(options.html, force=options.force)
    job = plan(read, engine, options.rows, options.output, force=options.force, resume=options.resume)
    start = time.monotonic()
    # Engines say on standard output that a worker died: there the summary goes, and nothing else.
    with unwinding(), redirect_stdout(sys.stderr), advancing(f"parsing ({engine.name})", job.rows) as progress:
        summary = job.run(progress)
    if options.html is not None:
        from tplc.batch.page import page

        write_output(options.html, page(summary, read, options.rows))
    written = [*(part.output for part in job.parts), *filter(None, [options.html])]
    _report(options, summary, written, engine.name, time.monotonic() - start)


def _parsers(options: RowOptions) -> dict[str, str]:
    """The text of the parser, or of each parser in a folder where a column names it."""
    if options.parser_column is None:
        return {"": _parser_text(options)}
    folder = Path(options.source)
    paths = [path for path in sorted(folder.glob("*.py")) if path.name != RUNTIME_FILE] if folder.is_dir() else []
    found = {path.stem: read_text(str(path)) for path in paths}
    if not found:
        raise SourceError(
            options.source,
            "holds no parsers",
            "--parser-column needs a folder with NAME.py for each name in the column",
        )
    return found


def _place_of_parsers(options: RowOptions) -> str:
    """A file in the folder where parsers may have their runtime beside them."""
    return options.source if options.parser_column is None else os.path.join(options.source, "parser.py")


def _parser_text(options: RowOptions) -> str:
    if options.source.endswith(".py"):
        return read_text(options.source)
    if is_ir(options.source):
        ir = inputs.ir_in(options.source)
    else:
        ir = inputs.learned(options.source, options.template_name, options.special_tokens, options.variants)
    return driver.generate(ir, "python")


def _report(options: RowOptions, summary: Summary, outputs: list[str], engine: str, seconds: float) -> None:
    if options.as_json:
        print_json({**summary.to_json(), "engine": engine, "seconds": round(seconds, 3), "outputs": outputs})
        return
    if options.quiet:
        return
    for name, text in _lines(summary, seconds):
        print(f"{name:<13}{text}", file=sys.stderr)
    for output in outputs[:_MOST_SHOWN]:
        print(f"{'wrote':<13}{one_line(output)}", file=sys.stderr)
    if len(outputs) > _MOST_SHOWN:
        print(f"{'':<13}… and {len(outputs) - _MOST_SHOWN:,} more", file=sys.stderr)
    if not outputs:
        print(f"{'wrote':<13}nothing: all of it is there", file=sys.stderr)


def _lines(summary: Summary, seconds: float) -> Iterator[tuple[str, str]]:
    counts = summary.counts
    rate = f", {counts.rows / seconds:,.0f} a second" if seconds > 0.1 else ""
    yield "rows", f"{counts.rows:,}" + (f" ({counts.nulls:,} null)" if counts.nulls else "") + rate
    yield "calls", f"{counts.calls:,} in {counts.with_calls:,} rows"
    yield "incomplete", f"{counts.incomplete:,}"
    yield "diagnosed", f"{counts.diagnosed:,}"
    yield "unknown", f"{counts.unknown_tools:,} calls of tools that are not among those given"
    yield "violating", f"{counts.violating:,} calls with arguments that are not as the tool's schema says"
    yield (
        "not judged",
        f"{counts.not_judged:,} calls that nobody can judge: the schema, the tools or the arguments cannot be read",
    )
