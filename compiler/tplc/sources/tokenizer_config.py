"""Read the JSON files next to a model.

{"chat_template": [{"name": "default", "template": "…"}], "eos_token": {"content": "<end>"}}
→  templates {"default": "…"}, special tokens {"eos_token": "<end>"}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tplc.errors import SourceError
from tplc.ir.json_text import NotJson, not_json_in, parse_json
from tplc.ir.nodes import Json, Token
from tplc.sources.choose import DEFAULT
from tplc.sources.source import Offer
from tplc.sources.text import CONFIG_BYTES, read_text

_KEY = "chat_template"
END = "eos_token"


def read_tokenizer_config(path: Path, origin: str) -> Offer:
    config = read_object(path, origin)
    if config.keys() >= {"version", "provenance", "turn"}:
        problem = "this is an IR: it contains a format, not a template"
        raise SourceError(origin, problem, "name the template that it is made from")
    templates = _templates(config.get(_KEY), origin)
    named = special_tokens(config)
    tokens = with_ends(added_tokens(config).values(), named)
    return Offer(templates, named, (str(path),), tokens)


def read_object(path: Path, origin: str) -> dict[str, Json]:
    text = read_text(path, origin, CONFIG_BYTES)
    try:
        value = parse_json(text)
    except NotJson as error:
        raise not_json_in(origin, error) from error
    if not isinstance(value, dict):
        raise SourceError(origin, f"expected a JSON object at the top, found {_kind(value)}")
    return value


def special_tokens(config: dict[str, Json]) -> dict[str, str]:
    """Return all members named …_token that are a text, or an object with a text as its content."""
    found = _token_texts(config)
    extra = config.get("extra_special_tokens")
    return found | (_token_texts(extra) if isinstance(extra, dict) else {})


def added_tokens(config: dict[str, Json]) -> dict[int, Token]:
    """Return the added tokens by number, from tokenizer_config.json or tokenizer.json."""
    decoder, listed = config.get("added_tokens_decoder"), config.get("added_tokens")
    numbered: list[tuple[Json, Json]] = []
    if isinstance(decoder, dict):
        numbered += [(int(number), token) for number, token in decoder.items() if number.isdecimal()]
    if isinstance(listed, list):
        numbered += [(token.get("id"), token) for token in listed if isinstance(token, dict)]
    found: dict[int, Token] = {}
    for number, token in numbered:
        text = token.get("content") if isinstance(token, dict) else None
        if isinstance(token, dict) and type(number) is int and number >= 0 and isinstance(text, str) and text:
            found[number] = Token(text, number, token.get("special") is True)
    return found


def with_ends(tokens: Iterable[Token], named: Mapping[str, str], ids: Iterable[int] = ()) -> tuple[Token, ...]:
    """Return the tokens, with those marked that end an answer: the one with this name, and those with these numbers."""
    ends, text = {*ids}, named.get(END, "")
    marked = [replace(token, ends=token.text == text or token.id in ends) for token in tokens]
    # One text may have several numbers; a format knows a token by its text.
    return tuple({token.text: token for token in reversed(marked)}.values())[::-1]


def _token_texts(config: dict[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in config.items():
        text = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and key.isidentifier() and isinstance(text, str):
            found[key] = text
    return found


def _templates(value: Json, origin: str) -> dict[str, str]:
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        return {DEFAULT: value}
    if isinstance(value, dict):
        return {name: _text(text, f"{_KEY}.{name}", origin) for name, text in value.items()}
    if isinstance(value, list):
        return dict(_named(entry, f"{_KEY}[{index}]", origin) for index, entry in enumerate(value))
    raise SourceError(origin, f"{_KEY}: expected a text or a list of named templates, found {_kind(value)}")


def _named(entry: Json, place: str, origin: str) -> tuple[str, str]:
    if not isinstance(entry, dict):
        raise SourceError(origin, f"{place}: expected an object with name and template, found {_kind(entry)}")
    name = _text(entry.get("name"), f"{place}.name", origin)
    return name, _text(entry.get("template"), f"{place}.template", origin)


def _text(value: Json, place: str, origin: str) -> str:
    if not isinstance(value, str):
        raise SourceError(origin, f"{place}: expected a text, found {_kind(value)}")
    return value


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    return {str: "a text", list: "a list", dict: "an object"}[type(value)]
