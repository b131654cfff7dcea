"""The shapes of what a parser returns: messages and deltas as chat servers write them."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # as typing's, whose import costs more than the rest of a parser
if TYPE_CHECKING:
    from typing import Any, TypedDict

    class Function(TypedDict):
        name: str
        arguments: str

    class ToolCall(TypedDict):
        id: str | None
        type: str
        function: Function

    class Message(TypedDict):
        role: str
        content: str | None
        reasoning_content: str | None
        tool_calls: list[ToolCall]

    Delta = dict[str, Any]


Diagnostic = namedtuple("Diagnostic", "offset text")


class Copied:
    """A copy has lists, and parts that can be copied, of its own."""

    def copy(self) -> Any:
        twin = object.__new__(type(self))
        for name, value in self.__dict__.items():
            setattr(twin, name, value.copy() if isinstance(value, (list, Copied)) else value)
        return twin
