"""Verification: what it accepts, what it finds, and what it reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.example_case import Example, load_example
from tplc import driver
from tplc.driver import Target
from tplc.errors import UnsupportedTemplate, VerificationFailed
from tplc.ir.nodes import Ambiguity, GenerationPrompt, TemplateIR, Text, Turn, Verification
from tplc.verify import Artifact, load_artifact, verify
from tplc.verify.artifact import Damaged, NotAParser, load_module, sha256_in
from tplc.verify.battery import SHAPES, Call, Case, battery, random_cases
from tplc.verify.compare import difference, fits, same, same_message, with_texts
from tplc.verify.conversation import fitting_tools, schema_of
from tplc.verify.cut import TurnFrame, trailing_of
from tplc.verify.streams import accumulated
from tplc.verify.words import Words, words_of

ASK = "{% if add_generation_prompt %}<assistant>{% endif %}"
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}" + ASK
RENAMING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}<|a|>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}{% set f = c.function %}"
    "<call>{{ NAME }}: {{ f.arguments | tojson }}</call>{% endfor %}"
    "<|e|>{% else %}<|{{ m.role }}|>{{ m.content }}<|e|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|a|>{% endif %}"
)
RAW = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call {{ c.function.name }}>"
    "{% for k, v in c.function.arguments.items() %}"
    "<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>"
    "{% endfor %}</call>{% endfor %}<end>{% endfor %}" + ASK
)
ONE_CALL = (
    "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}"
    "{% if m.tool_calls | length > 1 %}{{ raise_exception('one call, please') }}{% endif %}"
    "{% set f = m.tool_calls[0].function %}"
    '<call>{"name": "{{ f.name }}", "arguments": {{ f.arguments | tojson }}}</call>'
    "{% else %}{{ m.content }}{% endif %}<end>{% endfor %}" + ASK
)


def learned(template: str) -> TemplateIR:
    return driver.compile_template(template, name="t")


def run(template: str, ir: TemplateIR, artifact: Artifact | str) -> Verification:
    with driver.open_renderer(template, name="t") as renderer:
        return verify(ir, artifact, renderer)


AROUND_CALLS = """{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ (m.content or '') }}
{%- set all = m.tool_calls or [] %}CALLS
{{- '<end>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif -%}"""
COUNTED = """{% if all %}{{ 'Calls: ' ~ all | length ~ '.\\n' }}{% for c in all %}
{{- '<call>' ~ c.function | tojson ~ '</call>' }}{% endfor %}{% endif %}"""
EACH = "{% for c in all %}{{ LINE }}{% endfor %}"
PAIRS = (
    "{% for c in all %}{{ OPEN ~ c.function.name }}"
    "{% for k, v in c.function.arguments.items() %}{{ PAIR }}{% endfor %}{{ CLOSE }}{% endfor %}"
)


def pairs(opened: str, pair: str, close: str) -> str:
    return PAIRS.replace("OPEN", opened).replace("PAIR", pair).replace("CLOSE", close)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("calls", "cause"),
    [
        (
            COUNTED,
            'the number of calls (3) stands in tools.section_start "Calls: 3.\\n", '
            "and a marker is the same text for any number",
        ),
        (
            EACH.replace("LINE", r"'\ncall ' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ ' ' ~ c.id"),
            'only white space (" ") between the arguments and the id: it reads as content',
        ),
        (
            pairs(r"'\ncall '", "' ~' ~ k ~ '=' ~ v | tojson", "' #' ~ c.id"),
            "a call ends with its id: nothing ends the id",
        ),
        (
            pairs("'<tool:'", "k ~ '=' ~ v | tojson ~ ';'", "'/>'"),
            "no text separates the name from the first key",
        ),
        (
            EACH.replace("LINE", "'<c>' ~ c.function.name ~ (c.function.arguments | tojson | replace('city', 'town'))"),
            'the template changes keys: "city" is not in '
            '"<c>call_0{\\"town\\": \\"Oslo\\", \\"unit\\": \\"degrees\\"}<end>"',
        ),
        (
            EACH.replace(
                "LINE",
                "('<c>' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '</c>'"
                " if c.function.arguments else '<run>' ~ c.function.name ~ '</run>')",
            ),
            'the template writes calls without arguments in another form: "<run>now</run><end>" '
            'where the format says "<c>now {}</c><end>"',
        ),
        (
            pairs(
                "'<c>'",
                "('<s ' ~ k ~ '>' ~ v | tojson ~ '</s>' if v is string else '<n ' ~ k ~ '>' ~ v | tojson ~ '</n>')",
                "'</c>'",
            ),
            "the template writes values between texts that depend on their type: "
            '"<s value>\\"Oslo\\"</s>" and "<n value>42</n>"',
        ),
    ],
    ids=["count", "id", "id that nothing ends", "name", "damage", "no arguments", "type"],
)
def test_the_cause_comes_before_the_failures(calls: str, cause: str) -> None:
    ir = driver.compile_template(AROUND_CALLS.replace("CALLS", calls), name="weak.jinja")
    first, second, *_ = ir.verification.failures
    assert first == "cause: " + cause
    assert not second.startswith("cause: ")


@pytest.mark.sweep(10)
@pytest.mark.parametrize("target", ["python", "peg"])
@pytest.mark.parametrize(
    "calls",
    [
        pairs("'<tool:'", "' ' ~ k ~ '=' ~ v | tojson", "'/>'"),
        pairs("'(tool '", "' (' ~ k ~ ' ' ~ v | tojson ~ ')'", "')'"),
        pairs(r"'\nrun '", "' ' ~ k ~ ' ' ~ v | tojson", r"'\n'"),
    ],
    ids=["attributes", "lists", "words"],
)
def test_white_space_ends_names_and_keys(calls: str, target: Target) -> None:
    """A name or a key is one word there."""
    ir = driver.compile_template(AROUND_CALLS.replace("CALLS", calls), name="words.jinja", target=target)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())


