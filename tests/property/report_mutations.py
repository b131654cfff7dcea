"""How many mutations of the templates in ../shared compile verified, by kind: `make mutations`.

    python -m tests.property.report_mutations [--every N] [--kind WORD] [--seed N] [--processes N] [--verbose]

It is unknown in advance which mutations make a format ambiguous, so the rates of "drop" and "swap" have no aim.
A refusal without a cause is a defect in each case.  A mutation that verifies reads messages that plain Jinja renders;
if one comes back differently, the mutation is verified but wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.coverage_report import read_index
from tests.independent import TOKENS
from tests.parser_cache import read_source
from tests.property.mutated import KINDS, Mutation, mutations
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.errors import InvalidIR, TplcError


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    kind: str
    verified: bool
    reported: str
    wrong: tuple[str, ...] = ()  # messages that a verified parser reads otherwise

    @property
    def group(self) -> str:
        if self.wrong:
            return "verified but wrong"
        return "verified" if self.verified else "refused with a cause" if self.reported else "failed without a cause"


def compile_mutation(name: str, mutation: Mutation) -> Outcome:
    try:
        ir = compile_template(mutation.source, name=name, special_tokens=TOKENS)
    except InvalidIR as error:
        print(f"{name} ({mutation.kind}): {error}", file=sys.stderr)
        return Outcome(name, mutation.kind, False, "")
    except TplcError as error:
        return Outcome(name, mutation.kind, False, str(error))
    reported = next((line for line in ir.verification.failures if line.startswith("cause: ")), "")
    wrong, limited = read_back(mutation.source, ir) if ir.verification.verified else ((), ())
    return Outcome(name, mutation.kind, ir.verification.verified, reported, (*wrong, *limited))


def compile_mutations(name: str, seed: int, kind: str) -> list[Outcome]:
    made = mutations(read_source(name), random.Random(f"{seed} {name}"))
    return [compile_mutation(name, mutation) for mutation in made if kind in mutation.kind]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile templates with other marks.")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--kind", default="", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="every mutation that does not verify")
    options = parser.parse_args(arguments)
    names = [entry.name for entry in read_index()][options.start :: options.every]
    with ProcessPoolExecutor(options.processes) as pool:
        futures = [pool.submit(compile_mutations, name, options.seed, options.kind) for name in names]
        outcomes = [outcome for future in futures for outcome in future.result()]
    for outcome in outcomes:
        if options.verbose and not outcome.verified:
            print(f"{outcome.name} ({outcome.kind}): {outcome.reported[:300] or 'NO CAUSE TOLD'}")
        if options.verbose and outcome.wrong:
            print(f"{outcome.name} ({outcome.kind}): WRONG {outcome.wrong[0][:500]}")
    print(table(outcomes))
    return 0


def table(outcomes: Iterable[Outcome]) -> str:
    outcomes = list(outcomes)
    good = Counter(outcome.kind for outcome in outcomes if outcome.verified)
    groups = Counter(outcome.group for outcome in outcomes)
    wrong = Counter(outcome.kind for outcome in outcomes if outcome.wrong)
    lines = [
        f"{kind:<12} {good[kind]:>4} of {count}" + f", {wrong[kind]} of them wrong" * bool(wrong[kind])
        for kind, count in Counter(o.kind for o in outcomes).items()
    ]
    reported = ", ".join(f"{count} {group}" for group, count in sorted(groups.items(), reverse=True))
    return "\n".join([*lines, f"all: {reported or 'none'} of {len(outcomes)}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
