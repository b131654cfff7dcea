"""The pipeline: one call per stage.

    source text → render → learn → check → tolerate → generate → verify → TemplateIR, and the artifact that was verified

The stages are imported where they run: a command that only prints a version loads none of them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

from tplc import given
from tplc.errors import InvalidIR, UnsupportedTemplate, UsageError, VerificationFailed, did_you_mean, unknown_name
from tplc.ir.check import check
from tplc.ir.nodes import Json, TemplateIR, Token, Tolerance, Verification
from tplc.ir.printed import printed
from tplc.ir.runtimes import Runtime
from tplc.ir.serialize import dumps, loads
from tplc.ir.tokens import with_marker_tokens
from tplc.ir.tolerances import apply_tolerances, check_tolerances
from tplc.ir.visible import one_line
from tplc.version import VERSION

if TYPE_CHECKING:
    from tplc.audit.warnings import TemplateWarning
    from tplc.backends.gbnf import Grammar
    from tplc.backends.lark import LarkGrammar
    from tplc.backends.response_template import Profile
    from tplc.catalogue import Entry
    from tplc.examples import Example
    from tplc.ir.tokens import AddedToken
    from tplc.learn.probe import Observer
    from tplc.render import Limits, Renderer
    from tplc.targets.response_template import Inexpressible
    from tplc.verify import Artifact
    from tplc.verify.causes import Tried

Target = Literal["python", "peg", "gbnf", "json", "response_template", "structural_tag", "lark", "vllm", "sglang"]
TARGETS: tuple[Target, ...] = get_args(Target)
# Made for the tools and the choice of one request.
FOR_A_REQUEST: tuple[Target, ...] = ("gbnf", "structural_tag", "lark")
# Targets that are grammars, or from which grammars can be made.
WITH_GRAMMARS: tuple[Target, ...] = (*FOR_A_REQUEST, "json", "vllm", "sglang")
# An error names the first ones; the IR contains more of them.
MOST_FAILURES = 3
# Formats that failed messages speak for, and that are verified too.
MOST_REPAIRS = 6
# As good as none, and numbers that the clock and the operating system take: of seconds, and of whole things.
MOST_SECONDS, MOST_THINGS = 10**6, 10**9
SUFFIXES: Mapping[str, Target] = {
    ".response_template.json": "response_template",
    ".structural_tag.json": "structural_tag",
    ".py": "python",
    ".peg": "peg",
    ".gbnf": "gbnf",
    ".lark": "lark",
    ".json": "json",
}


@dataclass(frozen=True, slots=True)
class ParserOptions:
    """`openai`, `responses`, `messages`: include the conversion to chat completions, OpenAI's responses, Anthropic's
    messages.

    `runtime`: in the file, shared next to it, or installed.  `main`: include a command line."""

    openai: bool = False
    runtime: Runtime = "standalone"
    main: bool = True
    responses: bool = False
    messages: bool = False


@dataclass(frozen=True, slots=True)
class GrammarOptions:
    """Options of all targets other than parsers, which have `parser`.

    `reasoning`: whether a structural tag covers the reasoning too, or only what follows it; `legacy`: write the tag's
    old form.  `tokens`: the tokenizer's added tokens, None if unknown.  `token_literals`: a grammar writes markers that
    are tokens as `<[ID]>`.  `command`: the command that regenerates the file, for its header.  `plugin_name`: the name
    of a plug-in's parsers in a server; `on_incomplete`: what a plug-in does with a call that the answer ends in.
    """

    tools: tuple[Mapping[str, Json], ...] = ()
    tool_choice: str = "auto"
    parallel_tool_calls: bool | None = None
    json_schema: Json | None = None
    context: Mapping[str, Json] | None = None
    any_order: bool = False
    strict: bool = False
    most_characters: int | None = None
    profile: Profile = "transformers"
    parser: ParserOptions = ParserOptions()
    reasoning: Literal["inside", "outside"] = "inside"
    legacy: bool = False
    tokens: tuple[AddedToken, ...] | None = None
    token_literals: bool = False
    command: str = ""
    plugin_name: str = ""
    on_incomplete: Literal["drop", "keep"] = "drop"


def compile_template(
    source_text: str,
    *,
    name: str = "template",
    special_tokens: Mapping[str, str] | None = None,
    added_tokens: Sequence[str | Token] = (),
    tolerances: Sequence[Tolerance] = (),
    catalogue: Sequence[Entry] | None = None,
    examples: Sequence[Example] = (),
    target: Target = "python",
    limits: Limits | Mapping[str, float] | None = None,
    seed: int = 0,
    thorough: bool = False,
    warn: Callable[[TemplateWarning], None] | None = None,
    profile: Profile = "transformers",
    on_inexpressible: Callable[[Inexpressible], None] | None = None,
    parser: ParserOptions | None = None,
    unsaid: Callable[[Inexpressible], None] | None = None,
) -> TemplateIR:
    """Learn the format of a template, and verify it with the artifact of `target`; the result is `ir.verification`.

    A failed verification is recorded in the result and not raised: `require_verified` raises it.  `warn` is called with
    each warning about the template; without it the template isn't checked for them.  `catalogue`: None is the one that
    ships with tplc.  `on_inexpressible` is called with each message that the target cannot express; `unsaid` is its
    deprecated name.  `parser` is for the targets that are verified by a generated parser.  `limits`: a complete set, or
    a mapping with those that differ from the default.
    """
    given.switch("thorough", thorough)
    _check_given(target=target, seed=seed, tolerances=tolerances, catalogue=catalogue, examples=examples)
    if unsaid is not None:
        warnings.warn("unsaid is now called on_inexpressible", DeprecationWarning, stacklevel=2)
    with (
        open_renderer(source_text, name=name, special_tokens=special_tokens, limits=limits) as renderer,
        renderer.within_total(),
    ):
        ir = learn_format(
            renderer,
            name=name,
            source_text=source_text,
            special_tokens=special_tokens,
            added_tokens=added_tokens,
            examples=examples,
        )
        if warn is not None:
            for warning in warnings_of(renderer, ir):
                warn(warning)
        ir = tolerate(ir, tolerances, catalogue)
        if target == "response_template":
            report = on_inexpressible or unsaid
            return _verified_response_template(ir, renderer, profile, seed=seed, thorough=thorough, report=report)
        return verify_ir(ir, renderer, target=target, examples=examples, seed=seed, thorough=thorough, parser=parser)


def _check_given(*, target: object, seed: object, tolerances: object, catalogue: object, examples: object) -> None:
    from tplc.catalogue import Entry
    from tplc.examples import Example

    _check_target(target)
    given.whole_number("seed", seed)
    given.listed("tolerances", tolerances, Tolerance, "Tolerance (tplc.ir.nodes)")
    given.listed("catalogue", catalogue, Entry, "Entry (tplc.catalogue)")
    given.listed("examples", examples, Example, "Example (tplc.examples)")


def _check_target(target: object) -> None:
    if target not in TARGETS:
        raise UsageError(unknown_name("target", target, TARGETS))


def _verified_response_template(
    ir: TemplateIR,
    renderer: Renderer,
    profile: Profile,
    *,
    seed: int,
    thorough: bool,
    report: Callable[[Inexpressible], None] | None,
) -> TemplateIR:
    from tplc.targets.response_template import verify_response_template

    result, left = verify_response_template(ir, renderer, profile, seed=seed, thorough=thorough)
    for one in left:
        if report is not None:
            report(one)
    return replace(ir, verification=result)


def open_renderer(
    source_text: str,
    *,
    name: str = "template",
    special_tokens: Mapping[str, str] | None = None,
    limits: Limits | Mapping[str, float] | None = None,
    probing: bool = True,
) -> Renderer:
    """Open a renderer.  `probing`: write stand-ins for special tokens that weren't given, so that a format shows their
    places; prompts for a model contain none."""
    from tplc.learn.tokens import stand_ins
    from tplc.render import Limits, Renderer

    given.text("source_text", source_text, "the text of a template (str)")
    given.text("name", name, "what the template is called (str)")
    given.texts_by_name("special_tokens", special_tokens)
    if isinstance(limits, Mapping):
        limits = make_limits(limits)
    limits, tokens = Limits() if limits is None else limits, dict(special_tokens or {})
    given.instance("limits", limits, Limits, 'Limits (tplc.render), or such as {"memory_mb": 512}')
    if "{" not in source_text and len(source_text) <= limits.source_chars:
        raise UnsupportedTemplate(name, _no_jinja(source_text))
    if probing and len(source_text) <= limits.source_chars:
        tokens |= stand_ins(source_text, tokens)
    return Renderer(source_text, name=name, special_tokens=tokens, limits=limits)


def _no_jinja(text: str) -> str:
    if not text.strip():
        return "the template is empty"
    file = ": give the text of the file, and not its name" if re.fullmatch(r"\S+\.\w+", text) else ""
    return f"the template contains no Jinja, so all conversations render the same{file}"


def make_limits(asked: Mapping[str, float]) -> Limits:
    """Return the default limits with the given ones; a limit that must be whole is truncated."""
    from tplc.render import Limits

    usual = asdict(Limits())
    for name, value in asked.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UsageError(f"limit {name}={value!r}: expected a number")
        if name not in usual:
            raise UsageError(f"limit {name}: no such limit{did_you_mean(name, usual)}; there are {', '.join(usual)}")
        whole = isinstance(usual[name], int)
        most = MOST_THINGS if whole else MOST_SECONDS
        if value > most:
            raise UsageError(f"limit {name}={value:g}: expected at most {most:,}")
        if not value > 0 or (whole and value < 1):
            raise UsageError(f"limit {name}={value:g}: expected {'1 or more' if whole else 'a number above 0'}")
    return Limits(**{**usual, **{name: type(usual[name])(value) for name, value in asked.items()}})


def template_variables(source_text: str) -> frozenset[str]:
    """Returns the names of the variables that a template reads and doesn't set itself."""
    from tplc.learn.candidates import undeclared

    return undeclared(source_text)


