"""Show which parts of parsers have how many lines: `python -m benchmarks.size [EXAMPLE …]`.

A part is a file of the runtime, or what the compiler prints for the format: markers, states, `feed`.  For each
standalone parser, its lines with comments, docstrings and empty lines, and how many of them these are.  `--why` prints
a Markdown table with the reason for each part.
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
from tplc.backends.python.definitions import source
from tplc.backends.python.embed import FILES
from tplc.backends.python.merge import PARSER, parser_in
from tplc.backends.python.nodes import defined_names

HEADER, MARKERS, STATES, SHARED = "(header, types, constants)", "(markers)", "(states and feed)", "(shared form)"
COMMENTS, TOTAL = "(comments, docstrings, empty lines)", "all"

OF_WHY = ("plain-chat", "tagged-json", "keyword-calls")  # the examples that the reasons are shown for
REASONS = {
    HEADER: "types of the public API, and what a server reads: stop texts, tokens, prompts",
    MARKERS: "a scanner for each place, because other markers count there, with the patterns that the compiler made",
    STATES: "the states of the format, and the check that lets `feed` pass on most chunks",
    "message": "diagnostics, as tuples with names; errors about arguments that aren't text",
    "pattern": "patterns are compiled at their first use, so that an import is fast",
    "scanner": "the leftmost and longest marker; whether a text may become one; markers in another spelling",
    "schema": "types, unions and references of JSON Schema; the tool that a name means; arguments that it refuses",
    "values": "JSON and Python literals in chunks, with repairs; regular text in larger steps, which is faster",
    "second": "failed calls, read as a whole: in another notation, wrapped, fenced, escaped twice, without a brace",
    "markerlike": "the report about leftover text that is like a marker",
    "fence": "`json_content`, in chunks",
    "transcript": "deltas, the message, and what of them a prompt has already",
    "heads": "which part of an answer the prompt contains",
    "stream": "the buffer and its offsets; a chunk that only continues a text needs no state",
    "texts": "`parse` and `parse_many`; copies",
    "places": "markers that count in some places only: at a line's start, at the end, where a whole call follows",
    "turn": "text up to a marker, and what the marker does; an output that ends inside of a marker",
    "slots": "names and ids up to the marker that ends them, also names that contain such a marker",
    "arguments": "arguments that are passed on in chunks, repaired, and checked by the schema",
    "machine": "what opens and closes a call, and what may follow it; repeated and missing pieces",
    "unopened": "calls of known tools before any content that no marker opens, also in a fence or tags",
    "whole": "a call whose opener is like any text, which counts only as a whole",
    "repairs": "headers in another form, brackets left over, closers with other brackets",
    "objects": "arguments that are one object, also in a fence, in a string, or in another form",
    "callobjects": "calls that are objects: fields in any order, wrapped, next to the name; the usual order at once",
    "pairs": "keys and values; a key without its opener, text that is no pair",
    "raw": "values without quotes: where they end, what they are according to the schema",
    "command": "the command line",
}


def files_of_names(parser: str) -> dict[str, str]:
    """Return the runtime's file of each definition, and of each member of a parser's class or of one of its bases.

    `parser`: the parser with a shared runtime, which names the bases."""
    files: dict[str, str] = {}
    classes: dict[str, ast.ClassDef] = {}
    for file in FILES:
        for node in ast.parse(source(file)).body:
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


def reasons(examples: Sequence[str] = OF_WHY) -> list[str]:
    """Return a Markdown table: for each part of these parsers its lines, and why they are needed."""
    found = [lines_by_part(parser_of(one), files_of_names(generate(ir_of(one), runtime="shared"))) for one in examples]
    rows = [["part", *examples, "for"], ["---", *["---:"] * len(examples), "---"]]
    rows += [
        [part, *(str(counted[part] or "") for counted in found), REASONS[part]]
        for part in (HEADER, MARKERS, STATES, *FILES)
        if any(counted[part] for counted in found)
    ]
    rows += [[name, *(str(counted[name]) for counted in found), ""] for name in (TOTAL, COMMENTS)]
    return [f"| {' | '.join(row)} |" for row in rows]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    options.add_argument("examples", nargs="*", metavar="EXAMPLE")
    options.add_argument("--why", action="store_true", help="print the reason for each part")
    given = options.parse_args()
    if given.why:
        print("\n".join(reasons(given.examples or OF_WHY)))
    else:
        Console(width=160).print(table(given.examples or EXAMPLES))


if __name__ == "__main__":
    main()
