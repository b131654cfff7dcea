"""How long the texts are that a format writes around parts.

<call>{"name": "…   →   ("tools.call[0].text", 15)

What parsers and grammars are made of grows with them, so they are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.serialize import to_dict

# This limit is for IRs that are read; the learner has limits of its own.
MOST_CHARACTERS = 10_000


def longest_text(ir: TemplateIR) -> tuple[str, int]:
    """Return the member with the longest text, and its length. The part of a generation prompt before the turn doesn't
    count."""
    data = to_dict(ir)
    parts = {name: data[name] for name in ("turn", "reasoning", "content", "tools")}
    texts = ((path, len(text)) for path, text in _texts(parts, "") if not path.startswith("turn.prompts"))
    return max(texts, key=lambda found: found[1], default=("", 0))


def _texts(value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
