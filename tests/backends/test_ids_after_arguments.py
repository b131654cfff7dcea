"""Ids after the arguments, if the prompt contains a part of the call."""

from __future__ import annotations

from tests.backends.parsers import joined, module_of
from tplc.backends.python import generate
from tplc.driver import learn_format, open_renderer

TEMPLATE = (
    "{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ (m.content or '') }}{%- for c in m.tool_calls or [] %}"
    "{{ '<call>' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ ' #' ~ c.id ~ '</call>' }}{% endfor %}"
    "{{- '<end>' }}{% endfor -%}{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif -%}"
)
CALLS = '<call>f {"a": 1} #call_7</call><call>g {} #call_8</call><end>'


def test_any_end_of_the_prompt() -> None:
    with open_renderer(TEMPLATE) as renderer:
        module = module_of(generate(learn_format(renderer, name="ids", source_text=TEMPLATE)))
    whole = dict(module.parse(CALLS))
    assert [(call["id"], call["function"]["name"]) for call in whole["tool_calls"]] == [
        ("call_7", "f"),
        ("call_8", "g"),
    ]
    for at in range(len(CALLS) + 1):
        given = {"prompt": "<assistant>" + CALLS[:at], "continue_final_message": True}
        assert dict(module.parse(CALLS[at:], **given, echo=True)) == whole, at
        stream = module.StreamParser(**given)
        deltas = [delta for char in CALLS[at:] for delta in stream.feed(char)] + stream.finish()
        assert joined(deltas) == stream.message, at
        # A call that the prompt has said all arguments of is none of the message, and neither is its id.
        said = [end for end in (CALLS.index("}") + 1, CALLS.index("{}") + 2) if end <= at]
        assert [call["id"] for call in stream.message["tool_calls"]] == ["call_7", "call_8"][len(said) :], at
