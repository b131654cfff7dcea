"""Chat templates written by hand, in the ways authors write them: macros, tool loops, old reasoning left out, content
in parts, a system message in the first question, ids, results by name.

    python -m tests.property.report_authored [--only WORD] [--processes N]

Each verifies, all messages come back from plain Jinja's renders, whole, in chunks and by the PEG, and grammars accept
its turns; or it is refused, with a cause.  Those of tests/cases/invertible are of the same kind: each of them shows one
construction.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.conftest import ROOT
from tests.independent import TOKENS
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.errors import TplcError

FOLDER = ROOT / "tests" / "cases" / "authored"


def check(path: Path) -> tuple[str, str]:
    """Return "verified", "refused" or "wrong", and the cause of the refusal or the first wrong message."""
    source = path.read_text(encoding="utf-8")
    try:
        ir = compile_template(source, name=path.stem, special_tokens=TOKENS)
    except TplcError as error:
        return "refused", str(error).splitlines()[0]
    if not ir.verification.verified:
        return "refused", ir.verification.failures[0]
    if ir.verification.refused_by_grammars:
        return "wrong", f"grammars refuse {ir.verification.refused_by_grammars!r}"
    wrong, limited = read_back(source, ir, readers=True)
    return ("wrong", (wrong + limited)[0]) if wrong or limited else ("verified", "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Chat templates written by hand.")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    paths = sorted(path for path in FOLDER.glob("*.jinja") if options.only in path.stem)
    with ProcessPoolExecutor(options.processes) as pool:
        found = list(pool.map(check, paths))
    for path, (outcome, why) in zip(paths, found, strict=True):
        if outcome != "verified":
            print(f"{path.stem}: {outcome}: {why[:300]}")
    counts = {outcome: sum(one == outcome for one, _ in found) for outcome in ("verified", "refused", "wrong")}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + f" of {len(paths)}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
