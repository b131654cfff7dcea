"""Markers with the length of a text, or the number of arguments, are refused, and the cause says so."""

from __future__ import annotations

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, source_of
from tplc.driver import compile_template

WHOLE = "{'name': c.function.name, 'arguments': c.function.arguments} | tojson"
ARGUMENTS = "c.function.arguments | tojson"
FORMS = {
    "an attribute": (WHOLE, "'<call len=' ~ j | length ~ '>' ~ j ~ '</call>'"),
    "after the name": (ARGUMENTS, "'<call ' ~ c.function.name ~ ' ' ~ j | length ~ '>' ~ j ~ '</call>'"),
    "in braces": (ARGUMENTS, "'<|f|>' ~ c.function.name ~ '{' ~ j | length ~ '}' ~ j"),
    "in front of all": (WHOLE, "'[' ~ j | length ~ ']' ~ j"),
    "a header": (WHOLE, "'\\nContent-Length: ' ~ j | length ~ '\\n\\n' ~ j"),
    "of arguments": (ARGUMENTS, "'<t ' ~ c.function.name ~ ' n=' ~ c.function.arguments | length ~ '>' ~ j ~ '</t>'"),
    "of the name": (ARGUMENTS, "'<t ' ~ c.function.name | length ~ ':' ~ c.function.name ~ '>' ~ j ~ '</t>'"),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("form", FORMS)
def test_the_cause_is_the_length(form: str) -> None:
    given, written = FORMS[form]
    source = source_of(CONTENT + calls(f"{{%- set j = {given} %}}{{{{- {written} }}}}"))
    failures = compile_template(source, name="t", special_tokens=TOKENS).verification.failures
    other = {"of the name": "the length of the name", "of arguments": "the number of arguments"}
    what = other.get(form, "the length of the object after it")
    assert failures[0].startswith('cause: the number in "')
    assert f'" is {what} (' in failures[0]
    assert not any(line.startswith("help: ") for line in failures)
