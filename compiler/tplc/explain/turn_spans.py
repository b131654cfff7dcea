"""Which part of a turn each character of an output belongs to: for masks of trainers, and colours of viewers.

    spans(ir, "<why>Hm</why>Hi<call>look {}</call><end>")
    →  reasoning "<why>Hm</why>", content "Hi", call "<call>look ", arguments "{}", call "</call>", end "<end>"

The parser locates the values; each marker between them belongs to the part that it opens or closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from tplc import given
from tplc.driver import artifact_of
from tplc.explain.spans import spans as value_spans
from tplc.ir.nodes import Json, TemplateIR
from tplc.lower import lower

TurnPart = Literal["header", "reasoning", "content", "call", "arguments", "end"]
_VALUES: Mapping[str, TurnPart] = {
    "reasoning": "reasoning",
    "content": "content",
    "name": "call",
    "id": "call",
    "key": "arguments",
    "arguments": "arguments",
}


@dataclass(frozen=True, slots=True)
class TurnSpan:
    """The characters from `start` up to `stop`; the spans of a text make it up, in order."""

    part: TurnPart
    start: int
    stop: int


def spans(
    ir: TemplateIR, text: str, *, prompt: str | None = None, tools: Sequence[Mapping[str, Json]] | None = None
) -> tuple[TurnSpan, ...]:
    """Return the parts of a model's output after `prompt` (None: the default prompt)."""
    given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
    given.text("text", text, "what a model wrote (str)")
    given.tools(tools)
    stream = _parser(ir)(tools=tools, prompt=prompt)
    fed: list[tuple[int, Sequence[dict[str, Any]]]] = []
    for at, char in enumerate(text, 1):
        deltas = stream.feed(char)
        if deltas:
            fed.append((at, deltas))
    fed.append((len(text), stream.finish()))
    pieces = [(span.kind, span.start, span.text) for span in value_spans(text, fed)]
    found: list[TurnSpan] = []
    for index, (kind, start, piece) in enumerate(pieces):
        if kind != "marker":
            _add(found, _VALUES[kind], start, start + len(piece))
            continue
        before = _VALUES[pieces[index - 1][0]] if index else None
        after = _VALUES[pieces[index + 1][0]] if index + 1 < len(pieces) else None
        for part, first, last in marked(ir, piece, before, after):
            _add(found, part, start + first, start + last)
    return tuple(found)


@lru_cache(maxsize=16)
def _parser(ir: TemplateIR) -> Any:
    return artifact_of(ir).stream


def marked(
    ir: TemplateIR, text: str, before: TurnPart | None, after: TurnPart | None
) -> Iterator[tuple[TurnPart, int, int]]:
    """Yield the parts of a text of markers, with their places: those with a part of their own, and the others as their
    neighbours say."""
    called = "call" in (before, after) or "arguments" in (before, after)
    other: TurnPart = "call" if called else after or before or "content"
    at = 0
    for match in _markers(ir).finditer(text):
        if match.start() > at:
            # White space after a marker is that marker's.
            yield other, at, match.start()
        part = next(name for name, found in match.groupdict().items() if found is not None)
        yield _PARTS[part], match.start(), match.end()
        at = match.end()
    if at < len(text):
        yield other, at, len(text)


_PARTS: Mapping[str, TurnPart] = {"end": "end", "reasoning": "reasoning", "content": "content", "header": "header"}


@lru_cache(maxsize=16)
def _markers(ir: TemplateIR) -> re.Pattern[str]:
    acceptor = lower(ir)
    groups = {
        "end": acceptor.ends,
        "reasoning": (*(start.text for start in acceptor.reasoning_starts), *acceptor.reasoning_ends),
        "content": (*(start.text for start in acceptor.content_starts), *acceptor.content_ends),
        "header": acceptor.headers,
    }
    cores = {
        name: {_before_header(text.strip(), acceptor.headers) for text in texts if text.strip()}
        for name, texts in groups.items()
    }
    found = {name: sorted(texts, key=len, reverse=True) for name, texts in cores.items()}
    patterns = [rf"(?P<{name}>\s*(?:{'|'.join(map(re.escape, texts))})\s*)" for name, texts in found.items() if texts]
    return re.compile("|".join(patterns) or "(?!)")


def _before_header(marker: str, headers: Sequence[str]) -> str:
    """Return the marker without the header of the next part of the turn, which it may end with."""
    return next((marker[:at].rstrip() for header in headers if (at := marker.find(header.strip())) > 0), marker)


def _add(found: list[TurnSpan], part: TurnPart, start: int, stop: int) -> None:
    if found and found[-1].part == part:
        found[-1] = TurnSpan(part, found[-1].start, stop)
    else:
        found.append(TurnSpan(part, start, stop))
