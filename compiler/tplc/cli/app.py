"""The commands and their options.  What a command does stands in a file of its own, imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tplc.cli import complete
from tplc.cli.command import Command
from tplc.cli.declare import declared
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
    help="Compile chat templates into parsers and grammars for what the model answers.",
    epilog="Exit code 1: the template or the artifact is not right.  Exit code 2: wrong usage, or input that cannot be "
    "read.  Colours and progress are for terminals only; NO_COLOR is minded.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(name: str, *, short_help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def declare(function: Callable[..., None]) -> Callable[..., None]:
        return app.command(name, cls=Command, short_help=short_help)(declared(function))

    return declare


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


@command("compile", short_help="A template to a parser or a grammar, verified.")
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


@command("mask", short_help="Conversations to token ids and training masks.")
def mask_(options: MaskOptions) -> None:
    """Write token ids and masks of conversations: which tokens a model generates.

    Adds the columns input_ids, assistant_masks, and mask_error, which says why a row has neither.  Exit code 1: no row
    has a mask.  Exit code 2: wrong usage, or input that cannot be read.
    """
    from tplc.cli.mask import mask_command

    mask_command(options)


@command("inspect", short_help="The format of a template: modes, markers, sample turns.")
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
    as_json: Annotated[bool, typer.Option("--json", help="The format as JSON.")] = False,
    as_text: Annotated[bool, typer.Option("--text", help="The format as lines of text, one fact a line.")] = False,
    as_peg: Annotated[bool, typer.Option("--peg", help="The format as a parsing expression grammar.")] = False,
    as_states: Annotated[
        bool, typer.Option("--states", help="The states of a parser: what counts in each, and where it leads.")
    ] = False,
    as_dot: Annotated[bool, typer.Option("--dot", help="The states as a graph, for Graphviz.")] = False,
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


@command("parse", short_help="A model's output to a message.")
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
            help="The model's output; - is standard input.  Or a file of rows (.parquet, .jsonl), or a folder of such."
        ),
    ] = "-",
    tools: ToolsOption = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="FILE", help="The prompt that the output continues.")
    ] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Print deltas, a JSON line each, as they come.")] = False,
    reasoning: Annotated[
        bool, typer.Option("--reasoning/--no-reasoning", help="Whether reasoning is told from content.")
    ] = True,
    tool_calls: Annotated[
        bool, typer.Option("--tool-calls/--no-tool-calls", help="Whether calls are told from content.")
    ] = True,
    echo: Annotated[bool, typer.Option("--echo", help="Put what the prompt prefills into the message.")] = False,
    continued: Annotated[
        bool, typer.Option("--continue-final-message", help="The prompt ends with the beginning of this answer.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            autocompletion=complete.row_engines,
            help="parser, or peg for the grammar's reading; of rows: ray, datasets or pyarrow, the first installed.",
        ),
    ] = None,
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
            help="A .parquet or .jsonl file, a folder, or - for lines.",
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
        bool, typer.Option("--struct", help="Write one column, message, with all of it.", rich_help_panel=ROWS)
    ] = False,
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="Of a Ray cluster.", rich_help_panel=ROWS)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Workers.", rich_help_panel=ROWS)
    ] = None,
    batch_size: Annotated[
        int, typer.Option("--batch-size", metavar="N", min=1, help="Rows at once.", rich_help_panel=ROWS)
    ] = BATCH_SIZE,
    resume: Annotated[
        bool, typer.Option("--resume", help="Leave the files that are there; do the others.", rich_help_panel=ROWS)
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write anew what is there.", rich_help_panel=ROWS)] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The summary as JSON, on standard output.", rich_help_panel=ROWS)
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No summary.", rich_help_panel=ROWS)] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html", metavar="FILE", help="Write the summary as a page, with rows to look at.", rich_help_panel=ROWS
        ),
    ] = None,
) -> None:
    """Parse a model's output into a message, printed as JSON.  What was odd about it goes to standard error.

    With --column: parse a column of outputs in files of rows, and write the rows with their messages.
    """
    from tplc.cli.parse import ParseOptions, check_no_rows, check_rows, parse_command

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
            "--address": address is not None,
            "--jobs": jobs is not None,
            "--batch-size": batch_size != BATCH_SIZE,
            "--resume": resume,
            "--force": force,
            "--json": as_json,
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
            parse_reasoning=reasoning,
            parse_tool_calls=tool_calls,
            echo=echo,
            template_name=template_name,
            special_tokens=special_tokens,
            variants=variants,
            limits=limits,
            engine=engine or "parser",
            continued=continued,
        )
    )


@command("verify", short_help="Check an artifact that is there against a template.")
def verify_(
    source: Source,
    artifact: Annotated[str, typer.Argument(help="The parser to verify, or an IR as JSON.", show_default=False)],
    template_name: Name = None,
    special_tokens: Tokens = (),
    seed: Seed = 0,
    thorough: Thorough = False,
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON, on standard output.")] = False,
) -> None:
    """Verify an existing artifact against a template: render messages, parse them, compare.

    Exit code 1: something did not come back, or the artifact was made from another template.
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


