r"""What may follow a value that no marker of its own ends: the next pair, or the end of the call.

f(a=1, b=2)  →  Following(pair=(",", None, "="), closer=(")",), …): ", b=" of a further pair, or ")" and what comes then
             →  \s{0,16}(?:,\s{0,16}[^\s=…]{1,64}\s{0,16}=|…)      the same as a regular expression
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tplc.ir.markers import ends_in_text, is_bracketed, is_distinctive, is_unmistakable, is_word, lead_of, pieces_of
from tplc.ir.nodes import PairArguments, Slot, Text, Tools
from tplc.lower.bounds import CALL_NAME, INDENT, KEY, KEY_CHARACTER, SOME_SPACE, SPACE, key_without
from tplc.lower.call_form import Following
from tplc.lower.layouts import merged, not_blank, text_at, unique
from tplc.lower.lexemes import exact, in_class
from tplc_runtime.pattern import LONGEST_FOLLOW, LONGEST_KEY, NAME_CHARACTERS

IN_WORDS = "-_.+/@"  # what joins words to one
NAME = rf"[{NAME_CHARACTERS}]{{1,{LONGEST_KEY}}}?"  # or an id, in what closes a call


@dataclass(frozen=True, slots=True)
class ValueContext:
    """What is around a value: the texts that close it, open the next pair, close the call, end the turn."""

    tools: Tools
    pairs: PairArguments
    close: str  # after the value
    opened: str  # before the next pair's first slot
    key_end: str
    closing: tuple[str, ...]  # after the arguments
    turn_ends: tuple[str, ...]

    @property
    def closer(self) -> str:
        """Return the text directly after the arguments."""
        return self.pairs.end + text_at(self._after, 0)

    @property
    def closer_parts(self) -> tuple[str | None, ...]:
        """Return the pieces of what closes the call, and None for each slot; empty if a slot comes first."""
        parts: list[str | None] = [*pieces_of(self.closer)]
        for item in self._after[1:] if parts else ():
            parts += [None] if isinstance(item, Slot) else pieces_of(item.text)
        return tuple(parts)

    @property
    def line_end(self) -> str:
        """Return the line end that alone separates two calls; "" if more than that does."""
        between = self.closer + self.tools.separator + text_at(merged(self.tools.call), 0)
        return "\n" if "\n" in between and not between.strip() else ""

    @property
    def name_end(self) -> str:
        """Return the text directly after a call's name."""
        layout = merged(self.tools.call)
        return text_at(layout, layout.index(Slot("name")) + 1)

    @property
    def _after(self) -> tuple[Text | Slot, ...]:
        layout = merged(self.tools.call)
        return layout[layout.index(Slot("arguments")) + 1 :]

    @property
    def before_pair(self) -> str:
        return self.pairs.separator + self.opened

    @property
    def blank(self) -> str:
        """Return the white space that alone ends a value, also before the closer; "" if there is more than that, or
        none."""
        before = self.before_pair
        if self.spaces[1] == "" and self.closer.strip():
            return ""
        if self.close.strip() or self.pairs.separator.strip() or not before[:1].isspace():
            return ""
        blank = "\n" if "\n" in before[: -len(before.lstrip()) or None] else before[0]
        other = self.spaces[1] or blank  # in another number of lines it is another text
        return blank if blank in other and other.count("\n") == blank.count("\n") else ""

    @property
    def lead(self) -> Literal["free", "text", "written"]:
        """Return which white space before the end of a value is not part of the value."""
        if self.close.strip():
            return "free"
        return "written" if any(self.spaces[:2]) else "text"

    @property
    def spaces(self) -> tuple[str, str, str]:
        """Return the white space that the template writes before a further pair, before what closes the call, and, if
        nothing else closes it, before a further call."""
        call = self.closer + self.tools.separator + text_at(merged(self.tools.call), 0)
        pair, closer, call = (lead_of(text) for text in (self.before_pair, self.closer, call))
        return pair, closer, call


