"""Build the models of a manifest: only changed ones, several at once, each atomically.

tplc.toml  →  parsers/hut.py, parsers/hut.json, and .tplc_cache/build.json to know what is current
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from tplc import driver
from tplc.bounds import bounded
from tplc.errors import LimitExceeded, SourceError, TplcError, WorkerDied
from tplc.ir.hashes import sha256
from tplc.ir.nodes import TemplateIR, Token, Verification
from tplc.native import check_native, compile_native, extension_of, is_native_parser
from tplc.parallel import Died, check_engine, run_parallel
from tplc.project.artifacts import MOST_BYTES, is_generated, not_ours
from tplc.project.cache import Cache, tool_sha256
from tplc.project.declared import Declared, read_declared, telling_places
from tplc.project.files import read_examples, read_schema, read_text, read_tools
from tplc.project.manifest import Manifest, Model, Output
from tplc.version import VERSION

if TYPE_CHECKING:
    from tplc.audit.warnings import TemplateWarning
    from tplc.backends.gbnf import Grammar
    from tplc.backends.lark import LarkGrammar
    from tplc.sources import TemplateSource
    from tplc.targets.response_template import Inexpressible

# Failures that another run may not have, as the machine was busy.  So are those that are not the template's: a file or
# the hub could not be read, a package was not there.
_PASSING = (LimitExceeded, WorkerDied)
_AS_BEFORE = "    as in the run before, from the same inputs; --force tries again"


@dataclass(frozen=True, slots=True)
class Made:
    """The result of compiling a model: the texts of its outputs, or the error.

    `inputs` is the hash of what it was made from; "" when another run may end otherwise.  `exit_code` is what a
    compile of the model alone would end with.
    """

    model: str
    texts: tuple[str, ...] = ()
    verification: Verification | None = None
    template_sha256: str = ""
    inputs: str = ""
    error: str = ""
    exit_code: int = 0
    warnings: tuple[TemplateWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`state`: built, current (nothing to do), or failed.  The warnings about the template are listed in each case.

    `exit_code`: what a compile of the model alone would end with.
    """

    model: str
    state: str
    message: str
    warnings: tuple[TemplateWarning, ...] = ()
    exit_code: int = 0


def _failed(name: str, error: TplcError, warnings: tuple[TemplateWarning, ...] = ()) -> Outcome:
    return Outcome(name, "failed", str(error), warnings, error.exit_code)


def exit_code_of(codes: Iterable[int]) -> int:
    """Return the exit code of a whole manifest: 1 if a template or an artifact is not right, 2 if all failures are
    unreadable inputs."""
    return min(filter(None, codes), default=0)


Progress = Callable[[str], None]


def build(
    manifest: Manifest,
    names: tuple[str, ...] = (),
    *,
    jobs: int | None = 1,
    engine: str = "processes",
    address: str | None = None,
    force: bool = False,
    strict: bool = False,
    progress: Progress = lambda _: None,
) -> list[Outcome]:
    """Build the models (all, when none is named), in the manifest's order.  One that fails stops no other.

    `strict` applies to all models and overrides the manifest.
    """
    manifest = manifest.made_strict() if strict else manifest
    for model in manifest.chosen(names):
        for output in parsers_of(model) if model.native else ():
            check_native(output.path, f"{manifest.path}: models.{model.name}: native")
    cache = Cache(manifest)
    outcomes: dict[str, Outcome] = {}
    waiting: list[Model] = []
    for model in manifest.chosen(names):
        outcome = None if force else _remembered(model, cache)
        outcome = _refused(model, force=force) or outcome
        if outcome is None:
            waiting.append(model)
        else:
            outcomes[model.name] = outcome
            progress(model.name)
    models = {model.name: model for model in waiting}
    try:
        for made in make_all(waiting, jobs=jobs, engine=engine, address=address):
            outcomes[made.model] = _written(models[made.model], made, cache)
            progress(made.model)
    finally:
        # Also when it is interrupted: what was made need not be made again.
        cache.save()
    return [outcomes[model.name] for model in manifest.chosen(names)]


def _refused(model: Model, *, force: bool) -> Outcome | None:
    """Return the outcome of a model whose outputs can't be written; otherwise None."""
    try:
        for output in model.outputs:
            tree = model.tree
            taken = tree.is_taken(output.path)
            if taken and not force and not is_generated(tree.read(output.path, MOST_BYTES), output.path):
                raise not_ours(tree.path(output.path))
        for output in parsers_of(model) if model.native and not force else ():
            extension = extension_of(output.path)
            if model.tree.is_taken(extension) and not _is_native(model, extension):
                raise not_ours(model.tree.path(extension))
    except TplcError as error:
        return _failed(model.name, error)
    return None


def _remembered(model: Model, cache: Cache) -> Outcome | None:
    """Return the outcome that an earlier run recorded for the same inputs; otherwise None."""
    try:
        known = cache.known(model, inputs_of(model))
    except TplcError as error:
        return _failed(model.name, error)
    if known is None:
        return None
    if known.error:
        return Outcome(model.name, "failed", f"{known.error}\n{_AS_BEFORE}", known.warnings, 1)
    written = known.are_written(model) and all(_is_native(model, path) == model.native for path in extensions_of(model))
    return Outcome(model.name, "current", "", known.warnings) if written else None


