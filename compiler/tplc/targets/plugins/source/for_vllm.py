"""The classes that vLLM calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vllm import envs
from vllm.entrypoints.generate.base import protocol
from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers import ToolParser, ToolParserManager
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from xgrammar import StructuralTag

from tplc.targets.plugins.source.answer import (
    ANCHORS,
    AROUND_REASONING,
    ENFORCES,
    ReasoningCount,
    ReasoningSplitter,
    Rest,
    parted,
    reasoning_ended,
    reasoning_open,
    request_tag,
)
from tplc.targets.plugins.source.parser import NAME, PARSES_CALLS, PARSES_REASONING, TOKENS, StreamParser
from tplc.targets.plugins.source.token_text import AnswerText, TokenText
from tplc_runtime.heads import continued_head, known_head


class TakesIds(type):
    """The class of classes that read a whole answer by its ids.

    The server passes `model_output_token_ids` to the parser that it composes of both, and that passes the text alone
    on.  The composed class therefore gets a `parse` that leaves the ids with its parts.
    """

    def __set_name__(cls, owner: Any, name: str) -> None:
        if not TOKENS or "parse" in vars(owner):
            return
        parse_text = owner.parse

        def parse(self: Any, model_output: str, *args: Any, **options: Any) -> Any:
            parts: list[Any] = [getattr(self, part, None) for part in ("reasoning_parser", "tool_parser")]
            ids = options.get("model_output_token_ids") or ()
            answer = TokenText(self.model_tokenizer).whole(model_output, ids)
            for part in parts:
                if isinstance(type(part), TakesIds):
                    part.answer = answer
            return parse_text(self, model_output, *args, **options)

        owner.parse = parse


class FormatToolParser(ToolParser, metaclass=TakesIds):
    """Reads what follows the reasoning; all of an answer where the server has no reasoning parser."""

    engine_based_streaming = True
    # False: required and named calls come in the model's own format, and not as a list of JSON.
    supports_required_and_named = False
    # Any text makes the server ask for a tag.
    structural_tag_model = NAME if ENFORCES else None
    # Set by the server where it has no reasoning parser.
    skip_reasoning_parsing = False

    answer: AnswerText | None = None
    _rest: Rest | None = None
    _tokens: TokenText | None = None

    def adjust_request(self, request: Any) -> Any:
        request = super().adjust_request(request)
        request.skip_special_tokens = False  # markers may be special tokens
        return request

    def get_structural_tag(
        self, request: Any, *, reasoning: bool = False, strict_level: ToolStrictLevel = ToolStrictLevel.AUTO
    ) -> StructuralTag | None:
        if not envs.VLLM_ENFORCE_STRICT_TOOL_CALLING:
            return None
        choice = request.tool_choice
        # As the reasoning parser left it; without one the answer begins as the template has it by default.
        head = getattr(request, "head_of_prompt", StreamParser.HEADS[0])
        after = reasoning_open(head) and getattr(request, "include_reasoning", True)
        tag = request_tag(
            _dumped(request.tools),
            choice if choice is None or isinstance(choice, str) else choice.model_dump(exclude_none=True),
            parallel=request.parallel_tool_calls is not False,
            exact=strict_level >= ToolStrictLevel.PARAMETER,
            head=None if after else head,
        )
        if tag is not None and not after and not reasoning_ended(head) and hasattr(request, "head_of_prompt"):
            # The tag has reasoning as what the model may begin with: the server need not wait for the end of it.
            request._grammar_from_parser = True
        return tag

    def extract_tool_calls(self, model_output: str, request: Any) -> protocol.ExtractedToolCallInformation:
        text, special = self.answer.part(model_output) if self.answer is not None else (model_output, None)
        message = Rest(_dumped(request.tools), reasoning=not self.skip_reasoning_parsing).read(text, special)
        calls = [_whole(call) for call in message["tool_calls"]]
        return protocol.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=message["content"]
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> protocol.DeltaMessage | None:
        self._rest = self._rest or self._begun(request)
        self._tokens = self._tokens or TokenText(self.model_tokenizer)
        return _joined(self._rest.feed(*self._tokens.ranges(delta_text, delta_token_ids)))

    def finish_streaming(self) -> protocol.DeltaMessage | None:
        return None if self._rest is None else _joined(self._rest.finish())

    def _begun(self, request: Any) -> Rest:
        head = getattr(request, "head_of_prompt", "")
        # Then all of the answer comes here, and nothing of it was read before.
        ended = head if reasoning_ended(head) else ""
        return Rest(_dumped(request.tools), reasoning=not self.skip_reasoning_parsing, head=ended)


class FormatReasoningParser(ReasoningParser, metaclass=TakesIds):
    """Reads the reasoning, and passes on what follows it."""

    engine_based_streaming = True
    answer: AnswerText | None = None

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        variables = kwargs.get("chat_template_kwargs") or {}
        self._continued = bool(variables.get("continue_final_message"))
        self._prompt = ANCHORS[0] + StreamParser.HEADS[0]
        self._parting: ReasoningSplitter | None = None
        self._counted: ReasoningCount | None = None
        self._tokens = TokenText(self.model_tokenizer)
        self._handed_on = 0  # characters of the chunk in which reasoning ended

    @property
    def reasoning_start_str(self) -> str | None:
        return next(iter(AROUND_REASONING[0]), None)

    @property
    def reasoning_end_str(self) -> str | None:
        return next(iter(AROUND_REASONING[1]), None)

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = self._end_of_prompt(prompt_token_ids)

    def adjust_request(self, request: Any) -> Any:
        request.skip_special_tokens = False  # markers may be special tokens
        # For the tool parser, which doesn't get the prompt.
        request.head_of_prompt = self._head(self._prompt)
        return request

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        return reasoning_ended(self._head(self._end_of_prompt(input_ids)))

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Return whether an end marker ends in the new tokens; it may begin in earlier ones."""
        new, ends = list(delta_ids), AROUND_REASONING[1]
        numbers = [self.vocab.get(end) for end in ends if end in TOKENS]
        if numbers and len(numbers) == len(ends) and None not in numbers:
            return not set(new).isdisjoint(numbers)  # text that spells one ends nothing
        longest = max((len(end.encode()) for end in ends), default=0)
        text = self._decoded(input_ids[-(len(new) + longest) :])
        fresh = len(self._decoded(new))
        return any(end in text[-(fresh + len(end) - 1) :] for end in ends)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        # Where there are no calls, nothing but this parser reads an answer: then it continues to the end.
        return PARSES_CALLS and self._parting is not None and self._parting.done

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """Return the ids of the text that was passed on; empty if the ids don't determine it, and then the text is read
        instead."""
        for start in range(len(input_ids) - 1, -1, -1) if TOKENS and self._handed_on else ():
            if len(self._decoded(input_ids[start:])) >= self._handed_on:
                return input_ids[start:]
        return []

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        counted = self._counted
        if counted is None or counted.tokens > len(token_ids):
            counted = self._counted = ReasoningCount(self._prompt, continued=self._continued)
        for token in token_ids[counted.tokens :]:
            counted.feed(self._decoded([token]))
        return counted.reasoning_tokens

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        text, special = self.answer.part(model_output) if self.answer is not None else (model_output, None)
        parting = self._begun()
        _, rest = parting.feed(text, special)
        rest += parting.finish()[1]
        whole = StreamParser(
            tools=_dumped(request.tools),
            prompt=self._prompt,
            continue_final_message=self._continued,
            parse_tool_calls=PARSES_CALLS,
        )
        whole.feed(text, special=special)
        whole.finish()
        return whole.message["reasoning_content"], rest or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> protocol.DeltaMessage | None:
        self._parting = self._parting or self._begun()
        reasoning, rest = self._parting.feed(*self._tokens.ranges(delta_text, delta_token_ids))
        self._handed_on = len(rest) * self._parting.done
        return _message(reasoning, rest)

    def finish_streaming(self) -> protocol.DeltaMessage | None:
        if self._parting is None or self._parting.done:
            return None
        reasoning, rest = self._parting.finish()
        if not PARSES_CALLS:
            return _message(reasoning, rest)
        # The answer ends before it was clear what follows the reasoning.
        last = Rest([], reasoning=True)
        deltas = [*last.feed(rest), *last.finish()]
        return _joined([*([{"reasoning_content": reasoning}] if reasoning else []), *deltas])

    def _begun(self) -> ReasoningSplitter:
        return ReasoningSplitter(self._prompt, continued=self._continued, hands_on=PARSES_CALLS)

    def _end_of_prompt(self, ids: Sequence[int]) -> str:
        """Return the part of the prompt that the format looks at; all of it if the prompt ends inside an answer."""
        if not self._continued:
            longest = max(len((anchor + head).encode()) for anchor in ANCHORS for head in StreamParser.HEADS)
            ids = ids[-max(longest, 1) :]
        return self._decoded(ids)

    def _head(self, prompt: str) -> str:
        parser = StreamParser
        if self._continued:
            return continued_head(prompt, parser.ANCHORS, AROUND_REASONING)
        return known_head(prompt, parser.HEADS, parser.ANCHORS)

    def _decoded(self, ids: Sequence[int]) -> str:
        text: str = self.model_tokenizer.decode(list(ids), skip_special_tokens=False)
        return text


