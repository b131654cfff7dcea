"""The parent's side of the worker: it starts, asks, waits, and ends it.

    renderer.render([{"role": "user", "content": "hi"}], add_generation_prompt=True)  →  "…"

The template can return JSON only, and no worker outlives its renderer.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import accumulate
from threading import Event, Timer
from types import TracebackType
from typing import Any, cast

from tplc.bounds import bounded, undisturbed
from tplc.errors import (
    LimitExceeded,
    RenderFailed,
    TemplateError,
    TemplateRaised,
    TemplateSyntaxError,
    TplcError,
    UnsafeTemplate,
    WorkerDied,
)
from tplc.ir.nodes import Json
from tplc.render.disguise import Disguise
from tplc.render.limits import Limits
from tplc.render.process import Process, start
from tplc.render.sandbox import CLOCK, SPECIAL_TOKENS

_POSIX = os.name == "posix"
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Trace:
    """A render in pieces, with the line of the template that wrote each; what the contents of messages were compared
    with, and in which line; all that the clock showed; and the characters that generation tags are around."""

    pieces: tuple[tuple[int, str], ...]
    compared: tuple[tuple[int, str], ...]
    clock_texts: tuple[str, ...]
    generated: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    def line_at(self, at: int) -> int:
        """Return the line of the piece that contains a character of the text; 0 after its end."""
        ends = accumulate(len(text) for _, text in self.pieces)
        return next((line for (line, _), end in zip(self.pieces, ends, strict=True) if at < end), 0)


@dataclass(frozen=True, slots=True)
class EncodedTools:
    """Tools as JSON, for many renders with the same ones: encoding them takes longer than the rest of a question."""

    text: str

    @classmethod
    def of(cls, tools: list[dict[str, Json]]) -> EncodedTools:
        return cls(json.dumps(tools))


class Renderer:
    """One template, rendered as often as wanted, by one worker process."""

    def __init__(
        self,
        source: str,
        *,
        name: str = "template",
        special_tokens: Mapping[str, str] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        apart: bool = False,
    ) -> None:
        """Keep the template; the worker starts with the first render.  `apart`: from another process than other
        workers, so that differences between processes show."""
        self.source = source
        self.name = name
        self.limits = limits
        self.special_tokens: dict[str, str] = dict.fromkeys(SPECIAL_TOKENS, "") | dict(special_tokens or {})
        self.count = 0
        self._apart = apart
        self._worker: Worker | None = None
        self._closed = False
        self._deadline: float | None = None
        if len(source) > limits.source_chars:
            raise LimitExceeded(name, "source_chars", str(limits.source_chars))
        self._disguise = Disguise(source)
        self._answered: dict[str, str] = {}  # what was asked with probe words, as JSON, and the render
        self._start()

    def render(
        self,
        messages: list[dict[str, Json]],
        *,
        tools: list[dict[str, Json]] | EncodedTools | None = None,
        add_generation_prompt: bool = False,
        **variables: Json,
    ) -> str:
        given = self._given(messages, tools, variables, add_generation_prompt=add_generation_prompt)
        hidden = self._disguise.hide(given)
        written = cast(str, self._ask(f'{{"render": {hidden}}}'))
        if hidden == given:  # without probe words
            return written
        self._answered[given] = self._disguise.show(written)
        return self._answered[given]

    def trace(
        self,
        messages: list[dict[str, Json]],
        *,
        tools: list[dict[str, Json]] | None = None,
        add_generation_prompt: bool = False,
        clock: datetime = CLOCK,
        seed: int = 0,
        every_text: bool = False,
        **variables: Json,
    ) -> Trace:
        """Return a render at a given time, with the origin of each piece. Random choices depend on the seed.

        `every_text`: comparisons with any text of a message are noted, not only those with its content.
        """
        given = self._given(messages, tools, variables, add_generation_prompt=add_generation_prompt)
        return self._trace(self._disguise.hide(given), clock, seed, every_text=every_text)

    def disguised(self, text: str) -> str:
        """Return a text as the template sees it."""
        return self._disguise.hide(text)

    def differs_in_other_words(self, most: int = 32) -> int | None:
        """Repeat some questions of this renderer in random words, which no template can know (see `disguise`). Return
        the line whose output differs (0: unknown); None if only the letters of those words differ."""
        chance = random.SystemRandom()
        for given in chance.sample(list(self._answered), min(most, len(self._answered))):
            if self._unlike(given, chance) is None:
                continue
            # Now and then, drawn letters are a phrase that the template looks for; one that knows words differs often.
            lines = [line for _ in range(5) if (line := self._unlike(given, chance)) is not None]
            if len(lines) > 2:
                return lines[0]
        return None

    def _unlike(self, given: str, chance: random.Random) -> int | None:
        other = Disguise(self.source, chance=chance)
        try:
            traced = self._trace(other.hide(given), CLOCK, 0)
        except (TemplateRaised, RenderFailed) as error:
            return error.line or 0
        at = self._disguise.first_unlike(other, given, self._disguise.hide(self._answered[given]), traced.text)
        return None if at is None else traced.line_at(at)

    def _trace(self, hidden: str, clock: datetime, seed: int, *, every_text: bool = False) -> Trace:
        moment = json.dumps(clock.timetuple()[:6])
        watched = json.dumps(every_text)
        traced: Any = self._ask(f'{{"trace": {hidden}, "clock": {moment}, "seed": {seed}, "every_text": {watched}}}')
        return Trace(
            pieces=self._shown(traced["pieces"]),
            compared=self._shown(traced["compared"]),
            clock_texts=tuple(map(str, traced["clock_texts"])),
            generated=tuple((int(start), int(stop)) for start, stop in traced["generated"]),
        )

    def _shown(self, pairs: list[tuple[object, object]]) -> tuple[tuple[int, str], ...]:
        texts = self._disguise.show_all([str(text) for _, text in pairs])
        return tuple((int(cast(int, line)), text) for (line, _), text in zip(pairs, texts, strict=True))

    def _given(
        self,
        messages: list[dict[str, Json]],
        tools: list[dict[str, Json]] | EncodedTools | None,
        variables: dict[str, Json],
        *,
        add_generation_prompt: bool,
    ) -> str:
        """Return the template's input as JSON."""
        # `documents` is always defined, as apply_chat_template has it.
        given: dict[str, object] = {"documents": None, **self.special_tokens, **variables, "messages": messages}
        offered = tools.text if isinstance(tools, EncodedTools) else json.dumps(tools)
        prompted = json.dumps(add_generation_prompt)
        return f'{json.dumps(given)[:-1]}, "tools": {offered}, "add_generation_prompt": {prompted}}}'

    def _ask(self, question: str) -> Json:
        if self._closed:
            raise TplcError(f"{self.name}: the renderer is closed")
        left = self._left()
        # One that an interrupt or the limit of the whole broke off is closed, and not to be asked again.
        worker = self._worker if self._worker is not None and self._worker.alive else self._start()
        self.count += 1
        answer = worker.ask(question, left)
        if isinstance(answer, LimitExceeded) and answer.limit == "wall_seconds" and left < self.limits.wall_seconds:
            self._drop()
            self._left()
        return self._result(answer)

    def _left(self) -> float:
        """Return the seconds that the next render may take by the clock."""
        if self._deadline is None:
            return self.limits.wall_seconds
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise LimitExceeded(self.name, "total_seconds", f"{self.limits.total_seconds:g}")
        return min(left, self.limits.wall_seconds)

    @contextmanager
    def within_total(self) -> Iterator[None]:
        """Limit all renders in this block to `total_seconds` together."""
        self._deadline = time.monotonic() + self.limits.total_seconds
        try:
            with bounded(self.name, self.limits):
                yield
        finally:
            self._deadline = None

    def close(self) -> None:
        self._closed = True
        self._drop()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _start(self) -> Worker:
        self._worker = Worker(self.name, self.limits, apart=self._apart)
        self._result(self._worker.ask(json.dumps({"source": self.source, "limits": asdict(self.limits)})))
        return self._worker

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _result(self, answer: dict[str, Json] | TemplateError) -> Json:
        if isinstance(answer, dict):
            [(kind, content)] = answer.items()
            if kind in ("ok", "traced"):
                return content
            details = cast("dict[str, Json]", content)
            answer = self._error(kind, details | {"message": self._disguise.show(str(details.get("message")))})
        if (
            isinstance(answer, (LimitExceeded, TemplateSyntaxError, UnsafeTemplate))
            or self._worker is None
            or not self._worker.alive
        ):
            self._drop()
        raise answer

    def _error(self, kind: str, details: dict[str, Json]) -> TemplateError:
        line = cast("int | None", details["line"])
        if kind == "raised":
            return TemplateRaised(self.name, line, str(details["message"]))
        if kind == "syntax":
            column = cast("int | None", details["column"])
            return TemplateSyntaxError(self.name, line or 1, column, str(details["text"]), str(details["message"]))
        if kind == "unsafe":
            return UnsafeTemplate(self.name, line, str(details["message"]))
        if kind == "limit":
            limit = str(details["limit"])
            value = getattr(self.limits, limit) if hasattr(self.limits, limit) else details["value"]
            return LimitExceeded(self.name, limit, str(value), line)
        return RenderFailed(self.name, line, str(details["type"]), str(details["message"]))


