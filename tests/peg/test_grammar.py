"""Grammar text: general, for given tools, and equal under every hash seed."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from parsimonious.grammar import Grammar

from tests.conftest import ROOT
from tests.fuzz.formats import formats, named
from tests.ir_small import TAGGED
from tplc.backends.peg import generate
from tplc.backends.peg.rules import Section, names_in, needed_sections
from tplc.ir.nodes import TemplateIR
from tplc.ir.serialize import dumps

CASES = Path(__file__).resolve().parent.parent / "cases" / "peg"
NAMES = [form.name for form in formats()]
generate_module = importlib.import_module("tplc.backends.peg.generate")
Golden = Callable[[Path, str], None]


@pytest.mark.parametrize("name", ["tagged-json", "parameter-tags", "bare-json", "keyword-calls"])
def test_grammar_for_tools(name: str, golden: Golden) -> None:
    form = named(name)
    golden(CASES / f"{name}-with-tools.peg", generate(form.ir, tools=form.tools))


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", NAMES)
def test_every_rule_is_used_and_there_once(name: str) -> None:
    for tools in (None, named(name).tools):
        text = generate(named(name).ir, tools=tools)
        Grammar(text)
        rules = re.findall(r"^(\w+) +=", text, re.M)
        assert len(rules) == len(set(rules))
        bodies = re.sub(r'~r"(?:\\.|[^"\\])*"s|"(?:\\.|[^"\\])*"|^#.*$', "", text, flags=re.M)
        unused = [rule for rule in rules[1:] if len(re.findall(rf"\b{rule}\b", bodies)) < 2]
        assert unused == []


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_more_than_the_name_of_another(name: str) -> None:
    """parsimonious gives such a rule the other's name, so a capture would be lost."""
    text = generate(named(name).ir)
    aliases = re.findall(r"^(\w+) += (\w+)$(?!\n +/)", text, re.M)
    assert [alias for alias in aliases if alias != ("key", "string")] == []


def test_a_further_key_makes_patterns_longer_by_little_more_than_its_name() -> None:
    """The markers around a key, and what opens calls, are written once for all keys of a tool."""
    for form in formats():
        assert longest_pattern(form.ir, keys=40) - longest_pattern(form.ir, keys=20) < 20 * 100, form.name


def longest_pattern(ir: TemplateIR, *, keys: int) -> int:
    properties = {f"key_{number:02}": {"type": "string"} for number in range(keys)}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": properties}}]
    return max(map(len, re.findall(r'~r"(?:\\.|[^"\\])*"', generate(ir, tools=tools))))


def test_one_call_only() -> None:
    ir = named("tagged-json").ir
    text = '<fn>\n{"name": "f", "arguments": {}}\n</fn>'
    tree = Grammar(generate(ir, parallel=False))["tool_calls"].match(text + text)
    assert tree.end == len(text)
    assert Grammar(generate(ir))["tool_calls"].match(text + text).end == 2 * len(text)


def test_names_and_keys_may_hold_anything() -> None:
    odd = 'a "b"\\c\n{d}'
    tool = {"name": odd, "parameters": {"type": "object", "properties": {odd: {"type": "string"}, "a b c": {}}}}
    for form in formats():
        Grammar(generate(form.ir, tools=[tool, {**tool, "name": "a b c d"}]))


def test_the_hash_seed_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "ir.json").write_text(dumps(TAGGED), encoding="utf-8")
    tools = [{"name": name, "parameters": {"properties": {key: {} for key in "zyxw"}}} for name in ("f", "g", "h")]
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    script = (
        "import json, sys; from tplc.backends.peg import generate; from tplc.ir.serialize import loads\n"
        "print(generate(loads(open('ir.json').read()), tools=json.load(open('tools.json'))))"
    )
    path = f"{ROOT / 'compiler'}:{ROOT / 'runtime'}"
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


def test_every_name_in_a_rule_is_one_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name without a rule is a mistake: it would be left out without an error. No example has some of the rules."""
    named, made = set[str](), set[str]()

    def keep(sections: Sequence[Section]) -> tuple[Section, ...]:
        rules = [each for section in sections for each in section.rules]
        named.update(name for each in rules for name in names_in(each))
        made.update(each.name for each in rules if each.choices)
        return needed_sections(sections)

    monkeypatch.setattr(generate_module, "needed_sections", keep)
    for form in formats():
        for tools in (None, form.tools):
            generate(form.ir, tools=tools, json_schema={"type": "object"})
        generate(form.ir, parse_tool_calls=False)
    folder = Path(generate_module.__file__ or "").parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert {name for name in named - made if not re.search(rf'rule\(\s*"{name}"|"{name}": ', source)} == set()
