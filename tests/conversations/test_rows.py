"""Rows of conversations to token ids and masks."""

from __future__ import annotations

import json
import pickle

import pytest

from tests.conftest import ROOT
from tests.conversations.report import by_prefixes, characters, talk, tokenizer_text
from tplc.conversations.rows import ConversationMasker
from tplc.errors import UsageError

tokenizers = pytest.importorskip("tokenizers")

SOURCE = (ROOT / "examples" / "tagged-json" / "template.jinja").read_text(encoding="utf-8")
ROWS = [talk(number, 4) for number in range(3)]
TOKENIZER = tokenizer_text([message["content"] for row in ROWS for message in row])


def test_masks_are_those_of_prefixes() -> None:
    masker = ConversationMasker(SOURCE, TOKENIZER)
    made = masker({"messages": ROWS})
    tokenizer = tokenizers.Tokenizer.from_str(TOKENIZER)
    assert made["mask_error"] == [""] * 3
    for row, ids, mask in zip(ROWS, made["input_ids"], made["assistant_masks"], strict=True):
        text, ranges = by_prefixes(masker.open(), row)
        encoding = tokenizer.encode(text, add_special_tokens=False)
        inside = characters(ranges)
        assert ids == encoding.ids
        assert mask == [int(any(at in inside for at in range(start, stop))) for start, stop in encoding.offsets]
        assert 0 < sum(mask) < len(mask)


def test_rows_as_tables_have_them() -> None:
    masker = pickle.loads(pickle.dumps(ConversationMasker(SOURCE, TOKENIZER, tools="tools").with_format()))
    call = {"type": "function", "id": "callid000", "function": {"name": "look", "arguments": '{"a": 1}'}}
    called = [ROWS[0][0], {"role": "assistant", "content": None, "tool_calls": [call], "name": None}]
    plain = ConversationMasker(SOURCE, TOKENIZER)
    of_objects = [ROWS[0][0], {"role": "assistant", "content": None, "tool_calls": [{**call, "function": {"name": "look", "arguments": {"a": 1}}}]}]  # fmt: skip  # noqa: E501
    made = masker({"messages": [called, json.dumps(called), ROWS[1]], "tools": [None, "[]", None]})
    assert made["input_ids"][:2] == plain({"messages": [of_objects] * 2})["input_ids"]
    assert made["mask_error"] == [""] * 3


def test_what_has_no_mask() -> None:
    masker = ConversationMasker(SOURCE, TOKENIZER, straddling="error")
    made = masker({"messages": [[], "{", [{"role": "user"}]]})
    assert made["input_ids"] == [None] * 3
    assert made["assistant_masks"] == [None] * 3
    assert [error.partition(":")[0] for error in made["mask_error"]] == ["messages", "messages", "template"]
    with pytest.raises(UsageError, match="there is no column talks; the columns are messages"):
        ConversationMasker(SOURCE, TOKENIZER, messages="talks")({"messages": []})


def test_tables() -> None:
    arrow = pytest.importorskip("pyarrow")
    masker = ConversationMasker(SOURCE, TOKENIZER)
    table = masker.table(arrow.table({"messages": [json.dumps(row) for row in ROWS], "n": [1, 2, 3]}))
    assert table.column_names == ["messages", "n", "input_ids", "assistant_masks", "mask_error"]
    assert table["assistant_masks"].to_pylist() == masker({"messages": ROWS})["assistant_masks"]
    with pytest.raises(UsageError, match="there is a column input_ids already"):
        masker.check(table.column_names)
