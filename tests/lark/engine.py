"""llguidance with an interface of two functions; tests that need it are skipped where it is not installed.

accepts('%llguidance {}\\nstart: "a"', "a")     →  True
accepts(text, rendered, of(["<call>"]))         with a tokenizer that has a token of its own for the marker
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tplc.ir.tokens import AddedToken

INSTALLED = importlib.util.find_spec("llguidance") is not None
needs_engine = pytest.mark.skipif(not INSTALLED, reason="llguidance is not installed: pip install tplc[lark]")
needs_tokenizers = pytest.mark.skipif(
    not INSTALLED or importlib.util.find_spec("tokenizers") is None, reason="llguidance or tokenizers is not installed"
)


@dataclass(frozen=True)
class Tokens:
    """A tokenizer of bytes, with tokens of its own."""

    engine: Any
    tokenizer: Any
    added: tuple[AddedToken, ...]

    def ids(self, text: str) -> list[int]:
        return list(text.encode()) if self.tokenizer is None else list(self.tokenizer.encode(text).ids)


@functools.cache
def _bytes() -> Tokens:
    import llguidance

    return Tokens(llguidance.LLTokenizer("byte", slices=[]), None, ())


@functools.lru_cache(maxsize=64)
def of(texts: Sequence[str], *, special: bool = True) -> Tokens:
    import llguidance
    from tokenizers import AddedToken as Added
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<end-of-all>"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end-of-all>"])
    add = tokenizer.add_special_tokens if special else tokenizer.add_tokens
    add([Added(text, special=special, normalized=False) for text in texts])
    engine = llguidance.LLTokenizer(tokenizer.to_str(), eos_token=len(letters), slices=[])
    added = tuple(AddedToken(text, tokenizer.token_to_id(text), special or _is_named(text)) for text in texts)
    return Tokens(engine, tokenizer, added)


def _is_named(text: str) -> bool:
    return text.startswith("<") and text.endswith(">")


@functools.lru_cache(maxsize=128)
def _matcher(grammar: str, tokens: Tokens) -> Any:
    import llguidance

    return llguidance.LLMatcher(tokens.engine, llguidance.grammar_from("lark", grammar), log_level=0)


def refused(grammar: str, tokens: Tokens | None = None) -> str | None:
    """Return the engine's error for a grammar that it can't read; None if it can."""
    matcher = _matcher(grammar, tokens or _bytes())
    return str(matcher.get_error()).split("\n")[0] if matcher.is_error() else None


def accepts(grammar: str, text: str, tokens: Tokens | None = None) -> bool:
    tokens = tokens or _bytes()
    problem = refused(grammar, tokens)
    assert problem is None, problem
    matcher = _matcher(grammar, tokens).deep_copy()
    ids = tokens.ids(text)
    taken = matcher.try_consume_tokens(ids) if ids else 0
    assert not matcher.is_error() or taken < len(ids), matcher.get_error()
    return taken == len(ids) and bool(matcher.is_accepting())
