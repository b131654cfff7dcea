"""Every engine reads what models write differently from templates as the message that is meant."""

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
    for before, reasoning, content in (
        ("Hm.\n\n", "Hm.", f"\n\n{call}"),
        ("Hm.", "Hm.", call),  # its second piece begins a line
        ("\n", None, f"\n{call}"),
    ):
        case("parameter-tags").keep_calls().output(before + call).expect(content, reasoning=reasoning)
    inside = call.replace("\n<do", "<do")
    case("parameter-tags").keep_calls().output(f"Hm.{inside}").expect(reasoning=f"Hm.{inside}", incomplete=True)


@pytest.mark.parametrize(
    ("written", "value"), [("int", 2), ("float", 2), ("str", "2"), ("bool", "2"), ("list", "2"), ("dict", "2")]
)
def test_types_as_python_calls_them(written: str, value: object) -> None:
    look = {"name": "look", "parameters": {"type": "object", "properties": {"days": {"type": written}}}}
    text = "</musings>\n\n<deed>\n<do=look>\n<with=days>\n2\n</with>\n</do>\n</deed>"
    tools = [{"type": "function", "function": look}]
    case("parameter-tags").tools(tools).output(text).expect(calls=[("look", {"days": value})])


@pytest.mark.parametrize(
    ("name", "text", "odd"),
    [
        (
            "parameter-tags",
            "<do=f>\n<with=a>\n1\n</with>\n{}\n<with=c>\ny\n</with>\n</do>\n</deed>",
            "<with=b\nx\n</with>",
        ),
        ("parameter-tags", "<do=f>\n{}<with=a>\n1\n</with>\n<with=c>\ny\n</with>\n</do>\n</deed>", "<b>x</b>"),
        ("parameter-tags", "<do=f>\n<with=a>1</with><with=c>y</with>\n{}</do>\n</deed>", "so much for that"),
        ("key-value-tags", "[ability]f\n[k]a[/k]\n[v]1[/v]\n{}\n[k]c[/k]\n[v]y[/v]\n[/ability]", "[k]b[/k]\nx[/v]"),
        ("cdata-values", '<act name="f"><arg key="a">1</arg><arg key="c">y</arg>{}</act>', '<arg key="b'),
    ],
)
def test_what_is_no_pair_ends_no_call(name: str, text: str, odd: str) -> None:
    """Text that isn't a pair is content, and the pairs after it are read. The call may lack an argument."""
    look = case(name).output(text.format(odd))
    look.expect(odd, calls=[("f", {"a": 1, "c": "y"})], incomplete=True)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        (
            "parameter-tags",
            "<do=f>\n<with=a>\n{}\n</with>\n<with=c>\ny\n</with>\n</do>\n</deed>",
            "1\n</with>\n<withb>\nx",
        ),
        ("cdata-values", '<act name="f"><arg key="a">{}</arg><arg key="c">y</arg></act>', "1</arg><arg>x"),
    ],
)
def test_what_a_value_may_hold_is_the_value(name: str, text: str, value: str) -> None:
    """A text that the template could write as a value is the value, also if the model may have meant a pair without its
    key."""
    case(name).output(text.format(value)).expect(calls=[("f", {"a": value, "c": "y"})])


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "function", "function": {"name": "look", "arguments": {"days": 2}}}',
        '{"function": {"arguments": {"days": 2}, "name": "look"}, "id": "x"}',
        '{"id": "x", "function": {"name": "look", "parameters": {"days": 2}}, "type": "function"}',
        '{"function": {"name": "look", "arguments": "{\\"days\\": 2}"}}',
        '{"function": null, "name": "look", "arguments": {"days": 2}}',
        '{"function": {"name": null}, "name": "look", "arguments": {"days": 2}}',
    ],
)
def test_a_call_as_apis_have_it(text: str) -> None:
    case("tagged-json").output(f"<fn>\n{text}\n</fn>").expect(calls=[("look", {"days": 2})])
    case("json-array").output(f"«wishes»[{text}]«/wishes»").expect(calls=[("look", {"days": 2})])


