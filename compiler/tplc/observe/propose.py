"""Propose tolerances for odd outputs, by aligning markers with the text in their place.

format "<~do~>" name …, output 'Sure.<~doo~>f {}</~do~>'   →   "<~doo~>" for "<~do~>"

Candidates are texts of the output: a marker written with spaces, with parts of it twice or in another order, or a text
that looks like a marker and is none.  Each is put to the test: with the marker in its place, is the output read better?
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import permutations

from tplc.ir.markers import is_distinctive, parts_of, pieces_of
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.own_markers import own_markers
from tplc.ir.roles import marker_of
from tplc.observe.findings import Judge, Judged
from tplc.observe.groups import Group
from tplc.observe.likeness import AT_START
from tplc_runtime.scanner import squeezed

_EXAMPLES = 3  # of each group are looked at
_ROUNDS = 6  # as many variants may one output have
_MOST_CANDIDATES = 150
_MOST_PARTS = 4
_LONGEST = 4000  # of an output that is looked at
_CLOSE = 0.55
_LEAST_AROUND = 3
# The text that can follow an opener of calls but not an opener of reasoning.
_CALL = re.compile(r"\s*(?:\{|\[\s*[\[{\"]|[\w.-]+\()")
_WORD = re.compile(r"[^\W_]+|_|[^\w\s]|\s+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """`text` for `marker`, seen in so many of the outputs.

    `mended`: so many are clean because of it: without it, and with all others, they are not.  `changed`: it alone
    changes how so many are read.
    """

    marker: str
    text: str
    seen: int
    mended: int = 0
    changed: int = 0

    def tolerance(self, source: str) -> Tolerance:
        outputs = f"{self.seen} recorded output{'s' if self.seen != 1 else ''}"
        return Tolerance("variant", True, self.marker, self.text, f"stood in its place in {outputs}", source)


def propose(ir: TemplateIR, judge: Judge, groups: Sequence[Group], step: Callable[[int], None]) -> list[Proposal]:
    """Return proposed tolerances, the most frequent first; `step` is called after each group."""
    targets = _targets(ir)
    found: Counter[tuple[str, str]] = Counter()
    for group in groups:
        shortest = sorted(group.members, key=lambda judged: len(judged.output.text))[:_EXAMPLES]
        for judged in shortest:
            # A marker of the format stands for itself.
            found.update(pair for pair in {*_mended(judge, judged, targets)} if pair[0] not in targets)
        step(1)
    texts = [judged.output.text for group in groups for judged in group.members]
    of_calls = {text for text, marker in found if targets[marker].startswith("tools.")}
    chosen = {proposal.text: proposal for proposal in _of_reasoning(ir, groups, of_calls)}
    for (text, marker), _ in found.most_common():  # a text stands for one marker: the one that it was found for most
        chosen.setdefault(text, Proposal(marker, text, sum(text in each for each in texts)))
    proposals = sorted(chosen.values(), key=lambda each: (-each.seen, each.marker, each.text))
    return [each for each in proposals if not _is_another_marker(ir, each, targets)]


def _is_another_marker(ir: TemplateIR, proposal: Proposal, targets: Collection[str]) -> bool:
    """Return whether the text is another marker of the format than the one that it is proposed for, in any spelling."""
    marker = marker_of(ir, proposal.marker)
    own = set(map(squeezed, (marker, *pieces_of(marker))))
    return squeezed(proposal.text) in {*map(squeezed, targets)} - own


def _targets(ir: TemplateIR) -> dict[str, str]:
    """Return the markers that a text may stand for, with their places; a piece only where the marker has more."""
    found: dict[str, str] = {}
    for marker, place in own_markers(ir).items():
        if place == "turn.anchors":
            continue
        for text in (marker, *pieces_of(marker)):
            if is_distinctive(text):
                found.setdefault(text, place)
    return found


def _mended(judge: Judge, judged: Judged, targets: dict[str, str]) -> list[tuple[str, str]]:
    """Yield the texts, each with its marker, with which this output is read best, the best first."""
    pairs: list[tuple[str, str]] = []
    output = replace(judged.output, text=judged.output.text[:_LONGEST])
    for _ in range(_ROUNDS):
        if judged.clean:
            break
        best = _best(judge, replace(judged, output=output), targets)
        if best is None:
            break
        text, marker, judged = best
        pairs.append((text, marker))
        output = judged.output
    return pairs


def _best(judge: Judge, judged: Judged, targets: dict[str, str]) -> tuple[str, str, Judged] | None:
    text = judged.output.text
    candidates = dict.fromkeys(_candidates(judge, judged, targets))
    ranked: list[tuple[tuple[int, int, float, int], str, str, Judged]] = []
    for written, marker in list(candidates)[:_MOST_CANDIDATES]:
        tried = judge.judge(replace(judged.output, text=text.replace(written, marker)))
        if tried.badness < judged.badness or _complete(tried) > _complete(judged):
            rank = (tried.badness, -_complete(tried), -_closeness(written, marker), len(marker))
            ranked.append((rank, written, marker, tried))
    if not ranked:
        return None
    _, written, marker, tried = min(ranked, key=lambda item: item[0])
    return written, marker, tried


def _complete(judged: Judged) -> int:
    return len(judged.message["tool_calls"])


def _closeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second).ratio()


# Candidates


def _candidates(judge: Judge, judged: Judged, targets: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield texts of the output, and the marker that each may stand for; the likeliest first."""
    text = judged.output.text
    for marker in targets:
        for pattern in _spellings(marker):
            yield from ((match, marker) for match in _matches(pattern, text) if _is_other(match, marker))
    first = [match.group(1) for match in [AT_START.match(text)] if match is not None]
    written = [*(each.text for each in judge.likeness.find(text)), *first]
    alike = dict.fromkeys(each for each in written if each not in targets)
    pairs = [(_closeness(each, marker), each, marker) for each in alike for marker in targets]
    heads = {(head, marker) for each in alike for marker in targets if (head := _head(each, marker))}
    pairs += [(_closeness(*pair), *pair) for pair in sorted(heads)]
    by_slash = any(map(_closes, targets))
    for closeness, each, marker in sorted(pairs, key=lambda pair: -pair[0]):
        if by_slash and _closes(each) != _closes(marker):
            continue
        inner = targets[marker].startswith(("turn.", "content."))
        if closeness >= _CLOSE or (marker not in text and not inner):
            yield each, marker


