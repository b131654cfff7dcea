"""`tplc compile -t training`: a template with generation tags."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tplc.cli import inputs
from tplc.cli.declare import check_targets
from tplc.cli.options import CompileOptions
from tplc.cli.progress import working
from tplc.cli.shown import print_json
from tplc.conversations import ConversationTemplate
from tplc.conversations.masks import PARTS, MaskPart
from tplc.errors import UsageError
from tplc.ir.hashes import sha256
from tplc.ir.nodes import Json
from tplc.project.artifacts import MARK, check_output, write_output
from tplc.version import VERSION

if TYPE_CHECKING:
    from tplc.conversations.training import TrainingTemplate
    from tplc.sources import TemplateSource

TARGET = "training"


def training_command(options: CompileOptions) -> None:
    from tplc.conversations.append_only import append_only_template
    from tplc.conversations.training import training_template

    check_targets(options, TARGET)
    parts = parts_in(options.parts)
    check_output(options.output, force=options.force)
    template = inputs.load_template(options.source, options.template_name, options.special_tokens)
    changes: Sequence[str] = ()
    with working(f"tagging and verifying {template.name}"):
        text = template.text
        if options.append_only:
            with _opened(template, text, options) as plain:
                variant = append_only_template(plain)
            text, changes = variant.text, variant.changes
        with _opened(template, text, options) as conversations:
            made = training_template(conversations, parts)
    write_output(options.output, _header(template) + made.text)
    _report(template.name, made, changes, options)


def _header(template: TemplateSource) -> str:
    """Return a comment that says what made the file, so that the same command may write it again.

    The line end after it is no part of renders, because chat templates are rendered with `trim_blocks`.
    """
    return f"{{# {MARK} {VERSION} (-t training, template sha256 {sha256(template.text)}) #}}\n"


def _opened(template: object, text: str, options: CompileOptions) -> ConversationTemplate:
    return ConversationTemplate(
        text,
        name=template.name,  # type: ignore[attr-defined]
        special_tokens=template.special_tokens,  # type: ignore[attr-defined]
        limits=inputs.limits(options.limits),
    )


def parts_in(given: str | None) -> tuple[MaskPart, ...]:
    """Return the parts named in an option, separated by commas; all parts if the option isn't given."""
    if given is None:
        return PARTS
    named = [part.strip() for part in given.split(",") if part.strip()]
    unknown = [part for part in named if part not in PARTS]
    if unknown or not named:
        raise UsageError(f"--parts {given}: expected some of {', '.join(PARTS)}, separated by commas")
    return tuple(part for part in PARTS if part in named)


def _report(name: str, made: TrainingTemplate, changes: Sequence[str], options: CompileOptions) -> None:
    facts: dict[str, Json] = {
        "template": name,
        "conversations": made.conversations,
        "settings": [dict(one) for one in made.settings],
        "other_masks": [dict(one) for one in made.other_masks],
        "undecided": list(made.undecided),
        "changes": list(changes),
        "output": options.output,
    }
    if options.as_json:
        print_json(facts)
        return
    if options.quiet:
        return
    out = sys.stderr
    print(f"verified     {made.conversations} conversations: same text, tags where a model generates", file=out)
    for change in changes:
        print(f"changed      {change}", file=out)
    for setting in made.other_masks:
        print(f"not with     {_shown(setting)}: the prompt supplies something else then, and the tags stay", file=out)
    for one in made.undecided:
        print(f"undecided    {one}", file=out)
    if options.output != "-":
        print(f"wrote        {options.output}", file=out)


def _shown(setting: Mapping[str, Json]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in setting.items()) or "no variables"