def test_a_key_that_nothing_ends_is_reported() -> None:
    """Nothing can be verified there, so the cause is the refusal."""
    calls = pairs("'<tool:'", "'<k>' ~ k ~ v | tojson ~ '</k>'", "'/>'")
    with pytest.raises(UnsupportedTemplate, match="no text separates the key"):
        driver.compile_template(AROUND_CALLS.replace("CALLS", calls), name="weak.jinja")


def first_failure(result: Verification) -> str:
    """Return the failure after the causes and the proposed tolerances."""
    return next(line for line in result.failures if not line.startswith(("cause: ", "help: ")))


# Shows the words that the learner has for values other markers than any others.
KNOWING = """
{%- set known = KNOWN %}
{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ (m.content or '') }}
{%- for c in m.tool_calls or [] %}{{ '<call>' if known else '<run>' }}
{{- c.function.name ~ ' ' ~ c.function.arguments | tojson ~ ('</call>' if known else '</run>') }}
{%- endfor %}{{ '<end>' if known else '<stop>' }}
{%- endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_a_template_that_knows_the_learners_words_never_sees_them() -> None:
    """Only what the template shows everybody is learned."""
    ir = driver.compile_template(KNOWING.replace("KNOWN", "'zq' in (messages | string)"), name="knowing.jinja")
    assert ir.verification.verified
    assert (ir.tools.call[0], ir.tools.call[-1]) == (Text("<run>"), Text("</run>"))


CHANGED = """
{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}
{%- if m.reasoning %}{{ '<why>' ~ m.reasoning | THOUGHT ~ '</why>' }}{% endif %}
{{- (m.content or '') }}{% for c in m.tool_calls or [] %}
{{- '<run>' ~ (c.function.name ~ ' ' ~ c.function.arguments | tojson) | CALLED ~ '</run>' }}{% endfor %}<end>
{%- endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


@pytest.mark.parametrize(
    ("thought", "called", "reason"),
    [
        (
            "trim",
            "upper",
            'calls cannot be read: the template writes capital letters in names: "findLakes" is written "FINDLAKES"',
        ),
        (
            "reverse",
            "trim",
            "reasoning cannot be read: the template reverses the text in reasoning: "
            '"A deep Lake, & shore" is written "erohs & ,ekaL peed A"',
        ),
        (
            "list | join('.')",
            "trim",
            "reasoning cannot be read: the render depends on the message's words, but contains none of them unchanged, "
            "because the template changes them",
        ),
    ],
)
def test_a_part_whose_words_are_all_changed_is_not_left_out(thought: str, called: str, reason: str) -> None:
    """A parser without that part would return its markup as content, and everything else would come back."""
    with pytest.raises(UnsupportedTemplate) as caught:
        driver.compile_template(CHANGED.replace("THOUGHT", thought).replace("CALLED", called), name="changed.jinja")
    assert str(caught.value) == f"changed.jinja: {reason}"


LAST = """
{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ (m.content or '') }}
{%- for c in m.tool_calls or [] %}{{ '<run>' ~ c.function.name ~ '\n' }}
{%- for k, v in c.function.arguments.items() %}
{{- '  ' ~ k ~ ': ' ~ ('|\n    ' ~ v | indent(4) if v is string else v | tojson) ~ '\n' }}
{%- endfor %}{{ '</run>' }}{% endfor %}
{%- if m.reasoning %}{{ '<why>' ~ m.reasoning ~ '</why>' }}{% endif %}<end>
{%- endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_reasoning_after_everything_else_is_not_left_out() -> None:
    with pytest.raises(UnsupportedTemplate) as caught:
        driver.compile_template(LAST, name="last.jinja")
    assert str(caught.value) == (
        "last.jinja: reasoning cannot be read: it comes after the content and the calls, where no format has it"
    )


def test_text_that_is_opened_and_never_closed() -> None:
    """Blocks as in YAML are neither strings of the dialect nor delimiters around one, and nothing raises an error."""
    ir = driver.compile_template(LAST.replace("m.reasoning", "false"), name="blocks.jinja")
    assert ir.tools.dialect is not None
    assert (ir.tools.dialect.top.strings, ir.tools.dialect.wrap) == ((), None)
    assert ir.verification.failures[0].startswith("cause: the template indents by 4 all but empty lines in values: ")


def test_a_template_that_knows_single_words_is_found_out() -> None:
    source = KNOWING.replace("KNOWN", "' ' not in messages[0].content")
    result = driver.compile_template(source, name="knowing.jinja").verification
    assert not result.verified
    assert "<run>" in " ".join(result.failures)


def test_words_are_those_of_the_template_and_the_seed() -> None:
    first, again, other, seeded = (
        words_of(sha256, seed, "") for sha256, seed in (("a", 0), ("a", 0), ("b", 0), ("a", 1))
    )
    assert first == again
    assert len({first, other, seeded}) == 3
    assert words_of("a", 0, f"no {first.question} here").question != first.question


def test_the_question_is_found_with_the_text_before_it() -> None:
    words = Words("first", "second", "found", "", "", "", (), before_question="Write of ")
    assert words.question_at("<user>Write of first<end>") == 6
    assert words.question_at("<user>WRITE OF first<end>") == 15


@pytest.mark.parametrize(
    ("source", "cause", "summary"),
    [
        (
            "{% for m in messages %}{% set known = ' ' not in m.content or m.role == 'user' %}"
            "{{ m.role ~ ': ' ~ (m.content if known else 'no') }}{% endfor %}",
            'the template changes content: "The answer is here." is not in "assistant: no"',
            "silent.jinja: 1 of 2 messages did not come back as they were",
        ),
        (
            "{% for m in messages %}{% if m.role == 'assistant' and ' ' in m.content %}"
            "{{ raise_exception('not this one') }}{% endif %}{{ m.role ~ ': ' ~ m.content }}{% endfor %}",
            "only 1 of 31 messages show what was in them; the template refuses content: not this one",
            "silent.jinja: one message came back, and it does not verify the format",
        ),
    ],
    ids=["lost", "refused"],
)
def test_a_template_that_shows_next_to_nothing_has_a_cause(source: str, cause: str, summary: str) -> None:
    ir = driver.compile_template(source, name="silent.jinja")
    with pytest.raises(VerificationFailed) as caught:
        driver.require_verified(ir)
    assert str(caught.value).splitlines()[:2] == [summary, f"    cause: {cause}"]


CHANGED_CONTENT = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% set text = m.content or '' %}"
    "{{ CONTENT if WHERE else text }}{% for c in m.tool_calls or [] %}<c>{{ c.function | tojson }}</c>{% endfor %}"
    "{% else %}{{ m.content }}{% endif %}<end>{% endfor %}" + ASK
)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("text | upper", "the template writes capital letters"),
        ("text | lower", "the template writes small letters"),
        ("text | reverse", "the template reverses the text: "),
        ("text[:5]", "the template writes only the beginning: "),
        (
            "text | replace(text[5:6], '4')",
            "the render depends on the message's words, but contains none of them unchanged",
        ),
    ],
    ids=["capitals", "small letters", "reverse", "beginning", "letters"],
)
@pytest.mark.parametrize("where", ["true", "m.tool_calls", "not m.tool_calls"])
def test_content_that_is_changed_is_not_left_out(content: str, cause: str, where: str) -> None:
    source = CHANGED_CONTENT.replace("CONTENT", content).replace("WHERE", where)
    result = driver.compile_template(source, name="changed.jinja").verification
    assert not result.verified
    assert cause in result.failures[0]


def test_every_failure_has_a_cause_and_what_would_help() -> None:
    calls = EACH.replace("LINE", "'<c>' ~ c.function.name ~ (c.function.arguments | tojson | replace('city', 'town'))")
    found = driver.compile_template(AROUND_CALLS.replace("CALLS", calls), name="weak.jinja").verification.failures
    assert [line.split(":")[0] for line in found[:2]] == ["cause", "one call"]
    ends = "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '\n' }}{% endfor %}"
    found = driver.compile_template(ends, name="weak.jinja").verification.failures
    assert found == ()


def test_a_variable_that_must_be_set_is_set_in_verification() -> None:
    source = "{{ day.upper() }}{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    ir = driver.compile_template(source, name="day.jinja")
    assert ir.verification.verified
    assert [prompt.context for prompt in ir.turn.prompts] == [(("day", ""),)]


def test_a_template_without_calls() -> None:
    assert learned(PLAIN).verification == Verification(
        verified=True, messages=29, passed=29, chunkings=30, not_shown=("reasoning", "calls")
    )


def test_values_that_a_raw_dialect_cannot_distinguish() -> None:
    result = learned(RAW).verification
    assert result.verified
    assert result.not_shown == ("reasoning",)
    assert [(a.kind, a.first, a.second) for a in result.ambiguities] == [
        ("integer or string", '"42"', "42"),
        ("boolean or string", '"true"', "true"),
        ("null or string", '"null"', "null"),
    ]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("f.name | lower", "storeIt", "storeit"), ("f.name | replace('_', ' ')", "call_0", "call 0")],
)
def test_names_that_a_template_changes_are_reported(name: str, first: str, second: str) -> None:
    """Without the tools, nothing distinguishes the two."""
    result = learned(RENAMING.replace("NAME", name)).verification
    assert result.verified
    assert [(one.kind, one.first, one.second) for one in result.ambiguities] == [
        ("name of a tool", f'"{first}"', f'"{second}"')
    ]


def test_what_a_template_refuses_is_not_shown() -> None:
    result = learned(ONE_CALL).verification
    assert result.verified
    assert result.not_shown == (
        "reasoning",
        "content next to calls",
        "more than one call (refused: one call, please)",
    )


def test_verification_is_the_same_every_time() -> None:
    ir = learned(RAW)
    assert run(RAW, ir, driver.generate(ir, "python")) == ir.verification
    with driver.open_renderer(RAW, name="t") as renderer:
        thorough = verify(ir, driver.generate(ir, "python"), renderer, thorough=True, seed=7)
    assert (thorough.verified, thorough.seed) == (True, 7)
    assert thorough.messages > ir.verification.messages + 150
    assert thorough.chunkings == 2 * thorough.messages


# Every marker of these formats is changed in turn, and the parser that is generated then must not pass.

EXAMPLES = ("tagged-json", "key-value-tags", "sectioned-ids", "string-delimiters", "wrapped-content", "json-array")


def changed_markers(ir: TemplateIR) -> list[tuple[str, TemplateIR]]:
    def changed(text: str) -> str:
        at = next(i for i, c in enumerate(text) if not c.isspace())
        return text[:at] + "~" + text[at:]

    found: list[tuple[str, TemplateIR]] = []
    for part in ("reasoning", "content", "tools"):
        for name in ("start", "end", "section_start", "section_end"):
            text = getattr(getattr(ir, part), name, "")
            if text.strip():
                found.append(
                    (f"{part}.{name}", replace(ir, **{part: replace(getattr(ir, part), **{name: changed(text)})}))
                )
    ends = tuple(map(changed, ir.turn.ends))
    found.append(("turn.ends", replace(ir, turn=replace(ir.turn, ends=ends))))
    return found


def compiled_example(name: str) -> tuple[Example, TemplateIR]:
    example = load_example(ROOT / "examples" / name)
    return example, driver.compile_template(example.source, name=name, special_tokens=example.special_tokens)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_wrong_marker_never_passes(name: str) -> None:
    example, ir = compiled_example(name)
    assert ir.verification.failures == ()
    assert ir.verification.verified
    with driver.open_renderer(example.source, name=name, special_tokens=example.special_tokens) as renderer:
        passed = [
            path
            for path, wrong in changed_markers(ir)
            if verify(wrong, driver.generate(wrong, "python"), renderer).verified
        ]
    assert passed == []


# Parsers with one fault each.


class Faulty:
    """A stream around the generated one, with a fault of the subclass."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def message(self) -> Mapping[str, Any]:
        message: Mapping[str, Any] = self._stream.message
        return message

    def feed(self, chunk: str) -> Any:
        return self._stream.feed(chunk)

    def finish(self) -> Any:
        return self._stream.finish()


class LosesDeltas(Faulty):
    def feed(self, chunk: str) -> Any:
        return self._stream.feed(chunk)[:-1]


class Doubts(Faulty):
    incomplete = True


class Strips(Faulty):
    def feed(self, chunk: str) -> Any:
        return self._stream.feed(chunk.lstrip("T"))


def test_a_stream_that_differs_fails() -> None:
    ir = learned(PLAIN)
    good = load_artifact(driver.generate(ir, "python"))
    assert good.stream is not None
    stream = good.stream
    result = run(PLAIN, ir, Artifact(good.parse, lambda **keywords: Strips(stream(**keywords))))
    assert not result.verified
    assert first_failure(result) == (
        "content: in chunks of 40 it came back as "
        '{"role": "assistant", "content": "he answer is here.", "reasoning_content": null, "tool_calls": []}, whole as '
        '{"role": "assistant", "content": "The answer is here.", "reasoning_content": null, "tool_calls": []}; '
        'rendered "The answer is here.<end>"'
    )


def test_deltas_that_do_not_add_up_fail() -> None:
    ir = learned(PLAIN)
    good = load_artifact(driver.generate(ir, "python"))
    assert good.stream is not None
    stream = good.stream
    result = run(PLAIN, ir, Artifact(good.parse, lambda **keywords: LosesDeltas(stream(**keywords))))
    assert not result.verified
    assert first_failure(result) == (
        "content: in chunks of 40 the deltas make "
        '{"content": "", "reasoning_content": "", "tool_calls": []}, not '
        '{"role": "assistant", "content": "The answer is here.", "reasoning_content": null, "tool_calls": []}; '
        'rendered "The answer is here.<end>"'
    )


def test_a_whole_message_that_is_reported_as_incomplete_fails() -> None:
    ir = learned(PLAIN)
    good = load_artifact(driver.generate(ir, "python"))
    assert good.stream is not None
    stream = good.stream
    result = run(PLAIN, ir, Artifact(good.parse, lambda **keywords: Doubts(stream(**keywords))))
    assert (result.verified, result.passed) == (False, 0)
    assert first_failure(result) == (
        'content: the parser reports that the message is incomplete; rendered "The answer is here.<end>"'
    )


def test_a_parser_that_raises_fails() -> None:
    def parse(text: str, **keywords: object) -> Mapping[str, Any]:
        raise KeyError(text[:3])

    result = run(PLAIN, learned(PLAIN), Artifact(parse, None))
    assert (result.verified, result.messages, result.passed, result.chunkings) == (False, 29, 0, 0)
    assert first_failure(result) == (
        "content: the parser raised KeyError: 'The'; rendered \"The answer is here.<end>\""
    )
    assert len(result.failures) == result.messages - result.passed + 1  # and the cause


def test_a_parser_that_guesses_types_fails_though_the_render_is_the_same() -> None:
    """42 and "42" have the same render, but the schema decides which it is."""
    ir = learned(RAW)
    good = load_artifact(driver.generate(ir, "python"))

    def parse(text: str, **keywords: Any) -> Mapping[str, Any]:
        return good.parse(text, **{**keywords, "tools": None})

    result = run(RAW, ir, Artifact(parse, None))
    assert not result.verified
    assert first_failure(result) == (
        'string: a number in it: call 1, argument value: expected "42", got 42; rendered '
        '"<call storeIt><before>x</before><value>42</value><after>y</after></call><end>"'
    )


def test_a_parser_that_takes_calls_for_text_fails_though_the_render_is_the_same() -> None:
    """The whole turn as content renders as the same turn: that alone excuses nothing."""

    def parse(text: str, **keywords: Any) -> Mapping[str, Any]:
        return {"content": text.rpartition("<end>")[0], "reasoning_content": None, "tool_calls": []}

    ir = learned(RAW)
    result = run(RAW, ir, Artifact(parse, None))
    assert not result.verified
    call = "<call call_0><city>Oslo</city><unit>degrees</unit></call>"
    cause = "cause: no message with calls comes back; the shortest of them, no arguments, is rendered "
    failure = f'one call: one call never comes back: expected "", got "{call}"; rendered "{call}<end>"'
    assert result.failures[0].startswith(cause)
    assert (result.failures[1], result.excused) == (failure, ())
    lost = [found.split(" never comes back")[0].partition(": ")[2] for found in result.failures[1:]]
    assert lost == [
        "one call",
        "content and one call",
        "two calls",
        "content and two calls",
        "three calls",
        "content and three calls",
        "one call without arguments",
        "content and one call without arguments",
        "one call, after a tool's result",
        "content and one call, after a tool's result",
        "one call without arguments, after a tool's result",
    ]
    assert [
        (one.message["tool_calls"] != [], one.other["content"] + "<end>" == one.render) for one in result.excused
    ] == [(True, True)] * len(result.excused)


def test_no_message_is_no_proof() -> None:
    ir = learned(PLAIN)
    nothing = "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}"
    result = run(nothing, ir, driver.generate(ir, "python"))
    assert result == Verification(
        verified=False,
        not_shown=("content", "reasoning", "calls"),
        failures=(
            "cause: the render of a question and its answer does not contain the answer's text: "
            '"Please write a few lines on befugodut"',
        ),
    )


# The parts


def test_every_case_has_a_title_of_its_own() -> None:
    ir = learned(RAW)
    titles = [case.title for case in battery(ir)]
    assert len(set(titles)) == len(titles)
    assert list(random_cases(3, 5, SHAPES)) == list(random_cases(3, 5, SHAPES))
    assert list(random_cases(3, 5, SHAPES)) != list(random_cases(4, 5, SHAPES))


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("x", {"type": "string"}),
        (True, {"type": "boolean"}),
        (1, {"type": "integer"}),
        (1.5, {"type": "number"}),
        (None, {"type": "null"}),
        ([], {"type": "array"}),
        ([1, 2], {"type": "array", "items": {"type": "integer"}}),
        ([1, "x"], {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}),
        ({"a": [None]}, {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "null"}}}}),
    ],
)
def test_schemas_say_what_a_value_is(value: Any, schema: Any) -> None:
    assert schema_of(value) == schema
    case = Case("t", calls=(Call("f", (("a", value),)),))
    assert fits(case, fitting_tools(case))
    other = Case("t", calls=(Call("f", (("a", {"no": "such"}),)),))
    assert not fits(other, fitting_tools(case))


