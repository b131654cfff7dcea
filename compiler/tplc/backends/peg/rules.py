"""The rules of a grammar in reading order, and how they are printed.

Section("Reasoning", [Rule("reasoning", ("open", "text"))])  →  # Reasoning
                                                                 reasoning  = open text
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `choices` are tried in order."""

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


def sequence(*items: str) -> str:
    return " ".join(item for item in items if item)


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
