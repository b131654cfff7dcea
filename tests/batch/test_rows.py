"""Tables of outputs: Arrow in, Arrow out, equal to the plain loop in any batches."""

from __future__ import annotations

import json
import pickle
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.batch.test_parse_many import row_of
from tests.example_case import load_examples, standalone_parser
from tplc.batch.columns import FLAT, Columns
from tplc.errors import UsageError
from tplc.verify.artifact import NotAParser, load_module

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from tplc.batch.engines import Engine, choose_engine  # noqa: E402 - they need pyarrow
from tplc.batch.files import PendingFile, RowFile, part_files  # noqa: E402
from tplc.batch.rows import RowParser  # noqa: E402
from tplc.batch.run import plan  # noqa: E402
from tplc.batch.summary import Summary  # noqa: E402

EXAMPLES = {example.name: example for example in load_examples()}


@cache
def parsers() -> dict[str, str]:
    return {name: standalone_parser(name) for name in EXAMPLES}


@cache
def one() -> dict[str, str]:
    return {"": standalone_parser("tagged-json")}


def outputs(count: int, seed: int = 0) -> list[tuple[str, str | None]]:
    """Return outputs of all examples with the name of their parser; some are null, some damaged."""
    draw = random.Random(seed)
    known = [(name, output.text) for name, example in sorted(EXAMPLES.items()) for output in example.outputs]
    found: list[tuple[str, str | None]] = []
    for _ in range(count):
        name, text = draw.choice(known)
        if draw.random() < 0.05:
            text = text[: draw.randrange(len(text) + 1)] + draw.choice(["", "{", "</", "\x00", "\u2028"])
        found.append((name, None if draw.random() < 0.02 else text))
    return found


def plain(rows: list[tuple[str, str | None]]) -> list[dict[str, Any] | None]:
    modules = {name: load_module(parsers()[name]) for name in {name for name, _ in rows}}
    return [None if text is None else row_of(modules[name], text) for name, text in rows]


def flat(row: dict[str, Any] | None) -> dict[str, Any]:
    return dict.fromkeys(FLAT) if row is None else row


@pytest.mark.sweep(3)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_any_batches_equal_the_loop(size: int) -> None:
    rows = outputs(300)
    table = pa.table({"model": [name for name, _ in rows], "text": [text for _, text in rows], "n": range(300)})
    read = RowParser(parsers(), Columns("text", parser="model"))
    pieces = [read(table.slice(start, size)) for start in range(0, 300, size)]
    found = pa.concat_tables(pieces)
    assert found.column_names == ["model", "text", "n", *FLAT]
    assert found.select(FLAT).to_pylist() == [flat(row) for row in plain(rows)]
    assert found["n"].to_pylist() == list(range(300))
    assert len({piece.schema for piece in pieces}) == 1


def test_one_struct_is_null_where_the_output_is() -> None:
    table = pa.table({"text": ["Hi.", None]})
    found = RowParser(one(), Columns("text", struct=True))(table)
    assert found["message"].to_pylist() == [row_of(load_module(one()[""]), "Hi."), None]


@pytest.mark.parametrize("texts", [[], [None, None], ["no call"]])
def test_types_do_not_hang_on_what_comes_first(texts: list[str | None]) -> None:
    calls = RowParser(one(), Columns("text"))(pa.table({"text": [EXAMPLES["tagged-json"].outputs[0].text]}))
    assert RowParser(one(), Columns("text"))(pa.table({"text": pa.array(texts, pa.string())})).schema == calls.schema


def no_parser(text: str) -> dict[str, object]:
    return {"offset": 0, "text": text, "code": "no_parser"}


def test_a_row_of_five_megabytes() -> None:
    text = '<fn>\n{"name": "look", "arguments": {"at": "' + "x" * 5_000_000 + '"}}\n</fn>'
    [row] = RowParser(one(), Columns("text"))(pa.table({"text": [text]})).to_pylist()
    assert json.loads(row["tool_calls"][0]["arguments"]) == {"at": "x" * 5_000_000}


def test_a_row_of_an_unknown_parser_keeps_its_text() -> None:
    table = pa.table({"text": ["Hi.", "Ho.", None], "model": ["nobody", None, "nobody"]})
    found = RowParser(parsers(), Columns("text", parser="model"))(table).select(["content", "diagnostics"]).to_pylist()
    assert found == [
        {"content": "Hi.", "diagnostics": [no_parser("no parser is called nobody")]},
        {"content": "Ho.", "diagnostics": [no_parser("the row names no parser")]},
        {"content": None, "diagnostics": None},
    ]


