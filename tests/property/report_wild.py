"""How many chat templates of wild design compile verified, by kind: `make random-wild`.

    python -m tests.property.report_wild [--first N] [--count N] [--kept] [--readers] [--processes N] [--verbose]
        [--progress]

`--kept` takes the 200 seeds that no fix is made for.  Seeds from 20,000 on write calls that look like text, change
values, or differ by them (written_calls.py), seeds from 60,000 on calls whose markers depend on them
(shaped_calls.py), seeds from 80,000 on calls as people copy them, in turns that differ by their shape
(idiom_calls.py), seeds from 100,000 on calls of all kinds with delimiters that occur elsewhere (delimited_calls.py),
inside of reasoning, or opened by the prompt.  Seeds from 500,000 on write calls that a careful person can invert.  A
failure without a cause is counted by itself: it is a defect in every design.  A design that verifies reads messages
that plain Jinja renders, with prose, dotted names, words of markers that are quoted inside a line, and characters
that filters escape; if one comes back differently, the design is verified but wrong.  The last line says how many of
these misread a raw value that contains its own closing marker, a limit that docs/limits.md states.  On a terminal, or
with --progress, the numbers so far are shown now and then on stderr.  If the command is stopped (Ctrl+C, or SIGTERM
as from `timeout`), it prints the table of what was done.  With --readers, messages are read in chunks and by the PEG
as well, and a difference between them makes the design wrong.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from typing import Any

from tests.independent import TOKENS, messages, round_trip
from tests.property.every_reader import EveryReader
from tests.property.wild_design import wild_template
from tplc.driver import compile_template, generate
from tplc.errors import InvalidIR, TplcError
from tplc.ir.markers import is_ordinary, is_word
from tplc.ir.nodes import PairArguments, Slot, TemplateIR, Text
from tplc.ir.own_markers import own_markers
from tplc.verify.artifact import load_module

KEPT = range(10_000, 10_200)
PROSE = (
    "I recall this: {x} yes.",
    "Don't call us: we call you. Use tools.f({}) there.",
    "Mail me@home#1 {x}; fn:f is one.",
)
_SHOWN_EVERY = 20  # designs
NAMES = ("maps.find", "maps.find.all", "find-it", "a/b", "maps:find", "v2")
SPACED = ("These:\n", "These:\n\n", "These: \n", "These  ")  # the white space belongs to the text
VALUES = ('say "hi" & <b>it</b>', "50% off?", "a | b", "-k=v", "x) (ping", "1, n=2", "</p>", "12", "true")


@dataclass(frozen=True, slots=True)
class Outcome:
    seed: int
    kinds: tuple[str, ...]
    ambiguous: str
    verified: bool
    reported: str  # the reported cause or refusal; "" for none
    wrong: tuple[str, ...] = ()  # messages that a verified parser reads otherwise
    limited: tuple[str, ...] = ()  # the same, of messages whose raw value holds its own closing marker

    @property
    def is_wrong(self) -> bool:
        return bool(self.wrong or self.limited)

    @property
    def group(self) -> str:
        if self.is_wrong:
            return "verified but wrong"
        return "verified" if self.verified else "refused with a cause" if self.reported else "failed without a cause"


def compile_wild(seed: int, *, readers: bool = False) -> Outcome:
    template = wild_template(seed)
    reported, wrong, limited = "", tuple[str, ...](), tuple[str, ...]()
    try:
        ir = compile_template(template.source, name=f"wild-{seed}.jinja", special_tokens=TOKENS)
        result = ir.verification
        verified = result.verified
        if verified:
            wrong, limited = read_back(template.source, ir, readers=readers)
        reported = next((line for line in result.failures if line.startswith("cause: ")), "")
    except InvalidIR as error:
        verified = False
        print(f"seed {seed}: {error}", file=sys.stderr)
    except TplcError as error:
        verified, reported = False, str(error)
    return Outcome(seed, template.kinds, template.ambiguous, verified, reported, wrong, limited)


def read_back(source: str, ir: TemplateIR, *, readers: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the messages that come back differently, and those of them whose raw value contains its own closing
    marker. `readers`: the same outputs are read in chunks and by the PEG, and differences in these count as well."""
    parser: Any = EveryReader(ir) if readers else load_module(generate(ir, "python"))
    closer = _closer_of_raw_values(ir)
    asked = [*further_messages(ir.reasoning.key), *quoting_messages(ir)]
    limited = [message for message in asked if closer and any(closer in text for text in _values(message))]
    others = [message for message in asked if message not in limited]
    wrong, within_limits = (round_trip(source, ir, parser, tried).wrong for tried in (others, limited))
    return (*wrong, *(parser.differ if readers else ())), within_limits


def _closer_of_raw_values(ir: TemplateIR) -> str:
    """Return the text after a raw value in each pair; "" if values are delimited differently."""
    pairs, dialect = ir.tools.arguments, ir.tools.dialect
    if not isinstance(pairs, PairArguments) or dialect is None or dialect.top.strings:
        return ""
    after = pairs.pair[pairs.pair.index(Slot("value")) + 1 :][:1]
    return "".join(item.text for item in after if isinstance(item, Text)).strip()


