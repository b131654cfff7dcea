"""`tplc doctor`: lists what to set on the server of a model."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tplc.cli import inputs
from tplc.cli.report import print_rows
from tplc.cli.shown import print_json
from tplc.errors import SourceError
from tplc.project.files import read_text

if TYPE_CHECKING:
    from tplc.doctor.advice import Deployment

_CONFIG = "tokenizer_config.json"


def doctor_command(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    limits: Sequence[str],
    *,
    as_json: bool,
) -> None:
    from tplc.conversations import ConversationTemplate
    from tplc.conversations.append_only import append_only, report_lines
    from tplc.doctor import Advice, advise
    from tplc.doctor.advice import VERSIONS

    template = inputs.load_template(source, template_name, special_tokens)
    named = ["--template-name", template_name] if template_name else []
    options = [*named, *(word for token in special_tokens for word in ("--token", token))]
    with inputs.learning(template, inputs.limits(limits)) as (ir, _):
        with ConversationTemplate(
            template.text, name=template.name, ir=ir, special_tokens=template.special_tokens
        ) as conversations:
            lines = list(report_lines(append_only(conversations)))
        found = (
            *advise(ir, source, template.texts_of_tokens, _asked(source), options),
            *(Advice("prompts of several turns", kind, text) for kind, text in lines),
        )
    if as_json:
        print_json([asdict(one) for one in found])
        return
    place = ""
    for one in found:
        if one.place != place:
            print(f"{chr(10) * bool(place)}{one.place}")
            place = one.place
        print_rows([(f"  {one.what}", str(one))], sys.stdout)
    print(f"\nThese are the settings of {VERSIONS}. tplc compile verifies each file that it makes.")
    print("MODEL stands for the model's folder or hub id, and tools.json for a file with a list of tools.")


def _asked(source: str) -> Deployment:
    """Return where the model's files are, relative to this folder, and which packages are missing."""
    from tplc.doctor.advice import Deployment

    folder = source if os.path.isdir(source) else os.path.dirname(source)
    config = os.path.join(folder, _CONFIG)
    found = os.path.isdir(source) or os.path.isfile(config)
    return Deployment(
        shlex.quote(config) if found else _CONFIG,
        _model_type(os.path.join(folder, "config.json")) if found else "",
        frozenset(name for name in ("transformers", "llguidance") if find_spec(name) is None),
    )


def _model_type(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    try:
        config = json.loads(read_text(path))
    except (SourceError, ValueError):
        return ""
    found = config.get("model_type") if isinstance(config, dict) else None
    return found if isinstance(found, str) else ""
