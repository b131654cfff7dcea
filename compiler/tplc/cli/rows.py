"""`tplc parse SOURCE ROWS --column NAME`: files of outputs to files of messages, with a summary."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tplc import driver
from tplc.cli import inputs
from tplc.cli.ending import unwinding
from tplc.cli.options import NO_VARIANTS, Variants
from tplc.cli.progress import advancing
from tplc.cli.shown import print_json
from tplc.cli.standard import check_report, standard_rows
from tplc.cli.tokenizer import checked_tokenizer, tokenizer_text
from tplc.errors import ReportedFailure, SourceError, UsageError
from tplc.ir.runtimes import RUNTIME_FILE
from tplc.ir.visible import one_line
from tplc.overwriting import check_not_input, protect
from tplc.paths import STANDARD_INPUT
from tplc.project.artifacts import check_output, write_output
from tplc.project.files import read_text, read_tools
from tplc.project.sibling_ir import is_ir
from tplc.verify.artifact import runtime_next_to

if TYPE_CHECKING:
    from tplc.batch import Columns, RowParser
    from tplc.batch.engines import Engine
    from tplc.batch.summary import Summary

ROW_SUFFIXES = (".parquet", ".jsonl", ".ndjson")
_MOST_SHOWN = 10
_LONGEST_NAME = 60


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
    variants: Variants = NO_VARIANTS
    limits: tuple[str, ...] = ()


class NoRowRead(ReportedFailure):
    """All rows were written, but no parser could read any of them."""


def rows_command(options: RowOptions) -> None:
    from tplc.batch import Columns, RowParser
    from tplc.batch.engines import choose_engine

    _check(options)
    columns = Columns(
        options.column, options.prompt_column, options.tools_column, options.parser_column, options.struct
    )
    _check_lines(options, columns)
    engine = choose_engine(options.engine, address=options.address, jobs=options.jobs, batch=options.batch_size)
    read = RowParser(
        _parsers(options),
        columns,
        tools=read_tools(options.tools) if options.tools else None,
        tokenizer=_tokenizer(options.tokenizer) if options.tokenizer else None,
        runtime=runtime_next_to(_place_of_parsers(options)),
    )
    if options.html is not None:
        check_output(options.html, force=options.force)
    summary = _run(options, read, engine)
    counts = summary.counts
    if 0 < counts.unread == counts.rows - counts.nulls:
        raise NoRowRead(f"no parser read any of the {counts.unread:,} rows: {_why_none(options, read, summary)}")


def _tokenizer(path: str) -> str:
    return checked_tokenizer(tokenizer_text(path), path)


def _run(options: RowOptions, read: RowParser, engine: Engine) -> Summary:
    from tplc.batch.page import page
    from tplc.batch.run import plan

    assert options.output is not None
    start = time.monotonic()
    with standard_rows(options.rows, options.output) as (rows, output):
        shown = STANDARD_INPUT if options.rows == "-" else ""
        job = plan(read, engine, rows, output, force=options.force, resume=options.resume, shown=shown)
        protect(file.path for part in job.parts for file in part.inputs)
        for path in (*(part.output for part in job.parts), *filter(None, [options.html])):
            check_not_input(path)
        # Engines report dead workers on standard output, which is for the summary alone.
        with unwinding(), redirect_stdout(sys.stderr), advancing(f"parsing ({engine.name})", job.rows) as progress:
            summary = job.run(progress)
    if job.parts and not summary.counts.rows:
        print(f"tplc: {shown or one_line(options.rows)}: contains no rows", file=sys.stderr)
    if options.html is not None:
        if options.output == "-":
            summary.rename(output, "standard output")
        write_output(options.html, page(summary, read, shown or options.rows))
    written = ["standard output"] if options.output == "-" else [part.output for part in job.parts]
    _report(options, summary, [*written, *filter(None, [options.html])], engine.name, time.monotonic() - start)
    return summary


def _check(options: RowOptions) -> None:
    output = options.output
    if output is None:
        raise UsageError("rows are written to a file or a folder: give -o FILE.parquet, FILE.jsonl, or a folder")
    check_report(output, "summary", as_json=options.as_json)
    if output == "-" and options.resume:
        raise UsageError("--resume: output that went to standard output (-o -) cannot be resumed")
    check_place_of_rows(output, ROW_SUFFIXES)
    if options.tools and options.tools_column:
        raise UsageError("give either --tools (for all rows) or --tools-column (for each row), not both")
    inputs.check_standard_input(
        {"the template": options.source, "the rows": options.rows},
        {"the tools": [options.tools], "the tokenizer": [options.tokenizer]},
    )
    if options.parser_column is not None and os.path.isdir(options.parser_column) and not os.path.isdir(options.source):
        raise UsageError(
            f"--parser-column {options.parser_column} is a folder; the option takes the name of the column that names "
            "each row's parser, and SOURCE is the folder of parsers"
        )


def check_place_of_rows(output: str, suffixes: Sequence[str]) -> None:
    """Raise UsageError for a file of another kind: rows.csv would become a folder."""
    named = os.path.splitext(output)[1]
    if named and output != "-" and not output.endswith(("/", *suffixes)) and not os.path.isdir(output):
        folder = "or to a folder (a new one with a dot in its name ends with /)"
        raise UsageError(f"{output}: rows are written to {', '.join(suffixes)}, {folder}")


def _check_lines(options: RowOptions, columns: Columns) -> None:
    """Raise if a file of lines is missing a column.

    This needs no optional package, so a wrong column is reported before a missing package.
    """
    from tplc.batch.lines import head
    from tplc.batch.run import is_there

    if not options.rows.endswith(ROW_SUFFIXES[1:]) or not os.path.isfile(options.rows):
        return
    if options.output and os.path.isfile(options.output) and not (options.force or options.resume):
        if os.path.samefile(options.output, options.rows):
            return  # that is reported first, not that the output exists
        raise is_there(options.output)
    first = head(lambda: open(options.rows, "rb"), columns)  # noqa: SIM115 - what reads it closes it
    for problem in columns.missing(list(first.kinds)) if first.rows else ():
        raise UsageError(f"{options.rows}: {problem}")


def _why_none(options: RowOptions, read: RowParser, summary: Summary) -> str:
    named = [name for name, counts in summary.by_parser.items() if counts.unread]
    if options.parser_column is None or set(named) & read.parsers.keys():
        return "their diagnostics give the reasons"
    known, wrong = _listed(sorted(read.parsers)), _listed(sorted(named, key=lambda name: (not name, name)))
    return f"the column {options.parser_column} contains {wrong}; the parsers in {options.source} are {known}"


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(one_line(name[:_LONGEST_NAME]) or "(none)" for name in names[:_MOST_SHOWN]) + more


def _parsers(options: RowOptions) -> dict[str, str]:
    """Return the text of the parser, or of all parsers in a folder by name if a column names each row's parser."""
    if options.parser_column is None:
        return {"": _parser_text(options)}
    inputs.refuse_limits(options.limits, "a folder of parsers")
    folder = Path(options.source)
    paths = [path for path in sorted(folder.glob("*.py")) if path.name != RUNTIME_FILE] if folder.is_dir() else []
    found = {path.stem: read_text(str(path)) for path in paths}
    if not found:
        raise SourceError(
            options.source,
            "contains no parsers",
            "--parser-column needs a folder with NAME.py for each name in the column",
        )
    return found


