"""Building the models of a manifest: only what changed, several at once, each whole or not at all.

tplc.toml  →  parsers/hut.py, parsers/hut.json, and .tplc_cache/build.json to know what is current
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tplc import driver
from tplc.errors import TplcError, UsageError
from tplc.ir.nodes import TemplateIR, Verification
from tplc.project.artifacts import check_output, write_output
from tplc.project.files import read_examples, read_json, read_text, read_tolerances, read_tools
from tplc.project.manifest import Manifest, Model
from tplc.version import VERSION

if TYPE_CHECKING:
    from tplc.sources import TemplateSource

CACHE = ".tplc_cache"


@dataclass(frozen=True, slots=True)
class Made:
    """What a model's template makes: the texts of its outputs, or the error."""

    model: str
    texts: tuple[str, ...] = ()
    verification: Verification | None = None
    template_sha256: str = ""
    inputs: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`state`: built, current (nothing to do), or failed."""

    model: str
    state: str
    message: str


Progress = Callable[[str], None]


def build(
    manifest: Manifest,
    names: tuple[str, ...] = (),
    *,
    jobs: int = 1,
    force: bool = False,
    progress: Progress = lambda _: None,
) -> list[Outcome]:
    """Build the models (all, when none is named), in the manifest's order.  One that fails stops no other."""
    cache = _Cache(manifest)
    outcomes: dict[str, Outcome] = {}
    waiting: list[Model] = []
    for model in manifest.chosen(names):
        outcome = _before(model, cache, force=force)
        if outcome is None:
            waiting.append(model)
        else:
            outcomes[model.name] = outcome
            progress(model.name)
    models = {model.name: model for model in waiting}
    for made in make_all(waiting, jobs=jobs):
        outcomes[made.model] = _written(models[made.model], made, cache)
        progress(made.model)
    cache.save()
    return [outcomes[model.name] for model in manifest.chosen(names)]


def _before(model: Model, cache: _Cache, *, force: bool) -> Outcome | None:
    """The outcome of a model that needs no building, or can't be built."""
    try:
        for output in model.outputs:
            path = model.resolve(output.path)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            check_output(path, force=force)
        if not force and cache.is_current(model, inputs_of(model)):
            return Outcome(model.name, "current", "")
    except TplcError as error:
        return Outcome(model.name, "failed", str(error))
    except OSError as error:
        return Outcome(model.name, "failed", f"{error.filename}: cannot be made: {error.strerror}")
    return None


def _written(model: Model, made: Made, cache: _Cache) -> Outcome:
    if made.error:
        return Outcome(model.name, "failed", made.error)
    try:
        for output, text in zip(model.outputs, made.texts, strict=True):
            write_output(model.resolve(output.path), text)
    except TplcError as error:
        return Outcome(model.name, "failed", str(error))
    cache.note(model, made)
    result = made.verification
    assert result is not None
    paths = ", ".join(output.path for output in model.outputs)
    marked = "" if result.verified else " NOT VERIFIED"
    return Outcome(model.name, "built", f"{paths} ({result.passed} of {result.messages} messages){marked}")


def make_all(models: Sequence[Model], *, jobs: int) -> Iterator[Made]:
    """What each model makes, as it comes."""
    if jobs <= 1 or len(models) <= 1:
        yield from map(make, models)
        return
    with ProcessPoolExecutor(max_workers=min(jobs, len(models))) as pool:
        for future in as_completed([pool.submit(make, model) for model in models]):
            yield future.result()


def make(model: Model) -> Made:
    try:
        return _make(model)
    except TplcError as error:
        return Made(model.name, error=str(error))


def _make(model: Model) -> Made:
    template = load_source(model)
    ir = _compiled(model, template, "python")
    if not model.allow_unverified:
        driver.require_verified(ir)
    if any(output.target == "peg" for output in model.outputs):
        # A PEG is verified by running it, too.
        peg = _compiled(model, template, "peg")
        if not model.allow_unverified:
            driver.require_verified(peg)
    return Made(
        model.name,
        texts=tuple(driver.generate(ir, output.target, _grammar_options(model)) for output in model.outputs),
        verification=ir.verification,
        template_sha256=ir.provenance.sha256,
        inputs=_inputs(model, template),
    )


def load_source(model: Model) -> TemplateSource:
    from tplc.sources import load

    source = model.source
    path = model.resolve(source)
    template = load(path if os.path.exists(path) else source, template_name=model.template_name)
    return replace(template, special_tokens={**template.special_tokens, **dict(model.special_tokens)})


def _compiled(model: Model, template: TemplateSource, target: driver.Target) -> TemplateIR:
    return driver.compile_template(
        template.text,
        name=template.name,
        special_tokens=template.special_tokens,
        tolerances=[tolerance for path in model.tolerances for tolerance in read_tolerances(model.resolve(path))],
        examples=[example for path in model.examples for example in read_examples(model.resolve(path))],
        target=target,
        limits=driver.make_limits(dict(model.limits)),
        seed=model.seed,
        thorough=model.thorough,
    )


def _grammar_options(model: Model) -> driver.GrammarOptions:
    if any(output.target == "gbnf" for output in model.outputs) and not (model.tools or model.json_schema):
        raise UsageError(f"model {model.name}: a grammar is made for one request: give tools or json-schema")
    return driver.GrammarOptions(
        tools=tuple(read_tools(model.resolve(model.tools))) if model.tools else (),
        tool_choice=model.tool_choice,
        json_schema=read_json(model.resolve(model.json_schema)) if model.json_schema else None,
    )


# What is current


def inputs_of(model: Model) -> str:
    return _inputs(model, load_source(model))


def _inputs(model: Model, template: TemplateSource) -> str:
    """A hash of everything that the outputs depend on."""
    files = [*model.tolerances, *model.examples, *filter(None, (model.tools, model.json_schema))]
    settings = replace(model, folder="", source="", name="")
    everything = [
        VERSION,
        template.name,
        template.text,
        sorted(template.special_tokens.items()),
        repr(settings),
        [read_text(model.resolve(path)) for path in files],
    ]
    return _sha256(json.dumps(everything))


class _Cache:
    """Which inputs the outputs were made from, and what they were when they were written."""

    def __init__(self, manifest: Manifest) -> None:
        self._folder = Path(os.path.dirname(manifest.path) or ".") / CACHE
        self._file = self._folder / "build.json"
        self._known: dict[str, Any] = self._load()
        self._models = {model.name for model in manifest.models}

    def is_current(self, model: Model, inputs: str) -> bool:
        known = self._known.get(model.name)
        if not isinstance(known, Mapping) or known.get("inputs") != inputs:
            return False
        return known.get("outputs") == {
            output.path: _file_sha256(model.resolve(output.path)) for output in model.outputs
        }

    def note(self, model: Model, made: Made) -> None:
        texts = zip(model.outputs, made.texts, strict=True)
        outputs = {output.path: _sha256(text) for output, text in texts}
        self._known[model.name] = {"inputs": made.inputs, "outputs": outputs}

    def save(self) -> None:
        kept = {name: known for name, known in sorted(self._known.items()) if name in self._models}
        try:
            self._folder.mkdir(exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
            self._file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        except OSError:
            # A folder that may not be written to: the next build does everything anew.
            return

    def _load(self) -> dict[str, Any]:
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file_sha256(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
