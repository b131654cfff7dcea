"""The nodes of a parse tree, and how to find those that capture something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Optional, Protocol


class Node(Protocol):
    """The attributes of a node that the mapper uses."""

    expr_name: str
    full_text: str
    start: int
    end: int

    @property
    def children(self) -> Sequence[Any]: ...


def kind_of(node: Node) -> str:
    return node.expr_name.partition("_for_")[0]


def captures(node: Node, *kinds: str) -> Iterator[Node]:
    """Yield the outermost nodes of these kinds below `node`, in the order of the text."""
    waiting = list(reversed(node.children))
    while waiting:
        found = waiting.pop()
        if kind_of(found) in kinds:
            yield found
        else:
            waiting += reversed(found.children)


def first(node: Node, *kinds: str) -> Optional[Node]:
    return next(captures(node, *kinds), None)