def test_a_call_as_apis_have_it_is_text_where_calls_look_like_text() -> None:
    text = '{"type": "function", "function": {"name": "look", "arguments": {"days": 2}}}'
    case("bare-json").output(text).expect(text)


def test_where_no_pair_and_no_end_comes_the_call_is_over() -> None:
    look = case("parameter-tags").output("<do=f>\n<with=a>\n1\n</with>\nIt is done.")
    look.expect("\nIt is done.", calls=[("f", {"a": 1})], incomplete=True)


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


NAMED = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
NAMED_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": NAMED}}]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("tools", [None, NAMED_TOOLS])
def test_the_peg_reads_such_literals_alike(quote: str, tools: object) -> None:
    engines = case(KEYWORDS.replace("QUOTE", quote)).engines
    for inside in (
        LITERALS[5:-6],
        "look(city='LA', days=2)",
        "look(city=LA, days='2', x=1)",
        'look(days=2, city="LA")',
    ):
        text = f"<run>{inside}</run>"
        assert engines.peg.parse(text, tools=tools) == engines.parser.parse(text, tools=tools), text


def test_the_other_name_of_a_call_s_arguments() -> None:
    text = '<fn>\n{"name": "look", "parameters": {"days": 2}}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", {"days": 2})])
    text = '<fn>\n{"name": "look", "arguments": {"days": 2}, "parameters": {"days": 3}}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", {"days": 2})], incomplete=True)


LOOK = "<do=look>\n</do>\n</deed>"


@pytest.mark.parametrize("between", ["", ";", "; ", "\n,\n"])
def test_characters_between_calls(between: str) -> None:
    text = f"</musings>\n\n<deed>\n{LOOK}{between}<deed>\n{LOOK}"
    case("parameter-tags").output(text).expect(calls=[("look", {}), ("look", {})])
    call = '{"name": "look", "parameters": {}}'
    case("bare-json").output(call + between + call).expect(calls=[("look", {}), ("look", {})])


def test_a_character_that_no_call_follows_is_text() -> None:
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


@pytest.mark.parametrize("broken", ['{"days": 2', '{"days": 2, ', '{"days": [2', '{"days": [{"a": "b"'])
def test_a_value_that_was_never_closed_ends_with_its_call(broken: str) -> None:
    whole = {
        '{"days": 2': {"days": 2},
        '{"days": 2, ': {"days": 2},
        '{"days": [2': {"days": [2]},
        '{"days": [{"a": "b"': {"days": [{"a": "b"}]},
    }[broken]
    calls = [("look", whole, "tools.look:0"), ("look", {}, "tools.look:1")]
    more = "<!call!>tools.look:1<!args!>{}<!/call!><!/calls!>"
    for closer in ("<!/call!>", ""):
        text = f"<!calls!><!call!>tools.look:0<!args!>{broken}{closer}{more}"
        case("sectioned-ids").output(text).expect(calls=calls)
    text = f'<fn>\n{{"name": "look", "arguments": {broken}</fn>'
    case("tagged-json").output(f"{text}{text}").expect(calls=[("look", whole), ("look", whole)])


def test_markers_in_strings_are_text() -> None:
    call = '<fn>\n{"name": "look", "arguments": {"say": "</fn><fn>"}}\n</fn>'
    case("tagged-json").output(call).expect(calls=[("look", {"say": "</fn><fn>"})])


def test_a_name_holds_no_marker() -> None:
    look = '§call§look§with§{"days": 2}'
    case("tagged-name-json").output(f"§call§one{look}").expect("§call§one", calls=[("look", {"days": 2})])
    text = "<deed>\n<do=one</do>\n</deed>"
    case("parameter-tags").output(f"</musings>{text}<deed>\n{LOOK}").expect(text, calls=[("look", {})])


def test_a_name_that_its_line_ends_is_none_the_less_whole() -> None:
    text = "[ability]s\n[@user@]"
    case("key-value-tags").output(text).expect(calls=[("s", {})])


PAIRS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {"city": {}, "days": {}}}},
    }
]


