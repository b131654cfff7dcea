"""From a request to prompt, grammar, stops and keywords, and from there to the message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import tplc
from tests.example_case import Example, load_examples
from tplc.driver import load_ir
from tplc.errors import RequestError, UsageError
from tplc.ir.nodes import Slot, TemplateIR
from tplc.ir.write import write_message
from tplc.render import Renderer
from tplc.serving import ChatTemplate, Prepared, prepare
from tplc.verify.artifact import load_module

EXAMPLES = {example.name: example for example in load_examples()}
ASKED = [{"role": "user", "content": "Hello."}]
LOOK: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}


@pytest.fixture(scope="module")
def irs() -> dict[str, TemplateIR]:
    """Return the committed formats, which `tests/test_examples.py` compares with those that are learned."""
    return {name: load_ir((example.out / "ir.json").read_text(encoding="utf-8")) for name, example in EXAMPLES.items()}


@pytest.fixture(params=list(EXAMPLES))
def served(request: pytest.FixtureRequest, irs: dict[str, TemplateIR]) -> Iterator[tuple[Example, ChatTemplate]]:
    example = EXAMPLES[request.param]
    with ChatTemplate(example.source, ir=irs[example.name]) as template:
        yield example, template


@pytest.fixture
def tagged(irs: dict[str, TemplateIR]) -> Iterator[ChatTemplate]:
    with ChatTemplate(EXAMPLES["tagged-json"].source, ir=irs["tagged-json"]) as template:
        yield template


def request_of(example: Example, template: ChatTemplate, variables: dict[str, Any]) -> dict[str, Any]:
    tools = example.tools if template.ir.tools.format != "none" else None
    return {"messages": example.messages, "tools": tools, "chat_template_kwargs": variables}


# Every example


@pytest.mark.sweep(12)
def test_prompt_and_message(served: tuple[Example, ChatTemplate]) -> None:
    """The prompt is the template's, and the keywords are those of a parser."""
    example, template = served
    parser: Any = load_module(tplc.generate(template.ir, "python"))
    with Renderer(example.source, special_tokens=example.special_tokens) as renderer:
        for output in example.outputs:
            ready = template.prepare(request_of(example, template, output.variables))
            plain = renderer.render(
                example.messages, tools=example.tools, add_generation_prompt=True, **output.variables
            )
            assert ready.prompt == plain
            calls = template.ir.tools.format != "none"
            expected = parser.parse(output.text, tools=example.tools if calls else None, prompt=plain)
            assert parser.parse(output.text, **ready.parser) == expected


@pytest.mark.sweep(4)
def test_a_conversation_that_grows(served: tuple[Example, ChatTemplate]) -> None:
    """What the engine holds after an answer, plus what the next question adds, is the prompt of the whole conversation.
    If a prompt opens or closes reasoning and history doesn't, the past differs from what the engine holds."""
    example, template = served
    answer = {"role": "assistant", "content": "Hi there."}
    question = {"role": "user", "content": "How are you?"}
    first = template.prepare({"messages": ASKED}).prompt
    head = template.ir.turn.prompts[0].head
    stop = template.ir.turn.ends[0].strip()
    output = write_message(template.ir, answer, head=head)
    output = output[: output.index(stop) + len(stop)]
    added = template.format_single([*ASKED, answer], question)
    whole = template.prepare({"messages": [*ASKED, answer, question]}).prompt
    rewritten = {"fenced-json", "forced-open", "key-value-tags", "parameter-tags", "string-delimiters"}
    assert (first + output + added == whole) == (example.name not in rewritten)


@pytest.mark.sweep(4)
def test_what_an_engine_without_the_end_marker_gets(served: tuple[Example, ChatTemplate]) -> None:
    """The added text begins with the text that the template writes after the answer."""
    _, template = served
    past = [*ASKED, {"role": "assistant", "content": "Hi there."}]
    question = {"role": "user", "content": "How are you?"}
    added = template.format_single(past, question, ended=False)
    _, answer, tail = template.prepare({"messages": [*past, question]}).prompt.rpartition("Hi there.")
    assert (answer, tail) == ("Hi there.", template.ir.content.end + added)
    assert template.ir.turn.ends[0].strip() in added


