"""What the doctor says, and what markers are made of."""

from __future__ import annotations

from tests.example_case import EXAMPLES
from tplc.doctor import advise
from tplc.driver import load_ir
from tplc.ir.nodes import TemplateIR
from tplc.ir.tokens import marker_tokens


def example_ir(name: str) -> TemplateIR:
    return load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


def test_markers_in_pieces() -> None:
    found = marker_tokens(example_ir("tagged-json"), ["<fn>", "</fn>", "<~/~>", "<~assistant~>", "</"])
    assert [(marker.marker, marker.kind) for marker in found] == [
        ("<~assistant~>", "one token"),
        ("<musing>", "text"),
        ("</musing>", "one token and text"),
        ('<fn>\n{"name": "', "one token and text"),
        ('", "arguments":', "text"),
        ("}\n</fn>", "one token and text"),
        ("<~/~>", "one token"),
    ]
    assert found[3].tokens == ("<fn>",)


def test_special_tokens_change_what_a_server_can_do() -> None:
    ir = example_ir("tagged-json")
    plain = {(one.place, one.what): one.text for one in advise(ir, "m", ["<s>"])}
    special = {(one.place, one.what): one.text for one in advise(ir, "m", ["<fn>", "</fn>"])}
    assert plain["vLLM", "grammar"] == "tplc prepare m gives it: structured_outputs.grammar, unless it is lazy"
    assert special["vLLM", "grammar"].startswith("none as GBNF: in a grammar request every special token is empty")
    assert ("SGLang", "requests") not in plain
    assert special["SGLang", "requests"] == (
        'skip_special_tokens: false where no parser is set: else "<fn>" "</fn>" are dropped'
    )


def test_without_a_tokenizer() -> None:
    told = [one.text for one in advise(example_ir("tagged-json"), "m", ()) if one.what == "tokens"]
    assert [text.partition(":")[0] for text in told] == ["not known"]


def test_a_format_without_anything_to_parse() -> None:
    served = {one.place: one.text for one in advise(example_ir("plain-chat"), "m", ()) if one.what == "serve"}
    assert served["vLLM"] == served["SGLang"] == ("nothing to parse: the template writes neither calls nor reasoning")


def test_commands_name_the_source_as_a_shell_takes_it() -> None:
    made = [one.text for one in advise(example_ir("tagged-json"), "my model", ()) if one.what == "make"]
    assert made[0] == "tplc compile 'my model' --profile servers --into tokenizer_config.json"