def test_it_is_sent_to_workers_and_says_what_made_the_rows() -> None:
    read = RowParser(one(), Columns("text"))
    table = pa.table({"text": ["Hi."]})
    expected = read(table)
    assert pickle.loads(pickle.dumps(read))(table) == expected
    metadata = expected.schema.metadata
    assert metadata[b"tplc.template_sha256"].decode() == load_module(one()[""]).TEMPLATE_SHA256


def test_token_ids_are_decoded_whole_with_their_markers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<fn>": 0, "Hi": 1}, unk_token="Hi"))
    tokenizer.add_special_tokens(["<fn>"])
    table = pa.table({"ids": pa.array([[1, 0, 1], None], pa.list_(pa.int64()))})
    read = RowParser(one(), Columns("ids"), tokenizer=tokenizer.to_str())
    assert read(table)["content"].to_pylist() == ["Hi <fn> Hi", None]


WRONG = [
    ({"a": [""]}, Columns("text"), "there is no column text; the columns are a"),
    ({"text": [1]}, Columns("text"), "the column text is not text: it contains int64"),
    ({"text": [""], "content": [""]}, Columns("text"), "there is a column content already, and it would be "),
    ({"text": [[1]]}, Columns("text"), "the column text holds token ids: give --tokenizer with the model's tokenizer"),
    ({"text": [["a"]]}, Columns("text"), "the column text holds lists (list<element: string>): expected text, or"),
    ({"text": [""], "p": [[{"role": "user"}]]}, Columns("text", prompt="p"), "the column p holds list<"),
]


