"""The rules of a grammar in reading order, and how they are printed.

Section("Reasoning", [Rule("reasoning", ("open", "text"))])  →  # Reasoning
                                                                 reasoning  = open text
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

WIDTH = 110
# A literal, or a regular expression with its flags.
TEXT = re.compile(r'~?r?"(?:\\.|[^"\\])*"s?', re.S)
NAME = re.compile(r"[a-z_][a-z_0-9]*")
TOKEN = re.compile(rf"{TEXT.pattern}|{NAME.pattern}|[()/!&*+?]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `choices` are tried in order.  Without any there is no such rule, and others do without it."""

    name: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Rules that belong together, below a comment that says what they describe."""

    title: str
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()


def rule(name: str, *choices: str) -> Rule:
    return Rule(name, choices)


# What matches at the start of a line.
LINE_START = rule("line_start", r'~r"(?<![^\n])"s')


def sequence(*items: str) -> str:
    return " ".join(item for item in items if item)


def needed_sections(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return each rule once, at its first place, and only those that the first rule needs."""
    found: dict[str, Rule] = {}
    for section in sections:
        for each in section.rules:
            if each.choices:
                found.setdefault(each.name, each)
    left = without_missing(found)
    needed: set[str] = set()
    waiting = list(left)[:1]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [other for other in names_in(left[name]) if other in left]
    kept = []
    for section in sections:
        names = dict.fromkeys(each.name for each in section.rules if each.choices and each.name in needed)
        needed.difference_update(names)
        kept.append(replace(section, rules=(*map(left.__getitem__, names),)))
    return (*kept,)


def without_missing(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Take the names that have no rule out of all rules, and also those of rules that have no choice left then.

    a = !b c? (d / e f)  →  a = d, if the format has no b, c and f
    """
    left, named = dict(rules), {name: {*names_in(each)} for name, each in rules.items()}
    missing = waiting = {one for names in named.values() for one in names}.difference(rules)
    while waiting:
        emptied = set[str]()
        for name in [name for name in left if not waiting.isdisjoint(named[name])]:
            texts = [text for choice in left[name].choices for text in _left_of(deque(TOKEN.findall(choice)), missing)]
            left[name] = Rule(name, (*filter(None, texts),))
            if not left[name].choices:
                emptied.add(name)
                del left[name]
        missing, waiting = missing | emptied, emptied
    return left


def _left_of(tokens: deque[str], missing: Container[str]) -> list[str]:
    """Return the choices up to a bracket that closes them, without those that need a rule that is missing."""
    choices, items, matches = [], list[str](), True
    while tokens and tokens[0] != ")":
        token = tokens.popleft()
        if token == "/":
            choices += [" ".join(items)] if matches else []
            items, matches = [], True
            continue
        prefix = token if token in "!&" else ""
        atom = tokens.popleft() if prefix else token
        inner = [] if atom in missing else [atom]
        if atom == "(":
            inner = _left_of(tokens, missing)
            tokens.popleft()
        suffix = tokens.popleft() if tokens and tokens[0] in ("*", "+", "?") else ""
        if inner:
            whole = prefix or suffix  # applies to all of it
            is_one = len(inner) == 1 and not (whole and (" " in TEXT.sub("", inner[0]) or inner[0][-1:] in "*+?"))
            text = inner[0] if is_one else f"({' / '.join(inner)})"
            items += [prefix + text + suffix] if text and not (atom == "(" and text == '""') else []
        else:
            matches = matches and (prefix == "!" or suffix in ("*", "?"))
    return [*choices, " ".join(items)] if matches else choices


def placed(rules: Sequence[Rule], place: str, *, but: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """Return the same rules for another place: names in them, except some, get the suffix `place`."""

    def renamed(text: str) -> str:
        parts = re.split(f"({TEXT.pattern})", text, flags=re.S)
        return "".join(part if at % 2 else NAME.sub(named, part) for at, part in enumerate(parts))

    def named(found: re.Match[str]) -> str:
        return found.group() if found.group() in but else found.group() + place

    return (*(Rule(renamed(each.name), (*map(renamed, each.choices),)) for each in rules),)


@lru_cache(maxsize=4096)  # formats share most of their rules
def names_in(each: Rule) -> tuple[str, ...]:
    """Return the names of rules in a rule's right side."""
    return (*NAME.findall(TEXT.sub(" ", " ".join(each.choices))),)


def print_sections(sections: tuple[Section, ...]) -> str:
    return "\n".join(print_section(section) for section in sections if section.rules)


def print_section(section: Section) -> str:
    width = max(len(rule.name) for rule in section.rules)
    lines = [f"# {section.title}", *(f"# {note}" for note in section.notes), ""]
    for each in section.rules:
        lines += print_rule(each, width)
    return "\n".join(lines) + "\n"


def print_rule(each: Rule, width: int) -> list[str]:
    name = f"{each.name:<{width}} = "
    line = name + " / ".join(each.choices)
    if len(line) <= WIDTH or len(each.choices) == 1:
        return [line]
    margin = " " * (len(name) - 2)
    return [name + each.choices[0], *(f"{margin}/ {choice}" for choice in each.choices[1:])]
