"""The options of the commands: help text, type, default, and which targets an option applies to.

Several commands share the options at the top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tplc.cli import complete
from tplc.cli.declare import For, InHeader

if TYPE_CHECKING:
    from tplc.project.declared import Declared
    from tplc.targets.plugins import Server

PLUGINS: tuple[Server, ...] = ("vllm", "sglang")
# Targets that are made for one request, and those that take a request's schemas.
A_REQUEST = For(("gbnf", "structural_tag", "lark"))
SCHEMAS = For(("gbnf", "structural_tag", "lark", "peg"))
PARSERS = For(("python",))

AS_TYPED = InHeader()
AS_PATH = InHeader(is_path=lambda value: True)
AS_PATH_OR_PAIR = InHeader(is_path=lambda value: "=" not in value)

Source = Annotated[
    str,
    typer.Argument(
        help="A template: a .jinja file, a model folder, tokenizer_config.json, a GGUF file, a hub id (org/model), "
        "builtin:NAME, or - for standard input.",
        autocompletion=complete.sources,
        show_default=False,
    ),
]
Name = Annotated[
    str | None,
    typer.Option("--template-name", metavar="NAME", help="The template's name, if the source has several."),
    AS_TYPED,
]
Tokens = Annotated[
    tuple[str, ...],
    typer.Option(
        "--token",
        metavar="NAME=TEXT",
        help="A special token, such as eos_token=TEXT, or a tokenizer's file or folder.",
    ),
    AS_PATH_OR_PAIR,
]
LimitOption = Annotated[
    tuple[str, ...],
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        autocompletion=complete.limits,
        help="A limit on the template's resources, such as memory_mb=512.",
    ),
    AS_TYPED,
]
CatalogueFolders = Annotated[
    tuple[str, ...],
    typer.Option(
        "--catalogue", metavar="DIR", help="A folder of observed variants, in addition to those that ship with tplc."
    ),
    AS_PATH,
]
NoCatalogue = Annotated[
    bool, typer.Option("--no-catalogue", help="Ignore the observed variants that ship with tplc."), AS_TYPED
]
Examples = Annotated[
    tuple[str, ...],
    typer.Option(
        "--example", metavar="FILE", help="Pairs of message and text, one per line, for formats that no render shows."
    ),
    AS_PATH,
]
ToolsOption = Annotated[
    str | None,
    typer.Option("--tools", metavar="FILE", help="A JSON file with the list of tools."),
]
SpreadEngine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="ENGINE", autocompletion=complete.census_engines, help="processes (on this machine) or ray."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the random messages and chunks.")]
Thorough = Annotated[bool, typer.Option("--thorough", help="Verify with ten times as many random messages.")]
Variables = Annotated[
    tuple[str, ...],
    typer.Option("--var", metavar="NAME=VALUE", help="A variable for the template; the value is JSON, or text."),
]


@dataclass(frozen=True, slots=True)
class Variants:
    """The options that say how outputs may differ from a template."""

    tolerances: Annotated[
        tuple[str, ...],
        typer.Option(
            "--tolerances",
            metavar="FILE",
            help="A tolerance file, which declares how real output differs from the template.",
        ),
        AS_PATH,
    ] = ()
    catalogue: CatalogueFolders = ()
    no_catalogue: NoCatalogue = False

    def read(self) -> Declared:
        from tplc.catalogue.load import files_in
        from tplc.overwriting import protect
        from tplc.project.declared import read_declared

        protect(file for folder in self.catalogue for file in files_in(folder))
        return read_declared(self.tolerances, self.catalogue, shipped=not self.no_catalogue)

    @property
    def given(self) -> list[str]:
        """Return the options that were given, as they are typed."""
        options = {
            "--tolerances": self.tolerances,
            "--catalogue": self.catalogue,
            "--no-catalogue": self.no_catalogue,
        }
        return [name for name, value in options.items() if value]


NO_VARIANTS = Variants()


@dataclass(frozen=True, slots=True)
class CompileOptions:
    source: Source
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-"
    target: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--target",
            metavar="TARGET",
            autocompletion=complete.targets,
            help="What to write: python, peg, gbnf, json, response_template, structural_tag, lark, vllm, sglang, or "
            "training (the template with generation tags); by default the output's suffix decides.",
        ),
    ] = None
    template_name: Name = None
    special_tokens: Tokens = ()
    variants: Variants = NO_VARIANTS
    examples: Examples = ()
    tools: Annotated[
        str | None,
        typer.Option("--tools", metavar="FILE", help="a JSON file with the list of tools."),
        SCHEMAS,
        AS_PATH,
    ] = None
    tool_choice: Annotated[
        str,
        typer.Option(
            "--tool-choice",
            metavar="CHOICE",
            help="which calls are allowed: auto, required, none, or the name of a tool.",
        ),
        A_REQUEST,
        AS_TYPED,
    ] = "auto"
    parallel: Annotated[
        bool | None,
        typer.Option("--parallel/--no-parallel", help="allow several calls in a turn, or only one."),
        A_REQUEST,
        AS_TYPED,
    ] = None
    any_order: Annotated[
        bool,
        typer.Option("--any-order", help="accept properties in any order, not only the schema's."),
        A_REQUEST,
        AS_TYPED,
    ] = False
    json_schema: Annotated[
        str | None,
        typer.Option(
            "--json-schema",
            metavar="FILE",
            help="the schema of the answer (a response format); with --tools, of answers without calls.",
        ),
        SCHEMAS,
        AS_PATH,
    ] = None
    variables: Annotated[
        tuple[str, ...],
        typer.Option("--var", metavar="NAME=VALUE", help="a variable of the template, which chooses the prompt."),
        A_REQUEST,
        AS_TYPED,
    ] = ()
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Fail on incomplete results: a special token that ends an answer and isn't given; for gbnf, "
            "schemas that it can't express exactly; for response_template, messages that don't come back.",
        ),
        AS_TYPED,
    ] = False
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="NAME",
            autocompletion=complete.profiles,
            help="the program that reads it: transformers, or servers (vLLM and SGLang).",
        ),
        For(("response_template",)),
        AS_TYPED,
    ] = "transformers"
    into: Annotated[
        str | None,
        typer.Option(
            "--into",
            metavar="FILE",
            help="put it into this tokenizer_config.json, and keep all other keys.",
        ),
        For(("response_template",)),
    ] = None
    tag_reasoning: Annotated[
        str,
        typer.Option(
            "--tag-reasoning",
            metavar="WHERE",
            autocompletion=complete.reasoning,
            help="where the reasoning is: inside the tag, or outside if the server applies the tag after it.",
        ),
        For(("structural_tag",)),
        AS_TYPED,
    ] = "inside"
    legacy: Annotated[
        bool,
        typer.Option("--legacy", help="write the old form, for engines that only read that (llguidance)."),
        For(("structural_tag",)),
        AS_TYPED,
    ] = False
    token_literals: Annotated[
        bool,
        typer.Option(
            "--token-literals",
            help="write markers that are tokens as <[ID]> (llama.cpp only), so that text can't open a call.",
        ),
        For(("gbnf",)),
        AS_TYPED,
    ] = False
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="PATH",
            help="a tokenizer.json, a model's folder or a GGUF file, which shows which markers are tokens.",
        ),
        For(("python", "json", "gbnf", "structural_tag", "lark", "vllm", "sglang")),
        AS_PATH,
    ] = None
    main: Annotated[
        bool,
        typer.Option("--main/--no-main", help="add a command line to the parser (python PARSER OUTPUT), or none."),
        PARSERS,
        AS_TYPED,
    ] = True
    openai: Annotated[
        bool,
        typer.Option("--openai", help="add a class that makes chat completions for OpenAI's clients."),
        PARSERS,
        AS_TYPED,
    ] = False
    responses: Annotated[
        bool,
        typer.Option("--responses", help="add a class that makes the events of OpenAI's Responses API."),
        PARSERS,
        AS_TYPED,
    ] = False
    messages: Annotated[
        bool,
        typer.Option("--messages", help="add a class that makes the events of Anthropic's Messages API."),
        PARSERS,
        AS_TYPED,
    ] = False
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default=False,
            help="the parsers' name in the server's options; by default the name of the output or the source.",
        ),
        For(PLUGINS),
        AS_TYPED,
    ] = None
    on_incomplete: Annotated[
        str,
        typer.Option(
            "--on-incomplete",
            metavar="WHAT",
            autocompletion=complete.on_incomplete,
            help="what to do with a call in which an answer ends: drop or keep.",
        ),
        For(PLUGINS),
        AS_TYPED,
    ] = "drop"
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            metavar="WHERE",
            autocompletion=complete.runtimes,
            help="where its runtime is: standalone (in the file), shared (a file next to it), or installed.",
        ),
        PARSERS,
        AS_TYPED,
    ] = "standalone"
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="also compile it with mypyc, to an extension that is imported in the file's place."
        ),
        PARSERS,
        AS_TYPED,
    ] = False
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            metavar="CHARACTERS",
            min=1,
            help="the longest grammar; the largest schemas are simplified to fit.",
        ),
        A_REQUEST,
        AS_TYPED,
    ] = None
    parts: Annotated[
        str | None,
        typer.Option(
            "--parts",
            metavar="PARTS",
            show_default=False,
            help="the parts that count, from reasoning,content,calls,end; all by default.",
        ),
        For(("training",)),
        AS_TYPED,
    ] = None
    append_only: Annotated[
        bool,
        typer.Option("--append-only", help="keep earlier turns as they were generated."),
        For(("training",)),
        AS_TYPED,
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that tplc did not generate.")] = False
    allow_unverified: Annotated[
        bool,
        typer.Option("--allow-unverified", help="Write files that failed verification too, with a mark."),
        AS_TYPED,
    ] = False
    seed: Seed = 0
    thorough: Thorough = False
    limits: LimitOption = ()
    depfile: Annotated[
        str | None,
        typer.Option("--depfile", metavar="FILE", help="Write a rule for Make or Ninja that lists the files used."),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, on standard error.")] = False
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only warnings and failures.")] = False
    watch: Annotated[bool, typer.Option("--watch", help="Compile again each time an input changes, until Ctrl-C.")] = (
        False
    )


@dataclass(frozen=True, slots=True)
class MaskOptions:
    source: Source
    rows: Annotated[
        str,
        typer.Argument(
            help="A file of conversations (.parquet, .jsonl), a folder of such files, or - for JSON lines on standard "
            "input.",
            show_default=False,
        ),
    ]
    tokenizer: Annotated[
        str,
        typer.Option(
            "--tokenizer", metavar="PATH", show_default=False, help="A model's folder, or its tokenizer.json."
        ),
    ]
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default=False,
            help="A file, or a folder, to write to; or - for JSON lines on standard output.",
        ),
    ] = None
    column: Annotated[
        str, typer.Option("--column", metavar="NAME", help="The column of messages: lists, or their JSON text.")
    ] = "messages"
    tools_column: Annotated[
        str | None,
        typer.Option("--tools-column", metavar="NAME", show_default=False, help="The column of each row's tools."),
    ] = None
    parts: Annotated[
        str | None,
        typer.Option(
            "--parts",
            metavar="PARTS",
            show_default=False,
            help="The parts that count, from reasoning,content,calls,end; all by default.",
        ),
    ] = None
    straddling: Annotated[
        str,
        typer.Option(
            "--straddling",
            metavar="HOW",
            help="How to count a token on both sides of a border: inside, outside, or error.",
        ),
    ] = "inside"
    variables: Variables = ()
    template_name: Name = None
    special_tokens: Tokens = ()
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            show_default=False,
            help="ray, datasets or pyarrow; the first that is installed by default.",
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="ADDRESS", show_default=False, help="The address of a Ray cluster."),
    ] = None
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", min=1, show_default=False, help="Number of workers.")
    ] = None
    batch_size: Annotated[int, typer.Option("--batch-size", metavar="N", min=1, help="Rows per batch.")] = 1000
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No report.")] = False
