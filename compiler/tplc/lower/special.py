"""Find which tokens of the tokenizer a parser has to distinguish from text that is spelled like them.

openers ("<call>\\n{",), tokens <call>, <eos> (ends an answer)
→  TokensOfFormat(markers=(<call>,), ends=(<eos>,), shared=(), opens=("<call>",))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tplc.ir.markers import common_prefix
from tplc.ir.nodes import TemplateIR, Token
from tplc.ir.tokens import texts_in, tokens_in
from tplc.lower.acceptor import Acceptor
from tplc.lower.lexemes import Lexemes, in_class, lexemes_of


@dataclass(frozen=True, slots=True)
class TokensOfFormat:
    """`markers` are the tokens that stand in markers; `ends` are those that end an answer and stand in none.

    `shared` are the beginnings of tokens with which other parts of markers begin as well: as the end of an output,
    such text may be a truncated marker though no token was truncated.  `opens` are the tokens in what opens calls, and
    `bare_openers` what opens them without a token, if others have one.  `elsewhere` are the tokens in markers of
    reasoning and content: where one occurs, a call need not follow.
    """

    markers: tuple[Token, ...] = ()
    ends: tuple[Token, ...] = ()
    shared: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    bare_openers: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Token, ...]:
        """Return all tokens, by their text."""
        return tuple(sorted((*self.markers, *self.ends), key=lambda token: token.text))

    @property
    def groups(self) -> tuple[Lexemes, ...]:
        """Return the lexemes that find the tokens. A search finds only the longest of tokens that begin alike, so the
        shorter ones have searches of their own."""
        tokens, ends = [token.text for token in self.markers], [token.text for token in self.ends]
        apart = [one for one in tokens if any(other != one and other.startswith(one) for other in (*tokens, *ends))]
        together = lexemes_of([("token", [one for one in tokens if one not in apart]), ("end", ends)])
        return together, *(lexemes_of([("token", [one])]) for one in apart)

    @property
    def lexemes_of_ends(self) -> Lexemes:
        """Return the lexemes that find the tokens that end an answer."""
        return lexemes_of([("end", [token.text for token in self.ends])])

    @property
    def first(self) -> str:
        """Return a pattern of the beginning of a token, or a guard."""
        return f"[{in_class(sorted({char for group in self.groups for char in group.first}))}\\udfff]"


def special_tokens(ir: TemplateIR, acceptor: Acceptor) -> TokensOfFormat:
    """Return the tokens of a format; none if its tokenizer is not known."""
    if not ir.tokens:
        return TokensOfFormat()
    texts = sorted({*texts_in(acceptor)})
    markers = tokens_in(texts, ir.tokens)
    known = [token.text for token in markers]
    ends = tuple(token for token in ir.tokens if token.ends and token not in markers and len(token.text.strip()) > 1)
    calls = acceptor.calls
    openers = (*calls.opening.openers, *calls.opening.starts) if calls is not None else ()
    opens = tuple(text for text in known if any(text in opener for opener in openers))
    bare = {opener.strip() for opener in openers if not any(text in opener for text in opens)} if opens else set()
    starts = [marker.text for marker in (*acceptor.reasoning_starts, *acceptor.content_starts)]
    others = (*starts, *acceptor.reasoning_ends, *acceptor.content_ends)
    elsewhere = tuple(text for text in known if any(text in marker for marker in others))
    shared = tuple(sorted({*_shared(texts, known)}))
    return TokensOfFormat(markers, ends, shared, opens, tuple(sorted(bare - {""})), elsewhere)


def _shared(texts: Sequence[str], tokens: Sequence[str]) -> Iterator[str]:
    """Yield the beginnings of tokens that pieces of markers between the tokens begin with, too."""
    cut = re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))) or "(?!)")
    for piece in {piece.lstrip() for text in texts for piece in cut.split(text)}:
        for token in tokens:
            size = len(common_prefix(piece, token))
            yield from (token[:end] for end in range(1, min(size, len(token) - 1) + 1))
