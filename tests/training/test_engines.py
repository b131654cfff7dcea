"""Conversations masked by `datasets.map` and by Ray Data, as this process does it; `make servers` installs both."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.conftest import ROOT
from tests.conversations.report import talk, tokenizer_text
from tplc.cli.app import app
from tplc.conversations.rows import ConversationMasker

for package in ("datasets", "pyarrow", "tokenizers"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make servers", allow_module_level=True)

FOLDER = ROOT / "examples" / "tagged-json"
SOURCE = (FOLDER / "template.jinja").read_text(encoding="utf-8")
ROWS = [talk(number, 6) for number in range(240)]
TOKENIZER = tokenizer_text([message["content"] for row in ROWS[:20] for message in row])
MADE = ("input_ids", "assistant_masks", "mask_error")


@pytest.fixture(scope="module")
def wanted() -> dict[str, list[Any]]:
    return ConversationMasker(SOURCE, TOKENIZER)({"messages": [*ROWS, [{"role": "user"}]]})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("rows")
    rows = [json.dumps(row) for row in [*ROWS, [{"role": "user"}]]]
    parquet.write_table(pa.table({"messages": rows}), folder / "rows.parquet", row_group_size=50)
    (folder / "tokenizer.json").write_text(TOKENIZER, encoding="utf-8")
    yield folder


@pytest.mark.parametrize("processes", [None, 2])
def test_a_map_of_datasets(wanted: dict[str, list[Any]], processes: int | None) -> None:
    import datasets

    datasets.disable_progress_bars()
    masker = ConversationMasker(SOURCE, TOKENIZER).with_format()
    rows = datasets.Dataset.from_dict({"messages": [*ROWS, [{"role": "user", "content": None}]]})
    mapped = rows.map(masker, batched=True, batch_size=50, num_proc=processes, load_from_cache_file=False)
    assert mapped.column_names == ["messages", *MADE]
    assert {name: list(mapped[name]) for name in MADE} == wanted


def test_a_map_whose_first_rows_are_refused() -> None:
    import datasets

    masker = ConversationMasker(SOURCE, TOKENIZER)
    rows = datasets.Dataset.from_dict({"messages": [json.dumps([{"role": "user"}])] * 3 + [json.dumps(ROWS[0])]})
    mapped = rows.map(
        masker, batched=True, batch_size=2, features=masker.features(rows.features), load_from_cache_file=False
    )
    assert [mask is None for mask in mapped["assistant_masks"]] == [True, True, True, False]
    assert [bool(error) for error in mapped["mask_error"]] == [True, True, True, False]


@pytest.mark.parametrize("engine", ["pyarrow", "datasets", "ray"])
def test_the_command(wanted: dict[str, list[Any]], files: Path, engine: str) -> None:
    from pyarrow import parquet

    if importlib.util.find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed: make servers")
    output = files / f"{engine}.parquet"
    arguments = ["mask", str(FOLDER / "template.jinja"), str(files / "rows.parquet"), "--tokenizer", str(files)]
    done = CliRunner().invoke(
        app, [*arguments, "-o", str(output), "--engine", engine, "--jobs", "2", "--batch-size", "50", "--json"]
    )
    assert done.exit_code == 0, done.output
    table = parquet.read_table(output)
    found = {name: table[name].to_pylist() for name in MADE}
    assert found["mask_error"][0] is None
    found["mask_error"] = [error or "" for error in found["mask_error"]]
    found["mask_error"][-1] = found["mask_error"][-1].replace(str(FOLDER), "").lstrip("/").replace(".jinja", "")
    assert found == wanted
