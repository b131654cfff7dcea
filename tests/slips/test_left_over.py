"""What is left over after calls, and texts like markers: parser, chunks and PEG alike, with the diagnostics."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tests.backends.parsers import ir_of, parser_of
from tests.property.every_reader import EveryReader
from tests.property.report_authored import FOLDER as AUTHORED
from tests.slips.bases import TOOLS
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template
from tplc.lower import lower
from tplc.lower.markerlike import marker_like_texts

OSLO = ("get_weather", '{"city": "Oslo", "days": 3}')
LEFT_OVER = " is left over after a call"
OTHER_FORM = "calls that are not written as the template does"
NO_TOOL = "not a call: expected the name of a tool"
LIKE = " is like a marker, but remains in the message"


class Case(NamedTuple):
    """An output, and the content, calls, diagnostics and `incomplete` that it means."""

    name: str  # of the format
    text: str
    content: str | None
    calls: list[tuple[str, str]]
    diagnostics: list[str]
    incomplete: bool = False


TAGGED = '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'
CDATA = '<act name="get_weather"><arg key="city">Oslo</arg><arg key="days">3</arg>'
PAIRS = "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n"
ARRAY = '«wishes»[{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'
SPELLED = "a marker is not spelled as the template does"
CALL_1 = '[[call 1]] {"args": {"city": "Oslo", "days": 3}, "fn": "get_weather"}'
LATEX = '\n\\begin{get_weather}{"city": "Oslo", "days": 3}'
FENCED = '〔调用〕〔一个〕function〔名〕get_weather\n```json\n{"city": "Oslo", "days": 3}\n```'
CUT = "the output ends inside a call"
CASES = {
    "another object with arguments": Case(
        "closer-with-name",
        '\n\\begin{get_weather}{"city": "Oslo"} {"days": 3}',
        ' {"days": 3}',
        [("get_weather", '{"city": "Oslo"}')],
        ["text follows the arguments of a call"],
        incomplete=True,
    ),
    "text after the arguments": Case(
        "closer-with-name",
        '\n\\begin{get_weather}{"city": "Oslo"} days are 3',
        " days are 3",
        [("get_weather", '{"city": "Oslo"}')],
        [],
    ),
    "a closer without its first characters": Case("tagged-json", TAGGED + "\nfn>", None, [OSLO], ["fn>" + LEFT_OVER]),
    "the same in text": Case("tagged-json", TAGGED + "\nfn> So.", "\nfn> So.", [OSLO], []),
    "a closing tag without its first characters": Case(
        "parameter-tags", PAIRS + "</do>\ndeed>", None, [OSLO], ["deed>" + LEFT_OVER]
    ),
    "a key and a marker in a value": Case(
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo days<|3|></arg></act>',
        None,
        [("get_weather", '{"city": "Oslo days<|3|>"}')],
        ["the argument days is in the value of another"],
        incomplete=True,
    ),
    "a bracket after an opener of content": Case(
        "wrapped-content", "<#answer#>>Hello.<#/answer#><#over#>", ">Hello.", [], [">" + LIKE]
    ),
    "an opener of content in other brackets": Case(
        "wrapped-content", "＜#answer#＞Hello.<#/answer#><#over#>", "＜#answer#＞Hello.", [], ["＜#answer#＞" + LIKE]
    ),
    "an opener of content twice": Case(
        "recipient-lines", "everyone\neveryone\nHello.:#\n", "everyone\nHello.", [], ["everyone" + LIKE]
    ),
    "backticks around calls": Case("tagged-json", f"`{TAGGED}\n</fn>` So.", "`` So.", [OSLO], ["``" + LIKE]),
    "the end of a closer with its name": Case(
        "closer-with-name", f"{LATEX}get_weather}} \\stop\\\n", "get_weather}", [OSLO], ["get_weather}" + LIKE]
    ),
    "punctuation before the closer": Case("tagged-json", f"{TAGGED}.\n</fn>", None, [OSLO], ["." + LEFT_OVER]),
    "a bracket before the closer at the end": Case("tagged-json", f"{TAGGED}]\n</fn>", None, [OSLO], ["]" + LEFT_OVER]),
    "a list in one pair of markers": Case(
        "tagged-json", TAGGED.replace("{", "[{", 1) + "]\n</fn>", None, [OSLO], ["]" + LEFT_OVER]
    ),
    "a fence that the output ends with": Case(
        "tagged-json", f"```xml\n{TAGGED}\n</fn>\n```", None, [OSLO], ["```" + LEFT_OVER]
    ),
    "the first piece of an opener twice": Case(
        "parameter-tags", f"\n\n<deed>{PAIRS}</do>\n</deed>", None, [OSLO], ["the calls are opened twice"]
    ),
    "an opener without its last piece": Case(
        "parameter-tags",
        "\n\n<deed>get_weather\n" + PAIRS.split("\n", 4)[4] + "</do>\n</deed>",
        None,
        [OSLO],
        ["the header of a call of get_weather is not as the template writes it"],
    ),
    "an object after an opener's first piece": Case(
        "parameter-tags", TAGGED.replace("<fn>", "<deed>") + "\n</deed>", None, [OSLO], [OTHER_FORM]
    ),
    "the same of no tool": Case(
        "parameter-tags",
        '</musings>\n\n<deed>\n{"name": "sing", "arguments": {}}\n</deed>',
        '<deed>\n{"name": "sing", "arguments": {}}\n</deed>',
        [],
        [NO_TOOL],
    ),
    "brackets and punctuation": Case("tagged-json", f"{TAGGED}}};\n</fn>", None, [OSLO], ["};" + LEFT_OVER]),
    "punctuation in a sentence": Case("tagged-json", f"{TAGGED}\n</fn>. So.", ". So.", [OSLO], []),
    "a bracket between calls": Case(
        "tagged-json", f"{TAGGED}\n</fn>>\n{TAGGED}\n</fn>", None, [OSLO, OSLO], [">" + LEFT_OVER]
    ),
    "a closer in other case": Case("tagged-json", f"{TAGGED}\n</FN><~/~>\n", None, [OSLO], ["</FN>" + LEFT_OVER]),
    "the same before text": Case("tagged-json", f"{TAGGED}\n</FN> So.", "\n</FN> So.", [OSLO], []),
    "a garbled closer after pairs": Case("cdata-values", f"{CDATA}<act/><-/->", None, [OSLO], ["<act/>" + LEFT_OVER]),
    "the same with the name": Case(
        "cdata-values", f"{CDATA}</act=get_weather><-/->", None, [OSLO], ["</act=get_weather>" + LEFT_OVER]
    ),
    "two closers, one of them garbled": Case(
        "parameter-tags", f"{PAIRS}</do>\n<deed/><:>\n", None, [OSLO], ["<deed/>" + LEFT_OVER]
    ),
    "another closing tag": Case(
        "tagged-json", f"{TAGGED}\n</function><~/~>\n", None, [OSLO], ["</function>" + LEFT_OVER]
    ),
    "another closing tag after a closer, at the end": Case(
        "tagged-json", f"{TAGGED}\n</fn>\n</tools:all>", None, [OSLO], ["</tools:all>" + LEFT_OVER]
    ),
    "another closing tag before text": Case(
        "tagged-json", f"{TAGGED}\n</fn>\n</b> is a tag.", "\n</b> is a tag.", [OSLO], []
    ),
    "another closing tag after pairs": Case(
        "cdata-values", f"{CDATA}</action><-/->", None, [OSLO], ["</action>" + LEFT_OVER]
    ),
    "another closing tag after a list of calls": Case(
        "sectioned-ids",
        '<!calls!><!call!>[{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]</calls>',
        None,
        [OSLO],
        [OTHER_FORM, "</calls>" + LEFT_OVER],
    ),
    "a garbled closer at the end": Case("cdata-values", f"{CDATA}<act/>", None, [OSLO], ["<act/>" + LEFT_OVER]),
    "the same of a section": Case(
        "parameter-tags", f"{PAIRS}</do>\n</deeds>", None, [OSLO], ["a marker is not spelled as the template does"]
    ),
    "a closer in other case that isn't the last": Case(
        "parameter-tags", f"{PAIRS}</DO>", None, [OSLO], [CUT], incomplete=True
    ),
    "a closer in brackets of two characters that the output cuts": Case(
        "forced-closed", CALL_1 + " [[/call]", None, [OSLO], [CUT], incomplete=True
    ),
    "a closer that the output cuts": Case("cdata-values", f"{CDATA}</act", None, [OSLO], [CUT], incomplete=True),
    "a closer with its name, without its end": Case(
        "closer-with-name", f"{LATEX}\\end{{get_weather \\stop\\\n", None, [OSLO], ["\\end{get_weather" + LEFT_OVER]
    ),
    "the same before the next call": Case(
        "closer-with-name",
        f"{LATEX}\\end{{get_weather{LATEX}\\end{{get_weather}} \\stop\\\n",
        None,
        [OSLO, OSLO],
        ["\\end{get_weather" + LEFT_OVER],
    ),
    "a closer with its name, without its word": Case(
        "closer-with-name",
        f"{LATEX}\\{{get_weather}} \\stop\\\n",
        "\\{get_weather}",
        [OSLO],
        ["\\{get_weather}" + LIKE],
    ),
    "two characters of the section's closer": Case(
        "fenced-json", FENCED + "〔/一个〕〔/", "〔/", [OSLO], ["〔/" + LIKE]
    ),
    "a comma before the end of all calls": Case("json-array", ARRAY + ",]«/wishes»", None, [OSLO], []),
    **{
        f"a value closed with {closer}": Case(
            "parameter-tags", PAIRS.replace("</with>", closer) + "</do>\n</deed>", None, [OSLO], [SPELLED, SPELLED]
        )
        for closer in ("</with", "<with/>", "＜/with＞", "</withs>", "</with]")
    },
    "a value closed with its key": Case(
        "parameter-tags", PAIRS.replace("</with>", "</city>", 1) + "</do>\n</deed>", None, [OSLO], [SPELLED]
    ),
    "a value closed with no key of the tool": Case(
        "parameter-tags",
        PAIRS.replace("</with>", "</town>", 1) + "</do>\n</deed>",
        None,
        [("get_weather", '{"city": "Oslo\\n</town>", "days": 3}')],
        ["an argument is not closed"],
        incomplete=True,
    ),
    "a value that contains a garbled closer": Case(
        "parameter-tags",
        PAIRS.replace("Oslo", "Oslo<with/>") + "</do>\n</deed>",
        None,
        [("get_weather", '{"city": "Oslo<with/>", "days": 3}')],
        ['<with/>"' + LIKE],
    ),
    "arguments in an object of their own": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather"}, {"city": "Oslo", "days": 3}\n</fn>',
        None,
        [OSLO],
        ["the arguments follow the object with the name"],
    ),
    "the same without arguments": Case(
        "tagged-json",
        '<fn>\n{"name": "list_all"} {}\n</fn>',
        None,
        [("list_all", "{}")],
        ["the arguments follow the object with the name"],
    ),
    "a name alone": Case("tagged-json", '<fn>\n{"name": "list_all"}\n</fn>', None, [("list_all", "{}")], []),
    "a closer after content": Case("tagged-json", "Well.</fn>", "Well.</fn>", [], ["</fn>" + LIKE]),
    "an end of the turn twice, cut": Case(
        "addressed-parts", " to user:>Well.<:ove<:over:>", "Well.<:ove", [], ["<:ove" + LIKE]
    ),
    "a marker in a sentence": Case("tagged-json", "Use </fn> to close.", "Use </fn> to close.", [], []),
    "a bracket too many before a value's closer": Case(
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo<</arg><arg key="days">3</arg></act>',
        None,
        [("get_weather", '{"city": "Oslo<", "days": 3}')],
        ['<"' + LIKE],
        incomplete=True,
    ),
}


def read(case: Case, chunks: list[str]) -> tuple[Any, ...]:
    stream = parser_of(case.name).StreamParser(tools=TOOLS)
    for chunk in chunks:
        stream.feed(chunk)
    stream.finish()
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in stream.message["tool_calls"]]
    return stream.message["content"], calls, [each.text for each in stream.diagnostics], stream.incomplete


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_left_over(case: Case) -> None:
    wanted = (case.content, case.calls, case.diagnostics, case.incomplete)
    assert read(case, [case.text]) == wanted
    assert read(case, list(case.text)) == wanted
    assert read(case, [case.text[at : at + 7] for at in range(0, len(case.text), 7)]) == wanted
    parsed = PegEngine(ir_of(case.name)).read(case.text, tools=TOOLS)
    whole = dict(parser_of(case.name).parse(case.text, tools=TOOLS))
    assert (dict(parsed.message), parsed.incomplete) == (whole, case.incomplete)


def test_words_of_an_end_are_reported_directly_after_a_sentence() -> None:
    found = marker_like_texts(replace(lower(ir_of("tagged-json")), last_ends=("\nUser:",)))
    assert found is not None
    texts = ("It is two.User", "It is two.Use", "It is two. User", "It is two.\nUser", "Ask the User")
    assert [bool(re.search(found.text, text)) for text in texts] == [True, True, False, False, False]


def test_a_header_that_people_write_as_well_is_reported_at_the_start() -> None:
    acceptor = replace(lower(ir_of("tagged-json")), prose_headers=("Answer: ",))
    found = marker_like_texts(acceptor)
    assert found is not None
    texts = ("Answer: two.", "\nAnswer: two.", "The Answer: two.")
    assert [bool(re.search(found.text, text)) for text in texts] == [True, True, False]


def test_a_closer_with_a_backslash_is_no_call() -> None:
    # Where a call is `<NAME>`, what closes the section is like one once a backslash is in it.
    source = (AUTHORED / "name-tag.jinja").read_text(encoding="utf-8")
    readers = EveryReader(compile_template(source, name="t"))
    message = readers.parse('<tools>\n<get_weather>{"city": "Oslo"}</get_weather>\n<\\/tools>', tools=TOOLS)
    calls = [call["function"]["name"] for call in message["tool_calls"]]
    assert (calls, message["content"], readers.differ) == (["get_weather"], "\n<\\/tools>", [])