def learn_format(
    renderer: Renderer,
    *,
    name: str,
    source_text: str,
    special_tokens: Mapping[str, str] | None = None,
    added_tokens: Sequence[str | Token] = (),
    examples: Sequence[Example] = (),
    observer: Observer | None = None,
) -> TemplateIR:
    """Learn the format without verifying it.  `observer` is called with every probe of the template."""
    from tplc.learn import learn

    tokens = [token if isinstance(token, Token) else Token(token) for token in added_tokens]
    ir = learn(
        renderer,
        name=name,
        source=source_text,
        special_tokens=special_tokens,
        added_tokens=[token.text for token in tokens],
        examples=examples,
        version=VERSION,
        observer=observer,
    )
    # A variant may contain tokens that no marker does: `tolerate` drops those that stand in neither.
    ir = replace(ir, tokens=tuple({token.text: token for token in tokens}.values()))
    violations = check(ir)
    if violations:
        raise InvalidIR(name, tuple(map(str, violations)), printed(ir))
    return ir


def tolerate(
    ir: TemplateIR, tolerances: Sequence[Tolerance] = (), catalogue: Sequence[Entry] | None = None
) -> TemplateIR:
    """Return the format with the catalogue's variants for its markers (None: the shipped catalogue) and the user's
    tolerances.

    Raises ToleranceError for a declared one that does nothing.
    """
    from tplc.catalogue import apply_catalogue, shipped

    check_tolerances(ir, tolerances)
    found = apply_tolerances(apply_catalogue(ir, shipped() if catalogue is None else catalogue), tolerances)
    return with_marker_tokens(found)


