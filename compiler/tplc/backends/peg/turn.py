"""The rules of a turn: its end, reasoning, content, and the order in which they are tried.

Reasoning("tag_based", "<reason>\\n", "\\n</reason>")
→  reasoning        = reasoning_open reasoning_text* (reasoning_close / cut)
   reasoning_open   = ~r"<reason>\\n?"s
   reasoning_text   = !reasoning_close ~r".+?(?=\\n?</reason>|\\Z)"s
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tplc.backends.peg.cuts import cut_marker, cut_marker_stops, cut_names
from tplc.backends.peg.facts import Facts
from tplc.backends.peg.patterns import either, leaf, marker_core, of_kinds, some_prefix, up_to
from tplc.backends.peg.rules import Rule, Section, external, rule, sequence
from tplc.backends.peg.whole_calls import calls_first, inline_starts, line_rules, names_of_lines, plain_starts
from tplc.ir.nodes import ReasoningMode
from tplc.lower.lexemes import lexemes_of

INDENT = r"[^\S\n]*+"
SPACE = r"\s*+"
OVER = "turn_over"
AT_CALL = "&(tool_calls / trailing_for_call)"
CONTENT = "Content: text up to where the next part may begin."


def turn_sections(mode: ReasoningMode, facts: Facts, *, in_format: bool = False) -> list[Section]:
    """`in_format`: content is an answer in a response format where it can be."""
    return [turn_section(facts, in_format=in_format), reasoning_section(mode, facts), content_section(facts)]


def turn_section(facts: Facts, *, in_format: bool) -> Section:
    first = [
        "content_space" if facts.content_space else "",
        _thinking_first(facts),
        "thinking_cut?" if facts.unopened and cut_marker(facts, "pending") else "",
        "reasoning_for_closer*" if facts.reasoning_close_first else "",
        _first(facts),
    ]
    markers = _markers(facts)
    begun = ["trailing_for_opener"] if facts.begun_opener else []
    begun += ["cut_marker"] if cut_marker(facts, "content") else []
    kept = ["content_for_header"] if facts.kept_header else []
    text = [*(["content_for_answer"] if in_format else []), *_talk(facts), *begun, *kept, "content"]
    parts = [*markers, *text]
    if _failing_next(facts):
        parts[parts.index("tool_calls")] = "tool_calls failed_call?"
    rules = [
        rule("turn", sequence(*first, "part*")),
        *_part_rules(facts, parts, markers, text),
        *_bare_call_rules(facts),
        *line_rules(facts),
        *_marker_rules(facts),
        rule("cut", leaf(r"\Z")),
        *(rule("cut_marker", leaf(pattern)) for pattern in [cut_marker(facts, "content")] if pattern),
    ]
    return Section("A turn, part after part: what matches first is taken, and what is no marker is content.", (*rules,))


def _part_rules(facts: Facts, parts: Sequence[str], markers: Sequence[str], text: Sequence[str]) -> Iterator[Rule]:
    """A part, and what of one may stand before it."""
    if not facts.reasoning_open_first and not facts.content_open_first:
        calls = calls_first(facts)
        bare = [*(name if name == OVER else f"{name} {calls}?" for name in markers), *text]
        yield rule("part", *(bare if calls else parts))
        return
    strays = f"({leaf(SPACE)} stray_closer)* " if facts.stray else ""
    yield rule("part", *(_then_first(part, facts) for part in parts))
    if facts.reasoning_open_first:
        ahead = leaf(SPACE + facts.reasoning_open_first)
        yield rule("reasoning_for_start", f"{strays}&{ahead} {leaf(SPACE)} reasoning")
    if facts.content_open_first:
        yield rule("content_open_for_start", strays + leaf(SPACE + facts.content_open_first))


def _bare_call_rules(facts: Facts) -> Iterator[Rule]:
    """Yield rules for calls without an opener: at the beginning, after a marker, and on lines of their own."""
    if not facts.bare:
        return
    cut = ["content_for_space cut_text"] if cut_names(facts) else []
    yield rule("tool_calls_first", f"{leaf(SPACE)} tool_calls", *cut)
    if cut:
        yield rule("content_for_space", leaf(SPACE))
    own_line = [f"&{leaf(facts.own_line)} tool_calls"] if facts.call_lead else []
    yield rule("call_line", *own_line, "line_start content_for_indent tool_calls")
    yield rule("line_start", leaf(r"(?<![^\n])"))


def _marker_rules(facts: Facts) -> Iterator[Rule]:
    if facts.turn_end:
        # A call directly after the end is still one of the turn's calls.
        further = [*facts.call_starts, *map(marker_core, facts.acceptor.further)]
        goes_on = [] if facts.bare or not facts.call_starts else further
        yield rule(OVER, f"turn_end {leaf(SPACE)} after_turn?")
        yield rule("after_turn", leaf(f"(?!{either(goes_on)})" * bool(goes_on) + ".+"))
    if facts.reasoning_open_first and facts.reasoning_open_anywhere:
        yield rule("reasoning_for_word", f"&{leaf(facts.reasoning_open_anywhere)} reasoning")
    named = (
        ("turn_end", facts.turn_end),
        ("turn_header", facts.turn_header),
        ("empty_call", facts.empty),
        ("stray_closer", facts.stray),
        ("reasoning_for_closer", SPACE + facts.reasoning_close_first if facts.reasoning_close_first else ""),
        ("content_space", some_prefix(facts.content_space) if facts.content_space else ""),
    )
    yield from (rule(name, leaf(pattern)) for name, pattern in named if pattern)


def _markers(facts: Facts) -> list[str]:
    """What is more than text, in the order in which it is tried."""
    named = (
        (OVER, facts.turn_end),
        ("turn_header", facts.turn_header),
        ("reasoning_for_word" if facts.reasoning_open_first else "reasoning", facts.reasoning_open_anywhere),
        ("call_line" if facts.bare else "tool_calls", facts.call_starts),
        *((name, True) for name in names_of_lines(facts)),
        *((name, True) for name in cut_names(facts)),
        ("empty_call", facts.empty),
        ("content_open", facts.content_open),
        ("content_close", facts.content_close),
        ("stray_closer", facts.stray),
    )
    found = [name for name, present in named if present]
    return found


def _thinking_first(facts: Facts) -> str:
    if not facts.unopened:
        return ""
    return "(!content_open_for_start thinking_aloud)?" if facts.content_open_first else "thinking_aloud?"


def _first(facts: Facts) -> str:
    """What counts before content begins only."""
    calls = calls_first(facts)
    first = [
        *(["reasoning_for_start"] if facts.reasoning_open_first else []),
        *([calls] if calls else []),
        *([f"content_open_for_start {calls}"] if calls and facts.content_open_first else []),
    ]
    times = "*" if len(first) > 1 or facts.reasoning_open_first else "?"
    any_of = f"({' / '.join(first)}){times}" if len(first) > 1 else first[0] + times if first else ""
    return sequence(any_of, "content_open_for_start?" if facts.content_open_first else "")


def _then_first(part: str, facts: Facts) -> str:
    """A part and what may follow it where reasoning or content is opened before content only."""
    if part == OVER:
        return part
    if part in ("content_open", "stray_closer"):
        return f"{part} {calls_first(facts)}?" if calls_first(facts) else part
    if part.startswith(("content", "talk")) and part != "content_close":
        return part
    name, failed = (part.removesuffix(" failed_call?"), " failed_call /") if part.endswith("?") else (part, "")
    return f"{name} ({failed.strip()} {_first(facts)})" if failed else f"{name} {_first(facts)}"


def _talk(facts: Facts) -> list[str]:
    if not facts.call_starts:
        return []
    return ["talk_of_calls" if facts.talks else "content_for_opener"]


def reasoning_section(mode: ReasoningMode, facts: Facts) -> Section:
    if not facts.reasoning_close:
        return Section("", ())
    by_call = facts.calls.in_reasoning is not None
    again = of_kinds(lexemes_of([("reasoning", facts.acceptor.repeated_reasoning)]), ("reasoning",))
    if facts.unopened:
        return _thinking_aloud(facts)
    over_lines = facts.over_lines if by_call else ""
    stops = [facts.reasoning_close, facts.turn_end, over_lines, *(facts.line_starts if by_call else [facts.unparsed])]
    stops += facts.begun_stops if by_call else []
    unclosed = facts.unclosed if by_call else ""
    stops += [unclosed, *cut_marker_stops(facts, "reasoning")]
    # Calls that count where a line begins only have a rule of their own for that, which reads them.
    line, calls = ("reasoning_end_for_calls", "&tool_calls") if facts.bare else ("call_line", AT_CALL)
    cuts = [] if facts.bare else ["trailing_for_opener"]
    at_call = " ".join(f"!{name}" for name in (line, *cuts)) if by_call else ""
    at_call = at_call or (f"!{leaf(facts.unparsed)}" if facts.unparsed else "")
    guards = ["!reasoning_close", "!turn_end" if facts.turn_end else "", at_call]
    guards.append("!cut_marker_for_reasoning" if cut_marker(facts, "reasoning") else "")
    text = sequence(*guards, leaf(up_to(stops)))
    ends = [
        "reasoning_close",
        *(["&turn_end"] if facts.turn_end else []),
        *([line, *(f"&{name}" for name in cuts)] if by_call else []),
    ]
    ends += [*([f"&{leaf(facts.unparsed)}"] if facts.unparsed else [])]
    cut = cut_marker(facts, "reasoning")
    ends += ["cut_marker_for_reasoning cut", "cut"] if cut else ["cut"]
    rules = [
        rule("reasoning", *_reasoning(ends, calls if by_call else facts.unparsed_first, again=bool(again))),
        *([rule("reasoning_again", leaf(SPACE + again))] if again else []),
        rule("reasoning_open", leaf(facts.reasoning_open)),
        rule("reasoning_text", text),
        rule("reasoning_close", leaf(facts.reasoning_close)),
        *([rule("cut_marker_for_reasoning", leaf(cut))] if cut else []),
    ]
    if by_call:
        ahead = [facts.own_line if facts.call_lead else "", over_lines, unclosed]
        whole = [f"&{leaf(pattern)} {calls}" for pattern in ahead if pattern]
        rules.append(rule(line, *whole, f"line_start reasoning_text_for_indent {calls}"))
        rules.append(rule("reasoning_text_for_indent", leaf(INDENT)))
        if not facts.bare:
            rules.append(rule("line_start", leaf(r"(?<![^\n])")))
    return Section(f"Reasoning{_FORM[mode]}.", (*rules,))


def _reasoning(ends: list[str], calls: str, *, again: bool) -> list[str]:
    """`calls`: those that may come at once, as a rule or as a pattern.  `again`: the opener may come twice."""
    opened = "reasoning_open" + " reasoning_again*" * again
    whole = f"{opened} reasoning_text* ({' / '.join(ends)})"
    if calls.startswith("&"):
        return [f"{opened} {leaf(SPACE)} {calls}", whole]
    return [f"{opened} &{leaf(calls)}", whole] if calls else [whole]


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
        *((name, True) for name in names_of_lines(facts)),
        *((name, True) for name in cut_names(facts)),
    )
    guards = [f"!{name}" for name, present in named if present]
    calls = facts.line_starts if facts.bare else facts.call_starts
    calls = [*calls, *plain_starts(facts), *inline_starts(facts)]
    stops = [facts.reasoning_close, facts.turn_end, facts.content_open, *calls, facts.stray]
    guards += ["!stray_closer"] if facts.stray else []
    rules = [
        rule("reasoning_text", sequence(*guards, leaf(up_to(stops)))),
        rule("reasoning_close", leaf(facts.reasoning_close)),
    ]
    texts = ["reasoning_text"]
    if facts.stray:
        texts.append("!reasoning_close stray_closer")
        closer = f"!reasoning_close {leaf(facts.stray)}"
        rules.append(rule("reasoning_text_for_closer", closer))
    if facts.stray and facts.call_starts and not facts.bare:
        texts.insert(0, "talk_aloud")
        more = "(reasoning_text / reasoning_text_for_closer)*"
        rules.insert(0, rule("talk_aloud", f"!tool_calls reasoning_text_for_opener {more}"))
        rules.append(rule("reasoning_text_for_opener", leaf("|".join(facts.kept_starts))))
    return Section(
        "Reasoning: all text before its closing marker.",
        (rule("thinking_aloud", f"({' / '.join(texts)})* reasoning_close"), *rules, *_thinking_cut(facts, stops)),
        ("After an opener that opens no call, closers are text as well.",) if len(texts) > 2 else (),
    )


def _thinking_cut(facts: Facts, stops: Sequence[str]) -> list[Rule]:
    """The beginning of what ends reasoning that nothing opened: up to it, the text is content."""
    cut = cut_marker(facts, "pending")
    text = f"(?:(?!{either([*stops, cut])}).)*"
    return (
        [
            rule("thinking_cut", "content_for_thinking cut_marker_for_thinking"),
            rule("cut_marker_for_thinking", leaf(cut)),
            rule("content_for_thinking", leaf(text)),
        ]
        if cut
        else []
    )


def content_section(facts: Facts) -> Section:
    calls = facts.line_starts if facts.bare else facts.call_starts
    calls = [*calls, *plain_starts(facts), *inline_starts(facts)]
    opened = facts.reasoning_open_anywhere
    texts = [facts.content_open, facts.content_close, facts.empty, facts.stray, *facts.begun_stops]
    texts += cut_marker_stops(facts, "content")
    stops = [facts.turn_end, facts.turn_header, opened, *calls, *texts]
    rules = [rule("content", leaf(up_to([*stops, facts.kept_opener])))]
    if facts.kept_header:
        rules.insert(0, rule("content_for_header", leaf(facts.kept_header)))
    if facts.content_open:
        rules.insert(0, rule("content_open", leaf(facts.content_open)))
    if facts.content_close:
        rules.append(rule("content_close", leaf(facts.content_close)))
    if calls_first(facts):
        rules.append(rule("content_for_indent", leaf(INDENT)))
    if not _talk(facts):
        return Section(CONTENT, (*rules,))
    rules += _talk_rules(facts)
    notes = ("After an opener that opens no call, closers are text as well.",) if facts.stray else ()
    return Section(CONTENT, (*rules,), notes)


def _talk_rules(facts: Facts) -> list[Rule]:
    """Text that begins like a call and is none: outside the section, and where the next call may come in it."""
    others = [f"!{name}" for name in _markers(facts) if name != "stray_closer"]
    text = "(content_for_closer / content)" if facts.stray else "content"
    rest = f"({' '.join(others)} {text})*"
    rules = [rule("talk_of_calls", f"content_for_opener {rest}")] if facts.talks else []
    rules += _opener_rules(facts)
    if _failing_next(facts):
        before = ["gap", *(["!turn_end"] if facts.turn_end else []), *(["call_next gap"] if facts.call_next else [])]
        rules.append(rule("failed_call", f"content_for_next_call {rest}"))
        rules.append(rule("content_for_next_call", sequence(*before, "nameless_object")))
    return [*rules, *([rule("content_for_closer", leaf(facts.stray))] if facts.stray else [])]


def _failing_next(facts: Facts) -> bool:
    """Whether in a section something opens a call that opens none outside, and may turn out to be none."""
    opens = set(facts.calls.openers).isdisjoint(facts.calls.inner)
    return opens and bool(facts.calls.fields) and not facts.bare and not facts.calls.shape.slots


def _opener_rules(facts: Facts) -> list[Rule]:
    """What turns out not to open a call: with an object that has no name, up to where that shows."""
    opener = leaf("|".join(facts.kept_starts))
    if facts.empty:
        opener = f"!{leaf(SPACE + facts.empty)} {opener}"
    if facts.bare:
        opener = f"line_start {leaf(INDENT + '(?:' + either(facts.kept_starts) + ')')}"
    calls = facts.calls
    if not calls.fields:
        return [rule("content_for_opener", opener)]
    slots = [item for kind, _ in calls.shape.slots for item in ("gap", kind, f"{kind}_end")]
    if slots:
        return [
            rule("content_for_opener", sequence(opener, *slots, "gap nameless_object"), opener),
            external("nameless_object", facts),
        ]
    return [
        rule("content_for_opener", f"{opener} gap nameless_object?"),
        external("nameless_object", facts),
    ]