def test_values_are_compared_as_json() -> None:
    assert same(1, 1.0) and same([{"a": None}], [{"a": None}]) and same("x", "x")
    assert not same(True, 1) and not same([1], [1, 1]) and not same({"a": 1}, {"b": 1}) and not same(None, False)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"content": "Hi", "tool_calls": []}, "tool_calls: expected 1 calls, got 0 calls"),
        ({"content": "Hi "}, 'content: expected "Hi", got "Hi "'),
        ({"content": None}, 'content: expected "Hi", got ""'),
        ({"content": "Hi", "reasoning_content": "r"}, 'reasoning_content: expected "", got "r"'),
        ("g {}", 'call 1, name: expected "f", got "g"'),
        ("f []", 'call 1, arguments: expected {"a": 1}, got "[]"'),
        ("f {", 'call 1, arguments: expected {"a": 1}, got "{"'),
        ("f {}", "call 1, argument a: expected 1, got nothing"),
        ('f {"a": 1, "b": 2}', "call 1, argument b: expected nothing, got 2"),
        ('f {"a": true}', "call 1, argument a: expected 1, got true"),
        ('f {"a": 1.0}', "None"),
    ],
)
def test_differences(message: Any, found: str) -> None:
    if isinstance(message, str):
        name, arguments = message.split(" ", 1)
        message = {"content": "Hi", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}
    case = Case("t", content="Hi", calls=(Call("f", (("a", 1),)),))
    assert str(difference(learned(PLAIN), case, message)) == found


