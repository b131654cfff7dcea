"""Check a generated parser before it is written: it compiles, and does nothing but parse.

Only modules of an allow-list are imported, and no name that could run text or reach the system is used.
"""

from __future__ import annotations

import ast

from tplc.errors import TplcError

MODULES = frozenset(
    ["__future__", "argparse", "collections", "collections.abc", "json", "re", "sys", "typing"],
)
FORBIDDEN = frozenset(
    """eval exec compile __import__ globals locals vars input breakpoint memoryview delattr
    __builtins__ __loader__ __spec__ exit quit""".split()
)
PRIVATE = frozenset(["__class__", "__dict__", "__doc__", "__name__", "__new__", "__init__"])
COMMAND_ONLY = frozenset(["open", "print"])


class BadArtifact(TplcError):
    """A generated parser that must not be written: a mistake of the compiler."""


def audit(text: str) -> None:
    try:
        tree = ast.parse(text)
        compile(text, "parser.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise BadArtifact(f"the generated parser is not Python: {error}") from error
    command = {
        id(node)
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name == "run_command"
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        for name in _imported(node):
            if name not in MODULES:
                raise BadArtifact(f"the generated parser imports {name} (line {node.lineno})")  # type: ignore[attr-defined]
        if isinstance(node, ast.Name):
            if node.id in FORBIDDEN or (node.id in COMMAND_ONLY and id(node) not in command):
                raise BadArtifact(f"the generated parser uses {node.id} (line {node.lineno})")
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr not in PRIVATE:
            raise BadArtifact(f"the generated parser uses .{node.attr} (line {node.lineno})")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return []
