"""How much of JSON Schema the grammars say: the official test suite, run through an engine.

    python -m tests.gbnf.schema_suite build/schema-suite [--verbose]

A schema is right when every valid instance is accepted and every invalid one refused.  The suite comes inside the
source distribution of the package `jsonschema`; `make schema-suite` fetches it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.gbnf.engine import INSTALLED, accepts, refused
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import NothingAllowed, grammar

DRAFT = "json/tests/draft2020-12"
# What others get wholly right of the same suite, as measured elsewhere.
OTHERS = {"llama.cpp": 30, "xgrammar": 39, "llguidance": 39}


def groups(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    root = next(folder.glob(f"**/{DRAFT}"))
    for path in sorted(root.glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            yield path.stem, group


def run(folder: Path, *, verbose: bool = False) -> Counter[str]:
    tally: Counter[str] = Counter()
    for name, group in groups(folder):
        tally["schemas"] += 1
        tally["right" if _is_right(name, group, tally, verbose=verbose) else "not right"] += 1
    return tally


def _is_right(name: str, group: dict[str, Any], tally: Counter[str], *, verbose: bool) -> bool:
    try:
        # The suite takes "format" for a remark, and says nothing of the order of properties.
        made = grammar(SMALL["plain"], json_schema=group["schema"], any_order=True, formats=False)
    except NothingAllowed:
        return not any(test["valid"] for test in group["tests"])
    assert refused(made.text) is None
    listed = any(entry.effect == "looser" for entry in made.not_expressed)
    right = True
    for test in group["tests"]:
        text = json.dumps(test["data"], ensure_ascii=False)
        if accepts(made.text, text) is test["valid"]:
            continue
        right = False
        kind = "valid, refused" if test["valid"] else f"invalid, accepted, {'listed' if listed else 'NOT LISTED'}"
        tally[kind] += 1
        if verbose:
            print(f"{kind}: {name}: {group['description']}: {test['description']}: {text}")
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description="the JSON Schema test suite against grammars")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not INSTALLED:
        print("xgrammar is not installed: make setup installs it", file=sys.stderr)
        return 2
    tally = run(options.folder, verbose=options.verbose)
    share = 100 * tally["right"] / tally["schemas"]
    print(f"schemas wholly right: {tally['right']} of {tally['schemas']} ({share:.1f}%)")
    print("others, same suite: " + ", ".join(f"{name} {share}%" for name, share in OTHERS.items()))
    for kind in ("invalid, accepted, NOT LISTED", "invalid, accepted, listed", "valid, refused"):
        print(f"instances {kind}: {tally[kind]}")
    return 1 if tally["invalid, accepted, NOT LISTED"] else 0


if __name__ == "__main__":
    sys.exit(main())
