"""Numbered calls whose opener is a word: `r1 = f(x=1)`.  Arguments may be called as anything that begins with it."""

from __future__ import annotations

from functools import cache

import pytest

from tests.independent import TOKENS, round_trip
from tests.learn.test_idioms import CONTENT, calls, source_of
from tests.learn.test_inversions import VALUE, close, pairs
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR

WORDS = ("r", "v", "step", "call_")
ENDS = {"keywords": (" = ", "(", "=", ", ", ")"), "brackets": (": ", " [", ": ", "; ", "]")}
CONTENTS = ("", "Hi.", "Hi.\n", "See:\n```\nx = 1\n```\n")


@cache
def compiled(word: str, kind: str) -> tuple[str, TemplateIR]:
    after_number, opened, key_end, separator, closed = ENDS[kind]
    number = f"{{{{- '\\n{word}' ~ loop.index ~ '{after_number}' ~ c.function.name ~ '{opened}' }}}}"
    written = pairs(f'k ~ "{key_end}"', '""', VALUE, join=separator)
    source = source_of(CONTENT + calls(number + written + close(closed)))
    return source, compile_template(source, name="t", special_tokens=TOKENS)


@pytest.mark.sweep(54)
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("key", ["egion", "_", "1", "", "s of"])
@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("word", WORDS)
def test_a_key_may_begin_with_the_word(word: str, kind: str, key: str, content: str) -> None:
    source, ir = compiled(word, kind)
    assert ir.verification.verified
    arguments = ({"a": 1, word + key: "x y", "last": True}, {word + key: [1]}, {})
    called = [
        {"id": f"numbered{n}", "type": "function", "function": {"name": f"{word}un", "arguments": found}}
        for n, found in enumerate(arguments)
    ]
    reader = EveryReader(ir)
    result = round_trip(source, ir, reader, [{"role": "assistant", "content": content, "tool_calls": called}])
    assert (result.equal, result.wrong, reader.differ) == (1, (), [])


def test_a_key_that_reads_as_a_call_is_found_out() -> None:
    """Where a name comes directly after the word, no format shows whether a key or a further call begins."""
    written = pairs('k ~ "="', '""', VALUE, join=", ")
    source = source_of(CONTENT + calls(close("\\nzu") + "{{- c.function.name ~ '(' }}" + written + close(")")))
    failures = compile_template(source, name="t", special_tokens=TOKENS).verification.failures
    assert "the shortest of them, arguments called zuing, zu_, is rendered" in failures[0]
