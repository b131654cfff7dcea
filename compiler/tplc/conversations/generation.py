"""Put `{% generation %}` tags into a template, around the text that a model generates.

    {% for m in messages %}<|{{ m.role }}|>{{ m.content }}<end>{% endfor %}
    →  {% for m in messages %}<|{{ m.role }}|>{% if m['role'] == 'assistant' %}{% generation %}{{ m.content }}<end>
       {% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}{% endfor %}

Each piece of text that the template writes is traced to the place in its source that wrote it, over many conversations,
and compared with the characters that a model generates in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tplc.conversations.masks import Range
from tplc.conversations.source import (
    CAPTURING,
    Block,
    Item,
    Operand,
    Segment,
    SegmentedSource,
    cut_literal,
    names_set,
    operands,
)
from tplc.errors import UnsupportedTemplate

# Around what one place of the source writes, in a render made to show it.
_OPEN, _SPLIT, _CLOSE = "\ue0f0", "\ue0f1", "\ue0f2"
_MARK = re.compile(f"{_OPEN}([0-9]+){_SPLIT}([01]*){_SPLIT}|{_CLOSE}")
_LEAVING = ("continue", "break")
_LONGEST = 60


@dataclass(slots=True)
class WritingPlace:
    """A place in the source that writes text: data, an operand of a variable tag, or a statement as a whole.

    `loops` are the variables of the loops around it, the outermost first.  `runs`: the conversation, the flags (see
    `_flags`), and the characters that were written.
    """

    item: Item
    loops: tuple[str, ...]
    operand: Operand | None = None
    runs: list[tuple[int, str, int, int]] = field(default_factory=list)

    @property
    def literal(self) -> str | None:
        if self.operand is not None:
            return self.operand.text
        return self.item.text if isinstance(self.item, Segment) and self.item.kind == "data" else None

    @property
    def start(self) -> int:
        return self.operand.start if self.operand is not None else self.item.start

    @property
    def stop(self) -> int:
        return self.operand.stop if self.operand is not None else self.item.stop


@dataclass(frozen=True, slots=True)
class Piece:
    """A place, or a part of its literal; `first` and `last` count characters of the literal.

    `kinds`: (the flags of a run, whether what was written is generated).
    """

    place: WritingPlace
    first: int
    last: int | None
    kinds: frozenset[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class TracedConversation:
    """A render with the marks of places, and the generated characters of the plain render."""

    title: str
    marked: str
    text: str
    ranges: tuple[Range, ...]


class NotDivided(UnsupportedTemplate):
    """The output of a place is partly generated, and the place is not a literal.

    `cuts`: the text before and after each border in it, for each run.
    """

    def __init__(
        self, place: WritingPlace, cuts: Sequence[tuple[str, str]], name: str, reason: str, line: int | None
    ) -> None:
        super().__init__(name, reason, line)
        self.place = place
        self.cuts = tuple(cuts)


def places_of(source: SegmentedSource) -> list[WritingPlace]:
    """Return all places that write into the stream of the template, in order."""
    return list(_places(source.items, ()))


def _places(items: Sequence[Item], loops: tuple[str, ...]) -> Iterator[WritingPlace]:
    for item in items:
        if isinstance(item, Segment):
            if item.kind == "variable":
                for operand in operands(item):
                    yield WritingPlace(item, loops, operand)
            elif item.kind == "data" and item.text:
                yield WritingPlace(item, loops)
        elif item.name in ("call", "filter"):
            yield WritingPlace(item, loops)
        elif item.name not in CAPTURING:
            for body in item.bodies:
                yield from _places(body, (*loops, *_loop_variable(item)))


def _loop_variable(block: Block) -> tuple[str, ...]:
    tokens = block.tags[0].tokens
    if block.name == "for" and len(tokens) > 2 and tokens[2].text == "in":
        return (tokens[1].text,)
    return ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A test that a template can make at a place, and whether it is true with these flags.

    `of_loop`: it asks about the innermost loop, so it is true in that loop's own body only.
    """

    text: str
    holds: Callable[[str], bool]
    of_loop: bool = False


