"""Align texts: the operations that all questions about a template share.

    repetition("<c><d>", "</d>, <d>", "</d></c>")  →  start "<c>", open "<d>", close "</d>", separator ", ", end "</c>"

Nothing here knows a shape of markers.  `tidy_*` only move a cut between two markers to a place that reads well: not
inside a word, not inside a bracketed token; any cut would render the same text.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tplc.ir.markers import common_prefix, common_suffix

_OPEN = "<"
_CLOSE = ">"
RULES = "-=*_#~+`"  # three or more of them are one marker


def _opens(ch: str) -> bool:
    return ch == _OPEN or unicodedata.category(ch) == "Ps"


def _closes(ch: str) -> bool:
    return ch == _CLOSE or unicodedata.category(ch) == "Pe"


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return spans of bracketed tokens: an opening bracket up to the next closing one, with no white space at its start
    and no other opening bracket between (`<|a b|>`, `[X]`, `【k】`); brackets may be doubled (`[[x]]`)."""
    spans = []
    start = -1
    i = 0
    while i < len(text):
        ch = text[i]
        if _opens(ch):
            start = i if i == 0 or text[i - 1] != ch or start < 0 else start
        elif start >= 0 and _closes(ch) and ord(ch) - ord(text[start]) in (1, 2):  # the same kind of bracket
            depth = 1
            while text[start + depth : start + depth + 1] == text[start] and depth < len(text):
                depth += 1
            end = i + 1
            while end < i + depth and text[end : end + 1] == ch:
                end += 1
            if i - start > depth and not text[start + depth].isspace():
                spans.append((start, end))
            start = -1
            i = end - 1
        elif ch == "\n":  # a token is on one line
            start = -1
        i += 1
    return spans


def open_token(text: str) -> bool:
    """Return whether the text ends inside a bracketed token."""
    closings = {chr(ord(ch) + distance) for ch in text if _opens(ch) for distance in (1, 2)}
    return any(end > len(text) for closing in closings for _, end in token_spans(text + closing))


def reads_well(text: str, at: int) -> bool:
    """Return whether `text` can be cut at `at`: not within a word, a bracketed token, or a rule such as `---`."""
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if left.isalnum() and right.isalnum():
        return False
    if left == right and left in RULES and left * 3 in text[max(at - 2, 0) : at + 2]:
        return False
    return not any(start < at < end for start, end in token_spans(text))


def cut_left(text: str, at: int) -> int:
    """Return the last good cut at or before `at`."""
    while not reads_well(text, at):
        at -= 1
    return at


def cut_right(text: str, at: int) -> int:
    """Return the first good cut at or after `at`."""
    while not reads_well(text, at):
        at += 1
    return at


@dataclass(frozen=True, slots=True)
class Repetition:
    """start open ITEM close (separator open ITEM close)* end"""

    start: str
    open: str
    close: str
    separator: str
    end: str


def repetition(pre: str, mid: str, post: str) -> Repetition:
    """Split what is before, between and after repeated items.

    `pre` is the text before the first slot of the first item, `mid` that between two items, `post` that after the last.
    The opening is the longest common suffix of `pre` and `mid`, the closing the longest common prefix of `mid` and
    `post`, each drawn back to a cut that reads well; white space between them belongs to the separator.  Where both
    claim the same text it is cut once: at white space where there is some, else at the first place that reads well.
    """
    close_end = len(common_prefix(mid, post))
    shared = len(common_suffix(pre, mid))
    # Where both make up all that is between two items, what is around them shows the cut.
    meet = close_end + shared == len(mid) and reads_well(post, close_end) and reads_well(pre, len(pre) - shared)
    # (a text that ends with what is shared shows where it ends)
    while not meet and 0 < close_end < len(post) and not (reads_well(mid, close_end) and reads_well(post, close_end)):
        close_end -= 1
    open_len = shared
    while (
        not meet
        and 0 < open_len < len(pre)
        and not (reads_well(mid, len(mid) - open_len) and reads_well(pre, len(pre) - open_len))
    ):
        open_len -= 1
    meeting = len(mid) - open_len
    if open_len and close_end < meeting <= len(common_prefix(mid, post)):
        close_end = meeting  # what is left of `mid` follows the last item as well, so it is no separator
    if open_len + close_end > len(mid):
        close_end, open_len = _share(mid, close_end, open_len, post)
    opening, closing = mid[len(mid) - open_len :], mid[:close_end]
    # white space at the outer edges is between items
    opening_core = opening.lstrip() if opening.strip() else opening
    closing_core = closing.rstrip() if closing.strip() else closing
    separator = mid[len(closing_core) : len(mid) - len(opening_core)]
    return Repetition(
        start=pre[: len(pre) - len(opening_core)],
        open=opening_core,
        close=closing_core,
        separator=separator,
        end=post[len(closing_core) :],
    )


def _share(mid: str, close_end: int, open_len: int, post: str) -> tuple[int, int]:
    """Resolve an overlap: one cut in the contested range, at white space where there is some, else between the two
    brackets of `><`, else the first that reads well.  No cut divides a doubled character of what follows the last
    item: `@` from `@@ end`."""
    low, high = len(mid) - open_len, close_end
    inner = range(max(low, 1), min(high, len(mid) - 1) + 1)
    spaces = [i for i in inner if mid[i].isspace() and not mid[i - 1].isspace() and post[i - 1 : i] != post[i : i + 1]]
    is_between = low < high < low + 3 and _closes(mid[low]) and _opens(mid[low + 1 : low + 2] or " ")
    good = [low + 1] if is_between else [i for i in range(low, high + 1) if reads_well(mid, i)]
    cut = spaces[-1] if spaces else (good[0] if good else high)
    return cut, len(mid) - cut


def pieces(text: str) -> list[str]:
    """Return a marker cut at white space and between bracketed tokens: "<a>\n<b=" → ["<a>", "<b="]."""
    out: list[str] = []
    for word in text.split():
        start = 0
        for begin, end in token_spans(word):
            for at in (begin, end):
                if start < at and (at == end or _closes(word[at - 1])):
                    out.append(word[start:at])
                    start = at
        if start < len(word):
            out.append(word[start:])
    return out
