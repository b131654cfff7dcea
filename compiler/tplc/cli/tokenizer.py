"""Read a tokenizer, and report another kind of file before any work is done.

tokenizer_text("rows.jsonl")  →  rows.jsonl: is not a tokenizer: expected `,` or `}` at line 1 column 12
"""

from __future__ import annotations

import os

from tplc.errors import SourceError
from tplc.overwriting import protect
from tplc.paths import check_folder, input_name, missing
from tplc.project.files import read_text

_HINT = "name a model's folder, or its tokenizer.json"


def tokenizer_text(path: str) -> str:
    """Return the text of a tokenizer.json, or of the one in a model's folder."""
    place = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
    if path != "-" and not os.path.exists(path):
        raise missing(path)
    if path != "-" and not os.path.isfile(place):
        check_folder(path)
        raise SourceError(path, "contains no tokenizer.json", _HINT)
    protect([place])
    return read_text(place)


def checked_tokenizer(text: str, path: str) -> str:
    """Return the text that was read from this path; raise SourceError if it is not a tokenizer."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return text  # the command says which package is missing, when it needs it
    try:
        Tokenizer.from_str(text)
    except Exception as error:  # the package raises nothing more specific
        name = input_name(path)
        raise SourceError(name, f"is not a tokenizer: {error}", _HINT) from error
    return text