def parsers_of(model: Model) -> list[Output]:
    return [output for output in model.outputs if output.target == "python"]


def extensions_of(model: Model) -> list[str]:
    """Return the compiled extensions next to the parsers of a native model."""
    return [extension_of(output.path) for output in parsers_of(model)]


def _is_native(model: Model, extension: str) -> bool:
    return is_native_parser(model.tree.read(extension, MOST_BYTES) or b"")


def _written(model: Model, made: Made, cache: Cache) -> Outcome:
    note(cache, model, made)
    if made.error:
        return Outcome(model.name, "failed", made.error, made.warnings, made.exit_code)
    try:
        written = list(zip(model.outputs, made.texts, strict=True))
        parsers = [(output.path, text) for output, text in written if output.target == "python"]
        compiled = {extension_of(path): compile_native(text, path) for path, text in parsers if model.native}
        for extension in extensions_of(model):
            # One of an earlier run would be imported in place of what is written now.
            if _is_native(model, extension):
                model.tree.remove(extension)
        for output, text in written:
            model.tree.write(output.path, text)
        for extension, data in compiled.items():
            model.tree.write_bytes(extension, data)
    except TplcError as error:
        return _failed(model.name, error, made.warnings)
    result = made.verification
    assert result is not None
    paths = ", ".join([*(output.path for output in model.outputs), *compiled])
    marked = "" if result.verified else " NOT VERIFIED"
    message = f"{paths} ({result.passed} of {result.messages} messages){marked}"
    return Outcome(model.name, "built", message, made.warnings)


def make_all(
    models: Sequence[Model], *, jobs: int | None, engine: str = "processes", address: str | None = None
) -> Iterator[Made]:
    """Yield what is made of each model, as soon as it is complete."""
    check_engine(engine, address)
    if engine == "processes" and ((jobs or 1) <= 1 or len(models) <= 1):
        yield from map(make, models)
        return
    for place, made in run_parallel(make, models, engine=engine, jobs=jobs, address=address):
        name = models[place].name
        if isinstance(made, Died):
            yield Made(name, error=f"{name}: the process that compiles ended by itself, or was killed", exit_code=1)
        elif isinstance(made, BaseException):
            raise made
        else:
            yield made


def make(model: Model) -> Made:
    try:
        inputs = inputs_of(model)
    except TplcError as error:
        return Made(model.name, error=str(error), exit_code=error.exit_code)
    warnings: list[TemplateWarning] = []
    try:
        with bounded(model.name, driver.make_limits(dict(model.limits))):
            made = _make(model, inputs, warnings)
    except TplcError as error:
        passing = error.exit_code != 1 or isinstance(error, _PASSING)
        made = Made(model.name, error=str(error), exit_code=error.exit_code, inputs="" if passing else inputs)
    return replace(made, warnings=tuple(warnings))


def note(cache: Cache, model: Model, made: Made) -> None:
    """Record the result for the next run."""
    if made.error and made.inputs:
        cache.note_error(model, made.inputs, made.error, made.warnings)
    elif made.verification is not None:
        cache.note_outputs(model, made.inputs, made.texts, made.warnings, verified=made.verification.verified)


def _make(model: Model, inputs: str, warnings: list[TemplateWarning]) -> Made:
    """Make the outputs of a model.  `warnings` receives warnings as they are found, also if the template fails
    later."""
    from tplc.audit.unfinished import IN_MANIFEST, require_stops, unfinished_warnings

    warnings += map(_misnamed, filter(lambda output: output.meant, model.outputs))
    template = load_source(model)
    declared = _declared(model)
    with telling_places(declared):
        ir = _compiled(model, template, declared, "python", warnings.append)
    warnings += unfinished_warnings(ir, how=IN_MANIFEST)
    if model.strict:
        require_stops(ir, how=IN_MANIFEST)
    if not model.allow_unverified:
        driver.require_verified(ir)
    if any(output.target == "peg" for output in model.outputs):
        # A PEG is verified by running it, too.
        peg = _compiled(model, template, declared, "peg")
        if not model.allow_unverified:
            driver.require_verified(peg)
    if any(output.target == "response_template" for output in model.outputs):
        # It has no place for a mark: unverified it is never written.
        not_expressed: list[Inexpressible] = []
        driver.require_verified(
            _compiled(model, template, declared, "response_template", not_expressed=not_expressed.append)
        )
        warnings += _not_expressed(model, "response_template", not_expressed)
        if model.strict and not_expressed:
            raise not_expressed[0].refused(template.name)
    return Made(
        model.name,
        texts=tuple(_text(ir, output, model, warnings) for output in model.outputs),
        verification=ir.verification,
        template_sha256=ir.provenance.sha256,
        inputs=inputs,
    )


def _misnamed(output: Output) -> TemplateWarning:
    from tplc.audit.warnings import TemplateWarning

    message = (
        f"the suffix makes this a {output.target} artifact, though the name says {output.meant}: "
        f'{{path = "{output.path}", target = "{output.meant}"}} or target = "{output.target}" decides'
    )
    return TemplateWarning(output.path, 0, 0, message)


