"""`tplc mask`: conversations of a file to token ids and masks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest.importorskip("pyarrow")
tokenizers = pytest.importorskip("tokenizers")

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ROWS: list[object] = [
    {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<|user|>Yo"}], "n": 1},
    {"messages": "[]", "n": 2},
    {"messages": "not JSON", "n": 3},
    {"n": 4},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from tests.conversations.report import tokenizer_text

    (tmp_path / "chat.jinja").write_text(CHAT)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text(tokenizer_text(["Hi", "Yo"]))
    (tmp_path / "model" / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    return tmp_path


def masked(folder: Path, name: str = "out.jsonl") -> list[str | None]:
    """Return the text of each row that counts."""
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    assert [row["n"] for row in rows] == [1, 2, 3, 4]
    return [
        row["mask_error"]
        if row["input_ids"] is None
        else tokenizer.decode(
            [number for number, counts in zip(row["input_ids"], row["assistant_masks"], strict=True) if counts]
        )
        for row in rows
    ]


def test_the_tokenizer_names_special_tokens(run: Run, folder: Path) -> None:
    done = run("mask", "chat.jinja", "rows.jsonl", "--tokenizer", "model", "-o", "out.jsonl", "--engine", "pyarrow")
    assert (done.code, done.out) == (0, "")
    assert "masked       1\n" in done.err and "not given" not in done.err
    assert masked(folder) == [
        "<|user|>Yo</s>",
        "messages: a conversation has at least one",
        masked(folder)[2],
        "messages: expected a list of objects",
    ]
    assert str(masked(folder)[2]).startswith("messages: is not JSON: ")


def test_an_unknown_special_token(run: Run, folder: Path) -> None:
    (folder / "model" / "tokenizer_config.json").unlink()
    arguments = ("mask", "chat.jinja", "rows.jsonl", "--tokenizer", "model/tokenizer.json", "--engine", "pyarrow")
    done = run(*arguments, "-o", "out.jsonl")
    assert done.code == 0
    assert done.err.splitlines()[0] == (
        "warning: chat.jinja: eos_token is not given, so the text lacks it; give --token eos_token=TEXT, or name a "
        "model's folder as the source or as --tokenizer"
    )
    given = run(*arguments, "-o", "more.jsonl", "--token", "eos_token=<end>")
    assert "not given" not in given.err
    assert masked(folder)[0] == "<|user|>Yo"
    assert masked(folder, "more.jsonl")[0] == "<|user|>Yo<end>"


def test_no_row_has_a_mask(run: Run, folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"messages": []}\n')
    done = run("mask", "chat.jinja", "rows.jsonl", "--tokenizer", "model", "-o", "out.jsonl", "--engine", "pyarrow")
    assert done.code == 1
    assert "none of the 1 rows has a mask: messages: a conversation has at least one" in done.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "rows are written to a file or a folder: give -o FILE.parquet, FILE.jsonl, or a folder"),
        (("-o", "out.jsonl", "--column", "talks"), "rows.jsonl: there is no column talks; the columns are messages, n"),
        (("-o", "out.jsonl", "--straddling", "both"), "straddling='both': expected inside, outside or error"),
        (("-o", "rows.jsonl"), "rows.jsonl: is also read; name another file to write"),
        (("-o", "out.jsonl", "--parts", "all"), "--parts all: expected some of reasoning, content, calls, end"),
    ],
)
def test_wrong_usage(run: Run, folder: Path, arguments: tuple[str, ...], error: str) -> None:
    done = run("mask", "chat.jinja", "rows.jsonl", "--tokenizer", "model", "--engine", "pyarrow", *arguments)
    assert done.code == 2
    assert error in done.err
    assert not (folder / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("rows", "output", "error"),
    [
        ("zero.jsonl", "out.jsonl", "zero.jsonl: is empty: expected rows"),
        (
            "rows.jsonl",
            "m.csv",
            "m.csv: rows are written to .parquet, .jsonl, "
            "or to a folder (a new one with a dot in its name ends with /)",
        ),
    ],
)
def test_rows_and_output(run: Run, folder: Path, rows: str, output: str, error: str) -> None:
    (folder / "zero.jsonl").write_text("")
    result = run("mask", "chat.jinja", rows, "--token", "eos_token=</s>", "--tokenizer", "model", "-o", output)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")
    assert not (folder / output).exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"messages": []}\n{"messages": []}\n', "expected `,` or `}` at line 1 column 12"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[]", "invalid type: sequence, expected struct Tokenizer at line 1 column 2"),
        (
            '{"model": {"type": "None"}}',
            "data did not match any variant of untagged enum ModelUntagged at line 1 column 27",
        ),
    ],
)
def test_a_file_that_is_no_tokenizer(run: Run, folder: Path, text: str, why: str) -> None:
    (folder / "other.json").write_text(text)
    (folder / "ids.jsonl").write_text('{"ids": [1]}\n')
    of_mask = [
        "mask",
        "chat.jinja",
        "--token",
        "eos_token=</s>",
        "rows.jsonl",
        "--tokenizer",
        "other.json",
        "-o",
        "out.jsonl",
    ]
    of_parse = [
        "parse",
        "chat.jinja",
        "--token",
        "eos_token=</s>",
        "ids.jsonl",
        "--column",
        "ids",
        "--tokenizer",
        "other.json",
        "-o",
        "out.jsonl",
    ]
    error = f"tplc: other.json: is not a tokenizer: {why}\n    name a model's folder, or its tokenizer.json\n"
    for command in (of_mask, of_parse):
        result = run(*command)
        assert (result.code, result.out, result.err) == (2, "", error)
    assert not (folder / "out.jsonl").exists()


def test_standard_input_and_output(run: Run, folder: Path) -> None:
    rows = (folder / "rows.jsonl").read_text()
    options = ("--tokenizer", "model", "--engine", "pyarrow")
    assert run("mask", "chat.jinja", "rows.jsonl", *options, "-o", "out.jsonl").code == 0
    done = run("mask", "chat.jinja", "-", *options, "-o", "file.jsonl", stdin=rows)
    assert (done.code, done.out) == (0, "")
    assert (folder / "file.jsonl").read_text() == (folder / "out.jsonl").read_text()
    assert "wrote        file.jsonl\n" in done.err
    passed = run("mask", "chat.jinja", "-", *options, "-o", "-", stdin=rows)
    assert (passed.code, passed.out) == (0, (folder / "out.jsonl").read_text())
    assert passed.err.endswith("wrote        standard output\n")
    empty = run("mask", "chat.jinja", "-", *options, "-o", "other.jsonl", stdin="")
    assert (empty.code, empty.err) == (2, "tplc: standard input: is empty: expected rows\n")
    refused = run("mask", "chat.jinja", "-", *options, "-o", "-", "--json")
    assert refused.code == 2 and "so the report cannot go there as well" in refused.err
