"""Formats in which verification once accepted what is wrong, or refused what can be read: either they verify and every
message comes back, or they are refused with the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.independent import TOKENS
from tests.property.report_wild import read_back
from tplc.driver import compile_template, generate
from tplc.errors import TplcError
from tplc.verify.artifact import load_module

FOLDER = Path(__file__).parent.parent / "cases" / "reproductions"
# How the reason of a refusal begins.
REFUSED = {
    "words-in-capitals": "words-in-capitals: calls cannot be read: the template writes capital letters in values: ",
}
# Texts that mention calls, and are none.
PROSE = (
    "I recall this: {x} yes.",
    "Don't call us: we call you.",
    "Use tools.f({}) or fn:f {} there; mail me@home#1 {x}.",
)


def names() -> list[str]:
    found = sorted(path.stem for path in FOLDER.glob("*.jinja"))
    assert set(REFUSED) < set(found)
    return found


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", names())
def test_verified_means_right(name: str) -> None:
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    reason = REFUSED.get(name, "")
    try:
        ir = compile_template(source, name=name, special_tokens=TOKENS)
    except TplcError as error:
        assert reason
        assert str(error).startswith(reason)
        return
    assert ir.verification.verified == (not reason)
    assert "".join(ir.verification.failures[:1]).startswith(reason)
    if ir.verification.verified:
        assert read_back(source, ir) == ((), ())


@pytest.mark.sweep(10)
@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("name", [name for name in names() if name.startswith("word-")])
def test_prose_is_no_call(name: str, text: str) -> None:
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    parser = load_module(generate(compile_template(source, name=name, special_tokens=TOKENS), "python"))
    message = parser.parse(text)
    assert (message["content"], message["tool_calls"]) == (text, [])
