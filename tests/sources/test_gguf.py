"""GGUF files, written here with the gguf package: named templates, tokens, damage."""

from __future__ import annotations

import struct
import time
import tracemalloc
from itertools import product
from pathlib import Path

import pytest

from tplc.errors import SourceError
from tplc.sources import TemplateSource, load

gguf = pytest.importorskip("gguf")
numpy = pytest.importorskip("numpy")


def write(path: Path, template: object, *, tokens: bool = True, tensor: bool = False) -> bytes:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    if tokens:
        writer.add_token_list(["<unk>", "<s>", "</s>", "<pad>", "é"])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_pad_token_id(99)  # beyond the list
    if template is not None:
        writer.add_chat_template(template)
    if tensor:
        writer.add_tensor("weight", numpy.zeros((64, 64), dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def test_one_template(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write(path, "{{ é }}")
    assert load(str(path)) == TemplateSource("model.gguf", "{{ é }}", TOKENS, str(path), (str(path),))


def test_the_suffix_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    write(path, "x", tokens=False)
    assert load(str(path)) == TemplateSource("blob", "x", {}, str(path), (str(path),))


def test_named_templates(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write(
        path,
        [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}, {"name": "rag", "template": "r"}],
    )
    assert load(str(path)).text == "t"
    assert load(str(path), prefer_tools=False).text == "d"
    assert load(str(path), template_name="rag") == TemplateSource(
        "model.gguf:rag", "r", TOKENS, f"{path} (template 'rag')", (str(path),)
    )


def test_tensors_are_not_read(tmp_path: Path) -> None:
    """The head alone is enough, so a file cut before or within its tensors is read all the same."""
    path = tmp_path / "model.gguf"
    data = write(path, "x", tensor=True)
    assert load(str(path)).text == "x"
    path.write_bytes(data[: len(data) - 64 * 64 * 4 - 8])
    assert load(str(path)).text == "x"


def test_no_template(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write(path, None)
    with pytest.raises(SourceError) as caught:
        load(str(path))
    assert str(caught.value) == (
        f"{path}: there is no chat template\n"
        "    if the model follows a built-in template, name that as the source: builtin:chatml"
    )


def test_damage(tmp_path: Path) -> None:
    """Cut or changed anywhere: read, or one message."""
    path = tmp_path / "model.gguf"
    data = write(path, "x" * 50)
    cut = [data[:length] for length in range(4, len(data), 7)]
    changed = [data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :] for at in range(4, len(data), 5)]
    outcomes = set()
    for damaged in cut + changed:
        path.write_bytes(damaged)
        try:
            outcomes.add(type(load(str(path))))
        except SourceError as error:
            assert str(error).startswith(f"{path}: ")
            assert error.exit_code == 2
            outcomes.add(SourceError)
    assert outcomes == {TemplateSource, SourceError}


def test_big_endian_and_older(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    for order, version in product("<>", (2, 3)):
        path.write_bytes(
            head(pair("tokenizer.chat_template", text("x", order), 8, order), order=order, version=version)
        )
        assert load(str(path)).text == "x"


DAMAGED = "this GGUF file is damaged, or of an unknown kind: "


def text(value: str, order: str = "<") -> bytes:
    return struct.pack(f"{order}Q", len(value.encode())) + value.encode()


def pair(key: str, value: bytes, kind: int, order: str = "<") -> bytes:
    return text(key, order) + struct.pack(f"{order}I", kind) + value


def head(*pairs: bytes, order: str = "<", version: int = 3, count: int | None = None) -> bytes:
    counts = struct.pack(f"{order}IQQ", version, 0, len(pairs) if count is None else count)
    return b"GGUF" + counts + b"".join(pairs)


def listed(kind: int, count: int) -> bytes:
    return struct.pack("<IQ", kind, count)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (head(pair("a", listed(4, 2**40), 9)), "it ends too early"),
        (head(pair("a", listed(4, 2**63), 9)), "it ends too early"),
        (head(pair("a", listed(8, 2**40), 9)), "a list of 1,099,511,627,776"),
        (head(pair("tokenizer.ggml.tokens", listed(8, 2**40), 9)), "a list of 1,099,511,627,776"),
        (head(pair("tokenizer.ggml.tokens", listed(4, 1), 9)), "its tokens are not strings"),
        (head(pair("a", listed(9, 1) * 5000, 9)), "its lists are nested"),
        (head(pair("a", b"", 77)), "a value of the unknown kind 77"),
        (head(count=2**60), "it has 1,152,921,504,606,846,976 keys"),
        (head(count=9), "it ends too early"),
        (head(pair("tokenizer.chat_template", struct.pack("<Q", 2**50), 8)), "a text of 1,125,899,906,842,624 bytes"),
        (head(pair("a", struct.pack("<Q", 2**50), 8)), "it ends too early"),
        (head(struct.pack("<Q", 2**50)), "a text of 1,125,899,906,842,624 bytes"),
        (head(version=1), "version 1; 2 and 3 are read"),
        (head(version=4), "version 4; 2 and 3 are read"),
        (b"GGUF", "it ends too early"),
        (head(pair("tokenizer.chat_template", struct.pack("<Q", 1) + b"\xff", 8)), "a text of it is not UTF-8"),
    ],
)
def test_what_no_file_has(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(SourceError) as caught:
            load(str(path))
        assert str(caught.value) == f"{path}: {DAMAGED}{problem}"
        assert caught.value.exit_code == 2
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
        assert time.process_time() - start < 5
    finally:
        tracemalloc.stop()
