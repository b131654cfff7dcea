"""The commands and their options. Each command's function is in a file of its own, imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tplc.cli import complete
from tplc.cli.command import Command, Commands
from tplc.cli.declare import DeclaredCommand
from tplc.cli.options import (
    NO_VARIANTS,
    CatalogueFolders,
    CompileOptions,
    Examples,
    LimitOption,
    MaskOptions,
    Name,
    NoCatalogue,
    Seed,
    Source,
    SpreadEngine,
    Thorough,
    Tokens,
    ToolsOption,
    Variables,
    Variants,
)
from tplc.version import VERSION

app = typer.Typer(
    name="tplc",
    cls=Commands,
    help="Compile chat templates into parsers and grammars for the model's output.",
    epilog="Exit code 1: the template or the artifact is not right.  Exit code 2: wrong usage, or input that cannot be "
    "read.  Colours and progress are shown on terminals only. NO_COLOR turns colours off.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(name: str, *, short_help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def declare(function: Callable[..., None]) -> Callable[..., None]:
        return app.command(name, cls=Command, short_help=short_help)(DeclaredCommand(function))

    return declare


def keep_command(name: str) -> None:
    """Drop all other commands if there is one of this name: reading the options of all takes longer than many
    commands."""
    app.registered_commands = [one for one in app.registered_commands if one.name == name] or app.registered_commands


ROWS = "Rows"
BATCH_SIZE = 1000


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tplc {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


@command("compile", short_help="Compile a template to a parser or a grammar, and verify it.")
def compile_(options: CompileOptions) -> None:
    """Compile a template into a parser, a grammar, or its format as JSON, and verify it.

    The report goes to standard error.  Exit code 1: the template cannot be compiled, or verification failed (then no
    file is written).  Exit code 2: wrong usage, or input that cannot be read.
    """
    from tplc.cli.compile import compile_command, watch_command

    if options.target == "training":
        from tplc.cli.training import training_command

        training_command(options)
    elif options.watch:
        watch_command(options, [argument for argument in sys.argv[2:] if argument != "--watch"])
    else:
        compile_command(options)


@command("mask", short_help="Make token ids and training masks of conversations.")
def mask_(options: MaskOptions) -> None:
    """Write token ids and masks of conversations: which tokens a model generates.

    Adds the columns input_ids, assistant_masks, and mask_error, which says why a row has neither.  Exit code 1: no row
    has a mask.  Exit code 2: wrong usage, or input that cannot be read.
    """
    from tplc.cli.mask import mask_command

    mask_command(options)


@command("inspect", short_help="Show a template's format: modes, markers, sample turns.")
def inspect_(
    source: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), or an IR (.json).", show_default=False, autocompletion=complete.sources
        ),
    ],
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="Print the format as JSON.")] = False,
    as_text: Annotated[bool, typer.Option("--text", help="Print the format as text, one fact per line.")] = False,
    as_peg: Annotated[bool, typer.Option("--peg", help="Print the format as a parsing expression grammar.")] = False,
    as_states: Annotated[
        bool,
        typer.Option("--states", help="Print a parser's states: the markers that count in each, and where they lead."),
    ] = False,
    as_dot: Annotated[bool, typer.Option("--dot", help="Print the states as a graph, for Graphviz.")] = False,
) -> None:
    """Show the format of a template: modes, markers, and a sample turn with its parts coloured."""
    from tplc.cli.inspect import inspect_command

    inspect_command(
        source,
        template_name,
        special_tokens,
        variants,
        limits,
        as_json=as_json,
        as_text=as_text,
        as_peg=as_peg,
        as_states=as_states,
        as_dot=as_dot,
    )


@command("parse", short_help="Parse a model's output into a message.")
def parse_(
    source: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), an IR (.json), or a generated parser (.py).",
            show_default=False,
            autocompletion=complete.sources,
        ),
    ],
    file: Annotated[
        str,
        typer.Argument(
            help="The model's output; - is standard input.  Or a file of rows (.parquet, .jsonl), or a folder of them."
        ),
    ] = "-",
    tools: ToolsOption = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="FILE", help="The prompt that the output continues.")
    ] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Print deltas as they arrive, one JSON line each.")] = False,
    reasoning: Annotated[
        bool, typer.Option("--reasoning/--no-reasoning", help="Separate reasoning from content, or leave it there.")
    ] = True,
    tool_calls: Annotated[
        bool, typer.Option("--tool-calls/--no-tool-calls", help="Separate calls from content, or leave them there.")
    ] = True,
    echo: Annotated[
        bool, typer.Option("--echo", help="Put the part of the answer that the prompt contains into the message.")
    ] = False,
    continued: Annotated[
        bool, typer.Option("--continue-final-message", help="The prompt ends with the beginning of this answer.")
    ] = False,
    with_peg: Annotated[
        bool, typer.Option("--with-peg", help="Parse with the format's PEG, a second implementation.")
    ] = False,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
    column: Annotated[
        str | None,
        typer.Option(
            "--column", metavar="NAME", help="The column of outputs: text, or token ids.", rich_help_panel=ROWS
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write: a .parquet or .jsonl file, a folder, or - for JSON lines on standard output.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    prompt_column: Annotated[
        str | None,
        typer.Option("--prompt-column", metavar="NAME", help="The column of prompts, as text.", rich_help_panel=ROWS),
    ] = None,
    tools_column: Annotated[
        str | None,
        typer.Option("--tools-column", metavar="NAME", help="The column of tools, as JSON.", rich_help_panel=ROWS),
    ] = None,
    parser_column: Annotated[
        str | None,
        typer.Option(
            "--parser-column",
            metavar="NAME",
            help="The column with the name of each row's parser; SOURCE is a folder of NAME.py.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", metavar="FILE", help="A tokenizer.json, for token ids.", rich_help_panel=ROWS),
    ] = None,
    struct: Annotated[
        bool, typer.Option("--struct", help="Write one column, message, instead of five.", rich_help_panel=ROWS)
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            autocompletion=complete.row_engines,
            help="ray, datasets or pyarrow; the first that is installed by default.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="ADDRESS", help="The address of a Ray cluster.", rich_help_panel=ROWS),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Number of workers.", rich_help_panel=ROWS)
    ] = None,
    batch_size: Annotated[
        int, typer.Option("--batch-size", metavar="N", min=1, help="Rows per batch.", rich_help_panel=ROWS)
    ] = BATCH_SIZE,
    resume: Annotated[bool, typer.Option("--resume", help="Skip existing files.", rich_help_panel=ROWS)] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.", rich_help_panel=ROWS)] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print message, diagnostics and the rest as one JSON object; for rows, the summary."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No summary.", rich_help_panel=ROWS)] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html", metavar="FILE", help="Write the summary as a page, with sample rows.", rich_help_panel=ROWS
        ),
    ] = None,
) -> None:
    """Parse a model's output into a message, printed as JSON.  Diagnostics go to standard error, or with --json into
    the object that is printed.  A template is learned here and not verified; tplc compile verifies it.

    With --column: parse a column of outputs in files of rows, and write the rows with their messages.
    """
    from tplc.cli.parse import ParseOptions, check_no_rows, check_rows, implementation, parse_command

    engine, with_peg = implementation(engine, with_peg=with_peg)
    if column is not None:
        from tplc.cli.rows import RowOptions, rows_command

        check_rows(
            {
                "--stream": stream,
                "--prompt": prompt is not None,
                "--echo": echo,
                "--continue-final-message": continued,
                "--no-reasoning": not reasoning,
                "--no-tool-calls": not tool_calls,
                "--with-peg": with_peg,
            }
        )
        rows_command(
            RowOptions(
                source=source,
                rows=file,
                output=output,
                column=column,
                prompt_column=prompt_column,
                tools_column=tools_column,
                parser_column=parser_column,
                tools=tools,
                tokenizer=tokenizer,
                struct=struct,
                engine=engine,
                address=address,
                jobs=jobs,
                batch_size=batch_size,
                resume=resume,
                force=force,
                as_json=as_json,
                quiet=quiet,
                html=html,
                template_name=template_name,
                special_tokens=special_tokens,
                variants=variants,
                limits=limits,
            )
        )
        return
    check_no_rows(
        file,
        output,
        {
            "--html": html is not None,
            "--prompt-column": prompt_column is not None,
            "--tools-column": tools_column is not None,
            "--parser-column": parser_column is not None,
            "--tokenizer": tokenizer is not None,
            "--struct": struct,
            "--engine": engine is not None,
            "--address": address is not None,
            "--jobs": jobs is not None,
            "--batch-size": batch_size != BATCH_SIZE,
            "--resume": resume,
            "--force": force,
            "--quiet": quiet,
        },
    )
    parse_command(
        ParseOptions(
            source=source,
            file=file,
            tools=tools,
            prompt=prompt,
            stream=stream,
            as_json=as_json,
            parse_reasoning=reasoning,
            parse_tool_calls=tool_calls,
            echo=echo,
            template_name=template_name,
            special_tokens=special_tokens,
            variants=variants,
            limits=limits,
            with_peg=with_peg,
            continued=continued,
        )
    )


@command("verify", short_help="Verify an existing artifact against a template.")
def verify_(
    source: Source,
    artifact: Annotated[str, typer.Argument(help="The parser to verify, or an IR as JSON.", show_default=False)],
    template_name: Name = None,
    special_tokens: Tokens = (),
    seed: Seed = 0,
    thorough: Thorough = False,
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, on standard output.")] = False,
) -> None:
    """Verify an existing artifact against a template: render messages, parse them, compare.

    Exit code 1: a message did not come back, or the artifact was made from another template.
    """
    from tplc.cli.verify import verify_command

    verify_command(
        source,
        artifact,
        template_name,
        special_tokens,
        limits,
        seed=seed,
        thorough=thorough,
        as_json=as_json,
    )


@command("render", short_help="Render messages into a prompt.")
def render_(
    source: Source,
    messages: Annotated[
        str,
        typer.Argument(help="A JSON file: messages, or a request with messages and tools; - is standard input."),
    ] = "-",
    tools: ToolsOption = None,
    generation_prompt: Annotated[
        bool,
        typer.Option(
            "--generation-prompt/--no-generation-prompt", help="End with the generation prompt, or without it."
        ),
    ] = True,
    variables: Variables = (),
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
) -> None:
    """Render messages into a prompt."""
    from tplc.cli.render import render_command

    render_command(
        source,
        messages,
        tools,
        template_name,
        special_tokens,
        variables,
        limits,
        generation_prompt=generation_prompt,
    )


@command("prepare", short_help="Turn a request into prompt, grammar, stops, parser options.")
def prepare_(
    source: Source,
    request: Annotated[
        str, typer.Argument(help="A JSON file: the body of a chat-completions request; - is standard input.")
    ] = "-",
    ir: Annotated[
        str | None,
        typer.Option(
            "--ir", metavar="FILE", help="The template's IR; otherwise the format is learned from the template."
        ),
    ] = None,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Print what a server needs for a request: prompt, grammar, stop texts and parser options, as JSON."""
    from tplc.cli.prepare import prepare_command

    prepare_command(source, request, ir, template_name, special_tokens, variants, limits)


