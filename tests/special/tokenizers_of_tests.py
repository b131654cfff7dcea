"""Ten tokenizers without models: byte-level BPE, SentencePiece with bytes, and of tiktoken's kind."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

CHARACTERS = (
    "abc XYZ the and  ",
    "äöüß ñ",
    "世界你好日本語 한국",
    "😀🎉👩\u200d👩\u200d👧🇳🇴",
    "\x00\x01\x07\t\n\r\x7f\x85\u2028\u200b\ufeff",
    "<|>/{}[]\"'",
    "\ufffd",
)
NAMES = (
    "byte-level, small",
    "byte-level, large",
    "byte-level, prefix",
    "bytes as a last resort, first space dropped",
    "bytes as a last resort, no prefix",
    "SentencePiece, bpe, dummy prefix True",
    "SentencePiece, unigram, dummy prefix True",
    "SentencePiece, bpe, dummy prefix False",
    "tiktoken, bytes",
    "tiktoken, merges",
)
TOKENS = ("<fn>", "<|end of text|>")


@dataclass(frozen=True, slots=True)
class Made:
    name: str
    tokenizer: Any
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]


def strings(count: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choice(rng.choice(CHARACTERS)) for _ in range(rng.randint(0, 40))) for _ in range(count)]


@cache
def made() -> tuple[Made, ...]:
    return (*_byte_level(), *_byte_fallback(), *_sentence_piece(), *_tiktoken())


def named(name: str) -> Made:
    return next(one for one in made() if one.name == name)


def _of_hugging_face(name: str, tokenizer: Any) -> Made:
    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(ids: list[int]) -> str:
        text: str = tokenizer.decode(ids, skip_special_tokens=False)
        return text

    return Made(name, tokenizer, encode, decode)


def _byte_level() -> Iterator[Made]:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    for name, prefix, size in (("small", False, 300), ("large", False, 1500), ("prefix", True, 800)):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
        tokenizer.decoder = decoders.ByteLevel()
        special = [AddedToken(text, special=True) for text in TOKENS]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=size, initial_alphabet=alphabet, special_tokens=special, show_progress=False
        )
        tokenizer.train_from_iterator(strings(1000, 1), trainer)
        tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
        yield _of_hugging_face(f"byte-level, {name}", tokenizer)


def _byte_fallback() -> Iterator[Made]:
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, trainers

    for strip in (True, False):
        tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
        steps = [normalizers.Prepend("▁")] * strip + [normalizers.Replace(" ", "▁")]
        tokenizer.normalizer = normalizers.Sequence(steps)
        of_bytes = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        tokenizer.decoder = decoders.Sequence([*of_bytes, *[decoders.Strip(" ", 1, 0)] * strip])
        special = [AddedToken(text) for text in ("<unk>", *TOKENS)]
        special += [AddedToken(f"<0x{number:02X}>", special=False) for number in range(256)]
        trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=special, show_progress=False)
        tokenizer.train_from_iterator(strings(40, 1), trainer)
        # The trainer makes special tokens of the bytes, which they are in no model.
        data = json.loads(tokenizer.to_str())
        data["added_tokens"] = [one for one in data["added_tokens"] if not one["content"].startswith("<0x")]
        tokenizer = Tokenizer.from_str(json.dumps(data))
        yield _of_hugging_face(f"bytes as a last resort, {'first space dropped' if strip else 'no prefix'}", tokenizer)


def _sentence_piece() -> Iterator[Made]:
    import sentencepiece

    for kind, dummy in (("bpe", True), ("unigram", True), ("bpe", False)):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text.replace("\x00", "").replace("\n", " ") or "a" for text in strings(2000, 1)),
            model_writer=model,
            vocab_size=400,
            model_type=kind,
            byte_fallback=True,
            character_coverage=0.98,
            add_dummy_prefix=dummy,
            remove_extra_whitespaces=False,
            normalization_rule_name="identity",
            user_defined_symbols=["<fn>"],
            control_symbols=["<|end|>"],
            minloglevel=2,
        )
        tokenizer = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        yield Made(f"SentencePiece, {kind}, dummy prefix {dummy}", tokenizer, tokenizer.encode, tokenizer.decode)


def _tiktoken() -> Iterator[Made]:
    import tiktoken

    pairs = {bytes([number]): number for number in range(256)}
    for name, more in (("bytes", ()), ("merges", (b"th", b"the", b"\xe4\xb8", b"\xf0\x9f", b"\xf0\x9f\x98"))):
        ranks = {**pairs, **{text: 256 + number for number, text in enumerate(more)}}
        special = {text: 1000 + number for number, text in enumerate(TOKENS)}
        encoding = tiktoken.Encoding(name, pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=special)

        def encode(text: str, encoding: Any = encoding) -> list[int]:
            ids: list[int] = encoding.encode(text, disallowed_special=())
            return ids

        yield Made(f"tiktoken, {name}", encoding, encode, encoding.decode)
