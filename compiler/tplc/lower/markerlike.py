r"""Texts that are like a marker: the letters of one in any brackets, and the brackets of markers by themselves.

    "<muse>", "</muse>"  →  a pattern of `＜muse`, `</ MUSE`, `<|muse`; "<" begins markers, ">" ends them
    "<|muse|>"           →  also of `<|other|>`, a word between the same brackets

A parser leaves such a text in the message if nothing shows that it is a marker, and reports it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tplc.ir.markers import is_distinctive, is_unmistakable, pieces_of
from tplc.lower.acceptor import Acceptor, markers_of
from tplc.lower.call_form import CallForm, PairForm
from tplc.lower.garbled import SHORT, WORDS, in_other_brackets
from tplc.lower.layouts import unique
from tplc.lower.lexemes import NOTHING, exact, in_class, is_respelled, respelling, truncated_pattern
from tplc_runtime.pattern import LEAST_CUT
from tplc_runtime.second import ARGUMENT_KEYS, NAME_KEYS

SPACE_IN_LINE = r"[^\S\n]"
DOUBLED_QUOTES = r"""(?<=: )"(?:''|(?:\\"){2})"""
# White space, quotes, a comma, a bracket without its opening one, and typographic quotes around all of a value.
GUESSED_EDGES = (
    DOUBLED_QUOTES + r"""|(?<=: )"(?:\s|\\n)|(?:\s|,|\\n|(?<!\\)\\")"(?=[,}])"""
    r"""|(?<=: ")(?:[^"(]*\)|[^"\[]*\]|“[^"”]*”|‘[^"’]*’)"(?=[,}])"""
)
_CLOSING = frozenset(">]}»】⟩＞")
_OTHER_BRACKET = {"<": r"(?:[<＜\[]|&lt;)", ">": r"(?:[>＞\]]|&gt;)", "[": r"(?:[<\[]|&lt;)", "]": r"(?:[>\]]|&gt;)"}
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
_MARKUP = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_WORD_OF_ROLE = re.compile(r"[^\W\d_]{3,}")
_INSIDE = frozenset("#.^~@*+%$&")  # what markers have between a bracket and their letters
# Brackets of at least two characters around words: hardly any text that is no marker has them.
_BETWEEN_BRACKETS = re.compile(r"([^\w\s]{2,4})\w(?:.*\w)?([^\w\s]{2,4})", re.DOTALL)
_KEY = re.compile(r"""["'](\w+)["']\s*:""")
_WITH_SPACE = re.compile(r"[<\[【«][^>\]】»]*\s[^>\]】»]*[>\]】»]")


@dataclass(frozen=True, slots=True)
class MarkerLikeTexts:
    """Patterns of a text like a marker: `text` finds one, `edge` a bracket of markers at the edge of a text,
    and `value` either of them at the edge of a string in arguments, if values are raw text.  `alone`: the same as
    `edge`, if content is next to a marker even where it is all of the message."""

    text: str
    edge: str
    value: str
    alone: tuple[str, ...] = ()