def following_of(context: ValueContext, *, guessed: bool) -> Following:
    """Return the texts that may follow a value.  `guessed`: values are raw, and only these texts end them."""
    tools, pairs, blank = context.tools, context.pairs, context.blank if guessed else ""
    before = not_blank([pairs.separator.strip(), context.opened.strip()])
    # Values hold such words as well: they end the turn only after the white space that the template writes.
    turn_ends = unique(
        text.rstrip() if ends_in_text(text) else text.strip() for text in context.turn_ends if is_distinctive(text)
    )
    starts = [context.close, *before[:1], pairs.end, *context.closing]
    starts += [tools.section_end] if is_distinctive(tools.section_end) else []
    if blank:
        starts = [*turn_ends, *([context.closer] if is_distinctive(context.closer) else [])]
    spaces = context.spaces if guessed and context.lead == "written" else ("", "", "")
    space = "" if before else spaces[0]  # where a key follows white space alone, that begins the next pair
    after = tuple(text.strip() for text in not_blank([tools.section_end, *context.turn_ends]))
    closer = "" if pairs.start.strip() else pairs.empty + context.closer[len(pairs.end) :]  # if there are no arguments
    next_call = (
        *not_blank([tools.separator.strip()]),
        *_call_start(tools, pairs.start + context.opened, guessed=guessed and not context.closer_parts),
    )
    if guessed and not (context.closer_parts or context.close.strip()):
        starts += [*turn_ends, *after, *(text for text in next_call[:1] if text)]
    first = {text.strip()[0] for text in not_blank(starts)} | _leads([*turn_ends, blank, space])
    if guessed and not (before or blank or space or context.close.strip()):
        first = set()  # a key follows the value at once, and begins with any character
    return Following(
        close=context.close.strip(),
        lead="blank" if blank else context.lead if guessed else "free",
        blank=blank,
        pair=(*before, None, *([context.key_end] if context.key_end else [])),
        indented=guessed and re.search(r"\n[^\S\n]+\Z", context.before_pair) is not None,
        closer=context.closer_parts,
        closes=is_distinctive("".join(part or "" for part in context.closer_parts)),
        after=after,
        next_call=next_call,
        next_empty=_after_a_name(next_call, tools, (closer.strip(), *after), "" if guessed else context.line_end),
        turn_ends=turn_ends,
        section_end=tools.section_end.strip(),
        starts="".join(sorted(first)),
        spaces=spaces,
        space_separates=not pairs.separator.strip(),
        not_in_keys=_not_in_keys(before[0], opens=before[0] != pairs.separator.strip()) if before else "",
        only_between=_only_between(tools, context.close.strip() or pairs.separator.strip()),
    )


def _leads(texts: Sequence[str]) -> set[str]:
    """Return the white space that the texts begin with, one character of each."""
    return {text[0] for text in texts if text[:1].isspace()}


def _call_start(tools: Tools, opened: str, *, guessed: bool) -> tuple[str | None, ...]:
    """Return a call's beginning up to the text that ends its name (None: a name); empty if nothing marks it.  `opened`:
    the text before the first argument's key, which ends a name that arguments follow directly.  `guessed`: values may
    be any text, which contains punctuation before a word."""
    layout: Sequence[Text | Slot] = merged(tools.call)
    at = layout.index(Slot("name"))
    first, suffix = text_at(layout, 0).strip(), text_at(layout, at + 1).strip()
    shown = (first,) if is_distinctive(first) else ()  # like nothing in a value, so anything may follow
    if any(isinstance(item, Slot) for item in layout[:at]):
        return shown
    if not suffix and not shown and layout[at + 1 :][:1] == (Slot("arguments"),):
        suffix = opened.strip()
    if suffix:
        return (*not_blank([first]), None, suffix)
    return shown if shown or guessed or not first else (first, None)


def _after_a_name(
    next_call: Sequence[str | None], tools: Tools, after: Sequence[str], line_end: str
) -> tuple[str, ...]:
    """Return what follows a further call's name directly if it has no arguments.  `line_end`: what separates two
    calls."""
    layout = merged(tools.call)
    at = layout.index(Slot("name"))
    if next_call[-2:-1] != (None,) or layout[at + 1 :][:1] != (Slot("arguments"),):
        return ()
    return unique(text for text in (*after, *next_call[:1], line_end) if text)