def warnings_of(renderer: Renderer, ir: TemplateIR) -> tuple[TemplateWarning, ...]:
    """Return the warnings about a template with hidden behaviour: see `tplc.audit.warnings`."""
    from tplc.audit.warnings import find_warnings

    return find_warnings(renderer, ir)


def verify_ir(
    ir: TemplateIR,
    renderer: Renderer,
    *,
    target: Target = "python",
    examples: Sequence[Example] = (),
    seed: int = 0,
    thorough: bool = False,
    on_repair: Callable[[str, Verification], None] | None = None,
    parser: ParserOptions | None = None,
) -> TemplateIR:
    """Return the IR with the result of verifying what is generated from it.

    Failed messages suggest repairs of the format.  Each is verified as well, a bounded number of times, and the first
    with fewer failures is kept.  `on_repair` is called with the reason and the result of each repair that was tried.
    """
    from tplc.repair import repairs

    trial = partial(
        _verified,
        renderer=renderer,
        target=target,
        examples=examples,
        seed=seed,
        thorough=thorough,
        parser=parser,
    )
    ir, tried = trial(ir)
    tries = 0
    while not ir.verification.verified:
        for repair in repairs(ir, tried):
            if tries == MOST_REPAIRS or check(repair.ir):
                continue
            tries += 1
            other, shown = trial(repair.ir)
            if on_repair is not None:
                on_repair(repair.reason, other.verification)
            if failing(other.verification) < failing(ir.verification):
                ir, tried = other, shown
                break
        else:
            break
    if ir.verification.verified:
        ir, tried = _as_written(ir, tried, trial)
    if ir.verification.verified and target in WITH_GRAMMARS:
        from tplc.constrained import refused_by_grammars

        ir = replace(ir, verification=replace(ir.verification, refused_by_grammars=refused_by_grammars(ir, tried)))
    return ir


