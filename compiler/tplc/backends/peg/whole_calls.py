"""Calls that are like any text: they are calls where one is exactly as the template writes it.

text call\\s{1,16}, a name, text :, an object
→  call_line_for_ordinary = line_start content_for_indent &whole_call tool_calls_for_ordinary
   whole_call          = ~r"call\\s{1,16}"s ~r"…(?=:)"s ~r":"s object
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.patterns import either, leaf, longest_first, marker_core, some_suffix
from tplc.backends.peg.rules import LINE_START, Rule, rule, sequence
from tplc.backends.peg.values import value_rules
from tplc.ir.markers import lead_of
from tplc.lower.call_form import CallStep
from tplc.lower.lexemes import exact
from tplc.lower.whole_call import NAME

SPACE = r"\s*+"
NOT_IN_WORD = r"(?<!\w)"


def ordinary_starts(form: FormPatterns) -> list[str]:
    """Return patterns at which such a call may begin at the start of a line."""
    cores = either([marker_core(text) for text in form.calls.opening.ordinary])
    indent = r"[^\S\n]*+" if may_be_indented(form) else ""
    return [*filter(None, [_own_line(form)]), rf"(?<=\n){indent}(?:{cores})"] if cores else []


def _own_line(form: FormPatterns) -> str:
    """Return such an opener together with the line ends before it that belong to it."""
    cores, lead = (
        either([marker_core(text) for text in form.calls.opening.ordinary]),
        lead_of(form.calls.opening.ordinary[0]),
    )
    return rf"{some_suffix(lead)}(?<=\n)(?:{cores})" if lead.endswith("\n") else ""


def may_be_indented(form: FormPatterns) -> bool:
    """Return whether lines count that are indented differently from the template: only calls of known tools do."""
    return bool(form.known) or any(lead_of(text)[-1:] in (" ", "\t") for text in form.calls.opening.ordinary)


def inline_starts(form: FormPatterns) -> list[str]:
    """Return the same inside of lines, where the tools are known."""
    if not form.inline:
        return []
    return [
        some_suffix(lead) + (NOT_IN_WORD if core[0].isalnum() or core[0] == "_" else "") + marker_core(core)
        for core, lead in _inline_openers(form).items()
    ]


def leads_in_lines(form: FormPatterns) -> set[str]:
    """Return the white space that the template writes before calls in a line."""
    return {lead for text in form.calls.opening.openers if (lead := lead_of(text).rpartition("\n")[2])}


def _inline_openers(form: FormPatterns) -> dict[str, str]:
    """Return the openers of calls, each with the white space that the template writes before it in a line."""
    found: dict[str, str] = {}
    for text in filter(str.strip, form.calls.opening.openers):
        found.setdefault(text.strip(), lead_of(text).rpartition("\n")[2])
    return found


def line_rules(form: FormPatterns) -> Iterator[Rule]:
    if form.calls.opening.ordinary:
        indent = "content_for_indent" if may_be_indented(form) else ""
        own_line = f"&{leaf(_own_line(form))} &({leaf(SPACE)} whole_call) tool_calls_for_ordinary"
        whole = f"&({leaf(SPACE)} whole_call)" if indent and leads_in_lines(form) else "&whole_call"
        line = sequence("line_start", indent, whole, "tool_calls_for_ordinary")
        yield rule("call_line_for_ordinary", *[own_line] * bool(_own_line(form)), line)
        yield LINE_START
        yield from form.leaves("call_open_for_ordinary", "call_next_for_ordinary")
        first = SPACE if may_be_indented(form) else r"(?:\s*\n)?"
        yield rule("tool_calls_first_for_ordinary", f"{leaf(first)} &whole_call tool_calls_for_ordinary")
        closed = "between_calls" if form.named("section_close", "call_close", "call_separator") else ""
        one = sequence("call_open_for_ordinary gap call", closed)
        again = [f"&whole_call {one}"]
        again += [sequence(name, "gap call", closed) for name in form.named("call_next_for_ordinary")]
        yield rule("tool_calls_for_ordinary", sequence(one, f"(gap ({' / '.join(again)}))*"))
    if form.calls.opening.may_be_missing and form.known:
        own = ["unopened_header gap call further_calls"] if form.calls.pieces_before_name is not None else []
        yield rule("tool_calls_for_unopened", *own, "call_for_unopened+ further_calls")
        yield from [form.external("unopened_header")] * bool(own)
        yield rule("call_for_unopened", 'other_calls_for_unopened ""')
        yield form.external("other_calls_for_unopened")
    if form.inline:
        starts = f"&{leaf(either(inline_starts(form)))}"
        spaced = any(_inline_openers(form).values())
        whole = f"&({leaf(SPACE)} whole_call)" if spaced else "&whole_call"
        yield rule("call_line_for_inline", f"{starts} {whole} tool_calls")


def whole_call(form: FormPatterns) -> list[Rule]:
    """Return the call, exactly as the template writes it, or followed by nothing but calls of known tools."""
    if not (form.calls.opening.ordinary or form.inline):
        return []
    openers = longest_first({text.strip() for text in form.calls.opening.openers * form.inline} - {""})
    others = form.known and form.reads_again and openers
    other = f"{leaf(either([marker_core(text) for text in openers]))} calls_follow"
    strict = sequence(*_steps(form.calls.whole, form))
    return [rule("whole_call", strict, *[other] * bool(others)), *[form.external("calls_follow")] * bool(others)]


def _steps(steps: Sequence[CallStep], form: FormPatterns) -> list[str]:
    found = []
    for step in steps:
        if step.kind == "object":
            found.append("object")
        elif step.kind == "value":
            choices = value_rules(form.dialect.top, form.dialect, "_for_argument")[0].choices
            found.append(f"({' / '.join(choices)})")
        elif step.kind == "pairs":
            pair, between = (_steps(row, form) for row in (step.pair, step.between))
            pairs = sequence(*pair, f"({sequence(*between, *pair)})*")
            found.append(pairs if step.least else f"({pairs})?")
        elif step.kind == "name" and form.known:
            ahead = step.pattern[step.pattern.index("(?=", 1) :]
            names = [exact(tool.name) for tool in form.known.tools if re.fullmatch(NAME, tool.name)]
            found.append(leaf(f"(?:{either(names) or '(?!)'}){ahead}"))
        else:
            found.append(leaf(step.pattern))
    return found