def pattern_of(
    following: Following, *, over: bool, key: str = KEY, names: tuple[str, str] = (CALL_NAME, CALL_NAME), tool: str = ""
) -> str:
    """Return the regular expression of these texts.  `over`: also match the end of the output.

    `key` matches a key, `names` the name of a further call, with arguments and without, `tool` the name of a known
    tool, if any is known: a call of it may follow another separator than the template's.
    """
    first, *rest = _closing(following) or [""]
    end = first + "".join(f"(?:{SPACE}{text})?" for text in rest)
    # Text has words like those of a closer: more text in their line shows that they are part of a value.
    is_text = is_word("".join(filter(None, following.closer)))
    line_end = (r"(?=[^\S\n]*(?:\n" + r"|\Z" * over + "))") * is_text
    ends = [exact(text) for text in following.after]
    calls = [_spelled(following.next_call, _without_closer(following) + names[0])] if following.next_call else []
    if following.next_empty:
        after_name = "|".join([*map(exact, following.next_empty), *([r"\Z"] if over else [])])
        calls.append(f"{_spelled(following.next_call[:-1], names[1])}{SPACE}(?:{after_name})")
    if following.lead == "blank" and following.spaces[2].startswith(following.blank * 2):
        # A call may begin with white space of its own, which then comes after the white space that ends a value.
        before_call = exact(following.spaces[2].removeprefix(following.blank))
        calls = [f"(?:{before_call})?{call}" for call in calls]
    pair = _spelled(following.pair, rf"(?<=[^\S\n]){key}" if following.indented else key)
    # A key may hold any character, but what closes the call begins no pair, and a marker that opens one doesn't either.
    no_pair = [first + line_end] if following.closes else []
    if following.pair[:1] == (None,):
        no_pair += [exact(text) for text in following.next_call[:1] if text and is_unmistakable(text)]
    pair = f"(?!{'|'.join(no_pair)}){pair}" if no_pair else pair
    choices = []
    if (ends or calls) and (end or following.lead != "written"):
        choices.append((end + SPACE if end else "") + f"(?:{'|'.join(ends + calls)})")
    if tool and end and _joins_calls(following.next_call):
        # Where nothing closes a value, white space alone before a call is part of it.
        separator = "[,;]" + "?" * bool(following.close)
        choices.append(f"{end}{SPACE}{separator}{SPACE}{_spelled(following.next_call[-2:], tool)}")
    if following.closes:
        choices.append(SPACE.join([first, *rest]) + line_end)
    choices += _end_of_section(following, over=over)
    if over:
        choices += [*([rf"{end}{SPACE}\Z"] if end else []), r"\Z"]
    if following.lead == "written":
        before_pair, before_end, _ = (f"(?:{exact(space)})?" if space else "" for space in following.spaces)
        if following.space_separates:
            before_pair = exact(following.spaces[0])
        found = [] if end else _after_written_space(following, ends, calls, over=over)
        found += [f"{before_end}(?:{'|'.join(choices)})"] if choices else []
        return f"(?:{'|'.join([before_pair + pair, *found])})"
    pattern = f"(?:{'|'.join([pair, *choices])})"
    if following.lead != "blank":
        return (SPACE if following.lead == "free" else "") + pattern
    goes_on = "|".join([re.sub(r"\(\?P<\w+>", "(?:", pair), *([first] if following.closes else [])])
    return f"(?:{_blank(following)}{pattern}|{_at_once(following, goes_on)})"


def _without_closer(following: Following) -> str:
    """Return a guard before a name that arguments follow: what closes a call without arguments is in none."""
    suffix, closers = following.next_call[-1:], [text for text in following.closer[:1] if text in following.next_empty]
    if not closers or not suffix or suffix == (None,):
        return ""
    return rf"(?!(?:(?!{exact(suffix[0] or '')})\S){{1,{LONGEST_KEY}}}?{SPACE}{exact(closers[0] or '')})"


def _after_written_space(following: Following, ends: Sequence[str], calls: Sequence[str], *, over: bool) -> list[str]:
    """Return the patterns of what follows a call that white space alone closes.  Where the template begins a line with
    it, the same inside a line is text of a value, but for an end of the turn at the end of the output."""
    _, before_end, before_call = following.spaces
    found = []
    for texts, space in ((ends, before_end), (calls, before_call)):
        lines = rf"(?:{exact(space)}|\n)" if "\n" in space else f"(?:{exact(space)})?"
        found += [lines + text for text in texts]
    return found + [rf"{text}{SPACE}\Z" for text in ends if over and "\n" in before_end]


