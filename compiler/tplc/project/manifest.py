"""The manifest: `tplc.toml`, or `[tool.tplc]` in a pyproject.toml.

    [models.hut]
    source = "templates/hut.jinja"
    outputs = ["parsers/hut.py", "parsers/hut.json"]

Paths are relative to the manifest's folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tplc.catalogue.load import files_in
from tplc.driver import FOR_A_REQUEST, SUFFIXES, Target, for_other_target, make_limits, target_of
from tplc.errors import SourceError, UsageError, did_you_mean
from tplc.ir.runtimes import RUNTIME_FILE, Runtime
from tplc.ir.visible import one_line
from tplc.paths import hidden, unreadable
from tplc.project.places import place_of
from tplc.project.tree import Tree
from tplc.sources.folder import TOKENIZER, TOKENIZER_FILES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "tplc.toml"
PYPROJECT = "pyproject.toml"
_MOST_BYTES = 1 << 20
_MODEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Output:
    """An output file.  `meant`: the target that the name suggests, if the suffix suggests another and none is given."""

    path: str
    target: Target | Literal["runtime"]
    meant: Target | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """One model of a manifest; every path is as the manifest has it, `folder` is what they are relative to, `manifest`
    its file there."""

    name: str
    folder: str
    source: str
    outputs: tuple[Output, ...]
    template_name: str | None = None
    special_tokens: tuple[tuple[str, str], ...] = ()
    tolerances: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    no_catalogue: bool = False
    examples: tuple[str, ...] = ()
    tokenizer: str | None = None
    token_literals: bool = False
    tools: str | None = None
    json_schema: str | None = None
    tool_choice: str = "auto"
    profile: Literal["transformers", "servers"] = "transformers"
    openai: bool = False
    responses: bool = False
    messages: bool = False
    main: bool = True
    runtime: Runtime = "standalone"
    native: bool = False
    limits: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    thorough: bool = False
    allow_unverified: bool = False
    strict: bool = False
    on_incomplete: Literal["drop", "keep"] = "drop"
    manifest: str = NAME

    def resolve(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))

    @property
    def command(self) -> str:
        """Return the command that makes the model's files again, in the manifest's folder."""
        named = [] if self.manifest == NAME else ["-m", self.manifest]
        return shlex.join(["tplc", "build", *named, self.name])

    @property
    def tree(self) -> Tree:
        """Return the tree in which outputs are written and the inputs next to the source are read."""
        return Tree(self.folder)

    def input(self, path: str) -> str:
        """Return the path of an input file of the tree. Raises SourceError for a file outside the tree."""
        self.tree.check_input(path)
        return self.resolve(path)

    @property
    def tokenizer_files(self) -> tuple[str, ...]:
        """Return the paths of files that name the model's tokens; empty if its source names them, or nothing does.

        Raises SourceError for one that is not of the tree.
        """
        if self.tokenizer is None:
            return ()
        path = self.resolve(self.tokenizer)
        if os.path.isfile(path) and os.path.basename(path) != TOKENIZER:
            return (self.input(self.tokenizer),)
        folder = self.tokenizer if os.path.isdir(path) else os.path.dirname(self.tokenizer)
        names = [os.path.join(folder, name) for name in TOKENIZER_FILES]
        found = tuple(self.input(name) for name in names if os.path.lexists(self.resolve(name)))
        if not found:
            raise SourceError(path, "there is no tokenizer", "name a tokenizer.json, a folder with one, or a GGUF file")
        return found

    def entries(self, folder: str) -> list[str]:
        """Return the paths of the entries in a catalogue folder. Raises SourceError for a file outside the tree."""
        return [self.input(os.path.join(folder, os.path.basename(path))) for path in files_in(self.resolve(folder))]


@dataclass(frozen=True, slots=True)
class Manifest:
    path: str
    models: tuple[Model, ...]

    def made_strict(self) -> Manifest:
        return replace(self, models=tuple(replace(model, strict=True) for model in self.models))

    def chosen(self, names: tuple[str, ...]) -> tuple[Model, ...]:
        """Return the models of these names; all models if no name is given."""
        known = {model.name: model for model in self.models}
        for name in names:
            if name not in known:
                raise UsageError(f"{self.path}: {self._why_unknown(name)}; there are {', '.join(known)}")
        return tuple(model for model in self.models if not names or model.name in names)

    def _why_unknown(self, name: str) -> str:
        place = os.path.normpath(name)
        for model in self.models:
            if place in {model.resolve(path) for path in (model.source, *(output.path for output in model.outputs))}:
                return f"{name} is a file of the model {model.name}, not a model"
        return f"no model is called {name!r}{did_you_mean(name, (model.name for model in self.models))}"


def is_model_name(name: str) -> bool:
    return _MODEL_NAME.fullmatch(name) is not None


def find_manifest(path: str | None) -> str:
    """Return the named file, or the manifest in this folder or the nearest one above it."""
    if path is not None:
        if os.path.isdir(path):
            path = os.path.join(path, NAME)
        if not os.path.isfile(path):
            raise hidden(path) or SourceError(path, "there is no such file", "tplc init starts one")
        return path
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in (NAME, PYPROJECT):
            found = folder / name
            if found.is_file() and (name == NAME or "tplc" in read_toml(str(found)).get("tool", {})):
                return os.path.relpath(found)
    raise SourceError(NAME, "there is none in this folder or above it", "tplc init starts one")


def load_manifest(path: str) -> Manifest:
    data = read_toml(path)
    prefix = ""
    if os.path.basename(path) == PYPROJECT:
        data, prefix = data.get("tool", {}).get("tplc", {}), "tool.tplc."
        if not data:
            raise SourceError(path, "has no table [tool.tplc]")
    _validate(data, path, prefix)
    _check_names(data["models"], path, prefix)
    shared = data.get("options", {})
    models = []
    for name, table in data["models"].items():
        try:
            models.append(_model(name, path, {**shared, **table}))
        except (UsageError, SourceError) as error:
            place = place_of(path, [*_keys(prefix), "models", name])
            raise SourceError(place, f"{prefix}models.{name}: {error}") from error
    _check_paths(path, models)
    return Manifest(path, tuple(models))


def read_toml(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(text) > _MOST_BYTES:
        raise SourceError(path, f"is larger than {_MOST_BYTES >> 20} MB")
    try:
        # A text editor may have written Windows line ends.
        data: dict[str, Any] = tomllib.loads(text.decode("utf-8-sig").replace("\r\n", "\n"))
    except RecursionError as error:
        raise SourceError(path, "is not TOML that can be read: it is nested too deeply") from error
    except ValueError as error:
        known = isinstance(error, (tomllib.TOMLDecodeError, UnicodeDecodeError))
        raise SourceError(path, f"is not TOML: {error if known else 'a number of it has too many digits'}") from error
    return data


def _validate(data: Mapping[str, Any], path: str, prefix: str) -> None:
    """Raise an error that names the wrong key, and what was expected there."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from tplc.schemas import load_schema

    errors = list(Draft202012Validator(load_schema("manifest")).iter_errors(data))
    # A key that is misspelt explains one that is missing.
    unknown = [error for error in errors if error.validator == "additionalProperties"]
    error = best_match(unknown or errors)
    if error is None:
        return
    keys = [*map(str, error.absolute_path)]
    wrong = _unknown(error)[:1] if unknown else []
    member = prefix + ".".join(keys)
    place = place_of(path, [*_keys(prefix), *(key for key in keys if not key.isdigit()), *wrong])
    raise SourceError(place, f"{member.rstrip('.')}: {_expected(error)}" if member else _expected(error))


