"""`tplc try`: a raw output, split into its parts, with the deltas as they would stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from tplc.cli import inputs
from tplc.cli.console import new_console
from tplc.cli.parse import ParseOptions, check_input, parser_of
from tplc.cli.shown import diagnostics_of, one_line_json, print_json
from tplc.explain.spans import ValueSpan, spans
from tplc.ir.visible import shown
from tplc.project.files import read_text, read_tools

STYLES = {
    "marker": "dim",
    "reasoning": "magenta",
    "content": "green",
    "name": "bold cyan",
    "id": "blue",
    "key": "cyan",
    "arguments": "yellow",
}
# About what a model's tokens are.
_PIECES = re.compile(r"\s*\w{1,6}|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Fed:
    """One chunk, where it starts, and the deltas that came of it; the last chunk is empty: the end."""

    at: int
    chunk: str
    deltas: list[dict[str, Any]]

    @property
    def end(self) -> int:
        return self.at + len(self.chunk)


def try_command(options: ParseOptions, *, chunk: int | None, as_json: bool = False) -> None:
    check_input(options)
    parser = parser_of(options)
    assert parser.stream is not None
    text = inputs.text_of(options.file, "the output")
    keywords: dict[str, Any] = {
        "tools": read_tools(options.tools) if options.tools else None,
        "prompt": read_text(options.prompt) if options.prompt else None,
    }
    stream: Any = parser.stream(**keywords)
    # The output is fed character by character, so each delta belongs to exactly one of them.
    parts = spans(text, [(f.end, f.deltas) for f in _feed(parser.stream(**keywords), text, 1)])
    fed = list(_feed(stream, text, chunk))
    if as_json:
        print_json(_as_json(parts, fed, stream))
        return
    console = new_console()
    _print_parts(console, parts)
    _print_deltas(console, fed)
    for diagnostic in stream.diagnostics:
        console.print(Text(f"at {diagnostic.offset}: {shown(diagnostic.text)}", style="yellow"))
    if stream.incomplete:
        console.print(Text("the output is incomplete", style="yellow"))


def _as_json(parts: Sequence[ValueSpan], fed: Sequence[Fed], stream: Any) -> dict[str, Any]:
    return {
        "parts": [{"start": part.start, "kind": part.kind, "text": part.text} for part in parts],
        "deltas": [{"at": one.at, "chunk": one.chunk, "delta": delta} for one in fed for delta in one.deltas],
        "message": stream.message,
        "diagnostics": diagnostics_of(stream),
        "incomplete": stream.incomplete,
    }


def _feed(stream: Any, text: str, chunk: int | None) -> Iterator[Fed]:
    pieces = [text[i : i + chunk] for i in range(0, len(text), chunk)] if chunk else _PIECES.findall(text)
    at = 0
    for piece in pieces:
        yield Fed(at, piece, stream.feed(piece))
        at += len(piece)
    yield Fed(at, "", stream.finish())


def _print_parts(console: Console, found: Sequence[ValueSpan]) -> None:
    console.print(Text("parts", style="bold"))
    for span in found:
        text = one_line_json(span.text)
        console.print(Text.assemble(f"  {span.start:>5}  ", (f"{span.kind:<10}", STYLES[span.kind]), f" {text}"))


def _print_deltas(console: Console, fed: Sequence[Fed]) -> None:
    console.print(Text("deltas", style="bold"))
    for one in fed:
        for delta in one.deltas:
            source = one_line_json(one.chunk) if one.chunk else "(end)"
            text = one_line_json(delta)
            console.print(Text.assemble(f"  {one.at:>5}  ", (f"{source:<10}", "dim"), f" {text}"))
