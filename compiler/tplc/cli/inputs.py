"""Reading what the user names: files, JSON, NAME=VALUE options, templates.

read_json("tools.json")  →  [...], or "tools.json:3:5: is not JSON: …"
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tplc import driver
from tplc.cli.options import NO_VARIANTS, Variants
from tplc.cli.progress import working
from tplc.errors import BadIR, SourceError, UnfinishedFormat, UsageError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.visible import shown
from tplc.overwriting import protect
from tplc.project.declared import telling_places
from tplc.project.files import read_text

if TYPE_CHECKING:
    from tplc.render import Limits, Renderer
    from tplc.sources import TemplateSource

_NO_TOKENS = ("messages", "tools", "add_generation_prompt")  # what a conversation gives the template


def pairs(options: Sequence[str], option: str, expected: str = "NAME=VALUE") -> dict[str, str]:
    """Return the values of a repeatable option --option NAME=VALUE."""
    found: dict[str, str] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} {text}: expected {expected}")
        found[name] = value
    return found


def variables(options: Sequence[str]) -> dict[str, Json]:
    """Return the variables; a value that is valid JSON is read as JSON, any other as text."""
    return {name: _json_or_text(text) for name, text in pairs(options, "--var").items()}


def _json_or_text(text: str) -> Json:
    try:
        return parse_json(text)
    except NotJson as error:
        if error.line is None:
            raise UsageError(f"--var: a value {error}") from error
        return text


def limits(options: Sequence[str]) -> Limits:
    given: dict[str, float] = {}
    for name, text in pairs(options, "--limit").items():
        try:
            given[name] = float(text)
        except ValueError as error:
            raise UsageError(f"--limit {name}={text}: expected a number") from error
    return driver.make_limits(given)


def refuse_limits(options: Sequence[str], what: str) -> None:
    """Raise an error for --limit if the source already contains a format: nothing is rendered then."""
    if options:
        raise UsageError(f"--limit {options[0]}: {what} is not learned: name a template")


def load_template(source: str, template_name: str | None, special_tokens: Sequence[str]) -> TemplateSource:
    """Return the template; special tokens of the command line replace its own."""
    from dataclasses import replace

    from tplc.sources import load, load_tokens

    ask_for_input(source, "the template")
    template = load(source, template_name=template_name)
    protect(template.files)
    tokens, added = dict(template.special_tokens), template.added_tokens
    for path in (text for text in special_tokens if "=" not in text and os.path.exists(text)):
        found = load_tokens(path)
        if not (found.special_tokens or found.added_tokens):
            raise SourceError(path, "lists no special tokens", "name a model's folder, or its tokenizer_config.json")
        tokens |= found.special_tokens
        added = (*added, *found.added_tokens)
    named = [text for text in special_tokens if "=" in text or not os.path.exists(text)]
    given = pairs(named, "--token", "NAME=TEXT, or a tokenizer's file or folder")
    for name in given:
        if not name.isidentifier() or name in _NO_TOKENS:
            raise UsageError(f"--token {name}={given[name]}: expected the name of a token, such as eos_token")
    tokens |= given
    return replace(template, special_tokens=tokens, added_tokens=added)


def learned(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    variants: Variants = NO_VARIANTS,
    *,
    limits: Limits | None = None,
    verify: bool = False,
) -> TemplateIR:
    """Return the format of a template; with `verify`, also the result of verification."""
    declared = variants.read()
    template = load_template(source, template_name, special_tokens)
    with learning(template, limits) as (ir, renderer):
        with telling_places(declared):
            ir = driver.tolerate(ir, declared.tolerances, declared.catalogue)
        ir = driver.verify_ir(ir, renderer) if verify else ir
    warn_of_missing_stops(ir)
    return ir


def warn_of_missing_stops(ir: TemplateIR) -> None:
    """Print a warning if an answer ends with a special token that wasn't given: it will then stay in the content."""
    from tplc.audit.unfinished import BY_OPTION

    names = driver.missing_stops(ir)
    if names:
        error = UnfinishedFormat(ir.provenance.name, names, BY_OPTION.format(name=names[0]))
        print(f"warning: {shown(str(error))}", file=sys.stderr)


@contextmanager
def learning(
    template: TemplateSource, limits: Limits | None = None, *, doing: str = ""
) -> Iterator[tuple[TemplateIR, Renderer]]:
    """Yield the learned format of a template and its renderer; both are subject to the limits until the block ends."""
    with (
        working(doing or f"learning {template.name}"),
        driver.open_renderer(
            template.text, name=template.name, special_tokens=template.special_tokens, limits=limits
        ) as renderer,
        renderer.within_total(),
    ):
        ir = driver.learn_format(
            renderer,
            name=template.name,
            source_text=template.text,
            special_tokens=template.special_tokens,
            added_tokens=template.added_tokens,
        )
        yield ir, renderer


def ir_in(path: str) -> TemplateIR:
    """Return the IR in a file; raise an error that names the file if it contains none."""
    try:
        return driver.load_ir(read_text(path))
    except BadIR as error:
        raise SourceError(path, str(error)) from error


def text_of(path: str, what: str) -> str:
    """Return the text of a file, or of standard input."""
    ask_for_input(path, what)
    return read_text(path)


def ask_for_input(path: str, what: str) -> None:
    """Asks for input on a terminal: prints what to paste and how to end it."""
    if path == "-" and sys.stdin.isatty():
        print(f"Paste {what}, then press Ctrl-D on a line of its own:", file=sys.stderr)


def check_standard_input(arguments: Mapping[str, str], options: Mapping[str, Sequence[str | None]]) -> None:
    """Refuses two uses of standard input, which can be read once, and asks for options that read from a terminal."""
    asked = {what: [path] for what, path in arguments.items()} | dict(options)
    named = [what for what, paths in asked.items() for path in paths if path == "-"]
    if len(named) > 1:
        both = f"both {named[0]} and {named[1]}" if named[0] != named[1] else f"{named[0]} twice"
        raise UsageError(f"standard input (-) cannot be {both}: name a file for one of them")
    for what in named:
        if what in options:
            ask_for_input("-", what)
