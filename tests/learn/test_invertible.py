"""Constructions of chat templates that a careful person can invert: each verifies and every message comes back, or it
is refused with the true reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.parsers import undefined_names
from tests.independent import TOKENS
from tests.property.report_wild import read_back
from tplc.driver import compile_template, generate
from tplc.errors import TplcError

FOLDER = Path(__file__).parent.parent / "cases" / "invertible"
# What the first line of a refusal says.
REFUSED = {
    "attribute-of-key-by-type": 'the text between the key and the value of an argument depends on its type (">" and ',
    "brackets-if-several": "the template writes a single call in another form than several",
    "call-opener-opens-arguments": 'what opens a call ("(") opens an argument as well',
    "escaped-calls-in-brackets": 'what opens calls ("[") counts only at the start of a line',
    "fence-named-by-tool": 'what opens calls ("```") is in the text itself',
    "index-if-several": "the template writes a single call in another form than several",
    "items-between-spaces": 'only white space (" ") separates the items of lists',
    "line-break-separates-calls": 'only white space ("\\n") separates the arguments of a call from the name',
    "lists-open-like-objects": 'lists and objects begin alike, with "{": which of them a value is shows too late',
    "name-after-pairs": "the name of a call comes after its arguments",
    "object-replace": "the template writes double quotes as &quot; in arguments",
    "quotes-alone-escaped": "the template writes backslashes before double quotes alone in values",
    "quotes-doubled": "the template writes single quotes twice in values",
    "reasoning-space-by-shape": "white space at the ends of reasoning is lost",
    "row-opens-as-it-closes": 'what opens a call ("| ") closes an argument as well: a further call reads as',
    "text-after-key-by-type": 'the text between the key and the value of an argument depends on its type ("=',
    "truncate-over-object": "the template shortens arguments, and what it leaves out is lost",
    "truncate-value": "the template shortens arguments, and what it leaves out is lost",
    "turn-as-json-if-calls": "the template writes the whole turn as one JSON object",
    "upper-object": "the template writes capital letters in keys",
    "white-space-ends-reasoning": "reasoning of reasoning_content: only white space",
}


def names() -> list[str]:
    found = sorted(path.stem for path in FOLDER.glob("*.jinja"))
    assert set(REFUSED) < set(found)
    return found


@pytest.mark.sweep(38)
@pytest.mark.parametrize("name", names())
def test_every_message_comes_back_or_the_reason_is_true(name: str) -> None:
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    try:
        ir = compile_template(source, name=name, special_tokens=TOKENS)
    except TplcError as error:
        assert REFUSED.get(name, "") and REFUSED[name] in str(error)
        return
    assert (ir.verification.verified, REFUSED.get(name, "")) == (name not in REFUSED, REFUSED.get(name, ""))
    assert REFUSED.get(name, "") in "".join(ir.verification.failures[:1])
    if ir.verification.verified:
        assert read_back(source, ir, readers=True) == ((), ())
        assert undefined_names(generate(ir, "python")) == ""


def test_undefined_names_are_found() -> None:
    assert "`b`" in undefined_names("def f(a):\n    return a + b\n")
