"""A generated parser, loaded from its text as whoever vendors it would import it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any, Protocol

from tplc.errors import TplcError
from tplc.ir.nodes import Json

Message = Mapping[str, Any]
Tools = Sequence[Mapping[str, Json]]
_numbers = count()


class Stream(Protocol):
    @property
    def message(self) -> Message: ...
    def feed(self, chunk: str) -> Sequence[Mapping[str, Any]]: ...
    def finish(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Artifact:
    """`stream` is None for a parser that reads whole outputs only."""

    parse: Callable[..., Message]
    stream: Callable[..., Stream] | None


class NotAParser(TplcError):
    """The text is not a parser that tplc generated."""

    exit_code = 2


def load_module(text: str, name: str = "parser.py") -> ModuleType:
    module = ModuleType(f"tplc_artifact_{next(_numbers)}")
    try:
        code = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise NotAParser(f"{name}: is not Python: {error}") from error
    # Dataclasses look their module up by name while they are made.
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


def load_artifact(text: str, name: str = "parser.py") -> Artifact:
    module = load_module(text, name)
    if not hasattr(module, "parse") or not hasattr(module, "StreamParser"):
        raise NotAParser(f"{name}: is not a parser made by tplc: it has no parse and StreamParser")
    return Artifact(module.parse, module.StreamParser)


def template_sha256(text: str, name: str) -> str:
    """The template that a parser was made from, by its own account."""
    found = getattr(load_module(text, name), "TEMPLATE_SHA256", None)
    if not isinstance(found, str):
        raise NotAParser(f"{name}: is not a parser made by tplc: it has no TEMPLATE_SHA256")
    return found