def _not_expressed(model: Model, target: str, entries: Iterable[object]) -> Iterator[TemplateWarning]:
    from tplc.audit.warnings import TemplateWarning

    paths = [output.path for output in model.outputs if output.target == target]
    return (TemplateWarning(path, 0, 0, f"not expressed: {entry}") for path in paths for entry in entries)


def _text(ir: TemplateIR, output: Output, model: Model, warnings: list[TemplateWarning]) -> str:
    if output.target == "runtime":
        return driver.shared_runtime()
    options = _grammar_options(model)
    if output.target in driver.FOR_A_REQUEST:
        made = driver.make_lark(ir, options) if output.target == "lark" else driver.make_grammar(ir, options)
        warnings += _loosened(output, made)
    return driver.generate(ir, output.target, options)


def _loosened(output: Output, made: Grammar | LarkGrammar) -> Iterator[TemplateWarning]:
    from tplc.audit.warnings import TemplateWarning

    for entry in made.not_expressed:
        effect = "loosened" if entry.effect == "looser" else "tightened"
        yield TemplateWarning(output.path, 0, 0, f"{effect}: {entry}")


def load_source(model: Model) -> TemplateSource:
    from tplc.sources import is_elsewhere, load

    path = model.resolve(model.source)
    named = model.source if is_elsewhere(model.source) and not os.path.exists(path) else path
    if os.path.exists(named) and not os.path.isfile(named) and not os.path.isdir(named):
        raise SourceError(named, "is not a regular file")
    template = load(named, template_name=model.template_name)
    tokens = {**template.special_tokens, **dict(model.special_tokens)}
    return replace(template, special_tokens=tokens, added_tokens=_added_tokens(model, template))


def _added_tokens(model: Model, template: TemplateSource) -> tuple[Token, ...]:
    """Return the tokens of the model's tokenizer, instead of those that its source names."""
    if not model.tokenizer_files:
        return template.added_tokens
    from tplc.sources import load_added_tokens, load_tokens

    path = model.resolve(model.tokenizer or "")
    load_added_tokens(path)  # raises SourceError if there are none
    return load_tokens(path).added_tokens


def _compiled(
    model: Model,
    template: TemplateSource,
    declared: Declared,
    target: driver.Target,
    warn: Callable[[TemplateWarning], None] | None = None,
    not_expressed: Callable[[Inexpressible], None] | None = None,
) -> TemplateIR:
    return driver.compile_template(
        template.text,
        name=template.name,
        special_tokens=template.special_tokens,
        added_tokens=template.added_tokens,
        tolerances=declared.tolerances,
        catalogue=declared.catalogue,
        examples=[example for path in model.examples for example in read_examples(model.input(path))],
        target=target,
        limits=driver.make_limits(dict(model.limits)),
        seed=model.seed,
        thorough=model.thorough,
        warn=warn,
        on_inexpressible=not_expressed,
        profile=model.profile,
        parser=_parser_options(model),
    )


def _parser_options(model: Model) -> driver.ParserOptions:
    return driver.ParserOptions(model.openai, model.runtime, model.main, model.responses, model.messages)


def _declared(model: Model) -> Declared:
    files = [model.input(path) for path in model.tolerances]
    for folder in model.catalogue:
        model.entries(folder)  # all of them are of the tree
    return read_declared(files, [*map(model.resolve, model.catalogue)], shipped=not model.no_catalogue)


def _grammar_options(model: Model) -> driver.GrammarOptions:
    from tplc.sources import load_added_tokens

    known = load_added_tokens(model.resolve(model.tokenizer)) if model.tokenizer and model.tokenizer_files else None
    return driver.GrammarOptions(
        tokens=known,
        token_literals=model.token_literals,
        tools=tuple(read_tools(model.input(model.tools))) if model.tools else (),
        tool_choice=model.tool_choice,
        strict=model.strict,
        profile=model.profile,
        parser=_parser_options(model),
        json_schema=read_schema(model.input(model.json_schema)) if model.json_schema else None,
        command=model.command,
        plugin_name=model.name,
        on_incomplete=model.on_incomplete,
    )


def inputs_of(model: Model) -> str:
    """Return a hash of everything that the outputs depend on. Raises SourceError for an input that can't be read."""
    template = load_source(model)
    files = [*model.tolerances, *model.examples, *filter(None, (model.tools, model.json_schema))]
    texts = [read_text(model.input(path)) for path in files]
    texts += [read_text(path) for folder in model.catalogue for path in model.entries(folder)]
    if model.tokenizer_files:
        from tplc.sources import load_added_tokens

        texts += [repr(load_added_tokens(model.resolve(model.tokenizer or "")))]
    settings = replace(model, folder="", source="")
    everything = [
        VERSION,
        tool_sha256(),
        template.name,
        template.text,
        sorted(template.special_tokens.items()),
        [astuple(token) for token in template.added_tokens],
        repr(settings),
        texts,
    ]
    return sha256(json.dumps(everything))
