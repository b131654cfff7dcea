"""Move rows with an engine: this process with pyarrow, datasets with processes, Ray Data with workers or a cluster.

One file's pieces are shared out among workers, and its tables come back with their messages in the order of its rows.
Of many files each is one worker's, on Ray: it reads, parses, writes and counts it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from tplc.batch.files import RowFile, RowRange
from tplc.batch.parts import PartFile
from tplc.batch.rows import RowParser
from tplc.batch.summary import Summary
from tplc.cluster import reason, start_ray, stop_ray
from tplc.errors import MissingPackage, SourceError, TplcError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

EngineName = Literal["ray", "datasets", "pyarrow"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
BATCH = 1000
# The package to install for each.
_EXTRAS: dict[EngineName, str] = {"ray": "ray", "datasets": "datasets", "pyarrow": "batch"}


@dataclass(frozen=True, slots=True)
class Engine:
    """A library that moves rows. `address`: of a Ray cluster; `jobs`: how many workers, None for the engine's own
    choice."""

    name: EngineName
    address: str | None = None
    jobs: int | None = None
    batch: int = BATCH

    def tables(self, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
        return _RUN[self.name](self, read, file)

    def stop(self) -> None:
        """Cancel the work that was started, so that no worker writes any more."""
        if self.name == "ray":
            stop_ray()

    def summaries(
        self, read: RowParser, parts: Sequence[PartFile], progress: Callable[[int], None]
    ) -> Iterator[Summary]:
        """Yield the summary of each part, in their order, when its file is complete."""
        done = 0
        if self.name == "ray" and len(parts) > 1:
            for summary in _files_with_ray(self, read, parts):
                done += 1
                progress(summary.counts.rows)
                yield summary
        for part in parts[done:]:
            yield part.write(lambda file: self.tables(read, file), Summary.of(read), progress)


def choose_engine(
    name: str | None,
    *,
    address: str | None = None,
    jobs: int | None = None,
    batch: int = BATCH,
    what: str = "parsing a column of outputs",
    extras: str = "",
) -> Engine:
    """Return the engine of this name, or the first that is installed.  `what` names the user of the engine in
    messages, `extras` the other extras that it needs."""
    asked = name is not None
    if name is None:
        name = next((one for one in ENGINES if find_spec(one) is not None), "pyarrow")
    known = next((one for one in ENGINES if one == name), None)
    if known is None:
        raise UsageError(f"--engine {name}: no such engine; there are {', '.join(ENGINES)}")
    what = f"--engine {known}" if asked else what
    if find_spec("pyarrow") is None or find_spec(known) is None:
        raise MissingPackage(what, ",".join(filter(None, (_EXTRAS[known], extras))))
    if address is not None and known != "ray":
        raise UsageError(f"--address is for --engine ray, and the engine is {known}")
    return Engine(known, address, jobs, batch)


def in_this_process(read: RowParser, file: RowFile, batch: int) -> Iterator[pa.Table]:
    for table in file.tables(batch):
        yield read(table)


def _with_datasets(engine: Engine, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
    import datasets

    datasets.disable_progress_bars()  # there is one of ours
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
    """Return the table with the types and metadata of this process, because engines add their own."""
    schema = read(table.slice(0, 0)).schema
    return schema.empty_table() if mapped is None else mapped.cast(schema)


def _with_ray(engine: Engine, read: RowParser, file: RowFile) -> Iterator[pa.Table]:
    """Yield the tables of one file, whose pieces are distributed over the workers."""
    ray = start_ray(engine.address, engine.jobs)
    if file.is_json:
        # The places where its rows begin are unknown, so this process reads it, so many rows at once.
        for table in file.tables(engine.batch * 100):
            slices = [table.slice(start, engine.batch) for start in range(0, table.num_rows, engine.batch)]
            rows = ray.data.from_arrow(slices) if slices else None
            yield from [read(table)] if rows is None else _mapped(ray, engine, file, table, read, rows, read)
        return
    first = next(file.tables(1))
    if first.num_rows == 0:
        yield read(first)
    else:
        pieces = [{"group": one.group, "start": one.start, "stop": one.stop} for one in file.pieces(engine.batch * 10)]
        rows = ray.data.from_items(pieces, override_num_blocks=len(pieces))
        yield from _mapped(ray, engine, file, first, read, rows, _Pieces(read, file, engine.batch))


def _mapped(
    ray: Any, engine: Engine, file: RowFile, first: pa.Table, read: RowParser, rows: Any, function: Any
) -> Iterator[pa.Table]:
    mapped = rows.map_batches(
        function, batch_format="pyarrow", batch_size=None, num_cpus=1, compute=_workers(ray, engine, rows.num_blocks())
    )
    try:
        for table in mapped.iter_batches(batch_format="pyarrow", batch_size=engine.batch * 10):
            yield _as_in_this_process(read, first, table)
    except ray.exceptions.RayError as error:
        raise SourceError(file.path, f"Ray could not parse its rows: {reason(error)}") from error


def _workers(ray: Any, engine: Engine, most: int) -> Any:
    """Return the option that limits Ray to `jobs` tasks at once; Ray warns about more tasks than inputs."""
    return ray.data.TaskPoolStrategy(size=min(engine.jobs, most)) if engine.jobs else None


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Reads and parses pieces of a file in a worker."""

    read: RowParser
    file: RowFile
    batch: int

    def __call__(self, pieces: pa.Table) -> Iterator[pa.Table]:
        for row in pieces.to_pylist():
            for table in self.file.piece(RowRange(**row), self.batch):
                yield self.read(table)


def _files_with_ray(engine: Engine, read: RowParser, parts: Sequence[PartFile]) -> Iterator[Summary]:
    """Return summaries of whole files.  One worker reads and writes each file; only counts go through this process."""
    ray = start_ray(engine.address, engine.jobs)
    if len(parts) < ray.cluster_resources().get("CPU", 1):
        return
    items = [{"inputs": [file.path for file in part.inputs], "output": part.output} for part in parts]
    rows = ray.data.from_items(items, override_num_blocks=len(items))
    mapped = rows.map(_WholeFile(read, engine.batch), num_cpus=1, compute=_workers(ray, engine, len(items)))
    try:
        for row in mapped.iter_rows():
            done = pickle.loads(row["done"])
            if isinstance(done, TplcError):
                raise done
            yield done
    except ray.exceptions.RayError as error:
        raise UsageError(f"Ray could not parse the files: {reason(error)}") from error


@dataclass(frozen=True, slots=True)
class _WholeFile:
    """Parses a whole file in a worker.  An error of ours comes back as a value: Ray would wrap it in traces."""

    read: RowParser
    batch: int

    def __call__(self, item: dict[str, Any]) -> dict[str, bytes]:
        part = PartFile(tuple(map(RowFile, item["inputs"])), item["output"])
        done: Summary | TplcError
        try:
            done = part.write(lambda file: in_this_process(self.read, file, self.batch), Summary.of(self.read))
        except TplcError as error:
            done = error
        return {"done": pickle.dumps(done)}


_RUN: dict[str, Callable[[Engine, RowParser, RowFile], Iterator[Any]]] = {
    "pyarrow": lambda engine, read, file: in_this_process(read, file, engine.batch),
    "datasets": _with_datasets,
    "ray": _with_ray,
}
