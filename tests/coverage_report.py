"""What share of real templates and outputs is covered: `make coverage`.

    python -m tests.coverage_report [--only WORD] [--no-write]

Compiles every template of the collection beside the project, runs the recorded outputs through the generated parsers,
prints a summary, and writes docs/coverage.md.  Times are printed only, so that the file changes with the results alone.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.conftest import ROOT, SHARED
from tplc.driver import generate, learn_format, open_renderer, require_verified, verify_ir
from tplc.errors import InvalidIR, TplcError
from tplc.ir.nodes import Tolerance
from tplc.ir.tolerances import apply_tolerances, tolerances_from
from tplc.learn import Example, read_example
from tplc.verify.artifact import load_module

REPORT = ROOT / "docs" / "coverage.md"
CHUNKINGS = 3


@dataclass(frozen=True, slots=True)
class CaseResult:
    id: int
    difference: str  # "" when equal
    chunked: str  # "" when every chunking agrees with the whole


@dataclass(frozen=True, slots=True)
class TemplateResult:
    name: str
    problem: str  # "" when compiled and verified
    internal: bool
    seconds: float
    renders: int
    ambiguities: tuple[str, ...]
    cases: tuple[CaseResult, ...]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Coverage of the collected templates and outputs.")
    parser.add_argument("--only", default="", help="templates whose name holds this; nothing is written then")
    parser.add_argument("--no-write", action="store_true", help="leave docs/coverage.md as it is")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"no folder {SHARED.name} beside the project: nothing to measure", file=sys.stderr)
        return 2
    index = {entry["file"].removesuffix(".jinja"): entry for entry in _json(SHARED / "templates" / "index.json")}
    names = [name for name in sorted(index) if options.only in name]
    results = measure(names, options.processes)
    report = Report(results, {name: index[name] for name in names})
    print(report.console())
    if not options.only and not options.no_write:
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(report.markdown(), encoding="utf-8")
    return 1 if any(result.internal for result in results) else 0


def measure(names: list[str], processes: int) -> list[TemplateResult]:
    cases = read_cases()
    with ProcessPoolExecutor(processes) as pool:
        futures = {name: pool.submit(measure_template, name, cases.get(name, [])) for name in names}
        return [_result(name, future) for name, future in futures.items()]


def _result(name: str, future: Future[TemplateResult]) -> TemplateResult:
    error = future.exception()
    if error is not None:
        problem = f"internal error: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return TemplateResult(name, problem, True, 0.0, 0, (), ())
    return future.result()


def measure_template(name: str, cases: list[dict[str, Any]]) -> TemplateResult:
    source = (SHARED / "templates" / f"{name}.jinja").read_bytes().decode("utf-8")
    start, renders, problem, internal, ambiguities, parser = time.perf_counter(), 0, "", False, (), None
    try:
        with open_renderer(source, name=name) as renderer:
            try:
                examples = read_pairs(name)
                ir = learn_format(renderer, name=name, source_text=source, examples=examples)
                ir = apply_tolerances(ir, read_tolerances(name))
                parser = load_module(generate(ir, "python"))
                ir = verify_ir(ir, renderer, examples=examples)
                ambiguities = tuple(a.kind for a in ir.verification.ambiguities)
                require_verified(ir)
            finally:
                renders = renderer.count
    except TplcError as error:
        problem, internal = f"{type(error).__name__}: {error}", isinstance(error, InvalidIR)
    seconds = time.perf_counter() - start
    ran = tuple(run_case(parser, case) for case in cases) if parser else tuple(_not_run(case) for case in cases)
    return TemplateResult(name, problem, internal, seconds, renders, ambiguities, ran)


def _not_run(case: dict[str, Any]) -> CaseResult:
    return CaseResult(case["id"], "the template did not compile", "")


# What renders cannot show is data: example pairs of the collection, tolerance files of these tests.


def read_pairs(name: str) -> list[Example]:
    path = SHARED / "cases" / "pairs" / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [read_example(json.loads(line), f"{path.name}: line {i}") for i, line in enumerate(lines, 1)]


def read_tolerances(name: str) -> list[Tolerance]:
    folder = ROOT / "tests" / "cases" / "tolerances"
    files = _json(folder / "index.json").get(name, [])
    return [tolerance for file in files for tolerance in tolerances_from(_json(folder / file), file)]


# The recorded outputs.


def read_cases() -> dict[str, list[dict[str, Any]]]:
    """The recorded outputs of each template."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (SHARED / "cases" / "llamacpp.jsonl").read_bytes().decode("utf-8").splitlines():
        case = json.loads(line)
        found[case["template"].removesuffix(".jinja")].append(case)
    return found


def run_case(parser: ModuleType, case: dict[str, Any]) -> CaseResult:
    options = {
        "tools": case["tools"],
        "prompt": case["prompt"],
        # "none" leaves reasoning in the content, except where an answer is continued: there it is split off.
        "parse_reasoning": case["reasoning_format"] != "none",
        "echo": case["continue_final_message"] is not None,
        "json_content": bool(case["json_schema"]),
    }
    text, partial = case["input"], case["is_partial"]
    whole = parser.parse(text, **options)
    streamed = [stream(parser, chunks, options, finish=True) for chunks in chunkings(text, case["id"])]
    chunked = next((found for got in streamed if (found := _first_difference(whole, got))), "")
    message = stream(parser, [text], options, finish=False) if partial else whole
    return CaseResult(case["id"], difference(case["expect"], message), chunked)


def stream(parser: ModuleType, chunks: Iterable[str], options: Mapping[str, Any], *, finish: bool) -> dict[str, Any]:
    machine = parser.StreamParser(**options)
    for chunk in chunks:
        machine.feed(chunk)
    if finish:
        machine.finish()
    return dict(machine.message)


