"""List what vLLM, SGLang, llama.cpp and transformers need for a format: flags, stop texts, tokens, the target to use.

    TemplateIR, its tokenizer's tokens  →  [Advice("vLLM", "serve", "vllm serve … --tool-call-parser hf …"), …]

Read against vLLM 0.33, SGLang 0.5.23, llama.cpp of 2026 and transformers 5.23: their interfaces move.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tplc.backends.response_template import CannotExpress, response_template
from tplc.ir.nodes import TemplateIR
from tplc.ir.stand_ins import names_stood_for
from tplc.ir.tokens import MarkerTokens, marker_tokens, stop_token_ids
from tplc.lower import lower
from tplc.lower.stops import known_stops, stops
from tplc.targets.plugins import Server, default_name

VERSIONS = "vLLM 0.33, SGLang 0.5.23, llama.cpp of 2026, transformers 5.23"
_READ_BY_TRANSFORMERS = "tokenizer.parse_response(text, prefix=prompt, tools=tools)"


@dataclass(frozen=True, slots=True)
class Advice:
    """`place` is the format itself or a server, `what` is set there: a text, values of the format, or both.

    `tokens`: those of the tokenizer that the values, one marker, are made of.
    """

    place: str
    what: str
    text: str = ""
    values: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = _shown(self.values)
        if self.what == "marker":
            return f"{values} is {self.text}" + (
                f": {_shown(self.tokens)}" if self.tokens not in ((), self.values) else ""
            )
        return ": ".join(filter(None, (self.text, values)))


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where the advice is asked for: the model's tokenizer_config.json from there, the `model_type` of its config.json
    ("" if it isn't known), and the packages that are missing."""

    tokenizer_config: str = "tokenizer_config.json"
    model_type: str = ""
    missing: frozenset[str] = frozenset()


def advise(
    ir: TemplateIR,
    source: str,
    added_tokens: Sequence[str],
    asked: Deployment | None = None,
    options: Sequence[str] = (),
) -> tuple[Advice, ...]:
    """Return the advice for a format.  `source` and `options` are what commands to paste name the template with."""
    asked = asked or Deployment()
    markers = marker_tokens(ir, added_tokens)
    # Such that it is a module's name, too, and the name that the file gives.
    name = default_name("-", source, "vllm").replace("-", "_")
    source = shlex.join([source, *options])
    return (
        *_format(ir, markers, asked, known=bool(added_tokens)),
        *_of_model_type("vLLM", asked.model_type),
        *_vllm(ir, source, name, markers, asked),
        *_sglang(ir, source, name, markers, asked),
        *_gguf_server(ir, source, markers),
        *_llguidance(ir, source, name, asked, known=bool(added_tokens)),
        *_transformers(ir, source, asked),
    )


def _of_model_type(server: str, model_type: str) -> Iterator[Advice]:
    """Yield advice about special cases of a server for this model type; they are data, because templates don't show
    them."""
    known = json.loads((Path(__file__).parent / "model_types.json").read_text(encoding="utf-8"))
    for text in known[server].get(model_type, ()):
        yield Advice(server, "model type", text)


def _format(ir: TemplateIR, markers: Sequence[MarkerTokens], asked: Deployment, *, known: bool) -> Iterator[Advice]:
    place = "format"
    acceptor = lower(ir)
    known_ends, not_given = known_stops(ir, acceptor), names_stood_for(" ".join(stops(ir, acceptor)))
    if known_ends or not not_given:
        yield Advice(place, "stop", *_listed(known_ends))
    for name in not_given:
        yield Advice(
            place, "stop", f"the {name}, which is not given here: --token {name}=TEXT, or name the model's folder"
        )
    numbers = stop_token_ids(ir, known_ends)
    if numbers:
        yield Advice(place, "stop ids", ", ".join(map(str, numbers)))
    yield Advice(place, "preserve", *_listed(ir.preserved_tokens))
    if "transformers" in asked.missing and _inexpressible(ir) is None and not _is_plain(ir):
        yield Advice(
            place,
            "install",
            "pip install 'tplc[transformers]' where you make response templates: its parser verifies them",
        )
    if not known:
        yield Advice(
            place,
            "tokens",
            "not known: without a tokenizer, special tokens can't be listed; "
            "name the model's folder, its tokenizer_config.json, or a GGUF file",
        )
        return
    for marker in markers:
        yield Advice(place, "marker", marker.kind, (marker.marker,), tuple(marker.tokens))


