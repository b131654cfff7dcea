"""Run slips through a format's parser, and classify the results.

judge(message, tools, parser, text)  →  "recovered"
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from tests.slips.bases import FURTHER_MESSAGES, FURTHER_TOOLS, MESSAGES, TOOLS
from tests.slips.further import FURTHER
from tests.slips.kinds import KINDS, Answer, slips
from tests.slips.written import pieces_of, text_of
from tplc.ir.nodes import TemplateIR
from tplc_runtime.second import distinct

OUTCOMES = ("recovered", "kept", "leaked", "altered")
# Special tokens of a tokenizer that the template does not write.
TOKENS = (("pad_token", "<|pad_me|>"), ("unk_token", "<|what|>"))


# The lists of kinds, each with the answers that its slips are made in, and how many of each kind at most.
LISTS = {"issue": (KINDS, MESSAGES, TOOLS, 3), "further": (FURTHER, FURTHER_MESSAGES, FURTHER_TOOLS, 99)}


@dataclass(frozen=True, slots=True)
class Result:
    """`silent`: no diagnostic; `complete`: a call differs from what it should be, and `incomplete` is false.

    `written`: this is so because the template writes the text, or one with other white space, for the message that was
    read: `"5"` is a string in JSON.  `flagged`: the message is right, and `incomplete` is true.
    """

    template: str
    kind: str
    base: str
    text: str
    outcome: str
    silent: bool
    complete: bool
    written: bool
    flagged: bool
    chunked: str  # "" where every chunking gives the same
    got: Mapping[str, Any]
    diagnostics: tuple[str, ...]


def answers(ir: TemplateIR, which: str = "issue", *, unended: bool = False) -> Iterator[tuple[str, Answer]]:
    """Yield the right answers with their names; `unended`: without the turn's end, as servers return them."""
    head = ir.turn.prompts[0].head if ir.turn.prompts else ""
    _, messages, tools, _ = LISTS[which]
    for name, message in messages.items():
        calls = message.get("tool_calls") or []
        if calls and ir.tools.format == "none":
            continue
        if len(calls) > 1 and not ir.tools.parallel:
            message = {**message, "tool_calls": calls[:1]}
        if message.get("reasoning_content") and ir.reasoning.mode == "none":
            continue
        if calls and message.get("content") and ir.content.with_calls == "none":
            message = {**message, "content": None}
        try:
            pieces = pieces_of(ir, message, head=head)
        except (ValueError, KeyError, StopIteration):
            continue
        if unended and pieces:
            pieces = [piece for piece in pieces if piece.kind != "turn_end"]
        if pieces:
            tokens = tuple(text for _, text in TOKENS)
            yield name, Answer(ir, message, pieces, head, tokens[:1], tools)


def with_tokens(ir: TemplateIR) -> TemplateIR:
    """Return the format of a tokenizer that has further special tokens."""
    given = (*ir.provenance.special_tokens, *TOKENS)
    return replace(ir, provenance=replace(ir.provenance, special_tokens=given))


def read(parser: ModuleType, text: str, tools: Any, chunks: list[str] | None = None) -> tuple[Any, Any]:
    stream = parser.StreamParser(tools=tools)
    deltas = [delta for chunk in chunks or [text] for delta in stream.feed(chunk)] + stream.finish()
    return stream, deltas


def joined(deltas: list[dict[str, Any]]) -> tuple[Any, ...]:
    content, reasoning, calls = "", "", list[list[str]]()
    for delta in deltas:
        content += delta.get("content") or ""
        reasoning += delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            if call["index"] == len(calls):
                calls.append([function["name"], ""])
            calls[call["index"]][1] += function.get("arguments") or ""
    return content, reasoning, calls


def reading(stream: Any) -> tuple[Any, ...]:
    message = stream.message
    calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message["tool_calls"]]
    return message["content"] or "", message["reasoning_content"] or "", calls


