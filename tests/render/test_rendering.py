"""What a template renders: the same as `apply_chat_template`, case by case.

The expected texts were worked out by hand from its rules: trim_blocks, lstrip_blocks, loop controls, the generation
tag, its own tojson, tools and documents always defined.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import amount
from tplc.errors import RenderFailed, TemplateRaised
from tplc.ir.nodes import Json
from tplc.render import Renderer

HI: list[dict[str, Json]] = [{"role": "user", "content": "hi"}]
TALK: list[dict[str, Json]] = [*HI, {"role": "assistant", "content": "yes"}]


def render(source: str, messages: list[dict[str, Json]] = HI, **variables: Json) -> str:
    with Renderer(source) as renderer:
        return renderer.render(messages, **variables)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("a\n  {% if true %}\nb\n  {% endif %}\nc", "a\nb\nc", id="trim_blocks and lstrip_blocks"),
        pytest.param("{% set größe = 'ℌi' %}{{ größe }}{{ ℌ | default('') }}", "ℌi", id="names beyond ASCII"),
        pytest.param("a\n  {{ 1 }}\nb", "a\n  1\nb", id="white space around expressions stays"),
        pytest.param("a \n{%- if true %} b {% endif -%}\n c", "a b c", id="explicit stripping"),
        pytest.param("a\n", "a", id="the last newline goes"),
        pytest.param("a\n\n", "a\n", id="only the last newline goes"),
        pytest.param("{# no #}\nx", "x", id="a comment takes its newline along"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="newlines are normalised"),
        pytest.param(
            "{% for i in range(9) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "012", id="break"
        ),
        pytest.param(
            "{% for i in range(4) %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "023", id="continue"
        ),
        pytest.param("{% generation %}<{{ 1 }}>{% endgeneration %}!", "<1>!", id="generation tag"),
        pytest.param(
            "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}", "21", id="its scope"
        ),
        pytest.param(
            "{% for m in messages %}{% generation %}{{ m.content }}{{ loop.index }}{% endgeneration %}{% endfor %}",
            "hi1",
            id="generation tag in a loop",
        ),
        pytest.param(
            "{{ tools is defined }}{{ tools is none }}{{ documents is none }}", "TrueTrueTrue", id="absent tools"
        ),
        pytest.param("{{ add_generation_prompt }}", "False", id="no generation prompt"),
        pytest.param("[{{ nothing }}][{{ messages[0].nothing }}]", "[][]", id="undefined prints as nothing"),
        pytest.param("{{ bos_token + 'x' + eos_token }}", "x", id="special tokens that were not given are empty"),
        pytest.param("{{ strftime_now('%Y-%m-%d %H:%M:%S %b %A') }}", "2025-08-21 17:43:09 Aug Thursday", id="clock"),
        pytest.param("{{ '<&>' }}{{ messages[0].content ~ '<' }}", "<&>hi<", id="nothing is escaped for HTML"),
        pytest.param("{{ messages.append('x') or messages | length }}", "2", id="lists may change"),
        pytest.param(
            "{{ messages[0].pop('content') }}{{ messages[0] }}", "hi{'role': 'user'}", id="objects may change"
        ),
        pytest.param("{{ '[1, null]' | from_json }}", "[1, None]", id="from_json"),
        pytest.param("{{ 10 ** 3 }} {{ 'ab' * 2 }} {{ [1] * 2 }} {{ 7 % 4 }}", "1000 abab [1, 1] 3", id="operators"),
        pytest.param(
            "{{ range(3) | list }}{{ range(5, 0, -2) | list }}{{ range(0) | list }}", "[0, 1, 2][5, 3, 1][]", id="range"
        ),
        pytest.param(
            "{{ 'é'.encode('utf-8') | length }}{{ {'a': 1} | pprint }}", "2{'a': 1}", id="modules loaded late"
        ),
        pytest.param("{{ '%s-%d' | format('a', 1) }}{{ '{}-{x}'.format(1, x=2) }}", "a-11-2", id="formatting"),
    ],
)
def test_render(source: str, expected: str) -> None:
    assert render(source) == expected


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ("tojson", '{"b": ["é", "<&>\'", 1.5, null, true], "a": {}}'),
        ("tojson(ensure_ascii=True)", '{"b": ["\\u00e9", "<&>\'", 1.5, null, true], "a": {}}'),
        ("tojson(sort_keys=True)", '{"a": {}, "b": ["é", "<&>\'", 1.5, null, true]}'),
        ("tojson(separators=(',', ':'))", '{"b":["é","<&>\'",1.5,null,true],"a":{}}'),
        (
            "tojson(indent=2)",
            '{\n  "b": [\n    "é",\n    "<&>\'",\n    1.5,\n    null,\n    true\n  ],\n  "a": {}\n}',
        ),
        ("tojson(indent=none)", '{"b": ["é", "<&>\'", 1.5, null, true], "a": {}}'),
    ],
)
def test_tojson(filter_: str, expected: str) -> None:
    assert render("{{ v | " + filter_ + " }}", v={"b": ["é", "<&>'", 1.5, None, True], "a": {}}) == expected


def test_what_is_given_reaches_the_template() -> None:
    source = "{{ bos_token }}{{ tools }}{{ documents }}{{ add_generation_prompt }}{{ style }}{{ messages }}"
    with Renderer(source, special_tokens={"bos_token": "<s>"}) as renderer:
        assert (
            renderer.render(
                HI, tools=[{"z": 1, "a": 2}], add_generation_prompt=True, documents=[{"title": "t"}], style="plain"
            )
            == "<s>[{'z': 1, 'a': 2}][{'title': 't'}]Trueplain[{'role': 'user', 'content': 'hi'}]"
        )
        assert renderer.render(HI, bos_token="<t>").startswith("<t>None")
        assert renderer.count == 2


def test_order_of_keys_survives() -> None:
    keys = [f"k{n * 7919 % 101}" for n in range(60)]
    assert render("{{ messages[0] | join(' ') }}", [dict.fromkeys(keys)]) == " ".join(keys)


@pytest.mark.parametrize("text", ["\ud800 \udfff", "\x00\x1f", "\u2028\u2029\x85", "𝄞é", '\\"\n\r\t', "{{ 1 }}"])
def test_any_text_comes_back_as_it_was(text: str) -> None:
    assert render("{{ messages[0].content }}", [{"role": "user", "content": text}]) == text


def test_one_render_does_not_see_what_another_changed() -> None:
    source = "{% set _ = messages.append(1) %}{% set seen = [] %}{{ seen.append(2) or seen }}{{ messages | length }}"
    with Renderer(source) as renderer:
        assert [renderer.render(HI) for _ in range(3)] == ["[2]2", "[2]2", "[2]2"]


def test_chance_differs_between_renders_but_not_between_runs() -> None:
    def three() -> list[str]:
        with Renderer("{{ range(1000) | list | random }}") as renderer:
            return [renderer.render(HI) for _ in range(3)]

    assert len(set(three())) > 1
    assert three() == three()


@pytest.mark.parametrize(
    "source", ["{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", "{{ messages[0].content.upper() }}"]
)
def test_many_renders_of_one_worker(source: str) -> None:
    with Renderer(source) as renderer:
        first = renderer.render(TALK)
        assert {renderer.render(TALK) for _ in range(50)} == {first}
        assert renderer.count == 51


@pytest.mark.sweep(1)
def test_collected_templates_render_a_conversation(shared: Path) -> None:
    """Each template renders, or refuses in its own words; two require tools."""
    refusals = {}
    paths = sorted((shared / "templates").glob("*.jinja"))
    assert len(paths) > 100
    for path in paths[:: amount(3, sweep=1)]:
        try:
            with Renderer(path.read_text(encoding="utf-8"), name=path.name) as renderer:
                # Some show content only when it is a list of parts.
                parts: list[dict[str, Json]] = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
                assert "hi" in renderer.render(TALK) or "hi" in renderer.render(parts)
        except (TemplateRaised, RenderFailed) as error:
            refusals[path.name] = str(error).split(": ", 1)[1]
    assert all(reason == "TypeError: 'NoneType' object is not iterable" for reason in refusals.values()), refusals
    assert len(refusals) <= 2
