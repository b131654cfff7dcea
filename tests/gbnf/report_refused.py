"""Count the templates whose grammars don't accept what the template writes.

    python -m tests.gbnf.report_refused FOLDER… [--only WORD] [--processes N]

Each template is compiled with the check that `tplc compile -t gbnf` makes: all plain turns with calls that come back.
A template whose values no grammar can express is counted by itself.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.independent import TOKENS
from tplc.driver import compile_template
from tplc.errors import TplcError, UnsupportedTemplate
from tplc.ir.escaped import refuse_values


def check(path: Path) -> tuple[str, str]:
    """Return the outcome for a template, and the turn that its grammars refuse."""
    try:
        ir = compile_template(path.read_text(encoding="utf-8"), name=path.stem, special_tokens=TOKENS, target="json")
    except TplcError:
        return "not learned", ""
    if not ir.verification.verified:
        return "not verified", ""
    if ir.tools.format == "none":
        return "without calls", ""
    try:
        refuse_values(ir, "a grammar")
    except UnsupportedTemplate:
        return "not expressible", ""
    refused = ir.verification.refused_by_grammars
    return ("refused", refused) if refused else ("accepted", "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Grammars that refuse what their template writes.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    paths = [path for folder in options.folders for path in sorted(folder.glob("*.jinja")) if options.only in path.stem]
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        for path, (outcome, why) in zip(paths, pool.map(check, paths), strict=True):
            counts[outcome] += 1
            if why:
                print(f"{path.stem}: {why[:300]}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) + f" of {len(paths)}")
    return 1 if counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