def marker_like_texts(acceptor: Acceptor) -> MarkerLikeTexts | None:
    """Return what is like a marker of the format.

    None if there is no such text, or nothing but content, no marker has brackets and a word, and neither the turn's
    header nor its end is one that people write as well.
    """
    pieces = unique(_from_bracket(piece) for text in markers_of(acceptor) for piece in pieces_of(text))
    long = tuple(core for core in pieces if is_respelled(core) and WORDS.search(core) is not None)
    short = tuple(core for core in pieces if core not in long and SHORT.fullmatch(core))
    at_edges, value = list(_at_edges(acceptor)), _value_edges(acceptor)
    respelled = unique(respelling(core) for core in (*short, *_in_own_brackets(acceptor)))
    text = "|".join(
        [*([_with_other_brackets(long)] if long else []), *respelled, *_other_words((*long, *acceptor.ends))]
    )
    in_text = "|".join([*[text] * bool(text), *_damaged(long)])
    anywhere = "|".join([*([rf"(?:{in_text})(?=\w|\n|\s\s|\Z)"] if in_text else []), *at_edges]) or NOTHING
    starts = list(_rests_of_content_starts(acceptor))
    if not long and not short:
        edge, again = ("|".join(texts) or NOTHING for texts in (_left_over(acceptor), _opened_again(starts)))
        ends_in_words = any(text.strip()[:1].isalnum() for text in acceptor.last_ends)
        is_plain = acceptor.calls is None and not (acceptor.reasoning_ends or acceptor.prose_headers or ends_in_words)
        found = {anywhere, edge, value, again} != {NOTHING} and not (is_plain and not starts)
        return MarkerLikeTexts(anywhere, edge, value, (again,) * bool(starts)) if found else None
    first = in_class(sorted({core[0] for core in (*long, *short)}))
    last = in_class(sorted({core[-1] for core in (*long, *short)} & _CLOSING)) or ">"
    # Brackets in pairs, a bracket next to white space, and a marker in a sentence are more likely text.
    edges = [rf"\A[{last}](?!{SPACE_IN_LINE}\S)", rf"\A[^{first}]*[{last}]\Z"]
    edges += [rf"\A[{first}][^{last}]*\Z", rf"(?<![^\s{first}]{SPACE_IN_LINE})[{first}]\Z"]
    alone = ("|".join([*edges, *_opened_again(starts)]),) if starts else ()
    pairs = acceptor.calls.pairs if acceptor.calls is not None else None
    if pairs is not None and not pairs.value.quoted:
        # Quotes of lists are not at the edges of a raw value.
        value += rf'|(?<=: )"(?:[{last}]|\\r\\n)|(?:(?:{text})(?:\\n)?|[{first}]|\\r)"(?=[,}}])'
        value += _opener_in_value(pairs)
    return MarkerLikeTexts(anywhere, "|".join([*edges, *_left_over(acceptor)]), value, alone)


def _in_own_brackets(acceptor: Acceptor) -> Iterator[str]:
    """Yield the markers that a text is like only in their own brackets: ends of the turn, and those with white space
    between the brackets."""
    for core in map(str.strip, acceptor.ends):
        if is_unmistakable(core) and (is_respelled(core) or SHORT.fullmatch(core)):
            yield core
    for core in map(_from_bracket, filter(None, map(str.strip, markers_of(acceptor)))):
        if is_respelled(core) and _WITH_SPACE.fullmatch(core):
            yield core


def _value_edges(acceptor: Acceptor) -> str:
    """Return the pattern of what a raw value seldom begins or ends with: the first piece of its closer, or punctuation
    of the call where the end of a value is guessed."""
    calls = acceptor.calls
    if calls is None:
        return NOTHING
    pairs, strings = calls.pairs, calls.arguments.styles[0].strings if calls.arguments.styles else ()
    # A string that contains the delimiter of another one lacks its own.
    delimiters = [_in_json(strings[0][0])] if strings and strings[0][2] == "none" and len(strings[0][0]) > 1 else []
    if pairs is None or pairs.value.quoted:
        quotes = [DOUBLED_QUOTES] if pairs is not None and strings and strings[0][2] == "none" else []
        return "|".join([*quotes, *delimiters]) or NOTHING
    unclosed = [*_unclosed_pair(pairs)] or [*_opened_in_itself(pairs)]
    if pairs.value_end.around_key is not None:
        return "|".join([exact(json.dumps(pairs.value_end.around_key[0].strip(), ensure_ascii=False)[1:]), *unclosed])
    return "|".join([GUESSED_EDGES] * pairs.value.guessed + unclosed) or NOTHING


def _unclosed_pair(pairs: PairForm) -> Iterator[str]:
    """Yield the pattern of a value, as JSON, that contains the beginning of another pair, and no closer after it."""
    opens, closers = (
        [_in_json(text.strip()) for text in texts if is_distinctive(text)]
        for texts in (pairs.opens, pairs.value_end.closers or (pairs.value_end.around_key or ())[:1])
    )
    ends_key = _end_of_key(pairs)
    if opens and closers and ends_key:
        opener, other = "|".join(opens), "|".join([*opens, *closers])
        yield rf'(?:{opener})[\w.-]{{1,64}}{_in_json(ends_key)}(?=(?:(?!{other})(?:[^"\\]|\\.))*"[,}}])'


