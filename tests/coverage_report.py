"""Measure the share of real templates and outputs that is read correctly: `make coverage`.

    python -m tests.coverage_report [--only WORD] [--no-write] [--fast [--show]]

Compiles every template of the collections next to the project as plain `tplc compile` does, runs the recorded outputs
through the generated parsers, prints a summary, and writes docs/coverage.md.  Times are printed only, so that the file
changes with the results alone.  `--fast` runs the outputs only, through parsers kept in build/, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from tests.conftest import ROOT, SHARED
from tests.parser_cache import read_pairs, read_parser, read_source, special_tokens
from tests.recorded import Output, OutputResult, read_outputs, run_output
from tplc.driver import generate, learn_format, open_renderer, require_verified, tolerate, verify_ir
from tplc.errors import InvalidIR, TplcError
from tplc.verify.artifact import load_module

REPORT = ROOT / "docs" / "coverage.md"
COLLECTIONS = ("llamacpp", "vllm")


@dataclass(frozen=True, slots=True)
class TemplateResult:
    name: str
    problem: str  # "" when compiled and verified
    internal: bool
    seconds: float
    renders: int
    messages: int
    ambiguities: tuple[str, ...]
    outputs: tuple[OutputResult, ...]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Coverage of the collected templates and outputs.")
    parser.add_argument("--only", default="", help="templates whose name holds this; nothing is written then")
    parser.add_argument("--no-write", action="store_true", help="leave docs/coverage.md as it is")
    parser.add_argument("--fast", action="store_true", help="only run the outputs, through parsers kept in build/")
    parser.add_argument("--show", action="store_true", help="with --fast: print what was wanted and what came")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"no folder {SHARED.name} next to the project: nothing to measure", file=sys.stderr)
        return 2
    if options.fast:
        return run_fast(options.only, show=options.show)
    index = {entry.name: entry for entry in read_index()}
    names = [name for name in sorted(index) if options.only in name]
    results = measure(names, options.processes)
    report = Report(results, {name: index[name] for name in names})
    print(report.console())
    if not options.only and not options.no_write:
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(report.markdown(), encoding="utf-8")
    return 1 if any(result.internal for result in results) else 0


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said of a template in its collection; `family` and `dialect` only in the first."""

    name: str
    calls: bool
    family: str
    dialect: str
    seen: bool  # by who wrote the compiler


def read_index() -> list[Entry]:
    entries = [
        Entry(
            name=entry["file"].removesuffix(".jinja"),
            calls=entry["layout_family"] not in ("-", ""),
            family=entry["layout_family"],
            dialect=entry["value_dialect"],
            seen=True,
        )
        for entry in _json(SHARED / "templates" / "index.json")
    ]
    more = SHARED / "more" / "templates" / "index.json"
    return entries + [
        Entry(name=entry["file"].removesuffix(".jinja"), calls=entry["tools"], family="-", dialect="-", seen=False)
        for entry in (_json(more) if more.is_file() else [])
    ]


def measure(names: list[str], processes: int) -> list[TemplateResult]:
    outputs = read_outputs()
    with ProcessPoolExecutor(processes) as pool:
        futures = {name: pool.submit(measure_template, name, outputs.get(name, [])) for name in names}
        return [_result(name, future) for name, future in futures.items()]


def _result(name: str, future: Future[TemplateResult]) -> TemplateResult:
    error = future.exception()
    if error is not None:
        problem = f"internal error: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return TemplateResult(name, problem, True, 0.0, 0, 0, (), ())
    return future.result()


def measure_template(name: str, outputs: Sequence[Output]) -> TemplateResult:
    source, tokens = read_source(name), special_tokens(name)
    start, renders, messages, problem, internal = time.perf_counter(), 0, 0, "", False
    ambiguities, parser = (), None
    try:
        with open_renderer(source, name=name, special_tokens=tokens) as renderer:
            try:
                examples = read_pairs(name)
                ir = learn_format(renderer, name=name, source_text=source, special_tokens=tokens, examples=examples)
                ir = tolerate(ir)
                parser = load_module(generate(ir, "python"))
                ir = verify_ir(ir, renderer, examples=examples)
                ambiguities = tuple(a.kind for a in ir.verification.ambiguities)
                messages = ir.verification.messages
                require_verified(ir)
            finally:
                renders = renderer.count
    except TplcError as error:
        problem, internal = f"{type(error).__name__}: {error}", isinstance(error, InvalidIR)
    seconds = time.perf_counter() - start
    ran = tuple(run_output(parser, o) for o in outputs) if parser else tuple(_not_run(o) for o in outputs)
    return TemplateResult(name, problem, internal, seconds, renders, messages, ambiguities, ran)


def _not_run(output: Output) -> OutputResult:
    return OutputResult(output.id, output.collection, "the template did not compile", "")


def run_fast(only: str, *, show: bool) -> int:
    """Run only the outputs, in this process; return those that differ, and how many of each collection don't."""
    results: list[OutputResult] = []
    for name, outputs in sorted(read_outputs().items()):
        chosen = [output for output in outputs if only in name or only == output.id]
        parser = read_parser(name) if chosen else None
        for output in chosen if parser is not None else ():
            result = run_output(parser, output)
            results.append(result)
            if result.difference or result.chunked:
                chunked = f"; chunks give another {result.chunked}" if result.chunked else ""
                print(f"- {result.id} ({name}): {result.difference}{chunked}")
                if show:
                    print(_reported(parser, output))
    print("\n".join(equal_to_expected(results)))
    return 0


