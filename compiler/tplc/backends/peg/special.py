"""Keep text that spells special tokens apart from the tokens, for an engine that reads whole texts.

guarded(tokens <call>, "<call>a", [])        →  "<call" GUARD ">a": nothing finds a marker there
guarded(tokens <call>, "<call>a", [(0, 6)])  →  "<call>a"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tplc.backends.peg.styles import scanner
from tplc.lower.special import TokensOfFormat
from tplc_runtime.escapes import GUARD, unguarded
from tplc_runtime.special import Guard, KnownTokens

if TYPE_CHECKING:
    from tplc_runtime.message import Message


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree with the part of the output that it doesn't cover. `trailing`: a call that is truncated before its
    name."""

    message: Message
    incomplete: bool
    trailing: str = ""


def guarded(tokens: TokensOfFormat, text: str, special: Sequence[Sequence[int]] | None) -> tuple[str, str]:
    """Returns the text with guards, and what follows a token that ends the answer."""
    if special is None or not tokens.all:
        return text, ""
    texts = [token.text for token in tokens.markers]
    scanners = [scanner(found) for found in tokens.groups]
    guard = Guard(KnownTokens(scanners, scanner(tokens.lexemes_of_ends), tokens.first, tokens.shared))
    found = guard.guarded(text, special) + guard.finished()
    return _without_bare_openers(found, texts, tokens.bare_openers), guard.rest


def unguarded_result(parsed: Parsed) -> Parsed:
    message = parsed.message
    for call in message["tool_calls"]:
        call["id"] = None if call["id"] is None else unguarded(call["id"])
        call["function"]["name"] = unguarded(call["function"]["name"])
        call["function"]["arguments"] = unguarded(call["function"]["arguments"])
    content, reasoning = message["content"], message["reasoning_content"]
    message["content"] = None if content is None else unguarded(content)
    message["reasoning_content"] = None if reasoning is None else unguarded(reasoning)
    return Parsed(message, parsed.incomplete, unguarded(parsed.trailing))


def _without_bare_openers(text: str, tokens: Sequence[str], openers: Sequence[str]) -> str:
    """Guards also what opens calls without a token, after text that spells one: such text talks of its format."""
    if not openers or GUARD not in text:
        return text
    either = sorted({*tokens, *openers, GUARD}, key=len, reverse=True)
    has_failed_call_text = False

    def seen(match: re.Match[str]) -> str:
        nonlocal has_failed_call_text
        found = match[0]
        if found in openers and has_failed_call_text:
            return found[:-1] + GUARD + found[-1]
        if found not in openers:
            has_failed_call_text = found == GUARD
        return found

    return re.sub("|".join(map(re.escape, either)), seen, text)
