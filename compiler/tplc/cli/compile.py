"""`tplc compile`: a template to an artifact."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal, get_args

from tplc import driver
from tplc.audit.unfinished import BY_OPTION, require_stops, unfinished_warnings
from tplc.audit.warnings import TemplateWarning
from tplc.bounds import bounded
from tplc.catalogue.load import files_in
from tplc.cli import inputs
from tplc.cli.declare import check_targets
from tplc.cli.options import PLUGINS, CompileOptions
from tplc.cli.progress import working
from tplc.cli.regenerate import command_of
from tplc.cli.report import (
    difference_rows,
    print_report,
    print_rows,
    report_dict,
    token_rows,
    unknown_rows,
    warning_rows,
)
from tplc.cli.shown import print_json
from tplc.cli.watch import watch
from tplc.errors import SourceError, TplcError, UsageError, unknown_name
from tplc.ir.nodes import TemplateIR
from tplc.ir.profiles import PROFILES, Profile
from tplc.ir.runtimes import RUNTIME_FILE, Runtime
from tplc.native import check_native, compile_native, extension_of, is_native
from tplc.overwriting import allow_amending, check_not_input
from tplc.project.artifacts import (
    check_earlier,
    check_output,
    check_place,
    check_report,
    not_ours,
    write_bytes,
    write_output,
)
from tplc.project.declared import telling_places
from tplc.project.depfile import depfile
from tplc.project.files import read_examples, read_schema, read_text, read_tools
from tplc.project.json_insert import with_member
from tplc.sources import is_elsewhere, load_added_tokens, load_tokens
from tplc.targets.lark import check_read

if TYPE_CHECKING:
    from tplc.backends.gbnf import Grammar
    from tplc.backends.lark import LarkGrammar
    from tplc.ir.tokens import AddedToken
    from tplc.sources import TemplateSource
    from tplc.targets.response_template import Inexpressible


def watch_command(options: CompileOptions, arguments: Sequence[str]) -> None:
    """Compile again at each change.  `arguments`: the command's own, without --watch."""
    if options.source == "-" or is_elsewhere(options.source):
        raise UsageError(f"--watch: {options.source} is not a file that changes: name one")
    watch(["compile", *arguments], lambda: _watched(options))


def _watched(options: CompileOptions) -> list[str]:
    try:
        template = inputs.load_template(options.source, options.template_name, options.special_tokens)
        used = _used(options, template)
    except TplcError:
        used = []  # the command reports it
    return list(dict.fromkeys([options.source, *used]))


def compile_command(options: CompileOptions) -> None:
    target = _target(options)
    check_targets(options, target)
    config = _checked_files(options)
    request = _grammar_options(options, target)
    declared = options.variants.read()
    examples = [example for path in options.examples for example in read_examples(path)]
    limits = inputs.limits(options.limits)
    template, request = _with_tokens(options, target, _template(options), request)
    warnings: list[TemplateWarning] = []
    not_expressed: list[Inexpressible] = []
    rule = depfile(options.output, _used(options, template)) if options.depfile is not None else ""
    with working(f"learning and verifying {template.name}"), telling_places(declared):
        ir = driver.compile_template(
            template.text,
            name=template.name,
            limits=limits,
            target=target,
            special_tokens=template.special_tokens,
            added_tokens=template.added_tokens,
            tolerances=declared.tolerances,
            catalogue=declared.catalogue,
            examples=examples,
            seed=options.seed,
            thorough=options.thorough,
            warn=warnings.append,
            profile=request.profile,
            on_inexpressible=not_expressed.append,
            parser=request.parser,
        )
    warnings += _of_names(options, target)
    if options.strict:
        _refuse_unfinished(ir, not_expressed)
    writes = ir.verification.verified or options.allow_unverified
    with bounded(template.name, limits):
        grammar = _made(ir, request, target)
        named = replace(request, command=_command(options, target, request))
        text = driver.generate(ir, target, named) if writes else ""
    if writes:
        _write(options, target, request, text, config)
        _write_rule(options, rule)
    _report(ir, grammar, warnings, not_expressed, options, wrote=writes)
    if not writes:
        raise SystemExit(1)


