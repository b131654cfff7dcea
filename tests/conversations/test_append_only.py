"""Whether templates only append, and variants that do."""

from __future__ import annotations

import pytest

from tplc.conversations import ConversationTemplate
from tplc.conversations.append_only import AppendOnly, append_only, append_only_template, report_lines, to_json
from tplc.errors import UnsupportedTemplate

DROPPING = (
    "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content and loop.last %}<why>"
    "{{ m.reasoning_content }}</why>{% endif %}{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
STRIPPING = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ '' if loop.last else '~' }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def verdict(source: str) -> AppendOnly:
    with ConversationTemplate(source) as template:
        return append_only(template)


def test_a_template_that_only_appends() -> None:
    found = verdict(DROPPING.replace(" and loop.last", ""))
    assert found.holds
    assert list(report_lines(found)) == [("text", "append-only"), ("reasoning", "append-only")]


def test_the_first_difference() -> None:
    found = verdict(DROPPING)
    assert not found.holds
    assert dict(report_lines(found)) == {
        "text": "append-only",
        "reasoning": "not append-only: messages[1] is written differently once a message follows: "
        "'<why>They want to know.</why>Fine.<end>' becomes 'Fine.<end><user>Why?<end><assistant>' "
        "(in: reasoning in the first turn only)",
    }
    assert to_json(found)["reasoning"]["after"] == "Fine.<end><user>Why?<end><assistant>"  # type: ignore[index,call-overload]


def test_a_variant_that_only_appends() -> None:
    with ConversationTemplate(DROPPING) as template:
        made = append_only_template(template)
    assert made.changes == ("line 1: loop.last is true",)
    assert made.text == DROPPING.replace("and loop.last", "and true")
    assert verdict(made.text).holds


def test_a_condition_within_an_expression() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>"
        "{{ ('<why>' ~ m.reasoning_content ~ '</why>' "
        "if m.reasoning_content and loop.index0 > messages | length - 3) }}"
        "{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    with ConversationTemplate(source) as template:
        made = append_only_template(template)
    assert made.changes == ("line 1: loop.index0 > messages | length - 3 is true",)
    assert verdict(made.text).holds


def test_a_template_that_only_appends_is_its_own_variant() -> None:
    source = DROPPING.replace(" and loop.last", "")
    with ConversationTemplate(source) as template:
        made = append_only_template(template)
    assert (made.text, made.changes) == (source, ())


def test_no_condition_helps() -> None:
    with ConversationTemplate(STRIPPING) as template, pytest.raises(UnsupportedTemplate) as caught:
        append_only_template(template)
    assert str(caught.value) == (
        "template: no change of its conditions makes it append-only: '<end><assistant>' becomes "
        "'~<end><assistant>It is fine.~<end><user>And then?<end><assis' (in: two turns)"
    )