@command("explain", short_help="Show how a format is learned, comparison by comparison.")
def explain_(
    source: Source,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page instead.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the comparisons as JSON; with -v, all questions too.")
    ] = False,
    step: Annotated[bool, typer.Option("--step", help="Wait after each comparison.")] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "-v", "--verbose", count=True, show_default=False, help="Show all questions (-v), with whole renders (-vv)."
        ),
    ] = 0,
    template_name: Name = None,
    special_tokens: Tokens = (),
    examples: Examples = (),
    limits: LimitOption = (),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")] = False,
) -> None:
    """Show how a format is learned: which conversations are compared, how their renders differ, and what follows."""
    from tplc.cli.explain import explain_command

    explain_command(
        source,
        template_name,
        special_tokens,
        examples,
        limits,
        html=html,
        as_json=as_json,
        step=step,
        force=force,
        verbose=verbose,
    )


@command("try", short_help="Show the parts and deltas of an output that you paste.")
def try_(
    source: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), an IR (.json), or a generated parser (.py).",
            show_default=False,
            autocompletion=complete.sources,
        ),
    ],
    file: Annotated[str, typer.Argument(help="The model's output; - is standard input, to paste it.")] = "-",
    tools: ToolsOption = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="FILE", help="The prompt that the output continues.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option("--chunk", metavar="N", min=1, help="Characters per chunk; by default about a token.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print parts, deltas and message as JSON.")] = False,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Show a model's output split into its parts, and the deltas as they would stream.  A template is learned here and
    not verified; tplc compile verifies it."""
    from tplc.cli.attempt import try_command
    from tplc.cli.parse import ParseOptions

    try_command(
        ParseOptions(
            source=source,
            file=file,
            tools=tools,
            prompt=prompt,
            stream=True,
            parse_reasoning=True,
            parse_tool_calls=True,
            echo=False,
            template_name=template_name,
            special_tokens=special_tokens,
            variants=variants,
            limits=limits,
        ),
        chunk=chunk,
        as_json=as_json,
    )


@command("doctor", short_help="List what to set on the server of a model.")
def doctor_(
    source: Source,
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="Print the settings as JSON.")] = False,
) -> None:
    """List the settings that vLLM, SGLang, llama.cpp and transformers need for this model's format.

    If the source has a tokenizer, the list shows which markers are tokens of the model.
    """
    from tplc.cli.doctor import doctor_command

    doctor_command(source, template_name, special_tokens, limits, as_json=as_json)


@command("lint", short_help="Report what a format loses or confuses.")
def lint_(
    source: Source,
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there is a remark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the remarks as JSON.")] = False,
) -> None:
    """Write messages in a template's format, read them back, and report what the format loses or confuses.

    Verification checks whether a parser is right about a template.  This checks whether the format is a good one: which
    values, keys and texts do not come back, what is ambiguous, and what would be better.
    """
    from tplc.cli.design import lint_command

    lint_command(source, template_name, special_tokens, limits, strict=strict, as_json=as_json)


@command("new", short_help="Start a template with a chosen layout and tests.")
def new_(
    folder: Annotated[str, typer.Argument(help="The folder to create; its name is the model's.", show_default=False)],
    layout: Annotated[
        str,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            autocompletion=complete.layouts,
            help="json, parameters, keywords or channels: how calls are written.",
        ),
    ] = "json",
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Write the outputs of an existing folder again, after a change.")
    ] = False,
) -> None:
    """Start a chat template, with a manifest, outputs in its format, and a test that reads them.

    The result compiles, verifies and passes its test.  Change the markers, then run tplc build, tplc new --refresh and
    tplc lint.
    """
    from tplc.cli.design import new_command, refresh_command

    if refresh:
        refresh_command(folder)
    else:
        new_command(folder, layout)


Models = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL", autocompletion=complete.models, help="Models of the manifest; all of them by default."
    ),
]
ManifestFile = Annotated[
    str | None,
    typer.Option(
        "-m",
        "--manifest",
        metavar="FILE",
        help="tplc.toml, or a pyproject.toml with [tool.tplc]; by default the nearest one, upwards.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", metavar="N", min=1, help="Number of models at a time; by default one per processor."),
]
StrictModels = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Make a model fail if a special token that ends an answer is not given, or if a target cannot express "
        "the format or a schema.",
    ),
]


@command("build", short_help="Build the outdated files of a manifest.")
def build_(
    models: Models = None,
    manifest: ManifestFile = None,
    jobs: Jobs = None,
    engine: SpreadEngine = "processes",
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="The address of a Ray cluster.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also build current models and earlier failures, and overwrite files that tplc did not generate.",
        ),
    ] = False,
    strict: StrictModels = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only warnings and failures.")] = False,
) -> None:
    """Build the files of a manifest that are not current.

    Exit code 1: a model's template is not right; the other models are built.  Exit code 2: the manifest is
    wrong, or a source cannot be read.
    """
    from tplc.cli.build import build_command

    build_command(
        models or [],
        manifest,
        jobs=jobs,
        engine=engine,
        address=address,
        force=force,
        strict=strict,
        as_json=as_json,
        quiet=quiet,
    )


@command("check", short_help="Check in CI that all files of a manifest are current.")
def check_(
    models: Models = None,
    manifest: ManifestFile = None,
    jobs: Jobs = None,
    output_format: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", autocompletion=complete.formats, help="text, github (annotations) or json."
        ),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    junit: Annotated[str | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit report as well.")] = None,
    strict: StrictModels = False,
) -> None:
    """Build the manifest's files in memory and compare them with the existing ones.  Nothing is written.

    Exit code 1: an output is missing, stale, edited or unverified, or a model's template is not right.  Exit code 2:
    the manifest is wrong, or a source cannot be read.
    """
    from tplc.cli.build import check_command

    output_format = "json" if as_json else output_format
    check_command(models or [], manifest, jobs=jobs, output_format=output_format, junit=junit, strict=strict)


@command("init", short_help="Start a manifest.")
def init_(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE", help="Templates to list (as for compile).")
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Where to write.")] = "tplc.toml",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing manifest.")] = False,
) -> None:
    """Start a manifest."""
    from tplc.cli.build import init_command

    init_command(sources or [], output, force=force)


@command("schema", short_help="Print JSON schemas of tplc's files, for editors.")
def schema_(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The schema's name; without it, list the names.", show_default=False, autocompletion=complete.schemas
        ),
    ] = None,
) -> None:
    """Print the JSON schema of a kind of file: manifests, tolerance files, catalogue entries, output of --json."""
    from tplc.cli.schema import schema_command

    schema_command(name)


@command("census", short_help="Compile a collection of templates and compare runs.")
def census_(
    place: Annotated[
        str,
        typer.Argument(help="A folder of templates, or a file with a source on each line.", show_default=False),
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the table: .parquet, or JSON lines.")
    ] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page as well.")] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="FILE", help="The table of an earlier census; report what changed since then."
        ),
    ] = None,
    engine: SpreadEngine = "processes",
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="The address of a Ray cluster.")
    ] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Number of processes.")] = None,
    limits: LimitOption = (),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print entries and changes as JSON.")] = False,
) -> None:
    """Compile all templates of a collection and report on each: formats, verification, warnings, time.

    Exit code 1: with --against, if a template that verified no longer does.  Exit code 2: wrong usage, or a source that
    cannot be read (the table has the others).
    """
    from tplc.cli.census import CensusOptions, census_command

    census_command(
        CensusOptions(
            place=place,
            output=output,
            html=html,
            against=against,
            engine=engine,
            address=address,
            jobs=jobs,
            force=force,
            as_json=as_json,
            limits=limits,
        )
    )


@command("diff", short_help="Show what changed between two formats, and if it matters.")
def diff_(
    first: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), an IR (.json), or a generated parser or grammar.", show_default=False
        ),
    ],
    second: Annotated[str, typer.Argument(help="The later version of it.", show_default=False)],
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what changed between two formats, and whether a parser for the first reads the output of the second.

    A parser is compared by running it.  For a grammar, the IR (.json) of the same template in the same folder is
    compared.

    Exit code 0: the parser reads all of it.  Exit code 1: it does not.
    """
    from tplc.cli.diff import diff_command

    diff_command(first, second, template_name, special_tokens, limits, as_json=as_json)


