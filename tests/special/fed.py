"""Outputs with the ranges of their special tokens, fed to parsers in pieces."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from tests.backends.parsers import joined
from tplc.ir.nodes import TemplateIR, Token
from tplc.ir.tokens import with_marker_tokens
from tplc.ir.write import write_message
from tplc.verify.battery import SHAPES

Ranges = tuple[tuple[int, int], ...]
EOS = Token("<|eos:of:tests|>", 1, special=True, ends=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a parser has read: all that it says of an output."""

    message: dict[str, Any]
    incomplete: bool
    trailing: str
    diagnostics: tuple[tuple[int, str], ...]
    deltas: dict[str, Any]

    @property
    def text(self) -> str:
        return (self.message["reasoning_content"] or "") + (self.message["content"] or "")


def with_tokens(ir: TemplateIR) -> TemplateIR:
    """Return the format as if everything in its markers that looks like a token were a token of its tokenizer."""
    tokens = [Token(text, 100 + n, special=True) for n, text in enumerate(ir.preserved_tokens)]
    return with_marker_tokens(replace(ir, tokens=(*tokens, EOS)))


def tokens_in(text: str, tokens: Sequence[str]) -> Ranges:
    """Return the ranges of everything that is spelled like one of the tokens."""
    known = sorted(tokens, key=len, reverse=True)
    return tuple(match.span() for match in re.finditer("|".join(map(re.escape, known)) or "(?!)", text))


def within(special: Ranges, start: int, end: int) -> Ranges:
    """Return the ranges relative to a chunk."""
    cut = ((max(a, start) - start, min(b, end) - start) for a, b in special)
    return tuple((a, b) for a, b in cut if a < b)


def cuts(text: str, size: int) -> list[int]:
    return [*range(size, len(text), size)]


def read(parser: ModuleType, text: str, special: Ranges | None, at: Sequence[int] = (), **options: Any) -> Answer:
    """Return the answer for an output fed in the chunks that are cut `at` these places."""
    stream = parser.StreamParser(**options)
    deltas: list[dict[str, Any]] = []
    for start, end in zip((0, *at), (*at, len(text)), strict=True):
        ranges = None if special is None else within(special, start, end)
        deltas += stream.feed(text[start:end], special=ranges)
    deltas += stream.finish()
    notes = tuple((one.offset, one.text) for one in stream.diagnostics)
    return Answer(stream.message, stream.incomplete, stream.trailing, notes, joined(deltas))


def turns(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    """Yield the shapes of an answer as the format writes them: the parts of each, and its text."""
    for shape in SHAPES:
        if (shape.reasoning and not ir.reasoning.end) or (shape.calls and ir.tools.format == "none"):
            continue
        if shape.calls > 1 and not ir.tools.parallel:
            continue
        function = {"name": "look_up", "arguments": {"place": "Tromsø", "days": 3}}
        message = {
            "reasoning_content": "First I look." if shape.reasoning else None,
            "content": "The answer is here." if shape.content else None,
            "tool_calls": [{"id": f"call{n:05d}", "function": function} for n in range(shape.calls)],
        }
        try:
            yield str(shape), write_message(ir, message, head=ir.turn.heads[0])
        except (ValueError, KeyError):
            continue


def mixed(rng: random.Random, tokens: Sequence[str], texts: Sequence[str], count: int) -> tuple[str, Ranges]:
    """Return pieces of outputs, tokens and their beginnings; some of the tokens are special."""
    text, special = "", []
    for _ in range(rng.randint(1, count)):
        choice = rng.random()
        if choice < 0.5 and tokens:
            token = rng.choice([*tokens, EOS.text, "<unknown:token>"] if rng.random() < 0.2 else tokens)
            piece = token[: rng.randint(1, len(token))] if rng.random() < 0.2 else token
            if rng.random() < 0.6:
                special.append((len(text), len(text) + len(piece)))
        elif choice < 0.9:
            whole = rng.choice(texts)
            start = rng.randrange(len(whole) or 1)
            piece = whole[start : start + rng.randint(1, 40)]
        else:
            piece = rng.choice([" ", "\n", "<", "</", "|>", "\udfff", '"', "}", "x", "世界"])
        text += piece
    return text, tuple(special)