def _as_written(
    ir: TemplateIR, tried: tuple[Tried, ...], trial: Callable[[TemplateIR], tuple[TemplateIR, tuple[Tried, ...]]]
) -> tuple[TemplateIR, tuple[Tried, ...]]:
    """Return the format with repairs for turns that come back by tolerances only: grammars write what it says."""
    from tplc.repair import repairs, with_unwritten

    def missed(found: tuple[Tried, ...]) -> int:
        return sum(not one.passed for one in found)

    written = with_unwritten(ir, tried)
    for repair in repairs(ir, written) if missed(written) else ():
        other, shown = (ir, tried) if check(repair.ir) else trial(repair.ir)
        if other.verification.verified and missed(with_unwritten(other, shown)) < missed(written):
            return _as_written(other, shown, trial)
    return ir, tried


def _verified(
    ir: TemplateIR,
    *,
    renderer: Renderer,
    target: Target,
    examples: Sequence[Example],
    seed: int,
    thorough: bool,
    parser: ParserOptions | None,
) -> tuple[TemplateIR, tuple[Tried, ...]]:
    from tplc.verify import try_messages
    from tplc.verify.examples import verify_examples

    artifact = artifact_of(ir, target, parser)
    trial = try_messages(ir, artifact, renderer, seed=seed, thorough=thorough)
    result = trial.verification
    if examples:
        result = verify_examples(ir, artifact, examples, result)
    return replace(ir, verification=result), trial.tried


def failing(result: Verification) -> tuple[bool, int, int]:
    """Return a sort key for how far a result is from verified: less is better."""
    return not result.verified, result.messages - result.passed, len(result.failures)


def artifact_of(ir: TemplateIR, target: Target = "python", parser: ParserOptions | None = None) -> Artifact:
    """Return the artifact that is run to verify a target: the PEG itself, or the generated parser.

    The parser is the text that is written when all goes well: one that fails is written with a mark.
    """
    from tplc.verify import Artifact, load_artifact

    if target == "peg":
        from tplc.backends.peg.engine import PegEngine

        return Artifact(PegEngine(ir).parse, None)
    verified = replace(ir, verification=Verification(verified=True))
    options = parser or ParserOptions()
    runtime = shared_runtime() if options.runtime == "shared" else None
    text = generate(verified, "python", GrammarOptions(parser=options))
    return load_artifact(text, runtime=runtime)


def verify_artifact(
    ir: TemplateIR, artifact: Artifact | str, renderer: Renderer, *, seed: int = 0, thorough: bool = False
) -> Verification:
    from tplc.verify import verify

    return verify(ir, artifact, renderer, seed=seed, thorough=thorough)


def require_verified(ir: TemplateIR) -> None:
    result = ir.verification
    if not result.verified:
        failed = result.messages - result.passed
        raise VerificationFailed(ir.provenance.name, failed, result.messages, result.failures[:MOST_FAILURES])


