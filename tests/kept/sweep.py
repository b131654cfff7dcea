"""Check that parsers of real templates keep every word, and that no prompt affects them: `make kept`.

    python -m tests.kept.sweep [--only WORD] [--every N] [--processes N] [--part words|prompts]

Words: messages made of the words and pieces of a format's own markers (`prose.py`) are rendered and read back, in every
context, whole and in chunks.  Prompts: the format's own markers, and its calls cut everywhere, in what others wrote;
the answer is read as if they had written anything else.  Of the templates in ../shared; those that verify.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from tests.conftest import SHARED
from tests.kept.poison import Reader, steered
from tests.kept.prose import cases
from tests.parser_cache import learn, read_source, special_tokens
from tplc.driver import generate, open_renderer, tolerate, verify_ir
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.render import Renderer
from tplc.verify import verify
from tplc.verify.artifact import artifact_in, load_module
from tplc.verify.battery import battery

FOLDERS = (SHARED / "templates", SHARED / "more" / "templates")
EVERY_CUT = 10_000


@dataclass(frozen=True, slots=True)
class Words:
    equal: int = 0
    wrong: int = 0
    shown: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompts:
    tried: int = 0
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    name: str
    verified: bool
    words: Words = Words()
    prompts: Prompts = Prompts()
    seconds: float = 0.0

    @property
    def wrong(self) -> int:
        return self.words.wrong + len(self.prompts.wrong)


def check(name: str, *, part: str = "") -> Kept:
    started = time.monotonic()
    try:
        with open_renderer(read_source(name), name=name, special_tokens=special_tokens(name)) as renderer:
            ir = verify_ir(tolerate(learn(name)), renderer)
            if not ir.verification.verified:
                return Kept(name, False)
            parser = load_module(generate(ir, "python"))
            words = kept_words(ir, renderer, parser) if part != "prompts" else Words()
            prompts = kept_answers(ir, renderer, parser) if part != "words" else Prompts()
    except TplcError:
        return Kept(name, False)
    return Kept(name, True, words, prompts, time.monotonic() - started)


def kept_words(ir: TemplateIR, renderer: Renderer, parser: ModuleType) -> Words:
    # With a plain message of each shape: a message may be read as one of another shape only if that shape comes back.
    plain = (case for case in battery(ir) if case.is_plain)
    found = verify(ir, artifact_in(parser), renderer, cases=(*plain, *cases(ir)))
    ambiguous = tuple(f"{one.kind}: {one.first} or {one.second} in {one.render!r}" for one in found.ambiguities)
    return Words(found.passed, found.messages - found.passed, found.failures, ambiguous)


def kept_answers(ir: TemplateIR, renderer: Renderer, parser: ModuleType) -> Prompts:
    tried, wrong = 0, list[str]()
    for substitute in (False, True):
        reader = Reader(ir, renderer, parser.parse, substitute)
        wrong += steered(reader, cuts=EVERY_CUT if substitute else 1)
        tried += reader.tried
    return Prompts(tried, tuple(wrong))


def summary(results: Sequence[Kept]) -> str:
    verified = [result for result in results if result.verified]
    equal, lost = (sum(getattr(result.words, name) for result in verified) for name in ("equal", "wrong"))
    tried, steering = sum(r.prompts.tried for r in verified), sum(len(r.prompts.wrong) for r in verified)
    return (
        f"{len(verified)} of {len(results)} templates verified: {equal} messages came back, {lost} did not; "
        f"of {tried} prompts {steering} steered; wrong in {sum(bool(r.wrong) for r in verified)} templates"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Words that parsers lose, prompts that steer them.")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="every N-th template")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--part", choices=("words", "prompts"), default="", help="one of the two alone")
    parser.add_argument("--show", type=int, default=3, help="so many of what is wrong with one template")
    parser.add_argument(
        "--ambiguous", action="store_true", help="also messages that the template itself does not distinguish"
    )
    options = parser.parse_args(arguments)
    names = [path.stem for folder in FOLDERS for path in sorted(folder.glob("*.jinja")) if options.only in path.name]
    names = names[:: options.every]
    results: list[Kept] = []
    with ProcessPoolExecutor(options.processes) as pool:
        for done in as_completed([pool.submit(partial(check, name, part=options.part)) for name in names]):
            results.append(done.result())
            show(results[-1], f"{len(results)}/{len(names)}", options.show, ambiguous=options.ambiguous)
    print(summary(results))
    return 1 if any(result.wrong for result in results) else 0


def show(result: Kept, count: str, most: int, *, ambiguous: bool) -> None:
    state = "not verified" if not result.verified else f"{result.wrong} wrong" if result.wrong else "kept"
    counted = f"{result.words.equal} messages, {result.prompts.tried} prompts, {result.seconds:.1f} s"
    print(f"{count} {result.name}: {state} ({counted})", file=sys.stderr)
    reported = [*(f"WORDS {line}" for line in result.words.shown[:most])]
    reported += [f"PROMPT {line}" for line in result.prompts.wrong[:most]]
    reported += [f"AMBIGUOUS {line}" for line in result.words.ambiguous] if ambiguous else []
    for line in reported:
        print(f"{result.name}: {line[:1000]}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
