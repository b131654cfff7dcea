"""Chat templates written by hand: each verifies and is read right, or is refused with the cause that is named here."""

from __future__ import annotations

import pytest

from tests.property.report_authored import FOLDER, check

NAMES = sorted(path.stem for path in FOLDER.glob("*.jinja"))
# What a refusal says.
REFUSED = {
    "arguments-reversed": "the template writes arguments in another order than a message has",
    "attributes-with-backslashes": 'the template writes for "\'": the end of a value is unknown',
    "attrs": "the name of a call comes after its arguments",
    "bool-words-pairs": "arguments called is, and",
    "csv-row": "read as without tools",
    "eq-lines-raw": "if no tools are given, text in a value without quotes reads as a further argument",
    "json-with-thought-field": "the template writes JSON strings in content",
    "keys-apart-from-values": "no key is written between the values of two arguments",
    "kv-lines": "arguments called q, tool",
    "lines-of-bracketed-keys": "if no tools are given, text in a value without quotes reads as a further argument",
    "name-begins-line": 'only white space ("\\n") precedes the name that begins a call',
    "name-then-list-values": "the template leaves out the keys of arguments",
    "names-in-arguments": "the texts around arguments repeat the name of the call",
    "numbered-arguments": "numbers in the markers depend on the message",
    "quoted-reason": "only white space",
    "reason-attr": 'turn.end "</b>" is in the text itself',
    "type-before-key": "the template writes values between texts that depend on their type",
}


@pytest.mark.sweep(150)
@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_read_right_or_refused(name: str) -> None:
    outcome, why = check(FOLDER / f"{name}.jinja")
    assert outcome == ("refused" if name in REFUSED else "verified"), why
    assert REFUSED.get(name, "") in why
