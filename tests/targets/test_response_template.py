"""Response templates, read by the parser of transformers that they are for."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.example_case import EXAMPLES
from tplc.backends.response_template import CannotExpress, Profile, response_template
from tplc.backends.response_template.patterns import any_of, marker, markers, optional
from tplc.driver import learn_format, load_ir, open_renderer
from tplc.errors import SourceError
from tplc.ir.nodes import TemplateIR
from tplc.project.json_insert import with_member
from tplc.targets.response_template import verify_response_template

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/template.jinja"))
here = importlib.util.find_spec("transformers") is not None
needs_parser = pytest.mark.skipif(not here, reason="transformers is not installed: its parser verifies these")

NESTED = "lists and objects as nested elements"

# What the messages of each example show that a response template cannot say: features, and how many came back.
VERIFIED: list[tuple[str, Profile, int, int, list[str]]] = [
    ("tagged-json", "transformers", 226, 228, ["closing text in an argument"]),
    ("tagged-json", "servers", 226, 228, ["closing text in an argument"]),
    ("json-array", "transformers", 118, 119, ["closing text in an argument"]),
    ("sectioned-ids", "transformers", 97, 98, ["closing text in an argument"]),
    ("sectioned-ids", "servers", 97, 98, ["closing text in an argument", "call ids"]),
    (
        "parameter-tags",
        "servers",
        230,
        232,
        ["closing text in an argument"],
    ),
    (
        "keyword-calls",
        "transformers",
        107,
        116,
        ["types of values where no tools are given", "lists and objects that are not written as JSON"],
    ),
    ("channels", "transformers", 114, 115, ["closing text in an argument"]),
    (
        "nested-elements",
        "transformers",
        182,
        230,
        ["lists and objects as nested elements", "closing text in an argument"],
    ),
]


@cache
def example_ir(name: str) -> TemplateIR:
    return load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written(name: str, golden: Callable[[Path, str], None]) -> None:
    text = response_template(example_ir(name)).text
    golden(ROOT / "tests" / "cases" / "response_template" / f"{name}.json", text)


@pytest.mark.parametrize("name", NAMES)
def test_servers_take_their_profile(name: str) -> None:
    """It has no other keys than theirs, nothing joined, and reasoning under the one name they know."""
    made = response_template(example_ir(name), "servers")
    fields = made.template["fields"]
    assert isinstance(fields, dict) and set(fields) <= {"thinking", "content", "tool_calls"}
    assert made.template["defaults"] == {"role": "assistant"}
    texts = [field for key, field in fields.items() if key != "tool_calls" and isinstance(field, dict)]
    assert [set(field) & {"join", "transform", "repeats"} for field in texts] == [set()] * len(texts)


@pytest.mark.parametrize("name", NAMES)
def test_no_closing_that_leaks(name: str) -> None:
    """The end of the text isn't used as a closing, because every chunk of a stream has an end."""
    fields = response_template(example_ir(name)).template["fields"]
    assert isinstance(fields, dict)
    closings = [str(field.get("close_pattern", "")) for field in fields.values() if isinstance(field, dict)]
    assert [pattern for pattern in closings if "$" in pattern.replace(r"\$", "") or r"\Z" in pattern] == []


@pytest.mark.sweep(4)
@needs_parser
@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile", "passed", "messages", "features"), VERIFIED)
def test_the_real_parser_reads_the_battery(
    name: str, profile: Profile, passed: int, messages: int, features: list[str]
) -> None:
    source = (EXAMPLES / name / "template.jinja").read_text(encoding="utf-8")
    with open_renderer(source, name=name) as renderer:
        ir = learn_format(renderer, name=name, source_text=source)
        result, not_expressed = verify_response_template(ir, renderer, profile)
    assert (result.failures, result.passed, result.messages) == ((), passed, messages)
    assert [one.feature for one in not_expressed] == features
    assert result.chunkings > 29 * passed


