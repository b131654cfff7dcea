"""Rendered conversations read back into messages."""

from __future__ import annotations

import pytest

from tests.conversations.battery import EXAMPLES, conversations, example
from tplc.conversations.parse import parse_conversation
from tplc.errors import TplcError, Undecided, UnsupportedTemplate

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_messages_and_a_prompt() -> None:
    found = parse_conversation(CHAT, "<|system|>Be kind.<end>\n<|user|>Hi\n<end>\n<|assistant|>")
    assert found.messages == ({"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi\n"})
    assert found.prompted
    assert found.ambiguous == ()


def test_a_text_that_holds_a_marker_is_reported() -> None:
    found = parse_conversation(CHAT, "<|user|>Say <end> now<end>\n<|assistant|>No.<end>\n")
    assert [message["content"] for message in found.messages] == ["Say <end> now", "No."]
    assert found.ambiguous == (0,)


def test_what_is_no_conversation() -> None:
    with pytest.raises(Undecided, match="no message is delimited at character 0: 'Hello'"):
        parse_conversation(CHAT, "Hello")
    with pytest.raises(UnsupportedTemplate, match="nothing shows where the text of a user ends"):
        parse_conversation("{% for m in messages %}{{ m.content }}{% endfor %}", "ab")


@pytest.mark.sweep(17)
@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_read_renders_to_the_text(name: str) -> None:
    template = example(name)
    read = 0
    for one in conversations(name)[:12]:
        text = template.render(one.messages, tools=one.tools or None)
        try:
            found = parse_conversation(template, text, tools=one.tools or None)
        except TplcError:
            continue
        read += 1
        assert template.render(found.messages, tools=one.tools or None) == text
    assert read or name in UNREAD


# Templates that don't delimit what users say, or write it in another place than their own.
UNREAD: tuple[str, ...] = ()