@command("catalogue", short_help="List the observed variants that tplc knows.")
def catalogue_(
    catalogue: CatalogueFolders = (),
    no_catalogue: NoCatalogue = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
) -> None:
    """List the catalogue: the markers of each entry, the variants it adds to formats with them, and the source.

    An entry applies to any template that has its markers.  --no-catalogue of other commands disables all entries.
    """
    from tplc.cli.catalogue import catalogue_command

    catalogue_command(Variants(catalogue=catalogue, no_catalogue=no_catalogue), as_json=as_json)


@command("observe", short_help="Check recorded outputs and propose tolerances.")
def observe_(
    source: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), or an IR (.json).", show_default=False, autocompletion=complete.sources
        ),
    ],
    outputs: Annotated[
        str,
        typer.Argument(
            help="Outputs: .jsonl or .parquet with text (or output), prompt, tools; or .txt.", show_default=False
        ),
    ],
    tools: ToolsOption = None,
    try_it: Annotated[bool, typer.Option("--try", help="Show the effect of the proposed tolerances.")] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the proposed tolerances, for --tolerances."),
    ] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page as well.")] = None,
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 if more than PERCENT of the outputs are odd.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Read recorded outputs with the parser of a template: which are clean, which are odd, and why.

    An output is odd if it is truncated, if the parser reports a diagnostic, if its content or reasoning contains
    something like a marker, if it calls an unknown tool, or if arguments do not match the tool's schema.  A proposed
    tolerance names a marker and the text that occurs in its place.
    """
    from tplc.cli.observe import ObserveOptions, observe_command

    observe_command(
        ObserveOptions(
            source=source,
            outputs=outputs,
            tools=tools,
            template_name=template_name,
            special_tokens=special_tokens,
            variants=variants,
            limits=limits,
            try_it=try_it,
            write=output,
            html=html,
            fail_above=fail_above,
            force=force,
            as_json=as_json,
        )
    )
