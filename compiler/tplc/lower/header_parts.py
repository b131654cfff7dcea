r"""Headers that are a set of parts: in any order, some of them left out, before what opens the body of each message.

reasoning "<in>why<:>", content "<in>say<:>", a call "<to>" name "<in>act json<:>" arguments
→  "<in>" with a word that says what the message is, "<to>" with a name, " json"; and "<:>" opens the body
→  "<in>act<to>" opens a call as well, and its name may end at "<:>"; "<in>act<:>" opens content

A message that names who is called is a call; of others the word says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from tplc.ir.markers import common_suffix, could_be_prose, is_distinctive, is_unmistakable
from tplc.ir.nodes import Slot, TemplateIR
from tplc.lower.layouts import merged, text_at, unique, with_outer_space_of

# With the word; each more would multiply the orders.
_MOST_PARTS = 3
_WORD = re.compile(r"[\w-]+")
_TAG_AND_WORD = re.compile(r"(.*?[^\w-])([\w-]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeaderParts:
    """`tag` is before the word that says what a message is, "" where that kind has none; `recipient` before the
    name of who is called; `more`: what else the header of a call holds; `body` ends headers.

    `opener` and `after_name` are the texts before a call's name and after it, as the template writes them.
    """

    tag: str
    reasoning: str
    content: str
    call: str
    recipient: str
    more: tuple[str, ...]
    body: str
    opener: str
    after_name: str

    def variants(self, declared: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return other headers that open a call or a message, by the usual header without outer white space.
        `declared`: the variants of parts."""
        more = self._more(declared)
        before = [parts for parts in self._orders(more) if parts or not could_be_prose(self.recipient)]
        found = {self.opener: [_joined(*parts, self.recipient) for parts in before]}
        if self.content:
            words = self._tagged(self.content, self.call if self.call != self.reasoning else "")
            found[self.tag + self.content + self.body] = self._messages(words, more)
        if self.reasoning:
            found[self.tag + self.reasoning + self.body] = self._messages(self._tagged(self.reasoning), more)
        return {marker.strip(): unique(texts) for marker, texts in found.items()}

    def name_ends(self, declared: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return other texts after the name."""
        return unique(_joined(*parts, self.body) for parts in self._orders(self._more(declared)))

    def _more(self, declared: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
        return [
            (part, *(with_outer_space_of(part, text) for text in declared.get(part.strip(), ()))) for part in self.more
        ]

    def _orders(self, more: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the sequences of parts that may come before a recipient, or after a name."""
        any_word = self._tagged(self.call, self.content, self.reasoning)
        return [parts for parts in _orders(any_word, more) if _opens(parts)]

    @property
    def like_words(self) -> bool:
        """Return whether a recipient that opens a call in a form that the template never writes also occurs in text
        (`for=`); then the header's end must follow."""
        return self.recipient != self.opener and self.recipient.strip()[0].isalnum()

    def _tagged(self, *words: str) -> tuple[str, ...]:
        return unique(self.tag + word for word in words if word)

    def _messages(self, words: tuple[str, ...], more: Sequence[tuple[str, ...]]) -> list[str]:
        """Return headers of messages without a recipient."""
        orders = [parts for parts in _orders(words, more) if _opens(parts) and not set(words).isdisjoint(parts)]
        return [_joined(*parts, self.body) for parts in orders]


def header_parts(ir: TemplateIR) -> HeaderParts | None:
    """Return the parts of which the headers of a format consist; None if they are not a set of parts."""
    layout = merged(ir.tools.call)
    at = layout.index(Slot("arguments")) if Slot("arguments") in layout else 0
    opener, after_name = text_at(layout, 0), text_at(layout, at - 1)
    if Slot("name") not in layout[:at] or not (opener.strip() and after_name.strip()):
        return None
    starts = [ir.reasoning.start.strip() if ir.reasoning.mode == "tag_based" else "", ir.content.start.strip()]
    body = _shared_end(after_name.rstrip(), [start for start in starts if start])
    words = [_TAG_AND_WORD.fullmatch(start.removesuffix(body)) if start.endswith(body) else None for start in starts]
    tags = {word[1] for word in words if word is not None}
    tag = tags.pop() if len(tags) == 1 else ""
    if not (body and is_unmistakable(tag)):
        return None
    before, call, rest = _around(opener, tag)
    after, word, last = _around(after_name.rstrip().removesuffix(body), tag)
    recipient = rest if call else opener
    more = tuple(part for part in (after, last) if part.strip())
    known = not (call and word) and not (call and before.strip()) and is_distinctive(recipient)
    if not known or tag in after + last + recipient or len(more) >= _MOST_PARTS:
        return None
    reasoning, content = ("" if found is None else found[2] for found in words)
    return HeaderParts(tag, reasoning, content, call or word, recipient, more, body, opener, after_name)


def _shared_end(text: str, others: Sequence[str]) -> str:
    """Return the common end of a text and one of the others that divides no word: more than punctuation, or ""."""
    ends = []
    for other in others:
        end = common_suffix(text, other)
        cut = any(whole[: len(whole) - len(end)][-1:].isalnum() for whole in (text, other))
        ends.append(_WORD.sub("", end, count=1) if cut and _WORD.match(end) else end)
    found = min(filter(is_distinctive, ends), key=len, default="")
    return "" if could_be_prose(found) else found


def _around(text: str, tag: str) -> tuple[str, str, str]:
    """Split a text into what is before the tag and its word, the word, and what is after it; without a tag, all is
    before."""
    before, found, after = text.partition(tag)
    word = _WORD.match(after) if found else None
    return (before, word[0], after[word.end() :]) if word is not None else (text, "", "")


def _orders(words: tuple[str, ...], more: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield each choice of parts in each order; of a part with several spellings, one is taken."""
    groups = [words, *more] if words else [*more]
    for count in range(len(groups) + 1):
        for chosen in permutations(groups, count):
            yield from product(*chosen)


def _opens(parts: tuple[str, ...]) -> bool:
    """Return whether a part can come first: one that begins like a word must follow another, or it could end a name."""
    return not parts or not parts[0].strip()[0].isalnum()


def _joined(*parts: str) -> str:
    """Return parts in a row, separated if two words would become one."""
    text = ""
    for part in parts:
        text += " " * (text[-1:].isalnum() and part[:1].isalnum()) + part
    return text