def generate(ir: TemplateIR, target: Target, options: GrammarOptions | None = None) -> str:
    given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
    _check_target(target)
    options = options or GrammarOptions()
    if target == "python":
        from tplc.backends.python import generate as generate_python

        parser = options.parser
        return generate_python(
            ir,
            openai=parser.openai,
            responses=parser.responses,
            messages=parser.messages,
            runtime=parser.runtime,
            main=parser.main,
            command=options.command,
        )
    if target == "peg":
        from tplc.backends.peg import generate as generate_peg

        return generate_peg(ir, tools=options.tools or None, json_schema=options.json_schema, command=options.command)
    if target == "response_template":
        from tplc.backends.response_template import response_template

        return response_template(ir, options.profile).text
    if target == "structural_tag":
        return _structural_tag(ir, options)
    if target == "lark":
        return _lark(ir, options)
    if target == "vllm" or target == "sglang":
        from tplc.targets.plugins import plugin

        return plugin(
            ir,
            target,
            name=options.plugin_name or "tplc",
            command=options.command,
            on_incomplete=options.on_incomplete,
        )
    if target == "gbnf":
        text = make_grammar(ir, options).text
        return grammar_header(ir, options.command) + (
            text or "# No rules: nothing is constrained, so give an engine no grammar.\n"
        )
    return dumps(ir)


def print_states(ir: TemplateIR, *, as_graph: bool = False) -> str:
    """Print the states of a parser for this format, as text or as a graph for Graphviz."""
    from tplc.lower import lower
    from tplc.lower.printed_states import printed_states, states_graph

    return (states_graph if as_graph else printed_states)(lower(ir))


def stops(ir: TemplateIR) -> tuple[str, ...]:
    """Return the texts that end a model's answer, for stop strings."""
    from tplc.lower import lower
    from tplc.lower.stops import known_stops

    return known_stops(ir, lower(ir))


def missing_stops(ir: TemplateIR) -> tuple[str, ...]:
    """Return the special tokens that end an answer and that weren't given."""
    from tplc.audit.unfinished import missing_stops as missing

    return missing(ir)


def shared_runtime() -> str:
    """Return the text of the runtime file next to parsers that are generated with `runtime="shared"`."""
    from tplc.backends.python import generate_runtime

    return generate_runtime()


def structural_tag(
    ir: TemplateIR,
    *,
    tools: Sequence[Mapping[str, Json]] | None = None,
    tool_choice: str = "auto",
    parallel_tool_calls: bool | None = None,
    json_schema: Json | None = None,
    any_order: bool = False,
    reasoning: Literal["inside", "outside"] = "inside",
    head: str | None = None,
) -> dict[str, Json]:
    """Return xgrammar's constraint for one request.  `reasoning`: whether it includes the reasoning, or applies after
    it; `head`: the part of the answer in the prompt, if it isn't the default prompt's.

    Raises TplcError for a request that no tag can hold, or that is not constrained at all.
    """
    from tplc.targets.structural_tag import with_head

    given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
    given.tools(tools)
    if reasoning not in ("inside", "outside"):
        raise UsageError(f"reasoning: expected 'inside' or 'outside', got {reasoning!r}")
    options = GrammarOptions(
        tools=tuple(tools or ()),
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        json_schema=json_schema,
        any_order=any_order,
        reasoning=reasoning,
    )
    return _tag(ir if head is None else with_head(ir, head), options)


def _structural_tag(ir: TemplateIR, options: GrammarOptions) -> str:
    from tplc.targets.structural_tag import legacy_tag, tag_text

    if options.legacy:
        asked = options.parallel_tool_calls
        return tag_text(legacy_tag(ir, options.tools, tool_choice=options.tool_choice, parallel=asked))
    return tag_text(_tag(ir, options))


def _tag(ir: TemplateIR, options: GrammarOptions) -> dict[str, Json]:
    from tplc.targets.structural_tag import tag_of

    parallel = options.parallel_tool_calls
    by_tokens = _tag_of_tokens(ir, options) if ir.tokens and options.json_schema is None else None
    if by_tokens is not None:
        return by_tokens
    return tag_of(
        ir, lambda constrained: make_grammar(constrained, options), reasoning=options.reasoning, parallel=parallel
    )


