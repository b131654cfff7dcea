"""A tokenizer without a model: the 256 bytes, and markers as tokens where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

END = "<end-of-text>"


def tiny_tokenizer(markers: Iterable[str] = ()) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={symbol: number for number, symbol in enumerate(symbols)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, clean_up_tokenization_spaces=False)
    special = [AddedToken(marker, special=True, normalized=False) for marker in markers]
    made.add_special_tokens({"extra_special_tokens": special})
    return made
