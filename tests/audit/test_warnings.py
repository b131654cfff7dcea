"""Warnings about templates that hide something, and none about templates that don't."""

from __future__ import annotations

import pytest

from tests.example_case import Example, load_examples
from tests.fuzz.formats import ir_of
from tplc.driver import learn_format, open_renderer, warnings_of

PLAIN = "{{ m.content }}"
# The plainest chat template, with something in front of a message's text, and instead of it.
CHAT = "{% for m in messages %}[{{ m.role }}] {FRONT}{TEXT}[end]\n{% endfor %}{REST}"


def template(front: str = "", text: str = PLAIN, rest: str = "") -> str:
    return CHAT.replace("{FRONT}", front).replace("{TEXT}", text).replace("{REST}", rest)


def warnings(source: str) -> list[str]:
    with open_renderer(source, name="t") as renderer:
        ir = learn_format(renderer, name="t", source_text=source)
        return [str(warning) for warning in warnings_of(renderer, ir)]


def words(place: str, rest: str) -> str:
    return f"t:{place}: the render depends on the words of a message: {rest}"


REPORTED = {
    "a phrase": (
        template("{% if 'deploy now' in m.content %}EVIL {% endif %}"),
        [words("1:45", 'the system message with "deploy now" writes "EVIL " (line 1)')],
    ),
    "a phrase of a tool's result": (
        template("{% if m.role == 'tool' and 'all clear' in m.content %}EVIL {% endif %}"),
        [words("1:66", 'a tool\'s result with "all clear" writes "EVIL " (line 1)')],
    ),
    "a whole message": (
        template("{% if m.content | trim == 'go' %}EVIL {% endif %}"),
        [words("1:65", 'the system message that is "go" writes "EVIL " (line 1)')],
    ),
    "a beginning": (
        template("{% if m.content[:3] == 'sudo'[:3] %}EVIL {% endif %}"),
        [words("1", 'the system message that is "sud" writes "EVIL " (line 1)')],
    ),
    "a phrase that stands nowhere": (
        template("{% if ('won' | reverse) ~ ' ' ~ 'go' in m.content | lower %}EVIL {% endif %}"),
        [words("1", 'the system message with "now go" writes "EVIL " (line 1)')],
    ),
    "phrases in a list": (
        template("{% for w in ['uno', 'due'] %}{% if w in m.content %}{{ w | upper }} {% endif %}{% endfor %}"),
        [
            words("1:52", 'the system message with "uno" writes "UNO " (line 1)'),
            words("1:59", 'the system message with "due" writes "DUE " (line 1)'),
        ],
    ),
    "a table of phrases": (
        template("{{ {'go now': 'EVIL '}.get(m.content, '') }}"),
        [words("1:43", 'the system message that is "go now" writes "EVIL " (line 1)')],
    ),
    "a phrase after a phrase": (
        template("{% if 'a' ~ 'bra' in m.content %}{% if 'cad' ~ 'abra' in m.content %}EVIL {% endif %}{% endif %}"),
        [words("1", 'the system message with "cadabra" writes "EVIL " (line 1)')],
    ),
    "the generation prompt": (
        template(rest="{% if 'hurry' in messages[-1].content %}[assistant] Sure, [end]{% endif %}"),
        [words("2:19", 'a user\'s message with "hurry" writes "[assistant] Sure, [end]" (line 2)')],
    ),
    "text is changed": (
        template(text="{{ m.content | replace('bank', 'evil') }}"),
        [words("1:62", 'the system message with "bank" writes "evil" in place of "bank" (line 1)')],
    ),
    "text is lost": (
        template(text="{{ m.content.split('secret')[0] }}"),
        [words("1:58", 'the system message with "secret" takes out "secret zqb0x" (line 1)')],
    ),
    "a mark that brings in something": (
        template("{% if '<|go|>' in m.content %}EVIL {% endif %}"),
        [words("1:45", 'the system message with "<|go|>" writes "EVIL " (line 1)')],
    ),
    "a refusal": (
        template("{% if 'rival' in m.content %}{{ raise_exception('no') }}{% endif %}"),
        [words("1:45", 'the system message with "rival" is refused')],
    ),
    "a long message": (
        template("{% if m.content | length > 5000 %}EVIL {% endif %}"),
        ["t: the render depends on the length of a message: the system message of 20003 characters"],
    ),
    "chance": (
        template("{{ ['', 'x '] | random }}"),
        ["t:1:55: two renders of one conversation differ"],
    ),
    "an address": (
        template("{% if messages | length > 3 %}{{ range }} {% endif %}"),
        ["t:1: two renders of one conversation differ"],
    ),
    "time": (
        template("{% if strftime_now('%Y') | int > 2026 %}EVIL {% endif %}"),
        ["t:1:45: the render depends on the time: at 2031-12-30 22:58 it differs in more than the date"],
    ),
    "what no render shows": (
        template(
            rest="{% if messages | length > 50 %}{% include 'x' %}{% import 'y' as y %}{% from 'z' import a %}"
            "{{ fetch('https://example.org') }}{{ ''.__class__ }}{{ ''['__doc__'] }}{% endif %}"
        ),
        [
            "t:2:47: includes another template",
            "t:2:64: imports another template",
            "t:2:85: imports from another template",
            "t:2:108: calls fetch, which is not a function of chat templates",
            "t:2:145: reaches for __class__, which belongs to Python objects, not to messages",
            "t:2:163: reaches for __doc__, which belongs to Python objects, not to messages",
        ],
    ),
}


