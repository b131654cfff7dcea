"""Read the JSON files next to a model.

{"chat_template": [{"name": "default", "template": "…"}], "eos_token": {"content": "<end>"}}
→  templates {"default": "…"}, special tokens {"eos_token": "<end>"}
"""

from __future__ import annotations

from pathlib import Path

from tplc.errors import SourceError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json
from tplc.sources.choose import DEFAULT
from tplc.sources.source import Offer
from tplc.sources.text import CONFIG_BYTES, read_text

_KEY = "chat_template"


def read_tokenizer_config(path: Path, origin: str) -> Offer:
    config = read_object(path, origin)
    if config.keys() >= {"version", "provenance", "turn"}:
        problem = "this is an IR: it holds a format, and no template"
        raise SourceError(origin, problem, "name the template that it is made from")
    templates = _templates(config.get(_KEY), origin)
    return Offer(templates, special_tokens(config), (str(path),), tuple(added_tokens(config).values()))


def read_object(path: Path, origin: str) -> dict[str, Json]:
    text = read_text(path, origin, CONFIG_BYTES)
    try:
        value = parse_json(text)
    except NotJson as error:
        if error.line is None:
            raise SourceError(origin, f"this JSON {error}") from error
        raise SourceError(f"{origin}:{error.line}:{error.column}", f"this is not JSON: {error.problem}") from error
    if not isinstance(value, dict):
        raise SourceError(origin, f"expected a JSON object at the top, found {_kind(value)}")
    return value


def special_tokens(config: dict[str, Json]) -> dict[str, str]:
    """Whatever is named …_token and has a text: as it stands, or as the content of an object."""
    found = _token_texts(config)
    extra = config.get("extra_special_tokens")
    return found | (_token_texts(extra) if isinstance(extra, dict) else {})


def added_tokens(config: dict[str, Json]) -> dict[int, str]:
    """By number, as tokenizer_config.json has them, or tokenizer.json."""
    found: dict[int, str] = {}
    decoder, listed = config.get("added_tokens_decoder"), config.get("added_tokens")
    for number, token in decoder.items() if isinstance(decoder, dict) else ():
        if isinstance(token, dict) and isinstance(token.get("content"), str) and number.isdecimal():
            found[int(number)] = str(token["content"])
    for token in listed if isinstance(listed, list) else ():
        if isinstance(token, dict) and isinstance(token.get("content"), str) and isinstance(token.get("id"), int):
            found[int(str(token["id"]))] = str(token["content"])
    return found


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
