"""A Markdown fence around content that is to be JSON.

```json
{"a": 1}
```          →  {"a": 1}
"""

from __future__ import annotations

from .message import Copied
from .pattern import Pattern

OPENING = Pattern(r"\s*```[^\n`]*\n")
PART_OF_OPENING = Pattern(r"\s*(?:`{0,2}|```[^\n`]*)")
FENCE_LIMIT = 256  # more white space than this, or a longer line, is no fence


class Fence(Copied):
    def __init__(self) -> None:
        self._state, self._held = "start", ""

    def more(self, text: str) -> str:
        """The part of the content that is known to be inside the fence, or that no fence is around."""
        held = self._held + text
        if self._state == "start":
            opening = OPENING.match(held[:FENCE_LIMIT])
            if opening is None and len(held) < FENCE_LIMIT and PART_OF_OPENING.fullmatch(held):
                self._held = held
                return ""
            self._state, held = ("inside", held[opening.end() :]) if opening else ("none", held)
        if self._state == "none":
            self._held = ""
            return held
        # White space and backticks at the end may be the closing of the fence.
        before = held.rstrip().rstrip("`").rstrip()
        end = max(len(before), len(held) - FENCE_LIMIT)
        self._held = held[end:]
        return held[:end]

    def end(self) -> str:
        """What was held back, unless it closes the fence."""
        held, self._held = self._held, ""
        closes = self._state == "inside" and held.strip() in ("", "```")
        return "" if closes else held
