"""`tplc prepare`: prints everything that a server needs for a request, as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from tplc.cli import inputs
from tplc.cli.options import Variants
from tplc.cli.progress import working
from tplc.cli.shown import print_json
from tplc.errors import RequestError, SourceError, UsageError
from tplc.ir.visible import shown
from tplc.paths import input_name
from tplc.project.declared import Declared, telling_places
from tplc.project.files import json_of
from tplc.serving import ChatTemplate, read_request


def prepare_command(
    source: str,
    request_file: str,
    ir_file: str | None,
    template_name: str | None,
    special_tokens: Sequence[str],
    variants: Variants,
    limits: Sequence[str],
) -> None:
    if ir_file is not None and variants.given:
        raise UsageError(f"{variants.given[0]}: an IR already contains its tolerances: leave out --ir")
    inputs.check_standard_input(
        {"the template": source, "the request": request_file},
        {"the IR": [ir_file], "the tolerances": variants.tolerances},
    )
    declared = variants.read()
    name = input_name(request_file)
    request = json_of(inputs.text_of(request_file, "the request"), request_file)
    if not isinstance(request, Mapping):
        raise SourceError(name, "contains no request", 'expected {"messages": […], …}')
    try:
        read_request(request)  # before a template is learned for it
        ready = _learned(source, ir_file, template_name, special_tokens, declared, limits)
        with ready as template:
            prepared = template.prepare(request)
    except RequestError as error:
        raise SourceError(name, f"{error.path}: {error.problem}" if error.path else error.problem) from error
    for warning in prepared.warnings:
        print(f"warning: {shown(warning)}", file=sys.stderr)
    print_json(prepared.to_json())


def _learned(
    source: str,
    ir_file: str | None,
    template_name: str | None,
    special_tokens: Sequence[str],
    declared: Declared,
    limits: Sequence[str],
) -> ChatTemplate:
    ir = inputs.ir_in(ir_file) if ir_file is not None else None
    loaded = inputs.load_template(source, template_name, special_tokens)
    with working(f"learning and verifying {loaded.name}"), telling_places(declared):
        return ChatTemplate(
            loaded.text,
            name=loaded.name,
            ir=ir,
            special_tokens=loaded.special_tokens,
            added_tokens=loaded.added_tokens,
            tolerances=declared.tolerances,
            catalogue=declared.catalogue,
            limits=inputs.limits(limits),
        )