@pytest.mark.parametrize(("columns", "named", "problem"), WRONG)
def test_wrong_columns(columns: dict[str, Any], named: Columns, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        RowParser(one(), named)(pa.table(columns))
    assert str(caught.value).replace("list<item:", "list<element:").startswith(problem)


def test_a_parser_of_an_older_version() -> None:
    old = "def parse(): ...\ndef StreamParser(): ...\nTEMPLATE_SHA256 = ''\nparse, StreamParser\n"
    with pytest.raises(NotAParser) as caught:
        RowParser({"": old}, Columns("text"))(pa.table({"text": ["Hi."]}))
    assert str(caught.value) == "the parser: made by an older tplc, without parse_many: generate it again"


# Files


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a folder of three files, one of them empty, one of JSON lines."""
    folder = tmp_path / "rows"
    (folder / "more").mkdir(parents=True)
    texts = [text for name, text in outputs(900) if name == "tagged-json"]
    parquet.write_table(pa.table({"text": texts}), folder / "b.parquet")
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), folder / "more" / "empty.parquet")
    lines = [json.dumps({"text": text, "n": n}) for n, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_folder_file_by_file(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    read, engine = RowParser(one(), Columns("text")), Engine("pyarrow", batch=10)
    job = plan(read, engine, str(rows), str(out), force=False, resume=False)
    summary = job.run()
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == [
        "a.parquet",
        "b.parquet",
        "more/empty.parquet",
    ]
    expected = [flat(row) for row in plain([("tagged-json", text) for text in _texts(rows)])]
    for name in ("a", "b"):
        assert parquet.read_table(out / f"{name}.parquet").select(FLAT).to_pylist() == expected
    assert summary.counts.rows == summary.rows == 2 * len(expected)
    assert summary.counts.nulls == 2 * sum(row["incomplete"] is None for row in expected)
    assert summary.counts.calls == 2 * sum(len(row["tool_calls"] or ()) for row in expected)


def _texts(rows: Path) -> list[str | None]:
    return parquet.read_table(rows / "b.parquet")["text"].to_pylist()  # type: ignore[no-any-return]


def test_a_second_run_does_the_rest(rows: Path, tmp_path: Path) -> None:
    out, read = tmp_path / "out", RowParser(one(), Columns("text"))
    plan(read, Engine("pyarrow"), str(rows), str(out), force=False, resume=False).run()
    whole = (out / "b.parquet").read_bytes()
    (out / "a.parquet").unlink()
    (out / "b.parquet").write_bytes(b"not touched")
    with pytest.raises(UsageError) as caught:
        plan(read, Engine("pyarrow"), str(rows), str(out), force=False, resume=False)
    assert (
        str(caught.value)
        == f"{out}/b.parquet already exists (and 1 more): --resume skips complete files, --force overwrites them"
    )
    assert len(plan(read, Engine("pyarrow"), str(rows), str(out), force=False, resume=True).parts) == 1
    plan(read, Engine("pyarrow"), str(rows), str(out), force=False, resume=True).run()
    assert (out / "b.parquet").read_bytes() == b"not touched" and (out / "a.parquet").is_file()
    plan(read, Engine("pyarrow"), str(rows), str(out), force=True, resume=False).run()
    assert (out / "b.parquet").read_bytes() == whole


def test_addresses_are_looked_at_like_paths(rows: Path, tmp_path: Path) -> None:
    """An address of a file system that pyarrow supports, such as an object store, is checked like a path."""
    place, out, read = f"file://{rows}", f"file://{tmp_path}/more/out", RowParser(one(), Columns("text"))
    plan(read, Engine("pyarrow"), place, out, force=False, resume=False).run()
    (tmp_path / "more" / "out" / "b.parquet").write_bytes(b"not touched")
    (tmp_path / "more" / "out" / "a.parquet").unlink()
    with pytest.raises(UsageError) as caught:
        plan(read, Engine("pyarrow"), place, out, force=False, resume=False)
    assert (
        str(caught.value)
        == f"{out}/b.parquet already exists (and 1 more): --resume skips complete files, --force overwrites them"
    )
    job = plan(read, Engine("pyarrow"), place, out, force=False, resume=True)
    assert [part.output for part in job.parts] == [f"{out}/a.parquet"]
    job.run()
    assert (tmp_path / "more" / "out" / "b.parquet").read_bytes() == b"not touched"
    assert parquet.read_table(tmp_path / "more" / "out" / "a.parquet")["content"].length() == len(_texts(rows))
    with pytest.raises(UsageError, match=r"b\.parquet: is also read; name another file to write"):
        plan(read, Engine("pyarrow"), f"{place}/b.parquet", str(rows / "b.parquet"), force=True, resume=False)


def test_what_is_interrupted_leaves_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt), PendingFile(str(path)) as written:
        written.add(pa.table({"a": [1]}))
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_halves_that_killed_runs_left_are_swept(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in (".a.parquet.0123abcd.half", ".other.parquet.0123abcd.half", ".a.parquet.half"):
        (out / name).write_bytes(b"PAR1")
    plan(RowParser(one(), Columns("text")), Engine("pyarrow"), str(rows), str(out), force=False, resume=True).run()
    names = sorted(path.name for path in out.iterdir())
    assert names == [".a.parquet.half", ".other.parquet.0123abcd.half", "a.parquet", "b.parquet", "more"]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pieces_make_up_the_file(size: int, tmp_path: Path) -> None:
    table = pa.table({"text": [str(number) for number in range(300)]})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=130)
    file = RowFile(str(tmp_path / "rows.parquet"))
    pieces = file.pieces(size)
    assert [piece.group for piece in pieces if piece.start == 0] == [0, 1, 2]
    assert pa.concat_tables([rows for piece in pieces for rows in file.piece(piece, 9)]).equals(table)


def test_a_summary_of_parts_is_that_of_all() -> None:
    rows = outputs(300)
    read = RowParser(parsers(), Columns("text", parser="model", struct=True))
    table = read(pa.table({"model": [name for name, _ in rows], "text": [text for _, text in rows]}))
    whole, parts = Summary.of(read), Summary.of(read)
    whole.add(table)
    for start in range(0, 300, 70):
        part = Summary.of(read)
        part.add(table.slice(start, 70))
        parts.merge(pickle.loads(pickle.dumps(part)))
    assert parts.to_json() == whole.to_json()
    assert sum(counts.rows for counts in whole.by_parser.values()) == whole.counts.rows == 300
    assert sorted(whole.by_parser) == sorted({name for name, _ in rows})


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR?")
    with pytest.raises(Exception, match=r"x\.parquet: cannot be read: "):
        list(RowFile(str(tmp_path / "x.parquet")).tables(10))
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        Exception, match=r"empty: there are no files of rows \(\.parquet, \.jsonl, \.ndjson, lines also"
    ):
        part_files(str(tmp_path / "empty"))
    with pytest.raises(Exception, match="nowhere: there is no such file"):
        part_files(str(tmp_path / "nowhere"))


def test_engines_that_are_none() -> None:
    with pytest.raises(UsageError) as caught:
        choose_engine("spark")
    assert str(caught.value) == "--engine spark: no such engine; there are ray, datasets, pyarrow"
    with pytest.raises(UsageError) as caught:
        choose_engine("pyarrow", address="auto")
    assert str(caught.value) == "--address is for --engine ray, and the engine is pyarrow"
