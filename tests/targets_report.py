"""Write docs/targets.md, which shows the target that can express each template: `make targets`.

    python -m tests.targets_report [--only WORD] [--every 1] [--no-write]

Compiles the templates of both collections next to the project to every target, verifies what can be verified, and
writes docs/targets.md.  Grammars are made for a few tools and run in the engines they are for: calls as the template
writes them must be accepted, wrong arguments refused.  The built-in structural tags of xgrammar are compared with ours,
each for the templates of which it accepts a first call.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.conftest import ROOT, SHARED
from tests.coverage_report import read_index
from tests.gbnf import engine
from tests.gbnf.formats import arguments_of, calls_message, written
from tests.gbnf.tools import tool
from tests.lark.engine import accepts as lark_accepts
from tests.lark.engine import of
from tests.parser_cache import read_pairs, read_source, special_tokens
from tests.targets.test_structural_tag import accepts as tag_accepts
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.lark import lark
from tplc.backends.python import generate
from tplc.backends.response_template import CannotExpress
from tplc.driver import Target, learn_format, open_renderer, tolerate, verify_ir
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.render import Renderer
from tplc.targets.response_template import verify_response_template
from tplc.targets.structural_tag import NoTag, structural_tag
from tplc.verify.artifact import Artifact, load_artifact

REPORT = ROOT / "docs" / "targets.md"
TARGETS = ("python", "peg", "gbnf", "structural_tag", "lark", "response_template")
TOOLS = [
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, required=("at",)),
    tool("see", {}),
    tool(
        "measure",
        {
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "even": {"type": "integer", "multipleOf": 2},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
            "unit": {"enum": ["m", "km"]},
        },
        required=("age",),
    ),
]
Call = tuple[str, dict[str, Any]]
GOOD: tuple[Call, ...] = (
    ("look", {"at": "it", "days": 2}),
    ("look", {"at": "Tromsø, now"}),
    ("see", {}),
    ("measure", {"age": 7, "even": 12, "code": "AB-1234", "unit": "km"}),
)
WRONG: tuple[Call, ...] = (
    ("look", {"days": 2}),
    ("look", {"at": "it", "days": -1}),
    ("look", {"at": "it", "other": "x"}),
    ("measure", {"age": 121}),
    ("measure", {"age": 7, "even": 13}),
    ("measure", {"age": 7, "code": "AB-12345"}),
    ("measure", {"age": 7, "unit": "mile"}),
)


@dataclass
class Row:
    """What became of a template in each target; the built-in tags that fit it, with what they accept."""

    name: str
    cells: dict[str, str] = field(default_factory=dict)
    builtin: dict[str, tuple[int, int]] = field(default_factory=dict)
    ours: tuple[int, int] = (0, 0)
    battery: tuple[int, int] = (0, 0)


Accepts = Callable[[str], bool]


def measure_template(name: str) -> Row:
    row = Row(name)
    source, tokens = read_source(name), special_tokens(name)
    try:
        with open_renderer(source, name=name, special_tokens=tokens) as renderer:
            examples = read_pairs(name)
            ir = tolerate(
                learn_format(renderer, name=name, source_text=source, special_tokens=tokens, examples=examples)
            )
            for target in ("python", "peg"):
                checked = verify_ir(ir, renderer, target=_target(target), examples=examples)
                row.cells[target] = _verified(checked)
                ir = checked if target == "python" else ir
            row.cells["response_template"] = _response_template(ir, renderer)
    except TplcError as error:
        refused = f"refused: {_first_line(error)}"
        return Row(name, {target: row.cells.get(target, refused) for target in TARGETS})
    _constraints(ir, row)
    return row


def _target(name: str) -> Target:
    return "peg" if name == "peg" else "python"


def _verified(ir: TemplateIR) -> str:
    result = ir.verification
    return "verified" if result.verified else f"not verified: {result.passed} of {result.messages}"


def _response_template(ir: TemplateIR, renderer: Renderer) -> str:
    try:
        result, not_expressed = verify_response_template(ir, renderer, "transformers")
    except CannotExpress as error:
        return f"refused: {error.feature}"
    if not result.verified:
        return f"not verified: {result.passed} of {result.messages}"
    features = "; ".join(dict.fromkeys(one.feature for one in not_expressed))
    return f"verified; {len(not_expressed)} not expressed: {features}" if not_expressed else "verified"


def _constraints(ir: TemplateIR, row: Row) -> None:
    if ir.tools.format == "none":
        row.cells |= dict.fromkeys(("gbnf", "structural_tag", "lark"), "no calls")
        return
    parser = load_artifact(generate(ir))
    wrong = [call for call in WRONG if _is_wrong(ir, parser, call)]
    row.battery = (len(GOOD), len(wrong))
    makers: dict[str, Callable[[TemplateIR], Accepts]] = {
        "gbnf": _gbnf,
        "structural_tag": _tag,
        "lark": partial(_lark, special=False),
        "lark of tokens": partial(_lark, special=True),
    }
    for target, make in makers.items():
        try:
            good, bad = _counts(ir, make(ir), wrong)
        except NoTag as error:
            row.cells[target] = f"refused: {error.reason}"
            continue
        except TplcError as error:
            row.cells[target] = f"refused: {_first_line(error)}"
            continue
        except (AssertionError, RuntimeError) as error:
            row.cells[target] = f"not read by the engine: {str(error).splitlines()[0][:120]}"
            continue
        right = (good, bad) == (len(GOOD), 0)
        reported = f"{good} of {len(GOOD)} right, {bad} of {len(wrong)} wrong accepted"
        row.cells[target] = "verified" if right else reported
        if target == "structural_tag":
            row.ours = (good, bad)
    if not row.cells["lark of tokens"].startswith("verified"):
        row.cells["lark"] = f"as text {row.cells['lark']}; as tokens {row.cells['lark of tokens']}"
    _builtin(ir, row, wrong)


def _is_wrong(ir: TemplateIR, parser: Artifact, call: Call) -> bool:
    """Return whether a call is wrong: without quotes, text that looks like another argument may belong to the one
    before."""
    return arguments_of(parser.parse(written(ir, calls_message(call)), tools=TOOLS)) == [call]


def _counts(ir: TemplateIR, accepts: Accepts, wrong: Sequence[Call]) -> tuple[int, int]:
    """Return how many correct calls, and how many wrong ones, are accepted."""
    return (
        sum(accepts(written(ir, calls_message(call))) for call in GOOD),
        sum(accepts(written(ir, calls_message(call))) for call in wrong),
    )


def _gbnf(ir: TemplateIR) -> Accepts:
    made = grammar(ir, tools=TOOLS)

    def accepts(text: str) -> bool:
        place = fires_at(made.triggers, text)
        return place is not None and engine.accepts(made.text, text[place:])

    return accepts


def _tag(ir: TemplateIR) -> Accepts:
    try:
        tag = structural_tag(ir, grammar(ir, tools=TOOLS), parallel=ir.tools.parallel)
    except NoTag:
        # Under auto, only a pattern distinguishes such calls.
        tag = structural_tag(ir, grammar(ir, tools=TOOLS, tool_choice="required"), parallel=ir.tools.parallel)
    return partial(tag_accepts, tag)


def _lark(ir: TemplateIR, *, special: bool) -> Accepts:
    tokens = of(tuple(ir.preserved_tokens)) if special else None
    text = lark(ir, tools=TOOLS, tokens=None if tokens is None else tokens.added).text
    return lambda turn: lark_accepts(text, turn, tokens)


def _builtin(ir: TemplateIR, row: Row, wrong: Sequence[Call]) -> None:
    """Check the built-in tags, of any name, that accept a first call of this template."""
    from xgrammar.builtin_structural_tag import _structural_tag_registry, get_model_structural_tag

    first = written(ir, calls_message(GOOD[0]))
    for key in sorted(_structural_tag_registry):
        for reasoning in (False, True):
            try:
                made = get_model_structural_tag(key, tools=TOOLS, tool_choice="required", reasoning=reasoning)
                tag = made.model_dump()
                if not tag_accepts(tag, first):
                    continue
                row.builtin[key] = _counts(ir, partial(tag_accepts, tag), wrong)
            except (ValueError, RuntimeError, TypeError):
                continue  # a tool that it does not say
            break


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].partition(": ")[2] or str(error).splitlines()[0]


# The document.


def markdown(rows: Sequence[Row], collections: Mapping[str, int]) -> str:
    return "\n".join([*_head(rows, collections), *_summary(rows), *_builtins(rows), *_table(rows), ""])


def _head(rows: Sequence[Row], collections: Mapping[str, int]) -> Iterator[str]:
    counts = " and ".join(str(count) for count in collections.values())
    yield "# Targets"
    yield ""
    of = f"{len(rows)} real templates ({counts} of two collections)"
    yield f"For people who choose a target. This page shows which of {of}"
    yield "each target can express; `make targets` writes it."
    yield ""
    yield "- **python, peg, response_template**: a template is verified as `tplc compile` does it."
    yield "- **gbnf, structural_tag, lark**: the grammar is made for three tools. A template is verified if the engine"
    yield f"  accepts its own calls ({len(GOOD)}) and refuses wrong arguments ({len(WRONG)} at most). The engine is"
    yield "  xgrammar, or llguidance for lark, with markers as text and as special tokens. If calls begin like other"
    yield "  text, the structural tag is one for required calls."
    yield ""


def _kind(cell: str) -> str:
    if cell.startswith("verified; "):
        return "verified, some not expressed"
    if cell.startswith("refused"):
        return "refused"
    return cell if cell in ("verified", "no calls") else "not verified"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    kinds = ("verified", "verified, some not expressed", "refused", "not verified", "no calls")
    yield f"| target | {' | '.join(kinds)} |"
    yield "|---" * (len(kinds) + 1) + "|"
    for target in TARGETS:
        counted = Counter(_kind(row.cells[target]) for row in rows)
        yield f"| {target} | {' | '.join(str(counted[kind] or '') for kind in kinds)} |"
    yield ""
    for title, sign in (("Refused", "refused: "), ("Not expressed", "verified; ")):
        yield f"{title}, and how many templates:"
        yield ""
        found = Counter(
            (target, reason)
            for row in rows
            for target in TARGETS
            if row.cells[target].startswith(sign)
            for reason in _reasons(row.cells[target], sign)
        )
        for (target, reason), count in found.most_common():
            yield f"- {target}: {reason}: {count}"
        yield "" if found else "- none\n"


def _reasons(cell: str, sign: str) -> list[str]:
    text = cell.removeprefix(sign)
    return text.partition(": ")[2].split("; ") if sign == "verified; " else [text.partition(" (")[0]]


def _builtins(rows: Sequence[Row]) -> Iterator[str]:
    fitting = [row for row in rows if row.builtin]
    yield "## Built-in structural tags"
    yield ""
    yield "A built-in tag of xgrammar is matched with a template if it accepts the template's first call:"
    yield f"{len(fitting)} templates have one. The table lists those for which the best built-in tag and ours differ."
    yield ""
    yield "| template | built-in | right calls accepted | wrong ones accepted | ours: right | ours: wrong |"
    yield "|---|---|---|---|---|---|"
    for row in fitting:
        key, (good, bad) = max(row.builtin.items(), key=lambda item: (item[1][0] - item[1][1], item[0]))
        if (good, bad) != row.ours:
            of_good, of_wrong = row.battery
            yield (
                f"| {row.name} | {key} | {good} of {of_good} | {bad} of {of_wrong} | {row.ours[0]} of {of_good} | "
                f"{row.ours[1]} of {of_wrong} |"
            )
    yield ""


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "## Templates"
    yield ""
    yield f"| template | {' | '.join(TARGETS)} |"
    yield "|---" * (len(TARGETS) + 1) + "|"
    for row in rows:
        cells = (row.cells[target].replace("|", "\\|") for target in TARGETS)
        yield f"| {row.name} | {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Templates and targets: docs/targets.md.")
    parser.add_argument("--only", default="", help="templates whose name holds this; nothing is written then")
    parser.add_argument("--every", type=int, default=1, help="every n-th template only; nothing is written then")
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"no folder {SHARED.name} next to the project: nothing to measure", file=sys.stderr)
        return 2
    engine._engine()
    index = read_index()
    collections = {"first": sum(entry.seen for entry in index), "second": sum(not entry.seen for entry in index)}
    names = [entry.name for entry in sorted(index, key=lambda entry: entry.name) if options.only in entry.name]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = list(pool.map(measure_template, names[:: options.every]))
    text = markdown(rows, collections)
    if options.only or options.every > 1 or options.no_write:
        print(text)
    else:
        REPORT.write_text(text, encoding="utf-8")
        print(json.dumps({target: Counter(_kind(row.cells[target]) for row in rows) for target in TARGETS}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