def _opened_in_itself(pairs: PairForm) -> Iterator[str]:
    """Yield the pattern of a member whose raw value contains the opener of the same argument, not closed after it: the
    call begins again there."""
    ends_key = _end_of_key(pairs)
    around, openers = pairs.value_end.around_key, [_in_json(text.strip()) for text in pairs.opens if text.strip()]
    closers = [text.strip() for text in (around or ())[:1] or pairs.value_end.closers if is_distinctive(text) or around]
    if not (ends_key and (openers or pairs.value.guessed) and (closers or pairs.value.guessed)):
        return
    opener = rf"(?:{'|'.join(openers)})" if openers[1:] else "".join(openers) or r"\w\("
    end, again = '"(?:, "|})', f"{opener}(?P=k){_in_json(ends_key)}"
    others = (
        [again, *(f"{_in_json(text)}(?P=k)" for text in closers)] if around else [*openers, *map(_in_json, closers)]
    )
    over = "|".join([end, *others])
    yield rf'"(?P<k>[^"]+)": "(?:(?!{end}).)*?{again}(?:(?!{over}).)*{end}'


def _end_of_key(pairs: PairForm) -> str:
    return pairs.slots[0].suffixes[0].strip() if pairs.slots and pairs.slots[0].kind == "key" else ""


def _in_json(text: str) -> str:
    return exact(json.dumps(text, ensure_ascii=False)[1:-1])


def damaged_arguments(acceptor: Acceptor) -> str | None:
    """Return the pattern of arguments, as JSON, with what a slip in the markers next to a raw value leaves in it; None
    if values have no such markers."""
    pairs = acceptor.calls.pairs if acceptor.calls is not None else None
    if pairs is None or pairs.value.quoted or not pairs.slots:
        return None
    return "|".join([*_at_edges_of_values(pairs), *(f".*?{text}" for text in _opened_in_itself(pairs))]) or None


def _at_edges_of_values(pairs: PairForm) -> Iterator[str]:
    """Yield the pattern of what such a slip leaves at the edges of a value, unless the opener of a pair shows that a
    value quotes whole pairs."""
    if pairs.value.guessed:
        return
    several = len(pairs.opens) if pairs.types_open_pairs else 1
    value_end = pairs.value_end
    ends = [text.strip() for text in (value_end.around_key or value_end.closers or (value_end.close,))[:several]]
    if not all(ends) or not (value_end.around_key or all(map(is_unmistakable, ends))):
        return
    last = "".join(pairs.slots[-1].suffixes[:1]).strip()[-1:]
    texts = [json.dumps(text + line, ensure_ascii=False)[1:] for text in ends for line in ("", "\n")]
    # A bracket after white space, and one alone, are more likely a comparison.
    firsts = unique(text[0] for text in ends)
    over = [rf'(?<=[^\s"]{exact(char)}")' for char in firsts if char not in _OPENING]
    over += [f"(?<={exact(text)})" for text in texts]
    over += [r'(?<=[^\\]\\r")'] * ("\n" in pairs.value_end.close)
    bracket = rf"|{exact(last)}[^\W\d]" if last and last in _CLOSING else ""
    begins = rf'|(?<=: ")(?:\\r\\n{bracket})' + _opener_in_value(pairs)
    # A value may end with a bracket that it opens.
    others = ((exact(char), exact(_OPENING[char])) for char in firsts if char in _OPENING)
    begins += "".join(rf'|(?<=: ")(?:[^"\\{first}]|\\.)*[^\s"\\{first}]{char}(?="[,}}\]])' for char, first in others)
    openers = [text.strip() for text in pairs.opens[:several] if text.strip() not in ends[0]]
    quoted = [_in_json(opener) for opener in openers]
    unquoted = "".join(f"(?!.*{opener})" for opener in quoted)
    yield rf'{unquoted}.*?"(?:(?:{"|".join(over)})(?=[,}}\]]){begins})'


def end_of_cut_values(calls: CallForm) -> str:
    """Return the marker that ends calls, if nothing else ends their raw values: where it comes again after a call, a
    value that contained it was cut.  "" if there is none."""
    pairs = calls.pairs
    if pairs is None or not pairs.value.guessed or pairs.value.literals or pairs.value_end.following.close:
        return ""
    return next(filter(is_unmistakable, calls.closing.last_pieces), "")