def _keys(prefix: str) -> list[str]:
    return prefix.split(".")[:-1]


def _unknown(error: Any) -> list[str]:
    return sorted(set(error.instance) - set(error.schema["properties"]))


def _check_names(models: Mapping[str, Any], path: str, prefix: str) -> None:
    """Raise an error for names with unsafe characters: names become parts of file names, reports and commands."""
    for name in models:
        if not is_model_name(name):
            problem = "expected a name of ASCII letters, digits, '-', '_' and '.', with no '.' or '-' first"
            place = place_of(path, [*_keys(prefix), "models", name])
            raise SourceError(place, f"models.{one_line(json.dumps(name))}: {problem}")


def _check_tree(model: Model) -> None:
    files = [*model.tolerances, *model.examples, *filter(None, (model.tools, model.json_schema, model.tokenizer))]
    for path in [*(output.path for output in model.outputs), *files]:
        model.tree.check_name(path)
    read = {model.resolve(path) for path in (model.source, *files)}
    for output in model.outputs:
        if model.resolve(output.path) in read:
            raise UsageError(f"outputs: {output.path}: is also read; name another file to write")


def _expected(error: Any) -> str:
    schema = error.schema
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"the key {missing!r} is missing"
    if error.validator == "additionalProperties":
        wrong = _unknown(error)[0]
        known = schema["properties"]
        return f"no such key: {wrong}{did_you_mean(wrong, known)}; there are {', '.join(known)}"
    if error.validator == "type":
        return f"expected {_article(error.validator_value)}, got {error.instance!r}"
    if error.validator == "enum":
        return f"expected one of {', '.join(error.validator_value)}, got {error.instance!r}"
    if error.validator in ("minItems", "minProperties", "minLength"):
        return "expected at least one" if error.validator != "minLength" else "expected some text"
    return str(error.message)