@command("render", short_help="Messages to a prompt.")
def render_(
    source: Source,
    messages: Annotated[
        str,
        typer.Argument(help="A JSON file: messages, or a request with messages and tools; - is standard input."),
    ] = "-",
    tools: ToolsOption = None,
    generation_prompt: Annotated[
        bool, typer.Option("--generation-prompt/--no-generation-prompt", help="Whether the model answers next.")
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


@command("prepare", short_help="A request to prompt, grammar, stops and keywords.")
def prepare_(
    source: Source,
    request: Annotated[
        str, typer.Argument(help="A JSON file: the body of a chat-completions request; - is standard input.")
    ] = "-",
    ir: Annotated[
        str | None, typer.Option("--ir", metavar="FILE", help="The template's IR; without it, it is learned anew.")
    ] = None,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Print what a server needs for a request: prompt, grammar, stops, and the parser's keywords, as JSON."""
    from tplc.cli.prepare import prepare_command

    prepare_command(source, request, ir, template_name, special_tokens, variants, limits)


@command("explain", short_help="How a format is learned, comparison by comparison.")
def explain_(
    source: Source,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page instead.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The comparisons as JSON; with -v, all that was asked as well.")
    ] = False,
    step: Annotated[bool, typer.Option("--step", help="Wait after each comparison.")] = False,
    verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="All that was asked (-v), with whole renders (-vv).")
    ] = 0,
    template_name: Name = None,
    special_tokens: Tokens = (),
    examples: Examples = (),
    limits: LimitOption = (),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a page that is there.")] = False,
) -> None:
    """Show how a format is learned: which conversations are compared, how their renders differ, what that tells."""
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


@command("try", short_help="Paste an output: its parts, and its deltas.")
def try_(
    source: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), an IR (.json), or a generated parser (.py).",
            show_default=False,
            autocompletion=complete.sources,
        ),
    ],
    file: Annotated[str, typer.Argument(help="The model's output; - is standard input: paste it.")] = "-",
    tools: ToolsOption = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="FILE", help="The prompt that the output continues.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option("--chunk", metavar="N", min=1, help="Characters at a time; else about a token's.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Parts, deltas and message as JSON.")] = False,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Show a model's output split into its parts, and the deltas as they would stream."""
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


@command("doctor", short_help="What to set where a model is served.")
def doctor_(
    source: Source,
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="The advice as JSON.")] = False,
) -> None:
    """Say in one page what vLLM, SGLang, llama.cpp and transformers have to be told of this model's format.

    Which markers are tokens of the model's own is read from its tokenizer, where the source has one.
    """
    from tplc.cli.doctor import doctor_command

    doctor_command(source, template_name, special_tokens, limits, as_json=as_json)


@command("lint", short_help="What a format cannot say, for its designer.")
def lint_(
    source: Source,
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 when there is anything to remark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The remarks as JSON.")] = False,
) -> None:
    """Write messages in a template's format, read them back, and say what the format loses or confuses.

    Verification asks whether a parser is right about a template.  This asks whether the format is a good one: which
    values, keys and texts do not come back, what cannot be told apart, and what would be better.
    """
    from tplc.cli.design import lint_command

    lint_command(source, template_name, special_tokens, limits, strict=strict, as_json=as_json)


@command("new", short_help="Start a template of a chosen layout, with its tests.")
def new_(
    folder: Annotated[str, typer.Argument(help="The folder to make; its name is the model's.", show_default=False)],
    layout: Annotated[
        str,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            autocompletion=complete.layouts,
            help="json, parameters, keywords or channels: how calls are written.",
        ),
    ] = "json",
) -> None:
    """Start a chat template: with a manifest, outputs in its format, and a test that reads them.

    What is made compiles, verifies and passes its test; change the markers, then tplc build and tplc lint tell.
    """
    from tplc.cli.design import new_command

    new_command(folder, layout)


Models = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL", autocompletion=complete.models, help="Models of the manifest; all, when none is named."
    ),
]
ManifestFile = Annotated[
    str | None,
    typer.Option(
        "-m", "--manifest", metavar="FILE", help="tplc.toml, or a pyproject.toml with [tool.tplc]; the nearest above."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", metavar="N", help="Models at a time; as many as there are processors.")
]
StrictModels = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Models fail whose outputs are unfinished: an answer ends with a special token that is not given, or a "
        "target cannot express the format or a schema.",
    ),
]


@command("build", short_help="Build what the manifest lists and is not current.")
def build_(
    models: Models = None,
    manifest: ManifestFile = None,
    jobs: Jobs = None,
    engine: SpreadEngine = "processes",
    address: Annotated[str | None, typer.Option("--address", metavar="ADDRESS", help="Of a Ray cluster.")] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Build what is current or failed before, too, and overwrite files of others."),
    ] = False,
    strict: StrictModels = False,
    as_json: Annotated[bool, typer.Option("--json", help="The outcomes as JSON.")] = False,
) -> None:
    """Build what the manifest lists, where it is not current.

    Exit code 1: a model's template is not right (the others are built nevertheless).  Exit code 2: the manifest is
    wrong, or what a model is made from cannot be read.
    """
    from tplc.cli.build import build_command

    build_command(
        models or [], manifest, jobs=jobs, engine=engine, address=address, force=force, strict=strict, as_json=as_json
    )


@command("check", short_help="For CI: are all outputs what would be built?")
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
    """Make anew what the manifest lists, and say whether what is there is that; nothing is written.

    Exit code 1: an output is missing, stale, edited or unverified, or a model's template is not right.  Exit code 2:
    the manifest is wrong, or what a model is made from cannot be read.
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite a manifest that is there.")] = False,
) -> None:
    """Start a manifest."""
    from tplc.cli.build import init_command

    init_command(sources or [], output, force=force)


