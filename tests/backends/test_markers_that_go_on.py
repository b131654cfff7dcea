"""A marker that ends like a word may be the beginning of a longer word: only the next character shows it.

`<p` opens a pair, and `<px` doesn't; the parser waits for that character, so each chunking gives the same message.
"""

from __future__ import annotations

import pytest

from tests.backends.parsers import streamed
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

VALUE = "(v if v is string else v | tojson)"
FORMATS = {
    "pairs": "{{- '<call ' ~ c.function.name ~ '>' }}"
    + pairs("{{- '<p ' ~ k ~ '>' ~ " + VALUE + " ~ '</p>' }}")
    + "{{- '</call>' }}",
    "lines": "{{- '<call>' ~ c.function.name }}"
    + pairs("{{- '\\nset ' ~ k ~ ' to ' ~ (v | tojson) }}")
    + "{{- '\\nend' }}",
    "object": "{{- '<call>' ~ c.function.name ~ ' with ' ~ (c.function.arguments | tojson) ~ ' end' }}",
}
OUTPUTS = {
    "pairs": ("<call f><px a>1</p></call>", "<call f><p", "<call f><px", "<call f><p a>1</p></call>so"),
    "lines": ("<call>f\nsetting a to 1\nend", "<call>f\nending", "<call>f\nend", "<call>f\nset a to 1\nend."),
    "object": (
        '<call>f with {"a": 1}|>',
        '<call>f with {"a": 1} end|>',
        "<call>f without",
        "<call>f with",
        "<call>f ending",
        '<call>f with {"a": 1} endless',
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_next_character_decides_however_the_text_is_cut(name: str) -> None:
    ir = compile_template(source_of(CONTENT + calls(FORMATS[name])), name="t", special_tokens=TOKENS)
    parser = load_module(generate(ir, "python"))
    for output in OUTPUTS[name]:
        for text in (output, output + "<|e|>"):
            whole = parser.parse(text)
            for size in (1, 2, 3):
                assert streamed(parser, [text[at : at + size] for at in range(0, len(text), size)]) == whole, text
