"""What vLLM, SGLang, llama.cpp and transformers have to be told of a format: flags, stops, tokens, the target to use.

    TemplateIR, its tokenizer's tokens  →  [Advice("vLLM", "serve", "vllm serve … --tool-call-parser hf …"), …]

Read against vLLM 0.33, SGLang 0.5.23, llama.cpp of 2026 and transformers 5.23: their interfaces move.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tplc.backends.response_template import CannotSay, response_template
from tplc.ir.nodes import TemplateIR
from tplc.ir.tokens import MarkerTokens, marker_tokens

VERSIONS = "vLLM 0.33, SGLang 0.5.23, llama.cpp of 2026, transformers 5.23"
_READ_BY_TRANSFORMERS = "tokenizer.parse_response(text, prefix=prompt, tools=tools)"


@dataclass(frozen=True, slots=True)
class Advice:
    """`place` is the format itself or a server, `what` is set there."""

    place: str
    what: str
    text: str


def advise(ir: TemplateIR, source: str, added_tokens: Sequence[str]) -> tuple[Advice, ...]:
    """`source` is what the commands to paste name."""
    markers = marker_tokens(ir, added_tokens)
    source = shlex.quote(source)
    return (
        *_format(ir, markers, known=bool(added_tokens)),
        *_vllm(ir, source, markers),
        *_sglang(ir, source, markers),
        *_gguf_server(ir, source),
        *_llguidance(ir, source, known=bool(added_tokens)),
        *_transformers(ir, source),
    )


def _format(ir: TemplateIR, markers: Sequence[MarkerTokens], *, known: bool) -> Iterator[Advice]:
    place = "format"
    yield Advice(place, "stop", _shown([end.strip() for end in ir.turn.ends if end.strip()]))
    yield Advice(place, "preserve", _shown(ir.preserved_tokens))
    if not known:
        yield Advice(
            place,
            "tokens",
            "not known: there is no tokenizer here, so which markers are tokens of its own cannot be told; "
            "name the model's folder, its tokenizer_config.json, or a GGUF file",
        )
        return
    for marker in markers:
        detail = "" if marker.kind in ("one token", "text") else f": {' '.join(map(json.dumps, marker.tokens))}"
        yield Advice(place, "marker", f"{json.dumps(marker.marker, ensure_ascii=False)} is {marker.kind}{detail}")


def _vllm(ir: TemplateIR, source: str, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    place = "vLLM"
    yield from _served(
        ir,
        source,
        place,
        "vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hf" + " --reasoning-parser hf" * _reasons(ir),
        "a tool parser plug-in around the generated parser (docs/vendoring.md): --tool-parser-plugin FILE",
    )
    yield from _kept(place, markers)
    if ir.tools.format != "none":
        if any(marker.tokens for marker in markers):
            yield Advice(
                place,
                "grammar",
                "none as GBNF: in a grammar request every special token is empty, so the markers can never be written",
            )
        else:
            yield Advice(
                place, "grammar", f"tplc prepare {source} gives it: structured_outputs.grammar, unless it is lazy"
            )
        yield Advice(
            place,
            "tool_choice",
            "required and named force a JSON list and not the model's format; with the parser hf they are an error",
        )


def _sglang(ir: TemplateIR, source: str, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    place = "SGLang"
    reasoning = " --reasoning-parser response_template" * _reasons(ir)
    yield from _served(
        ir,
        source,
        place,
        f"python -m sglang.launch_server --model-path MODEL --tool-call-parser response_template{reasoning}",
        "a detector around the generated parser (docs/vendoring.md), registered by a package: no flag takes a file",
    )
    yield from _kept(place, markers)
    if ir.tools.format != "none":
        yield Advice(place, "grammar", f"tplc prepare {source} gives it: ebnf, unless it is lazy")


def _gguf_server(ir: TemplateIR, source: str) -> Iterator[Advice]:
    place = "llama.cpp"
    yield Advice(
        place, "serve", "llama-server -m MODEL.gguf --jinja, and /v1/completions behind the proxy of docs/vendoring.md"
    )
    if ir.tools.format != "none":
        yield Advice(
            place,
            "request",
            f"tplc prepare {source} gives grammar, grammar_lazy, grammar_triggers and preserved_tokens: send all four",
        )
    else:
        yield Advice(place, "request", f"tplc prepare {source} gives prompt and stops")


def _llguidance(ir: TemplateIR, source: str, *, known: bool) -> Iterator[Advice]:
    """Where grammars are read by it: another dialect, in which tokens count."""
    if ir.tools.format == "none":
        return
    place = "llguidance"
    tokenizer = "" if known else " --tokenizer tokenizer.json"
    yield Advice(place, "make", f"tplc compile {source} -t lark --tools tools.json{tokenizer}")
    yield Advice(
        place,
        "request",
        "llama.cpp built with it: grammar, without triggers; vLLM on the guidance backend: "
        "structured_outputs.grammar; SGLang with --grammar-backend llguidance: ebnf",
    )


def _transformers(ir: TemplateIR, source: str) -> Iterator[Advice]:
    place = "transformers"
    said = _said(ir)
    if said is not None:
        yield Advice(place, "parse", f"not with a response template ({said}): vendor the generated parser")
        yield Advice(place, "make", f"tplc compile {source} -o parser.py")
        return
    yield Advice(place, "make", f"tplc compile {source} --into tokenizer_config.json")
    yield Advice(place, "parse", _READ_BY_TRANSFORMERS)
    if ir.reasoning.key and ir.reasoning.key != "thinking" and _reasons(ir):
        yield Advice(
            place,
            "reasoning",
            f"is called {_message_key(ir)} here and thinking on servers: one file serves one of them",
        )


def _served(ir: TemplateIR, source: str, place: str, command: str, otherwise: str) -> Iterator[Advice]:
    said = _said(ir)
    if ir.tools.format == "none" and not _reasons(ir):
        yield Advice(place, "serve", "nothing to parse: the template writes neither calls nor reasoning")
    elif said is None:
        yield Advice(place, "make", f"tplc compile {source} --profile servers --into tokenizer_config.json")
        yield Advice(place, "serve", command)
    else:
        yield Advice(place, "serve", f"not with a response template ({said}); {otherwise}")
        yield Advice(place, "make", f"tplc compile {source} -o parser.py --openai")


def _kept(place: str, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    tokens = list(dict.fromkeys(token for marker in markers for token in marker.tokens))
    if tokens:
        yield Advice(
            place, "requests", f"skip_special_tokens: false where no parser is set: else {_shown(tokens)} are dropped"
        )


def _said(ir: TemplateIR) -> str | None:
    """Why a response template cannot say the format; None when it can, as far as can be told without running it."""
    try:
        response_template(ir)
    except CannotSay as error:
        return error.feature
    return None


def _reasons(ir: TemplateIR) -> bool:
    return ir.reasoning.mode != "none"


def _message_key(ir: TemplateIR) -> str:
    return ir.reasoning.key if ":" not in ir.reasoning.key else "reasoning_content"


def _shown(texts: Sequence[str]) -> str:
    return " ".join(json.dumps(text, ensure_ascii=False) for text in texts) or "nothing"
