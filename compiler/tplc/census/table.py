"""Write a census to a file: Parquet if its name ends so, otherwise JSON lines.

How long each took is no part of it: two censuses of the same templates by the same tplc are the same bytes.
"""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tplc.census.entry import CensusEntry
from tplc.errors import MissingPackage, SourceError
from tplc.paths import unreadable

LISTS = ("ambiguities", "warnings")


def encoded(entries: list[CensusEntry], path: str) -> bytes:
    rows = [_row(entry) for entry in entries]
    if not path.endswith(".parquet"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "backslashreplace")
    need_arrow(path)
    import pyarrow as pa
    import pyarrow.parquet as parquet

    kinds = {"size": pa.int64(), "messages": pa.int64(), "passed": pa.int64()}
    kinds |= dict.fromkeys(LISTS, pa.list_(pa.string()))
    names = _row(CensusEntry("", "refused"))
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema), file)
    return file.getvalue()


def _row(entry: CensusEntry) -> dict[str, Any]:
    return {name: value for name, value in entry.to_json().items() if name != "seconds"}


def read(path: str) -> list[CensusEntry]:
    """Return the entries of an earlier census."""
    try:
        if path.endswith(".parquet"):
            need_arrow(path)
            import pyarrow.parquet as parquet

            rows = parquet.read_table(path).to_pylist()
        else:
            rows = [
                json.loads(line) for line in Path(path).read_text(encoding="utf-8-sig").splitlines() if line.strip()
            ]
        return [CensusEntry.from_json(row) for row in rows]
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise SourceError(path, f"is not a census table: {error}") from error


def need_arrow(path: str) -> None:
    if path.endswith(".parquet") and find_spec("pyarrow") is None:
        raise MissingPackage(f"{path}: Parquet", "batch", "use .jsonl")
