"""`tplc lint`: reports what a format loses or confuses. `tplc new`: starts a template."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tplc import driver
from tplc.cli import inputs
from tplc.cli.progress import working
from tplc.cli.report import print_rows
from tplc.cli.shown import print_json
from tplc.design import LAYOUTS, Remark, lint, refreshed, start
from tplc.errors import UsageError, unknown_name
from tplc.ir.printed import quoted
from tplc.ir.visible import shown
from tplc.paths import unwritable
from tplc.project.artifacts import write_output
from tplc.project.files import read_text
from tplc.project.manifest import is_model_name

if TYPE_CHECKING:
    from tplc.ir.nodes import TemplateIR
    from tplc.sources import TemplateSource

TURNS = {"text": "turns of text", "tools": "turns with calls", "reasoning": "turns with reasoning"}


def lint_command(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    limits: Sequence[str],
    *,
    strict: bool,
    as_json: bool,
) -> None:
    template = inputs.load_template(source, template_name, special_tokens)
    with inputs.learning(template, inputs.limits(limits)) as (learned, renderer):
        ir = driver.verify_ir(learned, renderer)
        driver.require_verified(ir)
        remarks = [*lint(ir, driver.artifact_of(ir), renderer, template.texts_of_tokens), *_rewritten(template, ir)]
    inputs.warn_of_missing_stops(ir)
    if as_json:
        print_json([asdict(remark) for remark in remarks])
    else:
        _print(remarks, template.name)
    if remarks and strict:
        raise SystemExit(1)


def _rewritten(template: TemplateSource, ir: TemplateIR) -> Iterator[Remark]:
    """Yield a remark for each kind of turn in which a prompt doesn't begin with the past."""
    from tplc.conversations import ConversationTemplate
    from tplc.conversations.append_only import append_only

    with ConversationTemplate(
        template.text, name=template.name, ir=ir, special_tokens=template.special_tokens
    ) as conversations:
        verdict = append_only(conversations)
    for kind, found in verdict.rewritten.items():
        yield Remark(
            "template",
            f"is not append-only for {TURNS[kind]}: messages[{found.message}] is written otherwise once a message "
            f"follows ({found.conversation}), so prefix caches and rollouts of several turns miss",
            "write earlier turns as they were generated; tplc compile -t training --append-only looks for a variant",
            wrote=found.before,
            read=quoted(found.after),
        )


def _print(remarks: Sequence[Remark], name: str) -> None:
    for remark in remarks:
        rows = [(remark.about, remark.what)]
        if remark.wrote:
            rows += [("  wrote", quoted(remark.wrote)), ("  read", remark.read)]
        print_rows([*rows, ("  better", remark.better)], sys.stdout)
    many = f"{len(remarks)} remark{'s' * (len(remarks) != 1)}" if remarks else "nothing to remark"
    print(f"{shown(name)}: {many}")


def new_command(folder: str, layout: str) -> None:
    if layout not in LAYOUTS:
        raise UsageError(unknown_name("layout", layout, LAYOUTS))
    name = os.path.basename(os.path.abspath(folder))
    if not (folder and is_model_name(name)):
        given = folder or "the name is empty"
        raise UsageError(f"{given}: a model's name has ASCII letters, digits, '-', '_' and '.', no '.' or '-' first")
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        other = ", or give --refresh to write its outputs again" if os.path.isdir(folder) else ""
        raise UsageError(f"{folder}: already exists\n    name a new folder{other}")
    with working(f"starting {name}"):
        started = start(name, layout, lambda text: driver.compile_template(text, name="chat_template.jinja"))
    for path, text in started.files.items():
        place = os.path.join(folder, path)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        write_output(place, text)
    for path in started.files:
        print(f"wrote {shown(os.path.join(folder, path))}")
    print("next: change the markers in chat_template.jinja, then build, test and check the format:")
    print(f"    cd {shown(shlex.quote(folder))} && tplc build && tplc new --refresh . && python -m unittest")
    print("    tplc lint chat_template.jinja")


def refresh_command(folder: str) -> None:
    """Write the outputs of a folder that `tplc new` made again, as its template writes them now."""
    path = os.path.join(folder, "chat_template.jinja")
    if not os.path.isfile(path) or not os.path.isdir(os.path.join(folder, "outputs")):
        raise UsageError(f"{folder}: has no chat_template.jinja with outputs: tplc new FOLDER starts one")
    template = inputs.load_template(path, None, ())
    with working(f"compiling {template.name}"):
        ir = driver.compile_template(template.text, name=template.name, special_tokens=template.special_tokens)
    failed = False
    for name, text in refreshed(ir, driver.artifact_of(ir)).items():
        place = os.path.join(folder, name)
        if not os.path.lexists(place):
            continue  # deleted by its owner
        if text is not None:
            changed = read_text(place) != text
            if changed:
                write_output(place, text)
            print(f"{'wrote  ' if changed else 'current'} {shown(place)}")
        else:
            failed = True
            print(f"kept    {shown(place)}: the template can't write its message: delete it and its .json")
    if failed:
        raise SystemExit(1)
