"""A generated parser, loaded from its text as whoever vendors it would import it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from types import CodeType, ModuleType
from typing import Any, Protocol

from tplc.errors import TplcError
from tplc.ir.nodes import Json
from tplc.ir.runtimes import RUNTIME, RUNTIME_FILE

Message = Mapping[str, Any]
Tools = Sequence[Mapping[str, Json]]
_numbers = count()
# What running a file raises that is no parser of ours, or was changed.
_WRONG_CODE = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip


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


def load_module(text: str, name: str = "parser.py", *, runtime: str | None = None) -> ModuleType:
    """Run what tplc generated.  `runtime` is the text of the runtime beside it, for one that shares it."""
    return _run(_compiled(text, name), _shared(runtime))


def read_parser(text: str, name: str, *, runtime: str | None = None, code: CodeType | None = None) -> ModuleType:
    """Run what somebody says is a parser: what has none in it is not run.  `code`: of a text that was compiled."""
    code = code or _compiled(text, name)
    if {"StreamParser", "Parting"} <= set(code.co_names):
        raise NotAParser(f"{name}: is a plug-in, for a server to load: give a parser (tplc compile -t python) instead")
    if not {"parse", "StreamParser"} <= set(code.co_names):
        raise NotAParser(f"{name}: is not a parser made by tplc: it has no parse and StreamParser")
    if runtime is None and RUNTIME in code.co_names:
        raise NotAParser(f"{name}: has no runtime of its own, and there is no {RUNTIME_FILE} beside it")
    try:
        return _run(code, _shared(runtime))
    except _WRONG_CODE as error:
        raise NotAParser(f"{name}: cannot be run: {type(error).__name__}: {error}") from error


def load_artifact(
    text: str, name: str = "parser.py", *, runtime: str | None = None, code: CodeType | None = None
) -> Artifact:
    return artifact_in(read_parser(text, name, runtime=runtime, code=code))


def runtime_beside(path: str) -> str | None:
    """The text of the runtime that the parser in a file shares with others, where there is one."""
    try:
        with open(os.path.join(os.path.dirname(path), RUNTIME_FILE), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def artifact_in(parser: ModuleType) -> Artifact:
    return Artifact(parser.parse, parser.StreamParser)


def sha256_in(parser: ModuleType, name: str) -> str:
    """The template that a parser was made from, by its own account."""
    found = getattr(parser, "TEMPLATE_SHA256", None)
    if not isinstance(found, str):
        raise NotAParser(f"{name}: is not a parser made by tplc: it has no TEMPLATE_SHA256")
    return found


@lru_cache(maxsize=64)
def _compiled(text: str, name: str) -> CodeType:
    try:
        return compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise NotAParser(f"{name}: is not Python: {error}") from error


def _shared(runtime: str | None) -> dict[str, ModuleType]:
    return {} if runtime is None else {RUNTIME: _run(_compiled(runtime, RUNTIME_FILE), {})}


def _run(code: CodeType, beside: Mapping[str, ModuleType]) -> ModuleType:
    """`beside` are modules that it may import, by name."""
    module = ModuleType(f"tplc_artifact_{next(_numbers)}")
    # Dataclasses look their module up by name while they are made.
    found = {module.__name__: module, **beside}
    there = {name: sys.modules[name] for name in found if name in sys.modules}
    sys.modules.update(found)
    try:
        exec(code, module.__dict__)
    finally:
        for name in found:
            del sys.modules[name]
        sys.modules.update(there)
    return module


def markers_in(module: ModuleType) -> dict[str, list[str]]:
    """The texts that a parser goes by: its constants that are tuples of texts, each value as a literal."""
    return {
        name: [repr(text) for text in value]
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, tuple) and all(isinstance(text, str) for text in value)
    }
