"""Many outputs through the PEG and the generated parsers, and how often they agree.

    agreement(forms, count=300)  →  Tally(outputs=300, same=291, limits={"broken values": 6, …}, unexplained=[])

`python -m tests.peg.agreement --count 10000` (`make agreement`) also takes the collected templates, where they are.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED
from tests.fuzz.formats import Format, formats
from tests.peg.limits import LIMITS, limit_of
from tests.peg.mutations import mutations
from tplc.backends.peg.engine import Parsed, PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.errors import BadMessage, TplcError
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module
from tplc.verify.battery import battery, markers
from tplc.verify.compare import as_message
from tplc.verify.conversation import fitting_tools

CUT = "cut calls"
Written = tuple[str, Any]  # an output, and tools that it fits


@dataclass(slots=True)
class Tally:
    outputs: int = 0
    same: int = 0
    limits: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        names = [*(limit.name for limit in LIMITS), CUT]
        limits = ", ".join(f"{name} {self.limits[name]:,}" for name in names)
        share = 100 * self.same / max(1, self.outputs)
        return (
            f"{self.outputs:,} outputs: {self.same:,} messages the same ({share:.1f}%), limits of the PEG: {limits}; "
            f"unexplained {len(self.unexplained):,}"
        )


def compare(form: Format, engine: PegEngine, text: str, tools: Any, tally: Tally) -> None:
    stream = form.parser.StreamParser(tools=tools)
    stream.feed(text)
    stream.finish()
    read = engine.read(text, tools=tools)
    tally.outputs += 1
    if stream.message == read.message and stream.incomplete == read.incomplete:
        tally.same += 1
        return
    if cut_short(stream, read):
        tally.limits[CUT] += 1
        return
    limit = limit_of(engine, text, tools, stream.message, dict(read.message))
    # Where the call ends early for one of them, only the other may find it cut.
    if limit is not None and (limit == "elements" or stream.incomplete == read.incomplete):
        tally.limits[limit] += 1
    else:
        lines = [f"{form.name} {'with' if tools else 'without'} tools", repr(text)]
        lines += [
            f"{end} {said}" for end, said in ((stream.incomplete, stream.message), (read.incomplete, read.message))
        ]
        tally.unexplained.append("\n  ".join(map(str, lines)))


def cut_short(stream: Any, read: Parsed) -> bool:
    """A call that the output's end cuts: of its markup the PEG keeps more as text, and may call it whole.

    All else is the same, and no text is lost.
    """
    said, other = stream.message, read.message
    trailing = _bare(stream.trailing)
    texts = [(_bare(said[kind]), _bare(other[kind])) for kind in ("reasoning_content", "content")]
    kept = [more.removeprefix(text) for text, more in texts if more.startswith(text)]
    return bool(
        stream.incomplete
        and said["tool_calls"] == other["tool_calls"]
        and len(kept) == len(texts)
        and trailing.endswith("".join(kept))
    )


def _bare(text: str | None) -> str:
    return "".join((text or "").split())


def messages_agree(forms: Sequence[Format]) -> Tally:
    """Every message of the verification, as the format writes it, with tools and without."""
    tally = Tally()
    for form in forms:
        for text, tools in written(form.ir):
            for offered in (tools, None):
                compare(form, engine_of(form), text, offered, tally)
    return tally


def mutations_agree(forms: Sequence[Format], count: int) -> Tally:
    tally = Tally()
    usable = [form for form in forms if written(form.ir)]

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        form = data.draw(st.sampled_from(usable))
        texts = written(form.ir)
        text, tools = data.draw(st.sampled_from(texts))
        text = data.draw(mutations([text], markers(form.ir)))
        compare(form, engine_of(form), text, data.draw(st.sampled_from([tools, None])), tally)

    check()
    return tally


@cache
def engine_of(form: Format) -> PegEngine:
    return PegEngine(form.ir)


@cache
def written(ir: TemplateIR) -> tuple[Written, ...]:
    """The messages of the verification as text after the default prompt."""
    head = ir.turn.prompts[0].head if ir.turn.prompts else ""
    found: list[Written] = []
    for case in battery(ir):
        try:
            found.append((write_message(ir, as_message(ir, case), head=head), fitting_tools(case) or None))
        except BadMessage:
            continue
    return tuple(found)


def collected_formats() -> list[Format]:
    """The collected templates, each format once."""
    found: dict[object, Format] = {}
    for path in sorted((SHARED / "templates").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        try:
            with open_renderer(source) as renderer:
                ir = learn_format(renderer, name=path.name, source_text=source)
        except TplcError:
            continue
        key = (ir.turn, ir.reasoning, ir.content, ir.tools)
        parser = generate(ir, "python")
        found.setdefault(key, Format(path.stem, ir, parser, load_module(parser), (), []))
    return list(found.values())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=10_000)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    forms = [*formats(), *collected_formats()]
    print(f"{len(forms)} formats, {time.monotonic() - started:.0f} s", flush=True)
    whole = messages_agree(forms)
    print(f"messages of the verification: {whole}", flush=True)
    mutated = mutations_agree(forms, options.count)
    print(f"mutations: {mutated}\n{time.monotonic() - started:.0f} s")
    for text in (*whole.unexplained, *mutated.unexplained):
        print(text)
    return 1 if whole.unexplained or mutated.unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
