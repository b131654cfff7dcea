"""Find the head of the turn: the part of the answer that a prompt already contains.

    "…<user>Why?<bot><muse>", heads ("", "<muse>")  →  "<muse>"
    "…<user>Why? <bot><muse><bot>"                  →  ""
    "…<bot><muse>So", continued                     →  "<muse>So"

Users and tools wrote into the prompt as well.  So only the generation prompt at its end counts, and more than that only
if the caller declares that an answer is continued.
"""

from __future__ import annotations

import re

from .scanner import WORD_SLOT, with_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def known_head(prompt: str, heads: Sequence[str], anchors: Sequence[str]) -> str:
    """Return the longest known head with which the prompt ends after an anchor; "" if there is none."""
    found = ""
    for anchor in anchors or ("",):
        for head in heads:
            # The white space before an anchor may differ if the last message is not a question.
            text = (anchor.lstrip() or anchor) + head
            ends = prompt.endswith(text) or (len(prompt) >= len(head) and text.endswith(prompt))
            found = head if ends and len(head) > len(found) else found
    return found


def filled_heads(prompt: str, heads: Sequence[str]) -> list[str]:
    """Return the heads with the word that the end of the prompt has in the place of a slot."""
    filled = []
    for head in heads:
        before, slot, after = head.partition(WORD_SLOT)
        at = prompt.rfind(before) if slot else -1
        filled.append(with_word(head, prompt, at) if at >= 0 else before + after)
    return filled


def after_last_anchor(prompt: str, anchors: Sequence[str]) -> str:
    """Return the text after the last anchor; the whole prompt if it has no anchor."""
    return prompt[max([prompt.rfind(anchor) + len(anchor) for anchor in anchors if anchor in prompt], default=0) :]


def continued_head(prompt: str, anchors: Sequence[str], reasoning: tuple[Sequence[str], Sequence[str]]) -> str:
    """Return the text after the last anchor, or after an earlier one if only reasoning is between them; the whole
    prompt if it has no anchor.  `reasoning` are the texts that open and close reasoning."""
    any_anchor = re.compile("|".join(map(re.escape, sorted(anchors, key=len, reverse=True))) or "(?!)")
    found = [match.span() for match in any_anchor.finditer(prompt)]
    if not found:
        return prompt
    at, start = found.pop()
    opens, closes = map(tuple, reasoning)
    while found:
        earlier, end = found.pop()
        between = prompt[end:at].strip()
        if not (opens and between.startswith(opens) and between.endswith(closes)):
            break
        at, start = earlier, end
    return prompt[start:]