def chunkings(text: str, seed: int) -> list[list[str]]:
    """One character at a time, and a few random ways."""
    rng = random.Random(seed)
    ways = [list(text)]
    for _ in range(CHUNKINGS):
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randint(1, 8)))
        ways.append([text[a:b] for a, b in pairwise([0, *cuts, len(text)])])
    return ways


def difference(expected: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """Where a message is not what is expected, outer white space and JSON spacing apart; "" if nowhere."""
    for field in ("content", "reasoning_content"):
        if (expected[field] or "").strip() != (message[field] or "").strip():
            return field
    calls = message["tool_calls"]
    if len(calls) != len(expected["tool_calls"]):
        return f"{len(expected['tool_calls'])} calls expected, got {len(calls)}"
    for number, (want, got) in enumerate(zip(expected["tool_calls"], calls, strict=True), 1):
        if want["name"] != got["function"]["name"]:
            return f"name of call {number}"
        if normal(want["arguments"]) != normal(got["function"]["arguments"]):
            return f"arguments of call {number}"
        if want["id"] and want["id"] != got["id"]:
            return f"id of call {number}"
    return ""


def normal(arguments: str) -> str:
    """JSON without its spacing; other text (of a call that is not complete) without outer white space."""
    try:
        return json.dumps(json.loads(arguments))
    except json.JSONDecodeError:
        return arguments.strip()


def _first_difference(whole: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    return next((field for field in ("content", "reasoning_content", "tool_calls") if whole[field] != other[field]), "")


# The report.


@dataclass(frozen=True, slots=True)
class Report:
    results: list[TemplateResult]
    index: Mapping[str, Mapping[str, Any]]

    def console(self) -> str:
        timed = sorted((r for r in self.results if r.seconds), key=lambda r: -r.seconds)
        lines = [*self._failed(), "", *self._cases(), "", *self._summary()]
        if timed:
            lines.append(f"compile time: median {statistics.median(r.seconds for r in timed):.2f} s; slowest:")
            lines += [f"    {r.seconds:6.2f} s  {r.renders:5} renders  {r.name}" for r in timed[:5]]
        return "\n".join(lines)

    def markdown(self) -> str:
        """docs/coverage.md."""
        lines = [
            "# Coverage",
            "",
            "Written by `make coverage` from a collection of real templates and of outputs recorded for them, which is",
            "no part of this project.",
            "",
            *[f"- {line}" for line in self._summary()],
            "",
            "## Layout families and value dialects",
            "",
            "| family | compiled and verified | of |",
            "|---|---|---|",
            *self._groups("layout_family"),
            "",
            "| dialect | compiled and verified | of |",
            "|---|---|---|",
            *self._groups("value_dialect"),
            "",
            "## Templates",
            "",
            "| template | calls | outputs equal | result |",
            "|---|---|---|---|",
            *self._table(),
            "",
            "## Outputs that differ from what is expected",
            "",
            *(self._cases() or ["None."]),
            "",
        ]
        return "\n".join(lines)

    def _summary(self) -> list[str]:
        calling = [r for r in self.results if self._calls(r)]
        plain = [r for r in self.results if not self._calls(r)]
        cases = [case for r in self.results for case in r.cases]
        return [
            f"templates that render tool calls: {_good(calling)} of {len(calling)} compiled and verified",
            f"templates without tool calls: {_good(plain)} of {len(plain)} compiled and verified",
            f"internal errors: {sum(r.internal for r in self.results)}",
            f"outputs equal to what is expected: {sum(not c.difference for c in cases)} of {len(cases)}",
            f"outputs where a chunking differs from the whole: {sum(bool(c.chunked) for c in cases)} of {len(cases)}",
        ]

    def _calls(self, result: TemplateResult) -> bool:
        return self.index[result.name]["layout_family"] not in ("-", "")

    def _groups(self, key: str) -> list[str]:
        total: Counter[str] = Counter(self.index[r.name][key] for r in self.results)
        good = Counter(self.index[r.name][key] for r in self.results if not r.problem)
        return [f"| {group} | {good[group]} | {total[group]} |" for group in sorted(total) if group != "-"]

    def _table(self) -> list[str]:
        rows = []
        for result in self.results:
            entry = self.index[result.name]
            equal = f"{sum(not c.difference for c in result.cases)} of {len(result.cases)}" if result.cases else ""
            told = result.problem.splitlines()[0] if result.problem else "verified"
            ambiguous = f"; ambiguous: {', '.join(sorted(set(result.ambiguities)))}" if result.ambiguities else ""
            kind = f"{entry['layout_family']} / {entry['value_dialect']}" if self._calls(result) else ""
            rows.append(f"| {result.name} | {kind} | {equal} | {_cell(told + ambiguous)} |")
        return rows

    def _failed(self) -> list[str]:
        return [
            f"FAILED {r.name} ({self.index[r.name]['layout_family']}): {r.problem}" for r in self.results if r.problem
        ]

    def _cases(self) -> list[str]:
        lines = []
        reasons = _json(ROOT / "tests" / "cases" / "differences.json")
        for result in self.results:
            for case in result.cases:
                if case.difference:
                    reason = reasons.get(str(case.id), "")
                    lines.append(f"- {case.id} ({result.name}): {case.difference}" + f" ({reason})" * bool(reason))
                if case.chunked:
                    lines.append(f"- {case.id} ({result.name}): chunks give another {case.chunked} than the whole")
        return lines


def _good(results: list[TemplateResult]) -> int:
    return sum(not result.problem for result in results)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")[:300]


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
