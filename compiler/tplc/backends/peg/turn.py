"""The rules of a turn: its end, reasoning, content, and the order in which they are tried.

Reasoning("tag_based", "<reason>\\n", "\\n</reason>")
→  reasoning        = reasoning_open reasoning_text* (reasoning_close / cut)
   reasoning_open   = ~r"<reason>\\n?"s
   reasoning_text   = !reasoning_close ~r".+?(?=\\n?</reason>|\\Z)"s
"""

from __future__ import annotations

from tplc.backends.peg.form import OPENS, FormPatterns, begun_openers, cut_markers, turn_ends
from tplc.backends.peg.patterns import either, leaf, marker_core, some_suffix, up_to
from tplc.backends.peg.rules import LINE_START, Rule, Section, rule, sequence
from tplc.backends.peg.whole_calls import inline_starts, leads_in_lines, line_rules, ordinary_starts
from tplc.ir.nodes import ReasoningMode

INDENT = r"[^\S\n]*+"
SPACE = r"\s*+"
AT_CALL = "&(tool_calls / trailing_for_call)"
CONTENT = "Content: text up to where the next part may begin."
AFTER_TALK = ("After an opener that opens no call, closers are text as well.",)


def turn_sections(mode: ReasoningMode, form: FormPatterns) -> list[Section]:
    reasoning = _thinking_aloud(form) if form.unopened else reasoning_section(mode, form)
    return [turn_section(form), reasoning, content_section(form)]


def turn_section(form: FormPatterns) -> Section:
    space = "content_space " if form["content_space"] else ""
    before = f"thinking_cut? reasoning_for_closer* {_before_content(form)}"
    return Section(
        "The parts of a turn, in order. The first alternative that matches is taken; text without markers is content.",
        (
            rule("turn", f"{space}(!content_open_for_start thinking_aloud)? {before} part*"),
            rule("part", *_parts(form)),
            *_before_content_rules(form),
            *_calls_at_lines(form),
            *line_rules(form),
            *_turn_end_rules(form),
            *form.leaves("turn_header", "empty_call", "stray_closer", "reasoning_for_closer", "content_space"),
            rule("cut", leaf(r"\Z")),
            *form.leaves("cut_marker"),
        ),
    )


def _markers(form: FormPatterns) -> list[str]:
    """Return the rules of markers, in the order in which they are tried."""
    opened = "reasoning_for_word" if form["reasoning_open_first"] else "reasoning"
    return [
        *("turn_over", "turn_header", opened, *_calls_in_text(form)),
        *("empty_call", "content_open", "content_close", "stray_closer"),
    ]


def _calls_in_text(form: FormPatterns) -> list[str]:
    """Return the parts of a turn that are calls, and those that are truncated calls."""
    calls, cut = ("call_line", "cut_call") if form.calls.opening.at_lines else ("tool_calls", "trailing_for_call")
    return [calls, "call_line_for_ordinary", "call_line_for_inline", cut]


def _calls_first(form: FormPatterns) -> str:
    """Return the rule of calls that count after any marker, if some count at certain places only."""
    return "tool_calls_first" if form.calls.opening.at_lines else "tool_calls_first_for_ordinary"


def _before_content(form: FormPatterns) -> str:
    """Return what counts before content begins only."""
    calls, more = _calls_first(form), bool(form["reasoning_open_first"] or form["content_open_first"])
    thought, last = "reasoning_for_start", "content_open_for_start tool_calls_for_unopened?"
    if form.acceptor.closer_opens_content:
        thought, last = f"{thought} {calls}", f"{last} / {thought}"
    opened = f"({thought} / {calls} / tool_calls_for_unopened / content_open_for_start {calls})"
    return f"{opened}{'*' if more else _again(form)} ({last})?"


def _again(form: FormPatterns) -> str:
    """Return how often calls come where some count before content only: others without an opener may follow them."""
    return "*" if form.calls.opening.may_be_missing and form.known else "?"


