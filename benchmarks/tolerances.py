"""What tolerances cost in lines of a generated parser: `python -m benchmarks.tolerances`.

A row for each format: the lines with all tolerances and with none, and how many fewer each has if it alone is off.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks.against import EXAMPLES
from benchmarks.outputs import ir_of
from tplc.backends.python import generate
from tplc.ir.nodes import ALWAYS_ACCEPTED, GENERAL_TOLERANCES, Tolerance
from tplc.ir.tolerances import apply_tolerances

SWITCHES = [kind for kind in GENERAL_TOLERANCES if kind not in ALWAYS_ACCEPTED]


def lines(example: str, off: list[str]) -> int:
    """Return the lines of a parser in which these tolerances are off."""
    return generate(apply_tolerances(ir_of(example), [Tolerance(kind, enabled=False) for kind in off])).count("\n")


def main() -> None:
    table = Table("parser", "all", "none", "lines fewer if one is off")
    for example in EXAMPLES:
        every = lines(example, [])
        alone = {kind: every - lines(example, [kind]) for kind in SWITCHES}
        most = sorted(((kind, cost) for kind, cost in alone.items() if cost > 0), key=lambda item: -item[1])
        table.add_row(
            example, str(every), str(lines(example, SWITCHES)), ", ".join(f"{kind} {cost}" for kind, cost in most)
        )
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
