"""Every hostile text in every place, for every backend: the structure stays, and the text comes back as what it is."""

from __future__ import annotations

import ast
import html.parser
import json
import re
from collections.abc import Iterator
from functools import cache

import pytest
from parsimonious.grammar import rule_grammar
from parsimonious.nodes import Node

from tests.backends.parsers import ir_of, module_of
from tests.conftest import amount
from tests.gbnf.engine import INSTALLED, refused
from tests.injection.hostile import ALL_OF_THEM, HARMLESS, STRINGS, infected, places, tools_of
from tplc.backends.gbnf.lint import lint
from tplc.backends.peg.engine import PegEngine
from tplc.backends.python import generate_runtime
from tplc.driver import GrammarOptions, ParserOptions, generate
from tplc.explain.explain import Explanation
from tplc.explain.page import page
from tplc.ir.nodes import TemplateIR
from tplc.ir.printed import printed
from tplc.ir.serialize import from_dict, loads, to_dict
from tplc.ir.visible import visible
from tplc.ir.write import write_message

# Between them they have every kind of place.
NAMES = ("tagged-json", "parameter-tags", "sectioned-ids", "keyword-calls", "cdata-values", "nested-elements")
USUAL = (*NAMES, "string-delimiters")  # the last has reasoning between punctuation
EVERY = amount(15, sweep=1)  # of the places
ROUND_TRIPS = ("tagged-json", "parameter-tags", "sectioned-ids")
by_name = pytest.mark.parametrize("name", NAMES)
by_string = pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)


@cache
def placed(name: str, text: str = ALL_OF_THEM) -> dict[str, TemplateIR]:
    """Return the places that no earlier format has."""
    earlier = NAMES[: NAMES.index(name)]
    known = {kind_of(place) for other in earlier for place, _ in places(ir_of(other), HARMLESS)}
    return {place: ir for place, ir in places(ir_of(name), text) if kind_of(place) not in known}


def kind_of(place: str) -> str:
    return re.sub(r"\d+", "N", place)


def test_the_places_are_many() -> None:
    found = {kind_of(place) for name in NAMES for place in placed(name)}
    assert len(found) >= 60
    assert {
        "provenance.name",
        "turn.ends.N",
        "reasoning.start",
        "tools.section_start",
        "tools.call.N",
        "tools.arguments.pair.N",
        "tools.dialect.elements.item_open",
        "tools.dialect.wrap.open",
        "preserved_tokens.N",
    } <= found


def irs(name: str, first: int) -> Iterator[tuple[str, TemplateIR, TemplateIR]]:
    """Yield the place, a format with a hostile text there, and one with a harmless text.

    The six tests that start at 0 to 5 try each place between them."""
    harmless, unharmed = infected(ir_of(name), HARMLESS), placed(name, HARMLESS)
    strings = [(title, infected(ir_of(name), text), harmless) for title, text in STRINGS.items() if name in ROUND_TRIPS]
    yield from [*strings, *((place, ir, unharmed[place]) for place, ir in placed(name).items())][first % EVERY :: EVERY]


# Python


def identifiers(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "attr", "name", "arg", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


@cache
def usual_identifiers() -> frozenset[str]:
    """Return the identifiers of all parsers and of the runtime, because the shape of a format's markers decides which
    parts of it a parser has."""
    parsers = [made for name in USUAL for made in (generate(ir_of(name), "python"), own_part(ir_of(name)))]
    return frozenset(word for source in [*parsers, generate_runtime()] for word in identifiers(source))


def own_part(ir: TemplateIR) -> str:
    """Return a parser without the runtime, which is the same for every format."""
    return generate(ir, "python", GrammarOptions(parser=ParserOptions(runtime="shared")))


@pytest.mark.sweep(3)
@by_name
def test_python(name: str) -> None:
    for place, ir, harmless in irs(name, 0):
        source = own_part(ir)
        unusual = identifiers(source) - usual_identifiers()
        assert not unusual or unusual <= identifiers(own_part(harmless)), place
        assert shown(source) == source, place


def shown(text: str) -> str:
    """Return generated text with visible characters, because people read it."""
    return visible(text)


@pytest.mark.sweep(20)
@by_string
def test_python_reads_what_was_written(text: str) -> None:
    for name in ROUND_TRIPS:
        ir = infected(ir_of(name), text)
        module = module_of(generate(ir, "python"))
        assert (text,) == module.PRESERVED_TOKENS
        assert text == module.TEMPLATE_SHA256
        assert module.parse(written(ir))["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": "b"}'}


def written(ir: TemplateIR) -> str:
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"a": "b"}}}
    return write_message(ir, {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call]})


# PEG


def rules_of_peg(source: str) -> list[str]:
    """Return the names of the rules, as the library reads the grammar.  Its patterns aren't compiled."""
    rules = [*_nodes(rule_grammar.parse(source), "rule")]
    return sorted({next(_nodes(rule, "label")).text.strip() for rule in rules})


