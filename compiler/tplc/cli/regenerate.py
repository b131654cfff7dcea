"""The command in a generated file's header, which makes the file anew.

Run in the folder where the file was made; what only reports or overwrites (--json, --force, …) is left out of it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tplc.cli.compile import CompileOptions
    from tplc.driver import Target


def command_of(options: CompileOptions, target: Target) -> str:
    return shlex.join(["tplc", "compile", _path(options.source), *_options(options, target)])


def _options(options: CompileOptions, target: Target) -> Iterator[str]:
    variants = options.variants
    if options.output != "-":
        yield from ("-o", os.path.basename(options.output))
    if options.target is not None or (options.output == "-" and target != "python"):
        yield from ("-t", target)
    listed = {
        "--token": [text if "=" in text else _path(text) for text in options.special_tokens],
        "--tolerances": map(_path, variants.tolerances),
        "--catalogue": map(_path, variants.catalogue),
        "--example": [_path(str(path)) for path in options.examples],
        "--var": options.variables,
        "--limit": options.limits,
    }
    single = {
        "--template-name": options.template_name,
        "--tools": options.tools and _path(options.tools),
        "--tool-choice": _unless(options.tool_choice, "auto"),
        "--json-schema": options.json_schema and _path(options.json_schema),
        "--profile": _unless(options.profile, "transformers"),
        "--reasoning": _unless(options.reasoning, "inside"),
        "--runtime": _unless(options.runtime, "standalone"),
        "--max-size": options.max_size and str(options.max_size),
        "--seed": _unless(str(options.seed), "0"),
    }
    flags = {
        "--no-catalogue": not variants.shipped,
        "--parallel": options.parallel is True,
        "--no-parallel": options.parallel is False,
        "--any-order": options.any_order,
        "--strict": options.strict,
        "--openai": options.openai,
        "--allow-unverified": options.allow_unverified,
        "--thorough": options.thorough,
    }
    for name, values in listed.items():
        for value in values:
            yield from (name, value)
    for name, one in single.items():
        if one:
            yield from (name, one)
    yield from (name for name, given in flags.items() if given)


def _unless(text: str, default: str) -> str:
    return "" if text == default else text


def _path(path: str) -> str:
    """Below this folder as seen from it, so that the file is the same wherever the folder is."""
    if not os.path.isabs(path):
        return path
    inside = os.path.relpath(path)
    return path if inside.startswith(os.pardir) else inside