def _flags(loops: Sequence[str], reasoning: str) -> list[str]:
    """Return expressions that record facts about each run: whether the loop's variable is an answer, has content, has
    reasoning, and whether this is the first round of the innermost loop."""
    asked = []
    for name in loops:
        asked += [f"{name}['role'] == 'assistant'", f"{name}['content']", f"{name}['{reasoning}']"]
    return [*asked, "loop.first"] if loops else []


def conditions(loops: Sequence[str], reasoning: str) -> list[Condition]:
    """Return the tests to try in the body of a loop, the simplest first."""
    found = []
    for at, name in enumerate(loops):
        role, content, thought = _flags([name], reasoning)[:3]
        found.append(Condition(role, lambda flags, at=at: flags[3 * at] == "1"))  # type: ignore[misc]
        if at == len(loops) - 1:
            continue
        later = "not loop.first"
        tests: list[tuple[str, Callable[[str], bool]]] = [
            (later, lambda flags: flags[-1] != "1"),
            (f"{later} or {content}", lambda flags, at=at: flags[-1] != "1" or flags[3 * at + 1] == "1"),  # type: ignore[misc]
            (f"{later} or {thought}", lambda flags, at=at: flags[-1] != "1" or flags[3 * at + 2] == "1"),  # type: ignore[misc]
            (
                f"{later} or {content} or {thought}",
                lambda flags, at=at: flags[-1] != "1" or "1" in flags[3 * at + 1 : 3 * at + 3],  # type: ignore[misc]
            ),
        ]
        found += [Condition(text, test, of_loop=True) for text, test in tests]
    if len(loops) > 1:
        # Of what follows an answer, in a loop over it: only what ends the answer is generated.
        found.append(Condition("loop.first", lambda flags: flags[-1] == "1", of_loop=True))
    for at, name in enumerate(loops):
        content, thought = _flags([name], reasoning)[1:3]
        found.append(
            Condition(f"{content} or {thought}", lambda flags, at=at: "1" in flags[3 * at + 1 : 3 * at + 3])  # type: ignore[misc]
        )
        found.append(Condition(content, lambda flags, at=at: flags[3 * at + 1] == "1"))  # type: ignore[misc]
        found.append(Condition(thought, lambda flags, at=at: flags[3 * at + 2] == "1"))  # type: ignore[misc]
    return found


def marked_source(source: SegmentedSource, places: Sequence[WritingPlace], reasoning: str) -> str:
    """Return a template that writes the same text with marks around the output of each place.  White space control is
    already applied."""
    found: dict[int, list[tuple[int, WritingPlace]]] = {}
    for index, place in enumerate(places):
        found.setdefault(place.item.start, []).append((index, place))
    return "".join(_marked(source, source.items, found, reasoning, is_stream=True))


def _marked(
    source: SegmentedSource,
    items: Sequence[Item],
    found: Mapping[int, list[tuple[int, WritingPlace]]],
    reasoning: str,
    *,
    is_stream: bool,
) -> Iterator[str]:
    for item in items:
        here = found.get(item.start, ()) if is_stream else ()
        if isinstance(item, Segment):
            if item.kind == "comment":
                continue
            if not here:
                yield _plain(source, item)
            for index, place in here:
                yield _opening(index, place, reasoning)
                yield (
                    _plain(source, item)
                    if place.operand is None
                    else _written(source.text[place.operand.start : place.operand.stop])
                )
                yield _written(json.dumps(_CLOSE, ensure_ascii=False))
            continue
        if here:
            yield _opening(*here[0], reasoning)
        inside = is_stream and item.name not in CAPTURING
        for tag, body in zip(item.tags, item.bodies, strict=False):
            yield _plain(source, tag)
            yield from _marked(source, body, found, reasoning, is_stream=inside)
        yield _plain(source, item.tags[-1])
        if here:
            yield _written(json.dumps(_CLOSE, ensure_ascii=False))


def _opening(index: int, place: WritingPlace, reasoning: str) -> str:
    asked = [f"('1' if {flag} else '0')" for flag in _flags(place.loops, reasoning)]
    parts = [json.dumps(f"{_OPEN}{index}{_SPLIT}", ensure_ascii=False), *asked, json.dumps(_SPLIT, ensure_ascii=False)]
    return _written(" ~ ".join(parts))


