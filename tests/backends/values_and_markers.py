"""Values before each marker of a call that may follow them, in many notations: no value may contain these markers.

    python -m tests.backends.values_and_markers [--only WORD] [--show N]

A notation writes two calls; a slip leaves out a value's closer, a call's closer, or adds a separator or white space.
Each output is read without tools, with tools that know every key, and with tools that know some of the keys.  Parser,
in chunks too, and PEG have to read the two calls as they are.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.fluent import Case, Engines
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.verify.artifact import load_module


@dataclass(frozen=True, slots=True)
class Notation:
    """The texts around the parts of calls; `@` stands for the name or the key.  `raw`: strings have no quotes."""

    open: str
    call: str
    pair: str
    between: str
    after: str  # a value
    close: str
    join: str
    end: str
    raw: bool = False
    words: bool = False  # text of words, without quotes, where a value has quotes

    def template(self) -> str:
        value = "(v if v is string else v | tojson)" if self.raw else "(v | tojson)"
        pair = "{%- for k, v in c.function.arguments.items() %}" + _out(self.pair, "k")
        pair += "{{- " + value + " }}" + _out(self.after, "k")
        pair += _if_not_last(self.between) + "{%- endfor %}"
        name = "c.function.name"
        call = _out(self.call, name) + pair + _out(self.close, name) + _if_not_last(self.join)
        calls = "{%- for c in m.tool_calls %}" + call + "{%- endfor %}"
        section = "{%- if m.tool_calls %}" + _out(self.open) + calls + _out(self.end) + "{%- endif %}"
        return (
            '{%- for m in messages %}{%- if m.role == "assistant" %}{{- "<|a|>" + (m.content or "") }}'
            + section
            + '{{- "<|e|>" }}{%- else %}{{- "<|" + m.role + "|>" + m.content + "<|e|>" }}{%- endif %}{%- endfor %}'
            + '{%- if add_generation_prompt %}{{- "<|a|>" }}{%- endif %}'
        )


def _out(text: str, slot: str = "") -> str:
    parts = [json.dumps(part) for part in text.split("@")]
    return "{{- " + f" ~ {slot} ~ ".join(parts) + " }}" if text else ""


def _if_not_last(text: str) -> str:
    return "{%- if not loop.last %}" + _out(text) + "{%- endif %}" if text else ""


NOTATIONS = {
    "keywords": Notation("<|calls|>[", "@(", "@=", ", ", "", ")", ", ", "]<|/calls|>"),
    "keywords alone": Notation("[", "@(", "@=", ", ", "", ")", ", ", "]"),
    "keyword lines": Notation("\n```python\n", "@(", "@=", ", ", "", ")\n", "", "```"),
    "results": Notation("\n```python\n", "r = @(", "@=", ", ", "", ")\n", "", "```"),
    "functions": Notation("", "<fn>@(", "@=", ", ", "", ")</fn>", "", ""),
    "tags with JSON": Notation("", "<|tool:@|>", "<|arg:@|>", "", "<|/arg|>", "<|end:@|>", "", ""),
    "tags with no closer": Notation("", "<|tool:@|>", "<|arg:@|>", "", "", "<|end:@|>", "", ""),
    "tags in a section": Notation("<calls>", "<call @>", "<p @>", "", "</p>", "</call>", "\n", "</calls>"),
    "expressions": Notation("(begin", " (@", " :@ ", "", "", ")", "", ")"),
    "lists": Notation("", "(tool @", " (@ ", "", ")", ")", "\n", ""),
    "attributes": Notation("", "<call @", " @=", "", "", "/>", "", ""),
    "options": Notation("", "[use]@", " --@=", "", "", "[/use]", "", ""),
    "lines": Notation("", "<f @>\n", "@: ", "\n", "", "\n</f>", "\n", ""),
    "assignments": Notation("<|calls|>", "call @:\n", "@ = ", "", "\n", "", "", "<|/calls|>"),
    "words around pairs": Notation("", "CALL @ ", "ARG @ ", " ", "", " ENDCALL", " ", ""),
    "raw keywords": Notation("<|calls|>[", "@(", "@=", ", ", "", ")", ", ", "]<|/calls|>", raw=True),
    "raw tags": Notation("<calls>", "<call @>", "<p=@>", "", "</p>", "</call>", "\n", "</calls>", raw=True),
    "raw lines of tags": Notation("", "<call=@>\n", "<p=@>\n", "", "\n</p>\n", "</call>", "\n", "", raw=True),
    "raw elements": Notation("", "<use @>", "<@>", "", "</@>", "</use>", "", "", raw=True),
    "raw expressions": Notation("(begin", " (@", " :@ ", "", "", ")", "", ")", raw=True),
    "raw options": Notation("", "[use]@", " -@=", "", "", "[/use]", "", "", raw=True),
    "raw bars": Notation("", "[use]@ ", "@=", " | ", "", "[/use]", "", "", raw=True),
    "raw in brackets": Notation("", "<|tool:@|>", "<|arg:@|>", "", "<|/arg|>", "<|end:@|>", "", "", raw=True),
}
VALUES: tuple[Any, ...] = (1, -2.5, True, None, "a", "a, b) c", [1, 2], {"k": [1]}, "it's 5")
SLIPS = (
    "none",
    "separator after the last pair",
    "separator and space after the last pair",
    "space before the call's closer",
    "line break before the call's closer",
    "last value not closed",
    "no value closed",
    "first call not closed",
    "last call not closed",
    "nothing after the last value",
    "line break before the end",
)


def outputs(notation: Notation, value: Any, names: tuple[str, str] = ("f", "g")) -> Iterator[tuple[str, str]]:
    """Yield the calls f(x=value, y=value) and g(z=value), with each slip that changes something."""
    written = value if notation.raw and isinstance(value, str) else json.dumps(value)
    seen = set()
    for slip in SLIPS:
        calls = []
        for number, (name, keys) in enumerate(zip(names, (("x", "y"), ("z",)), strict=True)):
            pairs = [_pair(notation, slip, written, key, last=key == keys[-1]) for key in keys]
            text = notation.call.replace("@", name) + notation.between.join(pairs)
            text += _after_pairs(notation, slip)
            close = notation.close.replace("@", name)
            lost = slip == ("last call not closed" if number else "first call not closed")
            text += close[len(close.rstrip()) :] if lost else close
            if slip == "nothing after the last value" and number:
                text = notation.call.replace("@", name) + pairs[0].removesuffix(notation.after)
            calls.append(text)
        end = "" if slip == "nothing after the last value" else notation.end
        text = notation.open + notation.join.join(calls) + "\n" * (slip == "line break before the end") + end
        if text not in seen:
            seen.add(text)
            yield slip, text


def _pair(notation: Notation, slip: str, value: str, key: str, *, last: bool) -> str:
    lost = slip == "no value closed" or (slip == "last value not closed" and last)
    return notation.pair.replace("@", key) + value + ("" if lost else notation.after.replace("@", key))


def _after_pairs(notation: Notation, slip: str) -> str:
    if slip.startswith("separator"):
        return notation.between.rstrip() + " " * ("space" in slip) if notation.between.strip() else ""
    return {"space before the call's closer": " ", "line break before the call's closer": "\n"}.get(slip, "")


def tools(value: Any, known: str) -> list[dict[str, Any]] | None:
    """Return tools by `known`: none, all, first (only the first key of each tool), or empty (no keys)."""
    if known == "none":
        return None
    schema: dict[str, Any] = {} if value is None else {"type": _type(value)}
    keys = {"f": {"all": "xy", "first": "x"}.get(known, ""), "g": {"all": "z", "first": "z"}.get(known, "")}
    return [
        {
            "type": "function",
            "function": {"name": name, "parameters": {"type": "object", "properties": dict.fromkeys(known, schema)}},
        }
        for name, known in keys.items()
    ]


def _type(value: Any) -> str:
    types = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in types if isinstance(value, kind)), "object")


KNOWN = ("none", "all", "first", "empty")


@cache
def case_of(name: str) -> Case:
    source = NOTATIONS[name].template()
    with open_renderer(source, name=name) as renderer:
        ir = learn_format(renderer, name=name, source_text=source)
    return Case(Engines(ir, load_module(generate(ir, "python")), PegEngine(ir)))


def wrong_readings(name: str, value: Any, known: str) -> Iterator[tuple[str, str, str]]:
    """Yield the slips after which a reader reads something else, with the output and what was read."""
    notation, offered = NOTATIONS[name], tools(value, known)
    for slip, text in outputs(notation, value):
        case = case_of(name).output(text)
        results = (case if offered is None else case.tools(offered)).read_by_all()
        read = {reader: _calls(message) for reader, (message, _) in results.items()}
        wanted = [("f", {"x": value, "y": value}), ("g", {"z": value})]
        wrong = {reader: found for reader, found in read.items() if found != (None, wanted)}
        if wrong:
            yield slip, text, "; ".join(f"{reader}: {found}" for reader, found in wrong.items())


def _calls(message: dict[str, Any]) -> Any:
    calls = []
    for call in message["tool_calls"]:
        try:
            calls.append((call["function"]["name"], json.loads(call["function"]["arguments"])))
        except ValueError:
            calls.append((call["function"]["name"], call["function"]["arguments"]))
    return message["content"], calls


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Values before the markers of their calls.")
    parser.add_argument("--only", default="", help="notations whose name holds this")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args(arguments)
    total, by_notation, by_slip = 0, Counter[str](), Counter[str]()
    for name in NOTATIONS:
        shown = 0
        for value in VALUES if options.only in name else ():
            for known in KNOWN:
                total += sum(1 for _ in outputs(NOTATIONS[name], value))
                for slip, text, read in wrong_readings(name, value, known):
                    by_notation[name] += 1
                    by_slip[slip] += 1
                    if shown < options.show:
                        shown += 1
                        print(f"{name}, {slip}, tools {known}: {text!r}\n    {read}")
    for counts in (by_notation, by_slip):
        print("\n".join(f"{count:>5} {name}" for name, count in counts.most_common()))
    print(f"{sum(by_notation.values())} of {total} outputs are read otherwise")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
