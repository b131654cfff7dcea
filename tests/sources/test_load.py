"""Every kind of source, and what each kind of bad input gets: one message, exit code 2."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from tplc.errors import SourceError
from tplc.ir.nodes import Json, Token
from tplc.render import Renderer
from tplc.sources import TemplateSource, load, load_tokens

PLAIN = "{{ messages[0].content }}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in this folder, so that messages contain no path of this machine."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, content: str | bytes | Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def problem(source: str, template_name: str | None = None) -> str:
    with pytest.raises(SourceError) as caught:
        load(source, template_name=template_name)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_file(here: Path) -> None:
    write(here / "sub" / "chat.jinja", PLAIN)
    assert load("sub/chat.jinja") == TemplateSource("chat.jinja", PLAIN, {}, "sub/chat.jinja", ("sub/chat.jinja",))
    assert load("sub/chat.jinja", template_name="default").text == PLAIN
    assert problem("sub/chat.jinja", "rag") == "sub/chat.jinja: this is one template: there is none named 'rag' in it"


def test_a_byte_order_mark_is_no_part_of_the_template(here: Path) -> None:
    write(here / "chat.jinja", b"\xef\xbb\xbf" + PLAIN.encode())
    assert load("chat.jinja").text == PLAIN


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xc3\xa9 " + PLAIN.encode())))
    assert load("-") == TemplateSource("stdin", "é " + PLAIN, {}, "standard input")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert problem("-") == "standard input: the template is empty"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_pipe_with_a_name(here: Path) -> None:
    """The shell's <(…) makes a pipe that can be read once."""
    reading, writing = os.pipe()
    os.write(writing, PLAIN.encode())
    os.close(writing)
    assert load(f"/dev/fd/{reading}").text == PLAIN
    os.close(reading)


def test_tokenizer_config(here: Path) -> None:
    write(
        here / "tokenizer_config.json",
        {
            "chat_template": PLAIN,
            "bos_token": {"__type": "AddedToken", "content": "<s>"},
            "eos_token": "</s>",
            "unk_token": None,
            "add_bos_token": True,
            "extra_special_tokens": {"turn_token": "<turn>"},
        },
    )
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "turn_token": "<turn>"}
    assert load("tokenizer_config.json") == TemplateSource(
        "tokenizer_config.json", PLAIN, tokens, "tokenizer_config.json", ("tokenizer_config.json",)
    )


CONFIG = ("m/tokenizer_config.json",)
NAMED: Json = [
    {"name": "default", "template": "d"},
    {"name": "tool_use", "template": "t"},
    {"name": "rag", "template": "r"},
]


@pytest.mark.parametrize("value", [NAMED, {"default": "d", "tool_use": "t", "rag": "r"}], ids=["list", "object"])
def test_named_templates(here: Path, value: Json) -> None:
    write(here / "m" / "tokenizer_config.json", {"chat_template": value})
    assert load("m") == TemplateSource("m:tool_use", "t", {}, "m (template 'tool_use')", CONFIG)
    assert load("m", prefer_tools=False) == TemplateSource("m:default", "d", {}, "m (template 'default')", CONFIG)
    assert load("m", template_name="rag") == TemplateSource("m:rag", "r", {}, "m (template 'rag')", CONFIG)
    assert problem("m", "other") == "m: there is no template named 'other'\n    there is: default, rag, tool_use"


def test_several_templates_without_a_default(here: Path) -> None:
    write(here / "m.json", {"chat_template": {"b": "1", "a": "2"}})
    assert (
        problem("m.json") == "m.json: there are 2 templates, and none is named 'default'\n"
        "    choose one by its name (--template-name): a, b"
    )
    write(here / "one.json", {"chat_template": {"b": "1"}})
    assert load("one.json").text == "1"


def test_folder(here: Path) -> None:
    """Template files stand in for those of the config; the config's tokens for those of the map."""
    write(here / "m" / "chat_template.jinja", "file")
    write(here / "m" / "tokenizer_config.json", {"chat_template": "config", "eos_token": "<end>"})
    write(here / "m" / "special_tokens_map.json", {"eos_token": "<other>", "bos_token": {"content": "<s>"}})
    assert load("m/") == TemplateSource(
        "m",
        "file",
        {"bos_token": "<s>", "eos_token": "<end>"},
        "m/",
        ("m/chat_template.jinja", "m/special_tokens_map.json", "m/tokenizer_config.json"),
    )


