"""How many chat templates of wild design compile verified, by kind: `make random-wild`.

    python -m tests.property.report_wild [--first N] [--count N] [--kept] [--processes N] [--verbose]

`--kept` takes the 200 seeds that no fix is made for.  A failure that tells no cause is counted by itself: it is a
defect whatever the design.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.property.wild_design import wild_template
from tplc.driver import compile_template
from tplc.errors import InvalidIR, TplcError

KEPT = range(10_000, 10_200)


@dataclass(frozen=True, slots=True)
class Outcome:
    seed: int
    kinds: tuple[str, ...]
    ambiguous: str
    verified: bool
    told: str  # the cause or refusal that is told; "" for none

    @property
    def group(self) -> str:
        return "verified" if self.verified else "refused with a cause" if self.told else "failed without a cause"


def compile_wild(seed: int) -> Outcome:
    template = wild_template(seed)
    told = ""
    try:
        result = compile_template(template.source, name=f"wild-{seed}.jinja").verification
        verified = result.verified
        told = next((line for line in result.failures if line.startswith("cause: ")), "")
    except InvalidIR as error:
        verified = False
        print(f"seed {seed}: {error}", file=sys.stderr)
    except TplcError as error:
        verified, told = False, str(error)
    return Outcome(seed, template.kinds, template.ambiguous, verified, told)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile chat templates of wild design.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kept", action="store_true", help="the 200 seeds that no fix is made for")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="every template that does not verify")
    options = parser.parse_args(arguments)
    seeds = KEPT if options.kept else range(options.first, options.first + options.count)
    with ProcessPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(compile_wild, seeds, chunksize=4))
    for outcome in outcomes:
        if options.verbose and not outcome.verified:
            print(f"seed {outcome.seed}: {' + '.join(outcome.kinds)}: {outcome.told[:300] or 'NO CAUSE TOLD'}")
    print(table(outcomes))
    return 0


def table(outcomes: Iterable[Outcome]) -> str:
    outcomes = list(outcomes)
    kinds = Counter(kind for outcome in outcomes for kind in outcome.kinds)
    good = Counter(kind for outcome in outcomes if outcome.verified for kind in outcome.kinds)
    lines = [f"{kind:<32} {good[kind]:>4} of {kinds[kind]}" for kind in sorted(kinds)]
    for ambiguous in (False, True):
        groups = Counter(outcome.group for outcome in outcomes if bool(outcome.ambiguous) == ambiguous)
        told = ", ".join(f"{count} {group}" for group, count in sorted(groups.items(), reverse=True))
        lines.append(f"{'ambiguous' if ambiguous else 'unambiguous'}: {told or 'none'} of {sum(groups.values())}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
