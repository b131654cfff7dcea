"""Make one class of several short ones: those of which a parser is one, each the base of the next.

    class Slots(TurnStates): …                     class Machine(TurnStates): …
    class Machine(Slots): …                   →    class StreamParser(Machine): …
    class TaggedCalls(Machine): …
    class StreamParser(TaggedCalls): …

A class joins the one that is derived from it if both together are short enough, and no method of the latter refers to
one of the former that it overrides.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tplc.backends.python.definitions import Fragment
from tplc.backends.python.nodes import defined_names

LONGEST_CLASS = 350
PARSER = "StreamParser"
HEADING = "    # From here on, the class is the same in parsers of other formats."


@dataclass(frozen=True, slots=True)
class ClassMember:
    """An attribute or a method of a class, with the comments and empty lines above it."""

    name: str
    lines: tuple[str, ...]
    is_method: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Classes that become one, which has the name of the longest of them."""

    names: tuple[str, ...]  # the derived ones first
    members: tuple[ClassMember, ...]  # those of the bases first

    @property
    def size(self) -> int:
        """Return the size in lines, which doesn't depend on the texts of markers: tables of them count alike."""
        return sum(len(member.lines) if member.is_method else 1 for member in self.members)


def groups(
    line: Iterable[tuple[str, Sequence[ClassMember]]], own: Sequence[ClassMember], refers: Collection[tuple[str, str]]
) -> Iterator[Joined]:
    """Yield the classes that become one.

    `line` has the bases of the parser, the nearest first; `own` are its own members; `refers` contains the pairs of
    classes of which the first refers to a member of the second.
    """
    group = Joined((PARSER,), tuple(own))
    for name, of_base in line:
        known = {member.name for member in group.members}
        members = (*(member for member in of_base if member.name not in known), *group.members)
        joined = Joined((*group.names, name), members)
        if joined.size > LONGEST_CLASS or any((other, name) in refers for other in group.names):
            yield group
            joined = Joined((name,), tuple(of_base))
        group = joined
    yield group


def member_of(part: Fragment) -> ClassMember:
    """Return a part of a class as a member that may follow others: an empty line is above each method."""
    lines = part.code.lines
    apart = part.is_method and lines[0] != ""
    return ClassMember(part.member, ("",) * apart + lines, part.is_method)


def members_of_parser(code: Sequence[str], parser: ast.ClassDef) -> list[ClassMember]:
    """Return the members of the parser itself, with all lines of the class."""
    found, start = [], parser.lineno
    for item in parser.body:
        stop = item.end_lineno or item.lineno
        names = defined_names(item)
        if names:
            found.append(ClassMember(names[0], tuple(code[start:stop]), isinstance(item, ast.FunctionDef)))
            start = stop
    return found


def with_bases(code: Sequence[str], parser: ast.ClassDef, group: Joined, base: str) -> list[str]:
    """Return the lines of the parser with the members of the bases that joined it."""
    own = {name for item in parser.body for name in defined_names(item)}
    members = [member for member in group.members if member.name not in own]
    first = next(item for item in parser.body if isinstance(item, ast.FunctionDef)).lineno - 2
    start, stop = parser.lineno - 1, parser.end_lineno or parser.lineno
    attributes, methods = _by_kind(members)
    more = ["", HEADING, *methods] if methods else []
    heading = [f"class {PARSER}({base}):", *code[start + 1 : first]]
    return [*code[:start], *heading, *attributes, *code[first:stop], *more, *code[stop:]]


def class_of(group: Joined, name: str, base: str) -> str:
    attributes, methods = _by_kind(group.members)
    if not attributes:
        methods = methods[1:]  # without the empty line above the first
    return "\n".join([f"class {name}({base}):", *attributes, *methods])


def _by_kind(members: Iterable[ClassMember]) -> tuple[list[str], list[str]]:
    members = [*members]
    attributes = [line for member in members if not member.is_method for line in member.lines]
    return attributes, [line for member in members if member.is_method for line in member.lines]


def parser_in(tree: ast.Module) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == PARSER)
