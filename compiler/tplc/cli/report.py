"""Print the report of a compile, as rows or as JSON.

reasoning  tag_based "<r>\\n" … "\\n</r>"
calls      json_native "<call>" name … arguments "</call>"
verified   218 of 218 messages, 240 chunkings
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from tplc.catalogue import applied_entries
from tplc.cli.console import is_plain, new_console
from tplc.ir.nodes import CALL_AS_TEXT, Ambiguity, Captured, Json, TemplateIR, Verification
from tplc.ir.printed import printed_layout, quoted
from tplc.ir.serialize import to_dict
from tplc.ir.stand_ins import stand_in
from tplc.ir.visible import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from tplc.audit.warnings import TemplateWarning
    from tplc.backends.gbnf import Grammar
    from tplc.backends.lark import LarkGrammar
    from tplc.targets.response_template import Inexpressible

MOST_LINES = 6


def print_report(
    ir: TemplateIR,
    grammar: Grammar | LarkGrammar | None,
    wrote: str | None,
    warnings: Sequence[TemplateWarning] = (),
    not_expressed: Sequence[Inexpressible] = (),
) -> None:
    """Print the report of a compile on standard error, in colours if that is a terminal."""
    rows = [*_rows(ir), *verification_rows(ir.verification)]
    if grammar is not None:
        rows += _grammar_rows(grammar)
    rows += not_expressed_rows(not_expressed)
    rows += catalogue_rows(ir)
    rows += warning_rows(warnings)
    if wrote is not None:
        rows.append(("wrote", wrote))
    print_rows(rows, sys.stderr)


def report_dict(ir: TemplateIR, wrote: str | None) -> dict[str, Json]:
    """Return the report of a compile as JSON data."""
    whole = to_dict(ir)
    kept = ("provenance", "turn", "reasoning", "content", "captured", "left_out", "verification")
    tools: dict[str, Json] = {"format": ir.tools.format, "parallel": ir.tools.parallel}
    catalogue: dict[str, Json] = {**applied_entries(ir)}
    return {**{name: whole[name] for name in kept}, "tools": tools, "catalogue": catalogue, "wrote": wrote}


def print_rows(rows: list[tuple[str, str]], file: TextIO) -> None:
    if is_plain(file):
        for label, text in rows:
            print(f"{label:<12} {one_line(text)}".rstrip(), file=file)
        return
    printer = new_console(file)
    for label, text in rows:
        printer.print(_coloured(label, one_line(text)))


def _coloured(label: str, text: str) -> Text:
    from rich.text import Text

    styles = {
        "verified": "green",
        "NOT VERIFIED": "bold red",
        "failed": "red",
        "ambiguous": "yellow",
        "excused": "yellow",
        "needs tools": "yellow",
        "not read": "yellow",
        "warning": "bold yellow",
        "assumed": "yellow",
        "not expressed": "yellow",
        "not given": "bold yellow",
        "text markers": "yellow",
        "left out": "bold yellow",
    }
    return Text.assemble((f"{label:<12} ", "bold"), (text, styles.get(label, "")))


def _rows(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    yield from token_rows(ir)
    source = ir.provenance
    yield "template", f"{source.name} (sha256 {source.sha256[:12]}, {source.size} bytes)"
    reasoning = ir.reasoning
    markers = "" if reasoning.mode == "none" else f" {quoted(reasoning.start)} … {quoted(reasoning.end)}"
    key = f" ({reasoning.key})" if reasoning.key else ""
    yield "reasoning", f"{reasoning.mode}{markers}{key}"
    wrapped = "" if ir.content.mode == "plain" else f" {quoted(ir.content.start)} … {quoted(ir.content.end)}"
    yield "content", ir.content.mode + wrapped
    yield "calls", _calls(ir)
    for prompt in ir.turn.prompts:
        when = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in prompt.context)
        yield "prompt", quoted(prompt.text) + (f" with {when}" if when else "")
    for end in ir.turn.ends:
        yield "end", quoted(end)
    yield from captured_rows(ir)
    for reason in ir.left_out:
        yield "left out", reason


def token_rows(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    """Yield a row for each special token of the format that was not given."""
    from tplc.audit.unfinished import BY_OPTION, missing_tokens

    for name, markers in missing_tokens(ir).items():
        stands = f"{name}: in {markers}, {quoted(stand_in(name))} stands for it"
        yield "not given", f"{stands}; give {BY_OPTION.format(name=name)}"


_CAPTURED = {
    "variable": "the variable",
    "position": "the turn's place in the conversation",
    "calls": "the number of calls",
}


def captured_rows(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    return (
        ("varies" if captured.any_word else "assumed", _captured(captured))
        for captured in ir.captured
        if captured.by != "token"
    )


def _captured(captured: Captured) -> str:
    where = f"in {captured.marker} {quoted(captured.whole)}" if captured.marker else f"at {quoted(captured.whole)}"
    source = _CAPTURED[captured.by] + (f" {captured.name}" if captured.name else "")
    return f"{source}: {quoted(captured.text)}{' or any word' * captured.any_word} {where}"


def _grammar_rows(grammar: Grammar | LarkGrammar) -> Iterator[tuple[str, str]]:
    from tplc.backends.gbnf import Grammar

    if not grammar.text:
        yield "grammar", "none: nothing is constrained"
    elif isinstance(grammar, Grammar):
        yield from _gbnf_rows(grammar)
    else:
        yield "grammar", f"applies from the end of the prompt {quoted(grammar.generation_prompt)}"
        yield from token_use_rows(grammar)
    yield from difference_rows(grammar)


def difference_rows(grammar: Grammar | LarkGrammar | None) -> Iterator[tuple[str, str]]:
    """Yield a row for each part of the schemas that the grammar doesn't express exactly."""
    for entry in grammar.not_expressed if grammar is not None else ():
        yield "loosened" if entry.effect == "looser" else "tightened", str(entry)


