"""Read the templates and special tokens in the head of a GGUF file; its tensors are not looked at.

tokenizer.chat_template, tokenizer.chat_template.tool_use, tokenizer.ggml.bos_token_id = 1
→  templates {"default": …, "tool_use": …}, special tokens {"bos_token": "<start>"}
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tplc.errors import SourceError
from tplc.sources.choose import DEFAULT
from tplc.sources.source import Offer

if TYPE_CHECKING:
    from gguf import GGUFReader, ReaderField

MAGIC = b"GGUF"
_TEMPLATE = "tokenizer.chat_template"
_TOKENS = "tokenizer.ggml.tokens"
_TOKEN_IDS = {
    "tokenizer.ggml.bos_token_id": "bos_token",
    "tokenizer.ggml.eos_token_id": "eos_token",
    "tokenizer.ggml.unknown_token_id": "unk_token",
    "tokenizer.ggml.padding_token_id": "pad_token",
    "tokenizer.ggml.seperator_token_id": "sep_token",  # spelt so in the format
    "tokenizer.ggml.mask_token_id": "mask_token",
}


def is_gguf(path: Path) -> bool:
    """A pipe is not looked into: what is read from it is gone."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_gguf(path: Path, origin: str) -> Offer:
    try:
        reader = _open(path)
        return Offer(_templates(reader), _special_tokens(reader), (str(path),))
    except ImportError as error:
        problem = "reading a GGUF file needs the gguf package"
        raise SourceError(origin, problem, "install it with: pip install 'tplc[gguf]'") from error
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError, OSError, RuntimeWarning) as error:
        # What the reader raises on a damaged file, which it does not check for.
        raise SourceError(origin, f"this GGUF file is damaged, or of an unknown kind: {_first_line(error)}") from error


def _open(path: Path) -> GGUFReader:
    from gguf import GGUFReader

    class HeadReader(GGUFReader):
        """Tensors may be missing: the head alone is enough."""

        def _build_tensor_info(self, offs: int, all_fields: object) -> tuple[int, list[ReaderField]]:
            return offs, []

    return HeadReader(path)


def _templates(reader: GGUFReader) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, field in reader.fields.items():
        if key == _TEMPLATE:
            found[DEFAULT] = _text(field)
        elif key.startswith(f"{_TEMPLATE}."):
            found[key[len(_TEMPLATE) + 1 :]] = _text(field)
    return found


def _special_tokens(reader: GGUFReader) -> dict[str, str]:
    tokens = reader.fields.get(_TOKENS)
    found: dict[str, str] = {}
    for key, name in _TOKEN_IDS.items():
        field = reader.fields.get(key)
        if field is not None and tokens is not None:
            number = int(field.parts[field.data[0]][0])
            if 0 <= number < len(tokens.data):
                found[name] = _text(tokens, number)
    return found


def _text(field: ReaderField, index: int = 0) -> str:
    return bytes(field.parts[field.data[index]]).decode("utf-8")


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
