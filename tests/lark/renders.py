"""Lark grammars against all that templates render in their verification, with markers as text and as tokens.

    python -m tests.lark.renders ../shared/templates [--every 1]

Every rendered turn with calls is accepted where the model may call and where it must, and wrong arguments are not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.gbnf.formats import arguments_of, calls_message, written
from tests.gbnf.renders import Feed, Outcome, Shown, prompt_of, shown_by
from tests.gbnf.tools import tool
from tests.lark.engine import Tokens, accepts, of, refused
from tplc.backends.lark import NoLark, lark
from tplc.constrained import without_end
from tplc.ir.nodes import TemplateIR

TOOLS = [
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, required=("at",)),
    tool("see", {}),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("look", {"days": 2}),
    ("look", {"at": "it", "days": "x"}),
    ("look", {"at": "it", "days": -1}),
    ("look", {"at": "it", "other": "x"}),
]


class Refused(Exception):
    """The engine does not read a grammar."""


class Grammars:
    """Those of one template, each made once."""

    def __init__(self, ir: TemplateIR, tokens: Tokens | None) -> None:
        self.ir = ir
        self.tokens = tokens
        self._made: dict[str, str] = {}

    def of(self, tools: Any, choice: str, context: Mapping[str, Any] | None, *, any_order: bool) -> str:
        key = json.dumps([tools, choice, context, any_order])
        if key not in self._made:
            added = None if self.tokens is None else self.tokens.added
            made = lark(self.ir, tools=tools, tool_choice=choice, context=context, any_order=any_order, tokens=added)
            self._made[key] = made.text
            problem = refused(made.text, self.tokens)
            if problem is not None:
                raise Refused(f"{problem} ({len(made.text):,} characters)")
        return self._made[key]

    def accept(self, text: str, tools: Any, choice: str, context: Mapping[str, Any] | None = None) -> bool:
        # Some templates write arguments in an order of their own.
        return any(
            accepts(self.of(tools, choice, context, any_order=any_order), text, self.tokens)
            for any_order in (False, True)
        )


def check_template(path: Path, *, every: int) -> Outcome | None:
    """Check the grammars of a template; return None if it shows no calls."""
    shown = shown_by(path)
    if shown is None:
        return None
    found = Outcome(shown.verified)
    for tokens in (None, of(tuple(shown.ir.preserved_tokens))) if shown.verified else ():
        grammars = Grammars(shown.ir, tokens)
        try:
            for feed in shown.feeds[::every]:
                # A value that holds a token is no text: which of both a model writes, its tokens alone knows.
                if tokens is not None and _holds_token(shown, feed):
                    found.counts["with a token inside of a value"] += 1
                else:
                    check_feed(grammars, feed, found)
            check_wrong(shown, grammars, found)
        except NoLark as error:
            found.counts["cannot be said"] += 1
            found.problems.append(str(error))
        except Refused as error:
            found.problems.append(f"refused by the engine: {error}")
    return found


def _holds_token(shown: Shown, feed: Feed) -> bool:
    message = shown.parser.parse(feed.text, tools=feed.tools, prompt=feed.prompt)
    values = [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]]
    texts = json.dumps([values, message["content"], message.get("reasoning_content")], ensure_ascii=False)
    return any(json.dumps(token, ensure_ascii=False)[1:-1] in texts for token in shown.ir.preserved_tokens)


def check_feed(grammars: Grammars, feed: Feed, found: Outcome) -> None:
    ir = grammars.ir
    tools = list({tool["function"]["name"]: tool for tool in feed.tools}.values())
    text = without_end(ir, feed.text)
    if any(end.strip() and end.strip() in text for end in ir.turn.ends):
        found.counts["continues after the end of the turn"] += 1
        return
    prompt = prompt_of(ir, feed)
    context = None if prompt is None else dict(prompt.context)
    for choice in ("auto", "required"):
        if choice == "required" and prompt is None:
            found.counts["after a prompt that no request has"] += 1
        elif grammars.accept(text, tools, choice, context):
            found.counts[f"accepted, {choice}"] += 1
        else:
            found.problems.append(f"{choice}, {_kind(grammars)}: not accepted: {text!r}")


def check_wrong(shown: Shown, grammars: Grammars, found: Outcome) -> None:
    for choice in ("auto", "required"):
        for call in WRONG:
            text = written(grammars.ir, calls_message(call))
            if arguments_of(shown.parser.parse(text, tools=TOOLS)) != [call]:
                # Without quotes, what looks like another argument may be text of the one before.
                found.counts["wrong, and read as another call"] += 1
                continue
            if accepts(grammars.of(TOOLS, choice, None, any_order=False), text, grammars.tokens):
                found.problems.append(f"{choice}, {_kind(grammars)}: wrong and accepted: {text!r}")
            else:
                found.counts["wrong and refused"] += 1


def _kind(grammars: Grammars) -> str:
    return "text" if grammars.tokens is None else "tokens"


def main() -> int:
    parser = argparse.ArgumentParser(description="lark grammars of a folder's templates against their renders")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="every n-th render only")
    parser.add_argument("--only", default="", help="templates with this word in their name")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.jinja")):
        outcome = check_template(path, every=options.every) if options.only in path.name else None
        if outcome is None:
            continue
        total["templates with calls"] += 1
        total["of them verified"] += outcome.verified
        total += outcome.counts
        total["problems"] += len(outcome.problems)
        for problem in outcome.problems[:3]:
            print(f"{path.name}: {problem[:300]}", flush=True)
    for what, count in total.items():
        print(f"{count:7} {what}")
    return 1 if total["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