@pytest.mark.sweep(4)
def test_a_result_after_calls(served: tuple[Example, ChatTemplate]) -> None:
    _, template = served
    if template.ir.tools.format == "none":
        return
    # Where the template writes no name, the id that the caller gives holds it.
    made = "call00000001" if Slot("name") in template.ir.tools.call else "functions.look:0"
    if template.ir.tools.call_id.position != "none" and Slot("name") in template.ir.tools.call_id.layout:
        made = "functions.look:0"
    called = {"id": made, "type": "function", "function": {"name": "look", "arguments": '{"at": "you"}'}}
    result = {"role": "tool", "tool_call_id": made, "name": "look", "content": "Nothing."}
    past = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [called]}]
    look = {**LOOK, "function": {**LOOK["function"], "description": "Looks."}}  # type: ignore[dict-item]
    added = template.format_single(past, result, tools=[look], ended=False)
    whole = template.prepare({"messages": [*past, result], "tools": [look]}).prompt
    assert whole.endswith(added)
    assert ("look" in whole.removesuffix(added)[-80:], "Nothing." in added) == (True, True)


@pytest.mark.sweep(9)
def test_an_answer_that_is_continued(served: tuple[Example, ChatTemplate]) -> None:
    _, template = served
    parser: Any = load_module(tplc.generate(template.ir, "python"))
    begun = [*ASKED, {"role": "assistant", "content": "Well, I"}]
    ready = template.prepare({"messages": begun, "continue_final_message": True})
    assert ready.prompt.endswith("Well, I")
    rest = " see." + template.ir.content.end + template.ir.turn.ends[0].strip()
    assert parser.parse(rest, **ready.parser)["content"].strip() == "see."
    assert parser.parse(rest, **ready.parser, echo=True)["content"].strip() == "Well, I see."


# One example, in full


def test_with_tools(tagged: ChatTemplate) -> None:
    ready = tagged.prepare({"messages": ASKED, "tools": [LOOK], "stop": ["###"]})
    assert ready.prompt.endswith(
        "<signatures>\n"
        + json.dumps(LOOK)
        + "\n</signatures>\n\nTo use one, write its name and its arguments as a JSON "
        "object between <fn> and </fn>.<~/~>\n<~user~>\nHello.<~/~>\n<~assistant~>\n"
    )
    assert replace(ready, prompt="", grammar="", parser={}) == Prepared(
        prompt="",
        grammar="",
        grammar_lazy=True,
        grammar_triggers=(("word", "<fn>"),),
        preserved_tokens=("</fn>", "</musing>", "<fn>", "<musing>", "<~/~>"),
        stop=("<~/~>", "###"),
        parser={},
    )
    assert 'root ::= "<fn>\\n{' in ready.grammar
    assert ready.parser == {"tools": [LOOK], "prompt": ready.prompt, "parse_tool_calls": True}


def test_without_tools(tagged: ChatTemplate) -> None:
    ready = tagged.prepare({"messages": ASKED})
    assert ready == Prepared(
        prompt="<~user~>\nHello.<~/~>\n<~assistant~>\n",
        grammar="",
        grammar_lazy=False,
        grammar_triggers=(),
        preserved_tokens=("</fn>", "</musing>", "<fn>", "<musing>", "<~/~>"),
        stop=("<~/~>",),
        parser={"tools": None, "prompt": "<~user~>\nHello.<~/~>\n<~assistant~>\n", "parse_tool_calls": False},
    )


def test_required_tools_have_an_eager_grammar(tagged: ChatTemplate) -> None:
    ready = tagged.prepare({"messages": ASKED, "tools": [LOOK], "tool_choice": "required"})
    assert (ready.stops, ready.triggers) == (ready.stop, ready.grammar_triggers)
    assert (ready.grammar_lazy, ready.grammar_triggers, "<musing>" in ready.grammar) == (False, (), True)