def _vllm(
    ir: TemplateIR, source: str, name: str, markers: Sequence[MarkerTokens], asked: Deployment
) -> Iterator[Advice]:
    place, file = "vLLM", f"{name}_vllm.py"
    calls, reasons = ir.tools.format != "none", _reasons(ir)
    fields = _fields(ir)
    built_in = ["vllm serve MODEL"]
    built_in += ["--enable-auto-tool-choice --tool-call-parser hf"] * ("tool_calls" in fields)
    built_in += ["--reasoning-parser hf"] * ("thinking" in fields)
    plugged = ["vllm serve MODEL"]
    plugged += [f"--enable-auto-tool-choice --tool-parser-plugin {file} --tool-call-parser {name}"] * calls
    plugged += [f"--reasoning-parser-plugin {file} --reasoning-parser {name}"] * reasons
    yield from _served(ir, source, asked, place, " ".join(built_in), "vllm", f"-o {file}", " ".join(plugged))
    yield from _kept(place, markers)
    if any(marker.tokens for marker in markers):
        yield Advice(
            place,
            "tokens",
            "the plug-in reads the ids of answers, streamed and whole: text that spells a token is text, and calls "
            "that are required open with the token alone",
        )
    if ir.tools.format != "none":
        if any(marker.tokens for marker in markers):
            yield Advice(
                place,
                "grammar",
                "none as GBNF: in a grammar request every special token is empty, so the markers can never be written",
            )
        else:
            yield Advice(
                place,
                "grammar",
                f"tplc prepare {source} makes it: send it as structured_outputs.grammar, unless it is lazy",
            )
        yield Advice(
            place,
            "required",
            "with the plug-in, required or named calls come in the model's format if tplc is installed next to the "
            "server; with the parser hf they are an error",
        )


def _sglang(
    ir: TemplateIR, source: str, name: str, markers: Sequence[MarkerTokens], asked: Deployment
) -> Iterator[Advice]:
    place = "SGLang"

    def launched(parser: str, calls: bool, reasons: bool) -> str:
        options = [f"--tool-call-parser {parser}"] * calls + [f"--reasoning-parser {parser}"] * reasons
        return " ".join(["python -m sglang.launch_server --model-path MODEL", *options])

    fields = _fields(ir)
    built_in = launched("response_template", "tool_calls" in fields, "thinking" in fields)
    named = launched(name, ir.tools.format != "none", _reasons(ir))
    plugged = f"{named}, after installing the file as a package (docs/servers.md)"
    yield from _served(ir, source, asked, place, built_in, "sglang", f"-o {name}_sglang.py", plugged)
    yield from _kept(place, markers)
    if any(marker.tokens for marker in markers):
        yield Advice(
            place,
            "tokens",
            "its parsers receive text alone: they can't distinguish text that spells a token. A client that requests "
            "the ids (return_output_ids_in_sglext) can. Required calls open with the token alone",
        )
    if ir.tools.format != "none":
        yield Advice(place, "grammar", f"tplc prepare {source} makes it: send it as ebnf, unless it is lazy")