def _article(kind: str) -> str:
    words = {"object": "a table", "array": "a list", "integer": "a whole number", "boolean": "true or false"}
    return words.get(kind, f"a {kind}")


def _model(name: str, path: str, table: Mapping[str, Any]) -> Model:
    folder = os.path.dirname(path)
    fields = {key.replace("-", "_"): value for key, value in table.items()}
    fields["outputs"] = tuple(map(_output, fields["outputs"]))
    for key in ("special_tokens", "limits"):
        if key in fields:
            fields[key] = tuple(fields[key].items())
    for key in ("tolerances", "catalogue", "examples"):
        if key in fields:
            fields[key] = tuple(fields[key])
    if fields.get("runtime") == "shared":
        fields["outputs"] = (*fields["outputs"], *_runtimes(fields["outputs"]))
    model = Model(name=name, folder=folder, manifest=os.path.basename(path), **fields)
    _check_tree(model)
    make_limits(dict(model.limits))
    if model.native and model.runtime != "standalone":
        raise UsageError(f"native: is for parsers with a runtime of their own, not for runtime {model.runtime}")
    grammar = next((output.path for output in model.outputs if output.target in FOR_A_REQUEST), None)
    if grammar is not None and not (model.tools or model.json_schema):
        raise UsageError(f"outputs: {grammar}: a grammar is made for one request: give tools or json-schema")
    return model


def _runtimes(outputs: Sequence[Output]) -> list[Output]:
    """Return the shared runtime of each folder that needs one."""
    folders = dict.fromkeys(os.path.dirname(output.path) for output in outputs if output.target == "python")
    return [Output(os.path.join(folder, RUNTIME_FILE), "runtime") for folder in folders]


def _output(entry: str | Mapping[str, str]) -> Output:
    if isinstance(entry, str):
        if not entry.endswith(tuple(SUFFIXES)):
            raise UsageError(
                f"outputs: {entry}: the name does not determine the target; end it in {', '.join(SUFFIXES)}, "
                "or give {path = …, target = …}"
            )
        target = target_of(entry, None)
        return Output(entry, target, for_other_target(entry, target))
    return Output(entry["path"], target_of(entry["path"], entry["target"]))


def _check_paths(path: str, models: Sequence[Model]) -> None:
    owners: dict[str, str] = {}
    for model in models:
        for output in model.outputs:
            place = model.resolve(output.path)
            if place in owners and output.target != "runtime":
                both = f"{owners[place]} and {model.name}" if owners[place] != model.name else f"{model.name} twice"
                raise SourceError(path, f"two outputs have one path: {output.path} is written by {both}")
            owners[place] = model.name
