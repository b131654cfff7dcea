"""An answer as servers read it, by one parser for its reasoning and another for what follows; and a request's tag.

"<why>Hm</why>Hi<do>…"  →  reasoning "Hm", and "Hi<do>…" as it came, which is parsed for calls
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from xgrammar import StructuralTag, normalize_tool_choice

from tplc.targets.plugins.source.parser import (
    AFTER_REASONING,
    IR,
    NAME,
    ON_INCOMPLETE,
    PARSES_REASONING,
    REASONING_MARKERS,
    StreamParser,
)

logger = logging.getLogger(__name__)

try:
    import tplc

    ENFORCES = True
except ImportError:
    ENFORCES = False
    logger.warning("%s: tplc is not installed here: calls are parsed, but not enforced (required, named, strict)", NAME)

# The (start, end) ranges of a text that came from special tokens.
Ranges = Sequence[tuple[int, int]]
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
# The texts after which a turn starts.
ANCHORS = tuple(StreamParser.ANCHORS) or ("",)
# The texts that open reasoning and those that close it; none if the format has no opener of reasoning.
AROUND_REASONING: tuple[Sequence[str], Sequence[str]] = StreamParser.AROUND_REASONING or ((), ())


class ReasoningSplitter:
    """Parts the reasoning that an answer begins with from the rest.

    `hands_on`: the rest is for another parser, so it is left as it came.
    """

    def __init__(self, prompt: str, *, continued: bool = False, hands_on: bool) -> None:
        self._stream = StreamParser(prompt=prompt, continue_final_message=continued, parse_tool_calls=False)
        self._hands_on = hands_on
        self.done = False

    def feed(self, text: str, special: Ranges | None = None) -> tuple[str, str]:
        """Return the reasoning in a chunk and the pending text before it, and the other text.  `special`: as parsers
        take it."""
        if self.done:
            return "", text
        before = self._stream.copy()
        reasoning, rest = parted(self._stream.feed(text, special=special))
        if not rest or not self._hands_on:
            return reasoning, rest
        # The characters are fed one by one to find where in the chunk the rest begins.
        self._stream, reasoning = before, ""
        for at, char in enumerate(text, 1):
            more, rest = parted(self._stream.feed(char, special=_of_char(special, at - 1)))
            reasoning += more
            if rest:
                self.done = True
                pending = self._stream._buf[self._stream._pos :]
                return reasoning, rest + pending + text[at:]
        return reasoning, ""

    def finish(self) -> tuple[str, str]:
        if self.done:
            return "", ""
        self.done = True
        return parted(self._stream.finish())


def _of_char(special: Ranges | None, at: int) -> Ranges | None:
    """Return the ranges within a chunk, relative to its character at this place."""
    return None if special is None else [(0, 1)] if any(start <= at < end for start, end in special) else []


def parted(deltas: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the reasoning and the content of deltas."""
    reasoning = "".join(delta.get("reasoning_content", "") for delta in deltas)
    return reasoning, "".join(delta.get("content", "") for delta in deltas)


