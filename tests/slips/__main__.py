"""Measure what becomes of slips, by kind and by template: `make slips`.

    python -m tests.slips [--kinds LIST] [--only WORD] [--kind WORD] [--every N] [--two] [--unended] [--without-tools]
        [--show OUTCOME] [--authored] [--designs N --first N] [--json FILE]

Right answers of the templates in ../shared (each format once) and of all examples, each with one slip that a reader
can undo; with --two, two slips that do not touch each other; with --unended, outputs without the turn's end, as
servers return them; with --without-tools, parsers don't know the tools, and can't correct names. There are two lists
of kinds: issue (tests/slips/kinds.py) and further (tests/slips/further), which is harsher. With --authored, the
templates in tests/cases/authored and invertible instead, with --designs those of wild design: the tolerances weren't
made with these, so a kind that is much worse there depends on the formats that were shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial

from tests.conftest import SHARED
from tests.example_case import load_examples
from tests.fuzz.formats import ir_of
from tests.independent import TOKENS
from tests.parser_cache import learn, learn_text
from tests.property.report_authored import FOLDER
from tests.property.wild_design import wild_template
from tests.slips.measure import LISTS, OUTCOMES, Result, results, with_tokens
from tplc.driver import generate, tolerate
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

EXAMPLE, AUTHORED, DESIGN = "example ", "authored ", "design "


def templates() -> list[str]:
    """Return the examples, and the templates in ../shared."""
    names = [EXAMPLE + example.name for example in load_examples()]
    for folder in (SHARED / "templates", SHARED / "more" / "templates"):
        names += [path.stem for path in sorted(folder.glob("*.jinja"))]
    return names


def authored() -> list[str]:
    folders = (FOLDER, FOLDER.parent / "invertible")
    return [AUTHORED + f"{folder.name}/{path.stem}" for folder in folders for path in sorted(folder.glob("*.jinja"))]


def _format(name: str) -> TemplateIR:
    _, _, rest = name.partition(" ")
    if name.startswith(EXAMPLE):
        return ir_of(next(one for one in load_examples() if one.name == rest))
    if name.startswith(AUTHORED):
        return tolerate(
            learn_text(rest.replace("/", "-"), (FOLDER.parent / f"{rest}.jinja").read_text("utf-8"), TOKENS)
        )
    if name.startswith(DESIGN):
        return tolerate(learn_text(f"wild-{rest}", wild_template(int(rest)).source, TOKENS))
    return tolerate(learn(name))


def of_template(
    name: str, *, which: str, kinds: tuple[str, ...], two: int, unended: bool, without_tools: bool = False
) -> tuple[str, list[Result]]:
    """Return the results, and a text that is the same for templates of one format."""
    try:
        ir = with_tokens(_format(name))
        parser = load_module(generate(ir, "python"))
    except TplcError:
        return name, []
    return repr((ir.turn, ir.reasoning, ir.content, ir.tools)), results(
        name, ir, parser, which=which, kinds=kinds, two=two, unended=unended, without_tools=without_tools
    )


def table(found: Sequence[Result], by: str) -> str:
    heads = (*OUTCOMES, "silently", "complete", "as written", "flagged", "leaked silently", "raised", "chunked", "of")
    lines = [f"{'':<44}" + "".join(f"{head:>{max(9, len(head) + 2)}}" for head in heads)]
    groups: dict[str, list[Result]] = {}
    for result in found:
        groups.setdefault(getattr(result, by), []).append(result)
    share = lambda item: sum(r.outcome == "recovered" for r in item[1]) / len(item[1])  # noqa: E731
    for name, members in [*sorted(groups.items(), key=share), ("all", list(found))]:
        counts = [*(Counter(r.outcome for r in members)[outcome] for outcome in OUTCOMES)]
        counts += [sum(r.outcome == "altered" and r.silent for r in members), sum(r.complete for r in members)]
        counts += [sum(r.written for r in members), sum(r.flagged for r in members)]
        counts += [sum(r.outcome == "leaked" and r.silent for r in members)]
        counts += [sum(r.outcome == "raised" for r in members), sum(bool(r.chunked) for r in members), len(members)]
        cells = "".join(f"{n or '·':>{max(9, len(h) + 2)}}" for n, h in zip(counts, heads, strict=True))
        lines.append(f"{name[:43]:<44}{cells}")
    lines[-1] += f"   {100 * sum(r.outcome == 'recovered' for r in found) / max(1, len(found)):.1f}% recovered"
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="What becomes of slips, by kind and by template.")
    parser.add_argument("--kinds", choices=sorted(LISTS), default="issue", help="the list of kinds")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--kind", action="append", default=[], help="kinds whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="every N-th template")
    parser.add_argument("--authored", action="store_true", help="the templates in tests/cases/authored and invertible")
    parser.add_argument("--designs", type=int, default=0, metavar="N", help="N templates of wild design")
    parser.add_argument("--first", type=int, default=500_000, help="the first of them (see tests.property.report_wild)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--two", action="store_true", help="two slips in each output")
    parser.add_argument("--unended", action="store_true", help="outputs without the turn's end")
    parser.add_argument("--without-tools", action="store_true", help="parse without the tools of the request")
    parser.add_argument("--pairs", type=int, default=40, help="with --two: pairs tried in each answer")
    parser.add_argument(
        "--show",
        default="",
        metavar="OUTCOME",
        help="the outputs with this outcome, or silent, complete, flagged, chunked",
    )
    parser.add_argument("--most", type=int, default=400, help="so many of them")
    parser.add_argument("--json", default="", metavar="FILE", help="every result, one a line")
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.designs)
    names = [*(authored() if options.authored else ()), *(f"{DESIGN}{seed}" for seed in seeds)]
    if not options.authored and not options.designs:
        names = templates()
    names = [name for name in names if options.only in name][:: options.every]
    found: dict[str, list[Result]] = {}
    two = options.pairs if options.two else 0
    ways = {"unended": options.unended, "without_tools": options.without_tools}
    work = partial(of_template, which=options.kinds, kinds=tuple(options.kind), two=two, **ways)
    with ProcessPoolExecutor(options.processes) as pool:
        for at, (format_, made) in enumerate(pool.map(work, names), 1):
            if made and format_ not in found:
                found[format_] = made
            if sys.stderr.isatty():
                print(f"\r{at}/{len(names)}", end="", file=sys.stderr)
    every = [result for made in found.values() for result in made]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(result), ensure_ascii=False) + "\n" for result in every)
    shown = 0
    for result in every:
        tests = {"silent": result.outcome == "altered" and result.silent, "chunked": bool(result.chunked)}
        tests |= {"complete": result.complete and not result.written, "flagged": result.flagged}
        if options.show and shown < options.most and tests.get(options.show, result.outcome == options.show):
            shown += 1
            print(f"{result.template} | {result.kind} | {result.base}\n  {result.text!r}")
            print(f"  {dict(result.got)}\n  {list(result.diagnostics)}")
    if not options.two:
        print(table(every, "kind"), end="\n\n")
    print(table(every, "template"))
    print(f"{len(found)} formats")
    bad = any(r.outcome == "raised" or r.chunked or (r.outcome == "altered" and r.silent) for r in every)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
