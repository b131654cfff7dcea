"""Damage outputs: cut, double and move parts, and add noise.

mutations(["<call>f {}</call>"], markers=["<call>", "</call>"])  →  "<call>f {", "<call><call>f {}</call>", …
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

NOISE = ("\n", " ", "\n\n", "{", "}", "[", "]", "(", ")", '"', "'", ",", ":", "=", "\\", "<", ">", "</", "``", "x", "é")
WORDS = ("007", "null", "True", "hello world")
MOST = 3


@st.composite
def mutations(draw: st.DrawFn, texts: Sequence[str], markers: Sequence[str]) -> str:
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, MOST))):
        text = _changed(draw, text, markers)
    return text


def _changed(draw: st.DrawFn, text: str, markers: Sequence[str]) -> str:
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(1, 40)))
    kind = draw(st.sampled_from(("cut", "double", "drop", "noise", "marker", "move")))
    if kind == "cut":
        return text[:start]
    if kind == "double":
        return text[:end] + text[start:]
    if kind == "drop":
        return text[:start] + text[end:]
    if kind == "noise" or not markers:
        return text[:start] + draw(st.sampled_from((*NOISE, *WORDS))) + text[start:]
    marker = draw(st.sampled_from(markers))
    if kind == "marker":
        return text[:start] + marker + text[start:]
    without = text.replace(marker, "", 1)
    at = min(start, len(without))
    return without[:at] + marker + without[at:]
