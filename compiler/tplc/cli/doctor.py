"""`tplc doctor`: what to set where a model is served."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

from tplc.cli import inputs
from tplc.cli.report import print_rows
from tplc.cli.shown import print_json


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
    with inputs.learning(template, inputs.limits(limits)) as (ir, _):
        with ConversationTemplate(
            template.text, name=template.name, ir=ir, special_tokens=template.special_tokens
        ) as conversations:
            lines = list(report_lines(append_only(conversations)))
        found = (
            *advise(ir, source, template.texts_of_tokens),
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
    print(f"\nAs {VERSIONS} document it; tplc compile verifies what it makes.")
