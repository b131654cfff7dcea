"""Stand-ins for the engines that the vendoring guide plugs into: the interfaces as they are documented, and no more.

`installed()` puts them where the engines' own modules would be.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any


class Record(SimpleNamespace):
    """As the engines' data classes: what is not given is None, and what is None is not shown."""

    def shown(self) -> dict[str, Any]:
        return {name: _shown(value) for name, value in vars(self).items() if value not in (None, [])}


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(entry) for entry in value]
    return value.shown() if isinstance(value, Record) else value


def record(*fields: str) -> type[Record]:
    """A data class that takes these fields and no others, by place or by name."""

    def make(self: Record, *values: Any, **given: Any) -> None:
        named = dict(zip(fields, values, strict=False))
        unknown = (given.keys() - set(fields)) | (given.keys() & named.keys())
        if unknown or len(values) > len(fields):
            raise TypeError(f"unexpected: {sorted(unknown)}")
        Record.__init__(self, **{**dict.fromkeys(fields), **named, **given})

    return type("Data", (Record,), {"__init__": make})


class Manager:
    """Both of vLLM's: a decorator that knows a class by a name."""

    def __init__(self) -> None:
        self.known: dict[str, type[Any]] = {}

    def register_module(self, name: str) -> Callable[[type[Any]], type[Any]]:
        def register(kind: type[Any]) -> type[Any]:
            self.known[name] = kind
            return kind

        return register


class ToolParser:
    def __init__(self, tokenizer: Any) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id = -1
        self.current_tool_name_sent = False
        self.streamed_args_for_tool: list[str] = []
        self.model_tokenizer = tokenizer

    def adjust_request(self, request: Any) -> Any:
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        raise NotImplementedError

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: list[int],
        current_token_ids: list[int],
        delta_token_ids: list[int],
        request: Any,
    ) -> Any:
        raise NotImplementedError


class ReasoningParser:
    def __init__(self, tokenizer: Any, *arguments: Any, **keywords: Any) -> None:
        self.model_tokenizer = tokenizer

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        raise NotImplementedError

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        raise NotImplementedError

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        raise NotImplementedError

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: list[int],
        current_token_ids: list[int],
        delta_token_ids: list[int],
    ) -> Any:
        raise NotImplementedError


class BaseFormatDetector:
    def __init__(self) -> None:
        self._buffer = ""
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id = -1
        self.streamed_args_for_tool: list[str] = []
        self.bot_token = ""
        self.eot_token = ""

    def has_tool_call(self, text: str) -> bool:
        raise NotImplementedError

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        raise NotImplementedError

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        raise NotImplementedError


class Characters:
    """A tokenizer whose tokens are characters."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        assert not skip_special_tokens, "markers would be gone"
        return "".join(map(chr, ids))


def _modules() -> dict[str, dict[str, Any]]:
    protocol = {
        "DeltaFunctionCall": record("name", "arguments"),
        "DeltaMessage": record("role", "content", "reasoning", "tool_calls"),
        "DeltaToolCall": record("id", "type", "index", "function"),
        "ExtractedToolCallInformation": record("tools_called", "tool_calls", "content"),
        "FunctionCall": record("name", "arguments"),
        "ToolCall": record("id", "type", "function"),
    }
    return {
        "vllm.entrypoints.openai.protocol": protocol,
        "vllm.entrypoints.openai.tool_parsers": {"ToolParser": ToolParser, "ToolParserManager": Manager()},
        "vllm.reasoning": {"ReasoningParser": ReasoningParser, "ReasoningParserManager": Manager()},
        "sglang.srt.function_call.base_format_detector": {"BaseFormatDetector": BaseFormatDetector},
        "sglang.srt.function_call.core_types": {
            "StreamingParseResult": record("normal_text", "calls"),
            "ToolCallItem": record("tool_index", "name", "parameters"),
        },
        "sglang.srt.function_call.function_call_parser": {
            "FunctionCallParser": SimpleNamespace(ToolCallParserEnum={}),
        },
    }


@contextmanager
def installed() -> Iterator[None]:
    made: list[str] = []
    for path, members in _modules().items():
        parts = path.split(".")
        for name in (".".join(parts[: end + 1]) for end in range(len(parts))):
            if name not in sys.modules:
                sys.modules[name] = ModuleType(name)
                made.append(name)
        vars(sys.modules[path]).update(members)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]