def own_keys(calls: CallForm) -> tuple[str, ...]:
    """Return the keys that the template writes before parts of a call, except that of arguments in an object."""
    header = [text for slot in calls.header for text in slot.suffixes]
    tail = [calls.tail[0], *(text for slot in calls.tail[1] for text in slot.suffixes)] if calls.tail else []
    written = (key for text in (*calls.opening.openers, *header, *tail) for key in _KEY.findall(text))
    fields = (path[-1] for path, role in (*calls.object.fields, *calls.object.wrapped) if role != "arguments")
    return unique([*fields, *written])


def own_fields(calls: CallForm) -> dict[str, str]:
    """Return the fields of call objects that the format names as no other does, with their usual names."""
    usual = {"name": NAME_KEYS, "arguments": ARGUMENT_KEYS}
    named = {
        path[-1]: role
        for path, role in (*calls.object.fields, *calls.object.wrapped)
        if path != ("*",) and role in usual
    }
    return {key: role for key, role in named.items() if key not in usual[role]}


def _opener_in_value(pairs: PairForm) -> str:
    """Return one more choice of a pattern: a value begins with the marker between a key's end and its value.  "" if
    there is no such marker."""
    pieces = pieces_of(pairs.slots[-1].suffixes[0]) if pairs.slots else []
    opener = pieces[-1] if len(pieces) > 1 and is_unmistakable(pieces[-1]) else ""
    return rf'|(?<=: ")(?:\\[nr]| ){{0,8}}{_in_json(opener)}' if opener else ""


def _at_edges(acceptor: Acceptor) -> Iterator[str]:
    """Yield the patterns of a header at the start of a text, where it may be the answer's, and of ends of the turn at
    its end, also truncated."""
    for header in acceptor.prose_headers:
        yield rf"\A\s*{exact(header.strip())}"
    for header in map(str.strip, (*acceptor.headers[:1], *acceptor.prose_headers)):
        plain = _WORD_OF_ROLE.findall(_MARKUP.sub(" ", header))  # the role may be between markers, or in one
        word = (plain or _WORD_OF_ROLE.findall(header) or [""])[-1]
        if word:
            rest, line = header.rpartition(word)[2].strip(), rf"{SPACE_IN_LINE}*\n"
            yield rf"\A\s*{exact(word)}" + (rf"(?:{exact(rest)}|{line})" if rest else line)
    texts = unique(text.strip() for text in (*acceptor.ends, *acceptor.last_ends))
    ends = [text for text in texts if is_unmistakable(text)]
    if ends:
        yield rf"(?:{'|'.join([*map(exact, ends), *_damaged(ends)])})\s*\Z"
        yield truncated_pattern(ends, least=2)
    # Others begin in text as well: three characters of one, with a letter after its punctuation, or after a sentence's.
    others = truncated_pattern([text for text in texts if text not in ends], least=LEAST_CUT)
    if others != NOTHING:
        yield rf"(?:(?=[\W_]{{1,8}}[^\W_])|(?<=[.!?])(?=\w)){others}"


def _with_other_brackets(cores: Sequence[str]) -> str:
    """Return the pattern of markers with the right letters."""
    brackets = in_class(sorted({*(core[0] for core in cores), "<", "＜"}))
    own = in_class(sorted(set("".join(cores)) & _INSIDE))
    # What follows the first closing bracket, `=` or quote differs between outputs.
    first = (re.split(r"[>\]}»】⟩=\"']", core, maxsplit=1)[0] for core in cores)
    tags = in_other_brackets(first, brackets, rf"\s{brackets}/\\|｜!:{own}")
    return tags + r"(?:\s?[^\w\s\"\\]){0,4}"