def _values(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls", [])
    return [value for call in calls for value in call["function"]["arguments"].values() if isinstance(value, str)]


def further_messages(key: str) -> Iterator[dict[str, Any]]:
    """Yield prose around calls, names of several words, and values that filters change."""
    yield from messages(key)
    for number, content in enumerate(PROSE):
        yield {"role": "assistant", "content": content}
        call = _call(number, "pin", {"at": PROSE[number - 1], "n": 1})  # another text: a template may drop the content
        yield {"role": "assistant", "content": content, "tool_calls": [call]}
    for number, name in enumerate(NAMES):
        call = _call(number, name, {"q": "a b"})
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {"role": "assistant", "content": "", "tool_calls": [_call(number + 1, "pin", {"at": "a b"}), call]}
    for number, text in enumerate(SPACED):
        yield {"role": "assistant", "content": text}
        yield {"role": "assistant", "content": text, "tool_calls": [_call(number, "pin", {"at": 1})]}
        if key and ":" not in key:
            yield {"role": "assistant", "content": "So.", key: text}
    for number, value in enumerate(VALUES):
        yield {"role": "assistant", "content": "", "tool_calls": [_call(number, "pin", {"at": value, "and": 2})]}


def quoting_messages(ir: TemplateIR) -> Iterator[dict[str, Any]]:
    """Yield content and reasoning that quote the words of which markers consist inside a line."""
    lines = dict.fromkeys(line.strip() for text in own_markers(ir) for line in text.splitlines())
    for marker in filter(is_ordinary, filter(is_word, lines)):
        quoted = {"role": "assistant", "content": f"He said {marker} twice."}
        yield quoted
        key = ir.reasoning.key
        if key and ":" not in key:
            yield {**quoted, "content": "It is so.", key: quoted["content"]}


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"wild0000{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile chat templates of wild design.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kept", action="store_true", help="the 200 seeds that no fix is made for")
    parser.add_argument("--readers", action="store_true", help="read the messages in chunks and by the PEG, too")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="every template that does not verify")
    parser.add_argument("--progress", action="store_true", help="show the numbers so far on stderr")
    options = parser.parse_args(arguments)
    seeds = KEPT if options.kept else range(options.first, options.first + options.count)
    outcomes = compile_all(
        seeds, readers=options.readers, processes=options.processes, progress=options.progress or sys.stderr.isatty()
    )
    for outcome in outcomes:
        if options.verbose and not outcome.verified:
            print(f"seed {outcome.seed}: {' + '.join(outcome.kinds)}: {outcome.reported[:300] or 'NO CAUSE TOLD'}")
        if options.verbose and outcome.limited:
            print(f"seed {outcome.seed}: {' + '.join(outcome.kinds)}: LIMIT {outcome.limited[0][:500]}")
        if options.verbose and outcome.wrong:
            print(f"seed {outcome.seed}: {' + '.join(outcome.kinds)}: WRONG {outcome.wrong[0][:500]}")
    print(table(outcomes))
    if len(outcomes) < len(seeds):
        print(f"stopped after {len(outcomes)} of {len(seeds)} designs")
    return 0


def compile_all(seeds: Sequence[int], *, readers: bool, processes: int, progress: bool) -> list[Outcome]:
    """Return the outcomes in the order of the seeds; if the command is stopped, the ones that have come by then."""
    outcomes: list[Outcome] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Pool(processes, _stop_with_parent) as pool:  # ends its processes if it is left early
        try:
            for outcome in pool.imap(partial(compile_wild, readers=readers), seeds, chunksize=4):
                outcomes.append(outcome)
                if progress and outcome.is_wrong:
                    shown = (outcome.wrong + outcome.limited)[0]
                    print(f"seed {outcome.seed}: {' + '.join(outcome.kinds)}: WRONG {shown[:500]}", file=sys.stderr)
                if progress and len(outcomes) % _SHOWN_EVERY == 0:
                    groups = Counter(outcome.group for outcome in outcomes)
                    numbers = ", ".join(f"{count} {group}" for group, count in groups.most_common())
                    print(f"{len(outcomes)} of {len(seeds)}: {numbers}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()
    return outcomes


def _stop_with_parent() -> None:
    """Let the parent process decide what Ctrl+C does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def table(outcomes: Iterable[Outcome]) -> str:
    outcomes = list(outcomes)
    kinds = Counter(kind for outcome in outcomes for kind in outcome.kinds)
    wrong = Counter(kind for outcome in outcomes if outcome.is_wrong for kind in outcome.kinds)
    good = Counter(kind for outcome in outcomes if outcome.verified for kind in outcome.kinds)
    lines = [
        f"{kind:<32} {good[kind]:>4} of {kinds[kind]}" + f", {wrong[kind]} of them wrong" * bool(wrong[kind])
        for kind in sorted(kinds)
    ]
    for ambiguous in (False, True):
        groups = Counter(outcome.group for outcome in outcomes if bool(outcome.ambiguous) == ambiguous)
        reported = ", ".join(f"{count} {group}" for group, count in sorted(groups.items(), reverse=True))
        lines.append(f"{'ambiguous' if ambiguous else 'unambiguous'}: {reported or 'none'} of {sum(groups.values())}")
    limited = sum(bool(outcome.limited) for outcome in outcomes)
    if limited:
        lines.append(f"{limited} of the wrong designs end a raw value at its own closing marker (docs/limits.md)")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
