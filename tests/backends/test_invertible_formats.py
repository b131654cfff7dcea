"""Formats of tests/cases/invertible: outputs that differ from the template's renders, in every chunking and by the PEG.

<why effort=medium>, learned with the word "medium"  →  <why effort=high> opens reasoning as well
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.independent import TOKENS
from tests.property.every_reader import EveryReader
from tplc.driver import GrammarOptions, compile_template, generate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

FOLDER = Path(__file__).parent.parent / "cases" / "invertible"
PIN = {"type": "function", "function": {"name": "pin", "parameters": {"type": "object", "properties": {}}}}


@cache
def learned(name: str) -> TemplateIR:
    return compile_template((FOLDER / f"{name}.jinja").read_text("utf-8"), name=name, special_tokens=TOKENS)


def read(name: str, output: str, prompt: str | None = None) -> tuple[str | None, str | None, list[str]]:
    reader = EveryReader(learned(name))
    message = reader.parse(output, prompt=prompt)
    assert reader.differ == []
    names = [call["function"]["name"] for call in message["tool_calls"]]
    return message["reasoning_content"], message["content"], names


@pytest.mark.sweep(24)
@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("effort-in-opener", "<why effort=medium>So</why>Hi<eot>", ("So", "Hi", [])),
        ("effort-in-opener", "<why effort=high>So</why>Hi<eot>", ("So", "Hi", [])),
        ("effort-in-opener", "<why effort=x-high.2>So", ("So", None, [])),
        ("effort-in-opener", "a <why effort=low>b</why> c", ("b", "a  c", [])),
        ("effort-in-opener", "<why effort=>a", (None, "<why effort=>a", [])),
        ("effort-in-opener", "<why effort=a b>c", (None, "<why effort=a b>c", [])),
        ("effort-in-opener", "<why effort=hi", (None, "<why effort=hi", [])),
        ("effort-in-opener", f"<why effort={'x' * 65}>a", (None, f"<why effort={'x' * 65}>a", [])),
        ("count-in-section-closer", "<jobs><do>f {}</do></jobs:1><eot>", (None, None, ["f"])),
        ("count-in-section-closer", "a <jobs><do>f {}</do><do>g {}</do></jobs:22>", (None, "a ", ["f", "g"])),
        ("count-in-section-closer", "<jobs><do>f {}</do></jobs:", (None, None, ["f"])),
        ("count-in-section-closer", "<jobs><do>f {}</do></jobs: and", (None, "</jobs: and", ["f"])),
        ("count-in-both", '<jobs n="2">\n<do>f {}</do><do>g {}</do></jobs n="2"> a', (None, " a", ["f", "g"])),
        ("count-in-both", 'see <jobs n="a b">', (None, 'see <jobs n="a b">', [])),
        ("count-before-json-list", '<jobs 12>[{"name": "f", "arguments": {}}]</jobs>', (None, None, ["f"])),
        (
            "count-in-section-and-calls",
            '<calls count="12"><call i="7" of="12" name="f">{}</call></calls>',
            (None, None, ["f"]),
        ),
        ("count-in-words", "Hm\nCalling 12 tools:\n* f {}\n* g {}\n<eot>", (None, "Hm", ["f", "g"])),
        ("count-in-words", "Hm\nCalling 2 tools:\nboth.", (None, "Hm\nCalling 2 tools:\nboth.", [])),
        ("count-in-words", "I am Calling 2 tools:\n* one", (None, "I am Calling 2 tools:\n* one", [])),
        ("count-in-words", "Calling 2", (None, "Calling 2", [])),
        ("count-in-heading", "Hm\n\n# Calls (1)\n* f {}\n<eot>", (None, "Hm", ["f"])),
        ("count-in-heading", "# Calls (3)\n\nNone.", (None, "# Calls (3)\n\nNone.", [])),
        ("count-in-heading", "Hm\n\n# Calls (2)\n* a b", (None, "Hm\n\n# Calls (2)\n* a b", [])),
    ],
)
def test_any_word_is_read(name: str, output: str, expected: tuple[str | None, str | None, list[str]]) -> None:
    assert read(name, output) == expected


@pytest.mark.parametrize("word", ["low", "high"])
def test_a_prompt_may_hold_any_word(word: str) -> None:
    prompt = f'<user>Why?<eot><bot><why effort="{word}">'
    assert read("effort-in-prompt", "So</why>Hi<eot>", prompt) == ("So", "Hi", [])


@pytest.mark.parametrize("count", [1, 2, 12])
def test_the_number_of_calls_is_written(count: int) -> None:
    calls = [{"function": {"name": "f", "arguments": {}}}] * count
    written = write_message(learned("count-in-both"), {"content": "Hm", "tool_calls": calls})
    assert written == f'Hm<jobs n="{count}">\n{"<do>f {}</do>" * count}</jobs n="{count}"><eot>'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("count-in-both", 'root ::= "<jobs n=\\"" [.0-9A-Z_a-z-]{1,64} "\\">\\n<do>" calls'),
        ("count-in-section-closer", '("</jobs:" [.0-9A-Z_a-z-]{1,64} ">")?'),
    ],
)
def test_grammars_accept_any_word(name: str, expected: str) -> None:
    assert expected in generate(learned(name), "gbnf", GrammarOptions(tools=(PIN,)))


def test_a_grammar_of_reasoning_accepts_any_word() -> None:
    options = GrammarOptions(tools=(PIN,), tool_choice="required")
    assert '"<why effort=" [.0-9A-Z_a-z-]{1,64} ">"' in generate(learned("effort-in-opener"), "gbnf", options)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("(So (x). b)\nHi", ("So (x). b", "Hi", [])),
        ("(So)\n<x>f:{}</x>", ("So", None, ["f"])),
        ("(So)", ("So", None, [])),
        ("(So) b", ("So) b", None, [])),
    ],
)
def test_punctuation_that_ends_reasoning_needs_its_line_end(
    output: str, expected: tuple[str | None, str | None, list[str]]
) -> None:
    assert read("reasoning-in-brackets", output) == expected


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("content-opener-on-a-line-ends-reasoning", "<|think|>\nSo\n<|do|>\nf {}\n<|over|>\n"),
        ("calls-in-reasoning-if-any", "<why>So<do>f {}</do></why><eot>"),
    ],
)
def test_reasoning_that_a_call_ends_in_the_template_is_not_reported(name: str, output: str) -> None:
    stream = load_module(generate(learned(name), "python")).StreamParser()
    stream.feed(output)
    stream.finish()
    assert (stream.message["reasoning_content"], stream.diagnostics, stream.incomplete) == ("So", [], False)


@pytest.mark.parametrize("arguments", ["", '><args><arg k="a">1</arg></args></do>'])
def test_a_call_without_arguments_is_closed_as_one_with_them(arguments: str) -> None:
    """Servers return outputs without the end of the turn."""
    stream = load_module(generate(learned("pairs-left-out"), "python")).StreamParser()
    stream.feed(f'<do name="f"{arguments or "/>"}')
    stream.finish()
    assert (len(stream.message["tool_calls"]), stream.diagnostics, stream.incomplete) == (1, [], False)


ESCAPED = '<do name="f" args="{&#34;q&#34;: &#34;a &amp; b&#34;}"/>'


@pytest.mark.parametrize(
    ("output", "content", "arguments", "incomplete"),
    [
        (ESCAPED + "<eot>", None, ['{"q": "a & b"}'], False),
        ("Hm." + ESCAPED * 2, "Hm.", ['{"q": "a & b"}'] * 2, False),
        ('<do name="f" args="{}"/>', None, ["{}"], False),
        ('<do name="f" args="{&#34;q&#34;: &#34;a &am', None, ['{"q": "a &am"}'], True),
        ('<do name="f" args="{&#34;q&#34;: 1}x"/>', "x", ['{"q": 1}'], True),
        ('<do name="f" args="so"/>', "so", ["{}"], True),
    ],
)
def test_arguments_that_are_escaped_as_a_whole(
    output: str, content: str | None, arguments: list[str], incomplete: bool
) -> None:
    parser = load_module(generate(learned("object-e"), "python"))
    message = parser.parse(output)
    assert message["content"] == content
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == arguments
    for chunks in (list(output), [output[at : at + 7] for at in range(0, len(output), 7)]):
        stream = parser.StreamParser()
        deltas = [delta for chunk in chunks for delta in stream.feed(chunk)] + stream.finish()
        assert stream.message == message
        assert stream.incomplete == incomplete
        assert "".join(delta.get("content", "") for delta in deltas) == (content or "")


CALL = '{"name": "f", "arguments": {"q": "a \\"b\\""}}'


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"content": "Hi", "tool_calls": []}<eot>', (None, "Hi", [])),
        ('{"content": "", "tool_calls": [' + CALL + "]}<eot>", (None, None, ["f"])),
        ('{"content": "Hi", "tool_calls": [' + CALL + ", " + CALL + "]}<eot>", (None, "Hi", ["f", "f"])),
        ('{"content": "Hi", "tool_calls": [' + CALL, (None, "Hi", ["f"])),
        ('{"content": "Hi", "tool_calls": [', (None, "Hi", [])),
        ('{"content": "Hi \\"', (None, 'Hi "', [])),
        ('{"content": "\\", \\"tool_calls\\": []}", "tool_calls": []}', (None, '", "tool_calls": []}', [])),
        ("Hi there<eot>", (None, "Hi there", [])),
    ],
)
def test_a_turn_that_is_one_json_object(output: str, expected: tuple[str | None, str | None, list[str]]) -> None:
    assert read("turn-as-json", output) == expected


@pytest.mark.parametrize("content", ["Hi", '", "tool_calls": [' + CALL + "]}"])
def test_calls_in_a_json_turn_are_read_without_tools(content: str) -> None:
    name = "turn-as-json-with-thought"
    message = {"content": content, "tool_calls": [{"function": {"name": "f", "arguments": {"q": 1}}}]}
    thought = write_message(learned(name), {**message, "reasoning_content": "So"}).removeprefix("<|bot|>")
    assert read(name, thought) == ("So", content, ["f"])


AUTHORED = FOLDER.parent / "authored"
NAMED = "<invoke>\n<name>f</name>\n<with>\n<name>Como</name>\n<limit>3</limit>\n</with>\n</invoke>"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("name", "output", "arguments"),
    [
        ("xml-raw-children", NAMED + "</turn>", {"name": "Como", "limit": 3}),
        ("values-quoted-unless-str", "(*do f*)a: x (*eot*) y\nb: 2\n(*od*)(*eot*)", {"a": "x (*eot*) y", "b": 2}),
        ("values-quoted-unless-str", "(*do f*)a: x(*eot*)", {"a": "x"}),
        ("join-list", '<;f a="x"; b=2;><;end;>', {"a": "x", "b": 2}),
        ("join-list", "<;f ;><;end;>", {}),
        ("table", '\n| tool | arguments |\n|---|---|\n| f | {"a": 1} |\n<|done|>', {"a": 1}),
    ],
)
def test_arguments_between_markers_of_ordinary_text(name: str, output: str, arguments: dict[str, object]) -> None:
    ir = compile_template((AUTHORED / f"{name}.jinja").read_text("utf-8"), name=name, special_tokens=TOKENS)
    reader = EveryReader(ir)
    message = reader.parse(output)
    assert reader.differ == []
    assert [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]] == [arguments]


@pytest.mark.parametrize("called", ["ns:g", "ns/g", "ns/g:h", "a.b:c"])
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("values-urlencode", "<do f?a=x%20y><do {}?b=2><eot>"),
        ("rows-between-bars", '<|t|>\nf|a|"x"\n{}|b|2\n<|/t|>'),
    ],
)
def test_any_name_ends_the_value_before_it(name: str, output: str, called: str) -> None:
    assert read(name, output.format(called)) == (None, None, ["f", called])


JSON_LINE = '{"call": "f", "with": {}}'


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", ["a\n", "a\n\n", "a \n", "a\n \n"])
@pytest.mark.parametrize(
    ("path", "output", "part"),
    [
        ("authored/calls-of-json-lines", f"{{}}\n{JSON_LINE}<|x|>", "content"),
        ("invertible/calls-after-a-space", " {} <f {{}}><eos~>\n", "content"),
        ("authored/parts-with-role-suffix", "\n{}<|e|>\n", "content"),
        ("authored/mixed-sections", "<|sec:thinking|>\n{}\n<|stop|>", "reasoning_content"),
    ],
)
def test_white_space_that_the_template_does_not_write_is_text(path: str, output: str, part: str, text: str) -> None:
    ir = compile_template((FOLDER.parent / f"{path}.jinja").read_text("utf-8"), name=path, special_tokens=TOKENS)
    reader = EveryReader(ir)
    message = reader.parse(output.replace("{}", text, 1).replace("{{}}", "{}"))
    assert reader.differ == []
    assert message[part] == text


@pytest.mark.parametrize(
    ("written", "types", "expected"),
    [
        ("1 &lt; 2</p></do><eot>", None, "1 < 2"),
        ("[&lt;]</p></do><eot>", None, "[<]"),
        ('{"x": "&lt;"}</p></do><eot>', None, {"x": "&lt;"}),
        ('{"x": "&lt;"}</p></do><eot>', "object", {"x": "&lt;"}),
        ("{&#34;x&#34;: 1}</p></do><eot>", "string", '{"x": 1}'),
        ("12</p></do><eot>", "string", "12"),
        ("a &lt; &am</p></do><eot>", "string", "a < &am"),
        ("a &lt; &am", None, "a < &am"),
        ("&am", "string", "&am"),
        ("&amp;</p></do><eot>", "integer", "&"),
    ],
)
def test_only_strings_are_unescaped(written: str, types: str | None, expected: object) -> None:
    parameters = {"type": "object", "properties": {"a": {"type": types}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}] if types else None
    reader = EveryReader(learned("strings-html"))
    message = reader.parse(f"<do f><p=a>{written}", tools=tools)
    assert reader.differ == []
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"a": expected}
