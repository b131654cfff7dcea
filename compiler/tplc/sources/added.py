"""The tokens that a tokenizer was given in addition to its vocabulary, for grammars that are made of tokens.

tokenizer.json       {"added_tokens": [{"id": 7, "content": "<call>", "special": false}]}
→  AddedToken("<call>", 7, apart=True)

Apart is what the engines keep apart from text: special tokens, and all in angle brackets; of a GGUF file those of
control.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tplc.errors import SourceError
from tplc.ir.nodes import Json
from tplc.ir.tokens import AddedToken
from tplc.sources.folder import TOKENIZER
from tplc.sources.gguf_file import is_gguf, read_gguf_tokens
from tplc.sources.tokenizer_config import read_object

_CONFIG = "tokenizer_config.json"


def load_added_tokens(source: str) -> tuple[AddedToken, ...]:
    """Return the added tokens of a model's folder, a tokenizer.json, a tokenizer_config.json, or a GGUF file."""
    path = Path(source)
    if is_gguf(path):
        return read_gguf_tokens(path, source)
    if not path.is_dir():
        found = tuple(_added(read_object(path, source)))
    else:
        names = [name for name in (TOKENIZER, _CONFIG) if (path / name).is_file()]
        found = next(filter(None, (tuple(_added(read_object(path / name, str(path / name)))) for name in names)), ())
    if not found:
        hint = "name a tokenizer.json, a tokenizer_config.json with added_tokens_decoder, or a GGUF file"
        raise SourceError(source, "lists no added tokens", hint)
    return found


def _added(config: dict[str, Json]) -> Iterator[AddedToken]:
    decoder, listed = config.get("added_tokens_decoder"), config.get("added_tokens")
    numbered: list[tuple[Json, Json]] = []
    if isinstance(listed, list):
        numbered = [(token.get("id"), token) for token in listed if isinstance(token, dict)]
    elif isinstance(decoder, dict):
        numbered = [(int(number), token) for number, token in decoder.items() if number.isdecimal()]
    for number, token in numbered:
        text = token.get("content") if isinstance(token, dict) else None
        if isinstance(token, dict) and isinstance(number, int) and isinstance(text, str) and text:
            named = text.startswith("<") and text.endswith(">")
            yield AddedToken(text, number, token.get("special") is True or named)