def token_use_rows(grammar: LarkGrammar) -> Iterator[tuple[str, str]]:
    """Yield rows that list the markers written as tokens and those written as text."""
    if grammar.tokens:
        yield "tokens", " ".join(map(quoted, grammar.tokens))
    if grammar.texts and grammar.known:
        yield "text markers", f"not tokens of this tokenizer: {' '.join(map(quoted, grammar.texts))}"
    yield from unknown_rows(grammar)


def unknown_rows(grammar: Grammar | LarkGrammar | None) -> Iterator[tuple[str, str]]:
    """Yield a row about markers that may be special tokens, if no tokenizer was given to decide it."""
    if grammar is None:  # most commands make none, and need no import of a backend
        return
    from tplc.backends.lark import LarkGrammar

    if isinstance(grammar, LarkGrammar) and grammar.texts and not grammar.known:
        yield (
            "text markers",
            f"{' '.join(map(quoted, grammar.texts))}: if one of these is a special token of the model, the grammar "
            "never matches it; give the tokenizer with --tokenizer tokenizer.json, or "
            "name the model's folder as the source",
        )


def _gbnf_rows(grammar: Grammar) -> Iterator[tuple[str, str]]:
    eager = f"applies from the end of the prompt {quoted(grammar.generation_prompt)}"
    yield "grammar", "applies from the first trigger on" if grammar.lazy else eager
    for trigger in grammar.triggers:
        yield "trigger", f"{trigger.type} {quoted(trigger.value)}"


def _calls(ir: TemplateIR) -> str:
    tools = ir.tools
    if tools.format == "none":
        return "none"
    section = f"{quoted(tools.section_start)} " if tools.section_start else ""
    closed = f" {quoted(tools.section_end)}" if tools.section_end else ""
    return f"{tools.format} {section}{printed_layout(tools.call)}{closed}"


