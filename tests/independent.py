"""Check verified parsers with messages rendered by plain Jinja, not by the project's renderer: `make round-trip`.

    python -m tests.independent [FOLDER …] [--only WORD] [--every N] [--processes N]

The environment is made as `apply_chat_template` makes its own; the values are another list than the battery's.  What
the template writes after its generation prompt is parsed, and must be the message again.  Not counted: what does not
show, does not begin with the prompt, or follows reasoning that the prompt has opened and the template never closes, and
a message that came back as another one with the very same render.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.conftest import SHARED
from tplc.driver import compile_template, generate
from tplc.errors import TplcError
from tplc.ir.markers import common_suffix
from tplc.ir.nodes import Replaced, TemplateIR
from tplc.ir.write import escaped
from tplc.learn.align import reads_well
from tplc.verify.artifact import load_module

FOLDERS = (SHARED / "templates", SHARED / "more" / "templates")
QUESTION = "What about lakes?"
TOKENS = {"bos_token": "<bos~>", "eos_token": "<eos~>", "unk_token": "<unk~>", "pad_token": "<pad~>"}
CONTENTS = (
    "Loch Ness is 37 km long.",
    "Two of them:\n  1. Bodensee\n  2. Lac Léman\n\nMore?",
    'He said "it\'s deep" (230 m), i.e. very.',
    "x = [1, 2]; y = {'k': x}",
    "湖は深い。🌊",
)
REASONINGS = ("The user asks of lakes.", "First: which?\n\nSecond - how deep?")
VALUES: tuple[Any, ...] = (
    "Vättern",
    "a deep, cold lake",
    "line one\nline two",
    'the "big" one',
    "Lake O'Hara",
    "C:\\lakes\\list.txt",
    "if a < b and b > c: pass",
    "{not json}",
    0,
    -17,
    2.75,
    True,
    False,
    ["Erie", "Huron"],
    [4, 8, 15],
    {"name": "Inari", "depth": 92},
    {"of": [{"id": 1}, {"id": 2}], "all": True},
)


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    verified: bool
    equal: int
    counts: Mapping[str, int]  # what was not counted, by why
    wrong: tuple[str, ...]


class _Generation(Extension):
    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def environment() -> ImmutableSandboxedEnvironment:
    def raise_exception(message: str) -> NoReturn:
        raise TemplateError(message)

    def tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **other: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **other)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime(2024, 2, 29, 12, 0).strftime(form)
    return made


def messages(key: str) -> Iterator[dict[str, Any]]:
    """Yield messages; `key` is the key of reasoning."""
    for content in CONTENTS:
        yield {"role": "assistant", "content": content}
    for number, value in enumerate(VALUES):
        content_text = CONTENTS[number % len(CONTENTS)] if number % 3 == 0 else ""
        yield {"role": "assistant", "content": content_text, "tool_calls": [_call(0, "measure", {"what": value})]}
    several = [
        _call(0, "find_lake", {"name": "Como", "limit": 3}),
        _call(1, "now", {}),
        _call(2, "pin", {"at": [1, 2]}),
    ]
    for count in (2, 3):
        yield {"role": "assistant", "content": "", "tool_calls": several[:count]}
    for reasoning in REASONINGS if key and ":" not in key else ():
        yield {"role": "assistant", "content": CONTENTS[0], key: reasoning}
        yield {"role": "assistant", "content": "", key: reasoning, "tool_calls": several[:1]}
        yield {"role": "assistant", "content": CONTENTS[0], key: reasoning, "tool_calls": several[:1]}


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"lakes000{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def tools(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_tool(call["function"]) for call in message.get("tool_calls", ())] or [_tool(_call(0, "x", {})["function"])]


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    properties = {key: _schema(value) for key, value in function["arguments"].items()}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": function["name"], "description": "Of lakes.", "parameters": parameters},
    }


def _schema(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _schema(item) for key, item in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _schema(value[0])}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": kinds[type(value)], "description": "It."}


def check(path: Path) -> Result:
    source = path.read_bytes().decode("utf-8")
    try:
        ir = compile_template(source, name=path.stem, special_tokens=TOKENS)
        parser = load_module(generate(ir, "python"))
    except TplcError:
        return Result(path.stem, False, 0, {}, ())
    if not ir.verification.verified:
        return Result(path.stem, False, 0, {}, ())
    return round_trip(source, ir, parser, [*messages(ir.reasoning.key)])


def round_trip(source: str, ir: TemplateIR, parser: ModuleType | Any, tried: Sequence[dict[str, Any]]) -> Result:
    """Return whether these messages come back from what plain Jinja renders of them."""
    context = dict(ir.turn.prompts[0].context) if ir.turn.prompts else {}
    trip = _Trip(source, parser, context, "text" if ir.capabilities.string_arguments else "object", ir.reasoning.key)
    trip.escapes = ir.escapes
    trip.either = any(ambiguity.kind == "content or reasoning" for ambiguity in ir.verification.ambiguities)
    trip.not_shown = tuple(line.partition(" (")[0] for line in ir.verification.not_shown)
    start, trip.end = ir.reasoning.start.strip(), ir.reasoning.end.strip()
    trip.opens = bool(start) and bool(ir.turn.prompts) and ir.turn.prompts[0].head.strip() == start
    for message in tried:
        trip.run(message, ids=ir.tools.call_id.position != "none")
    return Result(ir.provenance.name, True, trip.counts.pop("equal", 0), dict(trip.counts), tuple(trip.wrong))


class _Trip:
    def __init__(
        self, source: str, parser: ModuleType | Any, context: dict[str, Any], arguments: str, key: str
    ) -> None:
        self.template = environment().from_string(source)
        self.parser, self.context, self.arguments, self.key = parser, context, arguments, key
        self.either = False  # content and reasoning have one render
        self.opens, self.end = False, ""  # the prompt opens reasoning, and what closes it
        self.not_shown: tuple[str, ...] = ()  # shapes that verification reports as not shown
        self.escapes: tuple[Replaced, ...] = ()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self, message: dict[str, Any], *, ids: bool) -> None:
        asked = [{"role": "user", "content": QUESTION}]
        offered = tools(message)
        try:
            prompt = self._render(asked, offered, prompt=True)
            full = self._render([*asked, message], offered, prompt=False)
            if self._render(asked, offered, prompt=False) == prompt:  # it is there whether asked for or not
                full = full[: _before_suffix(full, prompt.rpartition(QUESTION)[2])]
        except Exception as error:  # noqa: BLE001 - a template may raise anything
            self.counts[f"refused ({type(error).__name__})"] += 1
            return
        if not full.startswith(prompt):
            self.counts["does not begin with the prompt"] += 1
        elif not all(self._is_shown(text, full[len(prompt) :]) for text in _texts(message, self.key)):
            self.counts["not shown"] += 1
        elif self._is_in_open_reasoning(message, full[len(prompt) :]):
            self.counts["follows reasoning that is never closed"] += 1
        else:
            self._compare(message, full[len(prompt) :], prompt, full, offered, asked)

    def _is_shown(self, text: str, turn: str) -> bool:
        """Return whether the turn has the text, as it is or as the format says that it is escaped."""
        return any(
            written in turn
            for written in (text, *(escaped(self.escapes, slot, text) for slot in ("content", "reasoning")))
        )

    def _is_in_open_reasoning(self, message: Mapping[str, Any], turn: str) -> bool:
        """Return whether the prompt opened reasoning that the turn never closes, although the message has none."""
        return self.opens and not message.get(self.key or "reasoning") and self.end not in turn

    def _compare(
        self,
        message: dict[str, Any],
        text: str,
        prompt: str,
        full: str,
        offered: list[dict[str, Any]],
        asked: list[dict[str, Any]],
    ) -> None:
        got = self.parser.parse(text, prompt=prompt, tools=offered)
        want = _essence(message, self.key)
        found = _essence(got, "reasoning_content")
        if found == want:
            self.counts["equal"] += 1
            return
        other = {"role": "assistant", "content": got["content"] or "", "tool_calls": message.get("tool_calls", [])}
        if found[1] and self.key:
            other[self.key] = got["reasoning_content"]
        calls = [_call(n, name, arguments) for n, (name, arguments) in enumerate(found[2])]
        other = {**other, "tool_calls": calls} if calls else {k: v for k, v in other.items() if k != "tool_calls"}
        try:
            same = self._render([*asked, other], offered, prompt=False).startswith(full)
        except Exception:  # noqa: BLE001
            same = False
        # Verification reports what is shown as reasoning, or what the prompt has opened.
        either = self.either or (want[2] and "content next to calls" in self.not_shown)
        reported = either and found[0] + found[1] == want[0] + want[1] and found[2] == want[2]
        if same or reported:
            self.counts["ambiguous" if same else "reported as ambiguous"] += 1
        else:
            self.wrong.append(f"want {want}, got {found}, rendered {text!r}")

    def _render(self, conversation: Sequence[Mapping[str, Any]], offered: Any, *, prompt: bool) -> str:
        shaped = [_shaped(message, self.arguments) for message in conversation]
        given = {**TOKENS, **self.context, "documents": None, "tools": offered}
        return self.template.render(messages=shaped, add_generation_prompt=prompt, **given)


def _before_suffix(text: str, other: str) -> int:
    """Return the place where the common end of both texts begins, without cutting a marker."""
    at = len(text) - len(common_suffix(text, other))
    while at < len(text) and not reads_well(text, at):
        at += 1
    return at


def _shaped(message: Mapping[str, Any], arguments: str) -> dict[str, Any]:
    shaped = json.loads(json.dumps(message))
    for call in shaped.get("tool_calls", ()) if arguments == "text" else ():
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
    return dict(shaped)


def _texts(message: Mapping[str, Any], key: str) -> list[str]:
    names = [call["function"]["name"] for call in message.get("tool_calls", ())]
    keys = [key for call in message.get("tool_calls", ()) for key in call["function"]["arguments"]]
    return [text for text in (message["content"], message.get(key, "") if key else "", *names, *keys) if text]


def _essence(message: Mapping[str, Any], key: str) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = []
    for call in message.get("tool_calls") or ():
        arguments = call["function"]["arguments"]
        with suppress(json.JSONDecodeError):
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        calls.append((call["function"]["name"], arguments))
    return (message.get("content") or "").strip(), (message.get(key) or "" if key else "").strip(), calls


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="An independent round trip of verified parsers.")
    parser.add_argument("folders", nargs="*", type=Path, default=[folder for folder in FOLDERS if folder.is_dir()])
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="every N-th template")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    paths = [path for folder in options.folders for path in sorted(folder.glob("*.jinja")) if options.only in path.name]
    with ProcessPoolExecutor(options.processes) as pool:
        results = list(pool.map(check, paths[:: options.every]))
    for result in results:
        for line in result.wrong[:3]:
            print(f"WRONG {result.name}: {line[:700]}")
    print(summary(results))
    return 1 if any(result.wrong for result in results) else 0


def summary(results: Sequence[Result]) -> str:
    verified = [result for result in results if result.verified]
    left: Counter[str] = Counter()
    for result in verified:
        left.update(result.counts)
    equal, wrong = sum(r.equal for r in verified), sum(len(r.wrong) for r in verified)
    reported = ", ".join(f"{count} {why}" for why, count in sorted(left.items()))
    return (
        f"{len(verified)} of {len(results)} templates verified; of their messages {equal} came back, {wrong} did not "
        f"(in {sum(bool(r.wrong) for r in verified)} templates); not counted: {reported or 'none'}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
