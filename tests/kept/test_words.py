"""No words are lost: what a marker shares with prose is prose, unless the template can only have meant the marker."""

from __future__ import annotations

import pytest

from tests.fluent import case
from tplc.ir.markers import could_be_prose

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
