"""The code of the vendoring guide that plugs into transformers, against a stand-in of its models and tokenizers."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tplc
from tests.conftest import ROOT
from tests.documents import read_blocks

CALLS = 'Let me look.<do>forecast {"city": "Oslo", "days": 3}</do><do>forecast {"city": "Bergen"}</do>[end]'
THOUGHT = "<why>Snow is likely.</why>\n"
FORECAST = {
    "type": "function",
    "function": {
        "name": "forecast",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}


@pytest.fixture(scope="module")
def guide() -> dict[str, str]:
    """Return the files of the guide, and the parser that it makes."""
    blocks = read_blocks((ROOT / "docs" / "vendoring.md").read_text(encoding="utf-8"))
    files = {block.file: block.text for block in blocks if block.file}
    hut = (ROOT / "docs" / "hut.jinja").read_text(encoding="utf-8")
    files["hut_parser.py"] = tplc.generate(tplc.compile_template(hut, name="hut.jinja"), "python")
    return files


@pytest.fixture
def load(guide: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a file of the guide as a module."""

    def module(name: str) -> ModuleType:
        made = ModuleType(name)
        exec(compile(guide[f"{name}.py"], f"docs/vendoring.md: {name}.py", "exec"), vars(made))
        return made

    monkeypatch.setitem(sys.modules, "hut_parser", module("hut_parser"))
    return module


BOTH = [("forecast", '{"city": "Oslo", "days": 3}'), ("forecast", '{"city": "Bergen"}')]


class Characters:
    """A tokenizer whose tokens are characters."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        assert not skip_special_tokens, "markers would be gone"
        return "".join(map(chr, ids))


def test_transformers(load: Any) -> None:
    class Tokens(list[int]):
        shape = (1, 4)

        def __getitem__(self, place: Any) -> Any:
            row, columns = place
            assert (row, columns.start) == (0, 4)
            return list(self)[columns]

    class Inputs(dict[str, Any]):
        def to(self, device: str) -> Inputs:
            assert device == "here"
            return self

    class Tokenizer(Characters):
        def apply_chat_template(self, messages: Any, tools: Any, add_generation_prompt: bool, tokenize: bool) -> str:
            assert (tools, add_generation_prompt, tokenize) == ([FORECAST], True, False)
            return "[user]\n" + messages[0]["content"] + "[end]\n[assistant]\n"

        def __call__(self, prompt: str, return_tensors: str, add_special_tokens: bool) -> Inputs:
            assert prompt.endswith("[assistant]\n") and (return_tensors, add_special_tokens) == ("pt", False)
            return Inputs(input_ids=Tokens([0] * 4))

    output = THOUGHT + CALLS
    model = SimpleNamespace(device="here", generate=lambda **_: Tokens([0] * 4 + list(map(ord, output))))
    messages = [{"role": "user", "content": "Snow?"}]
    message = load("hut_transformers").answer(model, Tokenizer(), messages, tools=[FORECAST], max_new_tokens=99)
    assert (message["reasoning_content"], message["content"]) == ("Snow is likely.", "Let me look.")
    assert [tuple(call["function"].values()) for call in message["tool_calls"]] == BOTH
