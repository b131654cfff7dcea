"""How many chat templates of random design compile verified: `make random`.

    python -m tests.property.report_random [--first N] [--count N] [--processes N]

Exit code 1 when an unambiguous template does not verify, or an ambiguous one is not reported as such.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.property.random_templates import random_template
from tplc.driver import compile_template
from tplc.errors import InvalidIR, TplcError


@dataclass(frozen=True, slots=True)
class Outcome:
    seed: int
    ambiguous: bool
    summary: str
    verified: bool
    reported: str  # the reported ambiguity, failure or refusal; "" for none

    @property
    def right(self) -> bool:
        """Return whether a template is verified; an ambiguous one may also be refused, or fail, with the reason."""
        return self.verified or (self.ambiguous and bool(self.reported))


def compile_random(seed: int) -> Outcome:
    template = random_template(seed)
    try:
        result = compile_template(template.source, name=f"random-{seed}.jinja").verification
    except InvalidIR:
        raise
    except TplcError as error:
        return Outcome(seed, template.ambiguous, template.summary, False, str(error))
    reported = [*result.failures[:1], *(ambiguity.kind for ambiguity in result.ambiguities)]
    return Outcome(seed, template.ambiguous, template.summary, result.verified, reported[0] if reported else "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile chat templates of random design.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(compile_random, range(options.first, options.first + options.count)))
    for outcome in outcomes:
        if not outcome.right:
            print(f"seed {outcome.seed}: {outcome.summary}\n    {outcome.reported[:300]}")
    counts = Counter((outcome.ambiguous, outcome.verified) for outcome in outcomes)
    print(f"unambiguous: {counts[False, True]} of {counts[False, True] + counts[False, False]} verified")
    print(f"ambiguous: {counts[True, True]} verified, {counts[True, False]} refused with the reason")
    return 0 if all(outcome.right for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
