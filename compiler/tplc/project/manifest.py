"""The manifest: `tplc.toml`, or `[tool.tplc]` in a pyproject.toml.

    [models.hut]
    source = "templates/hut.jinja"
    outputs = ["parsers/hut.py", "parsers/hut.json"]

Paths are relative to the manifest's folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tplc.driver import SUFFIXES, Target, make_limits, target_of
from tplc.errors import SourceError, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "tplc.toml"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Output:
    path: str
    target: Target


@dataclass(frozen=True, slots=True)
class Model:
    """One model of a manifest; every path is as the manifest has it, `folder` is what they are relative to."""

    name: str
    folder: str
    source: str
    outputs: tuple[Output, ...]
    template_name: str | None = None
    special_tokens: tuple[tuple[str, str], ...] = ()
    tolerances: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    tools: str | None = None
    json_schema: str | None = None
    tool_choice: str = "auto"
    limits: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    thorough: bool = False
    allow_unverified: bool = False

    def resolve(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))


@dataclass(frozen=True, slots=True)
class Manifest:
    path: str
    models: tuple[Model, ...]

    def chosen(self, names: tuple[str, ...]) -> tuple[Model, ...]:
        """The models of these names; all when none is named."""
        known = {model.name: model for model in self.models}
        for name in names:
            if name not in known:
                raise UsageError(f"{self.path}: no model is called {name!r}; there are {', '.join(known)}")
        return tuple(model for model in self.models if not names or model.name in names)


def find_manifest(path: str | None) -> str:
    """The file that was named, or the one in this folder or the nearest above it."""
    if path is not None:
        if os.path.isdir(path):
            path = os.path.join(path, NAME)
        if not os.path.isfile(path):
            raise SourceError(path, "there is no such file", "tplc init starts one")
        return path
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in (NAME, PYPROJECT):
            found = folder / name
            if found.is_file() and (name == NAME or "tplc" in _read(str(found)).get("tool", {})):
                return os.path.relpath(found)
    raise SourceError(NAME, "there is none in this folder or above it", "tplc init starts one")


def load_manifest(path: str) -> Manifest:
    data = _read(path)
    prefix = ""
    if os.path.basename(path) == PYPROJECT:
        data, prefix = data.get("tool", {}).get("tplc", {}), "tool.tplc."
        if not data:
            raise SourceError(path, "has no table [tool.tplc]")
    _validate(data, path, prefix)
    shared = data.get("options", {})
    folder = os.path.dirname(path)
    models = []
    for name, table in data["models"].items():
        try:
            models.append(_model(name, folder, {**shared, **table}))
        except UsageError as error:
            raise SourceError(path, f"{prefix}models.{name}: {error}") from error
    _check_paths(path, models)
    return Manifest(path, tuple(models))


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data: dict[str, Any] = tomllib.load(file)
    except OSError as error:
        raise SourceError(path, f"cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(path, f"is not TOML: {error}") from error
    return data


def _validate(data: Mapping[str, Any], path: str, prefix: str) -> None:
    """Names the key that is wrong, and what was expected there."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from tplc.schemas import load_schema

    error = best_match(Draft202012Validator(load_schema("manifest")).iter_errors(data))
    if error is not None:
        key = prefix + ".".join(map(str, error.absolute_path))
        raise SourceError(path, f"{key.rstrip('.')}: {_expected(error)}" if key else _expected(error))


def _expected(error: Any) -> str:
    schema = error.schema
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"the key {missing!r} is missing"
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(schema["properties"]))
        return f"no such key: {unknown[0]}; there are {', '.join(schema['properties'])}"
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


def _model(name: str, folder: str, table: Mapping[str, Any]) -> Model:
    fields = {key.replace("-", "_"): value for key, value in table.items()}
    fields["outputs"] = tuple(map(_output, fields["outputs"]))
    for key in ("special_tokens", "limits"):
        if key in fields:
            fields[key] = tuple(fields[key].items())
    for key in ("tolerances", "examples"):
        if key in fields:
            fields[key] = tuple(fields[key])
    model = Model(name=name, folder=folder, **fields)
    make_limits(dict(model.limits))
    grammar = next((output.path for output in model.outputs if output.target == "gbnf"), None)
    if grammar is not None and not (model.tools or model.json_schema):
        raise UsageError(f"outputs: {grammar}: a grammar is made for one request: give tools or json-schema")
    return model


def _output(entry: str | Mapping[str, str]) -> Output:
    if isinstance(entry, str):
        if not entry.endswith(tuple(SUFFIXES)):
            raise UsageError(
                f"outputs: {entry}: cannot tell the target from the name: end it in {', '.join(SUFFIXES)}, "
                "or give {path = …, target = …}"
            )
        return Output(entry, target_of(entry, None))
    return Output(entry["path"], target_of(entry["path"], entry["target"]))


def _check_paths(path: str, models: Sequence[Model]) -> None:
    owners: dict[str, str] = {}
    for model in models:
        for output in model.outputs:
            place = model.resolve(output.path)
            if place in owners:
                both = f"{owners[place]} and {model.name}" if owners[place] != model.name else f"{model.name} twice"
                raise SourceError(path, f"two outputs have one path: {output.path} is written by {both}")
            owners[place] = model.name
