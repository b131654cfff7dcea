"""Draw time against length as an SVG picture, with logarithmic axes.

write_plot(path, {"content": [(2048, 0.01), (16384, 0.08)]}, "…")  →  a file for docs/performance.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT, MARGIN = 720, 440, 60
COLOURS = ("#1b6ca8", "#c44536", "#2d936c", "#8e5ea2", "#d68c1d", "#5b616b", "#0b7a75", "#9b2226")


def write_plot(path: Path, curves: Mapping[str, Sequence[tuple[int, float]]], title: str) -> None:
    points = [point for curve in curves.values() for point in curve]
    left, right = math.log10(min(x for x, _ in points)), math.log10(max(x for x, _ in points))
    low, high = math.log10(min(y for _, y in points)), math.log10(max(y for _, y in points))

    def place(point: tuple[int, float]) -> tuple[float, float]:
        across = (math.log10(point[0]) - left) / (right - left)
        up = (math.log10(point[1]) - low) / (high - low)
        return MARGIN + across * (WIDTH - 3.6 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="28" font-size="15">{escape(title)}</text>',
    ]
    for size in sorted({x for x, _ in points}):
        x, _ = place((size, 10**low))
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - 36}" text-anchor="middle">{size // 1024} KB</text>')
        lines.append(f'<path d="M{x:.1f} {MARGIN}V{HEIGHT - MARGIN}" stroke="#ddd"/>')
    for power in range(math.ceil(low), math.floor(high) + 1):
        _, y = place((10**left, 10**power))
        lines.append(f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>')
        lines.append(f'<path d="M{MARGIN} {y:.1f}H{WIDTH - 2.6 * MARGIN}" stroke="#ddd"/>')
    for i, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        path_data = "L".join(f"{x:.1f} {y:.1f}" for x, y in map(place, curve))
        lines.append(f'<path d="M{path_data}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = WIDTH - 2.5 * MARGIN, MARGIN + 18 * i
        lines.append(f'<text x="{x}" y="{y}" fill="{colour}">{escape(name)}</text>')
    path.write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")
