"""The command in a generated file's header, which makes the file anew.

Run in the folder of the file.  The same template and options give the same bytes, wherever the folder is: paths are
told from the file's folder, and those of elsewhere on this machine by their last name.
What only reports, overwrites or verifies (--json, --force, --seed, …) is left out.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tplc.driver import SUFFIXES, target_of
from tplc.sources import is_elsewhere

if TYPE_CHECKING:
    from tplc.cli.compile import CompileOptions
    from tplc.driver import Target


def command_of(options: CompileOptions, target: Target) -> str:
    folder = "" if options.output == "-" else os.path.dirname(options.output)

    def seen(path: str) -> str:
        return path if path == "-" else _from(folder, path)

    source = options.source if is_elsewhere(options.source) else seen(options.source)
    return shlex.join(["tplc", "compile", source, *_options(options, target, seen)])


def _options(options: CompileOptions, target: Target, seen: Callable[[str], str]) -> Iterator[str]:
    variants = options.variants
    yield from _written(options, target)
    listed = {
        "--token": [text if "=" in text else seen(text) for text in options.special_tokens],
        "--tolerances": map(seen, variants.tolerances),
        "--catalogue": map(seen, variants.catalogue),
        "--example": [seen(str(path)) for path in options.examples],
        "--var": options.variables,
        "--limit": options.limits,
    }
    single = {
        "--template-name": options.template_name,
        "--tools": options.tools and seen(options.tools),
        "--tool-choice": _unless(options.tool_choice, "auto"),
        "--json-schema": options.json_schema and seen(options.json_schema),
        "--profile": _unless(options.profile, "transformers"),
        "--tokenizer": options.tokenizer and seen(options.tokenizer),
        "--reasoning": _unless(options.reasoning, "inside"),
        "--name": options.name,
        "--runtime": _unless(options.runtime, "standalone"),
        "--max-size": options.max_size and str(options.max_size),
    }
    flags = {
        "--no-catalogue": not variants.shipped,
        "--parallel": options.parallel is True,
        "--no-parallel": options.parallel is False,
        "--any-order": options.any_order,
        "--strict": options.strict,
        "--legacy": options.legacy,
        "--openai": options.openai,
        "--no-main": not options.main,
        "--native": options.native,
        "--allow-unverified": options.allow_unverified,
    }
    for name, values in listed.items():
        for value in values:
            yield from (name, value)
    for name, one in single.items():
        if one:
            yield from (name, one)
    yield from (name for name, given in flags.items() if given)


def _written(options: CompileOptions, target: Target) -> Iterator[str]:
    """The file's own name, and the target where the name does not tell it."""
    if options.into is not None or options.output == "-":
        yield from ("-t", target)
        return
    name = os.path.basename(options.output)
    if not (name.endswith(tuple(SUFFIXES)) and target_of(name, None) == target):
        yield from ("-t", target)
    yield from ("-o", name)


def _unless(text: str, default: str) -> str:
    return "" if text == default else text


def _from(folder: str, path: str) -> str:
    """A path that was typed as one of this machine's is no other machine's, if it leads out of the folder."""
    inside = os.path.relpath(path, folder or os.curdir)
    return os.path.basename(path) if os.path.isabs(path) and inside.startswith(os.pardir) else inside
