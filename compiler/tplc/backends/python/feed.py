"""Print `feed`, the fast path for most text: it passes on chunks that no state has to examine.

Acceptor(calls=None, ends=("<end>",), …)
→
    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:
        if chunk.__class__ is not str:
            chunk = checked_text("chunk", chunk)
        if self._text_fast_path and "<" not in chunk and chunk != "":
            self._unaccounted.append(chunk)
            return [{self._open_kind: chunk}]
        return self._feed_slowly(chunk)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tplc.backends.python.literals import WIDTH, literal, texts
from tplc.lower import Acceptor
from tplc.lower.garbled_values import garbled_end_of_value
from tplc.lower.pairs import closes_lost_value
from tplc.lower.states import ends_of_reasoning, texts_at

MOST_PENDING = 12  # kinds of pending text that `feed` looks for
NOT_EMPTY = 'chunk != ""'  # twice as fast as the truth of a string


def feed(facts: Acceptor, tokens: Sequence[str] | None = None) -> list[str]:
    """Return the method `feed`, in which servers spend most of their time, so every test in it counts.

    `tokens`: those of markers, which are distinguished from text; if there are None, `special` has no effect.
    """
    lines = [
        "",
        *_signature(),
        '        """What is new with this chunk; `special`: see `parse`."""',
        "        if chunk.__class__ is not str:",
        '            chunk = checked_text("chunk", chunk)',
        "        # Most chunks are passed on as they came: no character of them could begin or end anything.",
    ]
    word, is_text = "if", " and not special" * (tokens is not None)
    chars = _ends_of_values(facts)
    if chars is not None:
        lines += [f"        if self._value_fast_path{is_text}:", *_feed_argument(facts, chars)]
        word = "elif"
    lines += _feed_text(facts, f"{word} self._text_fast_path{is_text}", tokens or ())
    if chars is not None and not _in_reader(facts):
        tests = ['self._open_kind == "value"', 'self._buf == ""', *["not special"] * bool(is_text)]
        lines += _condition(8, "elif", [*tests, *_contains_no_end(facts, chars), *_ends_inside(facts, chars)])
        lines += ["            self._unaccounted.append(chunk)", "            return []"]
    if chars is not None and _in_reader(facts):
        test = f"self._regular_fast_path is not None{' and special is None' * (tokens is not None)}"
        lines += [f"        if {test}:", "            return self._regular_fast_path(self, chunk)"]
    more = " if special is None else self._feed_special(chunk, special)" * (tokens is not None)
    return [*lines, f"        return self._feed_slowly(chunk){more}"]


def _signature() -> list[str]:
    return ["    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:"]


def _feed_text(facts: Acceptor, test: str, tokens: Sequence[str]) -> list[str]:
    """Return the tests for content and reasoning.  If words may be followed by pending text, `feed` itself handles
    that."""
    characters, ends = _marker_characters([*_markers_in_text(facts), *tokens])
    word, _, first = test.partition(" ")
    if not keeps_pending(facts, tokens):
        tests = _contains_no_marker(characters, ends)
        return [*_condition(8, word, [first, *tests]), *_pass_on(12, "{self._open_kind: chunk}")]
    by_length = {n: [end for end in sorted(ends) if len(end) == n] for n in sorted(set(map(len, ends)), reverse=True)}
    choices = [(f"-{n}", f"text[-{n}:] {_is_one_of(some)}") for n, some in by_length.items() if n > 1]
    sure = {end[-1] for end in ends if len(end) > 1} <= ends
    choices += [] if sure else [("-1", f"text[-1] {_is_one_of(by_length[1])}")]
    stop = "stop" if choices else "-1"
    return [
        f"        {test}:",
        '            text = self._buf + chunk if self._buf != "" else chunk',
        *_condition(
            12, "if", [*(f"{literal(character)} not in text" for character in sorted(characters)), 'text != ""']
        ),
        f"                if text[-1] in {literal(''.join(sorted({end[-1] for end in ends})))}:",
        "                    # White space before a marker belongs to it, and letters may begin one.",
        *(_chosen(20, "stop", choices, "-1" if sure else "len(text)") if choices else ()),
        f"                    self._buf, text = text[{stop}:], text[:{stop}]",
        '                    if text == "":',
        "                        return []",
        '                elif self._buf != "":',
        '                    self._buf = ""',
        "                self._unaccounted.append(text)",
        "                return [{self._open_kind: text}]",
    ]


def _chosen(indent: int, name: str, choices: Sequence[tuple[str, str]], other: str) -> list[str]:
    """Return the first value whose test holds, as formatters write that."""
    line = f"{' ' * indent}{name} = {' else '.join([*(f'{value} if {test}' for value, test in choices), other])}"
    if len(line) <= WIDTH:
        return [line]
    parts = [part for value, test in choices for part in (f"else {value}", f"if {test}")]
    parts = [parts[0].removeprefix("else "), *parts[1:], f"else {other}"]
    return [f"{' ' * indent}{name} = (", *(f"{' ' * indent}    {part}" for part in parts), " " * indent + ")"]


def _is_one_of(some: Sequence[str]) -> str:
    return f"== {literal(some[0])}" if len(some) == 1 else f"in {texts(some)}"


def keeps_pending(facts: Acceptor, tokens: Sequence[str] = ()) -> bool:
    """Return whether `feed` handles pending text: it occurs often inside text, and is of few kinds."""
    _, ends = _marker_characters([*_markers_in_text(facts), *tokens])
    return len(ends) <= MOST_PENDING and any(end.isprintable() for end in ends)


def _feed_argument(facts: Acceptor, chars: set[str]) -> list[str]:
    """Return the tests for text that goes into a string: unchanged, or escaped if possible.  Empty chunks are excluded,
    because "" is in any text."""
    usual = ["'\"' not in chunk", '"\\\\" not in chunk', "chunk.isprintable()"]
    if _in_reader(facts):
        usual.append(NOT_EMPTY)
        tests = [f"{literal(char)} not in chunk" for char in sorted(chars - {'"', "\\"})]
        in_string = ['chunk[-1:] not in "\\\\"', "IN_STRING.fullmatch(chunk)"]
        otherwise, passed = in_string if _in_json(facts) else [], "chunk"
    else:
        tests, otherwise, passed = _contains_no_end(facts, chars), _ends_inside(facts, chars), "escaped(chunk)"
    if not otherwise:
        return [*_condition(12, "if", [*tests, *usual]), *_pass_on(16, _argument("chunk"))]
    indent = 16 if tests else 12
    lines = [*_condition(indent, "if", usual), *_pass_on(indent + 4, _argument("chunk"))]
    lines += [*_condition(indent, "if", otherwise), *_pass_on(indent + 4, _argument(passed))]
    return [*_condition(12, "if", tests), *lines] if tests else lines


def _contains_no_end(facts: Acceptor, chars: set[str]) -> list[str]:
    """Return conditions: no end of a raw value can begin in the chunk, except in white space at its end."""
    pairs = facts.calls.pairs if facts.calls is not None else None
    if pairs is not None and pairs.value.guessed:
        # Any of them may begin what ends the value, white space among them.
        return [*_contains_no_marker(chars), "not chunk[-1:].isspace()"]
    return _contains_no_marker(filter(str.strip, chars), filter(str.isprintable, filter(str.isspace, chars)))


def _ends_inside(facts: Acceptor, chars: set[str]) -> list[str]:
    """Return conditions: no end of a raw value begins with white space or a backslash at the end of the chunk, or with
    a line in it.

    Usual text contains none of these, so only other text is asked about them.
    """
    pairs = facts.calls.pairs if facts.calls is not None else None
    spaces = "".join(sorted(char for char in chars if char.isspace() and not char.isprintable()))
    lines = pairs is not None and bool(pairs.value_end.next_unopened)
    begins = ['(self._next_lines == "" or not self._may_begin_pair(chunk))'] * lines
    spaces = (spaces or "\n") + "\\" * (garbled_end_of_value(facts) is not None)
    return [f"chunk[-1:] not in {literal(spaces)}", *begins]


def _pass_on(indent: int, delta: str) -> list[str]:
    return [" " * indent + "self._unaccounted.append(chunk)", " " * indent + f"return [{delta}]"]


def _argument(text: str) -> str:
    return f'{{"tool_calls": [{{"index": self._out.index, "function": {{"arguments": {text}}}}}]}}'


def _contains_no_marker(characters: Iterable[str], ends: Iterable[str] = ()) -> list[str]:
    """Return conditions: the chunk is not empty, contains none of the characters, and ends with none of `ends`."""
    tests = [*(f"{literal(character)} not in chunk" for character in sorted(characters)), NOT_EMPTY]
    # An end that another ends with is found by that.
    last = [end for end in sorted(ends) if not any(end != other and end.endswith(other) for other in ends)]
    if len(last) == 1 and len(last[0]) == 1:  # mostly it is not in there at all
        return [*tests, f"({literal(last[0])} not in chunk or chunk[-1] != {literal(last[0])})"]
    return tests + [f"not chunk.endswith({texts(last)})"] * bool(last)


def _in_reader(facts: Acceptor) -> bool:
    """Return whether arguments are values of a dialect with quotes."""
    return facts.calls is not None and (facts.calls.pairs is None or facts.calls.pairs.value.quoted)


def _in_json(facts: Acceptor) -> bool:
    """Return whether arguments are passed on unchanged, because their strings are JSON's."""
    styles = facts.calls.arguments.styles if facts.calls is not None else None
    usual = {style.strings[0] if style.strings else ("", "", "") for style in styles or ()}
    return _in_reader(facts) and usual == {('"', '"', "json")}


