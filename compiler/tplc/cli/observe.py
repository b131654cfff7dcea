"""`tplc observe`: compares recorded outputs of a model with its parser."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tplc.cli import inputs
from tplc.cli.console import new_console
from tplc.cli.options import Variants
from tplc.cli.progress import advancing
from tplc.cli.shown import print_json, shown_text
from tplc.errors import UsageError
from tplc.ir.nodes import TemplateIR
from tplc.ir.visible import one_line, shown
from tplc.observe import Group, Judged, Observation, observe, read_outputs
from tplc.observe.page import page
from tplc.observe.serialize import to_dict, tolerance_file
from tplc.observe.shown import around
from tplc.project.artifacts import check_output, write_output
from tplc.project.files import read_tools
from tplc.project.sibling_ir import is_ir

_MOST_GROUPS = 20
# Without colours, the place of a finding is between these.
_BRACKETS = ("⟦", "⟧")


@dataclass(frozen=True, slots=True)
class ObserveOptions:
    source: str
    outputs: str
    tools: str | None
    template_name: str | None
    special_tokens: tuple[str, ...]
    variants: Variants
    try_it: bool
    write: str | None
    html: str | None
    fail_above: float | None
    force: bool
    as_json: bool
    limits: tuple[str, ...] = ()


def observe_command(options: ObserveOptions) -> None:
    for path in (options.write, options.html):
        if path is not None:
            check_output(path, force=options.force, is_for_editing=path == options.write)
    tools = tuple(read_tools(options.tools)) if options.tools else None
    outputs = read_outputs(options.outputs, tools)
    if not any(output.text for output in outputs):
        print(f"tplc: {shown(options.outputs)}: is empty", file=sys.stderr)
    ir = _format_of(options)
    with advancing(f"observing {options.outputs}", None) as step:
        found = observe(ir, outputs, source=options.outputs, step=step)
    if options.write is not None:
        text = json.dumps(tolerance_file(found, options.outputs), ensure_ascii=False, indent=2) + "\n"
        write_output(options.write, text)
    if options.html is not None:
        write_output(options.html, page(found, ir, options.outputs))
    if options.as_json:
        print_json(to_dict(found, options.outputs))
    else:
        _print(found, options)
    if options.fail_above is not None and found.share_odd > options.fail_above:
        print(f"tplc: {found.share_odd:.1f}% of the outputs are odd, above {options.fail_above:g}%", file=sys.stderr)
        raise SystemExit(1)


def _format_of(options: ObserveOptions) -> TemplateIR:
    if options.source.endswith(".py"):
        raise UsageError(f"{options.source}: a parser does not contain its format; name the template or its IR (.json)")
    if is_ir(options.source):
        if options.variants.given:
            raise UsageError(f"{options.variants.given[0]}: an IR already contains its tolerances: name a template")
        inputs.refuse_limits(options.limits, "an IR")
        return inputs.ir_in(options.source)
    limits = inputs.limits(options.limits)
    return inputs.learned(
        options.source, options.template_name, options.special_tokens, options.variants, limits=limits
    )


def _print(found: Observation, options: ObserveOptions) -> None:
    console = new_console()
    total = len(found.judged)
    _row(console, "outputs", f"{total} in {options.outputs}")
    _row(console, "clean", f"{found.clean} ({100 - found.share_odd:.1f}%)")
    for kind, count in found.kinds.items():
        if count:
            _row(console, kind, str(count))
    for group in found.groups[:_MOST_GROUPS]:
        _print_group(console, group)
    if len(found.groups) > _MOST_GROUPS:
        console.print(f"… and {len(found.groups) - _MOST_GROUPS} more groups (--json has all)")
    if found.proposals:
        console.print()
    for proposal in found.proposals:
        text, marker = (one_line(json.dumps(each, ensure_ascii=False)) for each in (proposal.text, proposal.marker))
        effects = f"{proposal.mended} clean because of it, {proposal.changed} changed by it alone"
        _row(console, "proposed", f"{text} for {marker} ({_count(proposal.seen)}; {effects})")
    if found.proposals:
        _row(console, "with them", f"{sum(judged.clean for judged in found.tried)} of {total} outputs are clean")
    if options.try_it:
        _print_tried(console, found)
    for path in (options.write, options.html):
        if path is not None:
            _row(console, "wrote", path)


def _row(console: Console, label: str, text: str) -> None:
    console.print(shown_text(Text.assemble((f"{label:<21}", "bold"), one_line(text))))


def _print_group(console: Console, group: Group) -> None:
    console.print()
    head = f"{group.kind} {json.dumps(group.what, ensure_ascii=False)}"
    console.print(shown_text(Text.assemble((one_line(head), "bold yellow"), f": {_count(len(group.members))}")))
    _print_place(console, group.example)


def _print_place(console: Console, judged: Judged) -> None:
    before, place, after = map(_escaped, around(judged.output.text, judged.main))
    opened, closed = ("", "") if console.is_terminal else _BRACKETS
    shown = Text.assemble(f"    {before}", (f"{opened}{place}{closed}", "bold red"), after)
    console.print(shown_text(Text.assemble(shown, (f"   {one_line(judged.output.place)}", "dim"))))


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')


def _print_tried(console: Console, found: Observation) -> None:
    """Print the outputs that proposed tolerances change, as read without them and with them."""
    for before, now in zip(found.judged, found.tried, strict=True):
        if dict(before.message) == dict(now.message):
            continue
        console.print()
        console.print(shown_text(Text(one_line(before.output.place), "bold")))
        for label, style, judged in (("without", "red", before), ("with", "green", now)):
            parts = json.dumps(_parts(judged), ensure_ascii=False)
            console.print(shown_text(Text.assemble((f"    {label:<8}", style), one_line(parts))))


def _parts(judged: Judged) -> dict[str, object]:
    """Return the members of a message that are not empty."""
    message = judged.message
    calls: Sequence[dict[str, object]] = [call["function"] for call in message["tool_calls"]]
    parts = {"reasoning": message["reasoning_content"], "content": message["content"], "calls": calls}
    return {name: part for name, part in parts.items() if part}


def _count(number: int) -> str:
    return f"{number} output{'s' if number != 1 else ''}"