def _damaged(cores: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of markers with brackets that are square, escaped for HTML or, with other punctuation next to
    them, missing at the beginning, or with backslashes.  A word in its brackets alone could be text."""
    inside: dict[tuple[str, str], list[str]] = {}
    for core in cores:
        if core[0] in _OTHER_BRACKET and core[-1] in _OTHER_BRACKET and not core[1:-1].isalnum():
            opening = _OTHER_BRACKET[core[0]] + "?" * (not core[1].isalnum())
            chars = (exact(char) if char.isalnum() else r"\\?" + exact(char) for char in core[1:-1])
            inside.setdefault((opening, _OTHER_BRACKET[core[-1]]), []).append("".join(chars))
    for (opening, closing), texts in inside.items():
        yield rf"(?<![\w<\[]){opening}(?:{'|'.join(unique(texts))}){closing}(?!\()"


def _other_words(cores: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of other words between the brackets of these markers: tokens that the template doesn't
    write."""
    found = filter(None, map(_BETWEEN_BRACKETS.fullmatch, cores))
    return unique(rf"{exact(match[1])}/?\w(?:[\w ▁:.-]{{0,46}}\w)?{exact(match[2])}" for match in found)


def _from_bracket(core: str) -> str:
    """Return a marker from the last bracket on that makes it recognisable, or all of it if there is none."""
    rests = (core[at:] for at in range(len(core) - 1, -1, -1) if core[at] in "<[【«")
    return core if is_respelled(core) else next(filter(is_respelled, rests), core)


def _left_over(acceptor: Acceptor) -> Iterator[str]:
    """Yield the patterns of what is left at the edges of a text next to calls or reasoning: the end of reasoning, a
    closing bracket, one fence, its language."""
    for end in unique(text.strip() for text in acceptor.reasoning_ends if not is_respelled(text.strip())):
        yield rf"\A\s*{exact(end)}|{exact(end)}\s*\Z"
    yield from _opened_again([*(one.text for one in acceptor.reasoning_starts), *_rests_of_content_starts(acceptor)])
    for text in map(str.strip, acceptor.content_ends):
        if len(text) >= LEAST_CUT:
            yield rf"{exact(text)}\s*\Z"
    if acceptor.calls is not None:
        closers = map(str.strip, filter(is_distinctive, acceptor.calls.closing.closers))
        others = (text for text in closers if not is_respelled(text))  # those that may be are reported anywhere
        known = unique([*map(str.strip, acceptor.calls.opening.openers), *others])
        texts = [text for text in known if len(text) >= LEAST_CUT]
        # What ends with another one is found by it.
        found = [exact(text) for text in texts if not any(text != one and text.endswith(one) for one in texts)]
        if found:
            yield rf"(?:{'|'.join(found)})\s*\Z"
        closing = set("".join(acceptor.calls.closing.closers))
        if closing & {"]", "}"}:
            yield r"\A[^\[{]*[\]}]\s*\Z"
        if "`" in closing:
            yield r"\A(?:(?!```).)*```\s*\Z"
        yield r"\A\s*(?:[}\])]|```(?!.*```)|(?:``|```\w*\s*```)(?!`)|(?i:json):?\s*\Z|[\x22\x27]{2}\s*\Z)|[\[{(]\Z"
        yield from _truncated_after_calls(acceptor, acceptor.calls)


def _rests_of_content_starts(acceptor: Acceptor) -> Iterator[str]:
    """Yield the openers of content, and what is left of them after a prompt that ends with their beginning."""
    for start in acceptor.content_starts:
        yield from (start.text.removeprefix(head) for head in ("", *filter(start.text.startswith, acceptor.heads)))


def _opened_again(texts: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of these openers at the start of a text, which was opened before."""
    for text in unique(texts):
        core, line = text.strip(), rf"{SPACE_IN_LINE}*\n" * text.rstrip(" ").endswith("\n")
        if len(core) > 1 or not core.isascii():
            yield rf"\A\s*{exact(core)}{line}"


def _truncated_after_calls(acceptor: Acceptor, calls: CallForm) -> Iterator[str]:
    """Yield the patterns of truncated markers that are all of a text: a closer of calls, and the letters of an end of
    the turn; and of a closer with its name, but without its own letters."""
    # Of closers in brackets, any part is reported as it is.
    closers = [
        text for text in map(str.strip, calls.closing.closers) if text and not (text[0].isalnum() or text[0] in "<[【«")
    ]
    ends = [text for text in map(str.strip, (*acceptor.ends, *acceptor.last_ends)) if text[:LEAST_CUT].isalnum()]
    for texts, least in ((closers, 2), (ends, LEAST_CUT)):
        pattern = truncated_pattern(texts, least=least)
        if pattern != NOTHING:
            yield rf"\A\s*{pattern}"
    punctuation = re.sub(r"\w+", "", calls.tail[0].strip()) if calls.tail is not None else ""
    if len(punctuation) > 1:
        yield rf"\A\s*{exact(punctuation)}\w"