def _place_of_parsers(options: RowOptions) -> str:
    """Return a path in the folder in which a shared runtime of the parsers would be."""
    return options.source if options.parser_column is None else os.path.join(options.source, "parser.py")


def _parser_text(options: RowOptions) -> str:
    folder = Path(options.source)
    if folder.is_dir() and not any(folder.glob("*.j*")) and any(folder.glob("*.py")):
        raise UsageError(
            f"{options.source} is a folder of parsers; name one of them, or give --parser-column with the column "
            "that names each row's parser"
        )
    if options.source.endswith(".py"):
        inputs.refuse_limits(options.limits, "a generated parser")
        return read_text(options.source)
    if is_ir(options.source):
        inputs.refuse_limits(options.limits, "an IR")
        ir = inputs.ir_in(options.source)
    else:
        limits = inputs.limits(options.limits)
        ir = inputs.learned(
            options.source, options.template_name, options.special_tokens, options.variants, limits=limits
        )
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
        print(f"{'wrote':<13}nothing: all outputs exist already", file=sys.stderr)


def _lines(summary: Summary, seconds: float) -> Iterator[tuple[str, str]]:
    counts = summary.counts
    rate = f", {counts.rows / seconds:,.0f} a second" if seconds > 0.1 else ""
    yield "rows", f"{counts.rows:,}" + (f" ({counts.nulls:,} null)" if counts.nulls else "") + rate
    yield "calls", f"{counts.calls:,} in {counts.with_calls:,} rows"
    yield "incomplete", f"{counts.incomplete:,} rows"
    yield "diagnosed", f"{counts.diagnosed:,} rows" + (f" ({counts.unread:,} not read)" if counts.unread else "")
    yield "unknown", f"{counts.unknown_tools:,} calls of tools that were not given"
    yield "violating", f"{counts.violating:,} calls whose arguments do not match the tool's schema"
    yield (
        "not judged",
        f"{counts.not_judged:,} calls that cannot be checked: the schema, the tools or the arguments cannot be read",
    )
