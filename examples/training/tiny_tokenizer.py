"""A tokenizer that needs no download: a token for each of the 256 bytes, and one for each marker."""

from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tiny_tokenizer(markers: Iterable[str] = (), eos_token: str = "<end-of-text>") -> PreTrainedTokenizerFast:
    bytes_as_text = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={text: number for number, text in enumerate(bytes_as_text)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=eos_token, clean_up_tokenization_spaces=False)
    special = [AddedToken(marker, special=True, normalized=False) for marker in markers]
    made.add_special_tokens({"extra_special_tokens": special})
    return made
