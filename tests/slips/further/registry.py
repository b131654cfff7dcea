"""The registry of the second list, and what its kinds ask of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.slips.kinds import OF_CALLS, Answer, Kind, _arguments, _object
from tests.slips.written import text_of

FURTHER: dict[str, Kind] = {}
Change = Callable[[str], str]


def further(name: str) -> Callable[[Kind], Kind]:
    """Register a kind; texts that it makes twice count once."""

    def keep(function: Kind) -> Kind:
        FURTHER[name] = function
        return function

    return keep


def before(answer: Answer, place: int) -> str:
    return text_of(answer.pieces[:place])


def after(answer: Answer, place: int) -> str:
    return text_of(answer.pieces[place:])


def replaced(answer: Answer, texts: dict[int, str]) -> str:
    """Return the text with some of the pieces changed."""
    return text_of([replace(piece, text=texts.get(at, piece.text)) for at, piece in enumerate(answer.pieces)])


def mapped(answer: Answer, kind: str, text: str | Change) -> str:
    """Return the text with all pieces of a kind changed."""
    change = (lambda _: text) if isinstance(text, str) else text
    return text_of([replace(p, text=change(p.text)) if p.kind == kind else p for p in answer.pieces])


def first_call(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of the first call."""
    function = answer.message["tool_calls"][0]["function"]
    return function["name"], function["arguments"]


def calls_span(answer: Answer) -> tuple[int, int] | None:
    """Return where the pieces of all calls begin and end."""
    places = [at for at, piece in enumerate(answer.pieces) if piece.kind in OF_CALLS]
    return (places[0], places[-1] + 1) if places else None


def json_texts(answer: Answer) -> Iterator[tuple[str, str, str]]:
    """Yield the JSON object of the first call, or of its arguments, with the text before and after it."""
    span, place = _object(answer), _arguments(answer)
    if span is not None:
        yield answer.text[: span[0]], answer.text[span[0] : span[1]], answer.text[span[1] :]
    elif place is not None:
        yield before(answer, place), answer.pieces[place].text, after(answer, place + 1)


def is_keyword_format(answer: Answer) -> bool:
    """Return whether calls are written as f(a=1)."""
    opened = text_of([p for p in answer.pieces if p.kind in ("args_start", "between")])
    ends = text_of([p for p in answer.pieces if p.kind == "key_end"])
    return bool(answer.calls) and (answer.ir.tools.format == "keyword_arguments" or ("(" in opened and "=" in ends))


def has_line_breaks(answer: Answer) -> bool:
    """Return whether a value of a call contains a line break."""
    return any("\\n" in json.dumps(call["function"]["arguments"]) for call in answer.message.get("tool_calls") or ())


def last_closer(answer: Answer) -> str:
    """Return the text that closes each call."""
    tools = answer.ir.tools
    return tools.json.suffix if tools.json else next((p.text for p in answer.pieces[::-1] if p.kind == "closer"), "")


def is_tag(text: str) -> bool:
    return re.fullmatch(r"\s*</\w+>\s*", text) is not None
