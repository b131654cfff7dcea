"""Print a response template: the JSON by which tokenizers and servers read a model's output.

    TemplateIR  →  {"defaults": …, "start_anchor": "<bot>", "fields": {"content": …, "tool_calls": …}}

Two profiles: `transformers` uses all there is, `servers` what serving engines take (their names, nothing joined).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from tplc.backends.response_template.calls import CallField, CannotExpress, call_field
from tplc.backends.response_template.limits import Limit, ids_are_lost
from tplc.backends.response_template.patterns import any_of, ends, marker, markers, turn_ends
from tplc.ir.escaped import refuse_escaped_texts, refuse_values
from tplc.ir.nodes import Json, TemplateIR, Tolerance
from tplc.ir.profiles import PROFILES, Profile
from tplc.lower import Acceptor, lower
from tplc.lower.acceptor import Marker
from tplc.lower.lexemes import exact

# Each part of a response template has one regular expression, which can't express these tolerances.
INEXPRESSIBLE = ("repeated_markers", "end_tokens", "marker_spelling", "cut_markers", "other_forms")


@dataclass(frozen=True, slots=True)
class ResponseTemplate:
    """`template` is the object; `limits` what it cannot say; `ids`: whether ids of calls are kept; `typed`: whether
    values have their types where no tools are given."""

    template: dict[str, Json]
    reasoning_key: str
    limits: tuple[Limit, ...]
    ids: bool
    typed: bool

    @property
    def text(self) -> str:
        return json.dumps(self.template, ensure_ascii=False, indent=2) + "\n"


def response_template(ir: TemplateIR, profile: Profile = "transformers") -> ResponseTemplate:
    refuse_values(ir, "a response template")
    refuse_escaped_texts(ir, "a response template")
    acceptor = lower(
        replace(ir, tolerances=(*ir.tolerances, *(Tolerance(kind, enabled=False) for kind in INEXPRESSIBLE)))
    )
    servers = profile == "servers"
    has_ids = acceptor.calls is not None and acceptor.calls.has_ids
    calls = call_field(ir, acceptor, ids=not servers) if acceptor.calls is not None else None
    kept = calls is not None and isinstance(calls.transform, dict) and "id" in calls.transform
    key = "thinking" if servers else _message_key(ir)
    fields: dict[str, Json] = {}
    if acceptor.reasoning_ends:
        fields[key] = _reasoning(acceptor, calls, servers=servers)
    fields["content"] = _content(acceptor, calls, servers=servers)
    if calls is not None:
        fields["tool_calls"] = _tool_calls(calls)
    anchor = _anchor(ir, acceptor)
    limits = [*(calls.limits if calls else ()), *([ids_are_lost(_place(servers))] if has_ids and not kept else [])]
    template: dict[str, Json] = {"version": 1, "defaults": {"role": "assistant"}, **anchor, "fields": fields}
    return ResponseTemplate(template, key, tuple(limits), kept or not has_ids, calls is None or calls.typed)


def _place(servers: bool) -> str:
    return "of the model's, which servers make themselves," if servers else "after the arguments"


def _message_key(ir: TemplateIR) -> str:
    key = ir.reasoning.key
    return key if key and ":" not in key else "reasoning_content"


def _anchor(ir: TemplateIR, acceptor: Acceptor) -> dict[str, Json]:
    anchors: list[Json] = [anchor for anchor in acceptor.anchors if anchor]
    if anchors:
        return {"start_anchor": anchors[0] if len(anchors) == 1 else anchors}
    # Nothing shows where a turn starts: only what the prompts end with of it is kept of a prompt.
    heads = sorted({prompt.head for prompt in ir.turn.prompts if prompt.head}, key=len, reverse=True)
    return {"start_anchor_pattern": rf"(?={any_of(map(exact, heads))}\Z)" if heads else r"\Z"}


def _reasoning(acceptor: Acceptor, calls: CallField | None, *, servers: bool) -> dict[str, Json]:
    closes = [marker(text) for text in acceptor.reasoning_ends if text.strip()]
    starts = [_placed(start) for start in acceptor.reasoning_starts if start.text.strip()]
    if not starts:
        starts.append(rf"\A(?=.*?{any_of(closes)})")
    if calls is not None and calls.opener:
        closes.append(calls.opener)
    return {"open_pattern": any_of(starts), "close_pattern": any_of(closes), **_text(servers)}


def _content(acceptor: Acceptor, calls: CallField | None, *, servers: bool) -> dict[str, Json]:
    """Return the field for text outside the other parts.  It closes at markers that would be dropped from content."""
    placed = (*acceptor.content_starts, *acceptor.ignorable_closers)
    anywhere = [marker.text for marker in placed if marker.where == "anywhere"]
    dropped = [*anywhere, *acceptor.content_ends, *acceptor.headers]
    ending = {text.strip() for text in turn_ends(acceptor)}
    dropped += calls.rest if calls is not None else ()
    patterns = [*ends(turn_ends(acceptor)), *markers(text for text in dropped if text.strip() not in ending)]
    patterns += [_placed(marker) for marker in placed if marker.where != "anywhere"]
    patterns += [rf"\A{exact(space)}" for space in acceptor.content_spaces]
    found: dict[str, Json] = {"close_pattern": any_of(patterns)} if patterns else {}
    return {**found, **_text(servers)}


_PLACES = {
    "anywhere": "",
    "line start": r"(?:\A|(?<=\n))",
    "before content": r"\A\s{0,64}",
    "turn start": r"\A\s{0,64}",
}


def _placed(found: Marker) -> str:
    return _PLACES[found.where] + marker(found.text)


def _text(servers: bool) -> dict[str, Json]:
    join: dict[str, Json] = {} if servers else {"repeats": True, "join": ""}
    return {**join, "content": "text", "content_args": {"strip": False}}


def _tool_calls(calls: CallField) -> dict[str, Json]:
    found: dict[str, Json] = {"open_pattern": calls.open}
    if calls.close:
        found["close_pattern"] = calls.close
    if not calls.each:
        found["repeats"] = True
    found["content"] = calls.content
    if calls.arguments:
        found["content_args"] = calls.arguments
    found["transform"] = calls.transform
    if calls.each:
        found["transform_each"] = True
    return found


__all__ = ["PROFILES", "CannotExpress", "Profile", "ResponseTemplate", "response_template"]
