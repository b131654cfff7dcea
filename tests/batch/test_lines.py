"""JSON lines: text stays text, rows come back as they were, no row stops a run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.batch.test_parse_many import row_of
from tests.batch.test_rows import one, parsers
from tplc.batch.columns import FLAT, Columns
from tplc.errors import SourceError, UsageError
from tplc.verify.artifact import load_module

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from tplc.batch import lines as batch_lines  # noqa: E402 - they need pyarrow
from tplc.batch.engines import Engine  # noqa: E402
from tplc.batch.files import RowFile  # noqa: E402
from tplc.batch.lines import UNREAD  # noqa: E402
from tplc.batch.rows import RowParser  # noqa: E402
from tplc.batch.run import plan  # noqa: E402

TEXT = Columns("text")
CALL = '<fn>\n{"name": "look", "arguments": {"at": 5}}\n</fn>'
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}}]


def table_of(path: Path, size: int = 2, columns: Columns | None = TEXT) -> Any:
    return pa.concat_tables(RowFile(str(path), columns=columns).tables(size))


def write(path: Path, *rows: object) -> Path:
    """Write objects as JSON, text and bytes as they are."""
    data = [
        row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode() for row in rows
    ]
    path.write_bytes(b"".join(line + b"\n" for line in data))
    return path


def run(rows: Path, out: Path, columns: Columns = TEXT, **more: Any) -> Any:
    read = RowParser(more.pop("parsers", one()), columns, **more)
    return plan(read, Engine("pyarrow", batch=2), str(rows), str(out), force=False, resume=False).run()


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


VALUES = [
    (["2024-01-01", "2024-01-01T10:00:00Z", None], "string"),
    (["", "1", "null"], "string"),
    ([1, -5, None, 2**53 + 1, 2**63 - 1, -(2**63)], "int64"),
    ([1, 2.5, 1e300], "double"),
    ([True, None, False], "bool"),
    ([None, None], "null"),
    ([2**63, 1], "JSON"),
    ([2**53 + 1, 0.5], "JSON"),
    ([10**400, "a", None], "JSON"),
    ([1, True], "JSON"),
    (["a", 1, {"b": [None, "é\u2028", 1.5]}, [], "[1]", "null", '"'], "JSON"),
    ([[1, 2], []], "JSON"),
    ([{"a": 1}, {"b": 2}], "JSON"),
]


@pytest.mark.parametrize(("values", "kind"), VALUES)
@pytest.mark.parametrize("size", [1, 1000])
def test_members_keep_their_types_and_come_back(values: list[Any], kind: str, size: int, tmp_path: Path) -> None:
    rows = [{"text": "Hi.", "id": value} for value in values]
    path = write(tmp_path / "rows.jsonl", *rows)
    table = table_of(path, size)
    field = table.schema.field("id")
    assert ("JSON" if field.metadata else str(field.type)) == kind
    expected = (
        values
        if kind != "JSON"
        else [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    )
    assert table["id"].to_pylist() == expected
    run(path, tmp_path / "out.jsonl")
    assert [{name: row[name] for name in ("text", "id")} for row in read_lines(tmp_path / "out.jsonl")] == rows
    # Also by way of Parquet.
    run(path, tmp_path / "out.parquet")
    flat = parquet.read_table(tmp_path / "out.parquet").drop_columns(list(FLAT))
    parquet.write_table(flat, tmp_path / "again.parquet")
    run(tmp_path / "again.parquet", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


CUT = "is not JSON: Unterminated string starting at character 10"
NINES = '{"text": "Hi.", "n": ' + "9" * 9999 + "}"
HOSTILE: list[tuple[object, str | None, str]] = [
    ({"text": "Hi.", "prompt": "Hello?"}, "Hi.", ""),
    ('{"text": "cut', '{"text": "cut', CUT),
    ("", None, ""),
    ("  \t\r", None, ""),
    (b'{"text": "\xff"}', '{"text": "\\xff"}', "is not UTF-8: byte 0xff"),
    ("[1]", "[1]", "is not an object but a list"),
    ("7", "7", "is not an object but a number"),
    ("null", "null", "is not an object but null"),
    ({"text": 5}, "5", "text is a number"),
    ({"text": ["a"]}, '["a"]', "text is a list"),
    ({"text": {"é": None}}, '{"é": null}', "text is an object"),
    ({"text": "Ho.", "prompt": [{"role": "user"}]}, "Ho.", "prompt is a list"),
    ('{"text": "' + "[" * 99_999, '{"text": "' + "[" * 99_999, CUT),
    ('{"text": ' + "[" * 99_999, '{"text": ' + "[" * 99_999, "is nested too deeply"),
    (NINES, NINES, "contains a number that is too long"),
    ('{"text": "\\ud800"}', "\\ud800", ""),
    ('{"text": "\\uD83D\\ude00 \\ude00"}', "\U0001f600 \\ude00", ""),
    ('{"text": "a", "\\udc00": 1}', "a", ""),
    (b'{"text": "a\tb\x01"}', "a\tb\x01", ""),
    ({"text": "x" * 5000}, "x" * 5000, ""),
    ('{"text": "first", "text": "last"}', "last", ""),
    ('{"text": "Hm.", "score": NaN}', "Hm.", ""),
]  # fmt: skip


@pytest.mark.parametrize("struct", [False, True])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_no_line_stops_a_run_and_unread_lines_are_reported_and_kept(struct: bool, suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", *(line for line, _, _ in HOSTILE))
    out = tmp_path / f"out.{suffix}"
    summary = run(path, out, Columns("text", prompt="prompt", struct=struct))
    rows = read_lines(out) if suffix == "jsonl" else parquet.read_table(out).to_pylist()
    found = [row["message"] if struct else row for row in rows]
    reported = [(row["content"], row["diagnostics"]) for row in found]
    kept = [(number, text, why) for number, (_, text, why) in enumerate(HOSTILE, 1) if text is not None]
    assert reported == [
        (
            text,
            [{"offset": 0, "text": f"not read: {path}: line {number}: {why}", "code": "row_not_read"}] if why else [],
        )
        for number, text, why in kept
    ]
    bad = sum(bool(why) for _, _, why in kept)
    assert (summary.counts.rows, summary.counts.unread, summary.by_diagnostic["row_not_read"]) == (len(kept), bad, bad)
    assert {sample.why for sample in summary.samples} == {"", "row_not_read"}


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_any_batches_of_lines_are_equal(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "rows.jsonl", *(line for line, _, _ in HOSTILE))
    whole = table_of(path, 5)
    assert table_of(path, size).schema == whole.schema
    assert repr(table_of(path, size).to_pylist()) == repr(whole.to_pylist())  # NaN equals nothing
    monkeypatch.setattr(batch_lines, "_AT_ONCE", 1)
    assert [table.num_rows for table in RowFile(str(path), columns=TEXT).tables(100)] == [1] * whole.num_rows


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n"])
def test_no_lines_are_no_rows(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(data)
    summary = run(tmp_path / "rows.jsonl", tmp_path / "out.parquet", Columns("text", tools="tools"))
    table = parquet.read_table(tmp_path / "out.parquet")
    assert (summary.rows, table.num_rows, table.column_names) == (0, 0, ["text", "tools", *FLAT])
    run(tmp_path / "rows.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_a_mark_at_the_beginning_and_other_line_ends(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a\\n"}\r\n{"text": "b\xe2\x80\xa8"}')
    assert table_of(tmp_path / "rows.jsonl")["text"].to_pylist() == ["a\n", "b\u2028"]


def test_compressed_lines(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Hi."}\n'))
    run(rows, tmp_path / "out")
    assert parquet.read_table(tmp_path / "out" / "a.parquet")["content"].to_pylist() == ["Hi."]
    (rows / "a.jsonl.gz").write_bytes(b"\x1f\x8bno")
    with pytest.raises(SourceError, match=r"a\.jsonl\.gz: cannot be read: "):
        run(rows, tmp_path / "more")


def test_a_line_that_is_too_long_is_truncated_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_lines, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(batch_lines, "_KEPT", 9)
    rows = [{"text": "Hi."}, {"text": "x" * (3 << 20)}, {"text": "Ho."}, {"text": "y" * ((1 << 20) - 13)}]
    table = table_of(write(tmp_path / "rows.jsonl", *rows))
    texts = table["text"].to_pylist()
    assert texts == ["Hi.", None, "Ho.", rows[3]["text"]]
    why = f"{tmp_path}/rows.jsonl: line 2: is longer than 1 MB, this is its beginning"
    assert table[UNREAD].to_pylist()[1] == {"text": '{"text": ', "why": why}


def test_more_names_than_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_lines, "MOST_NAMES", 3)
    rows = [{f"n{at}": at, "(not read)": 1, "(others)": 2} for at in range(4)] + [{"text": "Hi.", "n0": 5}]
    path = write(tmp_path / "rows.jsonl", *rows)
    run(path, tmp_path / "out.jsonl")
    found = [
        {name: value for name, value in row.items() if value is not None and name not in FLAT}
        for row in read_lines(tmp_path / "out.jsonl")
    ]
    assert found == [
        {"n0": 0, "(others)": {"(not read)": 1, "(others)": 2}},
        {"(others)": {"n1": 1, "(not read)": 1, "(others)": 2}},
        {"(others)": {"n2": 2, "(not read)": 1, "(others)": 2}},
        {"(others)": {"n3": 3, "(not read)": 1, "(others)": 2}},
        {"text": "Hi.", "n0": 5},
    ]


def test_a_member_that_comes_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_lines, "HEAD", 2)
    path = write(tmp_path / "rows.jsonl", {"n": 1}, {"n": 2}, {"text": "Hi."}, {"text": "Ho.", "content": 3})
    run(path, tmp_path / "out.jsonl")
    found = [(row["content"], row["(others)"]) for row in read_lines(tmp_path / "out.jsonl")]
    assert found == [(None, None), (None, None), ("Hi.", None), ("Ho.", {"content": 3})]


WRONG = [
    ([{"a": 1}], TEXT, "there is no column text; the columns are a"),
    ([{"text": 1}, {"text": None}], TEXT, "the column text is not text: it contains int64"),
    ([{"text": {"a": 1}}], TEXT, "the column text is not text: it contains JSON objects, lists, or what"),
    ([{"text": [1, 2]}], TEXT, "the column text holds token ids: give --tokenizer with the model's tokenizer.json"),
    ([{"text": "", "p": [{"role": "user"}]}], Columns("text", prompt="p"), "the column p holds JSON objects, "),
    ([{"text": "", "content": ""}], TEXT, "there is a column content already, and it would be overwritten: rename it"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "columns", "problem"), WRONG)
def test_wrong_columns_are_reported_before_any_work(
    rows: list[object], columns: Columns, problem: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "rows.jsonl", *rows)
    with pytest.raises(UsageError) as caught:
        run(path, tmp_path / "out.jsonl", columns)
    assert str(caught.value).startswith(f"{path}: {problem}")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_that_holds_no_lines_of_json(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", "", "text,id", "Hi.,1")
    with pytest.raises(SourceError) as caught:
        run(path, tmp_path / "out.jsonl")
    assert str(caught.value) == f"{path}: line 2: is not JSON: Expecting value at character 1"


def test_tools_may_be_json_or_its_text(tmp_path: Path) -> None:
    module = load_module(parsers()["tagged-json"])
    expected = row_of(module, CALL.replace("look", "peek"), tools=TOOLS)
    for values in ([TOOLS, None, TOOLS], [json.dumps(TOOLS), None, TOOLS]):
        rows = [{"text": CALL.replace("look", "peek"), "tools": tools} for tools in values]
        path = write(tmp_path / "rows.jsonl", *rows)
        summary = run(path, tmp_path / f"out{len(str(values))}.jsonl", Columns("text", tools="tools"))
        found = read_lines(tmp_path / f"out{len(str(values))}.jsonl")
        assert [{name: row[name] for name in FLAT} for row in found][0::2] == [expected] * 2
        assert summary.counts.unknown_tools == 2


def test_token_ids_in_lines(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<fn>": 0, "Hi": 1}, unk_token="Hi"))
    tokenizer.add_special_tokens(["<fn>"])
    path = write(tmp_path / "rows.jsonl", {"ids": [1, 0, 1]}, {"ids": None}, {"ids": []}, {"ids": [1.5]})
    run(path, tmp_path / "out.jsonl", Columns("ids"), tokenizer=tokenizer.to_str())
    found = [(row["ids"], row["content"]) for row in read_lines(tmp_path / "out.jsonl")]
    assert found == [([1, 0, 1], "Hi <fn> Hi"), (None, None), ([], ""), (None, "[1.5]")]


# Several files into one


def test_files_of_lines_into_one_have_the_types_of_all(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    write(rows / "a.jsonl", {"text": "a", "id": 1, "x": None})
    write(rows / "b.jsonl")
    write(rows / "c.jsonl", {"id": "one", "text": "c", "x": 1.5, "more": True}, "{")
    run(rows, tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.drop_columns(list(FLAT)).to_pylist() == [
        {"text": "a", "id": "1", "x": None, "more": None},
        {"text": "c", "id": '"one"', "x": 1.5, "more": True},
        {"text": None, "id": None, "x": None, "more": None},
    ]
    assert table["content"].to_pylist() == ["a", "c", "{"]
    run(rows, tmp_path / "out.jsonl")
    assert [row["id"] for row in read_lines(tmp_path / "out.jsonl")] == [1, "one", None]


def test_files_of_both_kinds_into_one(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    write(rows / "a.jsonl", {"text": "a", "n": 1, "j": [1]})
    parquet.write_table(pa.table({"n": pa.array([2], pa.int32()), "text": ["b"], "m": ["x"]}), rows / "b.parquet")
    parquet.write_table(pa.table({"text": ["c"], "j": ["[2]"]}), rows / "c.parquet")
    run(rows, tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").drop_columns(list(FLAT)).to_pylist() == [
        {"text": "a", "n": 1, "j": "[1]", "m": None},
        {"text": "b", "n": 2, "j": None, "m": "x"},
        {"text": "c", "n": None, "j": "[2]", "m": None},
    ]
    parquet.write_table(pa.table({"text": ["c"], "n": ["2"]}), rows / "d.parquet")
    with pytest.raises(UsageError) as caught:
        run(rows, tmp_path / "more.parquet")
    assert str(caught.value).startswith(f"{rows}/d.parquet cannot be written into one file with {rows}/a.jsonl: ")
    assert not (tmp_path / "more.parquet").exists()
