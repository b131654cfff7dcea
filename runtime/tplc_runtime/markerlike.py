"""Find text in a message that is like a marker of the format, so that the model may have meant one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .message import Message
    from .pattern import Pattern

LIKE_A_MARKER = " is like a marker, but remains in the message"


def marker_like(message: Message, patterns: Sequence[Pattern]) -> str:
    """Return the first text that is like a marker; "" if there is none.

    `patterns`: such a text anywhere, a bracket at the edge of a text that is next to a marker, either of them at the
    edge of a value in arguments, and what is at the edge of content that is alone.
    """
    content, reasoning, calls = message["content"] or "", message["reasoning_content"] or "", message["tool_calls"]
    searched = [(patterns[0], reasoning), *((pattern, content) for pattern in (patterns[0], *patterns[3:]))]
    if reasoning or calls:
        searched += [(patterns[1], reasoning), (patterns[1], content)]
        if content.strip(" \n<>/\\|[](){}") in [call["function"]["name"] for call in calls]:
            return content.strip()  # what is left of a closer that repeats the name
    searched += [(patterns[2], call["function"]["arguments"]) for call in calls]
    for pattern, text in searched:
        match = pattern.search(text)
        if match is not None:
            return str(match[0]).strip()
    return ""
