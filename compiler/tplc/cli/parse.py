"""`tplc parse`: a model's output to a message."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from tplc import driver
from tplc.cli import inputs
from tplc.cli.options import NO_VARIANTS, Variants
from tplc.cli.shown import diagnostics_of, one_line_json, print_json
from tplc.errors import SourceError, UsageError
from tplc.ir.nodes import TemplateIR
from tplc.ir.visible import shown
from tplc.paths import input_name, unreadable
from tplc.project.files import read_text, read_tools
from tplc.project.sibling_ir import is_ir
from tplc.verify.artifact import Artifact, load_artifact, runtime_next_to

_READ_SIZE = 4096


@dataclass(frozen=True, slots=True)
class ParseOptions:
    source: str
    file: str
    tools: str | None
    prompt: str | None
    stream: bool
    parse_reasoning: bool
    parse_tool_calls: bool
    echo: bool
    template_name: str | None
    special_tokens: tuple[str, ...]
    variants: Variants = NO_VARIANTS
    with_peg: bool = False
    continued: bool = False
    limits: tuple[str, ...] = ()
    as_json: bool = False


def parse_command(options: ParseOptions) -> None:
    check_input(options)
    if options.as_json and (options.stream or options.with_peg):
        other = "--stream" if options.stream else "--with-peg"
        raise UsageError(f"--json prints the diagnostics of a whole output, which {other} doesn't have: leave one out")
    keywords: dict[str, Any] = {
        "tools": read_tools(options.tools) if options.tools else None,
        "prompt": read_text(options.prompt) if options.prompt else None,
        "parse_reasoning": options.parse_reasoning,
        "parse_tool_calls": options.parse_tool_calls,
        "echo": options.echo,
    }
    if options.continued:  # parsers of 0.1.0 know nothing of it
        keywords["continue_final_message"] = True
    if options.with_peg:
        _parse_with_peg(options, keywords)
        return
    parser = parser_of(options)
    assert parser.stream is not None
    if not keywords.keys() <= signature(parser.stream).parameters.keys():
        raise UsageError(
            f"{options.source}: made by an older tplc, without --continue-final-message: generate it again"
        )
    stream: Any = parser.stream(**keywords)
    if options.stream:
        for chunk in _chunks(options.file):
            _print_deltas(stream.feed(chunk))
        _print_deltas(stream.finish())
    else:
        text = inputs.text_of(options.file, "the output")
        if not text:
            print(f"tplc: {shown(input_name(options.file))}: is empty", file=sys.stderr)
        stream.feed(text)
        stream.finish()
        if options.as_json:
            print_json(_as_json(stream))
            return
        print_json(stream.message)
    for diagnostic in stream.diagnostics:
        print(f"at {diagnostic.offset}: {shown(diagnostic.text)}", file=sys.stderr)
    if stream.incomplete:
        print("the output is incomplete", file=sys.stderr)


def _as_json(stream: Any) -> dict[str, Any]:
    return {
        "message": stream.message,
        "diagnostics": diagnostics_of(stream),
        "incomplete": stream.incomplete,
        "trailing": getattr(stream, "trailing", ""),  # parsers of 0.1.0 have none
    }


def _parse_with_peg(options: ParseOptions, keywords: dict[str, Any]) -> None:
    """Parse with the parsing expression grammar, as a second opinion."""
    if options.stream:
        raise UsageError("--with-peg reads whole outputs: leave --stream out")
    if options.source.endswith(".py"):
        raise UsageError("--with-peg needs a template or an IR: a generated parser has no PEG")
    from tplc.backends.peg.engine import PegEngine

    parsed = PegEngine(_format_of(options)).read(inputs.text_of(options.file, "the output"), **keywords)
    print_json(parsed.message)
    if parsed.incomplete:
        print("the output is incomplete", file=sys.stderr)


def implementation(engine: str | None, *, with_peg: bool) -> tuple[str | None, bool]:
    """Return the engine for rows, and whether the PEG parses.  --engine once chose that, and still does."""
    if engine not in ("parser", "peg"):
        return engine, with_peg
    now = "--engine peg is now --with-peg" if engine == "peg" else "--engine parser is the default"
    print(f"warning: {now}; --engine is for rows", file=sys.stderr)
    return None, with_peg or engine == "peg"


def check_no_rows(file: str, output: str | None, given: Mapping[str, bool]) -> None:
    """Raise an error for a file of rows without --column.  `given`: the options for rows that were given."""
    if file.endswith((".parquet", ".jsonl", ".ndjson")):
        raise UsageError(f"{file}: rows are parsed with --column NAME, the column that holds the outputs")
    if output is not None:
        raise UsageError("-o is for rows (--column); the message of one output goes to standard output")
    for name in (name for name, there in given.items() if there):
        raise UsageError(f"{name} is for rows (--column)")


def check_rows(given: Mapping[str, bool]) -> None:
    """Raise an error for options of a single output.  `given`: those that were given."""
    for name in (name for name, there in given.items() if there):
        raise UsageError(f"{name} is for a single output: leave it out with --column")


def check_input(options: ParseOptions) -> None:
    inputs.check_standard_input(
        {"the template": options.source, "the output": options.file},
        {
            "the tools": [options.tools],
            "the prompt": [options.prompt],
            "the tolerances": options.variants.tolerances,
        },
    )


def parser_of(options: ParseOptions) -> Artifact:
    """Return the given parser, or one generated from the given IR or template."""
    if options.source.endswith(".py"):
        _refuse_variants(options, "a generated parser")
        return load_artifact(read_text(options.source), options.source, runtime=runtime_next_to(options.source))
    return driver.artifact_of(_format_of(options))


def _format_of(options: ParseOptions) -> TemplateIR:
    source = options.source
    if is_ir(source):
        _refuse_variants(options, "an IR")
        return inputs.ir_in(source)
    limits = inputs.limits(options.limits)
    return inputs.learned(source, options.template_name, options.special_tokens, options.variants, limits=limits)


def _refuse_variants(options: ParseOptions, what: str) -> None:
    if options.variants.given:
        raise UsageError(f"{options.variants.given[0]}: {what} already contains its tolerances; name a template")
    inputs.refuse_limits(options.limits, what)


def _chunks(path: str) -> Iterator[str]:
    """Yield the text as it arrives: standard input may be a pipe from a model."""
    inputs.ask_for_input(path, "the output")
    name = input_name(path)
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="strict")
    try:
        # Unbuffered: each piece of input is passed on at once, however short it is.
        with open(sys.stdin.fileno() if path == "-" else path, "rb", buffering=0) as file:
            while data := file.read(_READ_SIZE):
                yield decoder.decode(data)
        yield decoder.decode(b"", final=True)
    except OSError as error:
        raise unreadable(name, error) from error
    except UnicodeDecodeError as error:
        raise SourceError(name, "this is not UTF-8 text") from error


def _print_deltas(deltas: list[dict[str, Any]]) -> None:
    for delta in deltas:
        print(one_line_json(delta), flush=True)
