"""`tplc inspect`: a format for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tplc import driver
from tplc.cli import inputs
from tplc.cli.console import new_console
from tplc.cli.options import Variants
from tplc.cli.progress import working
from tplc.cli.report import print_rows, token_rows, verification_rows, warning_rows
from tplc.cli.shown import shown_text
from tplc.errors import UsageError
from tplc.explain.samples import samples
from tplc.ir.nodes import TemplateIR, Verification
from tplc.ir.printed import lines, printed
from tplc.ir.serialize import dumps
from tplc.ir.visible import shown
from tplc.ir.write import write_parts
from tplc.project.declared import telling_places
from tplc.project.sibling_ir import is_ir

if TYPE_CHECKING:
    from tplc.audit.warnings import TemplateWarning

STYLES = {
    "marker": "dim",
    "reasoning": "magenta",
    "content": "green",
    "name": "bold cyan",
    "arguments": "yellow",
    "id": "blue",
    "index": "blue",
    "count": "blue",
}
SECTIONS = {
    "ir": "template",
    "special_token": "template",
    "capabilities": "template",
    "refusal": "template",
    "captured": "assumed",
    "preserved": "tokens",
    "trigger": "tokens",
    "tolerances": "tolerances",
    "tolerance": "tolerances",
}


def inspect_command(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    variants: Variants,
    limits: Sequence[str],
    *,
    as_json: bool,
    as_text: bool,
    as_peg: bool,
    as_states: bool,
    as_dot: bool,
) -> None:
    asked = {"--json": as_json, "--text": as_text, "--peg": as_peg, "--states": as_states, "--dot": as_dot}
    forms = [name for name, wanted in asked.items() if wanted]
    if len(forms) > 1:
        raise UsageError(f"{forms[0]} and {forms[1]} exclude each other; give one of them")
    warnings: list[TemplateWarning] = []
    ir = _ir(source, template_name, special_tokens, variants, limits, warnings)
    print_rows([*token_rows(ir), *warning_rows(warnings)], sys.stderr)
    if as_json:
        sys.stdout.write(shown(dumps(ir)))
        return
    if as_text:
        sys.stdout.write(shown(printed(ir)))
        return
    if as_peg:
        sys.stdout.write(driver.generate(ir, "peg"))
        return
    if as_states or as_dot:
        sys.stdout.write(driver.print_states(ir, as_graph=as_dot))
        return
    console = new_console(soft_wrap=False)
    for table in _tables(ir):
        console.print(table)
    for title, message in samples(ir):
        console.print(Panel(_coloured(ir, message), title=title, title_align="left", box=box.ROUNDED))


def _ir(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    variants: Variants,
    limits: Sequence[str],
    warnings: list[TemplateWarning],
) -> TemplateIR:
    if is_ir(source):
        return inputs.ir_in(source)
    declared = variants.read()
    template = inputs.load_template(source, template_name, special_tokens)
    with working(f"learning and verifying {template.name}"), telling_places(declared):
        return driver.compile_template(
            template.text,
            name=template.name,
            special_tokens=template.special_tokens,
            added_tokens=template.added_tokens,
            tolerances=declared.tolerances,
            catalogue=declared.catalogue,
            limits=inputs.limits(limits),
            warn=warnings.append,
        )


def _tables(ir: TemplateIR) -> list[Table]:
    """Return one table for each part of the IR; its rows are the facts of the printed form."""
    tables: dict[str, Table] = {}
    for line in lines(replace(ir, verification=Verification())):
        fact, _, value = line.partition(" = ") if " = " in line else line.partition(" ")
        section, _, rest = fact.partition(".")
        section = SECTIONS.get(section, SECTIONS.get(fact, section))
        if section != "verification":
            _add_row(tables, section, rest or fact, value)
    for label, value in verification_rows(ir.verification, listed_by="--text"):
        _add_row(tables, "verification", label, value)
    return list(tables.values())


def _add_row(tables: dict[str, Table], section: str, label: str, value: str) -> None:
    if section not in tables:
        tables[section] = Table(title=section, title_justify="left", box=box.SIMPLE, show_header=False)
        tables[section].add_column(style="bold", no_wrap=True)
        tables[section].add_column(overflow="fold")
    tables[section].add_row(label, Text(value))


def _coloured(ir: TemplateIR, message: dict[str, Any]) -> Text:
    header = (shown(ir.turn.header), "dim underline")
    parts = ((shown(part.text), STYLES[part.kind]) for part in write_parts(ir, message))
    return shown_text(Text.assemble(header, *parts))
