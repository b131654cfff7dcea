"""Check grammars against all renders of a template's verification, and random texts of them against its parser.

    python -m tests.gbnf.renders ../shared/templates [--every 1] [--walks 100] [--engine llama]

For each template that compiles verified: every rendered turn with calls is accepted, from the trigger on and whole;
so are outputs with the variants of markers that the catalogue declares, where the parser reads them; every random text
of the grammar parses to calls that are valid under the tools' schemas.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema

from tests.gbnf import engine, llama
from tests.gbnf.tools import ALL
from tests.gbnf.variants import Feed, of_the_catalogue, varied
from tests.gbnf.walk import Walker
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.python import generate
from tplc.constrained import without_end
from tplc.driver import learn_format, open_renderer, tolerate, verify_ir
from tplc.errors import TplcError, UnsupportedTemplate
from tplc.ir.nodes import GenerationPrompt, TemplateIR
from tplc.render import Renderer
from tplc.verify import verify
from tplc.verify.artifact import Artifact, load_artifact

VALIDATORS = {
    tool["function"]["name"]: jsonschema.Draft202012Validator(
        tool["function"]["parameters"], format_checker=jsonschema.FormatChecker()
    )
    for tool in ALL
}


@dataclass
class Outcome:
    verified: bool
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    refusal: str = ""


Accepts = Callable[[str, str], bool]
ENGINES: dict[str, Accepts] = {"xgrammar": engine.accepts, "llama": llama.accepts}


@dataclass
class Shown:
    """What verification of a template shows of its calls."""

    ir: TemplateIR
    parser: Artifact
    feeds: list[Feed]
    verified: bool


def shown_by(path: Path) -> Shown | None:
    """Return what verification of a template shows of its calls; None for a template without calls."""
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, name=path.name) as renderer:
        ir = tolerate(learn_format(renderer, name=path.name, source_text=source))
        if ir.tools.format == "none":
            return None
        # What failed, or came back by a tolerance alone, suggests repairs of the format.
        return _shown(verify_ir(ir, renderer, target="json"), renderer)


def _shown(ir: TemplateIR, renderer: Renderer) -> Shown:
    parser = load_artifact(generate(ir))
    feeds: dict[str, Feed] = {}

    def parse(text: str, *, tools: Any = None, prompt: str | None = None) -> Mapping[str, Any]:
        message = parser.parse(text, tools=tools, prompt=prompt)
        if message["tool_calls"] and tools:
            feeds.setdefault(json.dumps([text, prompt]), Feed(text, tools, prompt))
        return message

    verified = verify(ir, Artifact(parse, None), renderer).verified
    return Shown(ir, parser, list(feeds.values()), verified)


def check_template(path: Path, *, every: int, walks: int, accepts: Accepts = engine.accepts) -> Outcome | None:
    """Check the grammars of a template; return None if it shows no calls."""
    shown = shown_by(path)
    if shown is None:
        return None
    found = Outcome(shown.verified)
    if not found.verified:
        return found
    try:
        grammar(shown.ir, tools=ALL)
    except UnsupportedTemplate as error:
        found.refusal = str(error)
    else:
        for feed in shown.feeds[::every]:
            _check_render(shown.ir, feed, found, accepts)
        _check_variants(shown, found, accepts)
        _check_walks(shown.ir, shown.parser, walks, found)
    return found


def _check_variants(shown: Shown, found: Outcome, accepts: Accepts) -> None:
    ir = shown.ir
    for declared, feed in (*varied(ir, shown.parser, shown.feeds), *of_the_catalogue(ir, shown.parser)):
        own, usual = Outcome(True), Outcome(True)
        _check_render(ir, feed, own, accepts)
        if own.problems and feed.usual:
            _check_render(ir, replace(feed, text=feed.usual), usual, accepts)
        if usual.problems:
            # The entry's outputs are in another dialect than this template's.
            found.counts["refused with the template's markers as well"] += 1
            continue
        found.problems += [f"variant {declared!r}, {problem}" for problem in own.problems]
        found.counts["variants accepted"] += not own.problems


def _check_render(ir: TemplateIR, feed: Feed, found: Outcome, accepts: Accepts) -> None:
    tools = list({tool["function"]["name"]: tool for tool in feed.tools}.values())
    text = without_end(ir, feed.text)
    if any(end.strip() and end.strip() in text for end in ir.turn.ends):
        found.counts["continues after the end of the turn"] += 1
        return
    lazy = grammar(ir, tools=tools)
    place = fires_at(lazy.triggers, text)
    # Some templates write arguments in an order of their own.
    any_order = place is not None and not accepts(lazy.text, text[place:])
    if any_order:
        lazy = grammar(ir, tools=tools, any_order=True)
    if place is None or not accepts(lazy.text, text[place:]):
        found.problems.append(f"not accepted from {lazy.triggers[0].value!r} on: {text!r}")
        return
    found.counts["accepted from the trigger on"] += 1
    prompt = prompt_of(ir, feed)
    if prompt is None:
        found.counts["after a prompt that no request has"] += 1
        return
    context = dict(prompt.context)
    eager = grammar(ir, tools=tools, tool_choice="required", context=context, any_order=any_order)
    if accepts(eager.text, text):
        found.counts["accepted whole"] += 1
    else:
        found.problems.append(f"not accepted after {prompt.head!r}: {text!r}")


def prompt_of(ir: TemplateIR, feed: Feed) -> GenerationPrompt | None:
    if feed.prompt is None:
        return ir.turn.prompts[0]
    fitting = [prompt for prompt in ir.turn.prompts if feed.prompt.endswith(ir.turn.header + prompt.head)]
    return max(fitting, key=lambda prompt: len(prompt.head), default=None)


def _check_walks(ir: TemplateIR, parser: Artifact, walks: int, found: Outcome) -> None:
    rng = random.Random(ir.provenance.name)
    for choice in ("auto", "required"):
        made = grammar(ir, tools=ALL, tool_choice=choice)
        walker = Walker(made.text)
        for _ in range(walks):
            text = walker.text(rng, depth=rng.choice((8, 20, 40)))
            head = ir.turn.prompts[0].head
            # If the prompt contains the beginning of an opener, a text with the whole opener comes after content.
            from_head = bool(head) and made.lazy and text.startswith(head)
            prompt = made.generation_prompt.removesuffix(head) if from_head else made.generation_prompt
            message = parser.parse(text, tools=ALL, prompt=prompt)
            problem = _problem(message)
            if problem is None:
                found.counts["random texts that parse to valid calls"] += 1
            else:
                found.problems.append(f"random text, {problem}: {text!r}")


def _problem(message: Mapping[str, Any]) -> str | None:
    if not message["tool_calls"]:
        return "no call"
    for call in message["tool_calls"]:
        name = call["function"]["name"]
        if name not in VALIDATORS:
            return f"no tool {name!r}"
        for error in VALIDATORS[name].iter_errors(json.loads(call["function"]["arguments"])):
            return f"{name}: {error.message}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="grammars of a folder's templates against renders and parsers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="every n-th render only")
    parser.add_argument("--walks", type=int, default=100, help="random texts for each of auto and required")
    parser.add_argument("--engine", choices=ENGINES, default="xgrammar")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.jinja")):
        try:
            outcome = check_template(path, every=options.every, walks=options.walks, accepts=ENGINES[options.engine])
        except TplcError:
            total["not learned"] += 1
            continue
        if outcome is None:
            continue
        total["templates with calls"] += 1
        total["of them verified"] += outcome.verified
        total["without a grammar"] += bool(outcome.refusal)
        total["with problems"] += bool(outcome.problems)
        total += outcome.counts
        total["problems"] += len(outcome.problems)
        for problem in outcome.problems[:3]:
            print(f"{path.name}: {problem[:300]}", flush=True)
    for what, count in total.items():
        print(f"{count:7} {what}")
    return 1 if total["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