class Worker:
    """The process, and the pipes to it."""

    def __init__(self, name: str, limits: Limits, *, apart: bool = False) -> None:
        self.name = name
        self.limits = limits
        # A character is at most twelve bytes of JSON; what is longer was not written by the worker's own code.
        self._most_bytes = 12 * limits.output_chars + _CHUNK
        self._alive, self._owner = True, os.getpid()
        with undisturbed():
            self.process = start(apart=apart)
            self._finalizer = weakref.finalize(self, _end, self.process, os.getpid())

    @property
    def alive(self) -> bool:
        """Return whether this process can ask the worker; a forked copy of its owner has to start its own."""
        return self._alive and os.getpid() == self._owner

    def ask(self, question: str, seconds: float | None = None) -> dict[str, Json] | TemplateError:
        """Send a question, JSON in one line, and return the answer."""
        line = question.encode("ascii") + b"\n"
        try:
            _write(self.process, line)
            answer = _read_line(self.process, seconds or self.limits.wall_seconds, self._most_bytes)
        except BrokenPipeError:
            answer = b""
        except TimeoutError:
            self.close()
            return LimitExceeded(self.name, "wall_seconds", str(self.limits.wall_seconds))
        except BaseException:
            # An interrupt in between: an answer that comes later must not be taken for the next one's.
            self.close()
            raise
        if len(answer) > self._most_bytes:
            self.close()
            return LimitExceeded(self.name, "output_chars", str(self.limits.output_chars))
        if not answer.endswith(b"\n"):
            self.close(dying=True)
            return self._death()
        try:
            return cast("dict[str, Json]", json.loads(answer))
        except (ValueError, RecursionError):
            self.close()
            return WorkerDied(self.name, "an invalid answer")

    def close(self, *, dying: bool = False) -> None:
        with undisturbed():
            if dying:
                # Its pipes are closed, so it is about to be gone; how it went is worth knowing.
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=2)
            self._alive = False
            self._finalizer()

    def _death(self) -> TemplateError:
        code = self.process.returncode or 0
        if _POSIX and code == -signal.SIGPROF:
            return LimitExceeded(self.name, "render_seconds", str(self.limits.render_seconds))
        if _POSIX and code in (-signal.SIGXCPU, -signal.SIGKILL):
            # The hard limit kills; the kernel kills as well when the machine has no memory left.
            return LimitExceeded(self.name, "cpu_seconds", str(self.limits.cpu_seconds))
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return WorkerDied(self.name, how)


