"""The process that renders: JSON lines in, JSON lines out, nothing else.

    {"source": "{{ x }}", "limits": {…}}  →  {"ok": ""}
    {"render": {"x": "hi"}}               →  {"ok": "hi"}
                                             {"raised": {"line": 3, "message": "…"}}, {"failed": …}, {"limit": …}
    {"trace": {"x": "hi"}, …}             →  {"traced": {…}}: the render, and where and how it came about

The parent sets no trust in it, and it has nothing to give away: once the first line is read it can open no file and no
socket, write no file, start no process.  It is stopped by the operating system when it works too long.
"""

from __future__ import annotations

import codecs
import importlib
import json
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from types import FrameType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, cast

from jinja2 import Environment, Template
from jinja2.exceptions import SecurityError, TemplateSyntaxError

from tplc.render.limits import Limits
from tplc.render.locate import locate, source_line
from tplc.render.sandbox import (
    CLOCK,
    OverLimit,
    Refused,
    make_environment,
    note_written,
    set_clock,
    take_generated,
)
from tplc.render.watched import Log, Watched

if TYPE_CHECKING:
    from collections.abc import Iterator

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

_MB = 1024 * 1024

# Jinja would import these (Python the last, for names beyond ASCII) when no file can be opened any more.
_IMPORTED_LATE = ("html", "jinja2.constants", "jinja2.debug", "pprint", "textwrap", "unicodedata")
_CODECS_LOADED_LATE = ("ascii", "unicode-escape")

_LONGEST_MESSAGE = 2000
_MOST_COMPARED = 1000


def main() -> None:
    requests = sys.stdin.buffer
    answers = sys.stdout.buffer
    setup = json.loads(requests.readline())
    limits = Limits(**setup["limits"])
    load_what_is_late()
    _lock_in(limits)
    environment = make_environment(limits)
    template: Template | None = None
    answer, template = _compile(environment, setup["source"], limits)
    answers.write(answer)
    answers.flush()
    if template is None:
        return
    for count, line in enumerate(requests):
        # Another seed for each render: what depends on chance differs between two renders, and yet never between runs.
        random.seed(count)
        answers.write(_work(template, line, limits))
        answers.flush()


def load_what_is_late() -> None:
    for module in _IMPORTED_LATE:
        importlib.import_module(module)
    for codec in _CODECS_LOADED_LATE:
        codecs.lookup(codec)


def _lock_in(limits: Limits) -> None:
    if resource is None:
        return
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    _lower(resource.RLIMIT_AS, limits.memory_mb * _MB)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    # No descriptor beyond the standard three: no file, no socket, no pipe.
    _lower(resource.RLIMIT_NOFILE, 3)
    _lower(resource.RLIMIT_NPROC, 0)


def _lower(which: int, value: int) -> None:
    assert resource is not None
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or value < hard:
        hard = value
    # Some platforms know a limit and do not let it be set.
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (min(value, hard), hard))


@contextmanager
def _bounded_time(limits: Limits) -> Iterator[None]:
    """Limit the time of the block. The signal's default action ends the process, even in the middle of one long
    operation."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, limits.render_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _compile(environment: Environment, source: str, limits: Limits) -> tuple[bytes, Template | None]:
    try:
        with _bounded_time(limits):
            return _answer("ok", ""), environment.from_string(source)
    except TemplateSyntaxError as error:
        with _bounded_time(limits):
            column = locate(environment, source, error)
        text = source_line(source, error.lineno)
        return _answer("syntax", {"line": error.lineno, "column": column, "text": text, "message": error.message}), None
    except SyntaxError as error:  # Python's, for what Jinja made of it
        return _answer("limit", {"limit": "nesting", "value": error.msg, "line": None}), None
    except Exception as error:  # noqa: BLE001 - a stranger's template may raise anything
        return _failure(error), None


def _work(template: Template, line: bytes, limits: Limits) -> bytes:
    try:
        with _bounded_time(limits):
            asked = json.loads(line)
            if "trace" in asked:
                random.seed(asked["seed"])
                return _answer("traced", _traced(template, asked, limits))
            text = "".join(piece for _, piece in _pieces(template, asked["render"], limits))
            take_generated()
            return _answer("ok", text)
    except Exception as error:  # noqa: BLE001 - a stranger's template may raise anything
        return _failure(error)


def _pieces(
    template: Template, variables: Mapping[str, object], limits: Limits
) -> Iterator[tuple[FrameType | None, str]]:
    """Yield the template's output piece by piece, with the frame at the line of each."""
    left = limits.output_chars
    pieces = template.root_render_func(template.new_context(dict(variables)))
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise OverLimit("output_chars", limits.output_chars)
        yield getattr(pieces, "gi_frame", None), piece
        note_written(len(piece))