def test_the_grammar_is_of_the_prompt_that_variables_give(tagged: ChatTemplate) -> None:
    """With this variable the prompt contains a closed block of reasoning, so the grammar need not begin with one."""
    body = {"messages": ASKED, "tools": [LOOK], "tool_choice": "required"}
    closed = tagged.prepare({**body, "chat_template_kwargs": {"deliberate": False}})
    assert closed.prompt.endswith("<~assistant~>\n<musing>\n\n</musing>\n\n")
    assert closed.grammar != tagged.prepare(body).grammar


def test_tools_that_are_not_to_be_called(tagged: ChatTemplate) -> None:
    ready = tagged.prepare({"messages": ASKED, "tools": [LOOK], "tool_choice": "none"})
    assert (ready.grammar, ready.parser["parse_tool_calls"], "look" in ready.prompt) == ("", False, True)


def test_a_grammar_of_the_client(tagged: ChatTemplate) -> None:
    ready = tagged.prepare({"messages": ASKED, "grammar": 'root ::= "yes" | "no"'})
    assert (ready.grammar, ready.grammar_lazy) == ('root ::= "yes" | "no"', False)


def test_arguments_are_handed_over_as_the_template_wants_them() -> None:
    source = (
        "{%- for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
        "{%- for c in m.tool_calls or [] %}<do {{ c.function.name }}>"
        "{%- for k, v in c.function.arguments.items() %}<{{ k }}>{{ v }}</{{ k }}>{%- endfor %}</do>{%- endfor %}<end>"
        "{%- endfor %}{%- if add_generation_prompt %}<assistant>{%- endif %}"
    )
    called = {"role": "assistant", "tool_calls": [{"function": {"name": "look", "arguments": '{"at": "you"}'}}]}
    with ChatTemplate(source) as template:
        prompt = template.prepare({"messages": [*ASKED, called, {"role": "tool", "content": "Nice."}]}).prompt
        assert prompt == "<user>Hello.<end><assistant><do look><at>you</at></do><end><tool>Nice.<end><assistant>"
        called["tool_calls"][0]["function"]["arguments"] = "[1]"  # type: ignore[index]
        with pytest.raises(RequestError) as caught:
            template.prepare({"messages": [*ASKED, called]})
    assert str(caught.value) == "request: messages[1].tool_calls[0].function.arguments: is not a JSON object"


def test_reasoning_goes_under_the_template_s_own_key(irs: dict[str, TemplateIR]) -> None:
    example = EXAMPLES["thinking-parts"]
    answer = {"role": "assistant", "content": "Hi.", "reasoning_content": "A greeting."}
    with ChatTemplate(example.source, ir=irs["thinking-parts"]) as template:
        assert "A greeting." in template.format_single(ASKED, answer)


# What cannot be done


def error_of(template: ChatTemplate, body: dict[str, Any]) -> str:
    with pytest.raises(RequestError) as caught:
        template.prepare(body)
    return str(caught.value).removeprefix("request: ")


def test_a_template_without_calls(irs: dict[str, TemplateIR]) -> None:
    with ChatTemplate(EXAMPLES["plain-chat"].source, ir=irs["plain-chat"]) as template:
        reported = error_of(template, {"messages": ASKED, "tools": [LOOK]})
        assert reported == (
            "tools: template.jinja shows no calls: give its IR, compiled with example pairs "
            '(tplc compile --example PAIRS -o FILE.json), or set tool_choice to "none"'
        )
        assert template.prepare({"messages": ASKED, "tools": [LOOK], "tool_choice": "none"}).grammar == ""


MARKED_EFFORT = """{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}
{%- if m.reasoning_content %}{{ '{reason ' ~ (effort or 'some') ~ '}' ~ m.reasoning_content ~ '{/reason}' }}{% endif %}
{{- m.content ~ ('<over>' if plugins else '<end>') }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<' ~ (persona or 'assistant') ~ '>' }}{% endif -%}"""