def _nodes(node: Node, name: str) -> Iterator[Node]:
    if node.expr_name == name:
        yield node
        return
    for child in node.children:
        yield from _nodes(child, name)


@cache
def usual_rules() -> frozenset[str]:
    return frozenset(rule for name in USUAL for rule in rules_of_peg(generate(ir_of(name), "peg")))


@pytest.mark.sweep(3)
@by_name
def test_peg(name: str) -> None:
    for place, ir, harmless in irs(name, 1):
        source = generate(ir, "peg")
        unusual = set(rules_of_peg(source)) - usual_rules()
        assert not unusual or unusual <= set(rules_of_peg(generate(harmless, "peg"))), place
        assert shown(source) == source, place


@pytest.mark.sweep(12)
@by_string
def test_peg_of_tools(text: str) -> None:
    ir = ir_of("parameter-tags")
    source = generate(ir, "peg", GrammarOptions(tools=tuple(tools_of(text))))
    harmless = generate(ir, "peg", GrammarOptions(tools=tuple(tools_of(HARMLESS))))
    assert len(rules_of_peg(source)) == len(rules_of_peg(harmless))
    assert "INJECTED" not in rules_of_peg(source)
    assert shown(source) == source


@pytest.mark.sweep(20)
@by_string
def test_peg_reads_what_was_written(text: str) -> None:
    for name in ROUND_TRIPS:
        ir = infected(ir_of(name), text)
        assert PegEngine(ir).parse(written(ir))["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": "b"}'}


# GBNF


def grammar_of(ir: TemplateIR, text: str, choice: str = "auto") -> str:
    return generate(ir, "gbnf", GrammarOptions(tools=tuple(tools_of(text)), tool_choice=choice))


def rules_of_gbnf(source: str) -> list[str]:
    return [line.partition(" ::= ")[0] for line in source.split("\n") if line and not line.startswith("#")]


@pytest.mark.sweep(3)
@by_name
def test_gbnf(name: str) -> None:
    for place, ir, harmless in irs(name, 2):
        source = grammar_of(
            from_dict(json.loads(without_surrogates(json.dumps(to_dict(ir), ensure_ascii=False)))), HARMLESS
        )
        assert lint(source) == [], place
        assert kinds_of_rules(source) <= kinds_of_rules(grammar_of(harmless, HARMLESS)), place
        assert shown(comments(source)) == comments(source), place
        assert not INSTALLED or refused(source) is None, place


def kinds_of_rules(source: str) -> set[str]:
    """Return the names of rules without numbers: some exist once for each character of a marker."""
    return {name.rstrip("0123456789-") for name in rules_of_gbnf(source)}


def comments(source: str) -> str:
    """Return the comments: GBNF has no escape for characters beyond ASCII that all engines read, so its rules contain
    them."""
    return "\n".join(line for line in source.split("\n") if line.startswith("#"))


def without_surrogates(text: str) -> str:
    """Return a text without surrogates: no engine matches them, so a grammar with one in a marker is refused."""
    return text.encode("utf-8", "replace").decode()


@pytest.mark.sweep(9)
@by_string
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_gbnf_of_tools(text: str, choice: str) -> None:
    text = without_surrogates(text)
    for name in ("tagged-json", "parameter-tags", "keyword-calls"):
        source = grammar_of(ir_of(name), text, choice)
        assert lint(source) == []
        assert [rule for rule in rules_of_gbnf(source) if "INJECTED" in rule.replace("injected", "")] == []
        assert shown(comments(source)) == comments(source)
        assert not INSTALLED or refused(source) is None


# JSON, and the printed form


@pytest.mark.sweep(1)
@by_name
def test_json(name: str) -> None:
    for place, ir, _ in irs(name, 3):
        source = generate(ir, "json")
        assert loads(source) == ir, place
        assert shown(source) == source, place


@pytest.mark.sweep(1)
@by_name
def test_printed(name: str) -> None:
    for place, ir, _ in irs(name, 4):
        text = printed(ir)
        assert text == visible(text), place
        assert [line for line in text.split("\n") if line.startswith("INJECTED")] == [], place


# HTML


class Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        # A line end inside a text is an element of the page's own.
        if tag != "i":
            self.tags.append((tag, tuple(name for name, _ in attributes)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def elements(ir: TemplateIR) -> Elements:
    found = Elements()
    found.feed(page(Explanation(ir.provenance.name, ir, "", (), 0)))
    return found


@pytest.mark.sweep(1)
@by_name
def test_html(name: str) -> None:
    usual = {tag for tag, _ in elements(ir_of(name)).tags}
    for place, ir, _ in irs(name, 5):
        found = elements(ir)
        assert {tag for tag, _ in found.tags} <= usual, place
        assert not any("injected" in attribute for _, attributes in found.tags for attribute in attributes), place
        if place == "provenance.name":
            assert visible(ir.provenance.name) in "".join(found.text)


def test_strings_survive_as_json() -> None:
    for text in STRINGS.values():
        assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text
