"""Templates that shorten arguments are refused, and the reason says so."""

from __future__ import annotations

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tplc.driver import compile_template
from tplc.errors import TplcError

OBJECT = "{{- '<t>' ~ c.function.name ~ (c.function.arguments | tojson)[:SIZE] ~ '</t>' }}"
FILTERED = "{{- '<t>' ~ c.function.name ~ (c.function.arguments | tojson | truncate(SIZE, True, '')) ~ '</t>' }}"
VALUE = "(v if v is string else v | tojson)[:SIZE]"
PAIR = f"{{{{- '<p n=' ~ k ~ '>' ~ {VALUE} ~ '</p>' }}}}"
ELEMENTS = "{{- '<t>' ~ c.function.name }}" + pairs(PAIR) + "{{- '</t>' }}"
FORMS = {"an object": OBJECT, "an object by a filter": FILTERED, "values": ELEMENTS}
REASONS = ("the template shortens arguments, and what it leaves out is lost", "the template leaves out the values")


def reason(form: str, size: int) -> str:
    source = source_of(CONTENT + calls(FORMS[form].replace("SIZE", str(size))))
    try:
        return "".join(compile_template(source, name="t", special_tokens=TOKENS).verification.failures[:1])
    except TplcError as error:
        return str(error)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [37, 50, 60, 100, 200, 400])
def test_a_shortened_object(size: int) -> None:
    assert any(text in reason("an object", size) for text in REASONS)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("size", [12, 20, 25, 30, 33, 40, 45, 55, 60])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_shortened(form: str, size: int) -> None:
    assert any(text in reason(form, size) for text in REASONS)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("size", [20, 63])
@pytest.mark.parametrize(("part", "of"), [("names", "name"), ("keys", "k")])
def test_shortened_names(part: str, of: str, size: int) -> None:
    """A name may have 64 characters."""
    shortened = {"name": "c.function.name", "k": "k"}
    shortened[of] += f"[:{size}]"
    pair = f"{{{{- '<p n=' ~ {shortened['k']} ~ '>' ~ (v if v is string else v | tojson) ~ '</p>' }}}}"
    form = f"{{{{- '<t>' ~ {shortened['name']} }}}}" + pairs(pair) + "{{- '</t>' }}"
    verification = compile_template(source_of(CONTENT + calls(form)), name="t", special_tokens=TOKENS).verification
    assert verification.failures[0].startswith(f"cause: the template changes {part}: ")
