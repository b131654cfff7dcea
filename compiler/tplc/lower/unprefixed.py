r"""Closers without the text that all markers of a call's arguments begin with.

"<~x:key=" key ">" value "</~x:key>", then "</~x:hut>"  →  "<~x:" begins all: `</key>` and `</hut>` count as well

They close a call after its arguments, and a value only if its own closer is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from tplc.ir.markers import common_prefix, is_distinctive
from tplc.ir.nodes import PairArguments, Slot, TemplateIR
from tplc.lower.call_form import CallForm, PairForm
from tplc.lower.layouts import merged, not_blank, text_at, unique
from tplc.lower.tolerated import Tolerated

_BRACKETS = "<[({"


def prefix_of_closers(ir: TemplateIR, tolerated: Tolerated) -> str:
    """Return the text with a bracket and a word that pairs and closers begin with, apart from a slash; "" if there is
    none."""
    pairs, layout = ir.tools.arguments, merged(ir.tools.call)
    if not isinstance(pairs, PairArguments) or not {"missing_closers", "marker_spelling"} <= tolerated.kinds:
        return ""
    pair = merged(pairs.pair)
    around = text_at(pair, 0), text_at(pair, pair.index(Slot("value")) + 1)
    closer = pairs.end + text_at(layout, layout.index(Slot("arguments")) + 1)
    texts = [text.strip() for text in (*around, closer)]
    if not all(texts) or "/" not in texts[1]:
        return ""
    prefix = re.sub(r"\w+\Z", "", common_prefix(*(text.replace("/", "", 1) for text in texts)))
    return prefix if any(map(str.isalnum, prefix)) and not {*prefix}.isdisjoint(_BRACKETS) else ""


def unprefixed(texts: Iterable[str], prefix: str) -> tuple[str, ...]:
    """Return these closers without the prefix, but with its last bracket and the slash."""
    bracket = _last_bracket(prefix)
    cores = unique(text.strip() for text in texts if bracket)
    ends = [f"{bracket}/{core.replace('/', '', 1)[len(prefix) :]}" for core in cores if _begins(core, prefix)]
    return not_blank(end for end in ends if is_distinctive(end))


def with_unprefixed_openers(texts: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    """Return openers, also without the prefix, but with its last bracket."""
    bracket = _last_bracket(prefix)
    begun = (text for text in texts if bracket and text.lstrip().startswith(prefix))
    return unique([*texts, *(text.replace(prefix, bracket, 1) for text in begun)])


def with_unprefixed(form: CallForm, pairs: PairForm, prefix: str) -> tuple[CallForm, PairForm]:
    """Return calls and pairs that such closers end as well."""
    closers = unprefixed(form.closing.closers, prefix)
    if not closers:
        return form, pairs
    parts = [part or "" for part in pairs.value_end.following.closer]
    each = unprefixed(parts, prefix)
    following = replace(
        pairs.value_end.following,
        unprefixed=each if len(each) == len(parts) else unprefixed(["".join(parts)], prefix),
        other_end="".join(unprefixed([pairs.value_end.following.section_end], prefix)),
    )
    values = unprefixed(pairs.value_end.closers, prefix)
    value_end = replace(pairs.value_end, following=following, unprefixed=values)
    pairs = replace(pairs, between=(*pairs.between, ("next", closers)), value_end=value_end)
    return replace(form, closing=replace(form.closing, unprefixed=closers)), pairs


def _last_bracket(prefix: str) -> str:
    return next((char for char in reversed(prefix) if char in _BRACKETS), "")


def _begins(closer: str, prefix: str) -> bool:
    return 0 <= closer.find("/") <= len(prefix) and closer.replace("/", "", 1).startswith(prefix)
