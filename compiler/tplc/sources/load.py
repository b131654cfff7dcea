"""Find out what a source is, and read the template from it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from tplc.errors import SourceError
from tplc.paths import NO_NAME, is_name, nearest, next_step, unreadable
from tplc.sources.builtin import PREFIX, builtin_names, builtin_template, offer
from tplc.sources.choose import DEFAULT, choose
from tplc.sources.folder import TOKENIZER, read_folder, read_tokens
from tplc.sources.gguf_file import is_gguf, read_gguf
from tplc.sources.hub import base_name, is_hub_id, read_hub
from tplc.sources.source import Offer, TemplateSource
from tplc.sources.text import TEMPLATE_BYTES, check_template, decode, read_bytes, read_text
from tplc.sources.tokenizer_config import read_tokenizer_config

STDIN = "-"
ARTIFACTS = (".py", ".peg", ".gbnf")


def load(source: str, *, template_name: str | None = None, prefer_tools: bool = True) -> TemplateSource:
    """Read a template.  Where a model has several, `template_name` chooses, else the one for tools is preferred."""
    check_name(source)
    path = Path(source)
    if source == STDIN:
        text = decode(read_bytes(sys.stdin.buffer, "standard input", TEMPLATE_BYTES), "standard input")
        return _only("stdin", text, "standard input", template_name)
    if source.startswith(PREFIX):
        name = source.removeprefix(PREFIX)
        return _only(name, builtin_template(name), source, template_name)
    if not path.exists():
        name, found = base_name(source), read_hub(source)
    elif path.is_dir():
        name, found = path.resolve().name or DEFAULT, read_folder(path, source)
    elif is_gguf(path) or path.suffix == ".gguf":
        name, found = path.name, read_gguf(path, source)
    elif path.suffix == ".json":
        name, found = path.name, read_tokenizer_config(path, source)
    else:
        text = read_text(path, source, TEMPLATE_BYTES)
        return replace(_only(path.name, text, source, template_name), files=(str(path),))
    return _chosen(name, found, source, template_name, prefer_tools=prefer_tools)


def load_tokens(source: str) -> Offer:
    """Return the tokens of a tokenizer: a model's folder, one of its JSON files, or a GGUF file. The files next to
    tokenizer.json are read too, because it contains no names."""
    path = Path(source)
    if path.is_dir():
        return read_tokens(path, source)
    if is_gguf(path):
        return read_gguf(path, source)
    if path.name == TOKENIZER:
        return read_tokens(path.parent, str(path.parent))
    return read_tokenizer_config(path, source)


def check_name(source: str) -> None:
    """Raises SourceError for what can be no source, going by its name: nothing is read, and no hub is asked."""
    if not source:
        raise SourceError(
            "template", "the name of its source is empty", "give a file, a folder, a hub id, or - for stdin"
        )
    path = Path(source)
    if source == STDIN:
        return
    if source.startswith(PREFIX):
        if source.removeprefix(PREFIX) not in builtin_names():
            raise SourceError(source, "there is no such built-in template", offer())
    elif _is_there(path, source):
        if path.suffix in ARTIFACTS and not path.is_dir():
            raise SourceError(source, "this is an artifact, not a template", "name the template that it is made from")
    elif not is_hub_id(source) or _in_a_folder_here(source):
        raise SourceError(source, "there is no such file or folder", _hint(path, source))


def is_elsewhere(source: str) -> bool:
    """Return whether the name isn't a file's: it names a built-in template, or a model of the hub."""
    return source.startswith(PREFIX) or is_hub_id(source)


def _chosen(name: str, found: Offer, origin: str, template_name: str | None, *, prefer_tools: bool) -> TemplateSource:
    chosen = choose(origin, found.templates, template_name, prefer_tools=prefer_tools)
    if len(found.templates) > 1:
        name, origin = f"{name}:{chosen}", f"{origin} (template {chosen!r})"
    text = check_template(found.templates[chosen], origin)
    return TemplateSource(name, text, found.special_tokens, origin, found.files, found.added_tokens)


def _only(name: str, text: str, origin: str, template_name: str | None) -> TemplateSource:
    """Return the source for a text that is the template itself; it has no names to choose from."""
    if template_name not in (None, DEFAULT):
        raise SourceError(origin, f"this is one template: there is none named {template_name!r} in it")
    return TemplateSource(name, check_template(text, origin), {}, origin)


def _in_a_folder_here(source: str) -> bool:
    """Return whether the id begins with an existing folder, like `models/chat`; an id with a revision always means the
    hub."""
    return "@" not in source and os.path.isdir(Path(source).parts[0])


def _hint(path: Path, source: str) -> str:
    """Return a suggestion for a source that doesn't exist."""
    if "://" in source:
        return "URLs are not supported; name a hub model as org/model, or a local file"
    if source in builtin_names():
        hints = [f"did you mean {PREFIX}{source}?"]
    elif is_hub_id(source):
        near = nearest(path)
        hints = [f"did you mean {near}?"] if near is not None else []
        hints.append(f"{path.parts[0]} is a folder here, so the hub was not asked: {source}@main asks it")
    else:
        hints = [next_step(source)]
    return "\n    ".join(hints)


def _is_there(path: Path, source: str) -> bool:
    if not is_name(source):
        raise SourceError(source, NO_NAME)
    try:
        return path.exists()
    except PermissionError as error:
        raise unreadable(source, error) from error
    except (OSError, ValueError) as error:
        raise SourceError(source, NO_NAME) from error