def _parts(form: FormPatterns) -> list[str]:
    """Return markers, with what may follow each of them where some count before content only; then text."""
    calls, unopened = f"{_calls_first(form)}?", f"({_calls_first(form)} / tool_calls_for_unopened){_again(form)}"
    after = _before_content(form) if form["reasoning_open_first"] or form["content_open_first"] else ""
    parts = []
    for name in _markers(form):
        follows = {"content_open": unopened, "stray_closer": calls}.get(name) or after or unopened
        if name == "tool_calls":
            follows = f"(failed_call / {after})" if after else f"failed_call? {unopened}"
        parts.append(name if name == "turn_over" else f"{name} {follows}")
    talk = ["failed_call_text" if form.has_failed_call_text else "content_for_opener"]
    ends = [name if not after else f"{name} {after}" for name in ("trailing_for_opener", "cut_marker")]
    return [*parts, "content_for_answer", *talk, *ends, "content_for_header", "content"]


def _before_content_rules(form: FormPatterns) -> list[Rule]:
    ignorable_closers, rules = f"({leaf(SPACE)} stray_closer)* ", []
    if form["reasoning_open_first"]:
        ahead = leaf(SPACE + form["reasoning_open_first"])
        rules.append(rule("reasoning_for_start", f"{ignorable_closers}&{ahead} {leaf(SPACE)} reasoning"))
    if form["content_open_first"]:
        rules.append(rule("content_open_for_start", ignorable_closers + leaf(SPACE + form["content_open_first"])))
    return rules


def _calls_at_lines(form: FormPatterns) -> list[Rule]:
    """Return the rules for calls without an opener: at the beginning, after a marker, and on lines of their own."""
    if not form.calls.opening.at_lines:
        return []
    own_line = [f"&{leaf(form.own_line)} tool_calls"] if form.own_line else []
    calls, indent = _begun(form, "tool_calls"), "content_for_indent" * form.may_be_indented
    at_line = "tool_calls" if leads_in_lines(form) and indent else calls  # the rule of the indent looks ahead
    return [
        rule("tool_calls_first", f"{leaf(SPACE)} {calls}", "content_for_space cut_text"),
        rule("content_for_space", leaf(SPACE)),
        rule("call_line", *own_line, sequence("line_start", indent, at_line)),
        LINE_START,
    ]


def _begun(form: FormPatterns, calls: str) -> str:
    """Return the rule of calls, where they begin as the template writes them if no tools are known."""
    return f"&{leaf(form.call_cores)} {calls}" if form.begins else calls


def _turn_end_rules(form: FormPatterns) -> list[Rule]:
    # A call directly after the end is still one of the turn's calls.
    goes_on = form.of("over", *OPENS, "header", lead=False)
    opened = form["reasoning_open_anywhere"]
    return [
        rule("turn_over", f"turn_end {leaf(SPACE)} after_turn?"),
        rule("after_turn", leaf(f"(?!{goes_on})" * bool(goes_on) + ".+")),
        rule("reasoning_for_word", *([f"&{leaf(opened)} reasoning"] if opened else [])),
        *form.leaves("turn_end"),
    ]


# Reasoning


def reasoning_section(mode: ReasoningMode, form: FormPatterns) -> Section:
    if not form["reasoning_close"]:
        return Section("", ())
    rules, opened = _ended_by_calls(form), "reasoning_open reasoning_again*"
    guards, ends, at_once = list[str](), list[str](), list[str]()
    if rules:
        guards, ends = [rules[0].name, "trailing_for_opener"], [rules[0].name, "&trailing_for_opener"]
        at_once = [f"{opened} {leaf(SPACE)} {_begun(form, '&tool_calls') if form.calls.opening.at_lines else AT_CALL}"]
    elif form.parsed is not None and form.call_unparsed:
        guards, ends = [leaf(form.call_unparsed)], [f"&{leaf(form.call_unparsed)}"]
        at_once = [f"{opened} &{leaf(rf'{SPACE}(?:{form.parsed.call_cores})')}"]
    at_once += [f"{opened} {name}" for name in form.named("reasoning_close_at_once")]
    guards = ["reasoning_space", "reasoning_close", "turn_end", *guards, "cut_marker_for_reasoning"]
    ends = ["reasoning_close", "&turn_end", *ends, "cut_marker_for_reasoning cut", "cut"]
    guarded = [f"!{guard}" for guard in guards]
    text = [" ".join([*guarded, one]) for one in (*_failed_in_reasoning(form), leaf(up_to(_stops_of_reasoning(form))))]
    return Section(
        f"Reasoning{_FORM[mode]}.",
        (
            rule("reasoning", *at_once, f"{opened} reasoning_text* reasoning_space? ({' / '.join(ends)})"),
            *form.leaves("reasoning_again", "reasoning_open"),
            rule("reasoning_text", *text),
            *form.leaves("reasoning_close", "reasoning_close_at_once", "cut_marker_for_reasoning"),
            _space_after_reasoning(form, rules[0].name if rules else ""),
            *rules,
        ),
    )


