"""Make bases of a parser's class a part of it, as long as the class stays short.

class TurnStates: …                     class StreamParser:
class StreamParser(TurnStates): …   →       …
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_CLASS = 350
HEADING = "    # From here on, the class is the same in parsers of other formats."


@dataclass(frozen=True, slots=True)
class ClassMember:
    """An attribute or a method of a base, with the comments and empty lines above it."""

    name: str
    lines: tuple[str, ...]
    is_method: bool


def merge(
    code: Sequence[str], bases: Iterable[tuple[str, Sequence[ClassMember]]], root: str
) -> tuple[list[str], list[str]]:
    """Return the lines of the parser with the members of its nearest bases, and the names of these bases.

    `bases` are the candidates, the nearest first; `root` is the base of the last of them.
    """
    tree = ast.parse("\n".join(code))
    parser = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "StreamParser")
    own = {name for item in parser.body for name in _names(item)}
    merged: list[str] = []
    members: list[ClassMember] = []
    start, stop = parser.lineno - 1, parser.end_lineno or parser.lineno
    for name, of_base in bases:
        more = [member for member in of_base if member.name not in own]
        if stop - start + sum(len(member.lines) for member in (*more, *members)) + 2 > LONGEST_CLASS:
            root = name
            break
        own.update(member.name for member in more)
        members = [*more, *members]
        merged.append(name)
    if not merged:
        return [*code], []
    first = next(item for item in parser.body if isinstance(item, ast.FunctionDef)).lineno - 2
    attributes = [line for member in members if not member.is_method for line in member.lines]
    methods = [line for member in members if member.is_method for line in member.lines]
    heading = [f"class StreamParser({root}):", *code[start + 1 : first]]
    return [*code[:start], *heading, *attributes, *code[first:stop], "", HEADING, *methods, *code[stop:]], merged


def _names(item: ast.stmt) -> list[str]:
    if isinstance(item, ast.FunctionDef):
        return [item.name]
    targets = item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
