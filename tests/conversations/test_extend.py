"""Prompts that grow message by message."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.conversations.battery import EXAMPLES
from tplc.errors import RequestError, TplcError
from tplc.serving import ChatTemplate

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content and loop.last %}<why>"
    "{{ m.reasoning_content }}</why>{% endif %}{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
USER = {"role": "user", "content": "So?"}
ANSWER = {"role": "assistant", "content": "So."}


def test_only_the_new_text_is_given() -> None:
    with ChatTemplate(CHAT) as template:
        text, state = template.start([USER])
        assert text == "<|user|>So?<end><|assistant|>"
        answered = template.extend(state, ANSWER)
        assert (answered.added, answered.is_whole) == ("So.<end>", False)
        asked = template.extend(answered.state, USER, debug=True)
        assert (asked.added, asked.is_whole) == ("<|user|>So?<end><|assistant|>", False)
        assert asked.state.length == len(text + answered.added + asked.added)


def test_a_past_that_is_written_again() -> None:
    with ChatTemplate(CHAT) as template:
        _, state = template.start([USER])
        answered = template.extend(state, {**ANSWER, "reasoning_content": "Hm"})
        assert (answered.added, answered.is_whole) == ("<why>Hm</why>So.<end>", False)
        asked = template.extend(answered.state, USER)
        assert asked.is_whole
        assert asked.added == "<|user|>So?<end><|assistant|>So.<end><|user|>So?<end><|assistant|>"


def test_a_template_that_counts_is_found_out() -> None:
    source = CHAT.replace("{{ m.content }}", "{{ m.content }}{% if m.role == 'user' %} ({{ loop.index }}){% endif %}")
    with ChatTemplate(source) as template:
        _, state = template.start([USER])
        for message in (ANSWER, USER, ANSWER, USER):
            grown = template.extend(state, message)
            state = grown.state
        assert grown.is_whole


def test_a_difference_is_reported_in_debug_mode() -> None:
    source = CHAT.replace("{{ m.content }}", "{{ m.content }}{% if loop.index > 12 %}!{% endif %}")
    with ChatTemplate(source) as template:
        _, state = template.start([USER])
        with pytest.raises(TplcError, match="message 12 adds something else to the whole conversation than to its end"):
            for number in range(14):
                state = template.extend(state, (ANSWER, USER)[number % 2], debug=True).state


def test_wrong_messages() -> None:
    with ChatTemplate(CHAT) as template:
        _, state = template.start([USER])
        with pytest.raises(RequestError):
            template.extend(state, {"content": "no role"})


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", EXAMPLES[::4])
def test_extended_prompts_are_those_of_whole_renders(name: str) -> None:
    source = (ROOT / "examples" / name / "template.jinja").read_text(encoding="utf-8")
    with ChatTemplate(source, name=name) as template:
        messages = [{**(USER, ANSWER)[at % 2], "content": f"text {at}"} for at in range(9)]
        text, state = template.start(messages[:1])
        for at, message in enumerate(messages[1:], 1):
            grown = template.extend(state, message)
            text = grown.added if grown.is_whole else text + grown.added
            state = grown.state
            assert text == template.start(messages[: at + 1])[0]
            assert state.length == len(text)