def _plain(source: SegmentedSource, segment: Segment) -> str:
    if segment.kind == "data":
        return _written(json.dumps(segment.text, ensure_ascii=False)) if segment.text else ""
    if not segment.tokens:
        return ""
    inner = source.text[segment.tokens[0].start : segment.tokens[-1].stop]
    return _written(inner) if segment.kind == "variable" else f"{{%- {inner} -%}}"


def _written(expression: str) -> str:
    return f"{{{{- {expression} -}}}}"


def without_marks(marked: str) -> str:
    return _MARK.sub("", marked)


def trace_runs(places: Sequence[WritingPlace], traced: Sequence[TracedConversation]) -> None:
    """Note for each place what it wrote, and where."""
    for number, one in enumerate(traced):
        at = last = 0
        opened: list[tuple[int, str, int]] = []
        for match in _MARK.finditer(one.marked):
            at += match.start() - last
            last = match.end()
            if match[1] is not None:
                opened.append((int(match[1]), match[2], at))
            elif opened:
                index, answers, start = opened.pop()
                if at > start:
                    places[index].runs.append((number, answers, start, at))


def pieces_of(
    name: str, source: SegmentedSource, place: WritingPlace, traced: Sequence[TracedConversation]
) -> list[Piece]:
    """Return the place, cut where generated text begins or ends; raise an error if it isn't a literal and can't be
    cut."""
    cuts: set[int] = set()
    found: list[tuple[str, str]] = []
    title = ""
    for number, _, start, stop in place.runs:
        for border in (border for one in traced[number].ranges for border in one):
            if start < border < stop:
                cuts.add(border - start)
                text = traced[number].text
                found.append((text[start:border], text[border:stop]))
                title = title or traced[number].title
    if cuts and place.literal is None:
        shown = " ".join(source.text[place.start : place.stop].split())
        reason = "one place writes both what a model generates and what it does not, and cannot be cut: "
        line = source.line_at(place.start)
        raise NotDivided(place, found, name, f"{reason}{shown[:_LONGEST]} (seen in: {title})", line)
    offsets = [0, *sorted(cuts)]
    ends: list[int | None] = [*sorted(cuts), None]
    pieces = []
    for first, last in zip(offsets, ends, strict=True):
        kinds = set()
        for number, answers, start, stop in place.runs:
            a, b = start + first, stop if last is None else start + last
            if b > a:
                kinds.add((answers, any(x <= a and b <= y for x, y in traced[number].ranges)))
        pieces.append(Piece(place, first, last, frozenset(kinds)))
    return pieces


@dataclass(frozen=True, slots=True)
class Point:
    """A place to put a tag.  The source continues up to `before`, and again from `after`.  `suffix` and `prefix` close
    and open what is cut there; `left` and `right` are the tag's delimiters."""

    before: int
    after: int
    suffix: str = ""
    prefix: str = ""
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class Wrap:
    """A stretch of the source to put tags around; `condition` says when, "" for always."""

    start: Point
    stop: Point
    condition: str = ""