def test_a_variable_that_changes_a_marker() -> None:
    """A value is accepted if the markers stay, or if one word in them changes; the header may change as well."""
    with ChatTemplate(MARKED_EFFORT) as template:
        efforts = ({"effort": "some"}, {"effort": "much"}, {"effort": ""})
        for variables in (*efforts, {"plugins": []}, {"persona": "bot"}, {"other": 1}):
            ready = template.prepare({"messages": ASKED, "chat_template_kwargs": variables})
            assert ready.prompt == f"<user>Hello.<end><{variables.get('persona', 'assistant')}>"
        for name, value, marker in (
            ("effort", "so much", 'reasoning.start "{reason some}"'),
            ("plugins", [1], 'turn.end "<end>"'),
        ):
            with pytest.raises(RequestError) as caught:
                template.prepare({"messages": ASKED, "chat_template_kwargs": {name: value}})
            assert str(caught.value) == (
                f"request: chat_template_kwargs.{name}: the template then writes another marker, and the format "
                f"contains {marker}: leave it out"
            )


def test_a_template_that_refuses() -> None:
    source = (
        "{%- for m in messages %}{%- if m.role == 'critic' %}{{ raise_exception('no critics') }}{%- endif %}"
        "<{{ m.role }}>{{ m.content }}<end>{%- endfor %}{%- if add_generation_prompt %}<assistant>{%- endif %}"
    )
    with ChatTemplate(source) as template:
        reported = error_of(template, {"messages": [{"role": "critic", "content": "Bah."}]})
    assert reported == "messages: the template refuses them: no critics"


def test_nothing_to_continue(tagged: ChatTemplate) -> None:
    empty = [*ASKED, {"role": "assistant", "content": " "}]
    reported = error_of(tagged, {"messages": empty, "continue_final_message": True})
    assert reported == "continue_final_message: the last message has no text to continue"


def test_a_past_that_is_written_again() -> None:
    source = (
        "{{- messages | length }}:{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}"
        "{%- if add_generation_prompt %}<assistant>{%- endif %}"
    )
    with ChatTemplate(source) as template:
        with pytest.raises(RequestError) as caught:
            template.format_single(ASKED, {"role": "assistant", "content": "Hi."})
        past = [*ASKED, {"role": "assistant", "content": "Hello."}]
        added = template.format_single(past, {"role": "user", "content": "Hello."})
    assert str(caught.value) == (
        "request: messages: the template rewrites earlier turns if a message follows, so there is no difference to add"
    )
    assert added == "\n<user>Hello.<end>\n<assistant>"


def test_a_last_turn_that_ends_differently() -> None:
    """The engine holds the last turn's end marker; the template writes another one once a message follows."""
    source = (
        "{%- for m in messages %}<{{ m.role }}>{{ m.content }}"
        "{%- if loop.last and m.role == 'assistant' %}<return>{%- else %}<end>{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}<assistant>{%- endif %}"
    )
    past, question = [*ASKED, {"role": "assistant", "content": "Hello."}], {"role": "user", "content": "Well?"}
    with ChatTemplate(source) as template:
        with pytest.raises(RequestError) as caught:
            template.format_single(past, question)
        assert template.format_single(past, question, ended=False) == "<end><user>Well?<end><assistant>"
    assert str(caught.value) == (
        'request: messages: the model ends its turn with "<return>", and the template writes "<end><user>Well?<end…" '
        "there once a message follows: remove the end marker from the engine's cache, and pass ended=False"
    )


