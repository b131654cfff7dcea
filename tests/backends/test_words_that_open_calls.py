"""Words that open calls: no text becomes a call, and a call of a known tool counts in the middle of a line too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.fluent import Case, Engines
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, source_of
from tests.property.report_wild import read_back
from tplc.backends.peg.engine import PegEngine
from tplc.cli.report import verification_rows
from tplc.driver import compile_template, generate, learn_format, open_renderer
from tplc.lower import lower
from tplc.verify.artifact import load_module

TURN = """\
{%- for m in messages %}{%- if m.role == "assistant" %}{{- "<|a|>" + (m.content or "") }}\
{%- if m.tool_calls %}{{- "@OPEN@" }}{%- for c in m.tool_calls %}@CALL@{%- endfor %}{{- "@CLOSE@" }}{%- endif %}\
{{- "<|e|>" }}{%- else %}{{- "<|" + m.role + "|>" + m.content + "<|e|>" }}{%- endif %}{%- endfor %}\
{%- if add_generation_prompt %}{{- "<|a|>" }}{%- endif %}
"""
CALLS = {
    # In a section: what opens it, one call, what closes it.
    "colon": (
        r"<|calls|>\n",
        '{{- "call " + c.function.name + ": " + (c.function.arguments | tojson) + "\\n" }}',
        "<|/calls|>",
    ),
    "lines": (
        "<|calls|>",
        '{{- "call " + c.function.name + ":\\n" }}{%- for k, v in c.function.arguments.items() %}'
        '{{- k + " = " + (v | tojson) + "\\n" }}{%- endfor %}',
        "<|/calls|>",
    ),
    "dotted": (
        "<|calls|>",
        '{{- "tools." + c.function.name + "(" + (c.function.arguments | tojson) + ");" }}',
        "<|/calls|>",
    ),
    # After the content, in no section.
    "bare colon": ("", '{{- "fn:" + c.function.name + " " + (c.function.arguments | tojson) + ";" }}', ""),
    "bare dotted": ("", '{{- "tools." + c.function.name + "(" + (c.function.arguments | tojson) + ");" }}', ""),
    "bare address": (
        "",
        '{{- "@" + c.function.name + "#" + loop.index | string + " " + (c.function.arguments | tojson) }}',
        "",
    ),
    # After a line end, in no section.
    "line bar": (
        r"\n",
        '{{- "|" + c.function.name + "|" }}{%- for k, v in c.function.arguments.items() %}'
        '{{- k + ":" + (v | tojson) + "|" }}{%- endfor %}{{- ".\n" }}',
        "",
    ),
    "line dollar": (r"\n", '{{- "$" + c.function.name + (c.function.arguments | tojson) + "\n" }}', ""),
    "line colon": (r"\n", '{{- "ask " + c.function.name + ": " + (c.function.arguments | tojson) + "\n" }}', ""),
    "line assignment": (
        r"\n",
        '{{- "result = " + c.function.name + "(" }}{%- for k, v in c.function.arguments.items() %}'
        '{{- ", " if not loop.first else "" }}{{- k + "=" + (v | tojson) }}{%- endfor %}{{- ")\n" }}',
        "",
    ),
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}},
    }
    for name in ("look", "look_up")
]
LOOK = [("look", {"q": "a"})]
UP = [("look_up", {"q": "b"})]


@cache
def case(kind: str) -> Case:
    opened, call, closed = CALLS[kind]
    source = TURN.replace("@OPEN@", opened).replace("@CALL@", call).replace("@CLOSE@", closed)
    with open_renderer(source, name=kind) as renderer:
        ir = learn_format(renderer, name=kind, source_text=source)
    return Case(Engines(ir, load_module(generate(ir, "python")), PegEngine(ir)))


ADDRESS = "me@look#1 {}"
# With tools, these are calls with slips where the template writes calls.
WITH_SLIPS = {
    "line bar": "|name|value|\n|-|-|\n|look|Oslo, cold|\n|`f`|{x}|",
    "line dollar": "$x{y}\n$HOME/bin\n$ ls {a,b}\n$look{x} yes",
    "line colon": "ask me: {x}\nask look: yes\nask look: [1, 2]\nask:",
    "line assignment": "result = look\nresult = look(x) + 1\nresult = 1",
    "bare colon": "fn:look {x}\nfn: look {v} now\nfn:look is it.",
    "bare dotted": "tools.f(x)\ntools.look({x});\ntools.look([1]);",
}
TEXTS = [
    "I recall this: {x} yes",
    "I recall this: yes",
    "Don't call us: we call you.",
    "Don't\ncall us: we call you.",
    "I call it:\n x = 1\n",
    "Do so:\ncall look: yes\n",
    "call look: {q: a}\n",
    "call me: {} later\n",
    "Use tools.f({…}); or tools.look({q: 1}); there.",
    "mytools.look({x});",
    "Mail me@home#1 {x}",
    ADDRESS,
    "Ok.fn:look is a name, fn:look",
    "(fn:look)",
    "afn:look {x};",
    "So:\n| a | b |\n|---|---|\n| 1 | 2 |",
    *WITH_SLIPS.values(),
]


@pytest.mark.sweep(74)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", CALLS)
def test_text_stays_text(kind: str, text: str) -> None:
    case(kind).output(text).expect(content=text)
    is_whole = (kind, text) == ("bare address", ADDRESS)  # a call of a known tool: see the next test
    if text != WITH_SLIPS.get(kind) and not is_whole:
        case(kind).output(text).tools(TOOLS).expect(content=text)


def test_an_address_is_a_call_only_if_a_whole_call_of_a_known_tool_follows() -> None:
    of = case("bare address")
    for other in ("me@find#1 {}", "me@look#1 {x}", "me@look#1", "me@look {}"):
        of.output(other).tools(TOOLS).expect(content=other)
    of.output(ADDRESS).tools(TOOLS).expect(content="me", calls=[("look", {}, "@look#1")])
    of.output(ADDRESS).expect(content=ADDRESS)
    of.output(f"Mail {ADDRESS} now").tools(TOOLS).expect(content="Mail me now", calls=[("look", {}, "@look#1")])


WHOLE = {
    "colon": ('call look: {"q": "a"}\n', 'call look_up: {"q": "b"}\n'),
    "lines": ('call look:\nq = "a"\n', 'call look_up:\nq = "b"\n'),
    "dotted": ('tools.look({"q": "a"});', 'tools.look_up({"q": "b"});'),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_without_its_section_a_whole_call_is_one_on_its_line(kind: str) -> None:
    first, second = WHOLE[kind]
    of = case(kind)
    cut = kind == "lines"  # another pair may follow
    of.output(first).expect(calls=LOOK, incomplete=cut)
    of.output(f"So:\n{first}").tools(TOOLS).expect(content="So:\n", calls=LOOK, incomplete=cut)
    of.output(f"<|calls|>{first}{second}<|/calls|>").expect(calls=[*LOOK, *UP])
    of.output(f"So: {first}").tools(TOOLS).expect(content=f"So: {first}")
    of.output(first.replace("look", "find")).tools(TOOLS).expect(content=first.replace("look", "find"))


@pytest.mark.parametrize("before", ["steps:\n    ", "    ", "So\n\t", "\n "])
@pytest.mark.parametrize("kind", WHOLE)
def test_an_indented_line_is_no_call_of_an_unknown_tool(kind: str, before: str) -> None:
    text = before + WHOLE[kind][0]
    case(kind).output(text).expect(content=text)


LINES = {
    "bare colon": 'fn:look {"q": "a"};',
    "bare dotted": 'tools.look({"q": "a"});',
    "bare address": '@look#1 {"q": "a"}',
    "line bar": '|look|q:"a"|.\n',
    "line dollar": '$look{"q": "a"}\n',
    "line colon": 'ask look: {"q": "a"}\n',
    "line assignment": 'result = look(q="a")\n',
}


@pytest.mark.parametrize("kind", LINES)
def test_without_tools_a_call_that_begins_as_written_is_one_where_a_line_begins(kind: str) -> None:
    of, call = case(kind), LINES[kind]
    assert lower(of.engines.ir).calls.opening.begins  # type: ignore[union-attr]
    for before, content in (("", None), ("So:\n", "So:"), ("\n", None)):
        stream = of.engines.parser.StreamParser()
        stream.feed(before + call)
        stream.finish()
        message = stream.message
        found = [json.loads(one["function"]["arguments"]) for one in message["tool_calls"]]
        assert (found, (message["content"] or "").strip()) == ([{"q": "a"}], content or "")
        peg = of.engines.peg.read(before + call)
        assert (dict(peg.message), peg.incomplete) == (message, stream.incomplete)
    # In a line that is indented otherwise, it is text.
    of.output(f"So:\n    {call.strip()}").expect(content=f"So:\n    {call.strip()}")


@pytest.mark.parametrize("kind", LINES)
def test_without_tools_a_cut_call_is_text_or_incomplete(kind: str) -> None:
    parser, call = case(kind).engines.parser, LINES[kind].rstrip("\n")
    for end in range(1, call.rindex('"') + 1):
        stream = parser.StreamParser()
        for char in "So:\n" + call[:end]:
            stream.feed(char)
        stream.finish()
        assert stream.incomplete or not stream.message["tool_calls"], call[:end]


@pytest.mark.parametrize("kind", LINES)
def test_text_streams_as_soon_as_it_begins_no_call(kind: str) -> None:
    """What is held back of a line that begins like a call goes up to the first key."""
    opener = LINES[kind].partition("look")[0]
    stream = case(kind).engines.parser.StreamParser()
    text = f"So:\n{opener}it, which"
    held = "".join(delta.get("content") or "" for char in text for delta in stream.feed(char))
    assert held == text


INLINE = {
    "bare colon": 'fn:look {"q": "a"};',
    "bare dotted": 'tools.look({"q": "a"});',
}


@pytest.mark.parametrize("kind", INLINE)
def test_a_whole_call_of_a_known_tool_is_one_in_a_line(kind: str) -> None:
    of, call = case(kind), INLINE[kind]
    assert lower(of.engines.ir).calls.opening.where == "line start"  # type: ignore[union-attr]
    of.output(f"Ok.{call}").tools(TOOLS).expect(content="Ok.", calls=LOOK)
    of.output(f"Ok.{call}").expect(content=f"Ok.{call}")
    of.output(f"Ok.{call}{call}").tools(TOOLS).expect(content="Ok.", calls=[*LOOK, *LOOK])
    other = call.replace("look", "find")
    of.output(f"Ok. {other} no").tools(TOOLS).expect(content=f"Ok. {other} no")
    of.output(f"Ok{call}").tools(TOOLS).expect(content=f"Ok{call}")
    cut = call[:-3]
    of.output(f"Ok. {cut}").tools(TOOLS).expect(content=f"Ok. {cut}")


@pytest.mark.parametrize("kind", INLINE)
def test_formats_that_need_tools_for_calls_in_lines_verify(kind: str) -> None:
    opened, call, closed = CALLS[kind]
    source = TURN.replace("@OPEN@", opened).replace("@CALL@", call).replace("@CLOSE@", closed)
    ir = compile_template(source, name=kind)
    assert ir.verification.failures == ()
    listed = {one.title: one for one in ir.verification.needs_tools if one.kind == "call read as text"}
    one = listed["content and one call"]
    message = load_module(generate(ir, "python")).parse(one.render)
    assert (message["content"], message["tool_calls"]) == (one.other["content"], [])
    (row,) = [text for label, text in verification_rows(ir.verification) if label == "needs tools"]
    assert row.startswith(
        f"{len(listed)} messages with a call that is read as text if the parser isn't given the tools, "
    )


@pytest.mark.parametrize("kind", INLINE)
def test_text_is_held_back_while_it_may_become_a_known_call(kind: str) -> None:
    call = INLINE[kind]
    name = call.index("look")
    held = {text: _deltas(kind, text) for text in (call[:name] + "lo", call[:name] + "find")}
    assert held == {call[:name] + "lo": "Ok.", call[:name] + "find": f"Ok.{call[:name]}find"}


def _deltas(kind: str, text: str) -> str:
    parser = case(kind).engines.parser.StreamParser(tools=TOOLS)
    deltas: Sequence[dict[str, Any]] = [delta for char in f"Ok.{text}" for delta in parser.feed(char)]
    return "".join(delta.get("content", "") for delta in deltas)


STREAMED = {
    # The name ends with a text that begins like a part of a name.
    "dashes": (
        '{{- "@ do @" + c.function.name + "-- so it begins" + (c.function.arguments | tojson) + "ends --@ no @" }}',
        '@ do @look-- so it begins{"q": "a"}ends --@ no @',
    ),
    # A value without quotes ends with a text that begins like the end of another value.
    "options": (
        '{{- "@ do @" + c.function.name + " " }}{%- for k, v in c.function.arguments.items() %}'
        "{{- '-' ~ k ~ '=' ~ (v if v is string else v | tojson) }}{{- ' ' if not loop.last }}{%- endfor %}"
        '{{- "@ no do @" }}',
        "@ do @look -q=a@ no do @",
    ),
}


@pytest.mark.parametrize("kind", STREAMED)
def test_a_whole_call_in_a_line_is_one_in_any_chunking(kind: str) -> None:
    call, written = STREAMED[kind]
    source = TURN.replace("@OPEN@", "").replace("@CALL@", call).replace("@CLOSE@", "")
    with open_renderer(source, name=kind) as renderer:
        ir = learn_format(renderer, name=kind, source_text=source)
    of = Case(Engines(ir, load_module(generate(ir, "python")), PegEngine(ir)))
    of.output(f"Ok.{written}").tools(TOOLS).expect(content="Ok.", calls=LOOK)
    of.output(f"Ok.{written} no").tools(TOOLS).expect(content="Ok. no", calls=LOOK)


@pytest.mark.sweep(24)
@pytest.mark.parametrize(
    "opener", ["!run ", "$do ", "@@use ", "%call ", ">> go ", "~tool ", "&run ", "::f ", "[[", "[!] ", "!"]
)
@pytest.mark.parametrize("around", [(" <<JSON\\n", "\\nJSON\\n"), ("\\n```json\\n", "\\n```\\n"), (" <<", "  >>\\n")])
def test_no_name_contains_what_opens_its_call(opener: str, around: tuple[str, str]) -> None:
    before, after = around
    call = f"{{{{- '{opener}' ~ c.function.name ~ '{before}' ~ (c.function.arguments | tojson) ~ '{after}' }}}}"
    source = source_of(CONTENT + calls(call))
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    assert read_back(source, ir, readers=True) == ((), ())