def _tag_of_tokens(ir: TemplateIR, options: GrammarOptions) -> dict[str, Json] | None:
    """Return the tag in which only a special token opens calls; None if the format has no such token."""
    from tplc.targets.structural_tag import token_tag

    choice, tools = options.tool_choice, options.tools
    if choice == "none" or not tools:
        return None
    if choice not in ("auto", "required"):
        tools = tuple(tool for tool in tools if _name_of(tool) == choice)
        if not tools:
            return None  # what is wrong with the choice is reported where a grammar is made for it
    parallel = ir.tools.parallel if options.parallel_tool_calls is None else options.parallel_tool_calls
    lazy = make_grammar(ir, replace(options, tools=tools, tool_choice="auto"))
    return token_tag(ir, lazy, parallel=parallel, required=choice != "auto")


def _name_of(tool: Mapping[str, Json]) -> Json:
    function = tool.get("function", tool)
    return function.get("name") if isinstance(function, Mapping) else None


def _lark(ir: TemplateIR, options: GrammarOptions) -> str:
    from tplc.backends.lark.write import HEADER

    made = make_lark(ir, options).text
    header = "".join(f"// {line[2:]}\n" for line in grammar_header(ir, options.command).splitlines())
    rules = made[len(HEADER) :] or "// No rules: nothing is constrained, so give an engine no grammar.\n"
    return HEADER + header + rules


def make_lark(ir: TemplateIR, options: GrammarOptions) -> LarkGrammar:
    from tplc.backends.lark import MOST_CHARACTERS, lark

    return lark(ir, **_request(options, MOST_CHARACTERS), tokens=options.tokens)


class _GrammarOptions(TypedDict):
    """The options of grammars for all engines."""

    tools: Sequence[Mapping[str, Json]]
    tool_choice: str
    parallel_tool_calls: bool | None
    json_schema: Json | None
    context: Mapping[str, Json] | None
    any_order: bool
    strict: bool
    most_characters: int


def _request(options: GrammarOptions, most_characters: int) -> _GrammarOptions:
    return {
        "tools": options.tools,
        "tool_choice": options.tool_choice,
        "parallel_tool_calls": options.parallel_tool_calls,
        "json_schema": options.json_schema,
        "context": options.context,
        "any_order": options.any_order,
        "strict": options.strict,
        "most_characters": most_characters if options.most_characters is None else options.most_characters,
    }


def grammar_header(ir: TemplateIR, command: str = "") -> str:
    made = ir.provenance
    name, version, sha256 = map(one_line, (made.name, made.tplc_version, made.sha256))
    verified = "" if ir.verification.verified else "# NOT VERIFIED: the format failed its verification.\n"
    made_by = f"# To regenerate: {one_line(command)}\n" if command else ""
    return (
        f"# Generated by tplc {version} from {name} (sha256 {sha256}, IR version {ir.version}). "
        f"Do not edit.\n{made_by}{verified}"
    )


def make_grammar(ir: TemplateIR, options: GrammarOptions) -> Grammar:
    from tplc.backends.gbnf import MOST_CHARACTERS, grammar

    return grammar(ir, **_request(options, MOST_CHARACTERS), token_literals=options.token_literals)


def target_of(path: str, target: str | None, *, others: Sequence[str] = ()) -> Target:
    """Return the target with this name, otherwise the target of the output's suffix.

    `others` are names that messages list in addition to the targets.
    """
    if target is not None:
        known = next((name for name in TARGETS if name == target), None)
        if known is None:
            raise UsageError(unknown_name("target", target, (*TARGETS, *others)))
        return known
    for suffix, by_suffix in SUFFIXES.items():
        if path.endswith(suffix):
            return by_suffix
    raise UsageError(
        f"{path}: the name does not determine the target; end it in {', '.join(SUFFIXES)}, or give --target"
    )


def for_other_target(path: str, target: str) -> Target | None:
    """Return the target that a file's name ends in, if the file is made for another: hut_vllm.py, a plain parser."""
    stem = path.rpartition("/")[2].rpartition(".")[0].lower()
    named = next(
        (name for name in TARGETS if stem == name or stem.endswith((f"_{name}", f"-{name}", f".{name}"))), None
    )
    return None if named == target else named


def load_ir(text: str) -> TemplateIR:
    """Return the checked IR of a JSON text."""
    given.text("text", text, "the JSON of an IR (str)")
    ir = loads(text)
    violations = check(ir)
    if violations:
        raise InvalidIR(ir.provenance.name, tuple(map(str, violations)), "")
    return ir
