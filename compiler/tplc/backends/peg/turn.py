"""The rules of a turn: its end, reasoning, content, and the order in which they are tried.

Reasoning("tag_based", "<reason>\\n", "\\n</reason>")
→  reasoning        = reasoning_open reasoning_text* (reasoning_close / cut)
   reasoning_open   = ~r"<reason>\\n?"s
   reasoning_text   = !reasoning_close ~r".+?(?=\\n?</reason>|\\Z)"s
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tplc.backends.peg.form import FormPatterns, begun_openers, cut_markers
from tplc.backends.peg.patterns import either, leaf, marker_core, some_suffix, up_to
from tplc.backends.peg.rules import LINE_START, Rule, Section, rule, sequence
from tplc.backends.peg.whole_calls import inline_starts, line_rules, names_of_lines, plain_starts
from tplc.ir.nodes import ReasoningMode

INDENT = r"[^\S\n]*+"
SPACE = r"\s*+"
OVER = "turn_over"
AT_CALL = "&(tool_calls / trailing_for_call)"
CONTENT = "Content: text up to where the next part may begin."
AFTER_TALK = ("After an opener that opens no call, closers are text as well.",)


def turn_sections(mode: ReasoningMode, form: FormPatterns, *, in_format: bool = False) -> list[Section]:
    """`in_format`: content is an answer in a response format where it can be."""
    return [turn_section(form, in_format=in_format), reasoning_section(mode, form), content_section(form)]


def turn_section(form: FormPatterns, *, in_format: bool) -> Section:
    first = [
        *form.named("content_space"),
        _thinking_first(form),
        *(["thinking_cut?"] if form["cut_marker_for_thinking"] else []),
        *(f"{name}*" for name in form.named("reasoning_for_closer")),
        _first(form),
    ]
    markers = _markers(form)
    text = [
        *(["content_for_answer"] if in_format else []),
        *_talk(form),
        *form.named("trailing_for_opener", "cut_marker"),
        *(["content_for_header"] if form.header_unparsed else []),
        "content",
    ]
    rules = [
        rule("turn", sequence(*first, "part*")),
        *_part_rules(form, markers, text),
        *_bare_call_rules(form),
        *line_rules(form),
        *_marker_rules(form),
        rule("cut", leaf(r"\Z")),
        *form.leaves("cut_marker"),
    ]
    return Section("A turn, part after part: what matches first is taken, and what is no marker is content.", (*rules,))


def _markers(form: FormPatterns) -> list[str]:
    """What is more than text, in the order in which it is tried."""
    opened = "reasoning_for_word" if form["reasoning_open_first"] else "reasoning"
    return [
        *([OVER] if form["turn_end"] else []),
        *form.named("turn_header"),
        *([opened] if form["reasoning_open_anywhere"] else []),
        *_calls_in_text(form),
        *form.named("empty_call", "content_open", "content_close", "stray_closer"),
    ]


def _calls_in_text(form: FormPatterns) -> list[str]:
    """The parts of a turn that are calls, and those that are cut ones."""
    calls = ["call_line" if form.calls.at_lines else "tool_calls"] if form.call_starts else []
    return [*calls, *names_of_lines(form), *cut_calls(form)]


def cut_calls(form: FormPatterns) -> list[str]:
    """The part of a turn that is a cut call."""
    if not form.calls.openers:
        return []
    return ["cut_call"] if form.calls.at_lines else ["trailing_for_call"]


def _calls_first(form: FormPatterns) -> str:
    """Return the rule of calls that count after any marker; "" if all of them count anywhere."""
    if form.calls.at_lines:
        return "tool_calls_first"
    return "tool_calls_first_for_plain" if form.calls.plain else ""


def _part_rules(form: FormPatterns, markers: Sequence[str], text: Sequence[str]) -> Iterator[Rule]:
    """A part, and what of one may stand before it."""
    calls = _calls_first(form)
    if not form["reasoning_open_first"] and not form["content_open_first"]:
        before = [name if name == OVER or not calls else f"{name} {calls}?" for name in markers]
        yield rule("part", *(_or_failed(name, form) for name in before), *text)
        return
    strays = f"({leaf(SPACE)} stray_closer)* " if form["stray_closer"] else ""
    yield rule("part", *(_then_first(part, form) for part in (*markers, *text)))
    if form["reasoning_open_first"]:
        ahead = leaf(SPACE + form["reasoning_open_first"])
        yield rule("reasoning_for_start", f"{strays}&{ahead} {leaf(SPACE)} reasoning")
    if form["content_open_first"]:
        yield rule("content_open_for_start", strays + leaf(SPACE + form["content_open_first"]))


def _or_failed(part: str, form: FormPatterns) -> str:
    return f"{part} failed_call?" if part == "tool_calls" and _failing_next(form) else part


def _first(form: FormPatterns) -> str:
    """What counts before content begins only."""
    calls = _calls_first(form)
    first = [
        *(["reasoning_for_start"] if form["reasoning_open_first"] else []),
        *([calls] if calls else []),
        *([f"content_open_for_start {calls}"] if calls and form["content_open_first"] else []),
    ]
    times = "*" if len(first) > 1 or form["reasoning_open_first"] else "?"
    any_of = f"({' / '.join(first)}){times}" if len(first) > 1 else first[0] + times if first else ""
    return sequence(any_of, "content_open_for_start?" if form["content_open_first"] else "")


def _then_first(part: str, form: FormPatterns) -> str:
    """A part and what may follow it where reasoning or content is opened before content only."""
    if part == OVER:
        return part
    if part in ("content_open", "stray_closer"):
        return sequence(part, f"{_calls_first(form)}?" if _calls_first(form) else "")
    if part.startswith(("content", "talk")) and part != "content_close":
        return part
    if _or_failed(part, form) != part:
        return f"{part} (failed_call / {_first(form)})"
    return f"{part} {_first(form)}"


def _thinking_first(form: FormPatterns) -> str:
    if not form.unopened:
        return ""
    return "(!content_open_for_start thinking_aloud)?" if form["content_open_first"] else "thinking_aloud?"


def _bare_call_rules(form: FormPatterns) -> Iterator[Rule]:
    """Yield rules for calls without an opener: at the beginning, after a marker, and on lines of their own."""
    if not form.calls.at_lines:
        return
    cut = ["content_for_space cut_text"] if cut_calls(form) else []
    yield rule("tool_calls_first", f"{leaf(SPACE)} tool_calls", *cut)
    if cut:
        yield rule("content_for_space", leaf(SPACE))
    own_line = [f"&{leaf(form.own_line)} tool_calls"] if form.own_line else []
    yield rule("call_line", *own_line, "line_start content_for_indent tool_calls")
    yield LINE_START


def _marker_rules(form: FormPatterns) -> Iterator[Rule]:
    if form["turn_end"]:
        # A call directly after the end is still one of the turn's calls.
        further = [*form.call_starts, *map(marker_core, form.acceptor.further)]
        goes_on = [] if form.calls.at_lines or not form.call_starts else further
        yield rule(OVER, f"turn_end {leaf(SPACE)} after_turn?")
        yield rule("after_turn", leaf(f"(?!{either(goes_on)})" * bool(goes_on) + ".+"))
    if form["reasoning_open_first"] and form["reasoning_open_anywhere"]:
        yield rule("reasoning_for_word", f"&{leaf(form['reasoning_open_anywhere'])} reasoning")
    yield from form.leaves(
        "turn_end", "turn_header", "empty_call", "stray_closer", "reasoning_for_closer", "content_space"
    )


def _talk(form: FormPatterns) -> list[str]:
    if not form.call_starts:
        return []
    return ["talk_of_calls" if form.talks else "content_for_opener"]


# Reasoning


def reasoning_section(mode: ReasoningMode, form: FormPatterns) -> Section:
    if not form["reasoning_close"]:
        return Section("", ())
    if form.unopened:
        return _thinking_aloud(form)
    by_call = form.calls.in_reasoning is not None
    rules = _ended_by_calls(form) if by_call else []
    # Calls that count where a line begins only have a rule of their own for that, which reads them.
    calls = "&tool_calls" if form.calls.at_lines else AT_CALL
    cuts = [] if form.calls.at_lines else ["trailing_for_opener"]
    unparsed = [leaf(form.call_unparsed)] if form.call_unparsed else []
    ends = [rules[0].name, *(f"&{name}" for name in cuts)] if by_call else [f"&{pattern}" for pattern in unparsed]
    at_call = [rules[0].name, *cuts] if by_call else unparsed
    space = _space_after_reasoning(form, rules[0].name if by_call else "")
    guards = [
        *(one.name for one in space),
        "reasoning_close",
        *form.named("turn_end"),
        *at_call,
        *form.named("cut_marker_for_reasoning"),
    ]
    cut = ["cut_marker_for_reasoning cut"] if form["cut_marker_for_reasoning"] else []
    ends = ["reasoning_close", *(f"&{name}" for name in form.named("turn_end")), *ends, *cut, "cut"]
    opened = "reasoning_open" + " reasoning_again*" * bool(form["reasoning_again"])
    at_once = f"{leaf(SPACE)} {calls}" if by_call else ""
    if form.call_unparsed and form.parsed is not None:
        at_once = f"&{leaf(rf'{SPACE}(?:{form.parsed.call_cores})')}"
    whole = f"{opened} reasoning_text* {'reasoning_space? ' * bool(space)}({' / '.join(ends)})"
    text = sequence(*(f"!{guard}" for guard in guards), leaf(up_to(_stops_of_reasoning(form))))
    return Section(
        f"Reasoning{_FORM[mode]}.",
        (
            rule("reasoning", *([f"{opened} {at_once}"] if at_once else []), whole),
            *form.leaves("reasoning_again", "reasoning_open"),
            rule("reasoning_text", text),
            *form.leaves("reasoning_close", "cut_marker_for_reasoning"),
            *space,
            *rules,
        ),
    )


def _space_after_reasoning(form: FormPatterns, at_call: str) -> list[Rule]:
    """The white space that the template writes between open reasoning and the end of the turn, or a call."""
    ends = [(form.acceptor.after_reasoning, name) for name in form.named("turn_end")]
    ends += [(form.calls.after_reasoning, at_call)] if at_call and form.calls.after_reasoning.endswith("\n") else []
    found = [f"{leaf(some_suffix(space))} &{name}" for space, name in ends if space]
    return [rule("reasoning_space", *found)] if found else []


def _stops_of_reasoning(form: FormPatterns) -> list[str]:
    over = form["turn_end"]
    stops = [form["reasoning_close"], some_suffix(form.acceptor.after_reasoning) + over if over else ""]
    if form.calls.in_reasoning is None:
        return [*stops, form.call_unparsed, *cut_markers(form, "reasoning")]
    calls = [form.over_lines, *form.line_starts, *begun_openers(form), form.unclosed]
    space = some_suffix(form.calls.after_reasoning)
    calls += [rf"{space}(?<=\n)(?:{form.call_cores})"] if space and form.call_cores else []
    return [*stops, *calls, *cut_markers(form, "reasoning")]


def _ended_by_calls(form: FormPatterns) -> list[Rule]:
    """Calls at the start of a line end reasoning."""
    line, calls = ("reasoning_end_for_calls", "&tool_calls") if form.calls.at_lines else ("call_line", AT_CALL)
    whole = [f"&{leaf(pattern)} {calls}" for pattern in (form.own_line, form.over_lines, form.unclosed) if pattern]
    return [
        rule(line, *whole, f"line_start reasoning_text_for_indent {calls}"),
        rule("reasoning_text_for_indent", leaf(INDENT)),
        *([] if form.calls.at_lines else [LINE_START]),
    ]


_FORM = {
    "none": "",
    "delimiter": "",
    "tag_based": ", when the model reasons",
    "forced_open": "; the prompt has opened it",
    "forced_closed": "; the prompt has opened and closed it, unless reasoning is asked for",
    "tools_only": ", on turns with tool calls",
}


def _thinking_aloud(form: FormPatterns) -> Section:
    named = ["reasoning_close", *form.named("turn_end", "content_open"), *_calls_in_text(form)]
    guards = [f"!{name}" for name in (*named, *form.named("stray_closer"))]
    stops = [*(form[name] for name in ("reasoning_close", "turn_end", "content_open")), *starts_in_text(form)]
    stops.append(form["stray_closer"])
    rules = [rule("reasoning_text", sequence(*guards, leaf(up_to(stops)))), *form.leaves("reasoning_close")]
    texts = ["reasoning_text"]
    if form["stray_closer"]:
        texts.append("!reasoning_close stray_closer")
        rules.append(rule("reasoning_text_for_closer", f"!reasoning_close {leaf(form['stray_closer'])}"))
    if form["stray_closer"] and form.call_starts and not form.calls.at_lines:
        texts.insert(0, "talk_aloud")
        more = "(reasoning_text / reasoning_text_for_closer)*"
        rules.insert(0, rule("talk_aloud", f"!tool_calls reasoning_text_for_opener {more}"))
        rules.append(rule("reasoning_text_for_opener", leaf("|".join(form.kept_starts))))
    return Section(
        "Reasoning: all text before its closing marker.",
        (rule("thinking_aloud", f"({' / '.join(texts)})* reasoning_close"), *rules, *_thinking_cut(form, stops)),
        AFTER_TALK if len(texts) > 2 else (),
    )


def _thinking_cut(form: FormPatterns, stops: Sequence[str]) -> list[Rule]:
    """The beginning of what ends reasoning that nothing opened: up to it, the text is content."""
    cut = form["cut_marker_for_thinking"]
    if not cut:
        return []
    return [
        rule("thinking_cut", "content_for_thinking cut_marker_for_thinking"),
        *form.leaves("cut_marker_for_thinking"),
        rule("content_for_thinking", leaf(f"(?:(?!{either([*stops, cut])}).)*")),
    ]


# Content


def starts_in_text(form: FormPatterns) -> list[str]:
    """Patterns at which calls may begin in text."""
    calls = form.line_starts if form.calls.at_lines else form.call_starts
    return [*calls, *plain_starts(form), *inline_starts(form)]


def content_section(form: FormPatterns) -> Section:
    stops = [form[name] for name in ("turn_end", "turn_header", "reasoning_open_anywhere")]
    stops += starts_in_text(form)
    stops += [form[name] for name in ("content_open", "content_close", "empty_call", "stray_closer")]
    stops += [*begun_openers(form), *cut_markers(form, "content")]
    kept = form.header_unparsed
    stops += [form.parsed.call_cores] if kept and form.parsed is not None else []
    rules = [
        *form.leaves("content_open"),
        *([rule("content_for_header", leaf(kept))] if kept else []),
        rule("content", leaf(up_to(stops))),
        *form.leaves("content_close"),
        *([rule("content_for_indent", leaf(INDENT))] if _calls_first(form) else []),
    ]
    if not _talk(form):
        return Section(CONTENT, (*rules,))
    return Section(CONTENT, (*rules, *_talk_rules(form)), AFTER_TALK if form["stray_closer"] else ())


def _talk_rules(form: FormPatterns) -> list[Rule]:
    """Text that begins like a call and is none: outside the section, and where the next call may come in it."""
    others = [f"!{name}" for name in _markers(form) if name != "stray_closer"]
    text = "(content_for_closer / content)" if form["stray_closer"] else "content"
    rest = f"({' '.join(others)} {text})*"
    rules = [rule("talk_of_calls", f"content_for_opener {rest}")] if form.talks else []
    rules += _opener_rules(form)
    if _failing_next(form):
        before = [f"!{name}" for name in form.named("turn_end")] + [f"{name} gap" for name in form.named("call_next")]
        rules.append(rule("failed_call", f"content_for_next_call {rest}"))
        rules.append(rule("content_for_next_call", sequence("gap", *before, "nameless_object")))
    return [*rules, *([rule("content_for_closer", leaf(form["stray_closer"]))] if form["stray_closer"] else [])]


def _failing_next(form: FormPatterns) -> bool:
    """Whether in a section something opens a call that opens none outside, and may turn out to be none."""
    calls = form.calls
    opens = set(calls.openers).isdisjoint(calls.inner)
    return opens and bool(calls.fields) and not calls.at_lines and not calls.shape.slots


def _opener_rules(form: FormPatterns) -> list[Rule]:
    """What turns out not to open a call: with an object that has no name, up to where that shows."""
    opener, calls = leaf("|".join(form.kept_starts)), form.calls
    if form["empty_call"]:
        opener = f"!{leaf(SPACE + form['empty_call'])} {opener}"
    if calls.at_lines:
        opener = f"line_start {leaf(INDENT + '(?:' + either(form.kept_starts) + ')')}"
    if not calls.fields:
        return [rule("content_for_opener", opener)]
    slots = [item for kind, _ in calls.shape.slots for item in ("gap", kind, f"{kind}_end")]
    texts = [sequence(opener, *slots, "gap nameless_object"), opener] if slots else [f"{opener} gap nameless_object?"]
    return [rule("content_for_opener", *texts), form.external("nameless_object")]