def _reported(parser: ModuleType, output: Output) -> str:
    machine = parser.StreamParser(**output.options)
    machine.feed(output.text)
    if output.finished:
        machine.finish()
    options = {name: value for name, value in output.options.items() if name != "tools" and value is not None}
    tools = [tool.get("function", tool) for tool in output.options["tools"] or ()]
    named = {tool["name"]: (tool.get("parameters") or {}).get("properties") for tool in tools}
    wanted = {name: output.want[name] for name in ("content", "reasoning", "tool_calls")}
    lines = [f"text     {output.text!r}", f"options  {options} tools {json.dumps(named)[:600]}"]
    lines += [f"want     {json.dumps(wanted, ensure_ascii=False)} by {', '.join(output.fields)}"]
    lines += [f"got      {json.dumps(machine.message, ensure_ascii=False)} incomplete {machine.incomplete}"]
    return "\n".join(f"    {line}" for line in [*lines, *(f"         {note}" for note in machine.diagnostics)])


def equal_to_expected(outputs: Sequence[OutputResult]) -> list[str]:
    lines = []
    for collection in COLLECTIONS:
        chosen = [output for output in outputs if output.collection == collection]
        if chosen:
            equal = sum(not output.difference for output in chosen)
            lines.append(f"outputs of {collection}.jsonl equal to what is expected: {equal} of {len(chosen)}")
    different = sum(bool(output.chunked) for output in outputs)
    return [*lines, f"outputs where a chunking differs from the whole: {different} of {len(outputs)}"]


# The report.


@dataclass(frozen=True, slots=True)
class Report:
    results: list[TemplateResult]
    index: Mapping[str, Entry]

    def console(self) -> str:
        timed = sorted((r for r in self.results if r.seconds), key=lambda r: -r.seconds)
        lines = [*self._failed(), "", *self._differences(), "", *self._summary()]
        if timed:
            lines.append(f"compile time: median {statistics.median(r.seconds for r in timed):.2f} s; slowest:")
            lines += [f"    {r.seconds:6.2f} s  {r.renders:5} renders  {r.name}" for r in timed[:5]]
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the text of docs/coverage.md."""
        lines = [
            "# Coverage",
            "",
            "For people who want to know how many real templates and outputs tplc reads correctly. This page lists",
            "every template, and every output that is read differently from the recorded answer, with the reason.",
            "",
            "`make coverage` writes it from two collections of real templates and recorded outputs: one that the",
            "compiler was built against, and one that it wasn't. Neither is part of this project.",
            "",
            *[f"- {line}" for line in self._summary()],
            "",
            "## Layout families and value dialects",
            "",
            "The codes are those of the first collection: a letter and a number for each layout of calls, and for each",
            "way to write values.",
            "",
            "| family | compiled and verified | of |",
            "|---|---|---|",
            *self._groups("family"),
            "",
            "| dialect | compiled and verified | of |",
            "|---|---|---|",
            *self._groups("dialect"),
            "",
            "## Templates",
            "",
            "| template | calls | outputs equal | result |",
            "|---|---|---|---|",
            *self._table(),
            "",
            "## Outputs that differ from what is expected",
            "",
            *(self._differences() or ["None."]),
            "",
        ]
        return "\n".join(lines)

    def _summary(self) -> list[str]:
        seen = [r for r in self.results if self.index[r.name].seen]
        unseen = [r for r in self.results if not self.index[r.name].seen]
        messages = [r.messages for r in self.results if r.messages] or [0]
        return [
            f"templates that the compiler was built against, compiled and verified: {self._share(seen)}",
            f"templates that it was not built against: {self._share(unseen)}",
            f"messages that a template is verified with: {min(messages)} to {max(messages)}, "
            f"in the median {statistics.median_low(messages)}",
            f"internal errors: {sum(r.internal for r in self.results)}",
            *equal_to_expected([output for result in self.results for output in result.outputs]),
        ]

    def _share(self, results: list[TemplateResult]) -> str:
        calling = [r for r in results if self._calls(r)]
        return f"{_good(results)} of {len(results)} ({_good(calling)} of {len(calling)} with tool calls)"

    def _calls(self, result: TemplateResult) -> bool:
        return self.index[result.name].calls

    def _groups(self, key: Literal["family", "dialect"]) -> list[str]:
        total: Counter[str] = Counter(getattr(self.index[r.name], key) for r in self.results)
        good = Counter(getattr(self.index[r.name], key) for r in self.results if not r.problem)
        return [f"| {group} | {good[group]} | {total[group]} |" for group in sorted(total) if group not in ("-", "")]

    def _table(self) -> list[str]:
        rows = []
        for result in self.results:
            entry = self.index[result.name]
            ran = result.outputs
            equal = f"{sum(not output.difference for output in ran)} of {len(ran)}" if ran else ""
            reported = result.problem.splitlines()[0] if result.problem else "verified"
            ambiguous = f"; ambiguous: {', '.join(sorted(set(result.ambiguities)))}" if result.ambiguities else ""
            kind = f"{entry.family} / {entry.dialect}".replace("- / -", "yes") if entry.calls else ""
            rows.append(f"| {result.name} | {kind} | {equal} | {_cell(reported + ambiguous)} |")
        return rows

    def _failed(self) -> list[str]:
        return [f"FAILED {r.name} ({self.index[r.name].family}): {r.problem}" for r in self.results if r.problem]

    def _differences(self) -> list[str]:
        lines = []
        reasons = _json(ROOT / "tests" / "cases" / "differences.json")
        for result in self.results:
            for output in result.outputs:
                if output.difference:
                    reason = reasons.get(output.id, "")
                    reported = f"{output.difference}" + f" ({reason})" * bool(reason)
                    lines.append(f"- {output.id} ({result.name}): {reported}")
                if output.chunked:
                    lines.append(f"- {output.id} ({result.name}): chunks give another {output.chunked} than the whole")
        return lines


def _good(results: list[TemplateResult]) -> int:
    return sum(not result.problem for result in results)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")[:300]


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
