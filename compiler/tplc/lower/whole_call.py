r"""A call exactly as the template writes it, as steps: what looks like text has to read as one to be a call.

"call " NAME ": " ARGUMENTS "\n"  →  text call\s{1,16}, a name before :\s{0,16}, text :\s{0,16}, an object, line end
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.ir.markers import is_distinctive, lead_of, without_space
from tplc.ir.nodes import Layout, ObjectArguments, Slot, TemplateIR, Text, Tools
from tplc.lower.bounds import INDENT, KEY, SOME_SPACE, SPACE
from tplc.lower.call_form import CallForm, CallStep, PairForm
from tplc.lower.layouts import merged, text_at, unique
from tplc.lower.lexemes import core_pattern, exact
from tplc_runtime.pattern import LONGEST_KEY, MOST_SPACE, NAME_CHARACTERS

LINE_END, END = r"\n", r"\Z"
NAME = rf"(?!\d)[{NAME_CHARACTERS}]{{1,{LONGEST_KEY}}}?"
ID = rf"[{NAME_CHARACTERS}]{{1,{LONGEST_KEY}}}?"  # may begin with a digit, and an index does
LONGEST_RAW = 512
NEVER = "(?!)"
LINE = INDENT + r"\n" + SPACE


def whole_call_of(ir: TemplateIR, form: CallForm, *, section: bool) -> tuple[CallStep, ...]:
    """Return the steps; none if the template writes something in a call that no step stands for.

    `section`: include the section's opener before the call, and its closer or a separator after it.
    """
    tools = ir.tools
    layout = merged((Text(tools.section_start), *tools.call) if section else tools.call)
    kinds = [item.kind for item in layout if isinstance(item, Slot)]
    if (
        kinds.count("arguments") != 1
        or "name" not in kinds[: kinds.index("arguments")]
        or tools.replacements("name")
        or tools.replacements("key")
        or form.arguments.escapes
    ):
        return ()
    at = layout.index(Slot("arguments"))
    after = layout[at + 1 :]
    closing = [
        _step(after, index, None, tools)
        for index, item in enumerate(after)
        if isinstance(item, Slot) or item.text.strip()
    ]
    closing += _after(ir, text_at(after, len(after) - 1), section=section)
    arguments = _arguments(tools, form.pairs, text_at(after, 0), "".join(step.pattern for step in closing))
    if not arguments or not text_at(layout, 0).strip():
        return ()
    if any(isinstance(item, Slot) and not text_at(after, index + 1).strip() for index, item in enumerate(after)):
        return ()  # nothing shows where the last slot ends
    steps = [_step(layout, index, form.pairs, tools) for index in range(at)]
    if _is_left_out(tools, layout, at):
        steps, arguments = [*steps[:-2], _bare_name(layout, at)], [_optional([steps[-1], *arguments])]
    return (*steps, *arguments, *closing)


def _is_left_out(tools: Tools, layout: Layout, at: int) -> bool:
    """Return whether a call without arguments lacks the text before them as well, and nothing else.  `at`: their
    place."""
    bare = merged(tools.bare_call)
    before, after = text_at(layout, at - 1), text_at(layout, at + 1)
    return bool(before and after) and bare == (*merged(tools.call)[:-3], Text(after)) and layout[at - 2] == Slot("name")


def _bare_name(layout: Layout, at: int) -> CallStep:
    """Return the step of a name before the text that opens the arguments, or that closes the call."""
    ends = "|".join(map(_first_character, (text_at(layout, at - 1), text_at(layout, at + 1))))
    return CallStep("name", f"{NAME}(?={ends})")


def _optional(steps: Sequence[CallStep]) -> CallStep:
    """Return these steps, or none of them."""
    return CallStep("pairs", pair=tuple(steps), between=(CallStep("text", NEVER),))


def text_steps(text: str) -> list[CallStep]:
    return [CallStep("text", pattern_of(text), without_space(text))] if text else []


def pattern_of(text: str) -> str:
    """Return the regular expression of a text: any white space for its own, which may be missing next to punctuation,
    but a line end after the text."""
    core = text.strip()
    if "\n" in text[len(text.rstrip()) :]:
        trail = LINE
    elif not core:
        return SOME_SPACE
    else:
        trail = "" if text[-1] == core[-1] else SOME_SPACE if core[-1].isalnum() else SPACE
    return (SPACE * text[0].isspace() + core_pattern(core) if core else "") + trail


def _step(layout: Layout, index: int, pairs: PairForm | None, tools: Tools) -> CallStep:
    """Return the step of a text, or of a word up to the text that the template writes after it."""
    item = layout[index]
    if isinstance(item, Text):
        return text_steps(item.text)[0]
    following = text_at(layout, index + 1) or _opened(tools, pairs)
    kind = item.kind
    assert kind in ("name", "id", "index", "count")
    none = pairs.empty + text_at(layout, index + 2) if pairs is not None and not text_at(layout, index + 1) else ""
    if none.strip():
        # A call without arguments continues at once.  The steps that follow ask for the rest.
        return CallStep(kind, f"{NAME}(?={_first_character(following)}|{_first_character(none)})")
    word = NAME if kind == "name" else ID
    return CallStep(kind, f"{word}(?={pattern_of(following)})", without_space(following))


def _first_character(text: str) -> str:
    core = text.lstrip()
    return pattern_of(text[: len(text) - len(core) + 1])


def _opened(tools: Tools, pairs: PairForm | None) -> str:
    """Return the first text of the arguments, after any white space."""
    if pairs is not None:
        return pairs.start + text_at(pairs.pair, 0)
    return " " + (tools.dialect.in_object.object_open.strip() if tools.dialect else "{")


def _arguments(tools: Tools, pairs: PairForm | None, after: str, rest: str) -> list[CallStep]:
    """Return the steps of the arguments.  `after`: the text after them; `rest`: the pattern of the call's rest."""
    if pairs is None:
        arguments = tools.arguments
        plain = isinstance(arguments, ObjectArguments) and not (arguments.encoded or arguments.lines)
        return [CallStep("object")] if plain else []
    value = pairs.value
    if (pairs.value_end.around_key is not None and not value.quoted) or value.items or value.wrap or value.types:
        return []
    pair = [step for index in range(len(pairs.pair)) for step in _of_pair(pairs, index, rest)]
    pair = _of_typed_pair(pairs) if pairs.types_open_pairs else pair
    if not {"key"} < {step.kind for step in pair}:
        return []
    # Without any argument, only what closes them or the call shows that it is a call.
    least = 0 if (pairs.end + after).strip() else 1
    between = tuple(text_steps(pairs.separator))
    whole = CallStep("pairs", least=least, pair=tuple(pair), between=between)
    # White space before the first pair is missing if there is none.
    start = [CallStep("text", SPACE)] if pairs.start.isspace() and not least else text_steps(pairs.start)
    steps = [*start, whole, *text_steps(pairs.end)]
    if pairs.empty.strip():
        # One of the two: the reader of arguments accepts no call that has both.
        return [_optional(steps), _optional(text_steps(pairs.empty))]
    return [_optional(steps)] if not pairs.empty and pairs.start + pairs.end and after.strip() else steps


