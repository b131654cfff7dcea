"""The head of the turn: what a prompt already holds of the answer.

    "…<user>Why?<bot><muse>", heads ("", "<muse>")  →  "<muse>"
    "…<user>Why? <bot><muse><bot>"                  →  ""
    "…<bot><muse>So", continued                     →  "<muse>So"

Others wrote into the prompt as well.  So only what a generation prompt ends with counts, and more than that only where
the caller says that an answer is continued.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def known_head(prompt: str, heads: Sequence[str], anchors: Sequence[str]) -> str:
    """Return the longest known head with which the prompt ends after an anchor; "" if there is none."""
    found = ""
    for anchor in anchors or ("",):
        for head in heads:
            # White space before an anchor may be another one where no question was written last.
            text = (anchor.lstrip() or anchor) + head
            ends = prompt.endswith(text) or (len(prompt) >= len(head) and text.endswith(prompt))
            found = head if ends and len(head) > len(found) else found
    return found


def continued_head(prompt: str, anchors: Sequence[str], reasoning: tuple[Sequence[str], Sequence[str]]) -> str:
    """What follows the last anchor, and from an earlier one on where only reasoning stands between; all of a prompt
    that holds no anchor.  `reasoning` are the texts that open and close it."""
    ordered = sorted(anchors, key=len, reverse=True)
    found = [match.span() for match in re.finditer("|".join(map(re.escape, ordered)) or "(?!)", prompt)]
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
