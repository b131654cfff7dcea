"""Where is the id of a call, and what is it made of?

    `functions.NAME:0`  →  position pre_func_name, the word `functions.` NAME `:` INDEX

An id is a slot of its own, or the word that contains a counter.  Punctuation with a counter only numbers the calls.
"""

from __future__ import annotations

from dataclasses import replace

from tplc.ir.nodes import CallId, IdPosition, JsonFields, Layout, Slot, Text
from tplc.learn.align import open_token, token_spans
from tplc.learn.arguments import call_turn
from tplc.learn.outline import probe_call
from tplc.learn.probe import Prober, Setup
from tplc.learn.turn import TurnFacts


def learn_call_id(layout: Layout, fields: JsonFields | None) -> CallId:
    kinds = [item.kind for item in layout if isinstance(item, Slot)]
    if "id" in kinds:
        return CallId(_position(layout, Slot("id")), (Slot("id"),))
    if "index" not in kinds:
        return CallId()
    items = list(layout)
    at = items.index(Slot("index"))
    left, right = _word_left(items, at, fields is not None), _word_right(items, at, fields is not None)
    if left is None or right is None:
        return CallId()
    word = (*left, Slot("index"), *right)
    literal = "".join(item.text for item in word if isinstance(item, Text))
    if literal and Slot("name") not in word and not any(map(str.isalnum, literal)):
        return CallId()  # calls are numbered, as in "1)"
    return CallId(_position(layout, Slot("index")) if Slot("name") not in word else "pre_func_name", word)


def id_pattern(prober: Prober, turn: TurnFacts, setup: Setup) -> str | None:
    """Return the shape of ids that a template requires; it refuses others."""
    if setup.naming:
        return None
    sizes = (9, 24, setup.ids)
    taken = [isinstance(call_turn(prober, turn, replace(setup, ids=size), [probe_call(0)]), str) for size in sizes]
    return f"[a-zA-Z0-9]{{{setup.ids}}}" if setup.ids and taken[2] and not all(taken) else None


_Items = list["Text | Slot"]


def _word_left(items: _Items, at: int, in_json: bool) -> _Items | None:
    """Return the items before the counter in its own word; None inside a bracketed token."""
    word: _Items = []
    for item in reversed(items[:at]):
        if isinstance(item, Slot):
            if item.kind not in ("name", "id"):
                return word
            word.insert(0, item)
            continue
        cut = _last_boundary(item.text, in_json)
        if cut is None:
            return None
        if cut < len(item.text):
            word.insert(0, Text(item.text[cut:]))
        if cut > 0:
            return word
    return word


def _word_right(items: _Items, at: int, in_json: bool) -> _Items | None:
    word: _Items = []
    for item in items[at + 1 :]:
        if isinstance(item, Slot):
            if item.kind not in ("name", "id"):
                return word
            word.append(item)
            continue
        cut = _first_boundary(item.text, in_json)
        if cut is None:
            return None
        if cut:
            word.append(Text(item.text[:cut]))
        return word
    return word


def _last_boundary(text: str, in_json: bool) -> int | None:
    """Return where the last word of `text` begins: after a bracketed token, a quote or white space; None inside a
    token."""
    if in_json:
        return text.rindex('"') + 1 if '"' in text else None
    if open_token(text):
        return None
    ends = [end for _, end in token_spans(text)] + [i + 1 for i, ch in enumerate(text) if ch.isspace() or ch in "\"'"]
    return max(ends, default=0)


def _first_boundary(text: str, in_json: bool) -> int | None:
    if in_json:
        return text.index('"') if '"' in text else None
    begins = [begin for begin, _ in token_spans(text)] + [i for i, ch in enumerate(text) if ch.isspace() or ch in "\"'"]
    return min(begins, default=len(text))


def _position(layout: Layout, slot: Slot) -> IdPosition:
    at, name, arguments = (layout.index(s) for s in (slot, Slot("name"), Slot("arguments")))
    if at < name:
        return "pre_func_name"
    return "between_func_and_args" if at < arguments else "post_args"
