"""Who moves the rows: this process with pyarrow, datasets with processes, Ray Data with workers or a cluster.

Each gives the tables of one file with their messages, in the order of its rows; whoever asked writes them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from tplc.batch.files import RowFile, located
from tplc.batch.rows import RowParser
from tplc.errors import SourceError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

EngineName = Literal["ray", "datasets", "pyarrow"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
BATCH = 1000
# What to install for each.
_EXTRAS: dict[EngineName, str] = {"ray": "ray", "datasets": "datasets", "pyarrow": "batch"}


@dataclass(frozen=True, slots=True)
class Engine:
    """`address`: of a Ray cluster; `jobs`: how many workers, None for as many as the engine thinks right."""

    name: EngineName
    address: str | None = None
    jobs: int | None = None
    batch: int = BATCH

    def tables(self, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
        return _RUN[self.name](self, read, file)


def choose_engine(
    name: str | None, *, address: str | None = None, jobs: int | None = None, batch: int = BATCH
) -> Engine:
    """The engine of this name, or the first that is installed."""
    if name is None:
        name = next((one for one in ENGINES if find_spec(one) is not None), "pyarrow")
    known = next((one for one in ENGINES if one == name), None)
    if known is None:
        raise UsageError(f"--engine {name}: no such engine; there are {', '.join(ENGINES)}")
    if find_spec("pyarrow") is None or find_spec(known) is None:
        raise UsageError(
            f"--engine {known} needs a package that is not installed: pip install 'tplc[{_EXTRAS[known]}]'"
        )
    if address is not None and known != "ray":
        raise UsageError(f"--address is for --engine ray, and the engine is {known}")
    return Engine(known, address, jobs, batch)


def _in_this_process(engine: Engine, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
    for table in file.tables(engine.batch):
        yield read(table)


def _with_datasets(engine: Engine, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
    import datasets

    for table in file.tables(engine.batch * 100):
        rows = datasets.Dataset(datasets.table.InMemoryTable(table))
        mapped = rows.with_format("arrow").map(
            read,
            batched=True,
            batch_size=engine.batch,
            num_proc=engine.jobs if table.num_rows > engine.batch else None,
            load_from_cache_file=False,
            features=datasets.Features.from_arrow_schema(read(table.slice(0, 0)).schema),
        )
        yield _as_in_this_process(read, table, mapped.with_format("arrow")[:] if len(mapped) else None)


def _as_in_this_process(read: RowParser, table: pa.Table, mapped: pa.Table | None) -> pa.Table:
    """With the types and the metadata that this process gives; engines have notes of their own there."""
    schema = read(table.slice(0, 0)).schema
    return schema.empty_table() if mapped is None else mapped.cast(schema)


def _with_ray(engine: Engine, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
    import ray

    _start_ray(ray, engine)
    first = next(file.tables(1))
    system, path = located(file.path)
    if first.num_rows == 0:
        yield read(first)
        return
    rows: Any = None
    if file.is_json:
        rows = ray.data.from_arrow(list(file.tables(engine.batch * 10)))
    else:
        rows = ray.data.read_parquet(path, filesystem=system)
    mapped = rows.map_batches(
        read, batch_format="pyarrow", batch_size=engine.batch, num_cpus=1, concurrency=engine.jobs
    )
    try:
        for table in mapped.iter_batches(batch_format="pyarrow", batch_size=engine.batch * 10):
            yield _as_in_this_process(read, first, table)
    except ray.exceptions.RayError as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
        raise SourceError(file.path, f"Ray could not parse its rows: {reason}") from error


def _start_ray(ray: Any, engine: Engine) -> None:
    if not ray.is_initialized():
        jobs = None if engine.address else engine.jobs
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        ray.init(address=engine.address, num_cpus=jobs, include_dashboard=False, **quiet)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True  # rows come back in the order of the file
    context.enable_progress_bars = False


_RUN: dict[str, Callable[[Engine, RowParser, RowFile], Iterator[Any]]] = {
    "pyarrow": _in_this_process,
    "datasets": _with_datasets,
    "ray": _with_ray,
}