def _refuse_unfinished(ir: TemplateIR, not_expressed: Sequence[Inexpressible]) -> None:
    if not_expressed:
        raise not_expressed[0].refused(ir.provenance.name)
    require_stops(ir, how=BY_OPTION)


def _template(options: CompileOptions) -> TemplateSource:
    template = inputs.load_template(options.source, options.template_name, options.special_tokens)
    for path in filter(None, (options.output, options.depfile)):
        check_not_input(path)
    return template


def _checked_files(options: CompileOptions) -> str:
    """Check that the files can be read and written; return the text of the file that receives a member (--into)."""
    check_output(options.output, force=options.force)
    config = _config(options)
    _check_input(options)
    _check_depfile(options)
    return config


def _of_names(options: CompileOptions, target: driver.Target) -> Iterator[TemplateWarning]:
    if options.target is None and (meant := driver.for_other_target(options.output, target)):
        what = f"the suffix makes this a {target} artifact, though the name says {meant}: -t {meant} or -t {target}"
        yield TemplateWarning(options.output, 0, 0, f"{what} decides")


def _write_rule(options: CompileOptions, rule: str) -> None:
    if options.depfile is not None:
        write_output(options.depfile, rule)


def _write(
    options: CompileOptions, target: driver.Target, request: driver.GrammarOptions, text: str, config: str
) -> None:
    if _is_only_shown(options):
        return
    if options.into is not None:
        write_output(options.into, with_member(config, "response_template", json.loads(text), options.into))
        return
    if request.parser.runtime == "shared":
        # First: a parser is never without it.
        write_output(_runtime_file(options), driver.shared_runtime())
    extension = extension_of(options.output)
    compiled = compile_native(text, options.output) if options.native else b""
    if target == "python" and options.output != "-" and is_native(extension):
        # It would be imported in place of what is written now.
        os.unlink(extension)
        if not options.native:
            print(f"tplc: removed {extension}, which was compiled from an earlier file", file=sys.stderr)
    write_output(options.output, text)
    if compiled:
        write_bytes(extension, compiled)


def _is_only_shown(options: CompileOptions) -> bool:
    """Return whether the artifact would only be printed on a terminal, where it is of no use."""
    return options.output == "-" and options.into is None and sys.stdout.isatty()


def _command(options: CompileOptions, target: driver.Target, request: driver.GrammarOptions) -> str:
    """Return the command for the header, with the name of a plug-in that the file's name determined."""
    return command_of(replace(options, name=request.plugin_name or None), target)


def _target(options: CompileOptions) -> driver.Target:
    if os.path.isdir(options.output):
        check_place(options.output)
    if options.into is None:
        target = options.target or ("python" if options.output == "-" else None)
        return driver.target_of(options.output, target, others=("training",))
    if options.output != "-":
        raise UsageError("--into names the file that is written: leave --output out")
    return driver.target_of("-", options.target or "response_template")


def _profile(options: CompileOptions, target: driver.Target) -> Profile:
    profile = next((name for name in PROFILES if name == options.profile), None)
    if profile is None:
        raise UsageError(unknown_name("profile", options.profile, PROFILES))
    if target == "response_template" and options.allow_unverified:
        raise UsageError(
            "--allow-unverified: a response template has no place for a mark, so none is written unverified"
        )
    return profile


def _config(options: CompileOptions) -> str:
    """Return the text of the file that receives a member, read before any work is done."""
    if options.into is None:
        return ""
    allow_amending(options.into)
    check_report(options.into)
    config = read_text(options.into)
    with_member(config, "response_template", None, options.into)
    return config


