"""Reading requests: an error names the member."""

from __future__ import annotations

from typing import Any

import pytest

from tplc.errors import RequestError
from tplc.serving import ChatRequest, read_request

USER = {"role": "user", "content": "Hello."}
LOOK = {"type": "function", "function": {"name": "look"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def message_of(body: Any) -> str:
    with pytest.raises(RequestError) as caught:
        read_request(body)
    assert caught.value.exit_code == 2
    return str(caught.value).removeprefix("request: ")


def test_least() -> None:
    assert read_request({"model": "m", "messages": [USER]}) == ChatRequest(messages=(USER,))


def test_everything() -> None:
    body = {
        "messages": [USER],
        "tools": [LOOK],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "parallel_tool_calls": False,
        "chat_template_kwargs": {"deliberate": False},
        "stop": "STOP",
        "temperature": 0,
    }
    assert read_request(body) == ChatRequest(
        messages=(USER,),
        tools=(LOOK,),
        tool_choice="look",
        parallel_tool_calls=False,
        variables=(("deliberate", False),),
        stop=("STOP",),
    )


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"response_format": {"type": "text"}}, None),
        ({"response_format": {"type": "json_object"}}, {"type": "object"}),
        ({"response_format": {"type": "json_object", "schema": SCHEMA}}, SCHEMA),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}}, SCHEMA),
        ({"json_schema": SCHEMA}, SCHEMA),
        ({"response_format": {"type": "text"}, "json_schema": SCHEMA}, SCHEMA),
    ],
)
def test_response_formats(given: dict[str, Any], schema: Any) -> None:
    assert read_request({"messages": [USER], **given}).json_schema == schema


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ({"messages": []}, 'messages: expected a list of {"role": …, "content": …}, not empty, got []'),
        ({"messages": None}, 'messages: expected a list of {"role": …, "content": …}, not empty, got nothing'),
        ({"messages": 3}, 'messages: expected a list of {"role": …, "content": …}, not empty, got 3'),
        (
            {"messages": {"role": "user", "content": "It is a long text that somebody wrote."}},
            'messages: expected a list of {"role": …, "content": …}, not empty, '
            'got {"role": "user", "content": "It is a lo…',
        ),
        ({"messages": "Hello."}, 'messages: expected a list of {"role": …, "content": …}, not empty, got "Hello."'),
        (
            {"messages": ["Hello."]},
            'messages[0]: expected an object such as {"role": "user", "content": …}, got "Hello."',
        ),
        ({"messages": [USER, {"content": "x"}]}, "messages[1].role: expected a role such as user, got nothing"),
        (
            {"messages": [{"role": "user", "content": 3}]},
            "messages[0].content: expected text, null, or a list of content parts, got 3",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": {}}]},
            "messages[0].tool_calls: expected a list, got {}",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]},
            'messages[0].tool_calls[0]: expected a function with a name, got {"id": "1"}',
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "look", "arguments": [3]}}]}]},
            "messages[0].tool_calls[0].function.arguments: expected an object, or the text of one, got [3]",
        ),
        ({"tools": {}}, "tools: expected a list, got {}"),
        ({"tools": [LOOK, 3]}, 'tools[1]: expected {"type": "function", "function": {"name": …}}, got 3'),
        (
            {"tools": [{"name": "look", "parameters": {}}]},
            'tools[0]: expected {"type": "function", "function": {"name": …}}, got {"name": "look", "parameters": {}}',
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "look", "parameters": 3}}]},
            "tools[0].function.parameters: expected a JSON schema, got 3",
        ),
        ({"tools": [LOOK, LOOK]}, "tools[1]: the name 'look' is taken by an earlier tool"),
        ({"tool_choice": "required"}, "tool_choice: tools are required, and there are none"),
        (
            {"tools": [LOOK], "tool_choice": "any"},
            'tool_choice: expected auto, none, required, or {"type": "function", "function": {"name": …}}, got "any"',
        ),
        (
            {"tools": [LOOK], "tool_choice": {"type": "function", "function": {"name": "see"}}},
            "tool_choice: there is no tool 'see'; there are: look",
        ),
        ({"parallel_tool_calls": "yes"}, 'parallel_tool_calls: expected true or false, got "yes"'),
        (
            {"response_format": {"type": "xml"}},
            'response_format.type: expected text, json_object or json_schema, got "xml"',
        ),
        (
            {"response_format": "json"},
            'response_format: expected an object such as {"type": "json_object"}, got "json"',
        ),
        (
            {"response_format": {"type": "json_schema"}},
            "response_format.json_schema.schema: expected a JSON schema, got nothing",
        ),
        ({"json_schema": "object"}, 'json_schema: expected a JSON schema, got "object"'),
        (
            {"json_schema": SCHEMA, "response_format": {"type": "json_object"}},
            "json_schema: excludes response_format; give one of them",
        ),
        ({"grammar": 'root ::= "a"', "json_schema": SCHEMA}, "grammar: a grammar and a JSON schema exclude each other"),
        (
            {"grammar": 'root ::= "a"', "tools": [LOOK]},
            "grammar: a grammar and tools exclude each other: calls have a grammar of their own",
        ),
        (
            {"json_schema": SCHEMA, "tools": [LOOK], "tool_choice": "required"},
            "response_format: excludes required tools: the answer is one or the other",
        ),
        ({"grammar": 3}, "grammar: expected text, got 3"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs: expected an object, got []"),
        ({"chat_template_kwargs": {"tools": []}}, "chat_template_kwargs.tools: give tools in the request itself"),
        ({"stop": 3}, "stop: expected text, or a list of texts, got 3"),
        ({"stop": {}}, "stop: expected text, or a list of texts, got {}"),
        ({"stop": 0}, "stop: expected text, or a list of texts, got 0"),
        (
            {"continue_final_message": True, "add_generation_prompt": True},
            "continue_final_message: excludes add_generation_prompt: no new turn begins",
        ),
        ({"continue_final_message": True}, "continue_final_message: the last message has to be the assistant's"),
        (
            {
                "messages": [USER, {"role": "assistant", "content": "{"}],
                "continue_final_message": True,
                "json_schema": SCHEMA,
            },
            "continue_final_message: a grammar is for whole answers: none can continue a message",
        ),
        (
            {
                "messages": [USER, {"role": "assistant", "content": "", "tool_calls": [LOOK]}],
                "continue_final_message": True,
            },
            "continue_final_message: a message with tool calls cannot be continued",
        ),
    ],
)
def test_what_is_wrong(given: dict[str, Any], reported: str) -> None:
    assert message_of({"messages": [USER], **given}) == reported


def test_no_object() -> None:
    assert message_of([USER]) == 'expected an object with messages, got [{"role": "user", "content": "Hello."}]'


def test_a_grammar_with_tools_that_must_not_be_called() -> None:
    request = read_request({"messages": [USER], "grammar": 'root ::= "a"', "tools": [LOOK], "tool_choice": "none"})
    assert (request.grammar, request.tool_choice) == ('root ::= "a"', "none")