def _closes(text: str) -> bool:
    """Return whether a text begins as what closes a part does: with a slash in its punctuation."""
    return re.match(r"[^\w\s]*/", text) is not None


def _head(text: str, marker: str) -> str:
    """Return the beginning of a variant before a value: "<step=" of "<step=city>", for the marker "<param="; otherwise
    ""."""
    punctuation = re.search(r"[^\w\s]+$", marker)
    head, found, rest = text.partition(punctuation.group()) if punctuation else (text, "", "")
    return head + found if rest and found and is_distinctive(head + found) and head + found != marker else ""


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match.group().strip() for match in pattern.finditer(text))


def _is_other(written: str, marker: str) -> bool:
    return bool(written) and written != marker


def _spellings(marker: str) -> Iterator[re.Pattern[str]]:
    """Yield patterns of other spellings of a marker: with spaces, in other letters, repeated, reordered."""
    parts = [part for piece in pieces_of(marker) for part in parts_of(piece)]
    spaced = [_spaced(part) for part in parts]
    yield _pattern(r"\s*".join(spaced))
    twice = r"\s*".join(rf"(?:{part}\s*){{1,2}}" for part in spaced)
    yield _pattern(rf"(?:{twice}\s*){{1,2}}")
    halves = _first_half(marker)
    if halves:
        yield _pattern(rf"{_spaced(halves)}\s*{_spaced(marker)}")
    if 1 < len(parts) <= _MOST_PARTS:
        for order in permutations(spaced):
            if list(order) != spaced:
                yield _pattern(r"\s*".join(order))
    yield from _renamed(marker)


def _renamed(marker: str) -> Iterator[re.Pattern[str]]:
    """Yield patterns with another word in a marker whose other texts are distinctive enough."""
    for match in re.finditer(r"[^\W_]\w*", marker):
        before, after = marker[: match.start()], marker[match.end() :]
        if before.strip() and len((before + after).strip()) >= _LEAST_AROUND:
            yield re.compile(rf"{re.escape(before)}\s?\w[\w .-]{{0,40}}?{re.escape(after)}")


def _first_half(marker: str) -> str:
    """Return the first word of a marker with its punctuation, as far as that is distinctive."""
    match = re.match(r"[^\w\s]+\w+[^\w\s]*", marker)
    return match.group() if match and match.group() != marker and is_distinctive(match.group()) else ""


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _spaced(text: str) -> str:
    """Return a pattern that allows white space between words and punctuation, and other separators between words."""
    pieces = [piece for piece in _WORD.findall(text) if not piece.isspace()]
    return r"\s?".join(r"[_\-.]?" if piece == "_" else re.escape(piece) for piece in pieces)


# Reasoning that the template has no notion of


def _of_reasoning(ir: TemplateIR, groups: Sequence[Group], of_calls: Set[str]) -> list[Proposal]:
    """Return proposals for bracketed text at the beginning of outputs that is closed later, in a format without
    reasoning.

    `of_calls`: texts by which calls are read, in the place of the format's own.
    """
    if ir.reasoning.mode != "none":
        return []
    starts: Counter[str] = Counter()
    for group in groups:
        for judged in group.members:
            text = judged.output.text.lstrip()
            first = next((f for f in judged.findings if f.kind == "marker in content"), None)
            if first is None or first.what in of_calls or _CALL.match(text, len(first.what)):
                continue
            if text.startswith(first.what) and _closing(first.what) in text:
                starts[first.what] += 1
    if not starts:
        return []
    start, seen = starts.most_common(1)[0]
    return [Proposal("reasoning.start", start, seen), Proposal("reasoning.end", _closing(start), seen)]


def _closing(start: str) -> str:
    return start[0] + "/" + start[1:]
