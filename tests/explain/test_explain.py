"""Explanations: what is compared, how it is marked, and the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import TEMPLATE
from tests.conftest import ROOT
from tplc.explain import Explanation, explain
from tplc.explain.comparisons import tail_of
from tplc.explain.marks import marks
from tplc.explain.page import conversation, page
from tplc.explain.serialize import to_dict
from tplc.explain.spans import ValueSpan, spans

VOID = frozenset({"meta"})


@pytest.fixture(scope="module")
def explained() -> Explanation:
    return explain(TEMPLATE, name="chat.jinja")


# Marks


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("", "", []),
        ("<c>x</c>", "<c>x</c>", [("same", "<c>x</c>")]),
        ("<c>x</c>", "<c>x</c><c>y</c>", [("same", "<c>x</c>"), ("second", "<c>y</c>")]),
        # A marker is not cut: `<` is in both, and yet nothing that one would want to read.
        ("<fn>", "<why>w</why><fn>", [("second", "<why>w</why>"), ("same", "<fn>")]),
        ("say one", "say only", [("same", "say "), ("first", "one"), ("second", "only")]),
    ],
)
def test_marks(first: str, second: str, found: list[tuple[str, str]]) -> None:
    assert marks(first, second) == found


@given(st.text("<ab>{}\n ", max_size=30), st.text("<ab>{}\n ", max_size=30))
def test_marks_make_up_both_texts(first: str, second: str) -> None:
    found = marks(first, second)
    assert "".join(text for where, text in found if where != "second") == first
    assert "".join(text for where, text in found if where != "first") == second


# Comparisons


def test_what_is_compared(explained: Explanation) -> None:
    names = {question.name: [c.name for c in question.comparisons] for question in explained.questions}
    assert names == {
        "conversation": [],
        "turn": ["P1", "C1", "C2"],
        "reasoning": ["R1", "R2", "R3"],
        "arguments": ["A1", "A2", "A3", "V1", "V2", "V3", "V4", "V5", "V6"],
        "calls": ["T1", "T2", "T3", "T4"],
        "results": [],
        "text_escapes": [],
        "tokens": [],
        "captured": [],
        "content": [],
        "capabilities": [],
    }


def test_a_comparison(explained: Explanation) -> None:
    found = next(c for question in explained.questions for c in question.comparisons if c.name == "R1")
    assert found.title == "an answer, without and with reasoning"
    assert conversation(found.first) == 'user: "zquser0x"\nassistant: "zqcontent0x"'
    assert conversation(found.second) == ('user: "zquser0x"\nassistant: "zqcontent0x"\n    reasoning "zqreason0x"')
    assert tail_of(found.first) == "<end><assistant>zqcontent0x<end>"
    assert tail_of(found.second) == "<end><assistant><why>zqreason0x</why>zqcontent0x<end>"
    assert found.concluded[:3] == (
        "reasoning.mode = tag_based",
        'reasoning.start = "<why>"',
        'reasoning.end = "</why>"',
    )


def test_a_question_shows_nothing_twice(explained: Explanation) -> None:
    for question in explained.questions:
        asked = [repr((probe.messages, probe.setup, probe.generation, probe.calls)) for probe in question.probes]
        assert len(asked) == len(set(asked)) > 0


def test_questions_are_the_learner_s(explained: Explanation) -> None:
    texts = {question.name: question.text for question in explained.questions}
    assert texts["reasoning"] == "Where is reasoning written, and what opens and closes it?"
    assert all(text.endswith("?") for text in texts.values())


def test_what_messages_taught() -> None:
    source = (ROOT / "tests" / "cases" / "repair" / "prefix-only-with-tools.jinja").read_text(encoding="utf-8")
    found = explain(source)
    assert [(repair.reason, repair.failed) for repair in found.repairs] == [('content: content.start is "Helper: "', 0)]
    assert "content.start is &quot;Helper: &quot;" in page(found)
    reported = to_dict(found, whole=False)
    assert reported["repairs"] == [
        {"reason": 'content: content.start is "Helper: "', "failed": 0, "messages": found.repairs[0].messages}
    ]


def test_a_template_that_is_refused() -> None:
    found = explain("{{ raise_exception('not today') }}", name="no.jinja")
    assert found.ir is None
    assert found.refused == (
        "no.jinja: none of the conversations that were tried renders the assistant's text: "
        "no.jinja:1: the template refused: not today"
    )
    assert [question.name for question in found.questions] == ["conversation"]
    assert {tail_of(probe) for probe in found.questions[0].probes} == {"no.jinja:1: the template refused: not today"}
    assert "not today" in page(found)


NAME_LAST = (
    "{%- for m in messages %}{{- '[' + m.role + ']' + (m.content or '') }}{%- for c in m.tool_calls or [] %}"
    "{{- '<c>' }}{%- for k, v in c.function.arguments.items() %}{{- k + ': ' + v | string + '\n' }}{%- endfor %}"
    "{{- '#' + c.function.name + '</c>' }}{%- endfor %}{{- '[end]' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}"
)


def test_a_format_without_a_parser_is_shown() -> None:
    found = explain(NAME_LAST, name="last.jinja")
    assert found.ir is None
    assert found.refused == (
        "last.jinja: the name of a call comes after its arguments; parsers can't be generated for that"
    )
    concluded = [
        fact for question in found.questions for comparison in question.comparisons for fact in comparison.concluded
    ]
    assert 'tools.call = "<c>" arguments "#" name "</c>"' in concluded


# The page


class Reader(HTMLParser):
    """Elements that are closed in order, what they refer to, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.references: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_page_stands_alone(explained: Explanation) -> None:
    text = page(explained)
    found = read(text)
    assert found.references == []
    assert {"script", "link", "img", "iframe"} & set(found.elements) == set()
    assert re.findall(r"https?:|@import|url\(", text) == []
    assert re.findall(r"<h2>(.*?)</h2>", text) == [
        "The turn",
        "The format",
        "Verification",
        "A grammar",
        "How it was learned",
        "Everything that was asked",
    ]
    assert "@media print" in text and "verified" in found.text and 'root ::= "<call>' in found.text