def _failed_in_reasoning(form: FormPatterns) -> list[str]:
    """Return an opener that opens no call and an object without a name, up to where that becomes certain."""
    if form.calls.opening.in_reasoning is None or not form.calls.object.fields:
        return []
    opens = either(form.call_starts if form.calls.opening.in_reasoning == "anywhere" else form.line_starts)
    return [f"{leaf(opens)} gap nameless_object"] if opens else []


def _space_after_reasoning(form: FormPatterns, at_call: str) -> Rule:
    """Return the white space that the template writes between open reasoning and the end of the turn, or a call."""
    over = turn_ends(form, lead=False)
    ends = [(form.acceptor.after_reasoning, leaf(over))] if over else []
    ends += (
        [(form.calls.opening.after_reasoning, at_call)]
        if at_call and form.calls.opening.after_reasoning.endswith("\n")
        else []
    )
    return rule("reasoning_space", *(f"{leaf(some_suffix(space))} &{name}" for space, name in ends if space))


def _stops_of_reasoning(form: FormPatterns) -> list[str]:
    calls, space = [form.call_unparsed], some_suffix(form.acceptor.after_reasoning)
    over = turn_ends(form, lead=not space)
    if form.calls.opening.in_reasoning is not None:
        before = some_suffix(form.calls.opening.after_reasoning)
        calls = [*form.ends_reasoning, *begun_openers(form), form.unclosed]
        calls += [rf"{before}(?<=\n)(?:{form.call_cores})"] if before and form.call_cores else []
    over = f"{space}(?:{over})" if over else ""
    return [form["reasoning_close"], over, *calls, *cut_markers(form, "reasoning")]


