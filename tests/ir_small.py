"""A few small IRs written by hand, one for each family of layouts, for the tests of `tplc.ir`."""

from __future__ import annotations

from dataclasses import replace

from tplc.ir.nodes import (
    JSON_STYLE,
    CallId,
    Capabilities,
    Captured,
    Content,
    Dialect,
    Elements,
    GenerationPrompt,
    JsonFields,
    ObjectArguments,
    PairArguments,
    Provenance,
    Reasoning,
    Slot,
    StringStyle,
    TemplateIR,
    Text,
    Tolerance,
    Tools,
    Turn,
    TypeWord,
)

JSON = Dialect(JSON_STYLE, JSON_STYLE, JSON_STYLE)
RAW = replace(JSON_STYLE, strings=())
PYTHON = replace(
    JSON_STYLE,
    strings=(StringStyle("'", "'", "python"), StringStyle('"', '"', "python")),
    true="True",
    false="False",
    null="None",
    key_open="'",
    key_close="'",
)
BARE_KEYS = replace(
    JSON_STYLE,
    strings=(StringStyle("<q>", "<q>", "none"),),
    key_open="",
    key_close="",
    colon=":",
    list_separator=",",
    object_separator=",",
)
CALLS = Capabilities(tools=True, object_arguments=True)


def _ir(name: str, header: str, end: str, tools: Tools, **parts: object) -> TemplateIR:
    ir = TemplateIR(
        provenance=Provenance(name, "0" * 64, 100, "0.1.0", (("eos_token", "<eos>"),)),
        capabilities=CALLS,
        turn=Turn(header, (header,), (GenerationPrompt((), header, ""),), (end,)),
        reasoning=Reasoning(),
        content=Content(with_calls="before"),
        tools=tools,
    )
    return replace(ir, **parts)  # type: ignore[arg-type]


PLAIN = _ir("plain.jinja", "<bot>", "<eos>", Tools(), capabilities=Capabilities(), content=Content())

JSON_CALLS = _ir(
    "json-calls.jinja",
    "<bot>\n",
    "<eos>\n",
    Tools(
        format="json_native",
        section_start="\n<call>\n",
        separator="\n</call>\n<call>\n",
        section_end="\n</call>",
        call=(Text('{"name": "'), Slot("name"), Text('", "arguments": '), Slot("arguments"), Text("}")),
        json=JsonFields("", "", ("name",), ("arguments",)),
        arguments=ObjectArguments(),
        dialect=JSON,
        parallel=True,
    ),
    turn=Turn(
        "<bot>\n",
        ("<bot>\n",),
        (
            GenerationPrompt((), "<bot>\n<r>\n", "<r>\n"),
            GenerationPrompt((("reason", False),), "<bot>\n<r>\n\n</r>\n\n", "<r>\n\n</r>\n\n"),
        ),
        ("<eos>\n", "<stop>"),
    ),
    capabilities=replace(CALLS, refusals=("After the user comes the bot",)),
    reasoning=Reasoning("forced_open", "<r>\n", "\n</r>\n\n", "reasoning_content"),
    preserved_tokens=("<r>", "</r>", "<call>", "</call>"),
    tolerances=(
        Tolerance("whitespace"),
        Tolerance("variant", marker="<call>", text="<kall>", reason="seen in outputs", source="a user"),
    ),
    captured=(
        Captured("variable", "tone", "r", "reasoning.start", "<r>"),
        Captured("position", "", "1", "", "<calls 1><call>"),
    ),
)

NAME_THEN_JSON = _ir(
    "name-then-json.jinja",
    "<bot>",
    "<eos>",
    Tools(
        format="tag_with_json",
        section_start="<calls>",
        section_end="</calls>",
        call=(
            Text("<call>"),
            Slot("name"),
            Text(":"),
            Slot("index"),
            Text("<arg>"),
            Slot("arguments"),
            Text("</call>"),
        ),
        arguments=ObjectArguments(),
        dialect=replace(JSON, top=BARE_KEYS, in_list=BARE_KEYS, in_object=BARE_KEYS),
        call_id=CallId("pre_func_name", (Slot("name"), Text(":"), Slot("index"))),
        index_base=1,
        parallel=True,
    ),
    content=Content("always_wrapped", "<say>", "</say>", "after"),
)

TAGGED = _ir(
    "tagged.jinja",
    "<bot>",
    "<eos>",
    Tools(
        format="tag_with_tagged",
        call=(Text("<fn "), Slot("name"), Text(">\n"), Slot("arguments"), Text("</fn>\n")),
        arguments=PairArguments(
            start="",
            pair=(Text("<"), Slot("key"), Text(" is="), Slot("type"), Text(">"), Slot("value"), Text("</>\n")),
            separator="",
            end="",
            empty="",
        ),
        dialect=Dialect(
            RAW,
            JSON_STYLE,
            JSON_STYLE,
            wrap=StringStyle("<!", "!>", "none"),
            types=(TypeWord("string", "text"), TypeWord("number", "num"), TypeWord("boolean", "yesno")),
        ),
        parallel=True,
    ),
)

NESTED = _ir(
    "nested.jinja",
    "<bot>",
    "<eos>",
    Tools(
        format="tag_with_tagged",
        call=(Text("<fn "), Slot("name"), Text(">"), Slot("arguments"), Text("</fn>")),
        arguments=PairArguments(
            start="",
            pair=(Text("<"), Slot("key"), Text(">"), Slot("value"), Text("</"), Slot("key"), Text(">")),
            separator="",
            end="",
            empty="",
        ),
        dialect=Dialect(
            replace(RAW, null=None),
            replace(RAW, null=None),
            replace(RAW, null=None),
            elements=Elements("<item>", "</item>"),
        ),
        parallel=True,
    ),
)

KEYWORDS = _ir(
    "keywords.jinja",
    "<bot>",
    "<eos>",
    Tools(
        format="keyword_arguments",
        section_start="[",
        separator=", ",
        section_end="]",
        call=(Slot("name"), Text("("), Slot("arguments"), Text(")")),
        arguments=PairArguments(
            start="", pair=(Slot("key"), Text("="), Slot("value")), separator=", ", end="", empty=""
        ),
        dialect=Dialect(replace(PYTHON, key_open='"', key_close='"'), PYTHON, JSON_STYLE),
        parallel=True,
    ),
)

PRETTY = _ir(
    "pretty.jinja",
    "<bot>",
    "<eos>",
    Tools(
        format="json_native",
        section_start="<calls>[\n",
        separator=",\n",
        section_end="\n]",
        call=(
            Text('    {\n        "name": "'),
            Slot("name"),
            Text('",\n        "arguments": '),
            Slot("arguments"),
            Text("\n    }"),
        ),
        json=JsonFields("", "", ("name",), ("arguments",)),
        arguments=ObjectArguments(),
        dialect=replace(JSON, indent=4),
        parallel=True,
    ),
)

ALL = {
    ir.provenance.name.removesuffix(".jinja"): ir
    for ir in (PLAIN, JSON_CALLS, NAME_THEN_JSON, TAGGED, NESTED, KEYWORDS, PRETTY)
}
