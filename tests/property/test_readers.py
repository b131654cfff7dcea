"""Each reader gets files with any content, and returns what it reads or raises one error that names the file.

Files that are right are changed: bytes cut, doubled, replaced, and replaced by what readers stumble over.
"""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT, amount
from tplc import driver
from tplc.errors import SourceError, TplcError
from tplc.project.files import read_examples, read_json, read_schema, read_tolerances, read_tools
from tplc.project.manifest import load_manifest
from tplc.sources import load

IR = (ROOT / "examples/parameter-tags/out/ir.json").read_bytes()
CONFIG = b'{"chat_template": [{"name": "default", "template": "{{ x }}"}], "eos_token": {"content": "<end>"}, "n": 12}'
TOOLS = b'[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}}]'
EXAMPLES = b'{"message": {"role": "assistant", "content": "hi"}, "text": "hi<end>"}\n'
TOLERANCES = b'{"tolerances": [{"kind": "python_literals", "enabled": false}]}'
MANIFEST = b"""\
[options]
seed = 3
[models.a]
source = "a.jinja"
outputs = ["a.py", {path = "b", target = "peg"}]
special-tokens = {bos_token = "<s>"}
limits = {memory_mb = 512}
"""
# What readers stumble over.
HARD = [
    b"[" * 2000,
    b'{"a":' * 2000,
    b"9" * 5000,
    b"-" + b"9" * 5000,
    b"1e999999",
    b"NaN",
    b"\\ud800",
    b"\xff\xfe",
    b"\0",
    b'"',
    b"{",
    b"}",
    b"null",
    b"[]",
    b"{}",
    b"-1",
    b'""',
    b"true",
    b"\n",
    b"a.b.c=" * 500,
]


def gguf() -> bytes:
    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    tokens = text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text(b"<s>") + text(b"</s>")
    number = text(b"tokenizer.ggml.bos_token_id") + struct.pack("<II", 4, 0)
    floats = text(b"general.floats") + struct.pack("<IIQff", 9, 6, 2, 1.0, 2.0)
    template = text(b"tokenizer.chat_template") + struct.pack("<I", 8) + text(b"{{ x }}")
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 4) + tokens + number + floats + template


@st.composite
def changed(draw: st.DrawFn, data: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        put = draw(st.one_of(st.sampled_from(HARD), st.binary(max_size=8), st.just(data[start:end] * 2)))
        data = data[:start] + put + data[end:]
    return data


READERS: list[tuple[str, bytes, Callable[[str], object]]] = [
    ("model.gguf", gguf(), load),
    ("tokenizer_config.json", CONFIG, load),
    ("tools.json", TOOLS, read_tools),
    ("schema.json", TOOLS[1:-1], read_schema),
    ("any.json", TOOLS, read_json),
    ("examples.jsonl", EXAMPLES, read_examples),
    ("tolerances.json", TOLERANCES, read_tolerances),
    ("tplc.toml", MANIFEST, load_manifest),
]


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("name", "data", "read"), READERS, ids=[name for name, _, _ in READERS])
def test_files_that_are_changed(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes, read: Callable[[str], object]
) -> None:
    path = tmp_path_factory.mktemp("read") / name
    path.write_bytes(data)
    read(str(path))

    @settings(
        max_examples=amount(60, sweep=150), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(changed(data))
    def tried(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read(str(path))
        except SourceError as error:
            assert str(error).startswith(str(path))

    tried()


@pytest.mark.sweep(1)
@settings(max_examples=amount(60, sweep=150), deadline=None, derandomize=True)
@given(changed(IR))
def test_an_ir_that_is_changed(data: bytes) -> None:
    """An IR that is read makes every artifact, or one error."""
    try:
        ir = driver.load_ir(data.decode("utf-8", "replace"))
        driver.generate(ir, "python")
        driver.generate(ir, "peg")
    except TplcError:
        return


FORMATS = ("parameter-tags", "python-literals", "pretty-json", "bare-json", "channels", "open-json")
IRS = [json.loads((ROOT / f"examples/{name}/out/ir.json").read_text(encoding="utf-8")) for name in FORMATS]
VALUES: list[object] = [None, "", "x", 0, -1, True, [], {}, [""], ["x", ""], {"kind": "object"}, {"kind": "pairs"}]
VALUES += [[{"slot": kind}] for kind in ("name", "value", "arguments", "key", "id", "index", "type")]


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield (*path, key)
        yield from places(member, (*path, key))


@pytest.mark.sweep(1)
@settings(max_examples=amount(150, sweep=400), deadline=None, derandomize=True)
@given(st.data())
def test_an_ir_with_other_values(data: st.DataObject) -> None:
    changed: Any = copy.deepcopy(data.draw(st.sampled_from(IRS)))
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from([place for place in places(changed) if place[0] != "verification"]))
        where = changed
        for key in path:
            where = where[key]
        where[last] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    try:
        ir = driver.load_ir(json.dumps(changed))
        driver.generate(ir, "python")
        driver.generate(ir, "peg")
        driver.make_grammar(ir, driver.GrammarOptions(tools=tuple(json.loads(TOOLS))))
    except TplcError:
        return
