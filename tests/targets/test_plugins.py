"""Plug-ins as text: what stands in the file, and under which name.  `make servers` runs them inside the servers."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import tplc.targets.plugins
from tests.backends.parsers import undefined_names
from tests.conftest import amount
from tests.example_case import EXAMPLES
from tplc import driver
from tplc.errors import UsageError
from tplc.ir.nodes import TemplateIR
from tplc.ir.serialize import loads
from tplc.targets.plugins import SERVERS, NothingToParse, Server, checked_name, default_name, plugin
from tplc.verify.artifact import load_module

NAMES = sorted({path.parent.name for path in EXAMPLES.glob("*/template.jinja")} - {"plain-chat"})


def example_ir(name: str) -> TemplateIR:
    return driver.load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


@cache
def plugin_of(name: str, server: Server) -> str:
    return plugin(example_ir(name), server, name="hut")


@pytest.mark.sweep(18)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", NAMES)
def test_one_file_holds_parser_classes_and_format(name: str, server: Server) -> None:
    ir = example_ir(name)
    text = plugin(ir, server, name="hut", command="tplc compile hut.jinja")
    tree = ast.parse(text)
    defined = Counter(node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    assert max(defined.values()) == 1, "a name of the runtime is one of the plug-in's, too"
    assert {"StreamParser", "ReasoningSplitter", "Rest", "request_tag"} < defined.keys()
    assigned = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("NAME", "IR")
    }
    assert assigned["NAME"] == "hut" and loads(assigned["IR"]) == ir
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    assert not [module for module in modules if module.startswith("tplc")], "what is of tplc stands in the file"
    assert text.splitlines()[1] == "# To regenerate: tplc compile hut.jinja"
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.sweep(1)
def test_every_name_of_a_plug_in_is_defined() -> None:
    """The plug-in uses functions of the runtime that the parser of some formats doesn't need."""
    for name in NAMES[:: amount(3, sweep=1)]:
        for server in SERVERS:
            assert undefined_names(plugin_of(name, server)) == ""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("server", SERVERS)
def test_the_parser_has_every_member_that_a_plug_in_uses(server: Server) -> None:
    source = Path(tplc.targets.plugins.__file__).parent / "source"
    written = "".join((source / f"{name}.py").read_text(encoding="utf-8") for name in ("answer", f"for_{server}"))
    named = {*re.findall(r"\bStreamParser\.(\w+)", written), *re.findall(r"\bself\._stream\.(\w+)", written)}
    assert {"HEADS", "ANCHORS", "AROUND_REASONING", "feed", "incomplete"} <= named
    for name in NAMES[:: amount(3, sweep=1)]:
        parser = plugin_of(name, server).partition("# The plug-in follows.")[0]
        stream = load_module(re.sub(r"(?m)^from (vllm|sglang|xgrammar)\b.*\n", "", parser)).StreamParser()
        assert {member for member in named if not hasattr(stream, member)} == set(), name


def test_words_of_a_template_stay_words() -> None:
    """They occur in the format, between quotes, and in comments."""
    ir = example_ir("tagged-json")
    for hostile in (
        '"""\nimport os\n"""',
        "\\",
        '\\"',
        '"',
        "'''\nimport os",
        'a\\"""',
        "\u2028import os",
        "\r\nimport os",
    ):
        provenance = replace(ir.provenance, name=hostile, special_tokens=((hostile, hostile),))
        spoken = replace(ir, provenance=provenance, turn=replace(ir.turn, ends=(f"<{hostile}>",)))
        tree = ast.parse(plugin(spoken, "vllm", name="hut", command=f"tplc compile {hostile}"))
        assert {"os"}.isdisjoint(
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        )
        held = next(node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "IR")
        assert loads(ast.literal_eval(held.value)) == spoken
    with pytest.raises(UsageError):
        plugin(ir, "vllm", name="hut\nimport os")


def test_the_command_that_starts_the_server() -> None:
    vllm = plugin(example_ir("tagged-json"), "vllm", name="hut").splitlines()
    assert vllm[5:8] == [
        "#     vllm serve MODEL \\",
        "#         --enable-auto-tool-choice --tool-parser-plugin FILE --tool-call-parser hut \\",
        "#         --reasoning-parser-plugin FILE --reasoning-parser hut",
    ]
    sglang = plugin(example_ir("bare-json"), "sglang", name="hut").splitlines()
    assert [line for line in sglang[:20] if "hut" in line or "plugins" in line] == [
        '#     [project.entry-points."sglang.srt.plugins"]',
        '#     "hut" = "MODULE:register"',
        "#         --tool-call-parser hut",
    ]


def test_a_format_without_calls_and_reasoning() -> None:
    with pytest.raises(NothingToParse) as caught:
        plugin(example_ir("plain-chat"), "vllm", name="hut")
    assert (
        str(caught.value) == "template.jinja: writes neither calls nor reasoning, so vLLM 0.33 needs no plug-in for it"
    )


@pytest.mark.parametrize(
    ("output", "source", "name"),
    [
        ("plugins/hut_vllm.py", "x.jinja", "hut"),
        ("hut.py", "x.jinja", "hut"),
        ("-", "models/Hut-7B/", "Hut-7B"),
        ("-", "models/Hut-V3.1.jinja", "Hut-V3_1"),
        ("-", "org/Hut@main", "Hut_main"),
        ("-", "-", "tplc"),
        ("vllm.py", "x.jinja", "vllm"),
    ],
)
def test_names(output: str, source: str, name: str) -> None:
    assert default_name(output, source, "vllm") == name == checked_name(name)


@pytest.mark.parametrize("name", ["", "a b", "hütte", "x" * 101, "a;b"])
def test_names_go_into_commands(name: str) -> None:
    with pytest.raises(UsageError):
        checked_name(name)