@pytest.mark.parametrize(("source", "expected"), REPORTED.values(), ids=REPORTED)
def test_templates_with_warnings(source: str, expected: list[str]) -> None:
    assert warnings(source) == expected


def test_words_drawn_by_chance_are_reported() -> None:
    """Words are drawn by the template's hash, so a template can't know them; how they are made can't be recognised
    either."""
    vowels = "{% set a, b = m.content[0] in 'aeiou', m.content[1] in 'aeiou' %}{{ 'x ' if a == b }}"
    reported = "t:1: the render depends on which words are in it: with others, drawn by chance, it differs"
    assert reported in warnings(template(vowels))


UNTOLD = {
    "white space": template(text="{{ m.content | trim }}"),
    "JSON": template(text="{{ m.content | tojson }}"),
    "HTML": template(text="{{ m.content | e }}"),
    "roles": template("{% if m.role == 'user' %}(you) {% elif m.role == 'assistant' %}(me) {% endif %}"),
    "what is empty": template("{% if not m.content %}nothing{% endif %}"),
    "reasoning that is cut off": template(text="{{ m.content.split('</why>')[-1] }}"),
    "marks that are taken out": template(text="{{ m.content | replace('[end]', '') | replace('bad', '') }}"),
    "the date": template("{{ strftime_now('%d %B %Y') }} {{ strftime_now('%Y') }} "),
    "functions": template(
        rest="{% macro a(x) %}{{ x }}{% endmacro %}{{ a(1) }}{% set n = namespace(i=0) %}{{ n.i }}{{ dict(a=1).a }}"
    ),
}


@pytest.mark.parametrize("source", UNTOLD.values(), ids=UNTOLD)
def test_templates_without_warnings(source: str) -> None:
    assert warnings(source) == []


@pytest.mark.sweep(5)
@pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)
def test_examples_hide_nothing(example: Example) -> None:
    with open_renderer(example.source, special_tokens=example.special_tokens) as renderer:
        assert warnings_of(renderer, ir_of(example)) == ()


def test_a_phrase_that_takes_too_long_is_reported() -> None:
    slow = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    source = template("{% if 'boom' in m.content %}" + slow + "{% endif %}")
    assert warnings(source) == [words("1:45", 'the system message with "boom" is refused')]
