"""The shapes of what a parser returns: messages and deltas as chat servers write them."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, whose import costs more than the rest of a parser
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypedDict

    # Calls, as mypyc has no classes inside of blocks.
    Function = TypedDict("Function", {"name": str, "arguments": str})
    ToolCall = TypedDict("ToolCall", {"id": "str | None", "type": str, "function": Function})
    Message = TypedDict(
        "Message",
        {"role": str, "content": "str | None", "reasoning_content": "str | None", "tool_calls": "list[ToolCall]"},
    )
    Delta = dict[str, Any]
else:
    Delta = Function = Message = ToolCall = dict  # as what they describe is


class Diagnostic:
    """What was not as the template writes it, and its offset in the output; unpacks as (offset, text)."""

    __slots__ = ("offset", "text")

    def __init__(self, offset: int, text: str) -> None:
        self.offset, self.text = offset, text

    def __iter__(self) -> Iterator[Any]:
        return iter((self.offset, self.text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagnostic) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Diagnostic(offset={self.offset}, text={self.text!r})"


def checked_text(name: str, value: object) -> str:
    """Return the text, also that of a subclass; raise TypeError for anything else, with the argument's name."""
    if isinstance(value, str):
        return str(value)
    hint = ": decode the bytes first" if isinstance(value, bytes) else ""
    raise TypeError(f"{name}: expected text (str), got {'None' if value is None else type(value).__name__}{hint}")


class Copied:
    """A copy has lists, and parts that can be copied, of its own."""

    def copy(self) -> Any:
        """Another one that stands where this one does, and goes on by itself."""
        twin = self._new()
        # A class that mypyc compiled has no __dict__.
        for name in getattr(self, "__mypyc_attrs__", None) or self.__dict__:
            if hasattr(self, name):
                value = getattr(self, name)
                setattr(twin, name, value.copy() if isinstance(value, (list, Copied)) else value)
        return twin

    def _new(self) -> Any:
        return type(self)()
