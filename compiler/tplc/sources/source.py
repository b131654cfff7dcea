"""A template that was read, and what a model offers before one is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tplc.ir.nodes import Token


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """`name` is a base name, fit for files that others read; `origin` is what the user gave, for messages.

    `added_tokens` are all that the tokenizer has as one token, where that is known.  `files` are those here that it was
    read from; none for standard input, what is built in, and the hub.
    """

    name: str
    text: str
    special_tokens: Mapping[str, str]
    origin: str
    files: tuple[str, ...] = ()
    added_tokens: tuple[Token, ...] = ()

    @property
    def texts_of_tokens(self) -> tuple[str, ...]:
        """Return the texts of the added tokens."""
        return tuple(token.text for token in self.added_tokens)


@dataclass(frozen=True, slots=True)
class Offer:
    """The templates of one model, by name, its special tokens, the files that were read, and the added tokens."""

    templates: Mapping[str, str]
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    added_tokens: tuple[Token, ...] = ()
