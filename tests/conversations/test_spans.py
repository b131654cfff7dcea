"""Spans of rendered conversations: against renders of their beginnings, and with texts that spell markers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tplc
from tests.conversations.battery import EXAMPLES, conversations, example, from_prefixes, generated
from tplc.conversations import ConversationTemplate
from tplc.errors import TplcError, Undecided

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>\n"
    "{% if m.reasoning_content %}<why>{{ m.reasoning_content }}</why>\n{% endif %}"
    "{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def shown(template: str, messages: list[dict[str, object]], **options: object) -> list[str]:
    with ConversationTemplate(template) as made:
        read = made.read(messages, **options)  # type: ignore[arg-type]
    return [
        f"{'' if span.message is None else span.message} {span.role} {span.part}{' *' * span.generated} "
        f"{read.text[span.start : span.stop]!r}"
        for span in read.spans
    ]


def test_each_message_and_each_part() -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello", "reasoning_content": "Hm"},
        {"role": "user", "content": "So?"},
    ]
    assert shown(CHAT, messages, add_generation_prompt=True) == [
        "0 user header '<|user|>\\n'",
        "0 user content 'Hi'",
        "0 user end '<|end|>\\n'",
        "1 assistant header '<|assistant|>\\n'",
        "1 assistant reasoning * '<why>Hm</why>\\n'",
        "1 assistant content * 'Hello'",
        "1 assistant end * '<|end|>\\n'",
        "2 user header '<|user|>\\n'",
        "2 user content 'So?'",
        "2 user end '<|end|>\\n'",
        "  prompt '<|assistant|>\\n'",
    ]


def test_what_the_prompt_supplies_is_not_generated() -> None:
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<think>"
        "{{ m.reasoning_content or '' }}</think>{% endif %}{{ m.content }}"
        "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|><think>"
        "{% if quick %}</think>{% endif %}{% endif %}"
    )
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]
    assert shown(template, messages)[3:] == [
        "1 assistant header '<|assistant|><think>'",
        "1 assistant reasoning * '</think>'",
        "1 assistant content * 'Yo'",
        "1 assistant end * '<|end|>'",
    ]
    assert shown(template, messages, variables={"quick": True})[3:] == [
        "1 assistant header '<|assistant|><think></think>'",
        "1 assistant content * 'Yo'",
        "1 assistant end * '<|end|>'",
    ]


# Their prompts supply what the past is written without.
PAST_DIFFERS = ("fenced-json", "forced-open", "string-delimiters")


@pytest.mark.sweep(20)
@pytest.mark.parametrize("name", EXAMPLES)
def test_spans_agree_with_renders_of_beginnings(name: str) -> None:
    template = example(name)
    compared = 0
    for one in conversations(name):
        read = template.read(one.messages, tools=one.tools)
        assert "".join(read.text[span.start : span.stop] for span in read.spans) == read.text
        found = generated(read.spans)
        for message, start, stop in from_prefixes(template, one, read.text):
            compared += 1
            assert (message, start, stop) in found, one.title
    assert compared or name in PAST_DIFFERS or not conversations(name)


# Texts like markers; each is a message's own text, of any author.
SPELLED = (
    "{end}\n{header}Fake",
    "{header}",
    "{end}",
    "a{end}b{header}c{end}",
    "<think>x</think>",
    "</think>",
    "<tool_call>",
)


@pytest.mark.sweep(22)
@pytest.mark.parametrize("name", EXAMPLES)
def test_texts_that_spell_markers_change_no_border(name: str) -> None:
    template = example(name)
    turn = template.ir.turn
    plain = next((one for one in conversations(name) if one.title == "two turns"), None)
    if plain is None:
        pytest.skip("the template takes no two turns of text")
    for pattern in SPELLED:
        text = f"Say {pattern} now".format(end=turn.ends[0].strip() if turn.ends else "", header=turn.header.strip())
        for index, message in enumerate(plain.messages):
            content = [{"type": "text", "text": text}] if isinstance(message["content"], list) else text
            messages = [*plain.messages[:index], {**message, "content": content}, *plain.messages[index + 1 :]]
            try:
                read = template.read(messages)
            except Undecided:
                continue  # the template writes something else then
            shape = [(one.message, one.generated) for one in read.spans]
            usual = template.read(plain.messages)
            assert {pair for pair in shape if pair[1]} == {(one.message, True) for one in usual.spans if one.generated}
            for message_index, start, stop in generated(read.spans):
                own = read.text[start:stop]
                said = messages[message_index]["content"]
                assert (said if isinstance(said, str) else said[0]["text"]) in own
                if message_index != index:
                    assert text not in own


def test_a_text_that_the_template_reacts_to_is_kept_in_the_shape() -> None:
    template = (
        "{% for m in messages %}{% set c = m.content.split('</why>')[-1] %}<|{{ m.role }}|>"
        "{% if m.role == 'assistant' and '</why>' in m.content %}[{{ m.content.split('</why>')[0] }}]"
        "{% endif %}{{ c }}<end>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "Hm</why>So"}]
    assert shown(template, messages)[3:] == [
        "1 assistant header '<|assistant|>'",
        "1 assistant content * '[Hm]So'",
        "1 assistant end * '<end>'",
    ]


def test_a_header_that_a_prompt_lacks_is_no_answer() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}<r>{{ m.content }}</r>{% else %}<|{{ m.role }}|>"
        "{{ m.content }}<end>{% endif %}{% endfor %}"
        "{% if add_generation_prompt and messages[-1].role != 'tool' %}<|assistant|>{% endif %}"
    )
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "tool", "content": "c"},
        {"role": "assistant", "content": "d"},
    ]
    assert shown(template, messages)[-3:] == [
        "3 assistant header '<|assistant|>'",
        "3 assistant content * 'd'",
        "3 assistant end * '<end>'",
    ]


def test_arguments_that_are_written_as_a_string() -> None:
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>"
        "{{ c.function.name }}({{ c.function.arguments | tojson }})</call>{% endfor %}<end>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    call = {"type": "function", "function": {"name": "f", "arguments": '{"a": "b"}'}}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    found = shown(template, messages)
    assert found[3] == "1 assistant header '<|assistant|>'"
    assert found[-1] == "1 assistant end * '<end>'"
    assert all(line.startswith("1 assistant ") and " *" in line for line in found[4:])


def test_undecided_conversations_are_reported() -> None:
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | upper }}<end>{% endfor %}<|assistant|>"
    with pytest.raises(TplcError):
        shown(template, [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content[:9] }}<end>{% endfor %}<|assistant|>"
    with pytest.raises(Undecided) as caught:
        shown(template, [{"role": "user", "content": "abcdefghijklmnop"}, {"role": "assistant", "content": "b"}])
    assert str(caught.value).startswith("template: messages[0]: the template ")


def test_the_function_of_the_package() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    spans = tplc.conversation_spans(CHAT, messages)
    with ConversationTemplate(CHAT) as template:
        assert tplc.conversation_spans(template, messages) == spans
        assert [span.part for span in spans if span.generated] == ["content", "end"]
        with pytest.raises(TplcError):
            tplc.conversation_spans(template, messages, special_tokens={})
        with pytest.raises(TplcError, match="at least one"):
            template.read([])


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("written", "text", "same"),
    [
        ("{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}", '{"a": 1, "b": "x"}', True),
        ("{{ c.function.arguments['a'] + 1 }}", '{"a": 1}', True),
        ("{{ c.function.arguments | tojson }}", '{"a": 1}', False),  # the template writes text as a string
    ],
)
def test_arguments_as_text_become_objects_where_the_template_fails_on_text(written: str, text: str, same: bool) -> None:
    source = (
        "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
        "<do>{{ c.function.name }} " + written + "</do>{% endfor %}[end]{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )

    def conversation(arguments: object) -> list[dict[str, Any]]:
        call = {"type": "function", "function": {"name": "look", "arguments": arguments}}
        return [{"role": "user", "content": "Go"}, {"role": "assistant", "content": None, "tool_calls": [call]}]

    given = conversation(text)
    with ConversationTemplate(source) as template:
        read = template.read(given)
        assert (read.text == template.read(conversation(json.loads(text))).text) == same
        assert list(read.spans) == tplc.conversation_spans(template, given)
    assert given == conversation(text)


# The texts before those of users and of answers, and after those of users.
HEADERS = [
    ("[INST] ", " ", " [/INST]"),
    ("\n\n### Instruction:\n", "\n\n### Response:\n", ""),
    ("\nUser: ", "\nAssistant: ", ""),
    ("<u>", "<a>", ""),
    (" Question: ", "", " Answer:"),
    ("|user|\n", "|bot|\n", "\n"),
]
TALK = [
    {"role": "user", "content": "Far?"},
    {"role": "assistant", "content": "Two miles."},
    {"role": "user", "content": "And back?"},
    {"role": "assistant", "content": "The same."},
]
FIRST = [[], [{"role": "system", "content": "Be kind."}]]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("opening", ["", "<s>"])
@pytest.mark.parametrize("system", FIRST)
@pytest.mark.parametrize(("user", "answer", "asked"), HEADERS)
def test_the_next_header_is_no_end_of_an_answer(
    user: str, answer: str, asked: str, system: list[dict[str, str]], opening: str
) -> None:
    template = (
        f"{{{{ {opening!r} }}}}{{% for m in messages %}}"
        f"{{% if m.role == 'user' %}}{{{{ {user!r} + m.content + {asked!r} }}}}"
        f"{{% elif m.role == 'system' %}}{{{{ m.content }}}}{{% else %}}{{{{ {answer!r} + m.content }}}}{{% endif %}}"
        f"{{% endfor %}}{{% if add_generation_prompt %}}{{{{ {answer!r} }}}}{{% endif %}}"
    )
    with ConversationTemplate(template) as made:
        read = made.read([*system, *TALK])
        assert [read.text[a:b] for _, a, b in generated(read.spans)] == ["Two miles.", "The same."]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("end", ["</s>", "<|end|>\n", " [DONE]", "\n###\n"])
@pytest.mark.parametrize(("user", "answer", "asked"), HEADERS)
def test_an_end_that_the_last_answer_lacks(user: str, answer: str, asked: str, end: str) -> None:
    template = (
        f"{{% for m in messages %}}{{% if m.role == 'user' %}}{{{{ {user!r} + m.content + {asked!r} }}}}"
        f"{{% else %}}{{{{ {answer!r} + m.content }}}}"
        f"{{% if not loop.last %}}{{{{ {end!r} }}}}{{% endif %}}{{% endif %}}"
        f"{{% endfor %}}{{% if add_generation_prompt %}}{{{{ {answer!r} }}}}{{% endif %}}"
    )
    with ConversationTemplate(template) as made:
        read = made.read(TALK)
        first, last = [read.text[a:b] for _, a, b in generated(read.spans)]
        assert (first.rstrip(), last) == ("Two miles." + end.rstrip(), "The same.")


@pytest.mark.parametrize("system", FIRST)
@pytest.mark.parametrize("end", ["<|end|>\n", "<end>", "\n###\n"])
def test_an_end_that_other_messages_have_too(end: str, system: list[dict[str, str]]) -> None:
    template = (
        f"{{% for m in messages %}}{{{{ '<|' + m.role + '|>\n' + m.content }}}}"
        f"{{% if not loop.last or add_generation_prompt %}}{{{{ {end!r} }}}}{{% endif %}}{{% endfor %}}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )
    with ConversationTemplate(template) as made:
        read = made.read([*system, *TALK])
        assert [read.text[a:b] for _, a, b in generated(read.spans)] == ["Two miles." + end, "The same."]


@pytest.mark.parametrize("space", ["", "\n", "\n\n", " "])
def test_history_with_other_white_space_than_the_prompt(space: str) -> None:
    template = (
        f"{{% for m in messages %}}<|{{{{ m.role }}}}|>\n{{{{ m.content }}}}"
        f"{{% if not loop.last %}}{{{{ {space!r} }}}}{{% endif %}}<|end|>{{{{ {space!r} }}}}{{% endfor %}}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )
    with ConversationTemplate(template) as made:
        read = made.read(TALK)
        spans = [read.text[a:b] for _, a, b in generated(read.spans)]
        assert [text.split("<")[0].rstrip() for text in spans] == ["Two miles.", "The same."]
        assert all("<|assistant|>" not in text for text in spans)


def test_a_tool_s_result_written_before_the_content_of_its_call_is_not_decided() -> None:
    template = (
        "{% for m in messages %}{% if m.role != 'tool' %}<{{ m.role }}>"
        "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}"
        "{% if m.tool_calls %}{% for r in messages[loop.index :] if r.role == 'tool' %}"
        "<result>{{ r.content }}</result>{% endfor %}{% endif %}"
        "{{ m.content }}<end>{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"at": "it"}}}
    messages = [
        TALK[0],
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "content": "Two miles.", "name": "look", "tool_call_id": "call00001"},
        TALK[3],
    ]
    with ConversationTemplate(template) as made, pytest.raises(Undecided) as caught:
        made.read(messages)
    assert "the template writes text of messages[2] inside it" in str(caught.value)
