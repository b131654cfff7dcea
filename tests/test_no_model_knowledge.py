"""The compiler and the runtime contain no marker and no name of a model: formats are learned from renders.

The words looked for come from the templates themselves (those of examples/, and the collected ones where present), so
an unexpected marker is found as well.  Looked at are strings, docstrings, comments, and names.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jinja2
import jinja2.ext
import pytest
from jinja2 import nodes
from jinja2.parser import Parser

from tests.conftest import ROOT, SHARED

CODE = ("compiler", "runtime")

# Text that looks like a marker: <tag>, <|tag|>, </tag>, <tag=, [TAG], and any text with unusual punctuation.
MARKER = re.compile(
    r"""<[^<>\s\w]?[\w.:/|｜▁_!~#@-]{2,40}[^<>\s\w]?>
      | <[a-z_]{3,}=
      | \[/?[A-Z_@]{3,}\]
      | [^\s"'`,]*[^\x00-\x7f\w][^\s"'`,]*
    """,
    re.VERBOSE,
)
# Names of slots in any documentation, and not the text that a template writes around a call.
PLAIN = frozenset(
    """any assistant description documents function functions function-name image item items key key-a key-b name
    parameters param-1 param-2 result results role system text tools type user value video""".split()
)
# Words of model names that are words of the language first.
PLAIN_NAMES = frozenset({"chat", "coder", "command", "nano", "other", "seed"})

# A server that is called after a model, and its command: what to set there is said by name.
SERVERS = re.compile(r"\bllama(?:\.cpp|-server)\b")


class Generation(jinja2.ext.Extension):
    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


SYNTAX = jinja2.Environment(extensions=[jinja2.ext.loopcontrols, Generation])


def test_no_marker_in_the_code() -> None:
    markers = markers_of_templates()
    assert len(markers) > 80
    assert [f"{place}: {text}" for text, place in texts_of_code().items() for text in occurring(markers, text)] == []


def test_no_model_name_in_the_code() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"no folder {SHARED.name} next to the project")
    names = model_names()
    assert len(names) > 20
    found = [(place, set(words(SERVERS.sub("", text))) & names) for text, place in texts_of_code().items()]
    assert [f"{place}: {', '.join(sorted(hit))}" for place, hit in found if hit] == []


def test_examples_are_not_copies() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"no folder {SHARED.name} next to the project")
    real = distinctive(SHARED.glob("templates/*.jinja"))
    own = distinctive((ROOT / "examples").glob("*/template.jinja"))
    assert sorted(real & own) == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """The search must be able to fail: in strings, in joined strings, in docstrings, in comments and in names."""
    module = tmp_path / "module.py"
    module.write_text(
        '"""Reads <vok_call> and more."""\n'
        "OPEN = '<|vok' + '|>'  # closed by [VOK_END]\n"
        "def parse_zimbro_turn(text: str) -> str:\n"
        "    return f'{text}<vok_arg={text}>'\n",
        encoding="utf-8",
    )
    markers = frozenset({"<vok_call>", "[VOK_END]", "<|vok|>", "<vok_arg=", "<absent>"})
    found = [(place.rpartition("/")[2], hit) for place, text in texts_of(module) for hit in occurring(markers, text)]
    assert sorted(found) == [
        ("module.py:1", "<vok_call>"),
        ("module.py:2", "<|vok|>"),
        ("module.py:2", "[VOK_END]"),
        ("module.py:4", "<vok_arg="),
    ]
    assert [place.rpartition("/")[2] for place, text in texts_of(module) if "zimbro" in words(text)] == ["module.py:3"]


def test_what_counts_as_a_marker(tmp_path: Path) -> None:
    template = tmp_path / "template.jinja"
    template.write_text(
        "{{- '<|vok|>\\n' + name }}<zim>{% generation %}【蝶】{% endgeneration %}"
        "{{ '[PLU] <name> plain text (really), 1 < 2' }}",
        encoding="utf-8",
    )
    assert distinctive([template]) == {"<|vok|>", "<zim>", "【蝶】", "[PLU]"}


@cache
def markers_of_templates() -> frozenset[str]:
    return distinctive([*(ROOT / "examples").glob("*/template.jinja"), *SHARED.glob("templates/*.jinja")])


def distinctive(templates: Iterator[Path] | list[Path]) -> frozenset[str]:
    """Return the marker-like words among the constants and the text of templates."""
    found: set[str] = set()
    for path in templates:
        for text in template_constants(path.read_bytes().decode("utf-8")):
            found |= set(MARKER.findall(text))
    return frozenset(m for m in found if len(m) > 2 and m.strip("</>") not in PLAIN)


def template_constants(source: str) -> Iterator[str]:
    for node in SYNTAX.parse(source).find_all((nodes.Const, nodes.TemplateData)):
        value = node.value if isinstance(node, nodes.Const) else getattr(node, "data", "")
        if isinstance(value, str):
            yield value


def model_names() -> frozenset[str]:
    index = json.loads((SHARED / "templates" / "index.json").read_bytes())
    names = {name.lower() for entry in index for name in re.findall(r"[A-Za-z]+", entry["model_family"])}
    return frozenset(name for name in names if len(name) > 2) - PLAIN_NAMES


def words(text: str) -> list[str]:
    """Return the words of texts and names alike: `parse_zimBro2` → parse, zim, bro."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return [part.lower() for part in [*parts, *re.findall(r"[A-Za-z]+", text)]]


def occurring(markers: frozenset[str], text: str) -> list[str]:
    return sorted(marker for marker in markers if marker in text)


@cache
def texts_of_code() -> dict[str, str]:
    """Return every text, with the first place where it occurs."""
    found: dict[str, str] = {}
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for place, text in texts_of(path):
                found.setdefault(text, place)
    return found


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every string, comment and name of a module, with its place; concatenated strings are one."""
    source = path.read_text(encoding="utf-8")
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    for node in ast.walk(ast.parse(source)):
        for text in _texts_of_node(node):
            yield f"{place}:{getattr(node, 'lineno', 1)}", text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield f"{place}:{token.start[0]}", token.string


def _texts_of_node(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) | ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text):
            yield text
        case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text) | ast.ClassDef(name=text):
            yield text
        case ast.BinOp(left=ast.Constant(value=str(left)), op=ast.Add(), right=ast.Constant(value=str(right))):
            yield left + right
        case _:
            return
