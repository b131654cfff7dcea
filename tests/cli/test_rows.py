"""`tplc parse SOURCE ROWS --column NAME`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT
from tplc.driver import GrammarOptions, ParserOptions, generate, load_ir, shared_runtime
from tplc.ir.runtimes import RUNTIME_FILE

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
PARSER = str(ROOT / "examples" / "tagged-json" / "out" / "parser.py")
CALL = '<fn>\n{"name": "look", "arguments": {"at": 5}}\n</fn>'
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}}]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    texts = ["Hi.", None, CALL, CALL.replace("look", "peek"), CALL]
    tools = [None, None, json.dumps(TOOLS), json.dumps(TOOLS), None]
    parquet.write_table(pa.table({"text": texts, "tools": tools}), tmp_path / "rows.parquet")
    return "rows.parquet"


def test_a_file_of_rows(run: Run, rows: str, tmp_path: Path) -> None:
    result = run(
        "parse", PARSER, rows, "--column", "text", "--tools-column", "tools", "-o", "out.jsonl", "--engine", "pyarrow"
    )
    assert (result.code, result.out) == (0, "")
    lines = [line for line in result.err.splitlines() if not line.startswith("rows")]
    assert lines == [
        "calls        3 in 3 rows",
        "incomplete   0",
        "diagnosed    1",
        "unknown      1 calls of tools that are not among those given",
        "violating    1 calls with arguments that are not as the tool's schema says",
        "not judged   0 calls that nobody can judge: the schema, the tools or the arguments cannot be read",
        "wrote        out.jsonl",
    ]
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["content"] for row in written] == ["Hi.", None, None, None, None]
    assert [row["incomplete"] for row in written] == [False, None, False, False, False]
    assert written[3]["tool_calls"] == [{"id": None, "name": "peek", "arguments": '{"at": 5}'}]


def test_parsers_that_share_a_runtime(run: Run, tmp_path: Path) -> None:
    names = ("tagged-json", "parameter-tags")
    for folder, runtime in (("own", "standalone"), ("shared", "shared")):
        (tmp_path / folder).mkdir()
        for name in names:
            ir = load_ir((ROOT / "examples" / name / "out" / "ir.json").read_text(encoding="utf-8"))
            text = generate(ir, "python", GrammarOptions(parser=ParserOptions(runtime=runtime)))
            (tmp_path / folder / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "shared" / RUNTIME_FILE).write_text(shared_runtime(), encoding="utf-8")
    parquet.write_table(pa.table({"text": [CALL] * 3, "by": [*names, None]}), tmp_path / "rows.parquet")
    for folder in ("own", "shared"):
        result = run(
            "parse", folder, "rows.parquet", "--column", "text", "--parser-column", "by", "-o", f"{folder}.jsonl"
        )
        assert result.code == 0, result.err
    assert (tmp_path / "shared.jsonl").read_text() == (tmp_path / "own.jsonl").read_text()
    one = run("parse", "shared/tagged-json.py", "rows.parquet", "--column", "text", "-o", "one.jsonl")
    assert (one.code, json.loads((tmp_path / "one.jsonl").read_text().splitlines()[0])["content"]) == (0, None)


def test_the_summary_as_json(run: Run, rows: str) -> None:
    result = run("parse", PARSER, rows, "--column", "text", "-o", "out", "--engine", "pyarrow", "--json")
    report = json.loads(result.out)
    assert (result.code, result.err, report.pop("seconds") >= 0) == (0, "", True)
    counts = {
        "rows": 5,
        "nulls": 1,
        "characters": 3 + 3 * len(CALL),
        "with_calls": 3,
        "calls": 3,
        "incomplete": 0,
        "diagnosed": 0,
        "unread": 0,
        "unknown_tools": 0,
        "violating": 0,
        "not_judged": 0,
    }
    assert report == {
        **counts,
        "by_tool": {"look": 2, "peek": 1},
        "by_diagnostic": {},
        "by_length": {"< 100": counts},
        "engine": "pyarrow",
        "outputs": ["out/rows.parquet"],
    }


WRONG = [
    ((), "rows are written to a file or a folder: give -o FILE.parquet, FILE.jsonl, or a folder"),
    (("-o", "o.jsonl", "--column", "texts"), "rows.parquet: there is no column texts: there are text, tools"),
    (("-o", "o.jsonl", "--tools", "t", "--tools-column", "tools"), "give --tools for all rows, or --tools-column for "),
    (("-o", "o.jsonl", "--engine", "peg"), "--engine peg: no such engine; there are ray, datasets, pyarrow"),
    (("-o", "rows.parquet"), "rows.parquet is there: --resume leaves what is whole, --force writes anew"),
]


@pytest.mark.parametrize(("arguments", "problem"), WRONG)
def test_wrong_usage(run: Run, rows: str, arguments: tuple[str, ...], problem: str) -> None:
    engine = () if "--engine" in arguments else ("--engine", "pyarrow")
    result = run("parse", PARSER, rows, "--column", "text", *engine, *arguments)
    assert (result.code, result.out) == (2, "") and result.err.startswith(f"tplc: {problem}")


def test_rows_without_a_column_and_an_output_with_a_file(run: Run, rows: str) -> None:
    result = run("parse", PARSER, rows)
    assert (result.code, result.err) == (
        2,
        "tplc: rows.parquet: rows are parsed with --column NAME, the column that holds the outputs\n",
    )
    result = run("parse", PARSER, "-o", "x.json", stdin="Hi.")
    assert (result.code, result.err) == (
        2,
        "tplc: -o is for rows (--column); the message of one output goes to standard output\n",
    )