def test_page_of_a_hostile_name_and_markers() -> None:
    source = TEMPLATE.replace("<why>", "<script>alert(1)</script>").replace("</why>", "</style></pre>--></main>")
    text = page(explain(source, name="--><script>alert(2)</script>"))
    found = read(text)
    assert "script" not in found.elements
    assert found.elements.count("style") == found.elements.count("main") == 1
    assert "<script>alert(1)</script>zqreason0x" in found.text


def test_pages_of_the_examples_are_well_formed() -> None:
    for name in ("plain-chat", "recipient-lines", "thinking-parts"):
        source = (ROOT / "examples" / name / "template.jinja").read_text(encoding="utf-8")
        assert read(page(explain(source, name=name))).text.count("How it was learned") == 1


def test_a_prompt_is_shown_once_although_tools_come_before_it() -> None:
    source = "{% if tools %}[tools]{{ tools | tojson }}{% endif %}" + TEMPLATE
    source += "{% if add_generation_prompt and muse is defined and not muse %}<why></why>{% endif %}"
    found = [one for question in explain(source).questions for one in question.comparisons]
    shown = [(one.title, tail_of(one.first), tail_of(one.second)) for one in found]
    assert len(set(shown)) == len(shown)
    assert [one.name for one in found if one.name.startswith("P")] == ["P1", "P2"]


# Spans


def test_spans() -> None:
    deltas = [
        (5, [{"reasoning_content": "Hm"}]),
        (12, [{"content": "Hi."}]),
        (20, [{"tool_calls": [{"index": 0, "id": None, "function": {"name": "look", "arguments": ""}}]}]),
        (26, [{"tool_calls": [{"index": 0, "function": {"arguments": '{"at": "'}}]}]),
        (36, [{"tool_calls": [{"index": 0, "function": {"arguments": 'you"}'}}]}]),
    ]
    text = "<r>Hm</r>Hi.<do look><at>you</at></do><end>"
    assert spans(text, deltas) == [
        ValueSpan("marker", 0, "<r>"),
        ValueSpan("reasoning", 3, "Hm"),
        ValueSpan("marker", 5, "</r>"),
        ValueSpan("content", 9, "Hi."),
        ValueSpan("marker", 12, "<do "),
        ValueSpan("name", 16, "look"),
        ValueSpan("marker", 20, "><"),
        ValueSpan("key", 22, "at"),
        ValueSpan("marker", 24, ">"),
        ValueSpan("arguments", 25, "you"),
        ValueSpan("marker", 28, "</at></do><end>"),
    ]


def test_quotes_of_markers_are_not_the_quotes_of_arguments() -> None:
    arguments = ['{"at": "', "Oslo", '"', ', "for": 2}']
    deltas = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in arguments]
    text = '<at="at">Oslo</><at="for">2</>'
    read = [text.find(end) + len(end) for end in ('t">', "Oslo", '><at="', "2</>")]
    fed = [(at, [delta]) for at, delta in zip(read, deltas, strict=True)]
    found = [(span.kind, span.text) for span in spans(text, fed) if span.kind != "marker"]
    assert found == [("key", "at"), ("arguments", "Oslo"), ("key", "for"), ("arguments", "2")]


@given(st.text("<r>ab", max_size=20), st.lists(st.text("<r>ab", max_size=4), max_size=5))
def test_spans_make_up_the_text(text: str, pieces: list[str]) -> None:
    found = spans(text, [(len(text), [{"content": piece} for piece in pieces])])
    assert "".join(span.text for span in found) == text
    assert [text[span.start : span.start + len(span.text)] for span in found] == [span.text for span in found]
