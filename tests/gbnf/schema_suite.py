"""Measure how much of JSON Schema grammars express: the official test suite, run through an engine.

    python -m tests.gbnf.schema_suite build/schema-suite [--verbose]

A schema is right when every valid instance is accepted and every invalid one refused.  The suite takes "format" for a
remark, and says nothing of the order of properties; the default options do otherwise, so they have a line of their own.
It comes inside the source distribution of the package `jsonschema`; `make schema-suite` fetches it.
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

FOLDER = "json/tests"
# The last is the one by which others were measured.
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
AS_THE_SUITE = {"any_order": True, "formats": False}
# What others get wholly right of the same suite, as measured elsewhere.
OTHERS = {"llama.cpp": 30, "xgrammar": 39, "llguidance": 39}
NOT_LISTED = "invalid, accepted, NOT LISTED"


def groups(folder: Path, draft: str) -> Iterator[tuple[str, dict[str, Any]]]:
    root = next(folder.glob(f"**/{FOLDER}/{draft}"))
    for path in sorted(root.glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            yield path.stem, group


def run(folder: Path, draft: str, options: dict[str, bool], *, verbose: bool = False) -> Counter[str]:
    tally: Counter[str] = Counter()
    for name, group in groups(folder, draft):
        tally["schemas"] += 1
        tally["right"] += _is_right(f"{draft}: {name}", group, options, tally, verbose=verbose)
    return tally


def _is_right(
    name: str, group: dict[str, Any], options: dict[str, bool], tally: Counter[str], *, verbose: bool
) -> bool:
    try:
        made = grammar(SMALL["plain"], json_schema=group["schema"], **options)
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
        kind = "valid, refused" if test["valid"] else "invalid, accepted, listed" if listed else NOT_LISTED
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
    unlisted = 0
    for draft in DRAFTS:
        for how, chosen in (("as the suite reads them", AS_THE_SUITE), ("default options", {})):
            tally = run(options.folder, draft, chosen, verbose=options.verbose)
            share = 100 * tally["right"] / tally["schemas"]
            print(f"{draft}, {how}: schemas wholly right: {tally['right']} of {tally['schemas']} ({share:.1f}%)")
            kinds = (NOT_LISTED, "invalid, accepted, listed", "valid, refused")
            print("    instances " + "; ".join(f"{kind}: {tally[kind]}" for kind in kinds))
            unlisted += tally[NOT_LISTED]
    print(f"others, {DRAFTS[-1]}: " + ", ".join(f"{name} {share}%" for name, share in OTHERS.items()))
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
