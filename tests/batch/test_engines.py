"""The examples of examples/batch, each in the engine it is for, where that is installed: equal to the plain loop.

`make engines` installs them and runs this with TPLC_ENGINES=1; Ray and Spark take too long to start for every run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.batch.test_lines import HOSTILE, write
from tests.batch.test_parse_many import row_of
from tests.batch.test_rows import flat, one, outputs
from tests.conftest import ROOT
from tplc.batch.columns import FLAT
from tplc.verify.artifact import load_module

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
SCRIPTS = {"pyarrow": "pyarrow", "datasets": "datasets", "polars": "polars", "duckdb": "duckdb"}
SLOW = {"ray_data": "ray", "spark": "pyspark"}
ALL = bool(os.environ.get("TPLC_ENGINES"))
# Engines say much of their own, and warn of one another.
QUIET = {"RAY_AUTH_MODE": "disabled", "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Return a file whose first rows have no calls and no text, and what the plain loop makes of it."""
    texts = [None, "no call", *(text for name, text in outputs(3000) if name == "tagged-json")]
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(pa.table({"text": texts}), path, row_group_size=50)
    module = load_module(one()[""])
    return path, [flat(None if text is None else row_of(module, text)) for text in texts]


@pytest.mark.parametrize("name", [*SCRIPTS, *SLOW])
def test_engine_equals_the_loop(name: str, rows: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    package = (SCRIPTS | SLOW)[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: make engines")
    if name in SLOW and not ALL:
        pytest.skip(f"{package} takes long to start: make engines")
    if name == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    path, expected = rows
    script = ROOT / "examples" / "batch" / f"with_{name}.py"
    parser, out = ROOT / "examples" / "tagged-json" / "out" / "parser.py", tmp_path / "parsed"
    command = [sys.executable, str(script), str(parser), str(path), str(out)]
    environment = {**os.environ, **QUIET, "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 0, done.stderr
    assert parquet.read_table(out).select(FLAT).to_pylist() == expected


# One engine, started once: a file in pieces, lines, and a folder of more files than there are workers.
RUN = """
import sys
from pathlib import Path
from tplc.batch import Columns, RowParser
from tplc.batch.engines import choose_engine
from tplc.batch.run import plan
name, parser, place, out = sys.argv[1:]
read = RowParser({"": Path(parser).read_text(encoding="utf-8")}, Columns("text"))
for rows in ("rows.parquet", "rows.jsonl", "hostile.jsonl", "folder", "merged"):
    engine = choose_engine(name, jobs=2, batch=10)
    output = f"{out}/{rows}.out" if rows != "merged" else f"{out}/merged.parquet"
    rows = rows.replace("merged", "folder")
    print(plan(read, engine, f"{place}/{rows}", output, force=False, resume=False).run().to_json())
"""


@pytest.mark.parametrize("name", ["datasets", "ray"])
def test_the_command_on_an_engine_equals_this_process(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(name) is None or not ALL:
        pytest.skip(f"{name} takes long to start: make engines")
    texts = [None, "no call", *(text for known, text in outputs(3000) if known == "tagged-json")]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet", row_group_size=50)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "rows.jsonl").write_text(lines, encoding="utf-8")
    write(tmp_path / "hostile.jsonl", *(line for line, _, _ in HOSTILE))
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "hostile.jsonl", *(line for line, _, _ in HOSTILE))
    for number in range(9):
        parquet.write_table(pa.table({"text": texts[number::9]}), tmp_path / "folder" / f"{number}.parquet")
    parser = str(ROOT / "examples" / "tagged-json" / "out" / "parser.py")
    environment = {**os.environ, **QUIET, "HF_HOME": str(tmp_path / "hub")}
    found: dict[str, tuple[str, list[tuple[Path, str, str]]]] = {}
    for engine in ("pyarrow", name):
        command = [sys.executable, "-c", RUN, engine, parser, str(tmp_path), str(tmp_path / engine)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=environment)
        assert done.returncode == 0, done.stderr
        files = sorted((tmp_path / engine).rglob("*.parquet"))
        assert len(files) == 14
        tables = [(path.relative_to(tmp_path / engine), parquet.read_table(path)) for path in files]
        shown = [
            (path, table.schema.to_string(), repr(table.to_pylist())) for path, table in tables
        ]  # NaN equals nothing
        found[engine] = (done.stdout, shown)
    assert found[name] == found["pyarrow"]


def test_a_row_after_an_engine_of_a_language_model(rows: tuple[Path, list[dict[str, Any]]]) -> None:
    script = ROOT / "examples" / "batch" / "with_ray_llm.py"
    spec = importlib.util.spec_from_file_location("with_ray_llm", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parse = module.Postprocess(str(ROOT / "examples" / "tagged-json" / "out" / "parser.py"))
    text = next(row for row in parquet.read_table(rows[0])["text"].to_pylist() if row and "<fn>" in row)
    row = {"generated_text": text, "num_generated_tokens": 5}
    assert parse(row) == {**row, **row_of(load_module(one()[""]), text)}