@pytest.mark.parametrize("folder", ["chat_templates", "additional_chat_templates"])
def test_folder_with_template_files(here: Path, folder: str) -> None:
    write(here / "m" / "chat_template.jinja", "d")
    write(here / "m" / folder / "tool_use.jinja", "t")
    write(here / "m" / folder / "rag.jinja", "r")
    assert load("m").text == "t"
    assert load("m", template_name="default").text == "d"
    assert load("m", template_name="rag").text == "r"


def test_folder_with_a_template_in_its_own_json(here: Path) -> None:
    write(here / "m" / "tokenizer_config.json", {"bos_token": "<s>"})
    write(here / "m" / "chat_template.json", {"chat_template": PLAIN})
    assert load("m") == TemplateSource(
        "m", PLAIN, {"bos_token": "<s>"}, "m", ("m/chat_template.json", "m/tokenizer_config.json")
    )


def test_builtin() -> None:
    source = load("builtin:chatml")
    assert source.name == "chatml"
    talk: list[dict[str, Json]] = [{"role": "user", "content": "hi"}]
    with Renderer(source.text) as renderer:
        shown = renderer.render(talk, add_generation_prompt=True)
    assert shown == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert problem("builtin:x") == (
        "builtin:x: there is no such built-in template\n"
        "    if the model follows a built-in template, name that as the source: builtin:chatml"
    )


BAD_FILES: list[tuple[str, str | bytes | Json, str]] = [
    ("a.jinja", "", "a.jinja: the template is empty"),
    ("a.jinja", " \n\t", "a.jinja: the template is empty"),
    ("a.jinja", b"GIF89a\0\1", "a.jinja: this is not text: there is a NUL at byte 6"),
    ("a.jinja", b"ab\xff", "a.jinja: this is not UTF-8 text: byte 0xff at 2\n    save it as UTF-8"),
    ("a.jinja", b"x" * (5 << 20), "a.jinja: this is larger than 4 MB, too large for a template"),
    ("a.json", "", "a.json:1:1: is not JSON: Expecting value"),
    ("a.json", '{\n "a": }', "a.json:2:7: is not JSON: Expecting value"),
    ("a.json", [1], "a.json: expected a JSON object at the top, found a list"),
    (
        "a.json",
        {"chat_template": 1},
        "a.json: chat_template: expected a text or a list of named templates, found a number",
    ),
    (
        "a.json",
        {"chat_template": ["x"]},
        "a.json: chat_template[0]: expected an object with name and template, found a text",
    ),
    ("a.json", {"chat_template": [{"name": "x"}]}, "a.json: chat_template[0].template: expected a text, found null"),
    ("a.json", {"chat_template": [{"template": "x"}]}, "a.json: chat_template[0].name: expected a text, found null"),
    ("a.json", {"chat_template": {"x": True}}, "a.json: chat_template.x: expected a text, found a boolean"),
    ("a.json", {"chat_template": " "}, "a.json: the template is empty"),
    (
        "a.json",
        '{"chat_template": "ab\\ud800"}',
        "a.json: the template is not text: it contains half a character (a surrogate) at 2",
    ),
    ("a.json", b"[" * 200_000, "a.json: is not JSON that can be read: it is nested too deeply"),
    ("a.json", b"\xff{}", "a.json: this is not UTF-8 text: byte 0xff at 0\n    save it as UTF-8"),
    ("a.gguf", "text", "a.gguf: this GGUF file is damaged, or of an unknown kind: it does not begin with GGUF"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES)
def test_bad_file(here: Path, name: str, content: str | bytes | Json, message: str) -> None:
    write(here / name, content)
    assert problem(name) == message


@pytest.mark.parametrize("value", [{}, {"chat_template": None}, {"chat_template": ""}, {"chat_template": []}])
def test_model_without_a_template(here: Path, value: Json) -> None:
    write(here / "m" / "tokenizer_config.json", value)
    offer = "if the model follows a built-in template, name that as the source: builtin:chatml"
    assert problem("m/tokenizer_config.json") == f"m/tokenizer_config.json: there is no chat template\n    {offer}"
    looked_for = (
        "chat_template.jinja, chat_templates/*.jinja, additional_chat_templates/*.jinja, "
        "tokenizer_config.json, chat_template.json"
    )
    assert problem("m") == f"m: there is no chat template in this folder\n    looked for {looked_for}; {offer}"


def test_a_folder_with_templates_of_other_names(here: Path) -> None:
    head = "m: there is no chat template in this folder\n    did you mean "
    write(here / "m" / "b.jinja", PLAIN)
    assert problem("m").startswith(f"{head}m/b.jinja?\n    looked for chat_template.jinja, ")
    for name in "acd":
        write(here / "m" / f"{name}.jinja", PLAIN)
    assert problem("m").startswith(f"{head}m/a.jinja, m/b.jinja, m/c.jinja, …?\n    looked for ")


def test_bad_file_in_a_folder_is_named(here: Path) -> None:
    write(here / "m" / "tokenizer_config.json", "{")
    assert problem("m").startswith("m/tokenizer_config.json:1:2: is not JSON: ")
    write(here / "m" / "tokenizer_config.json", "{}")
    write(here / "m" / "chat_template.jinja", b"\0")
    assert problem("m") == "m/chat_template.jinja: this is not text: there is a NUL at byte 0"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no.jinja", "no.jinja: there is no such file or folder\n    this folder has no *.jinja"),
        ("./a/b", "./a/b: there is no such file or folder\n    the folder a does not exist"),
        ("/no/such", "/no/such: there is no such file or folder\n    the folder /no does not exist"),
        ("a/b.json", "a/b.json: there is no such file or folder\n    the folder a does not exist"),
        ("", "template: the name of its source is empty\n    give a file, a folder, a hub id, or - for stdin"),
    ],
)
def test_missing(here: Path, source: str, message: str) -> None:
    assert problem(source) == message


