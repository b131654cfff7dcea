"""The rules of a turn: its end, reasoning, content, and the order in which they are tried.

Reasoning("tag_based", "<reason>\\n", "\\n</reason>")
→  reasoning        = reasoning_open reasoning_text* (reasoning_close / cut)
   reasoning_open   = ~r"<reason>\\n?"s
   reasoning_text   = !reasoning_close ~r".+?(?=\\n?</reason>|\\Z)"s
"""

from __future__ import annotations

from tplc.backends.peg.facts import Facts
from tplc.backends.peg.patterns import leaf, some_prefix, up_to
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.ir.nodes import TemplateIR

INDENT = r"[^\S\n]*+"
SPACE = r"\s*+"


def turn_sections(ir: TemplateIR, facts: Facts) -> list[Section]:
    return [turn_section(ir, facts), reasoning_section(ir, facts), content_section(ir, facts)]


def turn_section(ir: TemplateIR, facts: Facts) -> Section:
    first = [
        "content_space" if facts.content_space else "",
        "thinking_aloud?" if ir.reasoning.mode == "delimiter" else "",
        "tool_calls_first?" if facts.bare else "",
    ]
    markers = _markers(ir, facts)
    parts = [*markers, *_talk(facts), "content"]
    rules = [rule("turn", sequence(*first, "part*"))]
    if facts.bare:
        rules.append(rule("part", *(f"{name} tool_calls_first?" for name in markers), *_talk(facts), "content"))
        rules.append(rule("tool_calls_first", f"{leaf(SPACE)} tool_calls"))
        own_line = [f"&{leaf(facts.own_line)} tool_calls"] if facts.call_lead else []
        rules.append(rule("call_line", *own_line, "line_start content_for_indent tool_calls"))
        rules.append(rule("line_start", leaf(r"(?<![^\n])")))
    else:
        rules.append(rule("part", *parts))
    if facts.turn_end:
        rules.append(rule("turn_end", leaf(facts.turn_end)))
    if facts.turn_header:
        rules.append(rule("turn_header", leaf(facts.turn_header)))
    if facts.stray:
        rules.append(rule("stray_closer", leaf(facts.stray)))
    if facts.content_space:
        rules.append(rule("content_space", leaf(some_prefix(facts.content_space))))
    rules.append(rule("cut", leaf(r"\Z")))
    return Section("A turn, part after part: what matches first is taken, and what is no marker is content.", (*rules,))


def _markers(ir: TemplateIR, facts: Facts) -> list[str]:
    """What is more than text, in the order in which it is tried."""
    opened = facts.reasoning_open and ir.reasoning.mode != "delimiter"
    named = (
        ("turn_end", facts.turn_end),
        ("turn_header", facts.turn_header),
        ("reasoning", opened),
        ("call_line" if facts.bare else "tool_calls", facts.call_starts),
        ("content_open", facts.content_open),
        ("content_close", facts.content_close),
        ("stray_closer", facts.stray),
    )
    return [name for name, present in named if present]


def _talk(facts: Facts) -> list[str]:
    return ["talk_of_calls"] if facts.call_starts and facts.stray and not facts.bare else []


def reasoning_section(ir: TemplateIR, facts: Facts) -> Section:
    if not facts.reasoning_close:
        return Section("", ())
    by_call = "call_ends_reasoning" in facts.tolerances and bool(facts.call_starts) and not facts.bare
    if ir.reasoning.mode == "delimiter":
        return _thinking_aloud(facts)
    stops = [facts.reasoning_close, facts.turn_end, *(facts.line_starts if by_call else [])]
    at_call = "!call_line" if by_call else ""
    text = sequence("!reasoning_close", "!turn_end" if facts.turn_end else "", at_call, leaf(up_to(stops)))
    ends = ["reasoning_close", *(["&turn_end"] if facts.turn_end else []), *(["call_line"] if by_call else []), "cut"]
    rules = [
        rule("reasoning", *_reasoning(ends, by_call=by_call)),
        rule("reasoning_open", leaf(facts.reasoning_open)),
        rule("reasoning_text", text),
        rule("reasoning_close", leaf(facts.reasoning_close)),
    ]
    if by_call:
        own_line = [f"&{leaf(facts.own_line)} &tool_calls"] if facts.call_lead else []
        rules.append(rule("call_line", *own_line, "line_start reasoning_text_for_indent &tool_calls"))
        rules.append(rule("reasoning_text_for_indent", leaf(INDENT)))
        rules.append(rule("line_start", leaf(r"(?<![^\n])")))
    return Section(f"Reasoning{_FORM[ir.reasoning.mode]}.", (*rules,))


def _reasoning(ends: list[str], *, by_call: bool) -> list[str]:
    whole = f"reasoning_open reasoning_text* ({' / '.join(ends)})"
    return [f"reasoning_open {leaf(SPACE)} &tool_calls", whole] if by_call else [whole]


_FORM = {
    "none": "",
    "delimiter": "",
    "tag_based": ", when the model reasons",
    "forced_open": "; the prompt has opened it",
    "forced_closed": "; the prompt has opened and closed it, unless reasoning is asked for",
    "tools_only": ", on turns with tool calls",
}


def _thinking_aloud(facts: Facts) -> Section:
    named = (
        ("reasoning_close", True),
        ("turn_end", facts.turn_end),
        ("content_open", facts.content_open),
        ("call_line" if facts.bare else "tool_calls", facts.call_starts),
    )
    guards = [f"!{name}" for name, present in named if present]
    calls = facts.line_starts if facts.bare else facts.call_starts
    stops = [facts.reasoning_close, facts.turn_end, facts.content_open, *calls]
    return Section(
        "Reasoning: whatever stands before its closing marker.",
        (
            rule("thinking_aloud", "reasoning_text* reasoning_close"),
            rule("reasoning_text", sequence(*guards, leaf(up_to(stops)))),
            rule("reasoning_close", leaf(facts.reasoning_close)),
        ),
    )


def content_section(ir: TemplateIR, facts: Facts) -> Section:
    calls = facts.line_starts if facts.bare else facts.call_starts
    opened = facts.reasoning_open if ir.reasoning.mode != "delimiter" else ""
    stops = [facts.turn_end, facts.turn_header, opened, *calls, facts.content_open, facts.content_close, facts.stray]
    rules = [rule("content", leaf(up_to(stops)))]
    if facts.content_open:
        rules.insert(0, rule("content_open", leaf(facts.content_open)))
    if facts.content_close:
        rules.append(rule("content_close", leaf(facts.content_close)))
    if facts.bare:
        rules.append(rule("content_for_indent", leaf(INDENT)))
    notes: tuple[str, ...] = ()
    if _talk(facts):
        others = [f"!{name}" for name in _markers(ir, facts) if name != "stray_closer"]
        rules += [
            rule("talk_of_calls", f"content_for_opener ({' '.join(others)} (content_for_closer / content))*"),
            *_opener_rules(ir, facts),
            rule("content_for_closer", leaf(facts.stray)),
        ]
        notes = ("After an opener that opens no call, closers are text as well.",)
    return Section("Content: text up to where the next part may begin.", (*rules,), notes)


def _opener_rules(ir: TemplateIR, facts: Facts) -> list[Rule]:
    """What turns out not to open a call: with an object that has no name, as far as its fields go."""
    opener = leaf("|".join(facts.call_starts))
    if ir.tools.json is None or ir.tools.json.name_is_key:
        return [rule("content_for_opener", opener)]
    return [
        rule("content_for_opener", f"{opener} gap loose_object?"),
    ]