def name_of_call(following: Following, name: str) -> str:
    """Return the pattern of the name of a further call: the whole name, if nothing but white space is written after
    it."""
    if following.next_call[-1:] != (None,):
        return name
    after = unique(text for text in (*following.closer[:1], *following.after, *following.next_call[:1]) if text)
    ends = [r"\s", r"\Z", *map(exact, after)]
    return f"{name}(?={'|'.join(ends)})"


def _joins_calls(next_call: Sequence[str | None]) -> bool:
    """Return whether only punctuation, or nothing, is between two calls: `, name(`."""
    return next_call[-2:-1] == (None,) and next_call[:-2] in ((), (",",), (";",))


def any_key(following: Following) -> str:
    """Return the pattern of a key that may be any."""
    between, end = following.only_between, following.pair[-1]
    if between and end:  # punctuation after it may be part of a key
        return rf"(?:(?!{exact(between)})[^\s{in_class(end[0])}]){{1,{LONGEST_KEY}}}?"
    separator = following.not_in_keys
    if len(separator) < 2:
        return key_without(separator)
    return rf"(?:(?!{exact(separator)}){KEY_CHARACTER}){{1,{LONGEST_KEY}}}?"


def _only_between(tools: Tools, between: str) -> str:
    """Return the text between two pairs if it is like nothing in a value, or escaped in values."""
    is_escaped = any(char in between for _, char in tools.replacements("value"))
    return between if is_escaped or is_distinctive(between) or is_bracketed(between) else ""


def _not_in_keys(between: str, *, opens: bool) -> str:
    """Return the text between two pairs, if a key that may be any doesn't contain it.  `opens`: it opens a pair; then a
    key may contain it if it has several characters."""
    joins_words = between in IN_WORDS or any(map(str.isspace, between)) or between[:1].isalnum()
    return "" if joins_words or (opens and len(between) > 1) else between


def after_quoted(following: Following, *, over: bool) -> str:
    """Return the same for values that are quoted or end like numbers: the text that closes their pair comes first.

    The call's other markers end such a value too, if what should be before them is missing.
    """
    rest = pattern_of(following, over=over)
    if following.lead != "blank" and following.closer and following.pair[:1] in ((",",), (";",)):
        # Models write a separator after the last pair as well.
        separator, closer = exact(following.pair[0] or ""), exact(following.closer[0] or "")
        rest = f"(?:(?:{SPACE}{separator}(?={SPACE}{closer}))?{rest})"
    marks = "".join(f"|{SPACE}{mark}" for mark in _marks_after_values(following, over=over))
    if not following.close:
        return f"(?:{rest}{marks})" if marks else rest
    rest = KEY + exact(following.after_key) if following.after_key else rest
    close = SPACE + exact(following.close) + ("" if is_distinctive(following.close) else rest)
    return rf"(?:{close}{marks}|{SPACE}\Z)" if over else f"(?:{close}{marks})" if marks else close


def _marks_after_values(following: Following, *, over: bool) -> list[str]:
    """Return the patterns of a further call, the section's end, and, if values have a closer, of a further pair and of
    what closes the call at the end of the turn.

    A bracket that ends the section is in values as well (`['b']`): it counts before the end of the turn only."""
    nothing: tuple[tuple[str | None, ...], ...] = ((), (None,))
    calls = [_spelled(following.next_call, CALL_NAME)] if following.next_call[:1] not in nothing else []
    pairs = [_spelled(following.pair)] if following.close and following.pair[:1] not in nothing else []
    found = [*calls, *pairs]
    end = "" if is_word(following.section_end) else following.section_end
    over_after = [*(exact(text) for text in following.after if text != end), *([r"\Z"] if over else [])]
    if is_distinctive(end):
        found.append(exact(end))
    elif end and over_after:
        found.append(f"{exact(end)}{SPACE}(?:{'|'.join(over_after)})")
    closer = SPACE.join(_closing(following))
    after = [*over_after, *([exact(end)] if end else []), *calls] if closer else over_after
    if following.close and after:
        # Without the closer of the last value, all that the template writes after it shows where it ends.
        found.append((closer + SPACE if closer else "") + f"(?:{'|'.join(after)})")
    return found


def _spelled(parts: Sequence[str | None], word: str = KEY) -> str:
    """Return the pattern of texts, and of a word for each None between them."""
    return SPACE.join(word if part is None else exact(part) for part in parts)