def _check_input(options: CompileOptions) -> None:
    inputs.check_standard_input(
        {"the template": options.source},
        {
            "the tools": [options.tools],
            "the schema": [options.json_schema],
            "the tolerances": options.variants.tolerances,
            "the examples": options.examples,
        },
    )


def _check_depfile(options: CompileOptions) -> None:
    """Raise an error unless a rule can be written: it needs one output.  The file may contain anything before."""
    if options.depfile is None:
        return
    if options.output == "-":
        raise UsageError("--depfile: a rule needs the output's name; give --output FILE")
    begins = "" if options.force else depfile(options.output, ()).strip()
    check_earlier(options.depfile, begins, not_ours(options.depfile))


def _used(options: CompileOptions, template: TemplateSource) -> list[str]:
    return [*template.files, *_asked(options)]


def _asked(options: CompileOptions) -> list[str]:
    """Returns the files that are read in addition to the template's own."""
    asked = [path for path in (options.tools, options.json_schema) if path not in (None, "-")]
    variants = [*options.variants.tolerances, *(file for path in options.variants.catalogue for file in files_in(path))]
    asked += [options.tokenizer] if options.tokenizer is not None and os.path.isfile(options.tokenizer) else []
    return [*variants, *options.examples, *filter(None, asked)]


def _grammar_options(options: CompileOptions, target: driver.Target) -> driver.GrammarOptions:
    """Return the options of the target."""
    plugin_name = _plugin_name(options, target)
    reasoning = _reasoning(options)
    parser = _parser(options)
    if target in driver.FOR_A_REQUEST and not options.tools and not options.json_schema:
        raise UsageError("a grammar is made for one request: give --tools FILE or --json-schema FILE")
    return driver.GrammarOptions(
        profile=_profile(options, target),
        parser=parser,
        plugin_name=plugin_name,
        on_incomplete=_on_incomplete(options),
        tools=tuple(read_tools(options.tools)) if options.tools else (),
        tool_choice=options.tool_choice,
        parallel_tool_calls=options.parallel,
        any_order=options.any_order,
        json_schema=read_schema(options.json_schema) if options.json_schema else None,
        context=inputs.variables(options.variables) if options.variables else None,
        strict=options.strict,
        most_characters=options.max_size,
        reasoning=reasoning,
        legacy=options.legacy,
        token_literals=options.token_literals,
    )


def _plugin_name(options: CompileOptions, target: driver.Target) -> str:
    server = next((name for name in PLUGINS if name == target), None)
    if server is None:
        return ""
    from tplc.targets.plugins import checked_name, default_name

    return default_name(options.output, options.source, server) if options.name is None else checked_name(options.name)


def _on_incomplete(options: CompileOptions) -> Literal["drop", "keep"]:
    if options.on_incomplete == "drop":
        return "drop"
    if options.on_incomplete != "keep":
        raise UsageError(f"--on-incomplete {options.on_incomplete}: expected drop or keep")
    return "keep"


def _parser(options: CompileOptions) -> driver.ParserOptions:
    runtime = next((name for name in get_args(Runtime) if name == options.runtime), None)
    if runtime is None:
        raise UsageError(f"--runtime {options.runtime}: expected {', '.join(get_args(Runtime)[:-1])} or installed")
    if runtime == "shared":
        if os.path.basename(options.output) == RUNTIME_FILE:
            raise UsageError(f"{options.output}: is the name of the shared runtime; give the parser another name")
        if options.output == "-":
            raise UsageError(f"--runtime shared writes {RUNTIME_FILE} next to the parser; give --output FILE")
        check_output(_runtime_file(options), force=options.force)
    if options.native:
        _check_native(options, runtime)
    return driver.ParserOptions(options.openai, runtime, options.main, options.responses, options.messages)


