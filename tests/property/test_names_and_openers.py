"""Names of several words before pairs that begin with the same punctuation, and calls that punctuation opens."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template

RAW = "(v if v is string else v | tojson)"


@pytest.mark.sweep(6)
@pytest.mark.parametrize("closer", ["", "@end"])
@pytest.mark.parametrize("opener", [".", "    - ", "-", "++", "/"])
def test_punctuation_of_names_that_opens_pairs_does_not_end_names(opener: str, closer: str) -> None:
    turn = calls(
        "{{- '\\n@' ~ c.function.name ~ '\\n' }}"
        + pairs(f"{{{{- '{opener}' ~ k ~ ' = ' ~ (v | tojson) ~ '\\n' }}}}")
        + f"{{{{- '{closer}' }}}}"
    )
    ir = compile_template(source_of(CONTENT + turn), name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    readers = EveryReader(ir)
    pair = f'{opener}q = "a"\n', '{"q": "a"}'
    for name, (written, arguments) in product(["find-it", "maps.find", "file-read.all", "look"], [pair, ("", "{}")]):
        message = readers.parse(f"So.\n@{name}\n{written}{closer}<|e|>")
        assert [call["function"] for call in message["tool_calls"]] == [{"name": name, "arguments": arguments}]
        assert (message["content"], readers.differ) == ("So.", [])


@pytest.mark.sweep(6)
@pytest.mark.parametrize("between", ["", "\\n"])
@pytest.mark.parametrize(("opener", "closer"), [("<<", ">>"), ("((", "))"), ("//", "\\\\"), ("%", "%")])
def test_raw_values_end_before_a_call_that_punctuation_opens(opener: str, closer: str, between: str) -> None:
    turn = calls(
        f"{{{{- '{between}{opener}' ~ c.function.name }}}}"
        + pairs(f"{{{{- ' ' ~ k ~ '=«' ~ {RAW} ~ '»' }}}}")
        + f"{{{{- {closer!r} }}}}"
    )
    source = source_of(CONTENT + turn)
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    assert read_back(source, ir, readers=True) == ((), ())


@pytest.mark.parametrize(
    "turn",
    [
        # A rule closes a call, and its first character opens pairs.
        CONTENT
        + calls(
            "{{- '\\n---\\ncall: ' ~ c.function.name ~ '\\n' }}"
            + pairs("{{- '- ' ~ k ~ ': ' ~ (v | tojson) ~ '\\n' }}")
            + "{{- '---' }}"
        ),
        CONTENT
        + calls(
            "{{- '\\n***' ~ c.function.name ~ '\\n' }}"
            + pairs("{{- '* ' ~ k ~ ' = ' ~ (v | tojson) ~ '\\n' }}")
            + "{{- '***' }}"
        ),
    ],
    ids=["a rule of dashes", "a rule of stars"],
)
def test_what_is_written_comes_back(turn: str) -> None:
    source = source_of(turn)
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    assert read_back(source, ir, readers=True) == ((), ())


@pytest.mark.parametrize("end", ["\\n", "\\n\\n"])
def test_white_space_may_follow_an_empty_answer(end: str) -> None:
    """Only white space ends the answers, also one whose opener alone is written."""
    turn = (
        "{%- if m.reasoning_content %}{{- 'Thought: ' ~ m.reasoning_content ~ '\\n' }}{%- endif %}"
        "{%- if m.tool_calls %}"
        + calls("{{- 'Action: ' ~ c.function.name ~ '(' ~ (c.function.arguments | tojson) ~ ')\\n' }}")
        + "{%- else %}{{- 'Answer: ' ~ m.content }}{%- endif %}"
    )
    source = source_of(turn)
    for marker, text in (("<|a|>", "assistant: "), ("<|e|>", end), ('"<|" + m.role + "|>"', 'm.role + ": "')):
        source = source.replace(marker, text)
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    assert read_back(source, ir, readers=True) == ((), ())