def _condition(indent: int, word: str, tests: Sequence[str]) -> list[str]:
    line = f"{word} {' and '.join(tests)}:"
    lines = [line]
    if indent + len(line) > 120:
        lines = [f"{word} (", f"    {tests[0]}", *(f"    and {test}" for test in tests[1:]), "):"]
    return [" " * indent + line for line in lines]


def _marker_characters(markers: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the characters that occur only in text with a marker, and the texts with which text without a marker
    doesn't end.

    A marker that begins with a letter is found by its first character that words don't contain, or as a whole word, and
    at the end of the text by the letters before that character, with the white space of markers before them.
    """
    characters: set[str] = set()
    begun, spaces = {""}, {""}
    for marker in filter(str.strip, markers):
        core = marker.strip()
        word = re.match(r"\w*", core)[0]  # type: ignore[index]
        rare = core[len(word) :][:1].strip()
        characters.add(rare or word)
        begun |= {word[:n] for n in range(1, len(word) + bool(rare))}
        lead = marker[: marker.index(core)]
        spaces |= {lead[i:j] for i in range(len(lead)) for j in range(i + 1, len(lead) + 1)}
    characters = {
        character for character in characters if not any(other in character for other in characters - {character})
    }
    return characters, {space + part for space in spaces for part in begun} - {""}


def _ends_of_values(facts: Acceptor) -> set[str] | None:
    """Return the characters at which a value must be examined."""
    calls = facts.calls
    if calls is None:
        return None
    if calls.pairs is None or calls.pairs.value.quoted:
        return {'"', "\\"} | {style.strings[0][1][0] for style in calls.arguments.styles or () if style.strings}
    pairs = calls.pairs
    if pairs.value_end.around_key is not None and not pairs.value_end.around_key[0].strip():
        return None  # a value's closer begins with its key
    ends = [*pairs.value_end.closers, *(pairs.value_end.around_key or ())[:1], *(pairs.value.wrap or ())[1:]]
    ends += [text for wrap in pairs.value.wraps for text in (*wrap.ends, *(wrap.around_key or ())[:1])]
    ends += pairs.value.items[1:] if pairs.value.items else ()
    ends += (
        (*pairs.value_end.next_pair[0], *calls.innermost_breaks)
        if pairs.value_end.next_pair and not pairs.value.items
        else ()
    )
    garbled, lost = garbled_end_of_value(facts), closes_lost_value(pairs, facts.tolerances)
    ends += garbled.first_chars if garbled is not None else ""
    ends += filter(None, lost.closer[:1]) if lost is not None else ()
    starts = pairs.value_end.following.starts + (
        pairs.value_end.bare.starts if pairs.value_end.bare is not None else ""
    )
    if pairs.value.guessed and not starts:
        return None  # a key comes directly after a value
    return {char for end in ends for char in _first(end)} | set(starts if pairs.value.guessed else "")


def _markers_in_text(facts: Acceptor) -> list[str]:
    """Return all markers that end or interrupt content or reasoning."""
    calls = facts.calls
    markers = [*facts.reasoning_ends, *facts.ends, *facts.last_ends]
    markers += [*texts_at(facts.reasoning_starts, "anywhere"), *texts_at(facts.ignorable_closers, "anywhere")]
    markers += [*texts_at(facts.content_starts, "anywhere"), *facts.content_ends, *facts.headers]
    markers += (*calls.opening.openers, *calls.opening.ordinary, *calls.opening.short) if calls is not None else ()
    return [*markers, *(text for _, texts in ends_of_reasoning(facts) for text in texts)]


def _first(marker: str) -> str:
    core = marker.strip()
    return marker[: marker.index(core)] + core[:1]