def _check_native(options: CompileOptions, runtime: Runtime) -> None:
    if runtime != "standalone":
        raise UsageError(f"--native is for --runtime standalone, not for {runtime}")
    if options.output == "-":
        raise UsageError("--native writes an extension next to the parser; give --output FILE")
    check_native(options.output)
    extension = extension_of(options.output)
    if os.path.lexists(extension) and not options.force and not is_native(extension):
        raise not_ours(extension)


def _runtime_file(options: CompileOptions) -> str:
    return os.path.join(os.path.dirname(options.output), RUNTIME_FILE)


def _made(ir: TemplateIR, request: driver.GrammarOptions, target: driver.Target) -> Grammar | LarkGrammar | None:
    if target == "lark":
        made = driver.make_lark(ir, request)
        check_read(ir.provenance.name, made)
        return made
    return driver.make_grammar(ir, request) if target in driver.FOR_A_REQUEST else None


def _with_tokens(
    options: CompileOptions, target: driver.Target, template: TemplateSource, request: driver.GrammarOptions
) -> tuple[TemplateSource, driver.GrammarOptions]:
    """Return the template with the added tokens of `--tokenizer` instead of its own; for lark, also the request with
    them."""
    if target == "lark":  # its grammars take all tokens, also those that stand in no marker
        return template, replace(request, tokens=_added_tokens(options, template))
    if options.tokenizer is None:
        return template, request
    load_added_tokens(options.tokenizer)  # raises SourceError if there are none
    return replace(template, added_tokens=load_tokens(options.tokenizer).added_tokens), request


def _added_tokens(options: CompileOptions, template: TemplateSource) -> tuple[AddedToken, ...] | None:
    """Return the tokens of the named tokenizer, otherwise those of the template's source; None if none are known."""
    if options.tokenizer is not None:
        return load_added_tokens(options.tokenizer)
    existing = [path for path in options.special_tokens if "=" not in path and os.path.exists(path)]
    # A template file alone doesn't list the tokenizer's tokens.
    found = [options.source] if template.files and template.files != (options.source,) else []
    for path in (*existing, *found):
        try:
            return load_added_tokens(path)
        except SourceError:
            continue
    return None


def _reasoning(options: CompileOptions) -> Literal["inside", "outside"]:
    where = options.tag_reasoning
    if where == "inside":
        return "inside"
    if where != "outside":
        raise UsageError(f"--tag-reasoning {where}: expected inside or outside")
    return "outside"


def _report(
    ir: TemplateIR,
    grammar: Grammar | LarkGrammar | None,
    warnings: list[TemplateWarning],
    not_expressed: list[Inexpressible],
    options: CompileOptions,
    *,
    wrote: bool,
) -> None:
    output = options.into or options.output
    where = output if wrote and output != "-" else None
    if where is not None and options.runtime == "shared" and not options.as_json:
        where = f"{where}, {_runtime_file(options)}"
    if where is not None and options.native and not options.as_json:
        where = f"{where}, {extension_of(options.output)}"
    if options.as_json:
        report = report_dict(ir, where)
        report["warnings"] = [asdict(one) for one in (*warnings, *unfinished_warnings(ir, how=BY_OPTION))]
        if grammar is not None:
            report["grammar"] = grammar.to_json()
        if not_expressed:
            report["not_expressed"] = [asdict(one) for one in not_expressed]
        print_json(report, sys.stderr)
    elif options.quiet and ir.verification.verified:
        # Only rows that require action, without those that describe the format.
        of_grammar = [*unknown_rows(grammar), *difference_rows(grammar)]
        print_rows([*token_rows(ir), *of_grammar, *warning_rows(warnings)], sys.stderr)
    else:
        print_report(ir, grammar, where, warnings, not_expressed)
        if wrote and _is_only_shown(options):
            print("tplc: nothing written: give -o FILE, or pipe the output to a file or a command", file=sys.stderr)
        if not wrote:
            print("tplc: nothing written: verification failed (--allow-unverified writes it marked)", file=sys.stderr)
