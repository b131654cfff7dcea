"""Run many outputs through the PEG and the generated parsers, and count how often they agree.

    agreement(forms, count=300)  →  Tally(outputs=300, same=291, limits={"broken values": 6, …}, unexplained=[])

`python -m tests.peg.agreement --count 10000` (`make agreement`) also takes slips, compares both with the interpreter of
the states, and takes the collected templates, if they exist.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED
from tests.fuzz.formats import Format, formats
from tests.peg.limits import LIMITS, limit_of
from tests.peg.mutations import NOISE, mutations
from tests.slips.kinds import slips
from tests.slips.measure import LISTS, answers
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.errors import BadMessage, TplcError
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.artifact import load_module
from tplc.verify.battery import battery, markers
from tplc.verify.compare import as_message
from tplc.verify.conversation import fitting_tools

# Text after a mistake that the parser reports; up to there both must read the same.  This is the largest share allowed.
MISTAKES, MOST_MISTAKES = "after a mistake", 0.003
Written = tuple[str, Any]  # an output, and tools that it fits


@dataclass(slots=True)
class Tally:
    outputs: int = 0
    same: int = 0
    limits: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        names = [*(limit.name for limit in LIMITS), MISTAKES]
        limits = ", ".join(f"{name} {self.limits[name]:,}" for name in names)
        share = 100 * self.same / max(1, self.outputs)
        return (
            f"{self.outputs:,} outputs: {self.same:,} messages the same ({share:.1f}%), limits of the PEG: {limits}; "
            f"unexplained {len(self.unexplained):,}"
        )


def compare(form: Format, engine: PegEngine, text: str, tools: Any, tally: Tally) -> None:
    stream = read_by_parser(form, text, tools)
    read = engine.read(text, tools=tools)
    tally.outputs += 1
    if reading_of(stream) == reading_of(read):
        tally.same += 1
        return
    limit = limit_of(engine, text, tools, stream.message, dict(read.message))
    # Where the call ends early for one of them, only the other may find it cut.
    if limit == "elements" or (limit is not None and stream.incomplete == read.incomplete):
        tally.limits[limit] += 1
    elif same_before_the_mistake(form, engine, text, tools, stream):
        tally.limits[MISTAKES] += 1
    else:
        lines = [f"{form.name} {'with' if tools else 'without'} tools", repr(text)]
        lines += [str(reading_of(stream)), str(reading_of(read))]
        tally.unexplained.append("\n  ".join(lines))


def read_by_parser(form: Format, text: str, tools: Any) -> Any:
    stream = form.parser.StreamParser(tools=tools)
    stream.feed(text)
    stream.finish()
    return stream


def reading_of(read: Any) -> tuple[Any, bool, str]:
    """Return the message, whether the output ends inside something, and the text that isn't part of the message."""
    return dict(read.message), read.incomplete, read.trailing.strip()


def same_before_the_mistake(form: Format, engine: PegEngine, text: str, tools: Any, stream: Any) -> bool:
    """Return whether the parser reports a mistake, and both read the text before it alike, including truncated
    calls."""
    if not stream.diagnostics:
        return False
    before = text[: max(0, min(diagnostic.offset for diagnostic in stream.diagnostics))]
    return reading_of(read_by_parser(form, before, tools)) == reading_of(engine.read(before, tools=tools))


def messages_agree(forms: Sequence[Format]) -> Tally:
    """Compare every message of the verification, as the format writes it, with tools and without."""
    tally = Tally()
    for form in forms:
        for text, tools in written(form.ir):
            for offered in (tools, None):
                compare(form, engine_of(form), text, offered, tally)
    return tally


def slips_agree(forms: Sequence[Format], most: int = 0) -> Tally:
    """Compare answers with one slip that a reader with the tools can undo; `most` of a format, 0 for all."""
    tally = Tally()
    for form in forms:
        rng = random.Random(f"slips {form.name}")
        texts = [
            (text, answer.tools)
            for which, (kinds, _, _, most_of_kind) in LISTS.items()
            for _, answer in answers(form.ir, which)
            for _, text in slips(answer, kinds, most=most_of_kind)
        ]
        for text, tools in rng.sample(texts, min(most or len(texts), len(texts))):
            compare(form, engine_of(form), text, tools, tally)
    return tally


def states_agree(forms: Sequence[Format], count: int) -> Tally:
    """Compare parser, PEG and interpreter on mutated messages, with the calls left in the content."""
    tally = Tally()
    for form in forms:
        # The interpreter doesn't know truncated markers of the turn.
        ir = replace(form.ir, tolerances=(*form.ir.tolerances, Tolerance("cut_markers", enabled=False)))
        parser, engine, acceptor = load_module(generate(ir, "python")), PegEngine(ir), lower(ir)
        rng, pieces = random.Random(f"states {form.name}"), [*markers(ir), *NOISE]
        texts = [text for text, _ in written(form.ir)]
        for _ in range(count if texts else 0):
            text = rng.choice(texts)
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(pieces) * rng.randint(0, 1) + text[at + rng.choice((0, 0, 3, len(text))) :]
            stream = parser.StreamParser(parse_tool_calls=False)
            stream.feed(text)
            stream.finish()
            reading = interpret(acceptor, text, parse_tool_calls=False)
            read = engine.read(text, parse_tool_calls=False)
            found = [(dict(one.message), one.incomplete) for one in (stream, read, reading)]
            tally.outputs += 1
            if found[0] == found[1] == found[2]:
                tally.same += 1
            else:
                tally.unexplained.append("\n  ".join([form.name, repr(text), *map(str, found)]))
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
    """Return the messages of the verification as text after the default prompt."""
    head = ir.turn.prompts[0].head if ir.turn.prompts else ""
    found: list[Written] = []
    for case in battery(ir):
        try:
            found.append((write_message(ir, as_message(ir, case), head=head), fitting_tools(case) or None))
        except BadMessage:
            continue
    return tuple(found)


def collected_formats() -> list[Format]:
    """Return the formats of the collected templates, each once."""
    found: dict[object, Format] = {}
    for path in sorted((SHARED / "templates").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        try:
            with open_renderer(source) as renderer:
                ir = learn_format(renderer, name=path.name, source_text=source)
        except TplcError:
            continue
        key = (ir.turn, ir.reasoning, ir.content, ir.tools)
        found.setdefault(key, Format(path.stem, ir, (), []))
    return list(found.values())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--slips", type=int, default=0, help="so many of a format; 0 for all")
    parser.add_argument("--states", type=int, default=200, help="so many of an example for the interpreter")
    parser.add_argument("--examples", action="store_true", help="leave the collected templates out")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    forms = [*formats(), *([] if options.examples else collected_formats())]
    print(f"{len(forms)} formats, {time.monotonic() - started:.0f} s", flush=True)
    slipped = slips_agree(forms, options.slips)
    print(f"slips: {slipped}", flush=True)
    turns = states_agree(formats(), options.states)
    print(f"parser, PEG and interpreter: {turns.same:,} of {turns.outputs:,} the same", flush=True)
    whole = messages_agree(forms)
    print(f"messages of the verification: {whole}", flush=True)
    mutated = mutations_agree(forms, options.count)
    print(f"mutations: {mutated}\n{time.monotonic() - started:.0f} s")
    for text in (*slipped.unexplained, *turns.unexplained, *whole.unexplained, *mutated.unexplained):
        print(text)
    agreed = whole.same == whole.outputs and not (mutated.unexplained or slipped.unexplained or turns.unexplained)
    return 0 if agreed and mutated.limits[MISTAKES] <= MOST_MISTAKES * mutated.outputs else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
