"""Which added tokens of a tokenizer a format keeps, and what is known of them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import ROOT
from tplc import compile_template
from tplc.doctor.advice import advise
from tplc.driver import load_ir, tolerate
from tplc.ir.nodes import Token, Tolerance
from tplc.ir.serialize import dumps
from tplc.ir.tokens import tokens_in
from tplc.serving.template import ChatTemplate
from tplc.sources import load

TEMPLATE = (ROOT / "examples" / "tagged-json" / "template.jinja").read_text(encoding="utf-8")
TOKENS = (
    Token("<~/~>", 3, special=True, ends=True),
    Token("<fn>", 4),
    Token("</fn>", 5),
    Token("<pad>", 0, special=True),
    Token("<|end of text|>", 9, special=True, ends=True),
    Token("<Fn>", 6),
    Token("{", 7),
    Token("\n\n", 8),
)


def test_tokens_that_occur_in_markers_or_end_an_answer() -> None:
    ir = compile_template(TEMPLATE, added_tokens=TOKENS)
    assert [token.text for token in ir.tokens] == ["</fn>", "<fn>", "<|end of text|>", "<~/~>"]
    assert set(ir.tokens) < set(TOKENS)
    assert load_ir(dumps(ir)) == ir


def test_stops_are_known_by_their_numbers() -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}]}
    with ChatTemplate(TEMPLATE, added_tokens=TOKENS) as ready:
        assert ready.prepare(request).stop_token_ids == (3, 9)
    ir = compile_template(TEMPLATE, added_tokens=TOKENS)
    advice = [(one.place, one.what, one.text) for one in advise(ir, "m", [token.text for token in TOKENS])]
    assert ("format", "stop ids", "3, 9") in advice
    assert [place for place, what, _ in advice if what == "tokens"] == ["vLLM", "SGLang", "llama.cpp"]


def test_texts_alone_are_tokens_without_a_number() -> None:
    ir = compile_template(TEMPLATE, added_tokens=["<fn>", "<pad>"])
    assert ir.tokens == (Token("<fn>"),)


def test_a_variant_may_hold_a_token_of_its_own() -> None:
    given = [Tolerance("variant", marker="<fn>", text="<Fn>", reason="seen")]
    ir = compile_template(TEMPLATE, added_tokens=TOKENS, tolerances=given)
    assert [token.text for token in ir.tokens] == ["</fn>", "<Fn>", "<fn>", "<|end of text|>", "<~/~>"]


def test_without_a_tokenizer_there_are_none() -> None:
    assert tolerate(compile_template(TEMPLATE)).tokens == ()
    assert tokens_in(["<a>"], ()) == ()


def test_a_folder_names_the_tokens_that_end_an_answer(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    added = {str(token.id): {"content": token.text, "special": token.special} for token in TOKENS}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}), encoding="utf-8")
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [3, 9]}', encoding="utf-8")
    assert sorted(load(str(tmp_path)).added_tokens, key=repr) == sorted(TOKENS, key=repr)
