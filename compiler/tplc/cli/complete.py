"""Complete the values of options and arguments for a shell.

    tplc compile --target p⇥  →  python, peg
    tplc build hu⇥  →  the models of the manifest that begin so

Each function imports what it needs when it is asked; where nothing can be said the shell offers files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import get_args

import typer


def targets(incomplete: str) -> list[str]:
    from tplc.driver import TARGETS

    return _fitting((*TARGETS, "training"), incomplete)


def profiles(incomplete: str) -> list[str]:
    from tplc.ir.profiles import PROFILES

    return _fitting(PROFILES, incomplete)


def on_incomplete(incomplete: str) -> list[str]:
    return _fitting(("drop", "keep"), incomplete)


def runtimes(incomplete: str) -> list[str]:
    from tplc.ir.runtimes import Runtime

    return _fitting(get_args(Runtime), incomplete)


def reasoning(incomplete: str) -> list[str]:
    return _fitting(("inside", "outside"), incomplete)


def schemas(incomplete: str) -> list[str]:
    from tplc.schemas import schema_names

    return _fitting(schema_names(), incomplete)


def layouts(incomplete: str) -> list[str]:
    from tplc.design import LAYOUTS

    return _fitting(LAYOUTS, incomplete)


def formats(incomplete: str) -> list[str]:
    from tplc.cli.build import FORMATS

    return _fitting(FORMATS, incomplete)


def row_engines(incomplete: str) -> list[str]:
    from tplc.batch.engines import ENGINES

    return _fitting(ENGINES, incomplete)


def census_engines(incomplete: str) -> list[str]:
    from tplc.parallel import ENGINES

    return _fitting(ENGINES, incomplete)


def limits(incomplete: str) -> list[str]:
    from tplc.render import Limits

    return _fitting((f"{one.name}=" for one in fields(Limits)), incomplete)


def sources(incomplete: str) -> list[str]:
    """Return built-in templates if their prefix has been typed; otherwise files."""
    from tplc.sources.builtin import PREFIX, builtin_names

    return _fitting((PREFIX + name for name in builtin_names()), incomplete) if incomplete else []


def models(context: typer.Context, incomplete: str) -> list[str]:
    """Return the manifest's models that the command doesn't name yet."""
    from tplc.errors import TplcError
    from tplc.project.manifest import find_manifest, load_manifest

    try:
        manifest = load_manifest(find_manifest(context.params.get("manifest")))
    except TplcError:
        return []
    named = set(context.params.get("models") or ())
    return _fitting((model.name for model in manifest.models if model.name not in named), incomplete)


def _fitting(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
