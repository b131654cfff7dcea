"""Read a model's folder: template files first, for they stand in for what tokenizer_config.json holds.

model/chat_template.jinja                      default
model/additional_chat_templates/tool_use.jinja  tool_use
model/tokenizer_config.json                    special tokens (and templates, where there is no file)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tplc.errors import SourceError
from tplc.ir.nodes import Token
from tplc.paths import check_folder
from tplc.sources.builtin import offer
from tplc.sources.choose import DEFAULT
from tplc.sources.source import Offer
from tplc.sources.text import TEMPLATE_BYTES, read_text
from tplc.sources.tokenizer_config import (
    END,
    added_tokens,
    read_object,
    read_tokenizer_config,
    special_tokens,
    with_ends,
)

TEMPLATE_FILE = "chat_template.jinja"
TEMPLATE_FOLDERS = ("chat_templates", "additional_chat_templates")
CONFIGS = ("tokenizer_config.json", "chat_template.json")
TOKENS_FILE = "special_tokens_map.json"
TOKENIZER = "tokenizer.json"
# Where a model has the number of its end token, if nothing has it by name.
_NUMBERED = ("generation_config.json", "config.json")
TOKENIZER_FILES = (TOKENIZER, TOKENS_FILE, *CONFIGS, *_NUMBERED)
_MOST_NAMED = 3


def read_folder(folder: Path, origin: str) -> Offer:
    found = read_tokens(folder, origin)
    templates = found.templates
    files = _template_files(folder)
    if files:
        templates = {name: _read(path, folder, origin) for name, path in files.items()}
    if not templates:
        raise SourceError(origin, "there is no chat template in this folder", _hint(folder, origin))
    return replace(found, templates=templates, files=(*map(str, files.values()), *found.files))


def read_tokens(folder: Path, origin: str) -> Offer:
    """Read special tokens by name, added tokens, and templates from the JSON files of a model."""
    check_folder(folder, origin)
    templates: dict[str, str] = {}
    tokens: dict[str, str] = {}
    added: dict[int, Token] = {}
    read: list[str] = []
    for name in (TOKENS_FILE, *reversed(CONFIGS)):
        if (folder / name).is_file():
            config = read_object(folder / name, _inside(origin, name))
            if name != TOKENS_FILE:
                templates |= read_tokenizer_config(folder / name, _inside(origin, name)).templates
            tokens |= special_tokens(config)
            added |= added_tokens(config)
            read.append(str(folder / name))
    if not added and (folder / TOKENIZER).is_file():
        added = added_tokens(read_object(folder / TOKENIZER, _inside(origin, TOKENIZER)))
        read.append(str(folder / TOKENIZER))
    ends: list[int] = []
    for name in _NUMBERED if added else ():
        if not ends and (folder / name).is_file():
            numbers = read_object(folder / name, _inside(origin, name)).get(f"{END}_id")
            listed = numbers if isinstance(numbers, list) else [numbers]
            ends = [number for number in listed if type(number) is int and number in added]
            if ends and END not in tokens:
                tokens[END] = added[ends[0]].text
            read += [str(folder / name)] * bool(ends)
    return Offer(templates, tokens, tuple(read), with_ends(added.values(), tokens, ends))


def _hint(folder: Path, origin: str) -> str:
    """Return the file names that were searched for, and existing files that may be meant: these are read if they are
    named."""
    looked_for = ", ".join([TEMPLATE_FILE, *(f"{name}/*.jinja" for name in TEMPLATE_FOLDERS), *CONFIGS])
    hint = f"looked for {looked_for}; {offer()}"
    others = [_inside(origin, path.name) for path in sorted(folder.glob("*.jinja"))]
    if not others:
        return hint
    named = ", ".join(others[:_MOST_NAMED]) + (", …" if len(others) > _MOST_NAMED else "")
    return f"did you mean {named}?\n    {hint}"


def _template_files(folder: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for name in TEMPLATE_FOLDERS:
        files |= {path.stem: path for path in sorted((folder / name).glob("*.jinja"))}
    if (folder / TEMPLATE_FILE).is_file():
        files[DEFAULT] = folder / TEMPLATE_FILE
    return files


def _read(path: Path, folder: Path, origin: str) -> str:
    return read_text(path, _inside(origin, path.relative_to(folder).as_posix()), TEMPLATE_BYTES)


def _inside(origin: str, name: str) -> str:
    return f"{origin.rstrip('/')}/{name}"
