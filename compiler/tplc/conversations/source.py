"""A template's source in segments, each with its place, so that tags can be put between them.

    {% for m in messages %}<|{{ m.role }}|>{% endfor %}
    →  Block(for, [data "<|", variable, data "|>"])

What white space control leaves of a text between two tags is known here, so a tag is put where it changes no white
space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jinja2 import TemplateError as JinjaError

from tplc.errors import UnsupportedTemplate
from tplc.learn.candidates import SourceEnvironment

SegmentKind = Literal["data", "variable", "block", "comment"]
_ENDED = ("if", "for", "macro", "call", "filter", "generation", "with", "autoescape", "block")
_BRANCHES = ("elif", "else")
# Their bodies are no part of the stream that a template writes: text, or a value, is made of them first.
CAPTURING = ("macro", "call", "filter", "set")
_OPENERS, _CLOSERS = "([{", ")]}"
# Operators that bind less tightly than a concatenation, or do something else.
_OTHER = ("if", "else", "and", "or", "not", "in", "is")


@dataclass(frozen=True, slots=True)
class SourceToken:
    kind: str
    text: str
    start: int

    @property
    def stop(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the source.  `text` of data is what is left of it; `left` and `right` of a tag are -, + or ""."""

    kind: SegmentKind
    start: int
    stop: int
    line: int
    text: str = ""
    tokens: tuple[SourceToken, ...] = ()
    left: str = ""
    right: str = ""

    @property
    def name(self) -> str:
        return self.tokens[0].text if self.kind == "block" and self.tokens else ""

    @property
    def is_namespace_set(self) -> bool:
        return self.name == "set" and len(self.tokens) > 2 and self.tokens[2].text == "."


@dataclass(slots=True)
class Block:
    """A statement with a body: its tags, and the items after each but the last."""

    tags: list[Segment]
    bodies: list[list[Segment | Block]] = field(default_factory=lambda: [[]])

    @property
    def name(self) -> str:
        return self.tags[0].name

    @property
    def start(self) -> int:
        return self.tags[0].start

    @property
    def stop(self) -> int:
        return self.tags[-1].stop


Item = Segment | Block


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of what a variable tag concatenates; `text` is set for a string constant."""

    start: int
    stop: int
    text: str | None


@dataclass(frozen=True, slots=True)
class SegmentedSource:
    """The text with newlines as Jinja has them, its segments in order, and the tree that they make."""

    text: str
    segments: tuple[Segment, ...]
    items: tuple[Item, ...]

    def line_at(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def read_template(source: str, name: str) -> SegmentedSource:
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        segments = tuple(_segments(text))
    except JinjaError as error:
        raise UnsupportedTemplate(name, f"its source cannot be read: {error}") from error
    return SegmentedSource(text, segments, tuple(_tree(segments, name)))


def _segments(text: str) -> Iterator[Segment]:
    at = 0
    opened: list[SourceToken] = []
    for line, kind, value in SourceEnvironment().lexer.tokeniter(text, None):
        start = text.index(value, at)
        at = start + len(value)
        token = SourceToken(kind, value, start)
        if kind == "data":
            yield Segment("data", start, at, line, value)
        elif kind in ("variable_begin", "block_begin", "comment_begin"):
            opened = [token]
        elif kind in ("variable_end", "block_end", "comment_end"):
            sign = value[0] if value[0] in "-+" else ""
            closing = value.rstrip() if sign == "-" else value.rstrip("\n")
            named: SegmentKind = "variable" if kind == "variable_end" else "block" if kind == "block_end" else "comment"
            left = opened[0].text.rstrip()[-1:]
            inner = tuple(one for one in opened[1:] if one.kind not in ("whitespace", "comment"))
            first = text.count("\n", 0, opened[0].start) + 1
            yield Segment(
                named, opened[0].start, start + len(closing), first, "", inner, left if left in "-+" else "", sign
            )
        elif kind not in ("raw_begin", "raw_end"):
            opened.append(token)


def _tree(segments: Sequence[Segment], name: str) -> list[Item]:
    top: list[Item] = []
    stack: list[Block] = []
    for segment in segments:
        body = stack[-1].bodies[-1] if stack else top
        if segment.kind != "block":
            body.append(segment)
        elif segment.name in _ENDED or (segment.name == "set" and not _assigns(segment)):
            block = Block([segment])
            body.append(block)
            stack.append(block)
        elif segment.name in _BRANCHES and stack:
            stack[-1].tags.append(segment)
            stack[-1].bodies.append([])
        elif stack and segment.name == f"end{stack[-1].name}":
            stack.pop().tags.append(segment)
        else:
            body.append(segment)
    if stack:
        raise UnsupportedTemplate(name, f"{{% {stack[-1].name} %}} has no end that is seen", stack[-1].tags[0].line)
    return top


def _assigns(segment: Segment) -> bool:
    return any(token.kind == "operator" and token.text == "=" for token in segment.tokens)


def operands(segment: Segment) -> list[Operand]:
    """Return the operands that a variable tag concatenates."""
    return operands_of(segment.tokens)


def operands_of(tokens: Sequence[SourceToken]) -> list[Operand]:
    """Return the operands that an expression concatenates at its top; one operand for any other expression."""
    if not tokens:
        return []
    whole = [Operand(tokens[0].start, tokens[-1].stop, _constant(tokens))]
    depth, first, found = 0, 0, []
    for index, token in enumerate(tokens):
        if token.kind == "operator":
            depth += (token.text in _OPENERS) - (token.text in _CLOSERS)
            if depth == 0 and token.text in "+~":
                found.append(tokens[first:index])
                first = index + 1
            elif depth == 0 and token.text not in ".|" and token.text not in _CLOSERS:
                return whole
        elif depth == 0 and token.kind == "name" and token.text in _OTHER:
            return whole
    found.append(tokens[first:])
    if len(found) == 1 or not all(found):
        return whole
    return [Operand(part[0].start, part[-1].stop, _constant(part)) for part in found]


def _constant(tokens: Sequence[SourceToken]) -> str | None:
    if len(tokens) == 1 and tokens[0].kind == "string":
        return "".join(text for text, _ in _characters(tokens[0].text))
    return None


def _characters(literal: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a string literal, each with the length of its source text."""
    at = 1
    while at < len(literal) - 1:
        size = 1
        if literal[at] == "\\":
            more = {"x": 4, "u": 6, "U": 10}.get(literal[at + 1], 2)
            size = more if more <= len(literal) - 1 - at else 2
        raw = literal[at : at + size]
        yield (raw if size == 1 else raw.encode("ascii", "backslashreplace").decode("unicode-escape")), size
        at += size


def cut_literal(literal: str, offset: int) -> tuple[str, str]:
    """Split a string literal into two after so many characters."""
    at = 1 + sum(size for _, size in list(_characters(literal))[:offset])
    return literal[:at] + literal[0], literal[0] + literal[at:]


def names_set(items: Sequence[Item]) -> set[str]:
    """Return plain names that these statements set for later statements: not those of a namespace, a loop or a
    macro."""
    found: set[str] = set()
    for item in items:
        if isinstance(item, Block):
            if item.name in ("for", "macro", "call", "generation", "filter", "with"):
                continue
            if item.name == "set":
                found.add(item.tags[0].tokens[1].text)
                continue
            for body in item.bodies:
                found |= names_set(body)
        elif item.name == "set" and not item.is_namespace_set:
            before = item.tokens[1 : next(i for i, token in enumerate(item.tokens) if token.text == "=")]
            found |= {token.text for token in before if token.kind == "name"}
    return found
