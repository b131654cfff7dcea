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
        "incomplete   0 rows",
        "diagnosed    2 rows",
        "unknown      1 calls of tools that were not given",
        "violating    1 calls whose arguments do not match the tool's schema",
        "not judged   0 calls that cannot be checked: the schema, the tools or the arguments cannot be read",
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
    (("-o", "o.jsonl", "--column", "texts"), "rows.parquet: there is no column texts; the columns are text, tools"),
    (
        ("-o", "o.jsonl", "--tools", "t", "--tools-column", "tools"),
        "give either --tools (for all rows) or --tools-column ",
    ),
    (("-o", "o.jsonl", "--engine", "spark"), "--engine spark: no such engine; there are ray, datasets, pyarrow"),
    (("-o", "rows.parquet"), "rows.parquet: is also read; name another file to write"),
]


@pytest.mark.parametrize(("arguments", "problem"), WRONG)
def test_wrong_usage(run: Run, rows: str, arguments: tuple[str, ...], problem: str) -> None:
    engine = () if "--engine" in arguments else ("--engine", "pyarrow")
    column = () if "--column" in arguments else ("--column", "text")
    result = run("parse", PARSER, rows, *column, *engine, *arguments)
    assert (result.code, result.out) == (2, "") and result.err.startswith(f"tplc: {problem}")


NAMES = {"rows.csv": 2, "parsed.v2": 2, "parsed.json": 2, "parsed.v2/": 0, "there.d": 0, "parsed": 0, "x.ndjson": 0}


@pytest.mark.parametrize(("output", "code"), NAMES.items())
def test_where_rows_are_written(run: Run, rows: str, tmp_path: Path, output: str, code: int) -> None:
    (tmp_path / "there.d").mkdir()
    result = run("parse", PARSER, rows, "--column", "text", "--engine", "pyarrow", "-o", output)
    assert result.code == code
    if code:
        folder = "a folder (a new one with a dot in its name ends with /)"
        assert result.err == f"tplc: {output}: rows are written to .parquet, .jsonl, .ndjson, or to {folder}\n"
        assert not (tmp_path / output).exists()


def test_standard_input_and_output(run: Run, rows: str, tmp_path: Path) -> None:
    lines = '{"text": "Hi."}\n{"text"\n'
    result = run("parse", PARSER, "-", "--column", "text", "-o", "-", "--engine", "pyarrow", "-q", stdin=lines)
    assert (result.code, result.err) == (0, "")
    found = [json.loads(line) for line in result.out.splitlines()]
    why = "not read: standard input: line 2: is not JSON: Expecting ':' delimiter at character 9"
    note = {"offset": 0, "text": why, "code": "row_not_read"}
    assert [(row["content"], row["diagnostics"]) for row in found] == [("Hi.", []), ('{"text"', [note])]
    result = run("parse", PARSER, "--column", "text", "-o", "out.jsonl", "--engine", "pyarrow", stdin=lines)
    assert (result.code, result.out) == (0, "")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == found
    result = run("parse", PARSER, "-", "--column", "no", "-o", "-", stdin=lines)
    assert (result.code, result.err) == (2, "tplc: standard input: there is no column no; the columns are text\n")
    result = run("parse", PARSER, rows, "--column", "text", "-o", "-", "--engine", "pyarrow")
    assert [json.loads(line)["content"] for line in result.out.splitlines()] == ["Hi.", None, None, None, None]
    assert result.err.splitlines()[-1] == "wrote        standard output"
    for option in ("--json", "--resume"):
        result = run("parse", PARSER, rows, "--column", "text", "-o", "-", option)
        assert result.code == 2 and result.err.startswith(f"tplc: {option}: ")


def test_what_is_read_is_not_written(run: Run, rows: str, tmp_path: Path) -> None:
    before = (tmp_path / rows).read_bytes()
    (tmp_path / "link.parquet").symlink_to(rows)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").write_bytes(before)
    command = ("parse", PARSER, "--column", "text", "--engine", "pyarrow", "--force")
    for source, output in ((rows, rows), (rows, "./rows.parquet"), (rows, "link.parquet"), (rows, ".")):
        result = run(*command, source, "-o", output)
        name = "./rows.parquet" if output == "." else output
        assert (result.code, result.err) == (
            2,
            f"tplc: {name}: is also read; name another file to write\n",
        )
    for output in ("in", "in/parsed", "in/all.jsonl", "./in/../in/x/"):
        result = run(*command, "in", "-o", output)
        assert (result.code, result.err) == (
            2,
            f"tplc: {output} is in in, which is read: a second run would read it as well: write elsewhere\n",
        )
    assert (tmp_path / rows).read_bytes() == (tmp_path / "in" / "a.parquet").read_bytes() == before
    (tmp_path / "in" / "a.jsonl").write_text('{"text": "Hi."}\n')
    result = run(*command, "in", "-o", "out")
    assert (result.code, result.err) == (
        2,
        "tplc: in/a.jsonl and in/a.parquet would both be written to out/a.parquet: rename one, or write one file\n",
    )
    assert not (tmp_path / "out").exists()


ONE_OUTPUT = ("--stream", "--prompt=x", "--echo", "--continue-final-message", "--no-reasoning", "--no-tool-calls")
OF_ROWS = (
    *(
        "--prompt-column=x",
        "--tools-column=x",
        "--parser-column=x",
        "--tokenizer=x",
        "--struct",
        "--address=x",
        "--jobs=2",
    ),
    *("--batch-size=5", "--resume", "--force", "--quiet"),
)


