"""`tplc mask SOURCE ROWS --tokenizer FOLDER -o FILE`: conversations to token ids and masks."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tplc.batch.lines import UNREAD
from tplc.cli import inputs
from tplc.cli.ending import unwinding
from tplc.cli.options import MaskOptions
from tplc.cli.progress import advancing, working
from tplc.cli.rows import check_place_of_rows
from tplc.cli.shown import print_json
from tplc.cli.standard import check_report, standard_rows
from tplc.cli.tokenizer import checked_tokenizer, tokenizer_text
from tplc.cli.training import parts_in
from tplc.conversations.masks import straddling_in
from tplc.conversations.rows import ERROR, MASKS, ConversationMasker
from tplc.errors import ReportedFailure, SourceError, UsageError
from tplc.ir.visible import one_line
from tplc.overwriting import check_not_input, protect
from tplc.paths import STANDARD_INPUT

if TYPE_CHECKING:
    import pyarrow as pa

    from tplc.batch.engines import Engine
    from tplc.batch.files import RowFile
    from tplc.sources import TemplateSource

ROW_SUFFIXES = (".parquet", ".jsonl")
_MOST_SHOWN = 5


class NoRowMasked(ReportedFailure):
    """The rows are written, and none of them has a mask."""


@dataclass(slots=True)
class _Counts:
    rows: int = 0
    masked: int = 0
    tokens: int = 0
    counted: int = 0

    def add(self, table: pa.Table, errors: Counter[str]) -> None:
        self.rows += table.num_rows
        for mask, error in zip(table[MASKS].to_pylist(), table[ERROR].to_pylist(), strict=True):
            if mask is not None:
                self.masked += 1
                self.tokens += len(mask)
                self.counted += sum(mask)
            elif error is not None:
                errors[error] += 1


def mask_command(options: MaskOptions) -> None:
    check_report(options.output, "report", as_json=options.as_json)
    inputs.check_standard_input(
        {"the template": options.source, "the rows": options.rows}, {"the tokenizer": [options.tokenizer]}
    )
    with standard_rows(options.rows, options.output or "") as (rows, written):
        counts, errors = _mask(replace(options, rows=rows, output=written), options)
    if counts.rows and not counts.masked:
        raise NoRowMasked(f"none of the {counts.rows:,} rows has a mask: {errors.most_common(1)[0][0]}")


def _mask(options: MaskOptions, asked: MaskOptions) -> tuple[_Counts, Counter[str]]:
    """Write the rows with their masks.  `asked`: the options as given, in which `-` is standard input or output."""
    from tplc.batch.engines import choose_engine
    from tplc.batch.files import part_files

    parts, straddling = parts_in(options.parts), straddling_in(options.straddling)
    engine = choose_engine(
        options.engine,
        address=options.address,
        jobs=options.jobs,
        batch=options.batch_size,
        what="tplc mask",
        extras="tokens",
    )
    template = inputs.load_template(options.source, options.template_name, options.special_tokens)
    tokenizer = tokenizer_text(options.tokenizer)
    shown = STANDARD_INPUT if asked.rows == "-" else ""
    files = [replace(file, shown=shown) for file in part_files(options.rows)]
    checked_tokenizer(tokenizer, options.tokenizer)
    template = _with_tokens(template, options)
    masker = ConversationMasker(
        template.text,
        tokenizer,
        name=template.name,
        special_tokens=template.special_tokens,
        messages=options.column,
        tools=options.tools_column,
        parts=parts,
        straddling=straddling,
        variables=inputs.variables(options.variables),
    )
    outputs = list(_outputs(options, files))
    with working(f"learning {template.name}"):
        masker.with_format()
    counts, errors = _Counts(), Counter[str]()
    start = time.monotonic()
    rows = _rows(files)
    with unwinding(), redirect_stdout(sys.stderr), advancing(f"masking ({engine.name})", rows) as progress:
        for file, output in zip(files, outputs, strict=True):
            _write(file, output, masker, engine, counts, errors, progress)
    named = ["standard output"] if asked.output == "-" else outputs
    _report(options, counts, errors, named, engine.name, time.monotonic() - start)
    return counts, errors


def _with_tokens(template: TemplateSource, options: MaskOptions) -> TemplateSource:
    """Return the template with its special tokens: the tokenizer's, if none are given.  Warn about missing ones."""
    from tplc.learn.tokens import stand_ins
    from tplc.sources import load_tokens

    known = dict(template.special_tokens)
    if stand_ins(template.text, known):
        with suppress(SourceError):
            known = {**load_tokens(options.tokenizer).special_tokens, **known}
    for name in stand_ins(template.text, known):
        problem = f"{template.name}: {name} is not given, so the text lacks it; give --token {name}=TEXT, or name a"
        print(f"warning: {problem} model's folder as the source or as --tokenizer", file=sys.stderr)
    return replace(template, special_tokens=known)


