"""Find parts of a format that are incomplete: a special token wasn't given, or a part couldn't be learned.

    a template that ends turns with {{ eos_token }}, and no eos_token given
    →  chat.jinja: eos_token is not given: "<eos_token:not-given>" stands for it in turn.ends[0]; …

`compile` shows these in its report; `build`, `check` and `census` show them as warnings.
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.audit.warnings import TemplateWarning
from tplc.errors import UnfinishedFormat
from tplc.ir.nodes import TemplateIR
from tplc.ir.printed import quoted
from tplc.ir.stand_ins import names_stood_for, stand_in
from tplc.lower import lower
from tplc.lower.stops import stops

IN_MANIFEST = 'special-tokens = {{{name} = "TEXT"}} in the manifest, or the model\'s folder as the source'
BY_OPTION = "it with --token {name}=TEXT or --token tokenizer_config.json, or name the model's folder as the source"
BY_SOURCE = "the model's folder as the source, which knows its tokens"


def missing_tokens(ir: TemplateIR) -> dict[str, str]:
    """Return the special tokens that weren't given: by name, the markers that contain a stand-in for each."""
    places: dict[str, list[str]] = {}
    for captured in ir.captured:
        if captured.by == "token":
            places.setdefault(captured.name, []).append(captured.marker)
    return {name: " and ".join(dict.fromkeys(markers)) for name, markers in places.items()}


def unfinished_warnings(ir: TemplateIR, *, how: str) -> Iterator[TemplateWarning]:
    """Yield a warning for each missing token and for each part that was left out.

    `how` says how a token is given: a text with a place for `{name}`.
    """
    for name, markers in missing_tokens(ir).items():
        stop = ", which no output ends with" if name in missing_stops(ir) else ""
        text = f"{name} is not given: in {markers}, {quoted(stand_in(name))} stands for it{stop}"
        yield TemplateWarning(ir.provenance.name, 0, 0, f"{text}: give {how.format(name=name)}")
    for reason in ir.left_out:
        yield TemplateWarning(ir.provenance.name, 0, 0, f"left out: {reason}")


def missing_stops(ir: TemplateIR) -> tuple[str, ...]:
    """Return the tokens that weren't given and that end an answer; a parser's STOP contains stand-ins for them."""
    return names_stood_for(" ".join(stops(ir, lower(ir))))


def require_stops(ir: TemplateIR, *, how: str) -> None:
    """Raise UnfinishedFormat where the texts that end an answer are not known."""
    names = missing_stops(ir)
    if names:
        raise UnfinishedFormat(ir.provenance.name, names, how.format(name=names[0]))
