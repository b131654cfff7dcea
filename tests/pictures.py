"""Draw the pictures of the documentation from data: `make pictures`.

docs/pictures/architecture.json  →  docs/pictures/architecture.svg   boxes and arrows
the first commands of README.md  →  docs/pictures/recording.svg      a terminal, line by line, with real output

Both have a light and a dark form; the reader's browser chooses.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conftest import ROOT
from tests.documents import inside, read_blocks, run_shell

FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 200, 60
_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 12px; fill: #59636e; }
  .box { fill: #f6f8fa; stroke: #59636e; }
  .data { fill: #fff8c5; }
  .arrow { stroke: #59636e; fill: none; marker-end: url(#head); }
  #head path { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .box { fill: #151b23; stroke: #9198a1; }
    .data { fill: #3b2e00; }
    .arrow { stroke: #9198a1; }
    #head path { fill: #9198a1; }
  }
"""


def architecture() -> str:
    """Returns the picture of the pipeline as SVG."""
    data = json.loads((FOLDER / "architecture.json").read_text(encoding="utf-8"))
    boxes = {box["name"]: box for box in data["boxes"]}
    width, height = data["size"]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>How tplc turns a chat template into parsers and grammars</title>",
        f"<style>{_STYLE}</style>",
        '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker>',
    ]
    lines += [_arrow(boxes[start], boxes[end]) for start, end in data["arrows"]]
    for box in data["boxes"]:
        (x, y), (title, caption) = box["at"], box["text"]
        lines.append(
            f'<rect class="box {box.get("kind", "")}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        )
        lines.append(f'<text x="{x + 12}" y="{y + 25}">{escape(title)}</text>')
        lines.append(f'<text class="small" x="{x + 12}" y="{y + 46}">{escape(caption)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(start: dict[str, Any], end: dict[str, Any]) -> str:
    """Draws a line from the side of a box to the nearest side of another."""
    (x, y), (to_x, to_y) = start["at"], end["at"]
    if y == to_y:
        right = to_x > x
        return _line(x + WIDTH * right, y + HEIGHT // 2, to_x + WIDTH * (not right), to_y + HEIGHT // 2)
    down = to_y > y
    return _line(x + WIDTH // 2, y + HEIGHT * down, to_x + WIDTH // 2, to_y + HEIGHT * (not down))


def _line(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path class="arrow" d="M{x} {y}L{to_x} {to_y}"/>'


_TERMINAL = """
  text { font: 13px ui-monospace, monospace; fill: #1f2328; white-space: pre; animation: show 0s both; }
  .command { font-weight: bold; }
  rect { fill: #f6f8fa; stroke: #d1d9e0; }
  @keyframes show { from { opacity: 0 } to { opacity: 1 } }
  @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } rect { fill: #0d1117; stroke: #3d444d; } }
  @media print, (prefers-reduced-motion: reduce) { text { animation: none; } }
"""
_COLUMNS, _ROW = 118, 19


def recording() -> str:
    """Runs the first commands of the README; returns an SVG that shows them and their output line by line."""
    blocks = read_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    block = next(block for block in blocks if block.language == "console" and not block.not_run)
    lines: list[str] = []
    with TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        with inside(Path(folder)):
            for command in (line[2:] for line in block.text.splitlines() if line.startswith("$ ")):
                lines += [f"$ {command}", *run_shell(command).splitlines()]
    height = _ROW * (len(lines) + 1)
    shown = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" role="img">',
        "<title>tplc compile, and what the parser returns</title>",
        f"<style>{_TERMINAL}</style>",
        f'<rect x="0.5" y="0.5" width="919" height="{height - 1}" rx="6"/>',
    ]
    seconds = -1.2  # the first command is there from the start
    for number, line in enumerate(lines, 1):
        is_command = line.startswith("$ ")
        seconds += 1.2 if is_command else 0.08
        kind = ' class="command"' if is_command else ""
        text = line if len(line) <= _COLUMNS else line[: _COLUMNS - 1] + "…"
        delay = f'style="animation-delay:{seconds:.2f}s"'
        shown.append(f'<text{kind} {delay} x="14" y="{_ROW * number + 4}" xml:space="preserve">{escape(text)}</text>')
    return "\n".join([*shown, "</svg>"]) + "\n"


def main() -> None:
    for name, text in (("architecture.svg", architecture()), ("recording.svg", recording())):
        Path(FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote docs/pictures/{name}")


if __name__ == "__main__":
    main()
