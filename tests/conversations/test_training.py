"""Templates with generation tags: as transformers renders and counts them."""

from __future__ import annotations

import pytest

from tests.conversations.battery import EXAMPLES, TOKENS, conversations, example
from tplc.conversations import ConversationTemplate
from tplc.conversations.masks import selected
from tplc.conversations.training import training_template
from tplc.errors import UnsupportedTemplate

PLAIN = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<end>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tagged(source: str, **options: object) -> str:
    with ConversationTemplate(source, special_tokens=TOKENS) as template:
        return training_template(template, **options).text  # type: ignore[arg-type]


def test_a_place_that_writes_all_roles() -> None:
    assert tagged(PLAIN) == (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['role'] == 'assistant' %}{% generation %}"
        "{{ m['content'] + '<end>' + '\n' }}{% endgeneration %}{% else %}{{ m['content'] + '<end>' + '\n' }}{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )


def test_parts() -> None:
    assert tagged(PLAIN, parts=("content",)) == (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['role'] == 'assistant' %}{% generation %}"
        "{{ m['content'] }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %}{{ '<end>' + '\n' }}"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )


def test_white_space_control_stays() -> None:
    source = (
        "{%- for m in messages %}\n"
        "    {%- if m.role == 'assistant' %}\n"
        "<|a|>\n"
        "    {{ m.content }}\n"
        "    {% if m.tool_calls %}\n"
        "    {% endif %}\n"
        "<|e|>\n"
        "    {%- else -%}\n"
        "        <|u|>{{ m.content }}<|e|>\n"
        "    {%- endif %}\n"
        "{%- endfor %}\n"
        "{%- if add_generation_prompt %}\n<|a|>\n{% endif %}"
    )
    made = tagged(source)
    assert made.count("{% generation %}") == made.count("endgeneration") == 1
    assert "{%+ generation %}" not in made


def test_a_text_that_is_put_together_first() -> None:
    source = (
        "{% for m in messages %}{% set text = '<|' + m.role + '|>' + m.content | trim + '<end>' %}"
        "{% if loop.first %}{% set text = bos_token + text %}{% endif %}{{ text }}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    assert tagged(source) == (
        "{% for m in messages %}{% set text_end = m.content | trim + '<end>' %}"
        "{% set text = '<|' + m.role + '|>' + text_end %}"
        "{% if loop.first %}{% set text = bos_token + text %}{% endif %}"
        "{{ (text)[:(text) | length - text_end | length] }}{% if m['role'] == 'assistant' %}{% generation %}"
        "{{ text_end }}{% endgeneration %}{% else %}{{ text_end }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )


def test_an_end_token_that_was_not_given() -> None:
    source = PLAIN.replace("'<end>' + '\n'", "eos_token")
    with ConversationTemplate(source) as template:
        made = training_template(template)
    assert "{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}" in made.text


def test_a_result_whose_opener_ends_the_answer() -> None:
    """In a loop over the results of an answer's calls, the opener of the first result is generated."""
    source = (
        "{% macro result(text) %}<result>{{ text }}</result>{% endmacro %}"
        "{% for m in messages %}{% if m.role != 'tool' %}{% if loop.first or loop.previtem.role != 'tool' %}"
        "<{{ m.role }}>{% endif %}"
        "{% for c in m.tool_calls or [] %}<call>"
        "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{% endfor %}"
        "{% if m.tool_calls %}{% set rest = messages[loop.index:] %}{% set n = namespace(open=true) %}"
        "{% for r in rest %}{% if r.role != 'tool' %}{% set n.open = false %}{% endif %}"
        "{% if n.open %}{{ result(r.content) }}{% endif %}{% endfor %}{% if not rest %}{{ '<result>' }}{% endif %}"
        "{% else %}{{ m.content }}<end>{% endif %}{% endif %}{% endfor %}"
        "{% if add_generation_prompt and messages[-1].role != 'tool' %}<assistant>{% endif %}"
    )
    made = tagged(source)
    assert (
        "{% if n.open %}{% if loop.first %}{% generation %}{{ (result(r.content))[:8] }}{% endgeneration %}{% else %}"
        "{{ (result(r.content))[:8] }}{% endif %}{{ (result(r.content))[8:] }}{% endif %}"
    ) in made


def test_a_macro_that_writes_a_header_of_one_length() -> None:
    source = (
        "{% macro say(m) %}<|{{ m.role }}|>{{ m.content }}<end>{% endmacro %}"
        "{% for m in messages %}{{ say(m) }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    assert tagged(source).partition("endmacro %}")[2] == (
        "{% for m in messages %}{{ (say(m))[:13] }}{% if m['role'] == 'assistant' %}{% generation %}"
        "{{ (say(m))[13:] }}{% endgeneration %}{% else %}{{ (say(m))[13:] }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "{% macro say(m, n) %}<|{{ m.role }} {{ n }}|>{{ m.content }}<end>{% endmacro %}\n"
            "{% for m in messages %}{{ say(m, loop.index * 4) }}{% endfor %}"
            "{% if add_generation_prompt %}<|assistant {{ messages | length * 4 + 4 }}|>{% endif %}",
            "template:2: one place writes both what a model generates and what it does not, and cannot be cut: "
            "say(m, loop.index * 4) "
            "(seen in: a question and an answer)",
        ),
        (
            "{% for m in messages %}<|{{ m.role }}|>{% generation %}{{ m.content }}{% endgeneration %}<end>{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{% endif %}",
            "template: the template has generation tags already",
        ),
    ],
)
def test_refusals(source: str, reason: str) -> None:
    with pytest.raises(UnsupportedTemplate) as caught:
        tagged(source)
    assert str(caught.value) == reason


@pytest.mark.sweep(40)
@pytest.mark.parametrize("name", EXAMPLES)
def test_transformers_gives_the_same_masks(name: str) -> None:
    transformers = pytest.importorskip("transformers.utils.chat_template_utils")
    template = example(name)
    try:
        made = training_template(template)
    except UnsupportedTemplate as error:
        assert name in REFUSED, error
        return
    for one in conversations(name):
        read = template.read(one.messages, tools=one.tools)
        (text,), (ranges,) = transformers.render_jinja_template(
            [list(one.messages)],
            tools=list(one.tools) or None,
            chat_template=made.text,
            return_assistant_tokens_mask=True,
            **TOKENS,
        )
        assert text == read.text
        counted = {at for start, stop in ranges for at in range(start, stop)}
        assert counted == {at for start, stop in selected(read.spans) for at in range(start, stop)}, one.title


# A call repeats the header only after another part; so does the reply after reasoning, of the last turn alone.
REFUSED: tuple[str, ...] = ("addressed-parts", "channels")
