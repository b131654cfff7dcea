"""The shapes of what a parser returns: messages and deltas as chat servers write them."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # as typing's, whose import costs more than the rest of a parser
if TYPE_CHECKING:
    from typing import Any, Optional, TypedDict

    class Function(TypedDict):
        name: str
        arguments: str

    class ToolCall(TypedDict):
        id: Optional[str]
        type: str
        function: Function

    class Message(TypedDict):
        role: str
        content: Optional[str]
        reasoning_content: Optional[str]
        tool_calls: list[ToolCall]

    Delta = dict[str, Any]


Diagnostic = namedtuple("Diagnostic", "offset text")
