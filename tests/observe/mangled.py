"""Measure for which share of mangled markers `tplc observe` proposes the right tolerance.

    python -m tests.observe.mangled [--only WORD] [--most 3] [--show]

A mangling is renamed ("<~do~>" → "<~step~>", "<~dos~>"), spaced ("<~ do ~>"), doubled ("<~do~><~do~>") or reordered
(the marker's parts).  It counts as rightly proposed if the outputs, read with the proposals, give the messages that
they gave before.  Outputs that the parser reads as before without any proposal are counted separately.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.parser_cache import learn
from tests.recorded import read_outputs
from tplc.driver import artifact_of, tolerate
from tplc.errors import TplcError
from tplc.ir.markers import is_distinctive, parts_of, pieces_of
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.observe import Judged, Recorded, judge_of, observe

KINDS = ("renamed a little", "renamed", "spaced", "doubled", "reordered")
WORD = re.compile(r"[^\W\d_](?:\w*[^\W_])?")


def mangle(marker: str, kind: str) -> str:
    """Return the mangled marker; "" if it can't be mangled in this way."""
    words = WORD.findall(marker)
    longest = max(words, key=len, default="")
    if kind == "renamed a little":
        return marker.replace(longest, longest + "s", 1) if longest else ""
    if kind == "renamed":
        return marker.replace(longest, "step", 1) if longest not in ("", "step") else ""
    if kind == "spaced":
        return marker.replace(longest, f" {longest} ", 1) if longest else ""
    parts = [part for piece in pieces_of(marker) for part in parts_of(piece)]
    if kind == "doubled":
        return marker.replace(parts[0], parts[0] * 2, 1)
    return "".join(reversed(parts)) if len(parts) > 1 and len({*parts}) > 1 else ""


def mangled(ir: TemplateIR, clean: Sequence[Judged], most: int) -> Iterator[tuple[str, str, str, list[Judged]]]:
    """Yield a marker, the kind of mangling, the mangled marker, and clean outputs that contain the marker."""
    for marker, place in own_markers(ir).items():
        if not is_distinctive(marker) or place in ("turn.header", "turn.anchors"):
            continue
        holding = [judged for judged in clean if marker in judged.output.text][:most]
        for kind in KINDS if holding else ():
            text = mangle(marker, kind)
            if text and text not in ("", marker):
                yield marker, kind, text, holding


def rightly(ir: TemplateIR, marker: str, text: str, holding: Sequence[Judged]) -> str:
    """Return "tolerated" if no proposal is needed, otherwise "right" or "wrong"."""
    changed = [replace(judged.output, text=judged.output.text.replace(marker, text)) for judged in holding]
    found = observe(ir, changed, source="a test")
    wanted = [dict(judged.message) for judged in holding]
    if [dict(judged.message) for judged in found.judged] == wanted:
        return "tolerated"
    return "right" if [dict(judged.message) for judged in found.tried] == wanted else "wrong"


def clean_outputs(name: str, ir: TemplateIR) -> list[Judged]:
    judge = judge_of(ir, artifact_of(ir))
    recorded = {
        output.text: Recorded(output.id, output.text, output.options["prompt"], _tools(output.options["tools"]))
        for output in read_outputs()[name]
        if output.collection == "vllm" and output.finished
    }
    return [judged for judged in map(judge.judge, recorded.values()) if judged.clean]


def _tools(tools: Sequence[dict[str, object]] | None) -> tuple[dict[str, object], ...] | None:
    return tuple(tools) if tools is not None else None


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Share of manglings that are proposed rightly.")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--most", type=int, default=3, help="outputs of each mangling")
    parser.add_argument("--show", action="store_true", help="print each that is not")
    options = parser.parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    for name in sorted(read_outputs()):
        if options.only not in name:
            continue
        try:
            ir = tolerate(learn(name))
            clean = clean_outputs(name, ir)
        except TplcError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for marker, kind, text, holding in mangled(ir, clean, options.most):
            result = rightly(ir, marker, text, holding)
            counts[kind, result] += 1
            if options.show and result == "wrong":
                print(f"{name}: {kind}: {text!r} for {marker!r}")
    print(report(counts))
    return 0


def report(counts: Counter[tuple[str, str]]) -> str:
    lines = []
    for kind in (*KINDS, "all"):
        right, wrong, tolerated = (
            sum(count for (of, result), count in counts.items() if result == wanted and kind in (of, "all"))
            for wanted in ("right", "wrong", "tolerated")
        )
        share = f"{100 * right / (right + wrong):.0f}%" if right + wrong else "-"
        counted = f"{right:>4} of {right + wrong:>4} rightly proposed ({share})"
        lines.append(f"{kind:<17}{counted}, {tolerated} tolerated anyway")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
