"""Walk syntax trees of Python, and name what statements define."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Fields that hold a text, a number, or a node that only says which operator it is, or whether a name is read.
_WITHOUT_NODES = frozenset(
    ["arg", "attr", "ctx", "id", "is_async", "kind", "level", "module", "name", "op", "ops", "simple", "type_comment"]
)
_FIELDS = {
    kind: tuple(field for field in kind._fields if field not in _WITHOUT_NODES and kind is not ast.Constant)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes inside it, each before its own, in no other order.  Operators, and nodes that say
    whether a name is read or written, are left out: they are half of all, and `ast.walk` takes twice as long."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in _FIELDS[type(node)]:
            value = getattr(node, field, None)
            if isinstance(value, list):
                left += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
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