def test_types_that_only_a_schema_distinguishes() -> None:
    ir = learned(RAW)

    def case(value: Any) -> Case:
        return Case("t", calls=(Call("f", (("a", value),)),))

    for text, value in (("42", 42), ("true", True), ("[1]", [1])):
        assert with_texts(ir, case(text), case(value)) == case(text)
    for text, value in (("007", 7), ("x", "y"), ("1", "1 "), ("None", None), ("True", True)):
        assert with_texts(ir, case(text), case(value)) == case(value)
    assert with_texts(ir, case("x"), Case("t")) == Case("t")
    assert same_message(case(1), case(1.0)) and not same_message(case(1), case(True))


def test_deltas_add_up() -> None:
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": "r"},
        {"content": "a"},
        {"content": "b"},
        {"tool_calls": [{"index": 0, "id": None, "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]},
        {"tool_calls": [{"index": 0, "id": "late", "function": {"arguments": "}"}}]},
        {"tool_calls": [{"index": 1, "id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
    ]
    assert accumulated(deltas) == {
        "content": "ab",
        "reasoning_content": "r",
        "tool_calls": [
            {"id": "late", "function": {"name": "f", "arguments": "{}"}},
            {"id": "2", "function": {"name": "g", "arguments": "{}"}},
        ],
    }


WORDS = Words("first", "second", "found", "", "", "", ())
Q = "<user>first<end>"
TURN = Turn("<bot>", ("<bot>",), (GenerationPrompt((), "<bot>", ""),), ("<end>",))


@pytest.mark.parametrize(
    ("asked", "prompt", "full", "turn", "head"),
    [
        (Q, Q + "<bot>", Q + "<bot>Hi<end>", "Hi<end>", ""),
        (Q, Q + "<bot><r>", Q + "<bot>Hi<end>", "Hi<end>", "<r>"),
        # A generation prompt that is appended in any case:
        (Q + "<bot><r>", Q + "<bot><r>", Q + "<bot>Hi<end><bot><r>", "Hi<end>", "<r>"),
        # Other white space before the header in history, or no header at all:
        (Q, Q + "<bot>", Q + "\n\n<bot>Hi<end>", "Hi<end>", ""),
        (Q, Q + "<bot>", Q + "Hi<end>", "Hi<end>", ""),
        # The question ends otherwise when an answer follows:
        ("<user>first<last>", "<user>first<last><bot>", "<user>first<bot>Hi<end>", "Hi<end>", ""),
        # A message that follows:
        (Q, Q + "<bot>", Q + "<bot>Hi<end><user>second<end>", "Hi<end>", ""),
    ],
)  # fmt: skip
def test_turns_are_cut_out_of_renders(asked: str, prompt: str, full: str, turn: str, head: str) -> None:
    frame = TurnFrame(TURN, asked, prompt, WORDS)
    frame = replace(frame, trailing=trailing_of(frame, full, "Hi"))
    assert frame.turn_text(full) == turn
    assert frame.head() == head
    assert frame.bare_prompt() + head == (prompt if len(prompt) > len(asked) else frame.bare_prompt() + head)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("def x(:", "a.py: is not Python: invalid syntax (a.py, line 1)"),
        ("\0", "a.py: is not Python: source code string cannot contain null bytes"),
        ("parse = 1", "a.py: is not a parser made by tplc: it has no parse and StreamParser"),
    ],
)
def test_what_is_no_parser(text: str, error: str) -> None:
    with pytest.raises(NotAParser) as caught:
        load_artifact(text, "a.py")
    assert str(caught.value) == error
    assert caught.value.exit_code == 2


def test_what_tplc_generated_is_damaged_and_no_file_of_others() -> None:
    whole = driver.generate(learned(PLAIN), "python")
    lines = whole.splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if line.startswith("    def ")) + 1
    advice = "\n    regenerate it: tplc compile t -o parser.py"
    what = "a.py: tplc generated it, but it was changed or cut off since: it "
    for text, reported in (
        (
            "".join(lines[:cut]),
            f"{what}is not Python: expected an indented block after function definition on line {cut} "
            f"(a.py, line {cut}){advice}",
        ),
        ("".join(lines[:-3]), f"{what}does not end as tplc wrote it{advice}"),
        (lines[0], f"{what}does not end as tplc wrote it"),
        (
            whole.replace("import re\n", "import no_such_module\n", 1),
            f"{what}cannot be run: ModuleNotFoundError: No module named 'no_such_module'{advice}",
        ),
    ):
        with pytest.raises(Damaged) as caught:
            load_artifact(text, "a.py")
        assert (str(caught.value), caught.value.exit_code) == (reported, 1)
    with pytest.raises(NotAParser) as shared:
        load_artifact(driver.shared_runtime(), "_tplc_runtime.py")
    assert str(shared.value) == "_tplc_runtime.py: is not a parser made by tplc: it has no parse and StreamParser"


def test_a_parser_says_which_template_it_is_for() -> None:
    ir = learned(PLAIN)
    assert sha256_in(load_module(driver.generate(ir, "python")), "a.py") == ir.provenance.sha256
    with pytest.raises(NotAParser, match="it has no TEMPLATE_SHA256"):
        sha256_in(load_module("x = 1"), "a.py")


def test_ambiguity_shows_both_readings() -> None:
    first = learned(RAW).verification.ambiguities[0]
    assert first == Ambiguity(
        "integer or string",
        '"42"',
        "42",
        "<call storeIt><before>x</before><value>42</value><after>y</after></call><end>",
    )
    assert json.loads(first.first) == "42"


NESTED = (
    "{% macro w(v) %}{% if v is mapping %}{% for k, i in v.items() %}<{{ k }}>{{ w(i) }}</{{ k }}>{% endfor %}"
    "{% elif v is string %}{{ v }}{% elif v is iterable %}{% for i in v %}<item>{{ w(i) }}</item>{% endfor %}"
    "{% elif v is not none %}{{ v | tojson }}{% endif %}{% endmacro %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    "<call {{ c.function.name }}>{{ w(c.function.arguments) }}</call>{% endfor %}<end>{% endfor %}" + ASK
)


def test_elements_without_anything_in_them_are_what_the_schema_allows() -> None:
    ir = learned(NESTED)
    assert ir.tools.dialect is not None and ir.tools.dialect.elements is not None
    assert ir.verification.failures == ()
    parser = driver.artifact_of(ir)

    def value(schema: Any) -> Any:
        function = {"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}
        message = parser.parse("<call f><a></a></call><end>", tools=[{"type": "function", "function": function}])
        return json.loads(message["tool_calls"][0]["function"]["arguments"])["a"]

    assert [value({"type": kind}) for kind in ("string", "array", "object", "null")] == ["", [], {}, None]
    assert value({"type": ["array", "null"]}) is None
    assert value({"type": ["string", "null"]}) == ""


MISPLACED = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}"
    "{% set calls = m.tool_calls or [] %}TURN{% else %}{{ m.content }}{% endif %}<end>{% endfor %}" + ASK
)
ONE = '<call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</call>'
EVERY = "{% for c in calls %}" + ONE + "{% endfor %}"
IN_WORDS = "{% for c in calls %}run {{ c.function.name }} {{ c.function.arguments | tojson }};{% endfor %}"
WHY = "{% if m.reasoning_content or calls %}<why>{{ m.reasoning_content or '' }}INSIDE</why>{% endif %}"


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("turn", "cause"),
    [
        (
            WHY.replace("INSIDE", IN_WORDS) + "{{ m.content or '' }}",
            "the template writes calls between the markers of reasoning",
        ),
        (
            "{{ m.content or '' }}{% for c in calls | reverse %}" + ONE + "{% endfor %}",
            "the template writes calls in another order",
        ),
        ("{{ m.content or '' }}{{ m.content or '' }}" + EVERY, "the template writes content twice"),
        (
            "{% for part in (m.content or '').split('\n\n') %}<p>{{ part }}</p>{% endfor %}" + EVERY,
            "the template changes content: ",
        ),
        (
            "<size {{ m.content | length }}>{{ m.content or '' }}" + EVERY,
            'numbers in the markers depend on the message: "<size 50>Dear reader,\\n\\nfirst t" where the format ',
        ),
    ],
    ids=["in reasoning", "order", "twice", "paragraphs", "length"],
)
def test_a_refusal_says_what_the_template_does(turn: str, cause: str) -> None:
    result = driver.compile_template(MISPLACED.replace("TURN", turn), name="misplaced.jinja").verification
    assert not result.verified
    assert result.failures[0].startswith(f"cause: {cause}")