@command("schema", short_help="JSON schemas of tplc's files, for editors.")
def schema_(
    name: Annotated[
        str | None,
        typer.Argument(help="Which; without it they are listed.", show_default=False, autocompletion=complete.schemas),
    ] = None,
) -> None:
    """Print the JSON schema of a kind of file: manifests, tolerance files, entries of a catalogue, what tplc writes."""
    from tplc.cli.schema import schema_command

    schema_command(name)


@command("census", short_help="A collection of templates at once: what each is compiled to.")
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
        str | None, typer.Option("--against", metavar="FILE", help="The table of an earlier census: tell what changed.")
    ] = None,
    engine: SpreadEngine = "processes",
    address: Annotated[str | None, typer.Option("--address", metavar="ADDRESS", help="Of a Ray cluster.")] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Processes.")] = None,
    limits: LimitOption = (),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a table that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Entries and changes as JSON.")] = False,
) -> None:
    """Compile all templates of a collection and say what came of each: formats, verification, warnings, time.

    Exit code 1: with --against, when a template that verified no longer does.
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


@command("diff", short_help="What changed between two formats; does it matter?")
def diff_(
    first: Annotated[
        str,
        typer.Argument(
            help="A template (as for compile), an IR (.json), or a generated parser or grammar.", show_default=False
        ),
    ],
    second: Annotated[str, typer.Argument(help="The one after it.", show_default=False)],
    template_name: Name = None,
    special_tokens: Tokens = (),
    limits: LimitOption = (),
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Say what changed between two formats, and whether a parser of the first reads what the second writes.

    A parser is run as it is; a grammar's format is the IR (.json) of the same template beside it.

    Exit code 0: it does, whatever changed.  Exit code 1: it does not.
    """
    from tplc.cli.diff import diff_command

    diff_command(first, second, template_name, special_tokens, limits, as_json=as_json)


@command("catalogue", short_help="The observed variants that tplc knows of.")
def catalogue_(
    catalogue: CatalogueFolders = (),
    no_catalogue: NoCatalogue = False,
    as_json: Annotated[bool, typer.Option("--json", help="The entries as JSON.")] = False,
) -> None:
    """List the catalogue: which markers an entry is for, what it adds to formats that have them, where that was seen.

    An entry applies to any template that has its markers; --no-catalogue of the other commands leaves all of them out.
    """
    from tplc.cli.catalogue import catalogue_command

    catalogue_command(Variants(catalogue=catalogue, no_catalogue=no_catalogue), as_json=as_json)


@command("observe", short_help="Recorded outputs: what is odd, what would mend it.")
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
    try_it: Annotated[bool, typer.Option("--try", help="Show what the proposed tolerances would change.")] = False,
    write: Annotated[
        str | None, typer.Option("--write", metavar="FILE", help="Write the proposed tolerances, for --tolerances.")
    ] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page as well.")] = None,
    fail_above: Annotated[
        float | None,
        typer.Option("--fail-above", metavar="PERCENT", min=0, max=100, help="Exit code 1 if more outputs are odd."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
    template_name: Name = None,
    special_tokens: Tokens = (),
    variants: Variants = NO_VARIANTS,
    limits: LimitOption = (),
) -> None:
    """Read recorded outputs with the parser of a template: which are clean, which are odd, and in what way.

    Odd is an output that ends too early, about which the parser has something to say, that holds what looks like a
    marker in its content or reasoning, that calls a tool there is not, or whose arguments the tool's schema does not
    allow.  Proposed tolerances are markers with what stood in their place.
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
            write=write,
            html=html,
            fail_above=fail_above,
            force=force,
            as_json=as_json,
        )
    )
