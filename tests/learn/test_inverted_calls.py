"""Calls whose markers depend on what the calls hold: they verify, in the parser and in the PEG, and come back."""

from __future__ import annotations

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.learn.test_inversions import close, name, template_with, wrong_messages
from tplc.driver import GrammarOptions, compile_template, generate
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

OBJECT = "{{- c.function.arguments | tojson }}"
COUNT, NUMBER = '{{- m.tool_calls | length ~ "" }}', "{{- loop.index ~ '' }}"

# One call each, as Jinja.
COUNTED = {
    "attribute": close('<call count=\\"') + COUNT + name('\\" name=\\"', '\\">') + OBJECT + close("</call>"),
    "words": close("[[") + COUNT + name(" calls: ", " ") + OBJECT + close("]]"),
    "number of all": close("⟦") + NUMBER + close("/") + COUNT + name(" ", "⟧") + OBJECT + close("⟦/⟧"),
    "closer": name("<рядок ", ">") + OBJECT + close("</рядок з ") + COUNT + close(">"),
    "member": close('<call>{\\"of\\": \\"') + COUNT + name('\\", \\"name\\": \\"', '\\", \\"arguments\\": ') + OBJECT
    + close("}</call>"),
}  # fmt: skip


def left_out(before: str, after: str, close: str, *, otherwise: str = "") -> str:
    """Return a call with texts around its arguments, or with another text instead of all three."""
    given = f'{{%- if c.function.arguments %}}{{{{- "{before}" }}}}{OBJECT}{{{{- "{after}" }}}}'
    return given + f'{{%- else %}}{{{{- "{otherwise}" }}}}{{%- endif %}}{{{{- "{close}" }}}}'


EMPTY = {
    "left out": name("<call>", "") + left_out(" ", "", "</call>"),
    "a word left out": name("\\ncall ", "") + left_out(" with ", "", ";"),
    "another text": name("<call>", "") + left_out("<args>", "</args>", "</call>", otherwise="<noargs/>"),
    "closed at once": name('<call name=\\"', '\\"') + left_out(">", "</call>", "", otherwise="/>"),
    "lines": name("\\n[CALL] ", "") + left_out("\\n", "", "\\n[/CALL]"),
    "wide brackets": name("【調用】", "") + left_out("【引數】", "", "【完】"),
    "null": name("⟨виклик ", "⟩") + left_out("", "", "⟨/виклик⟩", otherwise="null"),
}


def wrapped(key: str, string: str, other: str, end: str) -> str:
    """Return a call whose values are between texts: `string` and `other` have `@` in the place of the value."""
    texts = [text.replace("@", "{{- v }}" if text is string else "{{- v | tojson }}") for text in (string, other)]
    either = f"{{%- if v is string %}}{texts[0]}{{%- else %}}{texts[1]}{{%- endif %}}"
    pair = key.replace("@", "{{- k }}") + either + end.replace("@", "{{- k }}")
    return name("<call>", "|") + f"{{%- for k, v in c.function.arguments.items() %}}{pair}{{%- endfor %}}</call>"


WRAPPED = {
    "tags in a tag": wrapped("<p=@>", "<str>@</str>", "<lit>@</lit>", "</p>"),
    "tags alone": wrapped("<p=@>", "<s>@</s>", "<json>@</json>", ""),
    "tags that repeat the key": wrapped("<@>", "<string>@</string>", "<value>@</value>", "</@>"),
    "brackets": wrapped("[@: ", "«@»", "‹@›", "]"),
    "wide brackets": wrapped("【@】", "「@」", "『@』", "【／】"),
    "words of another script": wrapped("⟪@⟫", "⟨текст⟩@⟨/текст⟩", "⟨данные⟩@⟨/данные⟩", "⟪/⟫"),
    "one type alone": wrapped("<p=@>", "@", "<json>@</json>", "</p>"),
    "lines": wrapped('<p=@>{{- "\\n" }}', "<str>@</str>", "<lit>@</lit>", '{{- "\\n" }}</p>{{- "\\n" }}'),
}


def check(call: str) -> None:
    """Check that all messages come back, and that the PEG verifies as well."""
    assert wrong_messages(template_with(call)) == ()
    assert compile_template(template_with(call), name="t", target="peg").verification.failures == ()


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", COUNTED)
def test_the_number_of_calls_is_a_slot(kind: str) -> None:
    check(COUNTED[kind])


@pytest.mark.sweep(8)
@pytest.mark.parametrize("kind", EMPTY)
def test_calls_without_arguments_have_a_form_of_their_own(kind: str) -> None:
    check(EMPTY[kind])


def test_the_grammar_of_a_request_allows_calls_without_arguments() -> None:
    ir = compile_template(template_with(EMPTY["closed at once"]), name="t")
    schemas = {"now": {"type": "object", "properties": {}}, "look": {"type": "object", "required": ["at"]}}
    tools = [{"type": "function", "function": {"name": one, "parameters": schema}} for one, schema in schemas.items()]
    grammar = generate(ir, "gbnf", GrammarOptions(tools=tools, tool_choice="required"))
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if " ::= " in line)
    assert (rules["now"].endswith('| "now\\"/>"'), "/>" in rules["look"]) == (True, False)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", WRAPPED)
def test_values_are_between_texts_of_their_type(kind: str) -> None:
    check(WRAPPED[kind])


def test_the_type_that_is_written_wins() -> None:
    parser = load_module(generate(compile_template(template_with(WRAPPED["one type alone"]), name="t"), "python"))
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    text = "<call>f|<p=a>7</p><p=b><json>8</json></p></call><|e|>"
    for given in (tools, None):
        [call] = parser.parse(text, tools=given)["tool_calls"]
        assert call["function"]["arguments"] == '{"a": "7", "b": 8}'


def test_any_number_of_calls_is_read() -> None:
    parser = load_module(generate(compile_template(template_with(COUNTED["attribute"]), name="t"), "python"))
    text = '<call count="12" name="f">{"a": 1}</call><call count="12" name="g">{}</call><|e|>'
    assert [call["function"] for call in parser.parse(text)["tool_calls"]] == [
        {"name": "f", "arguments": '{"a": 1}'},
        {"name": "g", "arguments": "{}"},
    ]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", [*WRAPPED][:4])
def test_a_response_template_reads_values_of_either_kind(kind: str) -> None:
    ir = compile_template(template_with(WRAPPED[kind]), name="t", target="response_template")
    assert ir.verification.failures == ()


@needs_engine
@pytest.mark.sweep(18)
@pytest.mark.parametrize("kind", [*COUNTED, *EMPTY, *WRAPPED])
def test_grammars_accept_what_the_template_writes(kind: str) -> None:
    ir = compile_template(template_with({**COUNTED, **EMPTY, **WRAPPED}[kind]), name="t")
    properties = {"a": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array"}}
    schemas = {"f": {"type": "object", "properties": properties}, "now": {"type": "object", "properties": {}}}
    tools = tuple(
        {"type": "function", "function": {"name": one, "parameters": schema}} for one, schema in schemas.items()
    )
    grammar = generate(ir, "gbnf", GrammarOptions(tools=tools, tool_choice="required"))
    for calls in ([("f", {"a": "x y", "n": 3})], [("now", {})], [("f", {"a": "<b>", "l": ["u"]}), ("now", {})]):
        made = [{"id": "abcdef123", "function": {"name": one, "arguments": arguments}} for one, arguments in calls]
        text = write_message(ir, {"content": None, "tool_calls": made})
        assert accepts(grammar, text.removesuffix(ir.turn.ends[0])), text