def test_an_end_that_opens_the_next_turn() -> None:
    """Text that the template writes only if nothing follows isn't part of the past, and a marker that the engine holds
    isn't repeated."""
    source = (
        "{%- for m in messages %}{{ '<user>' if m.role == 'user' else '<bot>' }}{{ m.content }}{%- endfor %}"
        "{{- '<bot>' if messages[-1].role == 'user' else '<user>' }}"
    )
    past, question = [*ASKED, {"role": "assistant", "content": "Hello."}], {"role": "user", "content": "Well?"}
    with ChatTemplate(source) as template:
        assert template.ir.turn.ends == ("<user>",)
        assert template.format_single(past, question) == "Well?<bot>"
        assert template.format_single(past, question, ended=False) == "<user>Well?<bot>"


def test_a_template_that_walks_tools_that_are_none() -> None:
    source = (
        "{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}"
        "{%- for m in messages %}<{{ m.role }}>{{ m.content }}<end>{%- endfor %}"
        "{%- if add_generation_prompt %}<assistant>{%- endif %}"
    )
    with ChatTemplate(source) as template:
        assert template.prepare({"messages": ASKED}).prompt == "<user>Hello.<end><assistant>"


def test_an_ir_of_another_template(irs: dict[str, TemplateIR]) -> None:
    with pytest.raises(UsageError) as caught:
        ChatTemplate("{{ messages }}", name="mine.jinja", ir=irs["tagged-json"])
    assert str(caught.value) == "mine.jinja: the IR is of another template (template.jinja): their SHA-256 differ"


# bos and eos


BOS = (
    "{{- bos_token }}{%- for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{%- endfor %}"
    "{%- if add_generation_prompt %}<assistant>{%- endif %}"
)
TOKENS = {"bos_token": "<begin>", "eos_token": "<end>"}


def test_bos_is_there_once() -> None:
    with ChatTemplate(BOS, special_tokens=TOKENS) as template:
        ready = template.prepare({"messages": ASKED})
        assert ready.prompt == "<begin><user>Hello.<end><assistant>"
    with ChatTemplate(BOS, special_tokens=TOKENS, ir=template.ir, adds_bos=True, adds_eos=True) as adding:
        ready = adding.prepare({"messages": ASKED})
        assert ready.prompt == "<user>Hello.<end><assistant>"
        assert adding.prepare({"messages": ASKED, "add_generation_prompt": False}).prompt == "<user>Hello."


def test_example_conversation(tagged: ChatTemplate) -> None:
    assert tagged.example() == (
        "<~system~>\nYou are a helpful assistant.<~/~>\n<~user~>\nHello.<~/~>\n<~assistant~>\nHi there.<~/~>\n"
        "<~user~>\nHow are you?<~/~>\n<~assistant~>\n"
    )


def test_function() -> None:
    assert prepare(BOS, {"messages": ASKED}, special_tokens=TOKENS).stop == ("<end>",)
    assert tplc.prepare is prepare


# What the template does not write