def test_a_parameter_that_was_not_closed_ends_where_the_next_one_begins() -> None:
    text = "</musings><deed>\n<do=look>\n<with=city>\nOslo\n<with=days>\n2\n</with>\n</do>\n</deed>"
    look = case("parameter-tags").tools(PAIRS).output(text)
    look.expect(calls=[("look", {"city": "Oslo", "days": 2})], incomplete=True)
    kept = {"city": "Oslo\n<with=days>\n2"}
    case("parameter-tags").output(text).expect(calls=[("look", kept)])  # it may be text, as far as one can know


def test_the_opener_of_a_parameter_that_has_come_is_text() -> None:
    text = "</musings><deed>\n<do=look>\n<with=city>\nOslo\n</with>\n<with=days>\n<with=city>\n</with>\n</do>\n</deed>"
    found = {"city": "Oslo", "days": "<with=city>"}
    case("parameter-tags").tools(PAIRS).output(text).expect(calls=[("look", found)])


def test_the_opener_of_a_parameter_inside_a_line_is_text() -> None:
    text = "</musings><deed>\n<do=look>\n<with=city>\nput <with=days>\n in\n</with>\n</do>\n</deed>"
    found = {"city": "put <with=days>\n in"}
    case("parameter-tags").tools(PAIRS).output(text).expect(calls=[("look", found)])


@pytest.mark.parametrize("more", ["", "<with=days>\n3\n</with>\n"])
def test_a_parameter_that_holds_all_arguments(more: str) -> None:
    text = f'</musings><deed>\n<do=look>\n<with=arguments>\n{{"city": "Oslo"}}\n</with>\n{more}</do>\n</deed>'
    found = {"city": "Oslo", **({"days": 3} if more else {})}
    case("parameter-tags").tools(PAIRS).output(text).expect(calls=[("look", found)])
    own = {"arguments": {"city": "Oslo"}, **({"days": 3} if more else {})}
    case("parameter-tags").output(text).expect(calls=[("look", own)])


ONE_CALL = """
{%- for message in messages %}
    {{- '[' + message.role + ']' }}
    {%- if message.tool_calls %}
        {%- if message.tool_calls | length > 1 %}{{- raise_exception('one call at a time') }}{% endif %}
        {%- for call in message.tool_calls %}
            {{- '<to ' + call.function.name + '>' + (call.function.arguments | tojson) + '<go>' }}
        {%- endfor %}
    {%- else %}
        {{- (message.content or '') + '<end>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}
"""


def test_what_closes_the_only_call_of_a_turn_stops_a_server() -> None:
    assert set(case(ONE_CALL).engines.parser.STOP) == {"<end>", "<go>", "[user]", "[tool]"}
    case(ONE_CALL).output('<to look>{"days": 2}').expect(calls=[("look", {"days": 2})])


def test_text_after_a_separator_is_no_cut_call() -> None:
    text = '(~do~){"call": "look", "with": {}}, {"x": 1} so(~end~)'
    case("markers-by-shape").output(text).expect('{"x": 1} so', calls=[("look", {})])


ARRAY = """
{%- for message in messages %}
    {%- if message.tool_calls %}
        {{- '[TOOL_CALLS][' }}
        {%- for call in message.tool_calls %}
            {{- '{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson + '}' }}
            {{- '' if loop.last else ', ' }}
        {%- endfor %}
        {{- ']</s>' }}
    {%- elif message.role == 'assistant' %}
        {{- message.content + '</s>' }}
    {%- else %}
        {{- '[INST]' + message.content + '[/INST]' }}
    {%- endif %}
{%- endfor %}
"""


@pytest.mark.parametrize(
    "text", ["[TOOL_CALLS][{", '[TOOL_CALLS][{"na', '[TOOL_CALLS] [{"name": "lo', '[TOOL_CALLS][{"x": [1], "name']
)
def test_a_bracket_of_the_opener_closes_no_call(text: str) -> None:
    case(ARRAY).output("Hi." + text).expect("Hi.", incomplete=True)