def not_expressed_rows(not_expressed: Sequence[Inexpressible]) -> Iterator[tuple[str, str]]:
    return (("not expressed", str(one)) for one in not_expressed)


def catalogue_rows(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    """Yield a row for each entry of the catalogue that applies to the format."""
    for name, count in applied_entries(ir).items():
        yield "catalogue", f"{name}: {count} variant{'s' if count != 1 else ''}"


def warning_rows(warnings: Sequence[TemplateWarning]) -> Iterator[tuple[str, str]]:
    return (("warning", str(warning)) for warning in warnings)


def verification_rows(result: Verification, *, listed_by: str = "--json") -> Iterator[tuple[str, str]]:
    """Yield the rows about a verification.  `listed_by` is the option that lists excused messages, which can be
    hundreds."""
    counts = f"{result.passed} of {result.messages} messages{chunkings_of(result)} (seed {result.seed})"
    yield "verified" if result.verified else "NOT VERIFIED", counts + _despite_counts(result)
    for text in result.not_shown[:MOST_LINES]:
        yield "not rendered", text
    yield from _more(len(result.not_shown), "not rendered")
    for ambiguity in result.ambiguities:
        yield "ambiguous", _ambiguity(ambiguity)
    yield from _excused(result, listed_by)
    yield from _needs_tools(result, listed_by)
    for text in result.not_read:
        yield "not read", text
    if result.refused_by_grammars:
        yield "no grammars", result.refused_by_grammars
    for failure in result.failures[:MOST_LINES]:
        yield "failed", failure
    yield from _more(len(result.failures), "failed")


def _despite_counts(result: Verification) -> str:
    """Return why a format isn't verified although no message was read wrongly; otherwise ""."""
    if result.verified or result.passed < result.messages:
        return ""
    if not result.messages:
        return ": no message could be compared"
    came = "it came back, but it doesn't" if result.messages == 1 else "they came back, but they don't"
    return f": {came} verify the format"


def chunkings_of(result: Verification) -> str:
    """Return the count of chunkings as text; empty for artifacts that read whole outputs only, such as grammars."""
    return f", {result.chunkings} chunkings" if result.chunkings else ""


def _ambiguity(ambiguity: Ambiguity) -> str:
    return (
        f"{ambiguity.kind}: the template renders {_short(ambiguity.first)} and {_short(ambiguity.second)} identically"
    )


def _excused(result: Verification, listed_by: str) -> Iterator[tuple[str, str]]:
    """Yield a row with the number of excused messages and what the template doesn't distinguish in them."""
    kinds = Counter(one.kind for one in result.distinct_excused)
    if kinds:
        count = kinds.total()
        messages = f"{count} message{'s' if count != 1 else ''} with the same render as another"
        yield "excused", f"{messages}: {', '.join(sorted(kinds))} ({listed_by} lists them)"


def _needs_tools(result: Verification, listed_by: str) -> Iterator[tuple[str, str]]:
    """Yield the number of messages whose calls are read as text without tools, and of those that differ otherwise, each
    with an example."""
    as_text = [one for one in result.needs_tools if one.kind == CALL_AS_TEXT]
    others = [one for one in result.needs_tools if one.kind != CALL_AS_TEXT]
    kinds = ", ".join(dict.fromkeys(one.kind for one in others))
    for found, what in ((as_text, "with a call that is read as text"), (others, f"read as another ({kinds})")):
        if found:
            messages = (
                f"{len(found)} message{'s' if len(found) != 1 else ''} {what} if the parser isn't given the tools"
            )
            example = f"{found[0].title}: {_short(quoted(found[0].render))}"
            yield "needs tools", f"{messages}, such as {example} ({listed_by} lists them)"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _more(count: int, label: str) -> Iterator[tuple[str, str]]:
    if count > MOST_LINES:
        yield label, f"… and {count - MOST_LINES} more (--json shows all)"
