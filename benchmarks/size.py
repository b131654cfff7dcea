"""Show which parts of parsers have how many lines: `python -m benchmarks.size [EXAMPLE …]`.

A part is a file of the runtime, or what the compiler prints for the format: markers, states, `feed`.  For each
standalone parser, its lines with comments, docstrings and empty lines, and how many of them these are.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.against import EXAMPLES
from benchmarks.outputs import ir_of, parser_of
from tplc.backends.python import generate
from tplc.backends.python.definitions import tree
from tplc.backends.python.embed import FILES
from tplc.backends.python.merge import PARSER, parser_in
from tplc.backends.python.nodes import defined_names

HEADER, MARKERS, STATES, SHARED = "(header, types, constants)", "(markers)", "(states and feed)", "(shared form)"
COMMENTS, TOTAL = "(comments, docstrings, empty lines)", "all"


def files_of_names(parser: str) -> dict[str, str]:
    """Return the runtime's file of each definition, and of each member of a parser's class or of one of its bases.

    `parser`: the parser with a shared runtime, which names the bases."""
    files: dict[str, str] = {}
    classes: dict[str, ast.ClassDef] = {}
    for file in FILES:
        for node in tree(file).body:
            files.update(dict.fromkeys(defined_names(node), file))
            if isinstance(node, ast.ClassDef):
                classes[node.name] = node
                files.update({f"{node.name}.{name}": file for item in node.body for name in defined_names(item)})
    line = [parser_in(ast.parse(parser))]
    for node in line:
        for item in node.body:
            for name in defined_names(item):
                # Classes of this line may have been joined under the name of any of them.
                files.setdefault(f".{name}", files.get(node.name, _printed(item)))
        line += [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return {**files, PARSER: MARKERS, **{node.name: "." for node in line[1:]}}


def _printed(item: ast.stmt) -> str:
    return STATES if isinstance(item, ast.FunctionDef) else MARKERS


def lines_by_part(source: str, files: dict[str, str]) -> Counter[str]:
    """Return how many lines of a standalone parser each part has; lines above a definition belong to it."""
    found: Counter[str] = Counter()
    before = 0
    for end, part in _parts(ast.parse(source), files):
        found[part] += end - before
        before = end
    found[COMMENTS] = _uncoded(source)
    found[TOTAL] = source.count("\n")
    return found


def _parts(module: ast.Module, files: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the last line of each definition and member, with the part that it belongs to."""
    for node in module.body:
        names = defined_names(node)
        part = files.get(names[0], HEADER) if names else HEADER
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                member = next(iter(defined_names(item)), "")
                of_class = f".{member}" if part in (".", MARKERS) else f"{node.name}.{member}"
                yield item.end_lineno or item.lineno, files.get(of_class, MARKERS if part == "." else part)
        else:
            yield node.end_lineno or node.lineno, part


def _uncoded(source: str) -> int:
    """Return how many lines are comments, docstrings, or empty."""
    coded: set[int] = set()
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            continue
        starts = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type not in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            if not (token.type == tokenize.STRING and starts):
                coded.update(range(token.start[0], token.end[0] + 1))
        before = token.type
    return source.count("\n") - len(coded)


def table(examples: Sequence[str]) -> Table:
    found = {}
    for example in examples:
        shared = generate(ir_of(example), runtime="shared")
        found[example] = lines_by_part(parser_of(example), files_of_names(shared))
        found[example][SHARED] = shared.count("\n")
    shown = Table("part", *examples)
    for part in (HEADER, MARKERS, STATES, *FILES, TOTAL, COMMENTS, SHARED):
        if any(counted[part] for counted in found.values()):
            shown.add_row(part, *(str(counted[part] or "") for counted in found.values()))
    return shown


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    options.add_argument("examples", nargs="*", default=[*EXAMPLES], metavar="EXAMPLE")
    Console(width=160).print(table(options.parse_args().examples))


if __name__ == "__main__":
    main()