class Wrapping:
    """Chooses what is wrapped: the longest stretches, in the outermost bodies."""

    def __init__(
        self,
        name: str,
        source: SegmentedSource,
        pieces: Sequence[Piece],
        describe: Callable[[Piece], str],
        reasoning: str,
    ) -> None:
        self.reasoning = reasoning
        self.name = name
        self.source = source
        self.describe = describe
        self.pieces: dict[int, list[Piece]] = {}
        for piece in pieces:
            self.pieces.setdefault(piece.place.item.start, []).append(piece)

    def wraps(self) -> list[Wrap]:
        return sorted(self.body(self.source.items, ()), key=lambda wrap: wrap.start.before)

    def body(self, items: Sequence[Item], loops: tuple[str, ...]) -> Iterator[Wrap]:
        parts = list(self.parts(items))
        taken = [False] * len(parts)
        for test in conditions(loops, self.reasoning):
            # Text that is generated in an answer, and also written in other messages.
            yield from self.runs(parts, taken, test)
        yield from self.runs(parts, taken, None)
        for part, is_taken in zip(parts, taken, strict=True):
            if is_taken:
                continue
            if isinstance(part, Block) and part.name not in CAPTURING:
                for body in part.bodies:
                    yield from self.body(body, (*loops, *_loop_variable(part)))
            elif isinstance(part, Piece) and any(inside for _, inside in part.kinds):
                raise UnsupportedTemplate(self.name, self.describe(part), self.source.line_at(part.place.start))

    def parts(self, items: Sequence[Item]) -> Iterator[Piece | Item]:
        for item in items:
            pieces = self.pieces.get(item.start)
            if pieces is not None:
                yield from pieces
            else:
                yield item

    def runs(self, parts: Sequence[Piece | Item], taken: list[bool], test: Condition | None) -> Iterator[Wrap]:
        """Yield stretches of parts that can be wrapped together."""
        index = 0
        while index < len(parts):
            stop = index
            while stop < len(parts) and not taken[stop] and self.fits(parts[stop], test):
                stop += 1
            run = self.trimmed(parts, index, stop, test)
            if run is not None:
                first, last = run
                for at in range(first, last + 1):
                    taken[at] = True
                text = test.text if test is not None else ""
                yield Wrap(self.point_before(parts[first]), self.point_after(parts[last]), text)
            index = max(stop, index + 1)

    def trimmed(
        self, parts: Sequence[Piece | Item], start: int, stop: int, test: Condition | None
    ) -> tuple[int, int] | None:
        """Return the range of the parts that are worth a tag, without names that are used later."""
        wanted = [at for at in range(start, stop) if self.wants(parts[at], test)]
        if not wanted:
            return None
        first, last = wanted[0], wanted[-1]
        items = [part for part in parts[first : last + 1] if not isinstance(part, Piece)]
        if self.leaks(items, _stop(parts[last])):
            # As far as it goes without.
            for at in range(first, last + 1):
                part = parts[at]
                if not isinstance(part, Piece) and self.leaks([part], _stop(parts[last])):
                    return self.trimmed(parts, start, at, test) or self.trimmed(parts, at + 1, stop, test)
        return first, last

    def leaks(self, items: Sequence[Item], after: int) -> bool:
        names = names_set(items)
        if not names:
            return False
        used = {
            token.text
            for segment in self.source.segments
            if segment.start >= after
            for token in segment.tokens
            if token.kind == "name"
        }
        return bool(names & used)

    def fits(self, part: Piece | Item, test: Condition | None) -> bool:
        """Return whether the part can be in a stretch: all its output is generated (in an answer)."""
        if isinstance(part, Segment):
            return part.name not in _LEAVING
        if isinstance(part, Block):
            if part.name == "macro" or self.leaves(part) or (test is not None and test.of_loop):
                return False
        return all(inside == (test is None or test.holds(flags)) for flags, inside in self.kinds(part))

    def wants(self, part: Piece | Item, test: Condition | None) -> bool:
        if test is not None:
            # A part that is generated or not as its place says needs no condition.
            return any(self.is_mixed(piece) for piece in self.pieces_in(part))
        return any(inside for _, inside in self.kinds(part))

    def is_mixed(self, piece: Piece) -> bool:
        return len({inside for _, inside in piece.kinds}) > 1

    def kinds(self, part: Piece | Item) -> set[tuple[str, bool]]:
        return {kind for piece in self.pieces_in(part) for kind in piece.kinds}

    def pieces_in(self, part: Piece | Item) -> Iterator[Piece]:
        if isinstance(part, Piece):
            yield part
        elif isinstance(part, Block):
            for start, pieces in self.pieces.items():
                if part.start <= start < part.stop:
                    yield from pieces

    def leaves(self, block: Block) -> bool:
        """Return whether a loop around the block is left inside it."""
        for body in block.bodies:
            for item in body:
                if isinstance(item, Segment):
                    if item.name in _LEAVING and block.name != "for":
                        return True
                elif item.name != "for" and self.leaves(item):
                    return True
        return False

    # Where tags go

    def point_before(self, part: Piece | Item) -> Point:
        if isinstance(part, Piece):
            if part.place.operand is not None:
                return self.in_variable(part, part.first)
            if part.first:
                return self.in_data(part.place.item, part.first)
            if isinstance(part.place.item, Segment):
                return self.at_data_start(part.place.item)
            part = part.place.item
        return self.before_tag(part.tags[0] if isinstance(part, Block) else part)

    def point_after(self, part: Piece | Item) -> Point:
        if isinstance(part, Piece):
            if part.place.operand is not None:
                return self.in_variable(part, part.last, is_end=True)
            if part.last is not None:
                return self.in_data(part.place.item, part.last)
            if isinstance(part.place.item, Segment):
                return self.at_data_end(part.place.item)
            part = part.place.item
        return self.after_tag(part.tags[-1] if isinstance(part, Block) else part)

    def in_variable(self, piece: Piece, offset: int | None, *, is_end: bool = False) -> Point:
        segment, operand = piece.place.item, piece.place.operand
        assert isinstance(segment, Segment)
        assert operand is not None
        if offset:
            left, right = cut_literal(self.source.text[operand.start : operand.stop], offset)
            return Point(operand.start, operand.stop, f"{left} }}}}", f"{{{{ {right}")
        found = operands(segment)
        index = found.index(operand) + (1 if is_end else 0)
        if index == 0:
            return self.before_tag(segment)
        if index == len(found):
            return self.after_tag(segment)
        return Point(found[index - 1].stop, found[index].start, " }}", "{{ ")

    def before_tag(self, segment: Segment) -> Point:
        if segment.kind == "data":
            return self.at_data_start(segment)
        left = segment.left
        if not left and segment.kind == "variable" and self.is_line_start(segment.start):
            left = "+"
        return Point(segment.start, segment.start, left=left)

    def after_tag(self, segment: Segment) -> Point:
        if segment.kind == "data":
            return self.at_data_end(segment)
        right = segment.right
        newline = self.source.text.startswith("\n", segment.stop) and not self.is_stripped_after(segment)
        if (segment.kind == "variable" and not right and newline) or (right == "+" and newline):
            right = "+"
        elif right == "+":
            right = ""
        return Point(segment.stop, segment.stop, right=right)

    def is_stripped_after(self, segment: Segment) -> bool:
        """Return whether the next tag strips all text between."""
        following = self.source.segments.index(segment) + 1
        return following < len(self.source.segments) and self.source.segments[following].left == "-"

    def at_data_start(self, segment: Segment) -> Point:
        index = self.source.segments.index(segment)
        if index:
            return self.after_tag(self.source.segments[index - 1])
        return self.in_data(segment, 0)

    def at_data_end(self, segment: Segment) -> Point:
        index = self.source.segments.index(segment)
        if index + 1 < len(self.source.segments):
            return self.before_tag(self.source.segments[index + 1])
        return self.in_data(segment, len(segment.text))

    def in_data(self, item: Item, offset: int) -> Point:
        at = item.start + offset
        text = self.source.text
        return Point(
            at,
            at,
            left="+" if self.is_line_start(at) else "",
            right="+" if text.startswith("\n", at) else "",
        )

    def is_line_start(self, at: int) -> bool:
        """Return whether only white space, which a tag would strip, is before it in its line."""
        line = self.source.text[self.source.text.rfind("\n", 0, at) + 1 : at]
        return bool(line) and line.isspace()


def _stop(part: Piece | Item) -> int:
    return part.place.stop if isinstance(part, Piece) else part.stop


def with_tags(source: SegmentedSource, wraps: Sequence[Wrap]) -> str:
    """Return the source with tags around each stretch."""
    text = source.text
    made: list[str] = []
    at = 0
    previous: Point | None = None
    for wrap in wraps:
        start, stop = wrap.start, wrap.stop
        if previous == start:
            made.pop()
        else:
            made += [text[at : start.before], start.suffix]
        inside = start.prefix + text[start.after : stop.before] + stop.suffix
        opening = _tag("generation", start.left, start.right)
        if wrap.condition:
            question = _tag(f"if {wrap.condition}", start.left, "")
            made += [question, _tag("generation", "", start.right), inside]
            made += [_tag("endgeneration", stop.left, ""), _tag("else", "", start.right), inside]
            made.append(_tag("endif", stop.left, stop.right))
        else:
            made += [opening, inside, _tag("endgeneration", stop.left, stop.right)]
        made.append(stop.prefix)
        at, previous = stop.after, stop
    return "".join([*made, text[at:]])


def _tag(inner: str, left: str, right: str) -> str:
    return f"{{%{left} {inner} {right}%}}"
