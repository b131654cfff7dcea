"""What models write otherwise than any template: every engine reads it as the message that is meant."""

from __future__ import annotations

import json

import pytest

from tests.fluent import case


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json-array", '«wishes» [ {"name": "look", "arguments": {}}]'),
        ("json-array", '«wishes»\n[\n{"name": "look", "arguments": {}}]'),
        ("open-json", '[=request=]\n{"function": "look", "input": {}}'),
    ],
)
def test_white_space_between_brackets_of_an_opener(name: str, text: str) -> None:
    case(name).output(text).expect(calls=[("look", {})])


@pytest.mark.parametrize(
    "text",
    ['§call§look{"days": 2}§end§', '§call§look {"days": 2}§end§', '§call§look§with§{"days": 2}§end§'],
)
def test_the_text_before_the_arguments_is_left_out(text: str) -> None:
    case("tagged-name-json").output(text).expect(calls=[("look", {"days": 2})])


def test_what_is_no_word_needs_the_text_before_the_arguments() -> None:
    text = '§call§one or "two" {"days": 2}'
    case("tagged-name-json").output(f"{text}§end§").expect(text)


def test_reasoning_ends_where_calls_begin_that_are_not_parsed() -> None:
    call = "<deed>\n<do=look>\n<with=days>\n2\n</with>\n</do>\n</deed>"
    parser = case("parameter-tags").engines.parser
    message = parser.parse(f"Hm.\n\n{call}", parse_tool_calls=False)
    assert (message["reasoning_content"], message["content"], message["tool_calls"]) == ("Hm.", f"\n\n{call}", [])


@pytest.mark.parametrize(
    ("written", "value"), [("int", 2), ("float", 2), ("str", "2"), ("bool", "2"), ("list", "2"), ("dict", "2")]
)
def test_types_as_python_calls_them(written: str, value: object) -> None:
    look = {"name": "look", "parameters": {"type": "object", "properties": {"days": {"type": written}}}}
    text = "</musings>\n\n<deed>\n<do=look>\n<with=days>\n2\n</with>\n</do>\n</deed>"
    tools = [{"type": "function", "function": look}]
    case("parameter-tags").tools(tools).output(text).expect(calls=[("look", {"days": value})])


KEYWORDS = """
{%- for message in messages %}
    {{- '[' + message.role + ']\\n' + (message.content or '') }}
    {%- if message.tool_calls %}
        {{- '<run>' }}
        {%- for call in message.tool_calls %}
            {{- call.function.name + '(' }}
            {%- for key, value in call.function.arguments.items() %}
                {{- key + '=' }}QUOTE{{ value }}QUOTE{{ '' if loop.last else ', ' }}
            {%- endfor %}
            {{- ')' + ('' if loop.last else ', ') }}
        {%- endfor %}
        {{- '</run>' }}
    {%- endif %}
    {{- '[end]\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]\\n' }}{%- endif %}
"""
LITERALS = r"""<run>look(city='Martha\'s', say='\"a\", b', days=9, all=True, at={'x': 'y'}, no=None, of=[])</run>"""
READ = {"city": "Martha's", "say": '"a", b', "days": 9, "all": True, "at": {"x": "y"}, "no": None, "of": []}


@pytest.mark.parametrize("quote", ["", '"'])
def test_literals_of_python_in_keyword_calls_without_quotes_of_their_own(quote: str) -> None:
    parser = case(KEYWORDS.replace("QUOTE", quote)).engines.parser
    for size in (len(LITERALS), 1, 3):
        stream = parser.StreamParser()
        for at in range(0, len(LITERALS), size):
            stream.feed(LITERALS[at : at + size])
        stream.finish()
        calls = [call["function"] for call in stream.message["tool_calls"]]
        assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [("look", READ)]
    written = f"<run>look(city={quote}Paris, France{quote}, days={quote}2{quote})</run>"
    [call] = parser.parse(written)["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris, France", "days": 2}


def test_the_other_name_of_a_call_s_arguments() -> None:
    text = '<fn>\n{"name": "look", "parameters": {"days": 2}}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", {"days": 2})])
    text = '<fn>\n{"name": "look", "arguments": {"days": 2}, "parameters": {"days": 3}}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", {"days": 2})])


LOOK = "<do=look>\n</do>\n</deed>"


@pytest.mark.parametrize("between", ["", ";", "; ", "\n,\n"])
def test_signs_between_calls(between: str) -> None:
    text = f"</musings>\n\n<deed>\n{LOOK}{between}<deed>\n{LOOK}"
    case("parameter-tags").output(text).expect(calls=[("look", {}), ("look", {})])
    call = '{"name": "look", "parameters": {}}'
    case("bare-json").output(call + between + call).expect(calls=[("look", {}), ("look", {})])


def test_a_sign_that_no_call_follows_is_text() -> None:
    case("parameter-tags").output(f"</musings><deed>\n{LOOK}; and").expect("; and", calls=[("look", {})])
    case("bare-json").output('{"name": "look", "parameters": {}}; {so').expect("; {so", calls=[("look", {})])


def test_an_opener_whose_rest_begins_a_line_ends_reasoning_as_a_whole() -> None:
    case("parameter-tags").output(f"Hm.<deed>\n{LOOK}").expect(reasoning="Hm.", calls=[("look", {})])
    case("parameter-tags").output(f"Hm.<deed>x\n{LOOK}").expect(reasoning="Hm.<deed>x\n", calls=[("look", {})])


@pytest.mark.parametrize(
    ("name", "text", "content"),
    [
        ("tagged-json", "A <fn></fn> B", "A  B"),
        ("tagged-json", "A <fn>\n</fn> B", "A  B"),
        ("tagged-json", "A <fn>x</fn> B", "A <fn>x</fn> B"),
        ("json-array", "A «wishes»[]«/wishes»", "A "),
        ("json-array", "A «wishes»«/wishes»", "A "),
        ("sectioned-ids", "<!calls!><!/calls!>A", "A"),
        ("sectioned-ids", "<!calls!><!call!><!/call!><!/calls!>A", "A"),
    ],
)
def test_an_empty_call_is_dropped_and_a_failed_one_kept(name: str, text: str, content: str) -> None:
    case(name).output(text).expect(content)
