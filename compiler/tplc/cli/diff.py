"""`tplc diff`: what changed between two formats, and whether it matters."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from tplc import driver
from tplc.cli import inputs
from tplc.errors import UsageError
from tplc.ir.diff import Change, diff
from tplc.ir.nodes import TemplateIR
from tplc.project.files import read_text
from tplc.verify.reads import Reading, reads

MOST_FAILURES = 3


def diff_command(
    first: str, second: str, template_name: str | None, special_tokens: Sequence[str], *, as_json: bool
) -> None:
    old = _ir(first, template_name, special_tokens)
    new = _ir(second, template_name, special_tokens)
    changes = diff(old, new)
    reading = reads(driver.artifact_of(old), new)
    if as_json:
        report = {"changes": [asdict(change) for change in changes], "reads": reading.reads, **asdict(reading)}
        json.dump(report, sys.stdout, ensure_ascii=False, indent=2)
        print()
    else:
        _print(changes, reading)
    if not reading.reads:
        raise SystemExit(1)


def _ir(source: str, template_name: str | None, special_tokens: Sequence[str]) -> TemplateIR:
    if inputs.is_ir(source):
        return driver.load_ir(read_text(source))
    if source.endswith(".py"):
        raise UsageError(f"{source}: a parser does not hold its format: compare the template, or the IR (-t json)")
    template = inputs.load_template(source, template_name, special_tokens)
    with driver.open_renderer(template.text, name=template.name, special_tokens=template.special_tokens) as renderer:
        return driver.learn_format(
            renderer, name=template.name, source_text=template.text, special_tokens=template.special_tokens
        )


def _print(changes: Sequence[Change], reading: Reading) -> None:
    if not changes:
        print("the formats are the same")
    for change in changes:
        print(change)
    counts = f"{reading.passed} of {reading.messages} messages"
    if reading.reads:
        print(f"a parser of the first reads what the second writes ({counts})")
        return
    print(f"a parser of the first does not read what the second writes ({counts})")
    for failure in reading.failures[:MOST_FAILURES]:
        print(f"    {failure}")