def _write(
    file: RowFile,
    output: str,
    masker: ConversationMasker,
    engine: Engine,
    counts: _Counts,
    errors: Counter[str],
    progress: Callable[[int], None],
) -> None:
    from tplc.batch.files import PendingFile, make_folder

    make_folder(output.rpartition("/")[0])
    with PendingFile(output) as written:
        for table in engine.tables(masker.table, file):  # type: ignore[arg-type]
            written.add(table)
            counts.add(table, errors)
            progress(table.num_rows)


def _outputs(options: MaskOptions, files: list[RowFile]) -> Iterator[str]:
    """Yield the output path of each file of rows; raise an error before any work if a file would be overwritten."""
    output = options.output
    if not output:
        raise UsageError("rows are written to a file or a folder: give -o FILE.parquet, FILE.jsonl, or a folder")
    check_place_of_rows(output, ROW_SUFFIXES)
    is_file = output.endswith(ROW_SUFFIXES)
    if is_file and len(files) > 1:
        raise UsageError(f"{options.rows} has {len(files)} files: give -o a folder")
    protect(file.path for file in files)
    base = options.rows.rstrip("/") + "/"
    for file in files:
        inside = file.stem.removeprefix(base) if file.path != options.rows else file.stem.rpartition("/")[2]
        place = output if is_file else f"{output.rstrip('/')}/{inside}.parquet"
        check_not_input(place)
        if os.path.exists(place) and not options.force:
            raise UsageError(f"{place} already exists; use --force to overwrite it")
        _check_columns(file, options)
        yield place


def _check_columns(file: RowFile, options: MaskOptions) -> None:
    names = [name for name in next(file.tables(1)).column_names if name != UNREAD]
    if not names:
        raise SourceError(file.place, "is empty: expected rows")
    try:
        ConversationMasker("{{ messages }}", "", messages=options.column, tools=options.tools_column).check(names)
    except UsageError as error:
        raise UsageError(f"{file.place}: {error}") from error


def _rows(files: list[RowFile]) -> int | None:
    found = [file.rows() for file in files]
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def _report(
    options: MaskOptions, counts: _Counts, errors: Counter[str], outputs: list[str], engine: str, seconds: float
) -> None:
    if options.as_json:
        print_json(
            {
                "rows": counts.rows,
                "masked": counts.masked,
                "tokens": counts.tokens,
                "counted": counts.counted,
                "errors": dict(errors.most_common()),
                "engine": engine,
                "seconds": round(seconds, 3),
                "outputs": outputs,
            }
        )
        return
    if options.quiet:
        return
    rate = f", {counts.rows / seconds:,.0f} a second" if seconds > 0.1 else ""
    share = f" ({counts.counted / counts.tokens:.0%})" if counts.tokens else ""
    print(f"rows         {counts.rows:,}{rate}", file=sys.stderr)
    print(f"masked       {counts.masked:,}", file=sys.stderr)
    print(f"tokens       {counts.tokens:,}, {counts.counted:,} of them count{share}", file=sys.stderr)
    for error, count in errors.most_common(_MOST_SHOWN):
        print(f"no mask      {count:,}: {one_line(error)}", file=sys.stderr)
    for output in outputs[:_MOST_SHOWN]:
        print(f"wrote        {one_line(output)}", file=sys.stderr)
