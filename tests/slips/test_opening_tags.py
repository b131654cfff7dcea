"""A template that only cuts reasoning off at its closing tag doesn't show the opening tag, which models write."""

from __future__ import annotations

import pytest

from tests.parser_cache import learn_text
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, tolerate
from tplc.ir.markers import opening_tag
from tplc.lower.interpret import interpret
from tplc.lower.lower import lower
from tplc.verify.artifact import load_module

TEMPLATE = """\
{%- for message in messages -%}
{{ '<|' + message.role + '|>' + message.content.split('CLOSER')[-1] + '<|over|>' }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"""
TWICE = "reasoning_opened_twice"


@pytest.mark.parametrize(
    ("closer", "opener"),
    [("</think>", "<think>"), ("[/muse]", "[muse]"), ("<|/inner|>", "<|inner|>"), ("\n{{/x:y}}", "{{x:y}}")],
)
def test_a_closing_tag_implies_its_opening_tag(closer: str, opener: str) -> None:
    assert opening_tag(closer) == opener


@pytest.mark.parametrize("closer", ["<|end_of_thought|>", "Answer/", "END", "]", ""])
def test_other_closers_imply_none(closer: str) -> None:
    assert opening_tag(closer) == ""


@pytest.mark.parametrize(
    ("closer", "output", "reasoning", "content", "codes"),
    [
        ("</think>", "<think>Hm.</think>Yes.<|over|>", "Hm.", "Yes.", [TWICE]),
        ("</think>", "\n<think>\nHm.</think>Yes.", "\nHm.", "Yes.", [TWICE]),
        ("</think>", "Hm.</think>Yes.", "Hm.", "Yes.", []),
        ("</think>", "I write <think>.</think>Yes.", "I write <think>.", "Yes.", ["like_a_marker"]),
        ("</think>", "<think>Hm.", None, "<think>Hm.", ["like_a_marker"]),
        ("[/muse]", "[muse]Hm.[/muse]Yes.", "Hm.", "Yes.", [TWICE]),
    ],
)
def test_the_opening_tag_is_dropped(
    closer: str, output: str, reasoning: str | None, content: str, codes: list[str]
) -> None:
    source = TEMPLATE.replace("CLOSER", closer)
    ir = tolerate(learn_text("opening-tags", source, None))
    assert ir.reasoning.mode == "delimiter"
    parser = load_module(generate(ir, "python"))
    for chunks in ([output], list(output)):
        stream = parser.StreamParser()
        for chunk in chunks:
            stream.feed(chunk)
        stream.finish()
        message = stream.message
        assert (message.get("reasoning_content"), message["content"]) == (reasoning, content)
        assert [one.code for one in stream.diagnostics] == codes
    peg = PegEngine(ir).read(output).message
    assert (peg.get("reasoning_content"), peg["content"]) == (reasoning, content)
    read = interpret(lower(ir), output)
    said = [code for _, _, code in read.diagnostics]
    assert (read.reasoning_content or None, read.content, said) == (reasoning, content, codes)
