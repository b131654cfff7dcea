"""Calls whose markers depend on what the calls hold: they verify, in the parser and in the PEG, and come back."""

from __future__ import annotations

import pytest

from tests.learn.test_inversions import TURN, close, name, wrong_messages
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

OBJECT = "{{- c.function.arguments | tojson }}"
COUNT, NUMBER = '{{- m.tool_calls | length ~ "" }}', "{{- loop.index ~ '' }}"

# One call each, as Jinja.
COUNTED = {
    "attribute": close('<call count=\\"') + COUNT + name('\\" name=\\"', '\\">') + OBJECT + close("</call>"),
    "words": close("[[") + COUNT + name(" calls: ", " ") + OBJECT + close("]]"),
    "number of all": close("⟦") + NUMBER + close("/") + COUNT + name(" ", "⟧") + OBJECT + close("⟦/⟧"),
    "closer": name("<рядок ", ">") + OBJECT + close("</рядок з ") + COUNT + close(">"),
    "member": close('<call>{\\"of\\": \\"') + COUNT + name('\\", \\"name\\": \\"', '\\", \\"arguments\\": ') + OBJECT
    + close("}</call>"),
}  # fmt: skip


def source_of(call: str) -> str:
    return TURN.replace("@OPEN@", "").replace("@CLOSE@", "").replace("@LAST@", "").replace("@CALL@", call)


def check(call: str) -> None:
    """Check that all messages come back, and that the PEG verifies as well."""
    assert wrong_messages(source_of(call)) == ()
    assert compile_template(source_of(call), name="t", target="peg").verification.failures == ()


@pytest.mark.parametrize("kind", COUNTED)
def test_the_number_of_calls_is_a_slot(kind: str) -> None:
    check(COUNTED[kind])


def test_any_number_of_calls_is_read() -> None:
    parser = load_module(generate(compile_template(source_of(COUNTED["attribute"]), name="t"), "python"))
    text = '<call count="12" name="f">{"a": 1}</call><call count="12" name="g">{}</call><|e|>'
    assert [call["function"] for call in parser.parse(text)["tool_calls"]] == [
        {"name": "f", "arguments": '{"a": 1}'},
        {"name": "g", "arguments": "{}"},
    ]
