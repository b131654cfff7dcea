"""`tplc compile`: a template to an artifact."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tplc import driver
from tplc.cli import inputs
from tplc.cli.progress import working
from tplc.cli.report import held_rows, print_report, print_rows, report_dict, warning_rows
from tplc.errors import UsageError
from tplc.ir.nodes import TemplateIR
from tplc.ir.visible import visible
from tplc.project.artifacts import check_output, write_output
from tplc.project.depfile import depfile
from tplc.project.files import read_examples, read_schema, read_tolerances, read_tools

if TYPE_CHECKING:
    from tplc.backends.gbnf import Grammar
    from tplc.learn.warnings import TemplateWarning
    from tplc.sources import TemplateSource


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
    parallel: bool | None
    any_order: bool
    json_schema: str | None
    variables: tuple[str, ...]
    strict: bool
    max_size: int | None
    force: bool
    allow_unverified: bool
    seed: int
    thorough: bool
    limits: tuple[str, ...]
    depfile: str | None
    as_json: bool
    quiet: bool


def compile_command(options: CompileOptions) -> None:
    target = driver.target_of(options.output, options.target or ("python" if options.output == "-" else None))
    check_output(options.output, force=options.force)
    _check_input(options)
    _check_depfile(options)
    request = _grammar_options(options, target)
    tolerances = [tolerance for path in options.tolerances for tolerance in read_tolerances(str(path))]
    examples = [example for path in options.examples for example in read_examples(str(path))]
    limits = inputs.limits(options.limits)
    template = inputs.load_template(options.source, options.template_name, options.special_tokens)
    warnings: list[TemplateWarning] = []
    rule = depfile(options.output, _used(options, template)) if options.depfile is not None else ""
    with working(f"learning and verifying {template.name}"):
        ir = driver.compile_template(
            template.text,
            name=template.name,
            special_tokens=template.special_tokens,
            tolerances=tolerances,
            examples=examples,
            target=target,
            limits=limits,
            seed=options.seed,
            thorough=options.thorough,
            warn=warnings.append,
        )
    grammar = driver.make_grammar(ir, request) if request is not None and target == "gbnf" else None
    writes = ir.verification.verified or options.allow_unverified
    if writes:
        write_output(options.output, driver.generate(ir, target, request))
        if options.depfile is not None:
            write_output(options.depfile, rule)
    _report(ir, grammar, warnings, options, wrote=writes)
    if not writes:
        raise SystemExit(1)


def _check_input(options: CompileOptions) -> None:
    inputs.check_standard_input(
        {"the template": options.source},
        {
            "the tools": [options.tools],
            "the schema": [options.json_schema],
            "the tolerances": [str(path) for path in options.tolerances],
            "the examples": [str(path) for path in options.examples],
        },
    )


def _check_depfile(options: CompileOptions) -> None:
    """One rule names one output; the file may hold anything before, as those of compilers do."""
    if options.depfile is None:
        return
    if options.output == "-":
        raise UsageError("--depfile: a rule needs the name of what is made: give --output FILE")
    if os.path.abspath(options.depfile) == os.path.abspath(options.output):
        raise UsageError(f"--depfile {options.depfile}: is the output itself")
    check_output(options.depfile, force=True)


def _used(options: CompileOptions, template: TemplateSource) -> list[str]:
    asked = [path for path in (options.tools, options.json_schema) if path not in (None, "-")]
    return [*template.files, *map(str, [*options.tolerances, *options.examples, *asked])]


def _grammar_options(options: CompileOptions, target: driver.Target) -> driver.GrammarOptions | None:
    """What the grammar is asked for; None for other targets."""
    asked = {
        "--tools": options.tools,
        "--json-schema": options.json_schema,
        "--var": options.variables,
        "--strict": options.strict,
        "--max-size": options.max_size,
        "--parallel/--no-parallel": options.parallel is not None,
        "--any-order": options.any_order,
        "--tool-choice": options.tool_choice != "auto",
    }
    given = [name for name, value in asked.items() if value]
    if target == "peg" and given and {*given} <= {"--tools", "--json-schema"}:
        return driver.GrammarOptions(
            tools=tuple(read_tools(options.tools)) if options.tools else (),
            json_schema=read_schema(options.json_schema) if options.json_schema else None,
        )
    if target != "gbnf":
        if given:
            raise UsageError(f"{given[0]} is for --target gbnf; a {target} artifact is made for all requests")
        return None
    if not options.tools and not options.json_schema:
        raise UsageError("a grammar is made for one request: give --tools FILE or --json-schema FILE")
    return driver.GrammarOptions(
        tools=tuple(read_tools(options.tools)) if options.tools else (),
        tool_choice=options.tool_choice,
        parallel_tool_calls=options.parallel,
        any_order=options.any_order,
        json_schema=read_schema(options.json_schema) if options.json_schema else None,
        context=inputs.variables(options.variables) if options.variables else None,
        strict=options.strict,
        most_characters=options.max_size,
    )


def _report(
    ir: TemplateIR,
    grammar: Grammar | None,
    warnings: list[TemplateWarning],
    options: CompileOptions,
    *,
    wrote: bool,
) -> None:
    where = options.output if wrote and options.output != "-" else None
    if options.as_json:
        report = report_dict(ir, where)
        report["warnings"] = [asdict(warning) for warning in warnings]
        if grammar is not None:
            report["grammar"] = grammar.to_json()
        print(visible(json.dumps(report, ensure_ascii=False, indent=2)), file=sys.stderr)
    elif options.quiet and ir.verification.verified:
        # Quiet is about what went as it should.
        print_rows([*held_rows(ir), *warning_rows(warnings)], sys.stderr)
    else:
        print_report(ir, grammar, where, warnings)
        if not wrote:
            print("tplc: nothing written: verification failed (--allow-unverified writes it marked)", file=sys.stderr)
