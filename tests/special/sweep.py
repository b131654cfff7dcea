"""Check that parsers distinguish special tokens from text that spells them: `make special`.

    python -m tests.special.sweep [--only WORD] [--every N] [--processes N] [--mixed N]

Every shape of a turn of the templates in ../shared that have markers like tokens, as if those were tokens:

prose    fed as ordinary text: no call, no reasoning out of the text's markers, and no character lost
special  with the tokens' ranges: what the parser reads of the text alone
chunks   both in chunks of one to seven characters, and cut once at every place: the same message, diagnostics, deltas
mixed    random pieces of outputs and tokens, some of them special: the same for every chunking
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from tests.conftest import SHARED
from tests.parser_cache import learn
from tests.special.fed import Answer, cuts, mixed, read, tokens_in, turns, with_tokens
from tplc.driver import generate, tolerate
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

FOLDERS = (SHARED / "templates", SHARED / "more" / "templates")
SIZES = (1, 2, 3, 7)
KINDS = ("prose", "special", "chunks", "mixed")


@dataclass(frozen=True, slots=True)
class Checked:
    name: str
    tokens: int
    tried: Counter[str]
    wrong: tuple[str, ...]


def check(name: str, count: int) -> Checked:
    try:
        ir = with_tokens(tolerate(learn(name)))
        parser = load_module(generate(ir, "python"))
    except TplcError:
        return Checked(name, 0, Counter(), ())
    if len(ir.tokens) < 2:  # no marker is like a token
        return Checked(name, 0, Counter(), ())
    tried: Counter[str] = Counter()
    wrong = []
    for kind, problem in [*of_turns(ir, parser), *of_mixed(ir, parser, count)]:
        tried[kind] += 1
        if problem:
            wrong.append(f"{kind}: {problem}")
    return Checked(name, len(ir.tokens) - 1, tried, tuple(wrong))


def of_turns(ir: TemplateIR, parser: ModuleType) -> Iterator[tuple[str, str]]:
    for title, text in turns(ir):
        special = tokens_in(text, tuple(parser.TOKENS))
        yield "prose", of_prose(parser, f"So: {text}", title)
        whole = read(parser, text, special)
        plain = read(parser, text, None)
        yield "special", "" if whole == plain else f"{title}: {whole} and not {plain} of {text!r}"
        for ranges in ((), special):
            once = read(parser, text, ranges)
            for at in [*(cuts(text, size) for size in SIZES), *([place] for place in range(1, len(text)))]:
                found = read(parser, text, ranges, at)
                yield "chunks", "" if found == once else f"{title}: {found} and not {once} of {text!r} at {at[:4]}"


def of_prose(parser: ModuleType, text: str, title: str) -> str:
    """Return the problem with the text as ordinary text: it must be read as if other characters were in the tokens'
    place."""
    found = read(parser, text, ())
    if found.message["tool_calls"] and getattr(parser.StreamParser, "TOKEN_OPENS", ()):
        return f"{title}: {found.message} of {text!r}"
    other = re.sub("|".join(map(re.escape, parser.TOKENS)), lambda token: "\u25a1" * len(token[0]), text)
    lost = length(read(parser, other, None)) - length(found)
    return (
        f"{title}: {lost} characters lost: {found} of {text!r}" if lost > 0 and not found.message["tool_calls"] else ""
    )


def length(answer: Answer) -> int:
    return len("".join((answer.text + answer.trailing).split()))


def of_mixed(ir: TemplateIR, parser: ModuleType, count: int) -> Iterator[tuple[str, str]]:
    texts, rng = [text for _, text in turns(ir)], random.Random(ir.provenance.sha256)
    for _ in range(count if texts else 0):
        text, special = mixed(rng, tuple(parser.TOKENS), texts, 12)
        once = read(parser, text, special)
        at = sorted(rng.sample(range(1, len(text)), min(len(text) - 1, 4))) if len(text) > 1 else []
        for places in (cuts(text, 1), cuts(text, 3), at):
            found = read(parser, text, special, places)
            problem = "" if found == once else f"{found} and not {once} of {text!r} {special} at {places[:5]}"
            yield "mixed", problem or ("" if once.message == once.deltas else f"deltas: {once} of {text!r} {special}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Special tokens, and text that spells them.")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="every N-th template")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--mixed", type=int, default=100, help="random texts for each template")
    parser.add_argument("--show", type=int, default=2, help="so many problems of one template")
    options = parser.parse_args(arguments)
    names = [path.stem for folder in FOLDERS for path in sorted(folder.glob("*.jinja")) if options.only in path.name]
    names = names[:: options.every]
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    found, failing = 0, 0
    with ProcessPoolExecutor(options.processes) as pool:
        for done in as_completed([pool.submit(partial(check, count=options.mixed), name) for name in names]):
            result = done.result()
            tried += result.tried
            wrong += Counter(problem.split(":")[0] for problem in result.wrong)
            found, failing = found + bool(result.tokens), failing + bool(result.wrong)
            for problem in result.wrong[: options.show]:
                print(f"{result.name}: {ascii(problem)[:1200]}", flush=True)
    counted = ", ".join(f"{kind} {tried[kind] - wrong[kind]} of {tried[kind]}" for kind in KINDS)
    print(f"{found} of {len(names)} templates have markers like tokens: {counted}; wrong in {failing} templates")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
