"""Walk syntax trees of Python, and name what statements define."""

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


def defined_names(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that a statement defines: of a class, a function, or variables."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return (node.name,)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return (node.target.id,)
    if isinstance(node, ast.Assign):
        return tuple(item.id for target in node.targets for item in ast.walk(target) if isinstance(item, ast.Name))
    return ()