def _ended_by_calls(form: FormPatterns) -> list[Rule]:
    """Return reasoning that calls end: at the start of a line, or anywhere."""
    if form.calls.opening.in_reasoning is None:
        return []
    if form.calls.opening.in_reasoning == "anywhere":
        return [rule("call_inside", *(f"&{leaf(pattern)} {AT_CALL}" for pattern in form.ends_reasoning))]
    # Calls that count where a line begins only have a rule of their own for that, which reads them.
    line, calls = ("reasoning_end_for_calls", "&tool_calls") if form.calls.opening.at_lines else ("call_line", AT_CALL)
    whole = [f"&{leaf(pattern)} {calls}" for pattern in (form.own_line, form.over_lines, form.unclosed) if pattern]
    indent = "reasoning_text_for_indent" * form.may_be_indented
    return [
        rule(line, *whole, sequence("line_start", indent, _begun(form, calls))),
        rule("reasoning_text_for_indent", leaf(INDENT)),
        LINE_START,
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
    guards = ["reasoning_close", "turn_end", "content_open", *_calls_in_text(form), "stray_closer"]
    stops = [*(form[name] for name in ("reasoning_close", "turn_end", "content_open")), *starts_in_text(form)]
    stops.append(form["stray_closer"])
    has_failed_call_text = bool(form["stray_closer"] and form.call_starts and not form.calls.opening.at_lines)
    more = "(reasoning_text / reasoning_text_for_closer)*"
    talk = [f"!tool_calls reasoning_text_for_opener {more}"] if has_failed_call_text else []
    closer = [f"!reasoning_close {leaf(form['stray_closer'])}"] if form["stray_closer"] else []
    return Section(
        "Reasoning: all text before its closing marker.",
        (
            rule(
                "thinking_aloud",
                *form.named("reasoning_close_at_once"),
                "reasoning_again? (talk_aloud / reasoning_text / !reasoning_close stray_closer)* reasoning_close",
            ),
            *form.leaves("reasoning_again"),
            rule("talk_aloud", *talk),
            rule("reasoning_text", " ".join([*(f"!{guard}" for guard in guards), leaf(up_to(stops))])),
            *form.leaves("reasoning_close", "reasoning_close_at_once"),
            rule("reasoning_text_for_closer", *closer),
            rule("reasoning_text_for_opener", leaf("|".join(form.kept_starts))),
            # The beginning of what ends reasoning: up to it, the text is content.
            rule("thinking_cut", "content_for_thinking cut_marker_for_thinking"),
            *form.leaves("cut_marker_for_thinking"),
            rule("content_for_thinking", leaf(f"(?:(?!{either([*stops, form['cut_marker_for_thinking']])}).)*")),
        ),
        AFTER_TALK if has_failed_call_text else (),
    )


# Content


def starts_in_text(form: FormPatterns) -> list[str]:
    """Return patterns at which calls may begin in text."""
    calls = form.line_starts if form.calls.opening.at_lines else form.call_starts
    return [*calls, *ordinary_starts(form), *inline_starts(form)]


def content_section(form: FormPatterns) -> Section:
    stops = [form[name] for name in ("turn_end", "turn_header", "reasoning_open_anywhere")]
    stops += starts_in_text(form)
    stops += [form[name] for name in ("content_open", "content_close", "empty_call", "stray_closer")]
    stops += [*begun_openers(form), *cut_markers(form, "content")]
    kept = form.header_unparsed
    stops += [form.parsed.call_cores] if kept and form.parsed is not None else []
    rules = [
        *form.leaves("content_open"),
        rule("content_for_header", *([leaf(kept)] if kept else [])),
        rule("content", leaf(up_to([form.not_escaped + stop for stop in stops if stop]))),
        *form.leaves("content_close"),
        rule("content_for_indent", leaf(_indent(form))),
    ]
    if not form.call_starts:
        return Section(CONTENT, (*rules,))
    return Section(CONTENT, (*rules, *_failed_call_rules(form)), AFTER_TALK if form["stray_closer"] else ())


def _indent(form: FormPatterns) -> str:
    """Return the pattern of the indent of a line that begins with a call, without the white space that the template
    writes before it in a line."""
    leads = sorted(leads_in_lines(form), key=lambda lead: (-len(lead), lead)) if form.call_cores else []
    cores = either([form.call_cores, *map(marker_core, form.calls.opening.ordinary)])
    return rf"[^\S\n]*?(?=(?:{either(list(map(some_suffix, leads)))})?(?:{cores}))" if leads else INDENT


def _failed_call_rules(form: FormPatterns) -> list[Rule]:
    """Return rules for text that begins like a call but isn't one: outside the section, and where the next call may
    come."""
    others = [f"!{name}" for name in _markers(form) if name != "stray_closer"]
    rest, calls = f"({' '.join(others)} (content_for_closer / content))*", form.calls
    # In a section something may open a call that opens none outside, and turn out to be none.
    fails = (
        calls.object.fields
        and set(calls.opening.openers).isdisjoint(calls.opening.inner)
        and not (calls.opening.at_lines or calls.shape.slots)
    )
    before = "gap !turn_end" + " call_next gap" * bool(form["call_next"])
    header = form.failed_header
    failed = f"content_for_opener{' content_for_failed_header?' * bool(header)} {rest}"
    return [
        rule("failed_call_text", *([failed] if form.has_failed_call_text else [])),
        *_opener_rules(form),
        rule("content_for_failed_header", *([leaf(header)] if header and form.has_failed_call_text else [])),
        rule("failed_call", *([f"content_for_next_call {rest}"] if fails else [])),
        rule("content_for_next_call", f"{before} nameless_object"),
        rule("content_for_closer", *([leaf(form["stray_closer"])] if form["stray_closer"] else [])),
    ]


def _opener_rules(form: FormPatterns) -> list[Rule]:
    """Return rules for openers that turn out to open no call: with an object without a name, up to the place where that
    becomes certain."""
    opener, calls = leaf("|".join(form.kept_starts)), form.calls
    if form["empty_call"]:
        opener = f"!{leaf(SPACE + form['empty_call'])} {opener}"
    if calls.opening.at_lines:
        opener = f"line_start {leaf(INDENT + '(?:' + either(form.kept_starts) + ')')}"
    if not calls.object.fields:
        return [rule("content_for_opener", opener)]
    slots = "".join(f" gap {kind} {kind}_end" for kind, _ in calls.shape.slots)
    texts = [f"{opener}{slots} gap nameless_object", opener] if slots else [f"{opener} gap nameless_object?"]
    return [rule("content_for_opener", *texts), form.external("nameless_object")]