def _write(process: Process, data: bytes) -> None:
    assert process.stdin is not None
    view = memoryview(data)
    while view:
        view = view[process.stdin.write(view) :]


def _read_line(process: Process, seconds: float, most: int) -> bytes:
    """Read up to the newline, the end of the pipe, or `most` bytes. The worker writes one line per question."""
    if not _POSIX:
        return _read_line_guarded(process, seconds, most)
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + seconds
    pieces: list[bytes] = []
    left = most
    while left >= 0 and not (pieces and pieces[-1].endswith(b"\n")):
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        piece = os.read(descriptor, _CHUNK)
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _read_line_guarded(process: Process, seconds: float, most: int) -> bytes:
    """Read a line on systems where a pipe can't be waited for with a time limit."""
    assert process.stdout is not None
    late = Event()

    def end() -> None:
        late.set()
        process.end()

    timer = Timer(seconds, end)
    timer.start()
    try:
        line = process.stdout.readline(most + 1)
    finally:
        timer.cancel()
    if not line and late.is_set():
        raise TimeoutError
    return line


def _end(process: Process, owner: int) -> None:
    """End the worker, unless this is a forked copy of its owner."""
    if os.getpid() != owner:
        return
    # Also where it is the garbage collector that calls.
    with undisturbed():
        process.end()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
