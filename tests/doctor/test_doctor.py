"""The advice of the doctor, and the tokens that markers consist of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE, Run, run
from tests.example_case import EXAMPLES
from tplc.doctor import advise
from tplc.doctor.advice import Deployment
from tplc.driver import learn_format, load_ir, open_renderer
from tplc.ir.nodes import TemplateIR
from tplc.ir.tokens import marker_tokens
from tplc.targets.plugins import default_name

__all__ = ["run"]


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
    plain = {(one.place, one.what): str(one) for one in advise(ir, "m", ["<s>"])}
    special = {(one.place, one.what): str(one) for one in advise(ir, "m", ["<fn>", "</fn>"])}
    assert plain["vLLM", "grammar"] == (
        "tplc prepare m makes it: send it as structured_outputs.grammar, unless it is lazy"
    )
    assert special["vLLM", "grammar"].startswith("none as GBNF: in a grammar request every special token is empty")
    assert ("SGLang", "requests") not in plain
    assert special["SGLang", "requests"] == (
        'skip_special_tokens: false if no parser is set, because these are dropped otherwise: "<fn>" "</fn>"'
    )
    assert ("llama.cpp", "tokens") not in plain
    assert special["llama.cpp", "tokens"] == (
        "/completion returns the ids (return_tokens): with them, text that spells a token is read as text, and -t gbnf "
        "--token-literals makes calls open with the token alone"
    )


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/template.jinja")))
def test_servers_get_only_the_parsers_that_the_format_has(name: str) -> None:
    """A server refuses to start with the parser hf for a part that the response template doesn't have."""
    ir = example_ir(name)
    parsers = {"--tool-call-parser": ir.tools.format != "none", "--reasoning-parser": ir.reasoning.mode != "none"}
    for place in ("vLLM", "SGLang"):
        served = [str(one) for one in advise(ir, "m", ()) if one.place == place and "MODEL" in one.text]
        assert served or not any(parsers.values())
        for command in served:
            assert {option: option in command for option in parsers} == parsers, command


def test_without_a_tokenizer() -> None:
    reported = [str(one) for one in advise(example_ir("tagged-json"), "m", ()) if one.what == "tokens"]
    assert [text.partition(":")[0] for text in reported] == ["not known"]


def reported(name: str, source: str, place: str) -> dict[str, str]:
    return {one.what: str(one) for one in advise(example_ir(name), source, ()) if one.place == place}


def test_plug_ins_with_commands_to_paste() -> None:
    vllm, sglang = (reported("tagged-json", "models/Hut-V3.1.jinja", place) for place in ("vLLM", "SGLang"))
    assert vllm["or make"] == "tplc compile models/Hut-V3.1.jinja -t vllm -o Hut_V3_1_vllm.py"
    assert vllm["and serve"] == (
        "vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin Hut_V3_1_vllm.py --tool-call-parser Hut_V3_1 "
        "--reasoning-parser-plugin Hut_V3_1_vllm.py --reasoning-parser Hut_V3_1"
    )
    assert sglang["and serve"].startswith(
        "python -m sglang.launch_server --model-path MODEL --tool-call-parser Hut_V3_1 --reasoning-parser Hut_V3_1, "
    )
    # The file's name gives the one that the commands say.
    assert (
        default_name("Hut_V3_1_vllm.py", "", "vllm") == default_name("Hut_V3_1_sglang.py", "", "sglang") == "Hut_V3_1"
    )


UNSAID = (
    '{% for m in messages %}{% if m.role == "assistant" %}<bot>{{ m.content or "" }}'
    '{% for c in m.tool_calls or [] %}<act>{{ {"tool-name": c.function.name, "with": c.function.arguments} | tojson }}'
    "</act>{% endfor %}<end>{% else %}<{{ m.role }}>{{ m.content }}<stop>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<bot>{% endif %}"
)


