"""The PEG reads arguments as the parser does, with any white space around values whose closers repeat the key."""

from __future__ import annotations

import pytest

from tests.independent import TOKENS
from tests.learn.test_inversions import RAW, close, name, pairs, template_with
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

SPACES = ("", "\\n", " ", "\\n  ")
VALUES = ("x", "a\nb", "5", "", "</k", "<k>", " ")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("before", SPACES)
@pytest.mark.parametrize("after", SPACES)
def test_white_space_around_values_in_tags_named_by_keys(before: str, after: str) -> None:
    call = name("[call ", "]\\n") + pairs(f"'<' ~ k ~ '>{before}'", f"'{after}</' ~ k ~ '>\\n'", RAW) + close("[/call]")
    ir = compile_template(template_with(call), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    parser, engine = load_module(generate(ir, "python")), PegEngine(ir)
    before, after = (space.replace("\\n", "\n") for space in (before, after))
    for value in VALUES:
        text = f"[call f]\n<k>{before}{value}{after}</k>\n<n>{before}1{after}</n>\n[/call]"
        message = dict(parser.parse(text))
        assert '"n": 1' in message["tool_calls"][0]["function"]["arguments"]
        assert dict(engine.parse(text)) == message, text