def closes_call(following: Following, *, begun: bool) -> str:
    """Return the pattern of a call's closer before the end of the turn or a further call; with `begun`, of its possible
    beginning."""
    first, *rest = _closing(following)
    others = following.unprefixed
    if begun:
        found = rf"{first}.{{0,{LONGEST_FOLLOW}}}\Z|{_beginning(following.closer[0] or '')}\Z"
        if others:
            found += rf"|{exact(others[0])}.{{0,{LONGEST_FOLLOW}}}\Z|{_beginning(others[0])}\Z"
        return f"(?s:{found})"
    # A bracket ends a section: values have such characters, too.
    brackets = [text for text in following.after if len(text) == 1 and text != following.section_end]
    ends = [exact(text) for text in following.after if text not in (*brackets, following.section_end)]
    over = f"(?:{'|'.join([*ends, chr(92) + 'Z'])})"
    sections = unique(text for text in (following.section_end, following.other_end, *brackets) if text)
    ends = [SPACE.join(map(exact, pieces_of(text))) for text in sections]
    section = f"(?:{'|'.join(ends)})" if len(ends) > 1 else "".join(ends)
    section = f"(?:{section}{SPACE})?" if section else ""
    after = [section + over]
    if following.next_call:
        after.append(_spelled(following.next_call, CALL_NAME))
    closer = SPACE.join([first, *rest])
    closer = f"(?:{closer}|{SPACE.join(map(exact, others))})" if others else closer
    return closer + SPACE + f"(?:{'|'.join(after)})"


def _beginning(text: str) -> str:
    """Return the pattern of the beginnings of a text."""
    tree = ""
    for char in reversed(text[1:]):
        tree = f"(?:{exact(char)}{tree})?"
    return exact(text[0]) + tree


def _blank(following: Following) -> str:
    """Return the pattern of exactly the white space that the template writes."""
    return r"\n" + INDENT if following.blank == "\n" else exact(following.blank)


def _at_once(following: Following, goes_on: str) -> str:
    """Return the pattern of an end of the turn directly after a value, also with the call's closer before it.  Before
    more text in its line, or a line that goes on with the call, an end is text of the value: the template writes what
    ends a value on a line of its own."""
    line_end = rf"(?=[^\S\n]*(?:\n|\Z))(?!\n{INDENT}(?:{goes_on}))" if following.blank == "\n" else ""
    last = "|".join([*(exact(text) + line_end for text in following.turn_ends), r"\Z"])
    if not following.closes:
        return last
    return f"{SPACE.join(_closing(following))}{SPACE}(?:{last})|{last}"


def _end_of_section(following: Following, *, over: bool) -> list[str]:
    """Return the pattern of the section's end before the end of the turn: there, the call's closer is missing."""
    last = [*map(exact, following.turn_ends), *([r"\Z"] if over else [])]
    shown = is_distinctive(following.section_end) and bool(following.closer) and bool(last)
    return [f"{exact(following.section_end)}{SPACE}(?:{'|'.join(last)})"] if shown else []


def _closing(following: Following) -> list[str]:
    """Return the patterns of the pieces of what closes the call.  The first doesn't match where it is only the
    beginning of what opens a pair: `###` in `#### key`."""
    patterns = [NAME if piece is None else exact(piece) for piece in following.closer]
    first, opener = (next(iter(parts), None) or "" for parts in (following.closer, following.pair))
    rest = opener.removeprefix(first) if first else ""
    if rest and rest != opener:
        patterns[0] += f"(?!{exact(rest)})"
    return patterns


def closer_before_end(close: str) -> str:
    """Return the pattern of a closer that counts only before what may follow it, with the white space before it."""
    lead = lead_of(close) if close.strip() else ""
    return (f"(?:{exact(lead)})?" if lead else "") + exact(close.strip())


def start_of(following: Following) -> str:
    """Return the pattern of text at the end of the input that may become such a text."""
    space = SPACE if following.lead != "blank" else ""
    # Where a key comes directly after a value, any character may begin it.
    first = f"[{in_class(following.starts)}]" if following.starts else "."
    return rf"(?s:{space}{first}.{{0,{LONGEST_FOLLOW}}}\Z|{SOME_SPACE}\Z)"
