"""Text that is left where a call was meant: calls in content, and what remains of other formats next to a call."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest

from tests.fuzz.formats import formats, named
from tests.slips.bases import TOOLS
from tests.slips.measure import answers, joined, read, reading
from tests.slips.written import text_of

ONE = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'
CALL = f"<fn>\n{ONE}\n</fn>"
IN_CONTENT = {
    "a word before": f"functools{ONE}",
    "labels": 'Action: get_weather\nAction Input: {"city": "Oslo"}',
    "a word without a space": 'CALLget_weather city="Oslo"',
    "a method": 'get_weather.of(city="Oslo")',
    "after an empty line": 'get_weather\n\n{"city": "Oslo, "days": 3}',
    "tags": '<invoke name="get_weather">\n<parameter name="city" string="true">Oslo</parameter>',
    "a tag without its end": '<function=get_weather{"city": "Oslo"}</function>',
    "a fence after text": f"Sure.\n```json\n{ONE}\n```",
    "text before": f"Sure: {ONE} is it.",
    "no arguments": 'I take {"name": "list_all", "arguments": {}} here.',
}
PROSE = (
    "The tool get_weather gives the weather of a city.",
    "I used get_weather. The city: Oslo.",
    "I called list_all() and found two.",
    "my_get_weather(city=1) is another function.",
    'Look at "city": "Oslo".',
)
NEXT_TO_A_CALL = (
    "<think>Hm.</think>",
    *(f"{left}think{right}Hm.{left}/think{right}" for left, right in ("＜＞", "◁▷", "⟨⟩", "⟦⟧", "❮❯")),
    "<think>Hm.</think>\n\nI look.",
    "<|plan|>I look.",
    "assistant",
    "assistant:",
    *("-", "1.", "**", "***", ">", ":", '"', "\u200b", "\ufeff"),
    "I look. <tools>",
    '<tools id="1">',
    "tools>",
    "tools|>x",
    *("I look.\n- ", "I look.\n> ", "I look: **", "I look: `", "I look.\u200b"),
)
ALONE = ("assistant\nIt is two.", "\ufeffIt is two.", "It is two.\u200b", "\\u003cfn\\u003e", "\\u003C/fn\\u003E")
DAMAGES = {
    "escaped for HTML": lambda marker: marker.replace("<", "&lt;").replace(">", "&gt;"),
    "in square brackets": lambda marker: marker.replace("<", "[").replace(">", "]"),
    "without its first bracket": lambda marker: marker[1:],
    "with backslashes": lambda marker: marker[0] + re.sub(r"(?=[^\w\s])", r"\\", marker[1:-1]) + marker[-1],
}
SENTENCES = (
    "I look: *here*.",
    "I look at **two** things.",
    "Take `f`.",
    "I look.",
    "Sure",
    "hi",
    "x < y > z",
    "It is <b>bold</b>, yes.",
    "Let me look at a list:",
)


def codes(text: str, name: str = "tagged-json") -> list[str]:
    """Return the codes of a text's diagnostics, which are the same in any chunks."""
    parser = named(name).parser
    whole, _ = read(parser, text, TOOLS)
    for size in (1, 7):
        stream, deltas = read(parser, text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        assert joined(deltas) == reading(stream) == reading(whole), size
        assert (stream.diagnostics, stream.incomplete) == (whole.diagnostics, whole.incomplete), size
    return [note.code for note in whole.diagnostics]


@pytest.mark.parametrize("text", IN_CONTENT.values(), ids=IN_CONTENT)
def test_call_in_content_is_reported(text: str) -> None:
    assert codes(text) == ["like_a_call"]


def test_call_in_content_next_to_another_is_reported() -> None:
    assert codes(f'Action: get_time(zone="CET")\n{CALL}') == ["like_a_call"]


@pytest.mark.parametrize("text", PROSE)
def test_prose_that_names_a_tool_is_not_reported(text: str) -> None:
    assert codes(text) == []


def test_call_in_content_is_not_reported_where_it_is_wanted() -> None:
    stream = named("tagged-json").parser.StreamParser(tools=TOOLS, parse_tool_calls=False)
    stream.feed(ONE)
    stream.finish()
    assert (stream.message["content"], stream.diagnostics) == (ONE, [])


@pytest.mark.parametrize("text", NEXT_TO_A_CALL)
def test_what_is_no_sentence_next_to_a_call_is_reported(text: str) -> None:
    assert codes(f"{text}\n{CALL}") == ["like_a_marker"]


@pytest.mark.parametrize("text", ALONE)
def test_what_no_answer_begins_or_ends_with_is_reported(text: str) -> None:
    assert codes(text) == ["like_a_marker"]


@pytest.mark.parametrize("text", SENTENCES)
def test_sentence_next_to_a_call_is_not_reported(text: str) -> None:
    assert codes(f"{text}\n{CALL}") == []


@pytest.mark.parametrize(("text", "reported"), [("Hm.</thought>\nIt is two.", True), ("Is <b>this</b> so?", False)])
def test_reasoning_with_another_closer_is_reported(text: str, reported: bool) -> None:
    found = codes(f"§muse§{text}§end§", "tagged-name-json")
    assert ("like_a_marker" in found) is reported


@pytest.mark.parametrize("word", ["get_weather ", 'get_weather city" ', "get_weather(", "</x>"])
def test_reports_take_linear_time(word: str) -> None:
    times = []
    for count in (4000, 8000):
        stream, _ = read(named("tagged-json").parser, word * count, TOOLS)
        start = time.process_time()
        assert stream.diagnostics is not None
        times.append(time.process_time() - start)
    assert times[1] < 4 * times[0] + 0.05


PAIR = "<with={}>\n{}\n</with>\n"
VALUES = {
    "another pair": ("Oslo\n<with=days>\n3", True),
    "two of them": ("Oslo\n<with=days>\n3\n<with=note>\nx", True),
    "a whole pair": ("Oslo\n<with=days>\n3\n</with>", False),
    "an opener without a key": ("Oslo <with= is it", False),
}


@pytest.mark.parametrize(("value", "reported"), VALUES.values(), ids=VALUES)
def test_value_with_a_pair_that_is_not_closed_is_reported_without_tools(value: str, reported: bool) -> None:
    text = f"\n<deed>\n<do=look_up>\n{PAIR.format('city', value)}{PAIR.format('id', 1)}</do>\n</deed><:>\n"
    for size in (len(text), 1, 5):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, _ = read(named("parameter-tags").parser, text, None, chunks)
        assert json.loads(stream.message["tool_calls"][0]["function"]["arguments"])["city"] == value
        assert ("like_a_marker" in [note.code for note in stream.diagnostics]) is reported, size


def test_brackets_of_lists_are_not_like_markers() -> None:
    pairs = '[k]tags[/k]\n[v]["sea", "a hill"][/v]\n[k]options[/k]\n[v]{"a": ["b"]}[/v]\n'
    assert codes(f"\n[ability]make_plan\n{pairs}[/ability][@user@]", "key-value-tags") == []


def damaged_ends() -> Iterator[tuple[str, str, str]]:
    """Yield answers of all formats with a damaged end of the turn that has punctuation next to its brackets."""
    for form in formats():
        for name, answer in answers(form.ir):
            core = answer.pieces[-1].core
            if answer.pieces[-1].kind == "turn_end" and re.fullmatch(r"<[^\w<>\s][^<>\s]*\w[^<>\s]*>", core):
                for how, damage in DAMAGES.items():
                    text = text_of(answer.pieces[:-1]) + answer.pieces[-1].text.replace(core, damage(core))
                    yield form.name, f"{name}, {how}", text


DAMAGED_ENDS = tuple(damaged_ends())


@pytest.mark.sweep(7)
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, _, text in DAMAGED_ENDS])
def test_damaged_end_of_the_turn_is_reported(name: str, text: str) -> None:
    assert codes(text, name) != []
