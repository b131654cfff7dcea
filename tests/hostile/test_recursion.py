"""No parser recurses on what it reads: no function of one reaches itself, and the deepest inputs take no stack."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tplc_runtime
from tests.example_case import EXAMPLES, load_examples, standalone_parser
from tests.fuzz.check import accumulate
from tests.hostile.call_graph import cycles, unknown_calls
from tplc.backends.peg.engine import InputTooDeep, PegEngine
from tplc.driver import load_ir
from tplc.verify.artifact import load_module

RUNTIME = Path(tplc_runtime.__file__ or "").parent
NAMES = [example.name for example in load_examples()]
DEEP = 10_000
FRAMES = 60  # of a parser at work, its states and readers in one another

# Copies hold copies of the parser's own parts: its transcript, its reader, its fence.
COPIES = {"Copyable.copy", "Transcript.copy"}
OF_A_PARSER = ([COPIES], [{*COPIES, "PendingTranscript.copy"}])
# The end of a raw value asks the same of the scanner that it was made with, which is not of its class.
OF_RAW_VALUES = [{f"ValueOrCallEnd.{name}"} for name in ("find", "partial_match", "safe_prefix_end")]
# In addition to the parsers.  The mapper walks the tree of an engine that refuses more than a hundred levels; one
# function of the class around parsers calls the parser's of the same name.
OTHERS = {
    "peg_mapper.py": [
        {"_Mapper.tool_calls", "_Mapper.turn"},  # once for an output without its head, and for the text between calls
    ],
    "peg_values.py": [{f"ValueMapper.{name}" for name in ("argument", "element", "gathered", "members", "pair")}],
    "openai.py": [{"Completion._ended", "Completion.finish"}, {"Completion.feed"}],
}
# What is called that has no definition here: tuples with names, of the library, the class of a method, and (of a
# command) what it is given.
LIBRARY = {
    "", "ArgumentParser", "Counter", "Diagnostic", "cls", "Frame", "Mark", "_asdict", "_replace", "add_argument",
    "bisect_right", "encode_basestring", "lru_cache", "most_common", "parse_args", "parser", "signal",
}  # fmt: skip


@pytest.mark.sweep(17)
@pytest.mark.parametrize("name", NAMES)
def test_no_function_of_a_parser_reaches_itself(name: str) -> None:
    source = standalone_parser(name)
    assert [cycle for cycle in cycles(source) if cycle not in OF_RAW_VALUES] in OF_A_PARSER
    assert unknown_calls(source) <= LIBRARY


@pytest.mark.parametrize("name", OTHERS)
def test_functions_other_than_the_parsers(name: str) -> None:
    assert cycles((RUNTIME / name).read_text(encoding="utf-8")) == OTHERS[name]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("def escaped(text: str) -> str:\n    return text and escaped(text[1:])", {"escaped"}),
        (
            "class Other(Reader):\n    def read(self, buf, pos, final):\n        return self.more(buf, pos)\n"
            "    def more(self, buf, pos):\n        return self.read(buf, pos + 1, True)",
            {"Other.more", "Other.read"},
        ),
        (
            "class Other(StreamParser):\n    def _content(self):\n        return self._advance('')\n"
            "    def _more_of_it(self):\n        self._state = type(self)._content",
            {"Stream._advance", "Other._content"},
        ),
    ],
)
def test_recursion_is_found(change: str, expected: set[str]) -> None:
    found = cycles(f"{standalone_parser('tagged-json')}\n\n{change}\n")
    assert any(expected <= group for group in found), found


@contextmanager
def few_frames() -> Iterator[None]:
    frame, depth, before = sys._getframe(), 0, sys.getrecursionlimit()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def deep_texts(module: Any, outputs: list[str]) -> Iterator[str]:
    """Yield everything that can nest, and each marker, ten thousand times; alone and in the middle of an answer."""
    held = [value for name, value in vars(module).items() if name.isupper() and isinstance(value, tuple)]
    markers = {text for value in held for text in value}
    repeated = "".join(sorted(text for text in markers if isinstance(text, str)))
    pumps = ["[", '{"a": ', "[{'a': (", repeated, "<a><b>", "\n```"]
    for pump in pumps:
        many = pump * (DEEP // max(len(pump) // 20, 1))
        if not outputs or pump in ("[", repeated):
            yield many
        yield from (text[: len(text) * 2 // 3] + many + text[len(text) * 2 // 3 :] for text in outputs[:1])


@pytest.mark.sweep(17)
@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_levels(name: str) -> None:
    module = load_module(standalone_parser(name))
    paths = sorted((EXAMPLES / name / "outputs").glob("*.txt"), key=lambda path: not path.name.startswith("call"))
    for text in deep_texts(module, [path.read_text(encoding="utf-8") for path in paths]):
        with few_frames():
            stream = module.StreamParser()
            deltas = stream.feed(text[: len(text) // 2])
            stream.copy().finish()
            deltas += stream.feed(text[len(text) // 2 :]) + stream.finish()
            message = stream.message
        assert accumulate(deltas)["content"] == (message["content"] or "")


@pytest.mark.parametrize("name", ["parameter-tags", "nested-elements", "bare-keyword-calls"])
def test_deep_schemas_and_prompts(name: str) -> None:
    module = load_module(standalone_parser(name))
    text = next((EXAMPLES / name / "outputs").glob("call*.txt")).read_text(encoding="utf-8")
    plain = module.parse(text)
    for keyword in ("anyOf", "items", "properties"):
        schema: Any = {"type": "string"}
        for _ in range(DEEP):
            schema = {keyword: {"a": schema} if keyword == "properties" else [schema] if keyword == "anyOf" else schema}
        names = [call["function"]["name"] for call in plain["tool_calls"]]
        parameters = {"properties": {"city": schema, "to": schema}}
        tools = [{"function": {"name": one, "parameters": parameters}} for one in names]
        with few_frames():
            parsed = module.parse(text, tools=tools, prompt=module.GENERATION_PROMPTS[0] * DEEP)
            module.parse("", prompt=module.GENERATION_PROMPTS[0] * DEEP, continue_final_message=True)
        assert [call["function"]["name"] for call in parsed["tool_calls"]] == names


@pytest.mark.parametrize("value", ["[" * DEEP, '{"a": ' * DEEP, "[" * 400, "1" * 10_000, "1e999", "-1e999"])
def test_a_second_reading_of_what_is_deep_or_large(value: str) -> None:
    """A call under another key is read again by the tools' names: the result is a call, or text."""
    module = load_module(standalone_parser("tagged-json"))
    text = f'<fn>\n{{"tool": "f", "arguments": {{"a": {value}'
    tools = [{"function": {"name": "f", "parameters": {"properties": {"a": {}}}}}]
    stream = module.StreamParser(tools=tools)
    stream.feed(text)
    stream.finish()
    calls = [json.loads(call["function"]["arguments"]) for call in stream.message["tool_calls"]]
    assert calls or (stream.message["content"] or "") + stream.trailing == text


def test_the_engine_refuses_what_is_deep() -> None:
    """The engine refuses deep texts, because the mapper walks the tree recursively."""
    ir = load_ir((EXAMPLES / "tagged-json" / "out" / "ir.json").read_text(encoding="utf-8"))
    with pytest.raises(InputTooDeep):
        PegEngine(ir).parse('<fn>\n{"name": "f", "arguments": {"a": ' + "[" * DEEP)
