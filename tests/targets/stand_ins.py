"""Stand-ins for the modules of vLLM, SGLang and xgrammar that plug-ins import.

They have the members with which plug-ins read answers, and no behaviour of the servers.  `make servers` runs
plug-ins in the real ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch


class Record(SimpleNamespace):
    """Any of the servers' data classes; what isn't given is None."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class VllmParser:
    """The base class of parsers in vLLM."""

    def __init__(self, tokenizer: Any, *_args: Any, **_kwargs: Any) -> None:
        self.model_tokenizer = tokenizer
        self.vocab: dict[str, int] = {}


class SglangDetector:
    """The base class of detectors in SGLang."""

    def __init__(self, start: str = "", end: str = "", *, stream_reasoning: bool = True, **_kwargs: Any) -> None:
        self.think_start_token, self.think_end_token = start, end
        self.stream_reasoning = stream_reasoning
        self._force_nonempty_content = False
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []

    def _maybe_apply_force_nonempty_content(self, result: Any) -> Any:
        return result


class SglangResult(Record):
    def __init__(self, normal_text: str = "", reasoning_text: str = "", calls: Any = ()) -> None:
        super().__init__(normal_text=normal_text, reasoning_text=reasoning_text, calls=list(calls))


def _manager() -> Any:
    registered: dict[str, Any] = {}
    return SimpleNamespace(
        registered=registered, register_module=lambda name, *, module: registered.update({name: module})
    )


def _modules() -> dict[str, dict[str, Any]]:
    """Return the members of each module, by its name."""
    records = ("DeltaMessage", "DeltaToolCall", "DeltaFunctionCall", "ToolCall", "FunctionCall")
    protocol = SimpleNamespace(**dict.fromkeys((*records, "ExtractedToolCallInformation"), Record))
    detectors = SimpleNamespace(
        BaseReasoningFormatDetector=SglangDetector,
        StreamingParseResult=SglangResult,
        ReasoningParser=SimpleNamespace(DetectorMap={}),
    )
    vllm: dict[str, dict[str, Any]] = {
        "vllm": {"envs": SimpleNamespace(VLLM_ENFORCE_STRICT_TOOL_CALLING=True)},
        "vllm.entrypoints.generate.base": {"protocol": protocol},
        "vllm.reasoning": {"ReasoningParser": VllmParser, "ReasoningParserManager": _manager()},
        "vllm.renderers.chat_utils": {"make_tool_call_id": lambda: "made"},
        "vllm.tool_parsers": {"ToolParser": VllmParser, "ToolParserManager": _manager()},
        "vllm.tool_parsers.tool_strict_level": {"ToolStrictLevel": SimpleNamespace(AUTO=0, PARAMETER=2)},
    }
    calls = "sglang.srt.function_call"
    sglang: dict[str, dict[str, Any]] = {
        f"{calls}.base_format_detector": {"BaseFormatDetector": SglangDetector},
        f"{calls}.core_types": {"StreamingParseResult": SglangResult, "ToolCallItem": Record},
        f"{calls}.function_call_parser": {"FunctionCallParser": SimpleNamespace(ToolCallParserEnum={})},
        "sglang.srt.parser": {"reasoning_parser": detectors},
    }
    return vllm | sglang | {"xgrammar": {"StructuralTag": Record, "normalize_tool_choice": None}}


@contextmanager
def servers() -> Iterator[None]:
    """Let a plug-in import the stand-ins."""
    made: dict[str, ModuleType] = {}
    for name, members in _modules().items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            made.setdefault(".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        vars(made[name]).update(members)
    with patch.dict("sys.modules", made):
        yield
