"""Read whole texts: what every parser has in addition to feeding chunks."""

from __future__ import annotations

from functools import lru_cache

from .message import checked_text
from .schema import parameters_of
from .stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .message import Message


class TextParser(Stream):
    @classmethod
    def parse(
        cls,
        text: str,
        *,
        tools: object = None,
        prompt: str | None = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
        json_content: bool = False,
        continue_final_message: bool = False,
        special: Sequence[Sequence[int]] | None = None,
    ) -> Message:
        """Returns the message of a model's output; see `StreamParser` for how to read it in chunks.

        `tools`: the request's tools, also as JSON text.  `prompt`: the prompt, or its end.  `parse_reasoning`,
        `parse_tool_calls`: False leaves these parts in the content.  `echo` adds what the prompt has of the answer.
        `json_content` drops a Markdown fence around the content.  `continue_final_message`: the prompt ends with the
        beginning of this answer.  `special`: the (start, end) ranges of the text that came from special tokens."""
        parser = cls(
            tools=tools,
            prompt=prompt,
            parse_reasoning=parse_reasoning,
            parse_tool_calls=parse_tool_calls,
            echo=echo,
            json_content=json_content,
            continue_final_message=continue_final_message,
        )
        parser.feed(checked_text("text", text), special=special)
        parser.finish()
        return parser.message

    @classmethod
    def parse_many(
        cls,
        texts: Iterable[str | None],
        *,
        prompts: str | Sequence[str | None] | None = None,
        tools: object = None,
    ) -> list[dict[str, Any] | None]:
        """Returns a row for each text: content, reasoning_content, tool_calls (id, name, arguments), incomplete and
        diagnostics.  `prompts` and `tools` (also as JSON text): one for all, or a list.  None gives None."""
        if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
            raise TypeError(f"texts: expected a list of texts, got {type(texts).__name__}")
        texts = [*texts]
        if cls.CALLS:
            read = lru_cache(maxsize=1000)(parameters_of)
            one_list = not isinstance(tools, (list, tuple)) or all(isinstance(tool, dict) for tool in tools)
            of_each: Any = [] if one_list else tools
            known = parameters_of(None if of_each else tools)
            if of_each and len(of_each) != len(texts):
                raise ValueError(f"tools: expected {len(texts)} lists, one for each text, got {len(of_each)}")
        if not (prompts is None or isinstance(prompts, str)) and len(prompts) != len(texts):
            raise ValueError(f"prompts: expected {len(texts)}, one for each text, got {len(prompts)}")
        rows: list[dict[str, Any] | None] = []
        for at, text in enumerate(texts):
            if text is None:
                rows.append(None)
                continue
            if cls.CALLS and of_each:
                known = (read if isinstance(of_each[at], str) else parameters_of)(of_each[at])
            prompt = prompts if prompts is None or isinstance(prompts, str) else prompts[at]
            stream = cls(tools=known, prompt=prompt) if cls.CALLS else cls(prompt=prompt)
            stream.feed(checked_text(f"texts[{at}]", text))
            stream.finish()
            message, notes = stream.message, [note._asdict() for note in stream.diagnostics]
            calls = [{"id": call["id"], **call["function"]} for call in message["tool_calls"]]
            row = {"content": message["content"], "reasoning_content": message["reasoning_content"]}
            rows.append({**row, "tool_calls": calls, "incomplete": stream.incomplete, "diagnostics": notes})
        return rows

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError("a parser cannot be pickled: keep the text that it was fed, and feed that to a new one")
