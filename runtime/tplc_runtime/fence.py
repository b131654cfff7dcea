"""Remove a Markdown fence around content that is to be JSON.

```json
{"a": 1}
```          →  {"a": 1}
"""

from __future__ import annotations

from .message import Copyable
from .pattern import Pattern

OPENING = Pattern(r"\s*```[^\n`]*\n")
PART_OF_OPENING = Pattern(r"\s*(?:`{0,2}|```[^\n`]*)")
FENCE_LIMIT = 256  # longer white space, or a longer line, isn't a fence


class Fence(Copyable):
    def __init__(self) -> None:
        self._state, self._pending = "start", ""

    def more(self, text: str) -> str:
        """Return the part of the content that is known to be inside the fence, or to have none around it."""
        pending = self._pending + text
        if self._state == "start":
            opening = OPENING.match(pending[:FENCE_LIMIT])
            if opening is None and len(pending) < FENCE_LIMIT and PART_OF_OPENING.fullmatch(pending):
                self._pending = pending
                return ""
            self._state, pending = ("inside", pending[opening.end() :]) if opening else ("none", pending)
        end = len(pending)
        if self._state == "inside":
            # White space and backticks at the end may close the fence.
            end = max(len(pending.rstrip().rstrip("`").rstrip()), end - FENCE_LIMIT)
        self._pending = pending[end:]
        return pending[:end]

    def end(self) -> str:
        """Return the pending text, unless it closes the fence."""
        pending, self._pending = self._pending, ""
        closes = self._state == "inside" and pending.strip() in ("", "```")
        return "" if closes else pending