class Rest:
    """Reads what follows the reasoning, or all of an answer.

    `reasoning`: what there is of it goes out as such; else it stays in the content, with its markers.  `head`: what the
    prompt holds of the answer, where reasoning ends in there.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]], *, reasoning: bool, head: str = "") -> None:
        if head or not PARSES_REASONING:
            self._stream = StreamParser(tools=tools, prompt=ANCHORS[0] + head if head else None)
        else:
            continued = bool(AFTER_REASONING)
            self._stream = StreamParser(tools=tools, prompt=AFTER_REASONING, continue_final_message=continued)
        self._reasoning = reasoning
        self._inside = False  # of reasoning that stays in the content

    def feed(self, text: str, special: Ranges | None = None) -> list[dict[str, Any]]:
        return self._shown(self._stream.feed(text, special=special))

    def finish(self) -> list[dict[str, Any]]:
        deltas = self._shown(self._stream.finish())
        if self.is_inside_call:
            logger.warning("%s: an answer ends inside a call of %s", NAME, self._last_call()["function"]["name"])
            if ON_INCOMPLETE == "drop":
                # Without what the parser closes, the arguments that were sent are no JSON, so no client runs them.
                deltas = [delta for delta in deltas if "tool_calls" not in delta]
        return deltas

    @property
    def is_inside_call(self) -> bool:
        """Return whether the answer has ended inside the arguments of its last call."""
        return self._stream.incomplete and self._stream._open

    def _last_call(self) -> Mapping[str, Any]:
        calls: list[Mapping[str, Any]] = list(self._stream.message["tool_calls"])
        return calls[-1]

    def read(self, text: str, special: Ranges | None = None) -> Mapping[str, Any]:
        """Return the message of a whole text."""
        deltas = [*self.feed(text, special), *self.finish()]
        message = self._stream.message
        if self.is_inside_call and ON_INCOMPLETE == "drop":
            message["tool_calls"] = message["tool_calls"][:-1]
        if not self._reasoning and message["reasoning_content"]:
            message["content"] = parted(deltas)[1]
        return message

    def _shown(self, deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return deltas if self._reasoning else [self._as_content(delta) for delta in deltas]

    def _as_content(self, delta: dict[str, Any]) -> dict[str, Any]:
        (opened, closed), inside = REASONING_MARKERS, self._inside
        self._inside = "reasoning_content" in delta
        if self._inside:
            return {"content": opened * (not inside) + delta["reasoning_content"]}
        return {**delta, "content": closed + delta.get("content", "")} if inside else delta


class ReasoningCount:
    """Counts the tokens of an answer that contain some of its reasoning; markers around it don't count."""

    def __init__(self, prompt: str, *, continued: bool = False) -> None:
        self._stream = StreamParser(prompt=prompt, continue_final_message=continued, parse_tool_calls=False)
        self._text = ""
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._spans: list[tuple[int, int]] = []

    def feed(self, piece: str) -> None:
        """Take the text of the next token."""
        self._starts.append(len(self._text))
        self._text += piece
        self._ends.append(len(self._text))
        for delta in self._stream.feed(piece):
            reasoning: str = delta.get("reasoning_content") or ""
            start, end = self._spans[-1] if self._spans else (-1, 0)
            at = self._text.find(reasoning, end)
            if at < 0 or not reasoning:
                continue
            if at == end and start >= 0:
                self._spans[-1] = (start, at + len(reasoning))
            else:
                self._spans.append((at, at + len(reasoning)))

    @property
    def tokens(self) -> int:
        """Return the number of tokens so far."""
        return len(self._ends)

    @property
    def reasoning_tokens(self) -> int:
        return sum(bisect_left(self._starts, end) - bisect_right(self._ends, start) for start, end in self._spans)


def reasoning_ended(head: str) -> bool:
    """Return whether the part of the answer in the prompt ends the reasoning."""
    starts, ends = AROUND_REASONING
    end = max((head.rfind(text) for text in ends), default=-1)
    return end >= 0 and all(head.rfind(text) <= end for text in starts)


def reasoning_open(head: str) -> bool:
    """Return whether the answer continues inside the reasoning."""
    return not reasoning_ended(head) and any(text in head for text in AROUND_REASONING[0])


def request_tag(
    tools: Sequence[Mapping[str, Any]], choice: Any, *, parallel: bool, exact: bool, head: str | None
) -> StructuralTag | None:
    """Return the structural tag for an answer to a request; None: the answer is not constrained.

    `exact`: arguments follow the schemas of all tools, not only of strict ones.  `head`: the part of the answer that
    the prompt contains; None if the constraint begins after the reasoning.
    """
    if not ENFORCES:
        return None
    functions, _, kind = normalize_tool_choice([_as_function(tool) for tool in tools], choice)
    if not functions:
        return None
    offered = [
        {
            "name": one.function.name,
            "parameters": one.function.parameters if exact or one.function.strict else ANY_OBJECT,
        }
        for one in functions
    ]
    name = functions[0].function.name if kind == "forced" else kind
    made = _tag_text(json.dumps(offered), name, parallel, head)
    return StructuralTag.model_validate_json(made) if made else None


def _as_function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in the form of chat completions; the Responses API has it without `function` around it."""
    if "function" in tool or tool.get("type") != "function":
        return dict(tool)
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}


@lru_cache(maxsize=256)
def _tag_text(tools: str, choice: str, parallel: bool, head: str | None) -> str:
    try:
        made = tplc.structural_tag(
            _format(),
            tools=[{"type": "function", "function": function} for function in json.loads(tools)],
            tool_choice=choice,
            parallel_tool_calls=None if parallel else False,
            any_order=True,
            reasoning="outside" if head is None else "inside",
            head=head,
        )
    except tplc.TplcError as error:
        logger.warning("%s: an answer is not constrained: %s", NAME, error)
        return ""
    return json.dumps(made)


@cache
def _format() -> tplc.TemplateIR:
    return tplc.load_ir(IR)
