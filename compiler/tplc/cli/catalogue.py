"""`tplc catalogue`: lists the observed variants of markers."""

from __future__ import annotations

from dataclasses import asdict

from rich.text import Text

from tplc.catalogue import Entry
from tplc.cli.console import new_console
from tplc.cli.options import Variants
from tplc.cli.shown import print_json
from tplc.ir.printed import quoted
from tplc.ir.visible import one_line


def catalogue_command(variants: Variants, *, as_json: bool) -> None:
    entries = variants.read().catalogue
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    console = new_console()
    for entry in entries:
        console.print(Text.assemble((entry.name, "bold"), f": {one_line(entry.title)}"))
        for label, text in _rows(entry):
            console.print(Text.assemble((f"    {label:<9}", "dim"), one_line(text)))


def _rows(entry: Entry) -> list[tuple[str, str]]:
    rows = [("needs", ", ".join(map(quoted, entry.markers)))]
    if entry.lacks:
        rows.append(("needs no", ", ".join(entry.lacks)))
    for tolerance in entry.tolerances:
        if tolerance.kind == "variant":
            rows.append(("variant", f"{quoted(tolerance.text)} for {quoted(tolerance.marker)}"))
        else:
            rows.append(("switch", f"{tolerance.kind} {'on' if tolerance.enabled else 'off'}"))
    return [*rows, ("reason", entry.reason), ("source", entry.source)]
