"""Parser, PEG and grammar give one answer to each question about a format.

What an opener means, what a variant stands for, where a turn starts: it is worked out once, in `tplc.lower`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests import ir_small
from tests.backends.parsers import ir_of, parser_for
from tests.example_case import EXAMPLES
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.peg.engine import PegEngine
from tplc.ir.nodes import JSON_STYLE, Dialect, Reasoning, Slot, StringStyle, TemplateIR, Text, Tolerance
from tplc.ir.roles import ROLES, marker_of
from tplc.ir.tolerances import apply_tolerances
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc_runtime.scanner import RESPELLED


def read(ir: TemplateIR, text: str, **options: Any) -> dict[str, Any]:
    """Return the message that parser and PEG agree on."""
    by_parser = dict(parser_for(ir).parse(text, **options))
    assert dict(PegEngine(ir).parse(text, **options)) == by_parser
    return by_parser


def with_variant(ir: TemplateIR, marker: str, text: str) -> TemplateIR:
    return replace(ir, tolerances=(*ir.tolerances, Tolerance("variant", marker=marker, text=text, reason="seen")))


NOTHING: dict[str, Any] = {"role": "assistant", "content": None, "reasoning_content": None, "tool_calls": []}
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": "Let me see.",
    "tool_calls": [{"id": "call_1", "function": {"name": "get_forecast", "arguments": {"city": "Oslo"}}}],
}


@pytest.mark.parametrize("role", ["tools.section_start", "tools.section_end"])
def test_variants_are_given_by_marker_or_by_role(role: str) -> None:
    ir = ir_of("sectioned-ids")
    marker = marker_of(ir, role)
    assert marker
    written = write_message(ir, CALL)
    changed = written.replace(marker, "<~~other~~>")
    assert changed != written
    given = Tolerance("variant", marker=role, text="<~~other~~>", reason="seen")
    formats = [with_variant(ir, role, "<~~other~~>"), with_variant(ir, marker, "<~~other~~>")]
    for each in [*formats, apply_tolerances(ir, [given])]:
        assert read(each, changed) == read(ir, written)
    assert read(ir, changed) != read(ir, written)


def test_roles_are_what_the_format_is_printed_with() -> None:
    for role in ROLES:
        part, name = role.split(".")
        assert hasattr(getattr(ir_of("plain-chat"), part), name)


def named_in_quotes(quote: str) -> TemplateIR:
    """Return a format whose calls are objects with nothing around them."""
    json_style = replace(JSON_STYLE, strings=(StringStyle(quote, quote, "python"),), key_open=quote, key_close=quote)
    head, name_end = f"{{{quote}name{quote}: {quote}", f"{quote}, {quote}arguments{quote}: "
    tools = replace(
        ir_small.JSON_CALLS.tools,
        section_start="",
        separator="\n",
        section_end="",
        call=(Text(head), Slot("name"), Text(name_end), Slot("arguments"), Text("}")),
        dialect=Dialect(json_style, json_style, json_style),
    )
    return replace(ir_small.JSON_CALLS, tools=tools, reasoning=Reasoning(), turn=ir_small.PLAIN.turn, tolerances=())


@pytest.mark.parametrize("quote", ["'", '"'])
def test_openers_that_any_text_may_hold_count_at_line_starts(quote: str) -> None:
    ir = named_in_quotes(quote)
    call = "{'name': 'f', 'arguments': {'a': 1}}".replace("'", quote)
    assert read(ir, f"It writes {call} so.") == {**NOTHING, "content": f"It writes {call} so."}
    message = read(ir, f"See:\n{call}")
    assert [each["function"]["name"] for each in message["tool_calls"]] == ["f"]
    assert message["content"].rstrip() == "See:"
    # With tools, a known name counts inside a line as well, for the parser and for a grammar.
    inside = read(ir, f"It writes {call} so.", tools=[TOOL])
    assert [each["function"]["name"] for each in inside["tool_calls"]] == ["f"]
    found = grammar(ir, tools=[TOOL]).triggers
    assert fires_at(found, f"It writes {call} so.") == len("It writes ")
    assert fires_at(found, f"It writes {call.replace('f', 'g')} so.") is None
    assert fires_at(found, f"See:\n{call}") == len("See:\n")


def test_turns_start_where_reasoning_in_a_variant_is_between_two_headers() -> None:
    ir = ir_of("channels")
    start, end = ir.reasoning.start, ir.reasoning.end
    ir = with_variant(ir, "reasoning.start", "{channel}musing{body}")
    prompt = f"{ir.turn.prompts[0].text}{{channel}}musing{{body}}Hm.{end}{ir.turn.header}"
    options: dict[str, Any] = {"echo": True, "continue_final_message": True}
    usual = read(ir, PLAIN_ANSWER, prompt=prompt.replace("{channel}musing{body}", start), **options)
    assert usual["reasoning_content"] == "Hm."
    assert read(ir, PLAIN_ANSWER, prompt=prompt, **options) == usual


PLAIN_ANSWER = "{channel}reply{body}Yes."


OPENERS = ["array-with-ids", "bare-json", "bare-keyword-calls", "channels", "json-array", "tagged-json"]


@pytest.mark.parametrize("name", OPENERS)
def test_the_grammar_takes_over_where_a_call_is_read(name: str) -> None:
    """A lazy grammar starts where the parser reads a call: after text in the same line, and at the start of a line."""
    ir = ir_of(name)
    form = lower(ir).calls
    assert form is not None
    written = write_message(ir, {**CALL, "content": None})
    head, end = ir.turn.prompts[0].head, next(end for end in ir.turn.ends if written.endswith(end))
    call = written.removeprefix(head).removesuffix(end).strip()
    tool = {**TOOL, "function": {**TOOL["function"], "name": "get_forecast"}}
    found = grammar(ir, tools=[tool]).triggers
    for before in ("It is ", "So:\n"):
        called = bool(read(ir, f"{before}{call}", tools=[tool])["tool_calls"])
        assert called == (fires_at(found, f"{before}{call}") is not None), before
        assert called == (form.opening.where == "anywhere" or before.endswith("\n"))


def test_a_value_that_holds_its_closer_ends_before_a_pair_with_a_type() -> None:
    ir = ir_small.ALL["tagged"]
    text = "<fn f>\n<a is=text>x</> y</>\n<b is=num>1</>\n</fn>\n"
    message = read(ir, text)
    assert [each["function"] for each in message["tool_calls"]] == [
        {"name": "f", "arguments": '{"a": "x</> y", "b": 1}'}
    ]


def test_a_call_with_its_name_after_its_arguments_is_an_object() -> None:
    tools = replace(
        ir_small.JSON_CALLS.tools,
        format="tag_with_json",
        call=(Text('{"args": '), Slot("arguments"), Text(', "name": "'), Slot("name"), Text('"}')),
        json=None,
    )
    ir = replace(ir_small.JSON_CALLS, tools=tools, reasoning=Reasoning(), turn=ir_small.PLAIN.turn)
    message = read(ir, '\n<call>\n{"args": {"a": 1}, "name": "f"}\n</call>')
    assert [each["function"] for each in message["tool_calls"]] == [{"name": "f", "arguments": '{"a": 1}'}]


@pytest.mark.parametrize("marker", ["<fn>", "<fn>\n{"])
def test_variants_of_what_opens_a_call_that_is_an_object(marker: str) -> None:
    ir = ir_of("tagged-json")
    written = write_message(ir, CALL)
    other = with_variant(ir, marker, marker.replace("fn", "Fn"))
    assert read(other, written.replace("<fn>", "<Fn>")) == read(ir, written)
    assert read(ir, written.replace("<fn>", "<Fn>"))["tool_calls"] == []


def test_variants_of_what_ends_a_key() -> None:
    ir = ir_small.ALL["nested"]
    text = "<fn f><a>x</a></fn>"
    changed = with_variant(ir, ">", "~>")
    assert read(changed, text.replace("<a>", "<a~>")) == read(ir, text)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", sorted(path.parent.parent.name for path in EXAMPLES.glob("*/out/ir.json")))
def test_a_turn_that_continues_after_an_end(name: str) -> None:
    """The parser spells the headers of further messages by their parts; they are those of the acceptor."""
    ir = ir_of(name)
    acceptor = lower(ir)
    calls = acceptor.calls
    if calls is None or not calls.opening.openers or calls.opening.where != "anywhere":
        assert acceptor.further == ()
        return
    marks = parser_for(ir).StreamParser.AFTER_TURN
    written = {"".join(core.split()) for _, core, *_ in marks.markers if not core.startswith(RESPELLED)}
    assert written == {"".join(text.split()) for text in (*calls.opening.openers, *acceptor.further)}