def _of_pair(pairs: PairForm, index: int, rest: str) -> list[CallStep]:
    item, text = pairs.pair[index], text_at(pairs.pair, index + 1)
    if isinstance(item, Text):
        return text_steps(item.text)
    if item.kind == "type":
        return []  # what is around a value of some types is read as a part of it
    if item.kind == "key":
        # A key that only white space ends is a word of its own if texts surround its pair.
        is_delimited = text.strip() or any(text_at(pairs.pair, at).strip() for at in range(len(pairs.pair)))
        return [CallStep("key", f"{KEY}(?={pattern_of(text)})", without_space(text))] if text and is_delimited else []
    if pairs.value.quoted:
        return [CallStep("value")]
    ends = (pattern_of(text) if text else "") + ("" if is_distinctive(text) else _after_value(pairs, rest))
    return [CallStep("raw", rf"[^\n]{{1,{LONGEST_RAW}}}?(?={ends or LINE_END})")]


def _after_value(pairs: PairForm, rest: str) -> str:
    """Return the pattern of what follows a pair: the beginning of a further one, or the rest of the call.

    A raw value contains separators and brackets as well: it ends with those before such a text."""
    ends = (pattern_of(pairs.end) if pairs.end else "") + rest
    before, at = pairs.separator + text_at(pairs.pair, 0), pairs.pair.index(Slot("key"))
    further = before and pattern_of(before) + KEY + pattern_of(text_at(pairs.pair, at + 1))
    found = [text for text in (further, ends) if text]
    return f"(?:{'|'.join(found)})" if found else ""


def _of_typed_pair(pairs: PairForm) -> list[CallStep]:
    """Return the steps of a pair between texts that depend on the value's type."""
    key_end = text_at(pairs.pair, pairs.pair.index(Slot("key")) + 1)
    wraps = pairs.value.wraps
    opener, closer = _one_of([wrap.opened for wrap in wraps]), _one_of([wrap.ends[0] for wrap in wraps])
    key = CallStep("key", f"{KEY}(?={pattern_of(key_end)})", without_space(key_end))
    raw = CallStep("raw", rf"[^\n]{{1,{LONGEST_RAW}}}?(?={closer.pattern})")
    return [opener, key, *text_steps(key_end), raw, closer]


def _one_of(texts: Sequence[str]) -> CallStep:
    """Return the step of any of these texts."""
    found = unique(texts)
    return CallStep("text", f"(?:{'|'.join(map(pattern_of, found))})", "\0".join(without_space(one) for one in found))


def _after(ir: TemplateIR, closer: str, *, section: bool) -> list[CallStep]:
    """Return what must follow the call: the section's closer, or a line end if the template writes one."""
    tools = ir.tools
    # Where nothing ends the section, nothing follows the last call.
    nexts = [tools.section_end, tools.separator] if section and tools.section_end.strip() else []
    following: list[str] = []
    if section and tools.section_end.strip() and tools.separator.isspace():
        nexts.append(tools.separator + text_at(tools.call, 0))
        # Before a further call that begins with its name, the line end says that this one is over.
        following = [LINE_END] if isinstance(merged(tools.call)[0], Slot) and "\n" in tools.separator else []
    ends = [text for text in nexts if text.strip()]
    if ends:
        return [_line(f"{SPACE}(?:{'|'.join([*map(pattern_of, ends), *following])})", ends)]
    spaces = [lead_of(text) for text in (closer + tools.separator, closer + tools.section_end)]
    if closer.strip() or "\n" not in "".join(spaces):
        return []
    # Calls without a separator may follow one another directly.
    further = "" if tools.separator else text_at(merged(tools.call), 0)
    ends = sorted({text.strip() for text in (tools.section_end, *ir.turn.ends, further) if is_distinctive(text)})
    return [_line(f"{INDENT}(?:{'|'.join([LINE_END, END, *map(exact, ends)])})", ends)]


def _line(pattern: str, ends: Sequence[str]) -> CallStep:
    return CallStep("line", pattern, least=MOST_SPACE * 2 + max(map(len, ends), default=1))