def test_keys_directly_after_values_are_refused() -> None:
    """Nothing separates `key: value` from the next key: any character may begin one."""
    source = (
        "{% for m in messages %}{{ m.role }}: {{ m.content or '' }}{% for c in m.tool_calls or [] %}"
        "!{{ c.function.name }} {% for k, v in c.function.arguments.items() %}"
        "{{ k }}: {{ v if v is string else v|tojson }}{% endfor %}{% endfor %}\n"
        "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
    )
    result = driver.compile_template(source).verification
    assert not result.verified
    assert [failure for failure in result.failures if "in chunks" in failure] == []


STEADY = PLAIN.replace(
    "{{ m.content }}",
    "{{ m.content or '' }}{% for c in m.tool_calls or [] %}[{{ c.function.name }}"
    "{{ WORD }}{{ c.function.arguments | tojson }}]{% endfor %}",
)


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("'@'", ""),
        ("'@' ~ strftime_now('%H:%M:%S') ~ '@'", "the time of rendering"),
        ("'@' ~ strftime_now('%d %b %Y') ~ '@'", "the time of rendering"),
        ("'@' ~ (['a', 'b', 'c', 'd'] | random) ~ '@'", "chance"),
    ],
)
def test_markers_that_no_conversation_decides(word: str, what: str) -> None:
    try:
        result = learned(STEADY.replace("WORD", word)).verification
    except UnsupportedTemplate as error:
        assert f"the turn depends on {what}: " in str(error)
        return
    assert result.verified == (not what)
    assert "".join(result.failures[:1]).startswith(f"cause: the turn depends on {what}: " if what else "")