def outcome_of(want: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    wanted = [(c["function"]["name"], c["function"]["arguments"]) for c in want.get("tool_calls") or ()]
    found = []
    for call in got["tool_calls"]:
        try:
            arguments = json.loads(call["function"]["arguments"], object_pairs_hook=distinct)
            found.append((call["function"]["name"], arguments))
        except ValueError:
            found.append((call["function"]["name"], call["function"]["arguments"]))
    same = [strict(one) for one in found] == [strict(one) for one in wanted]
    if same:
        texts = all((want.get(k) or "").strip() == (got[k] or "").strip() for k in ("content", "reasoning_content"))
        return "recovered" if texts else "leaked"
    wants = [strict(one) for one in wanted]
    return "kept" if len(found) < len(wanted) and all(strict(one) in wants for one in found) else "altered"


def strict(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def cuts(text: str, seed: str) -> Iterator[list[str]]:
    yield list(text)
    rng = random.Random(seed)
    places = sorted({rng.randrange(len(text) + 1) for _ in range(6)})
    yield [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def judge(
    template: str, kind: str, base: str, answer: Answer, parser: ModuleType, text: str, *, without_tools: bool = False
) -> Result:
    given = None if without_tools else answer.tools
    try:
        stream, deltas = read(parser, text, given)
        whole, got = reading(stream), stream.message
        chunked = "" if joined(deltas) == whole else "deltas"
        for chunks in cuts(text, text):
            other, deltas = read(parser, text, given, chunks)
            same = reading(other) == whole and joined(deltas) == whole and other.incomplete == stream.incomplete
            if not same or list(other.diagnostics) != list(stream.diagnostics):
                chunked = f"{len(chunks)} chunks"
    except Exception as error:  # noqa: BLE001 nothing may be raised
        return Result(template, kind, base, text, "raised", False, False, False, False, "", {}, (repr(error),))
    reported = tuple(diagnostic.text for diagnostic in stream.diagnostics)
    outcome = outcome_of(answer.message, got)
    complete = outcome == "altered" and not stream.incomplete
    return Result(
        template,
        kind,
        base,
        text,
        outcome,
        not reported,
        complete,
        complete and is_written(answer, got, text),
        outcome == "recovered" and stream.incomplete,
        chunked,
        got,
        reported,
    )


def is_written(answer: Answer, got: Mapping[str, Any], text: str) -> bool:
    """Return whether the template writes this text, apart from white space, for the message that was read."""
    calls = [call["function"] for call in got["tool_calls"]]
    try:
        functions = [{"name": call["name"], "arguments": json.loads(call["arguments"])} for call in calls]
        message = {**got, "tool_calls": [{"type": "function", "function": function} for function in functions]}
        pieces = pieces_of(answer.ir, message, head=answer.head) or []
    except (ValueError, KeyError, StopIteration):
        return False
    if answer.pieces[-1].kind != "turn_end":
        pieces = [piece for piece in pieces if piece.kind != "turn_end"]
    return "".join(text.split()) == "".join(text_of(pieces).split())


def results(
    template: str,
    ir: TemplateIR,
    parser: ModuleType,
    *,
    which: str = "issue",
    kinds: tuple[str, ...] = (),
    two: int = 0,
    unended: bool = False,
    without_tools: bool = False,
) -> list[Result]:
    found = []
    listed, _, _, most = LISTS[which]
    for base, answer in answers(ir, which, unended=unended):
        right, _ = read(parser, answer.text, None if without_tools else answer.tools)
        if outcome_of(answer.message, right.message) != "recovered":
            continue  # two messages with one text
        made = list(slips(answer, listed, kinds, most=most))
        if two:
            made = list(pairs(answer, made, two))
        judged = partial(judge, template, base=base, answer=answer, parser=parser, without_tools=without_tools)
        found += [judged(kind, text=text) for kind, text in made]
    return found


def pairs(answer: Answer, made: list[tuple[str, str]], count: int) -> Iterator[tuple[str, str]]:
    """Yield two slips at once, if the two changes of the text don't touch each other."""
    rng = random.Random(answer.text)
    changes = [(kind, *_change(answer.text, text)) for kind, text in made]
    for _ in range(count if len(changes) > 1 else 0):
        first, second = sorted(rng.sample(changes, 2), key=lambda change: change[1])
        if first[2] < second[1] and first[0] != second[0]:
            text = answer.text
            text = text[: second[1]] + second[3] + text[second[2] :]
            yield f"{first[0]} + {second[0]}", text[: first[1]] + first[3] + text[first[2] :]


def _change(before: str, after: str) -> tuple[int, int, str]:
    """Return where a text was changed, from and to, and the new text."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    rest = min(len(before), len(after)) - start
    end = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    return start, len(before) - end, after[start : len(after) - end]