@pytest.mark.sweep(2)
@needs_parser
@pytest.mark.slow
@pytest.mark.parametrize("between", ["\n", ";\n", " | ", ", "])
def test_json_values_end_before_what_is_between_pairs(between: str) -> None:
    """Numbers and words of JSON have no end of their own."""
    pairs = "{% for k, v in c.function.arguments.items() %}{{ k }} := {{ v | tojson }}{% if not loop.last %}"
    pairs = f"{pairs}{{{{ {json.dumps(between)} }}}}{{% endif %}}{{% endfor %}}"
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}[A]{{ m.content }}{% for c in m.tool_calls or [] %}"
        "<call>{{ c.function.name }}{{ '\\n' }}"
        + pairs
        + "</call>{% endfor %}[E]{% else %}[{{ m.role }}]{{ m.content }}[E]"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}[A]{% endif %}"
    )
    with open_renderer(source, name="pairs") as renderer:
        ir = learn_format(renderer, name="pairs", source_text=source)
        result, not_expressed = verify_response_template(ir, renderer, "transformers")
    assert (result.failures, [one.feature for one in not_expressed]) == ((), ["closing text in an argument"])


TEMPLATE = (
    '{% for m in messages %}{% if m.role == "assistant" %}<bot>{{ m.content or "" }}'
    '{% for c in m.tool_calls or [] %}<act>{{ {"tool-name": c.function.name, "with": c.function.arguments} | tojson }}'
    "</act>{% endfor %}<end>{% else %}<{{ m.role }}>{{ m.content }}<stop>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<bot>{% endif %}"
)


def test_a_member_that_no_placeholder_can_name() -> None:
    with open_renderer(TEMPLATE, name="late") as renderer:
        ir = learn_format(renderer, name="late", source_text=TEMPLATE)
    with pytest.raises(CannotExpress) as caught:
        response_template(ir)
    assert str(caught.value) == (
        "late: response_template cannot express this format: a member of calls whose name isn't a word ('tool-name')\n"
        r'''    for example "<act>{\"tool-name\": \"look\", \"with\": {}}</act><end>"'''
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "r": [\n    1\n  ]\n}'),
        ('{"a": 1}', '{"a": 1, "r": [1]}'),
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "r": [\n    1\n  ]\n}\n'),
        ('{"r": {"r": 2}, "a": "\\"r\\": 3"}', '{"r": [1], "a": "\\"r\\": 3"}'),
        ('{\n    "r" : null ,\n    "b": {"c": 1}\n}', '{\n    "r" : [\n        1\n    ] ,\n    "b": {"c": 1}\n}'),
    ],
)
def test_one_member_changes(text: str, expected: str) -> None:
    made = with_member(text, "r", [1], "x")
    assert made == expected
    assert json.loads(made) == {**json.loads(text), "r": [1]}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[1]", "x: expected a JSON object at the top"),
        ('{"r": 1, "r": 2}', "x: the member r is there 2 times"),
        ("{", "x:1:2: is not JSON: Expecting property name enclosed in double quotes"),
    ],
)
def test_what_is_no_object_is_left_alone(text: str, error: str) -> None:
    with pytest.raises(SourceError) as caught:
        with_member(text, "r", [1], "x")
    assert str(caught.value) == error


def test_patterns() -> None:
    assert marker("\n\n<a>\n\n") == r"(?:\n?\n)?<a>(?:\n\n?)?"
    assert marker(" </a>\n</b> ") == r" ?</a>\s{0,64}</b> ?"
    assert marker("end of") == r"end\s{1,64}of"
    assert markers(["<a>", "\n<a>", "<a>x", "<b><a>x"]) == ["<a>x", r"<b>\s{0,64}<a>x"]
    assert (any_of(["a", "a"]), any_of(["a", "b"]), any_of([])) == ("a", "(?:a|b)", "")
    assert (optional("a"), optional(r"\n"), optional("ab"), optional("")) == ("a?", r"\n?", "(?:ab)?", "")
