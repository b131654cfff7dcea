"""Find the text that a render adds to the past in an engine's cache.

    past      "<u>Hi<end><a>Hello"
    render    "<u>Hi<end><a>Hello<end><u>Look!<end><a>"
    →         "<end><u>Look!<end><a>"

A template may write the past again once a message follows, or write something after it as long as none does.  So the
end of the last answer is found by a mark put there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tplc.errors import RequestError
from tplc.ir.nodes import Json
from tplc.serving.request import Message

# Like no text that a conversation has; what it does to a render is checked.
MARK = "zqendofanswer0x"


def added(past: str, render: str) -> str:
    if not render.startswith(past):
        raise RequestError(
            "messages", "the template rewrites earlier turns if a message follows, so there is no difference to add"
        )
    return render[len(past) :]


def marked_at_its_end(message: Message) -> Message | None:
    """Return the answer with a mark after its text; None if it has no text."""
    content: Any = message.get("content")
    if isinstance(content, str) and content.strip():
        return {**message, "content": content.rstrip() + MARK}
    if isinstance(content, list):
        texts = [index for index, part in enumerate(content) if isinstance(part, Mapping) and part.get("text")]
        if texts:
            parts: list[Json] = list(content)
            parts[texts[-1]] = {**content[texts[-1]], "text": str(content[texts[-1]]["text"]).rstrip() + MARK}
            return {**message, "content": parts}
    return None


def after_mark(marked_past: str, marked_render: str, render: str, ends: Sequence[str]) -> tuple[str, str] | None:
    """Return the text after the answer, its calls and its closers, in the past alone and in the whole render.

    None where the mark changed more than its own place.
    """
    after = marked_past.partition(MARK)[2]
    closers = after[: min((at for end in ends if (at := after.find(end)) >= 0), default=len(after))]
    head, _, tail = marked_render.partition(MARK)
    once = marked_render.count(MARK) == 1
    if not once or head + tail != render or not tail.startswith(closers):
        return None
    return after[len(closers) :], tail[len(closers) :]
