"""Whether a marker is one token of the tokenizer's own, several, or text.

    MarkerTokens("<call>\n", (("<call>", True), ("\n", False)))  →  "a token and text"

Servers drop tokens of their own from what they pass on, and text never matches one: so it matters which a marker is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from tplc.ir.nodes import TemplateIR, Text, Token


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that a tokenizer adds to its vocabulary. `apart`: in a grammar of tokens, it matches no text, and no text
    matches it."""

    text: str
    number: int
    apart: bool


@dataclass(frozen=True, slots=True)
class MarkerTokens:
    """A marker, without outer white space, in pieces: each a token of its own, or text."""

    marker: str
    pieces: tuple[tuple[str, bool], ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(text for text, is_token in self.pieces if is_token)

    @property
    def kind(self) -> str:
        count = len(self.tokens)
        if not count:
            return "text"
        tokens = "one token" if count == 1 else f"{count} tokens"
        return tokens if all(is_token or not text.strip() for text, is_token in self.pieces) else f"{tokens} and text"


def with_marker_tokens(ir: TemplateIR) -> TemplateIR:
    """Return the format with only those tokens that occur in its markers and variants, or that end an answer."""
    texts = [*texts_in((ir.turn, ir.reasoning, ir.content, ir.tools, ir.forms))]
    texts += [tolerance.text for tolerance in ir.tolerances]
    return replace(ir, tokens=tokens_in(texts, ir.tokens, ends=True))


def tokens_in(texts: Iterable[str], tokens: Iterable[Token], *, ends: bool = False) -> tuple[Token, ...]:
    """Return the tokens that occur in some of the texts, in the order of their text; with `ends` also those that end
    answers.

    A token of one character, or of white space, marks nothing by itself.
    """
    joined = "\0".join(texts)
    kept = [token for token in tokens if (ends and token.ends) or _marks(token.text, joined)]
    return tuple(sorted(kept, key=lambda token: token.text))


def stop_token_ids(ir: TemplateIR, stops: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers of the tokens that end an answer, according to the tokenizer or the template, in order."""
    ends = {*stops}
    found = {token.id for token in ir.tokens if token.ends or token.text in ends}
    return tuple(sorted(number for number in found if number is not None))


def texts_in(node: object) -> Iterator[str]:
    """Yield all texts in a node, at any depth."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, (tuple, list, frozenset)):
        for item in node:
            yield from texts_in(item)
    elif is_dataclass(node):
        for field in fields(node):
            yield from texts_in(getattr(node, field.name))


def _marks(text: str, joined: str) -> bool:
    return len(text.strip()) > 1 and text in joined


def marker_tokens(ir: TemplateIR, added_tokens: Sequence[str]) -> tuple[MarkerTokens, ...]:
    """Return every marker of a format with its tokens, in the order of a turn."""
    known = sorted({token for token in added_tokens if token}, key=len, reverse=True)
    cut = re.compile("|".join(map(re.escape, known)) or "(?!)")
    return tuple(MarkerTokens(marker, tuple(_pieces(cut, marker))) for marker in markers_of(ir))


def markers_of(ir: TemplateIR) -> tuple[str, ...]:
    tools = ir.tools
    pairs = getattr(tools.arguments, "pair", ())
    texts = [
        ir.turn.header,
        ir.reasoning.start,
        ir.reasoning.end,
        ir.content.start,
        ir.content.end,
        tools.section_start,
        *(item.text for item in tools.call if isinstance(item, Text)),
        *(item.text for item in pairs if isinstance(item, Text)),
        tools.section_end,
        *ir.turn.ends,
    ]
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _pieces(cut: re.Pattern[str], marker: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in cut.finditer(marker):
        if match.start() > at:
            yield marker[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(marker):
        yield marker[at:], False