def _traced(template: Template, asked: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """Return the pieces with their lines, the texts that messages were compared with and where, and the time that the
    template saw."""
    variables: dict[str, object] = asked["trace"]
    clock: Sequence[int] = asked["clock"]
    watched = _watched_everywhere if asked.get("every_text") else _watched_message
    compared: dict[tuple[int, str], None] = {}

    def log(text: str) -> None:
        if len(compared) < _MOST_COMPARED:
            compared[_running_line(template), text] = None

    messages = [watched(message, log) for message in cast("list[object]", variables["messages"])]
    clock_texts = set_clock(datetime(*clock))  # type: ignore[arg-type]
    take_generated()
    try:
        made = [
            (_line_of(template, frame.f_lineno) if frame else 0, str.__str__(piece))
            for frame, piece in _pieces(template, {**variables, "messages": messages}, limits)
        ]
    finally:
        set_clock(CLOCK)
    return {"pieces": made, "compared": list(compared), "clock_texts": clock_texts, "generated": take_generated()}


def _running_line(template: Template) -> int:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__jinja_template__") is template:
            return _line_of(template, frame.f_lineno)
        frame = frame.f_back
    return 0


@lru_cache(maxsize=10_000)
def _line_of(template: Template, line: int) -> int:
    """Return the template's line for a line of its code. The result is cached, because Jinja parses its list each
    time."""
    return int(template.get_corresponding_lineno(line))


def _watched_message(message: object, log: Log) -> object:
    """Return the message with watched content, as a text or as parts."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": Watched(content, log)}
    if isinstance(content, list):
        return {**message, "content": [_watched_part(part, log) for part in content]}
    return message


def _watched_everywhere(value: object, log: Log) -> object:
    """Return the value with all its texts watched, except a message's role, which every template compares."""
    if isinstance(value, str):
        return Watched(value, log)
    if isinstance(value, list):
        return [_watched_everywhere(item, log) for item in value]
    if isinstance(value, dict):
        return {key: item if key == "role" else _watched_everywhere(item, log) for key, item in value.items()}
    return value


def _watched_part(part: object, log: Log) -> object:
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return {**part, "text": Watched(part["text"], log)}
    return part


def _failure(error: Exception) -> bytes:
    line = _template_line(error.__traceback__)
    if isinstance(error, Refused):
        return _answer("raised", {"line": line, "message": _message(error)})
    if isinstance(error, OverLimit):
        return _answer("limit", {"limit": error.limit, "value": error.value, "line": line})
    # The interpreter says the other where there is no memory left to say this one.
    if isinstance(error, (MemoryError, SystemError)):
        return _answer("limit", {"limit": "memory_mb", "value": "", "line": line})
    if isinstance(error, RecursionError):
        return _answer("limit", {"limit": "recursion", "value": str(sys.getrecursionlimit()), "line": line})
    if isinstance(error, SecurityError):
        return _answer("unsafe", {"line": line, "message": _message(error)})
    if isinstance(error, OSError):
        return _answer("unsafe", {"line": line, "message": "opening a file"})
    return _answer("failed", {"line": line, "type": type(error).__name__, "message": _message(error)})


def _message(error: Exception) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def _template_line(trace: TracebackType | None) -> int | None:
    """Return the line of the innermost frame that runs the template."""
    line = None
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = _line_of(template, trace.tb_lineno)
        trace = trace.tb_next
    return line


def _answer(kind: str, content: object) -> bytes:
    return json.dumps({kind: content}).encode("ascii") + b"\n"
