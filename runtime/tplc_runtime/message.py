"""Define the values that a parser returns: messages and deltas as chat servers write them."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False  # importing `typing` would take longer than the rest of a parser
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypedDict

    # Not nested, because mypyc doesn't support classes inside of blocks.
    Function = TypedDict("Function", {"name": str, "arguments": str})
    ToolCall = TypedDict("ToolCall", {"id": "str | None", "type": str, "function": Function})
    Message = TypedDict(
        "Message",
        {"role": str, "content": "str | None", "reasoning_content": "str | None", "tool_calls": "list[ToolCall]"},
    )
    Delta = dict[str, Any]
else:
    Delta = Function = Message = ToolCall = dict  # at run time they are dictionaries


FIELDS_OF_DIAGNOSTIC = ("offset", "text", "code")
Diagnostic: Any = type(  # a named tuple, made in a fifth of the time that collections.namedtuple takes
    "Diagnostic",
    (tuple,),
    {
        "__new__": lambda cls, offset, text, code: tuple.__new__(cls, (offset, text, code)),
        "__getnewargs__": tuple,
        "__repr__": lambda self: "Diagnostic(offset={!r}, text={!r}, code={!r})".format(*self),
        "_asdict": lambda self: dict(zip(FIELDS_OF_DIAGNOSTIC, self)),
        **{name: property(itemgetter(place)) for place, name in enumerate(FIELDS_OF_DIAGNOSTIC)},
    },
)


def checked_text(name: str, value: object) -> str:
    """Return the text, also that of a subclass; raise TypeError for anything else, with the argument's name."""
    if isinstance(value, str):
        return str(value)
    hint = ": decode the bytes first" if isinstance(value, bytes) else ""
    raise TypeError(f"{name}: expected text (str), got {'None' if value is None else type(value).__name__}{hint}")


class Copyable:
    """An object whose copy has its own lists, sets and nested objects of this class."""

    MADE_OF: ClassVar[tuple[str, ...]] = ()  # the attributes that it is made with

    def copy(self) -> Any:
        """Return a copy in the same state, which continues independently."""
        cls: Any = type(self)  # not __new__ alone: of a class that mypyc compiled, it calls __init__
        twin = cls(*[getattr(self, name) for name in self.MADE_OF])
        slots = [name for base in type(self).__mro__ for name in getattr(base, "__slots__", ())]
        # A class that mypyc compiled has no __dict__.
        for name in getattr(self, "__mypyc_attrs__", None) or [*slots, *self.__dict__]:
            if hasattr(self, name):
                value = getattr(self, name)
                setattr(twin, name, value.copy() if isinstance(value, (list, set, Copyable)) else value)
        return twin
