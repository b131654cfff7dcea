"""Walking syntax trees of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVES = frozenset([ast.Name, ast.Constant])


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes inside it, each before its own, in no other order.  Nodes that say whether a name is
    read or written are left out: they are a third of all, and `ast.walk` takes twice as long."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if type(node) in _LEAVES:
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                left += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and field != "ctx":
                left.append(value)