def test_what_was_meant(here: Path) -> None:
    write(here / "m" / "chat.jinja", PLAIN)
    missing = "there is no such file or folder\n    "
    assert problem("m/other.jinja") == f"m/other.jinja: {missing}m has chat.jinja"
    assert problem("./m/chat.jinj") == f"./m/chat.jinj: {missing}did you mean m/chat.jinja?"
    assert problem("m/chat.jinj") == f"m/chat.jinj: {missing}did you mean m/chat.jinja?"
    assert problem("moo/chat.txt") == f"moo/chat.txt: {missing}the folder moo does not exist"
    assert problem("./m.x/chat.jinja") == f"./m.x/chat.jinja: {missing}the folder m.x does not exist"
    write(here / "models" / "hut" / "chat.jinja", PLAIN)
    assert problem("./modles/hut/chat.jinja") == (
        f"./modles/hut/chat.jinja: {missing}did you mean models/hut/chat.jinja?"
    )
    assert problem("modles/hat/chat.jinj") == f"modles/hat/chat.jinj: {missing}did you mean models/hut/chat.jinja?"
    assert problem("models/hat") == (
        f"models/hat: {missing}did you mean models/hut?\n"
        "    models is a folder here, so the hub was not asked: models/hat@main asks it"
    )
    assert problem("https://host/org/model") == (
        f"https://host/org/model: {missing}URLs are not supported; name a hub model as org/model, or a local file"
    )


@pytest.mark.parametrize("name", ["p.py", "p.peg", "p.gbnf", "p.json"])
def test_what_tplc_made_is_no_template(here: Path, name: str) -> None:
    write(here / name, {"version": 1, "provenance": {}, "turn": {}})
    what = "an IR: it contains a format, not a template" if name == "p.json" else "an artifact, not a template"
    assert problem(name) == f"{name}: this is {what}\n    name the template that it is made from"


@pytest.mark.parametrize("source", ["a\0b", "x" * 5000, "\ud800"])
def test_impossible_name(here: Path, source: str) -> None:
    assert problem(source) == f"{source}: this cannot be the name of a file"


def test_a_model_knows_its_added_tokens(here: Path) -> None:
    write(here / "model" / "chat_template.jinja", PLAIN)
    write(here / "model" / "tokenizer_config.json", {"added_tokens_decoder": {"3": {"content": "<a>"}, "x": {}}})
    write(here / "model" / "tokenizer.json", {"added_tokens": [{"id": 4, "content": "<b>"}]})
    write(here / "model" / "generation_config.json", {"eos_token_id": [3, 9]})
    found = load("model")
    assert (found.special_tokens, found.added_tokens) == ({"eos_token": "<a>"}, (Token("<a>", 3, ends=True),))
    (here / "model" / "tokenizer_config.json").unlink()
    write(here / "model" / "config.json", {"eos_token_id": 4})
    found = load("model")
    assert (found.special_tokens, found.added_tokens) == ({"eos_token": "<b>"}, (Token("<b>", 4, ends=True),))


def test_tokens_of_a_tokenizer(here: Path) -> None:
    write(here / "model" / "tokenizer.json", {"added_tokens": [{"id": 4, "content": "<b>"}]})
    write(here / "model" / "special_tokens_map.json", {"eos_token": "<b>"})
    for source in ("model", "model/tokenizer.json"):
        found = load_tokens(source)
        assert (found.special_tokens, found.added_tokens) == ({"eos_token": "<b>"}, (Token("<b>", 4, ends=True),))