FOR = "{% for m in messages %}<|{{ m.role }}|>"
END = "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
AS_IS = FOR + "{{ m.content }}" + END
ADDED = FOR + "{{ 'Say: ' + m.content }}" + END
TEXTS_OF_PARTS = (
    FOR + "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
    "{% if p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}{% endif %}" + END
)
IMAGES = TEXTS_OF_PARTS.replace(
    "{% endif %}{% endfor %}{% endif %}", "{% else %}<|image|>{% endif %}{% endfor %}{% endif %}"
)
NO_DEVELOPER = "{% for m in messages if m.role != 'developer' %}<|{{ m.role }}|>{{ m.content }}" + END
TEXT, IMAGE = {"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "data:,x"}}
UNSHOWN = [
    (
        AS_IS,
        [TEXT, IMAGE],
        "messages[1].content[1]: the template takes text, and writes a part of type image_url as source",
    ),
    (ADDED, [IMAGE, TEXT], "messages[1].content[0]: the template takes no part of type image_url"),
    (TEXTS_OF_PARTS, [TEXT, IMAGE], "messages[1].content[1]: the template writes nothing of a part of type image_url"),
]


@pytest.mark.parametrize(("source", "content", "problem"), UNSHOWN)
def test_parts_that_the_template_does_not_write(source: str, content: list[Any], problem: str) -> None:
    messages = [{"role": "system", "content": "Be."}, {"role": "user", "content": content}]
    with pytest.raises(RequestError) as caught, ChatTemplate(source) as template:
        template.prepare({"messages": messages})
    assert str(caught.value).startswith(f"request: {problem}")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("bare", [{1}, {0, 1}, {2}])
def test_a_tool_that_the_template_cannot_render_is_named(bare: set[int]) -> None:
    source = EXAMPLES["tagged-json"].source.replace(
        "{{- tool | tojson }}", "{{- tool.function.parameters.properties.items() | length }}{{- tool | tojson }}"
    )
    tools = [
        {"type": "function", "function": {"name": f"look_{n}", "parameters": {}}}
        if n in bare
        else {**LOOK, "function": {**LOOK["function"], "name": f"look_{n}"}}
        for n in range(3)
    ]
    with pytest.raises(RequestError) as caught, ChatTemplate(source) as template:
        template.prepare({"messages": ASKED, "tools": tools})
    first = min(bare)
    assert str(caught.value) == (
        f"request: tools[{first}] (look_{first}): the template can't render this tool: template:12: UndefinedError: "
        "'dict object' has no attribute 'properties'; give the members that the template reads"
    )


def test_parts_that_the_template_writes_pass_through() -> None:
    with ChatTemplate(IMAGES) as template:
        ready = template.prepare({"messages": [{"role": "user", "content": [TEXT, IMAGE]}]})
    assert ready.prompt == "<|user|>Look.<|image|><|end|><|assistant|>"


def test_a_message_that_vanishes_is_refused() -> None:
    messages = [{"role": "developer", "content": "Be brief."}, *ASKED]
    with ChatTemplate(AS_IS) as template:
        assert template.prepare({"messages": messages}).prompt.startswith("<|developer|>Be brief.<|end|><|user|>Hello.")
    with pytest.raises(RequestError) as caught, ChatTemplate(NO_DEVELOPER) as template:
        template.prepare({"messages": messages})
    problem = "the template writes nothing of a message in the role developer"
    assert str(caught.value) == f"request: messages[0]: {problem}"


EFFORT_IN_PROMPT = """\
{%- if documents %}{{ '<documents>' + (documents | tojson) + '<end>' }}{% endif %}
{%- for m in messages %}{{ '<' + m.role + '>' + (m.content or '') + '<end>' }}{% endfor %}
{%- if reasoning_effort is defined %}{{ '<effort>' + reasoning_effort + '<end>' }}{% endif %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ({"reasoning_effort": "high"}, "<effort>high<end>"),
        ({"reasoning_effort": None}, ""),
        ({"reasoning_effort": "high", "chat_template_kwargs": {"reasoning_effort": "low"}}, "<effort>low<end>"),
        ({"temperature": 1, "model": "m"}, ""),
        ({"documents": [], "user": "u", "reasoning_effort": "low"}, "<effort>low<end>"),
    ],
)
def test_members_that_a_template_reads_are_its_variables(members: dict[str, Any], shown: str) -> None:
    with ChatTemplate(EFFORT_IN_PROMPT) as template:
        prepared = template.prepare({"messages": ASKED, **members})
    assert prepared.prompt == f"<user>Hello.<end>{shown}<assistant>"
    assert prepared.warnings == ()


def test_variables_that_a_template_does_not_read_are_reported() -> None:
    with ChatTemplate(EFFORT_IN_PROMPT) as template:
        asked = {"reasoning_efort": "high", "enable_thinking": True, "reasoning_effort": "low"}
        prepared = template.prepare({"messages": ASKED, "chat_template_kwargs": asked})
    assert prepared.warnings == (
        "chat_template_kwargs.reasoning_efort: the template does not read it: did you mean reasoning_effort?",
        "chat_template_kwargs.enable_thinking: the template does not read it",
    )