def test_a_format_that_no_response_template_can_say() -> None:
    with open_renderer(UNSAID, name="m") as renderer:
        ir = learn_format(renderer, name="m", source_text=UNSAID)
    found = [(one.place, one.what, str(one)) for one in advise(ir, "m", ())]
    assert [(what, text) for place, what, text in found if place == "vLLM"][:3] == [
        (
            "template",
            "a response template cannot express this format: a member of calls whose name isn't a word ('tool-name')",
        ),
        ("make", "tplc compile m -t vllm -o m_vllm.py"),
        ("serve", "vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin m_vllm.py --tool-call-parser m"),
    ]
    assert "install" not in [what for _, what, _ in found]


def test_where_a_model_stops() -> None:
    assert reported("tagged-json", "m", "format")["stop"] == '"<~/~>"'
    # After a call, another one may come: only the next message's header ends the turn there.
    assert reported("channels", "m", "format")["stop"] == '"{done}" "{start}user{body}"'
    ir = example_ir("tagged-json")
    ir = replace(ir, turn=replace(ir.turn, ends=("<eos_token:not-given>",)))
    assert [str(one) for one in advise(ir, "m", ()) if one.what == "stop"] == [
        "the eos_token, which is not given here: --token eos_token=TEXT, or name the model's folder"
    ]


def test_a_format_without_anything_to_parse() -> None:
    served = {one.place: str(one) for one in advise(example_ir("plain-chat"), "m", ()) if one.what == "serve"}
    assert served["vLLM"] == served["SGLang"] == ("nothing to parse: the template writes neither calls nor reasoning")


def test_commands_name_the_source_as_a_shell_takes_it() -> None:
    made = [str(one) for one in advise(example_ir("tagged-json"), "my model", ()) if one.what == "make"]
    assert made[0] == "tplc compile 'my model' --profile servers --into tokenizer_config.json"


def test_commands_repeat_the_options_that_choose_the_template() -> None:
    options = ["--template-name", "tool_use", "--token", "eos_token=</s>"]
    named = "a.jinja --template-name tool_use --token 'eos_token=</s>'"
    advice = advise(example_ir("tagged-json"), "a.jinja", (), options=options)
    commands = [one.text for one in advice if one.text.startswith("tplc compile ")]
    assert len(commands) >= 4
    assert all(command.startswith(f"tplc compile {named} ") for command in commands)
    assert f"tplc compile {named} -t lark -o a.lark --tools tools.json --tokenizer tokenizer.json" in commands


def test_packages_are_named_only_if_they_are_missing() -> None:
    def installs(missing: frozenset[str]) -> dict[str, str]:
        found = advise(example_ir("tagged-json"), "m", (), Deployment(missing=missing))
        return {one.place: str(one) for one in found if one.what == "install"}

    assert installs(frozenset()) == {}
    assert installs(frozenset(["transformers", "llguidance"])) == {
        "format": "pip install 'tplc[transformers]' where you make response templates: its parser verifies them",
        "llguidance": "pip install 'tplc[lark]' where you make Lark grammars: llguidance checks them",
    }


@pytest.mark.sweep(3)
@pytest.mark.parametrize("named", ["models/hut", "models/hut/tokenizer_config.json", "models/hut/chat_template.jinja"])
def test_paths_are_relative_to_where_it_was_called(run: Run, tmp_path: Path, named: str) -> None:
    folder = tmp_path / "models" / "hut"
    folder.mkdir(parents=True)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt_oss"}))
    found = json.loads(run("doctor", named, "--json").out)
    made = [one["text"] for one in found if one["what"] == "make" and "--into" in one["text"]]
    assert [text.split(" --into ")[1] for text in made] == ["models/hut/tokenizer_config.json"] * 3
    reported = [one["text"].partition(":")[0] for one in found if one["what"] == "model type"]
    assert reported == [
        "vLLM 0.33 parses answers of this model_type (config.json) itself, and refuses plug-ins and the parser hf",
        "use its parser",
        "or override the type, or use a proxy",
    ]
    (folder / "config.json").write_text('{"model_type": "hut"}')
    assert "model type" not in run("doctor", named).out
    (tmp_path / "alone.jinja").write_text(TEMPLATE)
    assert "--into tokenizer_config.json" in run("doctor", "alone.jinja").out