def _dumped(tools: Sequence[Any] | None) -> list[dict[str, Any]]:
    return [tool.model_dump() for tool in tools or []]


def _message(reasoning: str, content: str) -> protocol.DeltaMessage | None:
    if not reasoning and not content:
        return None
    return protocol.DeltaMessage(reasoning=reasoning or None, content=content or None)


def _joined(deltas: Sequence[Mapping[str, Any]]) -> protocol.DeltaMessage | None:
    """Return the deltas of a chunk as one message."""
    reasoning, content = parted(deltas)
    # An id that the model writes after the arguments comes too late: the call has one by then.
    calls = [_part(call) for delta in deltas for call in delta.get("tool_calls", ()) if "function" in call]
    if not reasoning and not content and not calls:
        return None
    return protocol.DeltaMessage(reasoning=reasoning or None, content=content or None, tool_calls=calls)


def _part(call: Mapping[str, Any]) -> protocol.DeltaToolCall:
    function = protocol.DeltaFunctionCall(**call["function"])
    if function.name is None:
        return protocol.DeltaToolCall(index=call["index"], function=function)
    return protocol.DeltaToolCall(
        index=call["index"], id=call["id"] or make_tool_call_id(), type="function", function=function
    )


def _whole(call: Mapping[str, Any]) -> protocol.ToolCall:
    named = {} if call["id"] is None else {"id": call["id"]}
    return protocol.ToolCall(function=protocol.FunctionCall(**call["function"]), **named)


if PARSES_CALLS:
    ToolParserManager.register_module(NAME, module=FormatToolParser)
if PARSES_REASONING:
    ReasoningParserManager.register_module(NAME, module=FormatReasoningParser)