def test_what_is_wrong_comes_before_what_is_missing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tplc.batch.engines.find_spec", lambda name: None)
    (tmp_path / "in.jsonl").write_text('{"text": "Hi."}\n')
    (tmp_path / "there.jsonl").write_text("")
    for output, column, reported in (
        ("out.txt", "text", "out.txt: rows are written to .parquet, .jsonl, .ndjson, or to a folder (a new one with "
         "a dot in its name ends with /)"),
        ("there.jsonl", "text", "there.jsonl already exists: --resume skips complete files, --force overwrites them"),
        ("out.jsonl", "no", "in.jsonl: there is no column no; the columns are text"),
        ("out.jsonl", "text", "parsing a column of outputs needs a package that is not installed: "
         "pip install 'tplc[batch]'"),
    ):  # fmt: skip
        result = run("parse", PARSER, "in.jsonl", "--column", column, "-o", output)
        assert (result.code, result.out, result.err) == (2, "", f"tplc: {reported}\n")


def test_options_of_the_other_kind_are_not_ignored(run: Run, rows: str) -> None:
    for option in ONE_OUTPUT:
        name = option.partition("=")[0]
        result = run("parse", PARSER, rows, "--column", "text", "-o", "o.jsonl", option)
        assert (result.code, result.err) == (2, f"tplc: {name} is for a single output: leave it out with --column\n")
    for option in OF_ROWS:
        name = option.partition("=")[0]
        result = run("parse", PARSER, option, stdin="Hi.")
        assert (result.code, result.err) == (2, f"tplc: {name} is for rows (--column)\n")


def test_rows_that_no_parser_reads(run: Run, tmp_path: Path) -> None:
    (tmp_path / "parsers").mkdir()
    (tmp_path / "parsers" / "b.py").write_text(Path(PARSER).read_text(encoding="utf-8"), encoding="utf-8")
    parquet.write_table(pa.table({"text": ["Hi.", None, "Ho."], "by": ["a", "b", None]}), tmp_path / "rows.parquet")
    command = ("parse", "parsers", "rows.parquet", "--column", "text", "--engine", "pyarrow", "-q", "--force")
    result = run(*command, "--parser-column", "by", "-o", "out.jsonl")
    hint = "the column by contains a, (none); the parsers in parsers are b"
    assert (result.code, result.err) == (1, f"tplc: no parser read any of the 2 rows: {hint}\n")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3
    parquet.write_table(pa.table({"text": ["Hi.", None, "Ho."], "by": ["b", "b", None]}), tmp_path / "rows.parquet")
    assert run(*command, "--parser-column", "by", "-o", "out.jsonl").code == 0
    (tmp_path / "lines.jsonl").write_text('{"text": null}\n{"text"\n')
    result = run("parse", "parsers/b.py", "lines.jsonl", "--column", "text", "-o", "x.jsonl", "-q")
    hint = "their diagnostics give the reasons"
    assert (result.code, result.err) == (1, f"tplc: no parser read any of the 1 rows: {hint}\n")


def test_hints_where_parsers_are_named_wrongly(run: Run, rows: str, tmp_path: Path) -> None:
    (tmp_path / "parsers").mkdir()
    (tmp_path / "parsers" / "b.py").write_text(Path(PARSER).read_text(encoding="utf-8"), encoding="utf-8")
    result = run("parse", PARSER, rows, "--column", "text", "-o", "o.jsonl", "--parser-column", "parsers")
    assert (result.code, result.err) == (
        2,
        "tplc: --parser-column parsers is a folder; the option takes the name of the column that names each row's "
        "parser, and SOURCE is the folder of parsers\n",
    )
    result = run("parse", "parsers", rows, "--column", "text", "-o", "o.jsonl")
    assert (result.code, result.err) == (
        2,
        "tplc: parsers is a folder of parsers; name one of them, or give --parser-column with the column that names "
        "each row's parser\n",
    )
    result = run("parse", PARSER, "*.parquet", "--column", "text", "-o", "o.jsonl")
    assert (result.code, result.err) == (
        2,
        "tplc: *.parquet: there is no such file\n    wildcards are not supported; name a file or a folder\n",
    )


def test_options_for_one_output_and_for_rows(run: Run, rows: str) -> None:
    result = run("parse", PARSER, rows, "--column", "text", "-o", "o.jsonl", "--with-peg")
    assert (result.code, result.err) == (2, "tplc: --with-peg is for a single output: leave it out with --column\n")
    result = run("parse", PARSER, "--engine", "ray", stdin="Hi.")
    assert (result.code, result.err) == (2, "tplc: --engine is for rows (--column)\n")


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


def test_a_file_without_rows_is_reported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    arguments = ("--column", "text", "--engine", "pyarrow", "-q")
    done = run("parse", PARSER, "empty.jsonl", *arguments, "-o", "out.jsonl")
    assert (done.code, done.out, done.err) == (0, "", "tplc: empty.jsonl: contains no rows\n")
    assert run("parse", PARSER, "empty.jsonl", *arguments, "-o", "out.jsonl", "--resume").err == ""
    assert run("parse", PARSER, "-", *arguments, "-o", "-").err == "tplc: standard input: contains no rows\n"
