"""Markers in another spelling: what is found is awaited, in any case, with any separators, in singular and plural."""

from __future__ import annotations

import re

import regex
from hypothesis import given
from hypothesis import strategies as st

from tplc.lower.lexemes import lexemes_of, truncated_respelling
from tplc_runtime.scanner import Scanner

CORES = (
    "<|tools_prefix|>",
    "<tool_call>",
    "</answers>",
    "<think>",
    "</pondering>",
    "<classes_of_toys>",
    "<huts><hut_class>",
)
JOINTS = ("", "_", "-", " ", "__")
SPACES = ("", "", "", " ", "\n", "\xa0", "\u3000", "\f")  # after the first bracket
WORD = re.compile(r"[a-z]+")


@st.composite
def respelled(draw: st.DrawFn) -> tuple[str, str]:
    """Return a marker, and the same in another spelling."""
    core = draw(st.sampled_from(CORES))

    def word(match: re.Match[str]) -> str:
        stem = match[0].removesuffix("s")
        stem = stem.removesuffix("ing")
        return draw(st.sampled_from((match[0], stem, stem + "s", stem + "ing", match[0].upper(), match[0].title())))

    text = WORD.sub(word, re.sub("_", lambda _: draw(st.sampled_from(JOINTS)), core))
    return core, text[0] + draw(st.sampled_from(SPACES)) + text[1:]


@given(respelled())
def test_every_beginning_of_a_marker_is_awaited(case: tuple[str, str]) -> None:
    core, text = case
    found = lexemes_of([("call", [core])], ("call",), any_number=(core,))
    scanner = Scanner(*found.markers, find=found.find, near=found.near, width=found.width, leads=found.leads)
    match = scanner.find(text, 0)
    assert match is None or (match.start, match.end) == (0, len(text))
    cut = regex.compile(f"(?:{found.find})|{truncated_respelling(core)}")
    for end in range(1, len(text)) if match is not None else ():
        assert scanner.prefix_of(text[:end], 0), text[:end]
        assert cut.fullmatch(text[:end]), text[:end]


def test_words_may_be_in_the_plural_or_the_singular() -> None:
    found = lexemes_of([("call", CORES)], ("call",), any_number=CORES)
    texts = ("<|tool_prefix|>", "<tool_calls>", "</answer>", "<classes_of_toy>", "<hut><huts_class>", "<tool_callss>")
    assert [re.fullmatch(found.find, text) is not None for text in texts] == [True] * 5 + [False]


def test_words_may_end_in_ing() -> None:
    found = lexemes_of([("call", CORES)], ("call",), any_number=CORES)
    texts = ("<thinking>", "<tool_calling>", "</ponder>", "<hutting><hut_class>", "<thinkings>")
    assert [re.fullmatch(found.find, text) is not None for text in texts] == [True] * 3 + [False] * 2
