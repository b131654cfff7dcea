"""The part of a plug-in before the code of this folder, for type checkers: its generated parser, and names."""

from __future__ import annotations

from collections.abc import Sequence

from tplc_runtime.machine import Machine
from tplc_runtime.message import Delta


class StreamParser(Machine):
    """The parser that is generated for the format."""

    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:
        raise NotImplementedError


# The tokens of the format with their numbers; none if its tokenizer was not known.
TOKENS: dict[str, int | None]
# The name under which the parsers are registered.
NAME: str
# The format, as JSON.
IR: str
PARSES_CALLS: bool
PARSES_REASONING: bool
# As the template writes them.
REASONING_MARKERS: tuple[str, str]
# Text of a prompt that ends after the reasoning, if reasoning has no opener and all text could be reasoning; else "".
AFTER_REASONING: str
# The switch for reasoning, in SGLang's words: always, thinking, enable_thinking, or one of these after "explicit_".
REASONING_SWITCH: str
# The part of the answer in the prompt if the switch is on, and if it is off; () if there is no switch.
SWITCHED_HEADS: tuple[str, ...]
# What to do with a call in which an answer ends: "drop" or "keep".
ON_INCOMPLETE: str
