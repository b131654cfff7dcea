"""Parsers, their code, patterns of grammars and verifications, made once for all processes of one run of the tests.

Workers and the commands that tests start generate many texts alike. The folder exists during one run only. A file in
it is named by the hash of all that it was made from: the text of a parser with its name, a pattern with its flags, a
format with the options of its parser, or with its template and the options of learning or verification.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import regex

import tplc.code
from tplc.backends import python
from tplc.ir.nodes import TemplateIR
from tplc.render.renderer import Renderer

_FOLDER = "TPLC_COMPILED"
LONG = 500  # characters; a shorter pattern is compiled as soon as it is read


def make_folder() -> Callable[[], None]:
    """Make the folder of this run, and return what removes it."""
    folder = os.environ[_FOLDER] = tempfile.mkdtemp(prefix="tplc-compiled-")
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            os.environ.pop(_FOLDER, None)
            shutil.rmtree(folder, ignore_errors=True)

    return remove


def share() -> None:
    """Let this process read what others of the run have compiled, and write what it compiles."""
    if _FOLDER not in os.environ:
        return
    folder, compile_code, compile_pattern = Path(os.environ[_FOLDER]), tplc.code._code, regex._main._compile

    def code(text: str, name: str) -> CodeType:
        made = _kept(folder, f"code\0{name}\0{text}", lambda: compile_code(text, name), marshal.dumps, marshal.loads)
        assert isinstance(made, CodeType)
        return made

    @lru_cache(maxsize=4000)
    def long_pattern(pattern: str, flags: int) -> Any:
        def made() -> Any:
            return compile_pattern(pattern, flags, False, {}, False)

        return _kept(folder, f"pattern\0{flags}\0{pattern}", made, pickle.dumps, pickle.loads)

    def pattern(pattern: Any, flags: int, ignore_unused: bool, kwargs: dict[str, Any], cache_it: bool) -> Any:
        if not isinstance(pattern, str) or len(pattern) < LONG or ignore_unused or kwargs:
            return compile_pattern(pattern, flags, ignore_unused, kwargs, cache_it)
        return long_pattern(pattern, int(flags))

    write_parser = python._generate.__wrapped__

    def parser(ir: TemplateIR, *given: object) -> str:
        key = f"parser\0{ir!r}\0{given!r}"
        return str(_kept(folder, key, lambda: write_parser(ir, *given), str.encode, bytes.decode))

    for name, flag in list(vars(regex._regex_core).items()):
        if isinstance(flag, regex.RegexFlag):  # `flags & flag` makes an object, which is a quarter of compiling
            setattr(regex._regex_core, name, int(flag))
    tplc.code._code = lru_cache(maxsize=64)(code)
    python._generate = lru_cache(maxsize=64)(parser)
    python._generate.__wrapped__ = write_parser  # a test of what a wrong generator writes asks for it
    regex._main._compile = pattern


def shared(verified: Callable[..., Any]) -> Callable[..., Any]:
    """Return `driver._verified`, taking what another process of the run has verified: documents and tests of commands
    compile the same few templates hundreds of times."""

    def once(ir: TemplateIR, *, renderer: Renderer, **given: Any) -> Any:
        key = f"verified\0{ir!r}\0{_asked(renderer, given)}"
        return _of_the_run(key, lambda: verified(ir, renderer=renderer, **given))

    return once


def shared_learning(learn: Callable[..., TemplateIR]) -> Callable[..., TemplateIR]:
    """Return `driver.learn_format`, taking what this or another process of the run has learned.  An observer is shown
    every probe."""
    learned: dict[str, TemplateIR] = {}

    def once(renderer: Renderer, *, observer: object = None, **given: Any) -> TemplateIR:
        if observer is not None:
            return learn(renderer, observer=observer, **given)
        key = f"learned\0{_asked(renderer, given)}"
        if key not in learned:
            learned[key] = _of_the_run(key, lambda: learn(renderer, **given))
        return learned[key]

    return once


def _asked(renderer: Renderer, given: dict[str, Any]) -> str:
    return repr((renderer.source, renderer.limits, sorted(renderer.special_tokens.items()), sorted(given.items())))


def _of_the_run(key: str, make: Callable[[], Any]) -> Any:
    if _FOLDER not in os.environ:
        return make()
    return _kept(Path(os.environ[_FOLDER]), key, make, pickle.dumps, pickle.loads)


def _kept(
    folder: Path, key: str, make: Callable[[], Any], dumps: Callable[[Any], bytes], loads: Callable[[bytes], Any]
) -> Any:
    path = folder / hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    with suppress(FileNotFoundError):
        return loads(path.read_bytes())
    made = make()
    with suppress(OSError):  # a full disk, or the folder is gone: the run has ended
        written = path.with_suffix(f".{os.getpid()}")
        written.write_bytes(dumps(made))
        written.replace(path)
    return made
