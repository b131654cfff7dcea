"""Turn token ids into text, and find the ranges of it that came from special tokens.

    detokenizer = Detokenizer(tokenizer, TOKENS)
    detokenizer.feed([27, 7, 151657])  →  ("Hi.<call>", [(3, 9)])
    parser.feed(text, special=ranges)

Any number of ids can be fed at a time.  A character is never split: its bytes wait until all of them have arrived.
"""

from __future__ import annotations

import codecs
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Ranges = list[tuple[int, int]]

MOST_WAITING = 16  # tokens; those of a character are four at most
MOST_OF_A_CHARACTER = 4
BYTE_PIECES = {f"<0x{number:02X}>": bytes([number]) for number in range(256)}


class Detokenizer:
    """Decodes the ids of one answer.

    `tokenizer`: one of `tokenizers`, a fast one of `transformers`, an encoding of `tiktoken`, a processor of
    SentencePiece, or one with `id_to_byte_piece`.  `tokens`: texts of added tokens that count as special although the
    tokenizer does not call them so; usually the parser's TOKENS.  `prompt`: the last ids before the answer, by which
    some tokenizers know whether it begins with a space.

    Raises TypeError for any other tokenizer.
    """

    def __init__(self, tokenizer: Any, tokens: Iterable[str] = (), *, prompt: Sequence[int] = ()) -> None:
        self._decoder = _decoder_for(tokenizer, frozenset(tokens), prompt)

    def feed(self, ids: Iterable[int]) -> tuple[str, Ranges]:
        """Returns the text that the ids complete, and the (start, end) ranges of it that came from special tokens."""
        texts: list[str] = []
        ranges: Ranges = []
        size = 0
        for number in ids:
            before, special = self._decoder.step(number)
            size += len(before) + len(special)
            texts += (before, special)
            if special:
                ranges.append((size - len(special), size))
        return "".join(texts), ranges

    def finish(self) -> tuple[str, Ranges]:
        """Returns the rest: a character with missing bytes, as U+FFFD."""
        return self._decoder.rest(), []


def _decoder_for(tokenizer: Any, tokens: frozenset[str], prompt: Sequence[int]) -> Any:
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(inner, "get_added_tokens_decoder"):
        return _StreamDecoder(inner, tokens, prompt)
    if hasattr(tokenizer, "decode_single_token_bytes"):
        special = {tokenizer.encode_single_token(text): text for text in tokenizer.special_tokens_set}
        return _BytesDecoder(tokenizer.decode_single_token_bytes, special)
    if hasattr(tokenizer, "id_to_byte_piece"):
        special = {number: tokenizer.id_to_piece(number) for number in range(tokenizer.num_special_tokens)}
        return _BytesDecoder(tokenizer.id_to_byte_piece, special)
    if hasattr(tokenizer, "id_to_piece") and hasattr(tokenizer, "is_control"):
        return _PieceDecoder(tokenizer, tokens, prompt)
    raise TypeError(f"{type(tokenizer).__name__}: expected a fast tokenizer, or one of tiktoken or SentencePiece")


class _BytesDecoder:
    """Decodes tokens that are bytes.  A step returns the text before a special token, and that token's own."""

    def __init__(self, bytes_of: Any, special: Mapping[int, str]) -> None:
        self._bytes_of, self._special = bytes_of, special
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def step(self, number: int) -> tuple[str, str]:
        if number in self._special:
            return self.rest(), self._special[number]
        return self._decoder.decode(self._bytes_of(number)), ""

    def rest(self) -> str:
        return self._decoder.decode(b"", True)


class _PieceDecoder(_BytesDecoder):
    """Decodes SentencePiece: pieces with ▁ for a space, and a piece for each byte.  The first space is the tokenizer's
    own."""

    def __init__(self, tokenizer: Any, tokens: frozenset[str], prompt: Sequence[int]) -> None:
        count = range(tokenizer.get_piece_size())
        pieces = {number: tokenizer.id_to_piece(number) for number in count if tokenizer.is_control(number)}
        pieces.update(
            (number, text) for text in tokens if (number := tokenizer.piece_to_id(text)) != tokenizer.unk_id()
        )
        super().__init__(self._bytes, pieces)
        self._tokenizer = tokenizer
        self._first = not prompt and tokenizer.decode([tokenizer.piece_to_id("▁")]) == ""

    def _bytes(self, number: int) -> bytes:
        piece: str = self._tokenizer.id_to_piece(number)
        text = piece.replace("▁", " ")
        if self._first:
            self._first, text = False, text[text.startswith(" ") :]
        return BYTE_PIECES[piece] if self._tokenizer.is_byte(number) else text.encode("utf-8", "replace")


class _StreamDecoder:
    """Decodes with the DecodeStream of `tokenizers`.  Tokens that it holds back are decoded here at the end, or if they
    are too many."""

    def __init__(self, tokenizer: Any, tokens: frozenset[str], prompt: Sequence[int]) -> None:
        added = tokenizer.get_added_tokens_decoder()
        self._tokenizer = tokenizer
        self._special = {
            number: token.content for number, token in added.items() if token.special or token.content in tokens
        }
        self._known, self._waiting = list(prompt)[-MOST_WAITING:], list[int]()
        self._stream = self._begun()

    def _begun(self) -> Any:
        # The module of the tokenizer that was given: nothing is imported here.
        stream = sys.modules["tokenizers"].decoders.DecodeStream(skip_special_tokens=False)
        for number in self._known:
            stream.step(self._tokenizer, number)
        return stream

    def step(self, number: int) -> tuple[str, str]:
        self._waiting.append(number)
        try:
            text = self._stream.step(self._tokenizer, number)
        except Exception:  # noqa: BLE001 - it has no class of its own for text that is changed by what follows
            taken = self.rest()
        else:
            taken = text or ""
            if text is not None:
                self._known, self._waiting = (self._known + self._waiting)[-MOST_WAITING:], []
            elif number in self._special:
                taken = self.rest()
            elif len(self._waiting) >= MOST_WAITING:
                taken = self._without_the_last()
        special = self._special.get(number, "")
        if special and taken.endswith(special):
            return taken[: len(taken) - len(special)], special
        return taken, ""

    def rest(self) -> str:
        taken = self._taken(len(self._waiting)) if self._waiting else ""
        self._stream = self._begun()
        return taken

    def _taken(self, count: int) -> str:
        """Return the text of the first waiting tokens, which are then decoded."""
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        before, whole = self._decoded(self._known), self._decoded(self._known + taken)
        self._known = (self._known + taken)[-MOST_WAITING:]
        # Some decoders read a row of bytes differently if one of them is wrong, also those of whole characters.
        return whole[len(before) :] if whole.startswith(before) else self._decoded(taken)

    def _without_the_last(self) -> str:
        """Return the text of the tokens that end at a character's end: all but a few, one of which may be
        incomplete."""
        whole, count = self._decoded(self._known + self._waiting), len(self._waiting)
        for kept in range(MOST_OF_A_CHARACTER, 2 * MOST_OF_A_CHARACTER + 1):
            # A character that began before has all of its bytes by now; divided, it would read differently.
            if whole.startswith(self._decoded(self._known + self._waiting[: count - kept])):
                break
        taken, waiting = self._taken(count - kept), self._waiting
        self._stream, self._waiting = self._begun(), []
        for number in waiting:
            more = self.step(number)
            taken += more[0] + more[1]
        return taken

    def _decoded(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return text
