"""Variables without which a template renders nothing: the values that the template compares them with are tried."""

from __future__ import annotations

import pytest

from tplc.driver import learn_format, open_renderer
from tplc.errors import NotLearned
from tplc.ir.nodes import Json, TemplateIR

_LOOP = (
    "{%- for m in messages %}{{- '[' + m.role + ']' + m.content + '[end]' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}"
)
_REFUSES = " %}{{- raise_exception('set it') }}{%- endif %}"
# Conditions of a refusal, and the variables that are learned.
_HEADS: dict[str, dict[str, Json]] = {
    "{%- if policy == 'strict' or not policy": {"policy": "2025-01-02"},
    "{%- if policy != 'lenient'": {"policy": "lenient"},
    "{%- if 'lenient' != policy": {"policy": "lenient"},
    "{%- if policy not in ['lenient', 'strict']": {"policy": "lenient"},
    "{%- if not (policy in ('lenient', 'strict'))": {"policy": "lenient"},
    "{%- if policy not in {'lenient': 1, 'strict': 2}": {"policy": "lenient"},
    "{%- set known = ['lenient', 'strict'] %}{%- if policy not in known": {"policy": "lenient"},
    "{%- set known = {'lenient': 1} %}{%- if policy not in known": {"policy": "lenient"},
    "{%- if policy != 'lenient' and policy != 'strict'": {"policy": "lenient"},
    "{%- if policy | lower != 'lenient'": {"policy": "lenient"},
    "{%- if policy.strip() != 'lenient'": {"policy": "lenient"},
    "{%- set chosen = policy | lower %}{%- if chosen != 'lenient'": {"policy": "lenient"},
    "{%- if policy is ne 'lenient'": {"policy": "lenient"},
    "{%- if policy is not in ['lenient']": {"policy": "lenient"},
    "{%- if version < 3 or version > 7 or version is string": {"version": 3},
    "{%- if policy != 'lenient' or mode not in ('a', 'b')": {"mode": "a", "policy": "lenient"},
    "{%- if mode == 'a' or policy != 'lenient'": {"policy": "lenient"},
    "{%- if policy != 'lenient' or not date": {"date": "2025-01-02", "policy": "lenient"},
    "{%- if policy != 'lenient' or messages[0].role != 'system'": {"policy": "lenient"},
}


def _learned(source: str) -> TemplateIR:
    with open_renderer(source, name="chat.jinja") as renderer:
        return learn_format(renderer, name="chat.jinja", source_text=source)


@pytest.mark.parametrize("head", _HEADS)
def test_a_value_from_a_comparison_is_found(head: str) -> None:
    [prompt] = _learned(head + _REFUSES + _LOOP).turn.prompts
    assert (dict(prompt.context), prompt.text) == (_HEADS[head], "[assistant]")


_UNREADABLE = {
    "m.content | upper": "the user's message is not in the render as it was given: the template writes capital letters",
    "m.content | lower": "",
    "m.content | title": "the user's message is not in the render as it was given: the template writes words with "
    "capital letters",
    "m.content | reverse": "the user's message is not in the render as it was given: the template reverses the text",
    "m.content | truncate(6, true, '', 0)": "the user's message is not in the render as it was given: the template "
    "writes only the beginning",
    "'words'": "the user's message is not in the render",
}


@pytest.mark.parametrize("change", _UNREADABLE)
def test_what_a_template_does_to_the_users_text_is_named(change: str) -> None:
    source = _LOOP.replace("m.content", f"({change})")
    if not _UNREADABLE[change]:  # what is learned with has no capital letters
        assert _learned(source).turn.ends == ("[end]",)
        return
    with pytest.raises(NotLearned) as refused:
        _learned(source)
    start = "chat.jinja: none of the conversations that were tried renders the assistant's text"
    assert str(refused.value) == f"{start}: {_UNREADABLE[change]}"


def test_what_a_template_does_to_the_assistants_text_is_named() -> None:
    with pytest.raises(NotLearned) as refused:
        _learned(_LOOP.replace("m.content", "(m.content | upper if m.role == 'assistant' else m.content)"))
    assert str(refused.value) == (
        "chat.jinja: none of the conversations that were tried renders the assistant's text: the assistant's message "
        "is not in the render as it was given: the template writes capital letters"
    )
