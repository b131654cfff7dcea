"""No words are lost: text that a marker shares with prose is prose, unless the template can only mean the marker."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fluent import case
from tests.fuzz.formats import Format, formats
from tests.kept.prose import cases
from tplc.ir.markers import could_be_prose
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.battery import Case
from tplc.verify.compare import as_message, difference
from tplc.verify.conversation import fitting_tools

# Headers and ends that are words, and a closer that holds some.
TEMPLATE = """
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{{- 'Answer: ' }}
{%- if m.reasoning_content %}{{ '<|deep thought|>' ~ m.reasoning_content ~ '<|thought end|>' }}{% endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '<|tool call begin|>' ~ c.function.name ~ ' with ' ~ c.function.arguments | tojson ~ '<|tool call end|>' }}
{%- endfor %}
{{- ' All done.' ~ '\\n' }}
{%- else %}{{ 'Question: ' ~ m.content ~ '\\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'Answer: ' }}{% endif %}"""


@pytest.mark.parametrize(
    "text",
    [
        "I will call you. All calls are local, the tool ends with a thought.",
        "The Answer: is that all is done. All done. Or not?",
        "Question: what begins? Answer: the end of a deep call.",
        "Answer: 42",
        "Write <|tool call end|> after a call, end|> is none.",
    ],
)
def test_words_of_markers_are_kept(text: str) -> None:
    one = case(TEMPLATE)
    one.output(text).expect(text)
    one.output(text + " All done.\n").expect(text)
    one.output(f"<|deep thought|>{text}<|thought end|>{text}").expect(text, reasoning=text)
    call = '<|tool call begin|>look with {"q": "Oslo"}<|tool call end|>'
    one.output(text + call + " All done.").expect(text, calls=[("look", {"q": "Oslo"})])
    one.output(call + text).expect(text, calls=[("look", {"q": "Oslo"})])


@pytest.mark.parametrize(
    "marker",
    ["Answer:", "### Response:", "**Answer**", "DONE", "Done.", "all", "= End =", "用户：", "Réponse :", ">>", "- a"],
)
def test_what_people_write_as_well(marker: str) -> None:
    assert could_be_prose(marker)


@pytest.mark.parametrize(
    "marker",
    [
        "<end>",
        "[/ASK]",
        "{stop}",
        "|end of turn|",
        "#:bot\n",
        "==> all",
        "~~end~~",
        "/over/",
        "§end§",
        "«aside»",
        "%answer%",
        "--- over ---",
        "⟪end",
        "◁",
        "</s>",
    ],
)
def test_what_only_markers_are(marker: str) -> None:
    assert not could_be_prose(marker)


# What opens content is words, after reasoning and before calls.
OPENED = """
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{{- '<bot>' }}
{%- if m.reasoning_content %}{{ 'Thought: ' ~ m.reasoning_content ~ '\\n=end of thought=\\n' }}{% endif %}
{%- if m.content %}{{- 'Final answer: ' ~ m.content }}{% endif %}
{%- for c in m.tool_calls or [] %}
{{- '<do>' ~ c.function.name ~ '\\n' ~ c.function.arguments | tojson ~ '</do>' }}
{%- endfor %}
{{- '<end>' }}
{%- else %}{{ '<' ~ m.role ~ '>' ~ m.content ~ '<end>' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<bot>' }}{% endif %}"""


@pytest.mark.parametrize(
    "text",
    [
        "So it is: the Final answer: 42.",
        "Final answer: 42, says the Thought: no.",
        "Lines:\n\nFinal answer: one\n- Final answer: two\nThought: three\n",
    ],
)
def test_words_that_open_content_are_kept_within_it(text: str) -> None:
    one = case(OPENED)
    one.output(f"Final answer: {text}<end>").expect(text)
    one.output(f"Thought: Why?\n=end of thought=\nFinal answer: {text}").expect(text, reasoning="Why?")
    call = '<do>look\n{"q": "Oslo"}</do>'
    one.output(f"Final answer: {text}{call}<end>").expect(text, calls=[("look", {"q": "Oslo"})])


def test_words_that_open_content_open_it_once() -> None:
    one = case(OPENED)
    one.output("It is: the Final answer: 42").expect("It is: the Final answer: 42")
    one.output("Final answer: Final answer: 42").expect("Final answer: 42")
    one.output("Thought: Why?\n=end of thought=\nSo: Final answer: 42").expect("So: Final answer: 42", reasoning="Why?")


def test_header_without_a_prompt_is_kept_further_on() -> None:
    source = "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '\\n' }}{% endfor %}"
    one = case(source)
    one.output("assistant: So:\nassistant: one\n- assistant two").expect("So:\nassistant: one\n- assistant two")
    one.output("The assistant: yes.").expect("The assistant: yes.")


@pytest.mark.sweep(18)
@pytest.mark.parametrize("form", formats(), ids=[form.name for form in formats()])
def test_words_of_each_example_are_kept(form: Format) -> None:
    """The text that the format writes for a message is read as that message; `make kept` asks templates."""
    tried = [case for case in cases(form.ir) if can_be_written(form.ir, case)]
    assert tried
    found = ((case.title, difference(form.ir, case, read_back(form, case))) for case in tried)
    assert [(title, str(wrong)) for title, wrong in found if wrong is not None] == []


def can_be_written(ir: TemplateIR, case: Case) -> bool:
    reasoning, calls = bool(case.reasoning), bool(case.calls)
    together = not (case.content and calls) or ir.content.with_calls != "none"
    return together and not (reasoning and not ir.reasoning.key) and not (calls and ir.tools.format == "none")


def read_back(form: Format, case: Case) -> Any:
    text = write_message(form.ir, as_message(form.ir, case))
    head, prompt = form.ir.turn.prompts[0].head, None
    if not text.startswith(head):  # history is written differently from an answer's beginning
        head, prompt = "", "".join(form.ir.turn.anchors[:1])
    return form.parser.parse(text[len(head) :], tools=fitting_tools(case), prompt=prompt)


def closed(content: tuple[str, str], end: str) -> str:
    """Return a template that writes content between two texts, and calls after it."""
    return (
        "\n{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<bot>' }}"
        f"{{%- if m.content %}}{{{{- '{content[0]}' ~ m.content ~ '{content[1]}' }}}}{{%- endif %}}"
        "{%- for c in m.tool_calls or [] %}"
        "{{- '<do>' ~ c.function.name ~ '\\n' ~ c.function.arguments | tojson ~ '</do>' }}"
        f"{{%- endfor %}}{{{{- '{end}' }}}}{{%- else %}}{{{{ '<' ~ m.role ~ '>' ~ m.content ~ '{end}' }}}}{{% endif %}}"
        "{%- endfor %}{%- if add_generation_prompt %}{{ '<bot>' }}{% endif %}"
    )


@pytest.mark.parametrize(
    ("content", "end"),
    [
        (("Answer: ", " (over)"), "<end>"),
        (("Answer: ", "."), "<end>"),
        (('"', '"'), "<end>"),
        (("", ""), " (over)\\n"),
        (("", ""), " ~~\\n"),
        (("", ""), " ==\\n"),
    ],
)
@pytest.mark.parametrize("text", ["It is END, or ENDs.", "So:\n- END one\nEND two\nand x END y END z", "END END x"])
def test_ends_that_people_write_as_well(content: tuple[str, str], end: str, text: str) -> None:
    """They end content before the turn's end, before a call and at the output's end; before other text they are
    text."""
    one = case(closed(content, end))
    start, stop, over = content[0], content[1], end.replace("\\n", "\n")
    text = text.replace("END", (stop or over).strip())
    call = '<do>look\n{"q": "Oslo"}</do>'
    one.output(start + text + stop + over).expect(text)
    one.output(start + text + stop).expect(text)
    one.output(start + text + stop + call + over).expect(text, calls=[("look", {"q": "Oslo"})])


@pytest.mark.parametrize("opener", ["@", "! ", "/"])
def test_a_character_that_opens_calls(opener: str) -> None:
    """It opens a call at the start of a line, or inside a line if a known tool is called; elsewhere it is text."""
    source = closed(("", ""), "<end>").replace("<do>", opener).replace("</do>", "<done>")
    text = f"No {opener}here, and {opener.strip()} no {opener}there, no."
    one = case(source)
    one.output(text + "<end>").expect(text)
    call = opener + 'look\n{"q": "Oslo"}<done><end>'
    look = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    # Addresses and code hold such a character in a line, so only the tools show that this is a call.
    one.output(text + call).tools([look]).expect(text, calls=[("look", {"q": "Oslo"})])
    one.output(text + call).expect(text + call.removesuffix("<end>"))
    one.output(f"{text}\n{call}").expect(text + "\n", calls=[("look", {"q": "Oslo"})])
    one.output(call).expect(None, calls=[("look", {"q": "Oslo"})])
