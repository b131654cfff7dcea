"""Run texts without calls through parsers: none may read a call in them, and none may lose a character.

    python -m tests.kept.plain_text [--designs N] [--first N] [--only WORD] [--tolerances [--shared] [--kind KIND]]

The texts are prose, source code, letters, configuration, pages, logs (tests/cases/prose, and tests/fluent.py), also one
paragraph at a time; and sentences with what opens calls in the format: in a word, in a line, at a line's start.
`make prose` prints how many of them become calls, over the examples and over generated designs.  With --tolerances it
reads each text with each general tolerance switched off as well, and prints how many messages differ from those with
it, for each tolerance: none should.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tests.conftest import ROOT, SHARED
from tests.fuzz.formats import formats
from tests.parser_cache import learn
from tests.property.wild_design import wild_template
from tplc.driver import generate, learn_format, open_renderer, tolerate
from tplc.errors import TplcError
from tplc.ir.nodes import GENERAL_TOLERANCES, Slot, TemplateIR, Tolerance
from tplc.lower import lower
from tplc.lower.layouts import merged, text_at
from tplc.verify.artifact import load_module
from tplc_runtime.escapes import Escapes

FOLDER = ROOT / "tests" / "cases" / "prose"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {}}}}}
    for name, key in (("get_forecast", "city"), ("send_note", "text"))
]
# Words with single punctuation characters between them, or one character.
ORDINARY = re.compile(r"/?\w+(?:[ ]*[.:;=@#$/&%(-]?[ ]*\w+)*[ ]?[.:;=@#$/&%(-]?|[@#$%&=:|/*>-]")
SENTENCES = (
    "I re{opener}this: {{x}} yes.",
    "Don't {opener}us: we {opener}you.",
    "So {opener}it. And {opener}them {{x}};",
    "Well:\n{opener}me: maybe {{not}}.",
    "{opener}nobody: x = 1\nat all",
    "It says un{opener}f(a) here,\n  {opener}f is a name, {opener}g = one.",
    "{opener}x{{y}}\n{opener}f {{x}}\n{opener} me: {{x}}",
    "{opener} a {opener} b {opener}\n{opener}a{opener}b{opener}\n{opener}---{opener}---{opener}",
)
AFTER_NAMES = (" and so on.", "{x} yes.", "{x, y}", "[1, 2]", '"no" is', "me, you")


@cache
def texts() -> tuple[str, ...]:
    """Return the texts whole, and paragraph by paragraph."""
    whole = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))]
    whole.append((ROOT / "tests" / "fluent.py").read_text(encoding="utf-8"))
    pieces = [piece for text in whole for piece in re.split(r"\n{2,}", text)]
    return tuple(dict.fromkeys(text for text in [*whole, *pieces] if text.strip()))


def sentences(ir: TemplateIR) -> Iterator[str]:
    """Yield texts with the openers that are made of ordinary characters, in places where these open nothing, or with a
    name before text that begins no arguments."""
    calls = lower(ir).calls
    openers = (
        dict.fromkeys(text.strip(" \n") for text in (*calls.opening.openers, *calls.opening.inner)) if calls else {}
    )
    layout = merged(ir.tools.call) if calls else ()
    name_end = text_at(layout, layout.index(Slot("name")) + 1) if calls else ""
    for opener in filter(ORDINARY.fullmatch, openers):
        opener += " " * opener[-1].isalnum()
        yield from (sentence.format(opener=opener) for sentence in SENTENCES)
        yield from (f"{opener}look{name_end}{after}" for after in AFTER_NAMES)


@dataclass(slots=True)
class Counts:
    read: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, name: str, text: str, problem: str) -> None:
        self.read += 1
        self.kinds[problem.partition(":")[0]] += bool(problem)
        if problem:
            self.shown.append(f"{name}: {text[:80]!r}: {problem}")


def problem_in(message: dict[str, Any], text: str, escapes: Escapes | None = None) -> str:
    """Return what is wrong with the message that was read from a text that is only an answer; "" for nothing."""
    if message["tool_calls"]:
        return "a call: " + json.dumps([call["function"] for call in message["tool_calls"]])
    kept = (message["reasoning_content"] or "") + (message["content"] or "")
    meant = escapes.unescape(text) if escapes else text
    return "" if kept == meant or kept.strip() == meant.strip() else f"lost: {kept[-200:]!r}"


def read_all(name: str, ir: TemplateIR, parse: Any, counts: Counts) -> None:
    acceptor = lower(ir)
    opened = acceptor.calls is not None and acceptor.heads[0].strip() in map(str.strip, acceptor.calls.opening.openers)
    escapes = next((Escapes(dict(each.replaced)) for each in acceptor.escapes if each.kind == "content"), None)
    for text in [*texts(), *sentences(ir)]:
        for tools in (None, TOOLS):
            # A prompt may end with what opens a call; these texts go on from one that does not.
            message = parse(text, tools=tools, prompt="" if opened else None)
            counts.add(name, text, problem_in(message, text, escapes))


def designs(numbers: Sequence[int]) -> Iterator[tuple[str, TemplateIR]]:
    for number in numbers:
        template = wild_template(number)
        name = f"wild-{number} ({template.summary})"
        try:
            with open_renderer(template.source, name=name) as renderer:
                ir = tolerate(learn_format(renderer, name=name, source_text=template.source))
                generate(ir, "python")  # formats without a parser are refused here
                yield name, ir
        except TplcError:
            continue


@dataclass(slots=True)
class Effect:
    """What one tolerance changes: the formats whose parser differs with it, and the texts that those read."""

    formats: int = 0
    texts: int = 0
    differ: list[str] = field(default_factory=list)


def without(ir: TemplateIR, kind: str) -> TemplateIR:
    return replace(ir, tolerances=(*ir.tolerances, Tolerance(kind, enabled=False)))


def compare(name: str, ir: TemplateIR, effects: dict[str, Effect]) -> None:
    """Read the prose with all tolerances, and with each of them switched off."""
    source = generate(ir, "python")
    parse, read = load_module(source).parse, [*texts(), *sentences(ir)]
    usual = [parse(text, tools=TOOLS) for text in read]
    for kind, effect in effects.items():
        other = generate(without(ir, kind), "python")
        if other == source:
            continue
        effect.formats, effect.texts = effect.formats + 1, effect.texts + len(read)
        parse = load_module(other).parse
        for text, message in zip(read, usual, strict=True):
            if parse(text, tools=TOOLS) != message:
                effect.differ.append(f"{name}: {text[:80]!r}")


def collected(only: str) -> Iterator[tuple[str, TemplateIR]]:
    """Yield the formats of the templates in ../shared, each once."""
    seen = set()
    for folder in ("templates", "more/templates"):
        for path in sorted((SHARED / folder).glob("*.jinja")):
            try:
                ir = tolerate(learn(path.stem))
            except TplcError:
                continue
            format_ = repr((ir.turn, ir.reasoning, ir.content, ir.tools))
            if format_ not in seen:
                seen.add(format_)
                yield path.stem, ir


def tolerances(only: str, show: int, *, shared: bool, kinds: Sequence[str]) -> int:
    effects = {kind: Effect() for kind in kinds or GENERAL_TOLERANCES}
    for name, ir in [*((one.name, one.ir) for one in formats()), *(collected(only) if shared else ())]:
        if only in name:
            compare(name, ir, effects)
    print(f"{'tolerance':<24}{'formats':>9}{'texts':>9}{'differ':>9}")
    for kind, effect in effects.items():
        print(f"{kind:<24}{effect.formats:>9}{effect.texts:>9}{len(effect.differ):>9}")
        for line in effect.differ[:show]:
            print("    " + line)
    return 1 if any(effect.differ for effect in effects.values()) else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Texts without calls, through parsers.")
    parser.add_argument("--designs", type=int, default=100, help="so many generated designs")
    parser.add_argument("--first", type=int, default=20_000)
    parser.add_argument("--only", default="", help="formats whose name holds this")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument(
        "--shared", action="store_true", help="with --tolerances: those of the templates in ../shared, too"
    )
    parser.add_argument(
        "--tolerances", action="store_true", help="read the examples' texts with each tolerance on and off"
    )
    parser.add_argument("--kind", action="append", default=[], help="with --tolerances: this tolerance alone")
    options = parser.parse_args(arguments)
    if options.tolerances:
        return tolerances(options.only, options.show, shared=options.shared, kinds=options.kind)
    found = [(one.name, one.ir) for one in formats()]
    groups = {"examples": found, "designs": designs(range(options.first, options.first + options.designs))}
    wrong = 0
    for group, members in groups.items():
        counts, formats_read = Counts(), 0
        for name, ir in members:
            if options.only in name:
                formats_read += 1
                read_all(name, ir, load_module(generate(ir, "python")).parse, counts)
        for line in counts.shown[: options.show]:
            print(line[:400])
        reported = ", ".join(f"{kind} in {count}" for kind, count in sorted(counts.kinds.items()) if kind)
        print(f"{group}: {formats_read} formats, {counts.read} texts read: {reported or 'all as they are'}")
        wrong += sum(count for kind, count in counts.kinds.items() if kind)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
