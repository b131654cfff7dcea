"""The classes that SGLang calls, and what registers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser import reasoning_parser
from xgrammar import StructuralTag

from tplc.targets.plugins.source.answer import (
    ANCHORS,
    AROUND_REASONING,
    ReasoningSplitter,
    Rest,
    parted,
    reasoning_ended,
    reasoning_open,
    request_tag,
)
from tplc.targets.plugins.source.parser import (
    NAME,
    ON_INCOMPLETE,
    PARSES_CALLS,
    PARSES_REASONING,
    REASONING_SWITCH,
    SWITCHED_HEADS,
    StreamParser,
)


class FormatDetector(BaseFormatDetector):
    """Reads what follows the reasoning; all of an answer where the server has no reasoning parser."""

    _rest: Rest | None = None

    def __init__(self) -> None:
        super().__init__()
        # The server reports no `tool_calls` as the reason of a finish where one of these is in an answer.
        self.incomplete_tool_call_indices: set[int] = set()

    def has_tool_call(self, text: str) -> bool:
        """Return whether there is anything to parse; if not, the server uses the text unchanged, with its markers."""
        message = Rest([], reasoning=False).read(text)
        return bool(message["tool_calls"]) or message["content"] != text

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> StreamingParseResult:
        rest = Rest(_dumped(tools), reasoning=False)
        message = rest.read(text)
        if rest.is_inside_call and ON_INCOMPLETE == "keep":
            self.incomplete_tool_call_indices.add(len(message["tool_calls"]) - 1)
        calls = [
            ToolCallItem(tool_index=index, name=call["function"]["name"], parameters=call["function"]["arguments"])
            for index, call in enumerate(message["tool_calls"])
        ]
        return StreamingParseResult(normal_text=message["content"] or "", calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: Sequence[Any]) -> StreamingParseResult:
        self._rest = self._rest or Rest(_dumped(tools), reasoning=False)
        return self._result(self._rest.feed(new_text))

    def finish(self, tools: Sequence[Any]) -> StreamingParseResult:
        if self._rest is None:
            return StreamingParseResult()
        result = self._result(self._rest.finish())
        if self._rest.is_inside_call:
            self.incomplete_tool_call_indices.add(len(self.prev_tool_call_arr) - 1)
        return result

    def supports_structural_tag(self) -> bool:
        return False  # not of the old kind, JSON between two texts; see get_structural_tag

    def parses_required_natively(self) -> bool:
        return True  # else required and named calls come as a list of JSON, and not in the model's own format

    def structure_info(self) -> Callable[[str], Any]:
        raise NotImplementedError("this format has tags of the new kind only (get_structural_tag)")

    def get_structural_tag(
        self,
        tools: Sequence[Any] | None = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> StructuralTag | None:
        """Return the tag for the text after the reasoning, for whose end the server waits.  The server marks strict
        `tools` itself."""
        choice = tool_choice if isinstance(tool_choice, str) else tool_choice.model_dump(exclude_none=True)
        return request_tag(_dumped(tools), choice, parallel=parallel_tool_calls, exact=False, head=None)

    def _result(self, deltas: Sequence[Mapping[str, Any]]) -> StreamingParseResult:
        _, content = parted(deltas)
        parts = [call for delta in deltas for call in delta.get("tool_calls", ()) if "function" in call]
        return StreamingParseResult(normal_text=content, calls=[self._item(part) for part in parts])

    def _item(self, part: Mapping[str, Any]) -> ToolCallItem:
        index, function = part["index"], part["function"]
        if "name" in function:
            # The server compares both at the end, and sends what is missing.
            self.prev_tool_call_arr.append({"name": function["name"], "arguments": ""})
            self.streamed_args_for_tool.append("")
        self.prev_tool_call_arr[index]["arguments"] += function["arguments"]
        self.streamed_args_for_tool[index] += function["arguments"]
        return ToolCallItem(tool_index=index, name=function.get("name"), parameters=function["arguments"])


class FormatReasoningDetector(reasoning_parser.BaseReasoningFormatDetector):
    """Reads the reasoning, and passes on what follows it, where a detector of calls is there to take it."""

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool = True,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
        tool_call_parser_active: bool = False,
    ) -> None:
        starts, ends = AROUND_REASONING
        super().__init__(
            next(iter(starts), ""),
            next(iter(ends), ""),
            force_reasoning=force_reasoning,
            stream_reasoning=stream_reasoning,
            continue_final_message=continue_final_message,
            previous_content=previous_content,
            reasoning_default=REASONING_SWITCH,
            force_nonempty_content=force_nonempty_content,
        )
        prompt = previous_content if continue_final_message else _prompt(force_reasoning)
        hands_on = PARSES_CALLS and tool_call_parser_active
        self._parting = ReasoningSplitter(prompt, continued=continue_final_message, hands_on=hands_on)
        self._waiting = ""  # reasoning that is sent as a whole
        self._answered = False

    def get_self_opened_think_start_token_ids(self, tokenizer: Any) -> list[int] | None:
        if not self.think_start_token or all(map(reasoning_open, StreamParser.HEADS)):
            return None  # the prompt opens it, or nothing does
        ids: list[int] = tokenizer.encode(self.think_start_token, add_special_tokens=False)
        return ids

    def detect_and_parse(self, text: str) -> reasoning_parser.StreamingParseResult:
        reasoning, rest = self._parting.feed(text)
        more, last = self._parting.finish()
        whole = reasoning_parser.StreamingParseResult(rest + last, reasoning + more)
        return self._maybe_apply_force_nonempty_content(whole)

    def parse_streaming_increment(self, new_text: str) -> reasoning_parser.StreamingParseResult:
        return self._result(*self._parting.feed(new_text), ended=False)

    def finish(self) -> reasoning_parser.StreamingParseResult:
        return self._result(*self._parting.finish(), ended=True)

    def _result(self, reasoning: str, rest: str, *, ended: bool) -> reasoning_parser.StreamingParseResult:
        self._answered = self._answered or bool(rest)
        if not self.stream_reasoning or self._force_nonempty_content:
            # As a whole, once something follows it; at the end it may have to stand for the content.
            self._waiting += reasoning
            whole = self._answered or ended
            reasoning, self._waiting = (self._waiting, "") if whole else ("", self._waiting)
            if ended and self._force_nonempty_content and not self._answered:
                reasoning, rest = "", reasoning
        return reasoning_parser.StreamingParseResult(rest, reasoning)


def _prompt(reasons: bool) -> str:
    """Return a text that ends like the prompt, as far as the server reports it: whether the model is to reason.

    Where a prompt can open reasoning, one that contains nothing of it asks for none; else it leaves that to the model.
    """
    heads = StreamParser.HEADS
    if SWITCHED_HEADS:
        return ANCHORS[0] + SWITCHED_HEADS[not reasons]
    opened, ended = [*filter(reasoning_open, heads)], [*filter(reasoning_ended, heads)]
    if reasons:
        fitting = opened or [head for head in heads if head not in ended]
    else:
        fitting = [head for head in heads if head not in opened] if opened else ended
    return ANCHORS[0] + (fitting or heads)[0]


def _dumped(tools: Sequence[Any] | None) -> list[dict[str, Any]]:
    return [tool.model_dump() for tool in tools or []]


def register() -> None:
    """Register the parsers: the entry point of the group sglang.srt.plugins."""
    if PARSES_CALLS:
        FunctionCallParser.ToolCallParserEnum[NAME] = FormatDetector
    if PARSES_REASONING:
        reasoning_parser.ReasoningParser.DetectorMap[NAME.lower()] = FormatReasoningDetector
