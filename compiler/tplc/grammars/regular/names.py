"""Rule names that every engine takes: `[a-z][a-z0-9-]*`, never `start`.

"get_Weather/2" → get-weather-2        "start" → start-rule        "天気" → rule
"""

from __future__ import annotations

import re

_LONGEST = 60


def rule_name(hint: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", hint.lower()).strip("-")[:_LONGEST].strip("-")
    if not name:
        return "rule"
    if not name[0].isalpha():
        return f"r-{name}"
    return "start-rule" if name == "start" else name
