"""`tplc compile`: a template to an artifact."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from tplc import driver
from tplc.cli import inputs
from tplc.cli.output import check_output, write_output
from tplc.cli.report import print_report, report_dict
from tplc.ir.nodes import TemplateIR, Tolerance


@dataclass(frozen=True, slots=True)
class CompileOptions:
    source: str
    output: str
    target: str | None
    template_name: str | None
    special_tokens: tuple[str, ...]
    tolerances: tuple[Path, ...]
    examples: tuple[Path, ...]
    tools: str | None
    tool_choice: str
    parallel: bool
    force: bool
    allow_unverified: bool
    seed: int
    thorough: bool
    limits: tuple[str, ...]
    as_json: bool
    quiet: bool


def compile_command(options: CompileOptions) -> None:
    target = driver.target_of(options.output, options.target or ("python" if options.output == "-" else None))
    check_output(options.output, force=options.force)
    tolerances = [tolerance for path in options.tolerances for tolerance in read_tolerances(str(path))]
    examples = [example for path in options.examples for example in inputs.read_examples(str(path))]
    tools = inputs.read_tools(options.tools) if options.tools else []
    limits = inputs.limits(options.limits)
    template = inputs.load_template(options.source, options.template_name, options.special_tokens)
    ir = driver.compile_template(
        template.text,
        name=template.name,
        special_tokens=template.special_tokens,
        tolerances=tolerances,
        examples=examples,
        limits=limits,
        seed=options.seed,
        thorough=options.thorough,
    )
    writes = ir.verification.verified or options.allow_unverified
    if writes:
        grammar = driver.GrammarOptions(tuple(tools), options.tool_choice, options.parallel)
        write_output(options.output, driver.generate(ir, target, grammar))
    _report(ir, options, wrote=writes)
    if not writes:
        raise SystemExit(1)


def _report(ir: TemplateIR, options: CompileOptions, *, wrote: bool) -> None:
    where = options.output if wrote and options.output != "-" else None
    if options.as_json:
        json.dump(report_dict(ir, where), sys.stderr, ensure_ascii=False, indent=2)
        print(file=sys.stderr)
    elif not options.quiet or not ir.verification.verified:
        print_report(ir, where)
        if not wrote:
            print("tplc: nothing written: verification failed (--allow-unverified writes it marked)", file=sys.stderr)


def read_tolerances(path: str) -> list[Tolerance]:
    from tplc.ir.tolerances import tolerances_from

    return tolerances_from(inputs.read_json(path), path)
