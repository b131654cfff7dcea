"""Calls that are like any text: they are calls where one stands exactly as the template writes it.

text call\\s{1,16}, a name, text :, an object
→  call_line_for_plain = line_start content_for_indent &whole_call tool_calls_for_plain
   whole_call          = ~r"call\\s{1,16}"s ~r"…(?=:)"s ~r":"s object
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tplc.backends.peg.facts import Facts
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.patterns import either, leaf, marker_core
from tplc.backends.peg.rules import Rule, rule, sequence
from tplc.backends.peg.values import value_rules
from tplc.ir.nodes import Dialect
from tplc.lower.acceptor import CallStep
from tplc.lower.lexemes import exact
from tplc.lower.whole_call import NAME

SPACE = r"\s*+"
NOT_IN_WORD = r"(?<!\w)"


def plain_starts(facts: Facts) -> list[str]:
    """Patterns at which such a call may begin at the start of a line."""
    cores = either([marker_core(text) for text in facts.calls.plain])
    return [rf"(?<=\n)[^\S\n]*+(?:{cores})"] if cores else []


def inline_starts(facts: Facts) -> list[str]:
    """The same inside of lines, where the tools are known."""
    if not facts.inline:
        return []
    cores = [text.strip() for text in facts.calls.openers if text.strip()]
    return [(NOT_IN_WORD if core[0].isalnum() or core[0] == "_" else "") + marker_core(core) for core in cores]


def names_of_lines(facts: Facts) -> list[str]:
    return ["call_line_for_plain"] * bool(facts.calls.plain) + ["call_line_for_inline"] * facts.inline


def calls_first(facts: Facts) -> str:
    """Return the rule of calls that count after any marker; "" if all of them count anywhere."""
    return "tool_calls_first" if facts.bare else "tool_calls_first_for_plain" if facts.calls.plain else ""


def line_rules(facts: Facts) -> Iterator[Rule]:
    if facts.calls.plain:
        yield rule("call_line_for_plain", "line_start content_for_indent &whole_call tool_calls_for_plain")
        yield rule("line_start", leaf(r"(?<![^\n])"))
        yield rule("call_open_for_plain", leaf(facts.call_open_plain))
        yield rule("tool_calls_first_for_plain", f"{leaf(SPACE)} &whole_call tool_calls_for_plain")
        closed = "between_calls" if facts.section_close or facts.call_close or facts.separator else ""
        yield rule(
            "tool_calls_for_plain",
            sequence(
                "call_open_for_plain gap call",
                closed,
                f"(gap &whole_call {sequence('call_open_for_plain gap call', closed)})*",
            ),
        )
    if facts.inline:
        starts = f"&{leaf(either(inline_starts(facts)))}"
        yield rule("call_line_for_inline", f"{starts} &whole_call tool_calls")


def whole_call(facts: Facts, dialect: Dialect, known: KnownTools) -> list[Rule]:
    """The call, with nothing but what the template writes."""
    if not facts.calls.plain and not facts.inline:
        return []
    return [rule("whole_call", sequence(*_steps(facts.calls.whole, dialect, known)))]


def _steps(steps: Sequence[CallStep], dialect: Dialect, known: KnownTools) -> list[str]:
    found = []
    for step in steps:
        if step.kind == "object":
            found.append("object")
        elif step.kind == "value":
            choices = value_rules(dialect.top, dialect, "_for_argument")[0].choices
            found.append(f"({' / '.join(choices)})")
        elif step.kind == "pairs":
            pair, between = (_steps(row, dialect, known) for row in (step.pair, step.between))
            pairs = sequence(*pair, f"({sequence(*between, *pair)})*")
            found.append(pairs if step.least else f"({pairs})?")
        elif step.kind == "name" and known:
            ahead = step.pattern[step.pattern.index("(?=", 1) :]
            names = [exact(tool.name) for tool in known.tools if re.fullmatch(NAME, tool.name)]
            found.append(leaf(f"(?:{either(names) or '(?!)'}){ahead}"))
        else:
            found.append(leaf(step.pattern))
    return found