def _gguf_server(ir: TemplateIR, source: str, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    place = "llama.cpp"
    yield Advice(
        place, "serve", "llama-server -m MODEL.gguf --jinja, and /v1/completions through the proxy of docs/vendoring.md"
    )
    if ir.tools.format != "none":
        yield Advice(
            place,
            "request",
            f"send the grammar, grammar_lazy, grammar_triggers and preserved_tokens that tplc prepare {source} makes",
        )
    else:
        yield Advice(place, "request", f"send the prompt and the stop texts that tplc prepare {source} makes")
    yield from _gguf_tokens(ir, markers)


def _gguf_tokens(ir: TemplateIR, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    if not any(marker.tokens for marker in markers):
        return
    forced = ", and -t gbnf --token-literals makes calls open with the token alone" if ir.tools.format != "none" else ""
    text = "/completion returns the ids (return_tokens): with them, text that spells a token is read as text"
    yield Advice("llama.cpp", "tokens", text + forced)


def _llguidance(ir: TemplateIR, source: str, name: str, asked: Deployment, *, known: bool) -> Iterator[Advice]:
    """Yield advice about servers that read grammars with llguidance: another dialect, in which tokens count."""
    if ir.tools.format == "none":
        return
    place = "llguidance"
    tokenizer = "" if known else " --tokenizer tokenizer.json"
    if "llguidance" in asked.missing:
        yield Advice(place, "install", "pip install 'tplc[lark]' where you make Lark grammars: llguidance checks them")
    yield Advice(place, "make", f"tplc compile {source} -t lark -o {name}.lark --tools tools.json{tokenizer}")
    yield Advice(
        place,
        "request",
        "llama.cpp built with it: send it as grammar, without triggers; vLLM on the guidance backend: as "
        "structured_outputs.grammar; SGLang with --grammar-backend llguidance: as ebnf",
    )


def _transformers(ir: TemplateIR, source: str, asked: Deployment) -> Iterator[Advice]:
    place = "transformers"
    feature = _inexpressible(ir)
    if feature is not None:
        yield Advice(place, "parse", f"not with a response template ({feature}): vendor the generated parser")
        yield Advice(place, "make", f"tplc compile {source} -o parser.py")
        return
    yield Advice(place, "make", f"tplc compile {source} --into {asked.tokenizer_config}")
    yield Advice(place, "parse", _READ_BY_TRANSFORMERS)
    if ir.reasoning.key and ir.reasoning.key != "thinking" and _reasons(ir):
        yield Advice(
            place,
            "reasoning",
            f"its key is {_message_key(ir)} here, and thinking with --profile servers: a tokenizer_config.json holds "
            "one response template, so choose one profile",
        )


def _served(
    ir: TemplateIR, source: str, asked: Deployment, place: str, built_in: str, server: Server, output: str, plugged: str
) -> Iterator[Advice]:
    """Yield advice about the server's own reader of response templates, if it can read the format, and about a
    plug-in."""
    if _is_plain(ir):
        yield Advice(place, "serve", "nothing to parse: the template writes neither calls nor reasoning")
        return
    feature = _inexpressible(ir)
    if feature is None:
        yield Advice(place, "make", f"tplc compile {source} --profile servers --into {asked.tokenizer_config}")
        yield Advice(place, "serve", built_in)
        yield Advice(place, "or make", f"tplc compile {source} -t {server} {output}")
        yield Advice(place, "and serve", plugged)
    else:
        yield Advice(place, "template", f"a response template cannot express this format: {feature}")
        yield Advice(place, "make", f"tplc compile {source} -t {server} {output}")
        yield Advice(place, "serve", plugged)


def _kept(place: str, markers: Sequence[MarkerTokens]) -> Iterator[Advice]:
    tokens = list(dict.fromkeys(token for marker in markers for token in marker.tokens))
    if tokens:
        yield Advice(
            place,
            "requests",
            "skip_special_tokens: false if no parser is set, because these are dropped otherwise",
            tuple(tokens),
        )


def _inexpressible(ir: TemplateIR) -> str | None:
    """Return why a response template can't express the format; None if it can, as far as is known without running
    it."""
    try:
        response_template(ir)
    except CannotExpress as error:
        return error.feature
    return None


def _fields(ir: TemplateIR) -> Collection[str]:
    """Return the fields of the format's response template: servers refuse an option whose field is missing."""
    try:
        fields = response_template(ir, "servers").template["fields"]
    except CannotExpress:
        return ()
    return [*fields] if isinstance(fields, dict) else ()


def _is_plain(ir: TemplateIR) -> bool:
    return ir.tools.format == "none" and not _reasons(ir)


def _reasons(ir: TemplateIR) -> bool:
    return ir.reasoning.mode != "none"


def _message_key(ir: TemplateIR) -> str:
    return ir.reasoning.key if ":" not in ir.reasoning.key else "reasoning_content"


def _listed(texts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return "" if texts else "nothing", tuple(texts)


def _shown(texts: Sequence[str]) -> str:
    return " ".join(json.dumps(text, ensure_ascii=False) for text in texts)
