"""Arguments that are pairs of key and value: what opens a pair, where its slots end, what comes between pairs.

"<~field=" key ">" value "</~field>"  →  opens: "<~field="; the key ends at ">", the value at "</~field>"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from tplc.ir.markers import is_bracketed, is_distinctive, lead_of, pieces_of
from tplc.ir.nodes import Dialect, Layout, PairArguments, Slot, StringStyle, TemplateIR, Tools, TypeWord
from tplc.ir.spellings import spelling_of
from tplc.lower.call_form import Following, PairForm, PairValue, SlotEnd, TypeWrap, ValueEnd
from tplc.lower.following import ValueContext, following_of
from tplc.lower.garbled import in_other_brackets
from tplc.lower.layouts import merged, not_blank, text_at, unique
from tplc.lower.lexemes import MAX_INNER_SPACE, Lexemes, exact, in_class, is_respelled, lexemes_of
from tplc.lower.slots import stops_of
from tplc.lower.tolerated import Tolerated
from tplc_runtime.scanner import ANY_WORD

QUOTES = ("'", '"')
TYPOGRAPHIC = {"'": "'‘", '"': '"“'}
WORDS = re.compile(r"\w[\w.-]*(?: \w[\w.-]*)*")  # in a line
SYMBOLS = "$@#%&~!?*+/^"  # a key may begin with one, as in `$ref`


def pairs_of(
    ir: TemplateIR, pairs: PairArguments, closing: tuple[str, ...], next_call: Sequence[str], tolerated: Tolerated
) -> PairForm:
    """Return the form of pairs; `closing`: the texts after them; `next_call`: those that close and open a call."""
    tools, dialect, layout = ir.tools, _dialect(ir.tools), merged(pairs.pair)
    openers, close, around_key = _around_value(layout, dialect.types if pairs.types_open_pairs else ())
    repeats, wraps = around_key is not None, _wraps_of(dialect, pairs, around_key, tolerated.texts(close))
    slots = _slot_ends(_before_value(layout, wrapped=bool(wraps)), tolerated)
    context = _context(ir, pairs, (close, openers[0]), slots, closing, tolerated)
    guessed = not repeats and _is_guessed(context, close, wraps)
    quoted = _are_quoted(tools)
    raw = not (guessed or quoted or dialect.elements)
    slots, context, bare = _with_literals(slots, context, python=guessed and "python_literals" in tolerated.kinds)
    opens = not_blank(text for one in openers for text in tolerated.texts(one))
    next_pair = _next_pair(context, slots, wraps, tolerated) if raw and not repeats else None
    following = [text for text in next_call if not _is_pair(text, opens, context.key_end)]
    between = _between(context, slots, _comma(context, tolerated), opens, [*following, *ir.turn.ends], repeats=repeats)
    value_end = ValueEnd(
        close=close,
        closers=_value_ends(tolerated.texts(close), wraps) if not guessed and not quoted else (),
        around_key=around_key,
        following=replace(following_of(context, guessed=guessed), after_key=(around_key or ("", ""))[1].strip()),
        bare=bare,
        next_pair=next_pair,
        next_unopened=_next_unopened(next_pair) if "other_forms" in tolerated.kinds else "",
        marks=() if not raw else _marks(between, opens or [context.key_end], close.strip() * (not repeats)),
        usual=() if repeats or wraps else _usual_ends(pairs, close, openers[0], closing),
    )
    return PairForm(
        start=pairs.start,
        separator=pairs.separator,
        end=pairs.end,
        empty=pairs.empty,
        pair=layout,
        opens=opens,
        slots=slots,
        value=_value_of(tools, context, slots, wraps, tolerated, guessed=guessed),
        value_end=value_end,
        between=between,
        replaced=() if repeats else tools.replacements("key"),  # a closer that repeats the key has it as it was written
        resumes=bool(opens) and all(_resumes(text.strip(), between) for text in opens),
    )


def _value_of(
    tools: Tools,
    context: ValueContext,
    slots: Sequence[SlotEnd],
    wraps: tuple[TypeWrap, ...],
    tolerated: Tolerated,
    *,
    guessed: bool,
) -> PairValue:
    dialect = _dialect(tools)
    elements = dialect.elements
    return PairValue(
        quoted=_are_quoted(tools),
        json=bool(dialect.top.strings) and not _are_quoted(tools),
        guessed=guessed,
        words=_words(dialect, tolerated),
        types=() if wraps else _type_words(tools),
        wrap=_around(dialect.wrap),
        items=None if elements is None else (elements.item_open, elements.item_close),
        wraps=wraps,
        spaced=guessed and "whitespace" in tolerated.kinds and _is_spaced(slots, dialect),
        nested_quotes=_nested_quotes(dialect),
        literals=_literal_quotes(context, tolerated) if guessed else "",
        escapes=tuple((slot, *one) for slot in ("value", "string", "literal") for one in tools.replacements(slot)),
    )


def _are_quoted(tools: Tools) -> bool:
    """Return whether strings are in quotes, which are no part of a text that is escaped."""
    return bool(_dialect(tools).top.strings) and not tools.replacements("value")


def _words(dialect: Dialect, tolerated: Tolerated) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the words for true, false and null, apart from those that are raw values of strings only."""
    top, words = dialect.top, spelling_of(dialect.top, also_python="python_literals" in tolerated.kinds).words
    is_text = [not top.strings and word not in (top.true, top.false, top.null) for word, _ in words]
    own, others = (
        [word for word, other in zip(words, is_text, strict=True) if other == text] for text in (False, True)
    )
    return tuple(own), tuple(others)


def _dialect(tools: Tools) -> Dialect:
    assert tools.dialect is not None
    return tools.dialect


def _context(
    ir: TemplateIR,
    pairs: PairArguments,
    around: tuple[str, str],
    slots: Sequence[SlotEnd],
    closing: tuple[str, ...],
    tolerated: Tolerated,
) -> ValueContext:
    """Return what is around values; `around`: the texts after a pair and before it."""
    key_end = slots[0].suffixes[0] if slots else ""  # a type may follow it
    after_calls = (*ir.turn.ends, *tolerated.declared("tools.section_end"))
    return ValueContext(ir.tools, pairs, *around, key_end.strip() or key_end[:1], closing, after_calls)


def _value_ends(closers: tuple[str, ...], wraps: Sequence[TypeWrap]) -> tuple[str, ...]:
    """Return the closers of a bare value; if pairs have no closer of their own, the closers of wrapped values."""
    return not_blank(closers) or unique(text for wrap in wraps for text in wrap.ends)


def _usual_ends(pairs: PairArguments, close: str, opened: str, closing: Sequence[str]) -> tuple[str, ...]:
    """Return the usual texts from a value's closer on, up to the next key or to before the end of the call's closer."""
    again = close + pairs.separator + opened if opened.strip() else ""
    over = close + pairs.end + "".join(closing[:1]).rstrip()
    return not_blank((again, over[:-1] if closing else "")) if close.strip() else ()


def _wraps_of(
    dialect: Dialect, pairs: PairArguments, around_key: tuple[str, str] | None, closers: Sequence[str]
) -> tuple[TypeWrap, ...]:
    """Return the texts around values that depend on their type, the longest opener first, and bare values last."""
    open_pairs, before = pairs.types_open_pairs, text_at(merged(pairs.pair), 0)
    types: dict[tuple[str, str], list[str]] = {}
    for word in dialect.types:
        types.setdefault((word.word, word.close), []).append(word.type)
    if not (open_pairs or any(close for _, close in types)):
        return ()
    found = []
    for (opened, close), kinds in sorted(types.items(), key=lambda item: -len(item[0][0])):
        ends = tuple(close + closer for closer in closers) if (close or open_pairs) and around_key is None else ()
        around = (close + around_key[0], around_key[1]) if close and around_key is not None else None
        found.append(TypeWrap(before * open_pairs + opened, close, tuple(kinds), ends, around))
    return tuple(found)


def _around_value(layout: Layout, types: Sequence[TypeWord]) -> tuple[tuple[str, ...], str, tuple[str, str] | None]:
    """Return the texts that open a pair, the text after its value, and that text up to the key and after it, if the key
    comes there again.  `types`: those whose texts open pairs."""
    at = layout.index(Slot("value"))
    close = text_at(layout, at + 1)
    repeats = Slot("key") in layout[at + 2 : at + 3]
    openers = unique(text_at(layout, 0) + word.word for word in types) or (text_at(layout, 0),)
    return openers, close, (close, text_at(layout, at + 3)) if repeats else None


def _around(style: StringStyle | None) -> tuple[str, str] | None:
    """Return the texts around a raw value that could not be bare; a JSON string is a literal."""
    return (style.open, style.close) if style is not None and style.escape != "json" else None


def _is_guessed(context: ValueContext, close: str, wraps: Sequence[TypeWrap]) -> bool:
    """Return whether only the text after a raw value shows that it ends."""
    tools, dialect = context.tools, _dialect(context.tools)
    # What are JSON strings if they could not be bare ends before what may follow a value.
    if dialect.wrap is not None and dialect.wrap.escape == "json":
        return True
    # No value contains a closer whose characters are always escaped.
    escaped = any(char in close for _, char in tools.replacements("value"))
    all_wrapped = bool(wraps) and all(wrap.close for wrap in wraps)
    # A value may contain its closer, and where keys look like text as well, only a whole key after it shows more.
    marked = is_distinctive(close) or is_bracketed(close)
    marked = marked and bool(context.opened.strip() or is_distinctive(context.key_end))
    return not (_are_quoted(tools) or all_wrapped or marked or escaped)


def _before_value(layout: Layout, *, wrapped: bool) -> Layout:
    """Return the slots before the value with the texts after them, and the text before them if no type opens pairs."""
    before = layout[: layout.index(Slot("value"))]
    if not wrapped:
        return before
    return before[:-1] if before[-1] == Slot("type") else before[before.index(Slot("key")) :]


def _slot_ends(layout: Layout, tolerated: Tolerated) -> tuple[SlotEnd, ...]:
    """Return the end of each slot before the value."""
    after = ((item, text_at(layout, index + 1)) for index, item in enumerate(layout))
    return tuple(
        SlotEnd(item.kind, tolerated.texts(text), stops=stops_of(text))
        for item, text in after
        if isinstance(item, Slot)
    )


def _with_literals(
    slots: tuple[SlotEnd, ...], context: ValueContext, *, python: bool
) -> tuple[tuple[SlotEnd, ...], ValueContext, Following | None]:
    """Return the slots, the context and the texts after a value without quotes, for keyword calls: models write any
    literal of Python there."""
    quote = context.close.strip()
    if not python or quote not in QUOTES or context.key_end != "=" + quote:
        return slots, context, None
    slots = (*slots[:-1], replace(slots[-1], suffixes=(*slots[-1].suffixes, "=")))
    context = replace(context, key_end="=")
    return slots, context, following_of(replace(context, close=""), guessed=True)


def _resumes(opener: str, between: Sequence[tuple[str, tuple[str, ...]]]) -> bool:
    """Return whether nothing else in the place of a pair begins as a pair does."""
    others = [text.strip() for kind, texts in between for text in texts if kind != "pair"]
    return is_distinctive(opener) and not any(text.startswith(opener) for text in others)


def _next_pair(
    context: ValueContext, slots: Sequence[SlotEnd], wraps: Sequence[TypeWrap], tolerated: Tolerated
) -> tuple[tuple[str, ...], str] | None:
    """Return the texts before the next pair's key, one for each opener, and the text after it.  They begin with a line
    end and the indentation if pairs begin lines: inside a line, an opener could be text of a value."""
    by_type = [(wrap.opened, wrap.close) for wrap in wraps] if context.pairs.types_open_pairs else []
    cores = [opener.lstrip() for opener, _ in by_type] or [context.opened.lstrip()]
    between = context.close + context.before_pair.removesuffix(context.opened.lstrip())
    leads = {_line_before(close + between) for _, close in by_type} or {_line_before(between)}
    if "missing_closers" not in tolerated.kinds or not all(map(is_distinctive, cores)) or len(leads) > 1:
        return None
    if not slots or slots[0].kind != "key":
        return None
    return tuple(lead + core for core in cores for lead in leads), slots[0].suffixes[0]


def next_pairs(pairs: PairForm) -> list[str]:
    """Return the texts before the key of a pair that ends an unclosed value, with the white space that may be left of
    that value's closer."""
    return (
        [left_of_closer(pairs) + text for text in pairs.value_end.next_pair[0]]
        if pairs.value_end.next_pair is not None
        else []
    )


def left_of_closer(pairs: PairForm) -> str:
    """Return the white space before a value's closer, which may be left where the closer is missing."""
    return lead_of(pairs.value_end.closers[0]) if pairs.value_end.closers else ""


def _line_before(text: str) -> str:
    """Return the last line end of a text and the white space after it; "" if there is none."""
    found = re.search(r"\n[^\S\n]*\Z", text)
    return found.group() if found else "\n" * ("\n" in text)


def _is_spaced(slots: Sequence[SlotEnd], dialect: Dialect) -> bool:
    """Return whether a key ends with a text that models write white space around: `city = Oslo`."""
    ends = [text for slot in slots[-1:] for text in slot.suffixes if slot.kind == "key" and text.strip()]
    if not ends or dialect.wrap or dialect.elements:
        return False
    return not ends[0][:1].isspace() and ends[0].rstrip()[-1] not in QUOTES


def _next_unopened(next_pair: tuple[tuple[str, ...], str] | None) -> str:
    """Return the text that ends a key without an opener; it needs more than one character, because a single one follows
    words in any text."""
    before, after = next_pair or (("",), "")
    return after if before[0].startswith("\n") and len(after) > 1 else ""


def _between(
    context: ValueContext,
    slots: Sequence[SlotEnd],
    comma: str,
    opens: Sequence[str],
    following: Sequence[str],
    *,
    repeats: bool,
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the texts that may come after a value, by what they do.  `comma`: a further separator, or ""."""
    pairs, close = context.pairs, context.close
    following = [text for text in following if text.strip() != comma]
    kinds = [
        ("pair", opens),
        ("end", [pairs.end, *([] if context.closing else [pairs.empty])]),
        ("skip", [close.strip(), *pieces_of(close)] if not repeats else []),
        ("skip", [pairs.separator, comma, pairs.start, *pieces_of(pairs.start), pairs.empty]),
        ("next", following),
        ("broken", [close] if repeats else []),
    ]
    between = tuple((kind, texts) for kind, found in kinds if (texts := not_blank(found)))
    return between if opens else (*between, *_openers_as_keys(between, slots, context.name_end))


def _openers_as_keys(
    between: Sequence[tuple[str, tuple[str, ...]]], slots: Sequence[SlotEnd], name_end: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the words that may come after a value, each as a key, and symbols with a word: `call = ` or `$ref = `
    begin a pair where `call ` or `$` open a call whose name something else ends."""
    end = slots[0].suffixes[0].lstrip() if slots and slots[0].kind == "key" else ""
    end = end if end[:1].isalnum() else end.rstrip()  # a word could be the beginning of a name
    words = [core for _, texts in between for text in texts if WORDS.fullmatch(core := text.strip())]
    if end[:1] != name_end.strip()[:1]:
        following = [text.strip() for kind, texts in between if kind == "next" for text in texts]
        words += [text + ANY_WORD for text in following if len(text) == 1 and text in SYMBOLS]
    return (("key", tuple(f"{word} {end}" for word in unique(words))),) if words and end else ()


def _comma(context: ValueContext, tolerated: Tolerated) -> str:
    """Return the comma that models write between values that end by themselves, where the template writes none."""
    dialect = context.tools.dialect
    end_themselves = dialect is not None and bool(dialect.top.strings)
    return "," * ("other_forms" in tolerated.kinds and end_themselves and not context.pairs.separator.strip())


def _is_pair(text: str, opens: Sequence[str], key_end: str) -> bool:
    """Return whether an opener of a call is also the beginning of a pair whose key is a word: `<call `, or `<name>` of
    `<call><name>`, because its first piece may be missing."""
    core = text.strip()
    rests = [core.removeprefix(opener.strip()) for opener in opens if core.startswith(opener.strip())]
    words = (word for rest in rests for word in (rest, rest.removesuffix(key_end.strip())))
    return bool(key_end.strip()) and any(word.isidentifier() for word in words)


def _marks(between: Sequence[tuple[str, tuple[str, ...]]], opens: Sequence[str], closer: str) -> tuple[str, ...]:
    """Return the markers that no value contains after its closer: the openers of a pair, and the ends of the
    arguments.

    Empty where nothing shows that a pair begins, and where the value's `closer` ends something else as well; one that
    repeats the key ("") does not.
    """
    after = [text.strip() for kind, texts in between if kind in ("end", "next") for text in texts]
    if closer and any(text.startswith(closer) or closer.startswith(text) for text in after):
        return ()
    pairs = any(kind == "pair" for kind, _ in between) or any(map(is_distinctive, opens))
    telling = unique(text.strip() for text in (*opens, *after) if is_distinctive(text))
    # A text that another is part of is found by that one.
    alone = (text for text in telling if not any(text != other and other in text for other in telling))
    return tuple(alone) if pairs else ()


def between_pairs(pairs: PairForm, respelled: Sequence[str]) -> Lexemes:
    """Return the lexemes that may follow a value, by their effect."""
    kinds: dict[str, list[str]] = {}
    for kind, texts in pairs.between:
        kinds.setdefault(kind, []).extend(texts)
    return lexemes_of(kinds.items(), respelled)


def ends_of_value(pairs: PairForm, respelled: Sequence[str], *others: tuple[str, Sequence[str]]) -> Lexemes:
    """Return the closers of a raw value ("end"), and others; in another spelling they count only before text that may
    follow a pair."""
    return lexemes_of([("end", pairs.value_end.closers), *others], apart=("end",) if respelled else ())


def closes_lost_value(pairs: PairForm, tolerances: Collection[str]) -> Following | None:
    """Return the call's closer and the texts after it if they end a raw value without its own end; otherwise None."""
    shown = pairs.value_end.following.closes and not (pairs.value.quoted or pairs.value.guessed)
    return pairs.value_end.following if shown and "missing_closers" in tolerances else None


def value_ends_and_markers(pairs: PairForm) -> Lexemes:
    """Return the closers of a value ("end"; up to the key, if they repeat it), and the call's markers after it
    ("mark")."""
    ends = pairs.value_end.closers if pairs.value_end.around_key is None else pairs.value_end.around_key[:1]
    wrapped = [text for wrap in pairs.value.wraps for text in (*wrap.ends, *(wrap.around_key or ())[:1])]
    return lexemes_of([("mark", pairs.value_end.marks), ("end", [*ends, *wrapped])])


def _nested_quotes(dialect: Dialect) -> str:
    """Return the quotes of strings inside lists and objects if they are Python's; otherwise ""."""
    quotes = {text for string in dialect.in_object.strings for text in (string.open, string.close)}
    return "".join(sorted(quotes)) if quotes.issubset(QUOTES) else ""


def _literal_quotes(context: ValueContext, tolerated: Tolerated) -> str:
    """Return the quotes, also typographic, of nested values in arguments written as in Python, k=v, k=v: only there, a
    quoted string is a string literal, or if the template writes JSON strings.  Other quotes belong to the text."""
    dialect = context.tools.dialect
    if dialect is not None and dialect.wrap is not None and dialect.wrap.escape == "json":
        return '"'
    if "python_literals" not in tolerated.kinds or context.close.strip():
        return ""
    are_keywords = context.key_end == "=" and context.pairs.separator.strip() == ","
    strings = dialect.in_object.strings if dialect is not None and are_keywords else ()
    return TYPOGRAPHIC.get(strings[0].open, "") if strings else ""


def _type_words(tools: Tools) -> tuple[tuple[str, tuple[str, ...]], ...]:
    words: dict[str, list[str]] = {}
    for word in _dialect(tools).types:
        words.setdefault(word.word, []).append(word.type)
    return tuple((word, tuple(types)) for word, types in words.items())


def around_key(pairs: PairForm) -> tuple[str, str] | None:
    """Return the patterns of any number of texts before a key and after it, with quotes; None if a key isn't found that
    way."""
    if pairs.key_texts is None:
        return ("", COLONS) if pairs.separable_keys else None
    before, after = pairs.key_texts
    # Where the template writes no attributes, models write some, or a colon.
    ends = ["=(?=\\s?[\"'])", ":"] if not any(char in text for text in before for char in "\"':") else []
    others = [rf"(?<=\s)\w{{1,32}}\s?{ends[0]}", *ends[1:]] if ends else []
    if pairs.opens and all(text.strip()[-1:] in (":", "=") for text in pairs.opens):
        others.append("[:=]")
    garbled = _with_other_brackets(after) + ATTRIBUTE_OR_BAR * (">" in after)
    others_after = garbled + _space_before_missing(pairs.slots) + _colon_before_opener(pairs)
    types, last = [exact(word) for word, _ in pairs.value.types], exact("".join(after).strip()[-1:])
    is_bracket = last != "" and not (last.isalnum() or last in QUOTES_AROUND_KEYS + ":=,")
    if types and after:  # the type may lack quotes, also the one after it alone
        others_after.append(rf"(?<=[=\"'])(?:{'|'.join(types)})(?=\s?{last})")
    # A quote after the last bracket belongs to the value.
    quotes = rf"(?<!{last}|\n){QUOTES_OF_KEYS}" if is_bracket else QUOTES_OF_KEYS
    before_key = _any_of(before, others + _with_other_brackets(before))
    return before_key, _any_of(after, others_after, typed=bool(types), quotes=quotes)


def _space_before_missing(slots: Sequence[SlotEnd]) -> list[str]:
    """Return patterns of the white space inside a key's end, for where the marker after it is missing."""
    ends = [text for slot in slots for text in slot.suffixes]
    inside = [match for text in ends for match in re.finditer(r"(\S+)(\s+)(?=\S)", text) if is_distinctive(match[1])]
    return list(unique(rf"(?<={exact(match[1])}){exact(match[2])}(?!\Z)" for match in inside))


def _colon_before_opener(pairs: PairForm) -> list[str]:
    """Return the pattern of punctuation between a key's own end and the marker before its value."""
    pieces = pieces_of(pairs.slots[-1].suffixes[0]) if pairs.slots else []
    is_marker = len(pieces) > 1 and is_distinctive(pieces[-1])
    return [rf"[:=]>?(?=\s{{0,{MAX_INNER_SPACE}}}{exact(pieces[-1])})"] if is_marker else []


def value_opener(pairs: PairForm) -> str | None:
    """Return the pattern of the marker between a key's own end and its value; None if there is none."""
    pieces = pieces_of(pairs.slots[-1].suffixes[0]) if around_key(pairs) is not None and pairs.slots else []
    if len(pieces) < 2 or not is_distinctive(pieces[-1]):
        return None
    return (_with_other_brackets(pieces[-1:]) or [exact(pieces[-1])])[0]


def _with_other_brackets(texts: Sequence[str]) -> list[str]:
    """Return the patterns of markers next to a key that have the right letters and other brackets."""
    long = [text for text in texts if is_respelled(text)]
    end = rf"(?!\w)(?:[^\S\n]?[{CLOSING_BRACKETS}]){{0,4}}"
    return [in_other_brackets([text], BRACKETS, rf"{BRACKETS}\s", after=end) for text in long]


BRACKETS, CLOSING_BRACKETS = in_class("<>＜＞/\\|｜[]"), in_class(">＞|｜]")
# What models write in a tag after a key: an attribute, or a bar.
ATTRIBUTE_OR_BAR = [r"""\w{1,16} ?= ?["'][\w .:-]{,32}["'](?= ?>)""", "[|｜]>"]
COLONS = rf"(?:\s{{0,{MAX_INNER_SPACE}}}[:=])*"  # what may be after a key that nothing opens
QUOTES_AROUND_KEYS = "\"'“”"
QUOTES_OF_KEYS = f"[{QUOTES_AROUND_KEYS}]"


def _any_of(
    found: Sequence[str], others: Sequence[str] = (), *, typed: bool = False, quotes: str = QUOTES_OF_KEYS
) -> str:
    """Return the pattern of any number of such texts and quotes in a row; `typed`: and of words before a quote.

    Texts that consist of others are left out, so that there is one way to match a text, and matching is linear.
    """
    parts: list[str] = []
    for text in sorted(found, key=len):
        if not _consists_of(text, [*parts, *QUOTES_AROUND_KEYS]):
            parts.append(text)
    patterns = [exact(text) + r"(?![\"'])" * (typed and text[-1].isalnum()) for text in reversed(parts)]
    word = [r"(?<=[=\"'])\w{1,32}(?=[\"'])"] * typed
    either = "|".join([*word, *others, *patterns, quotes])
    return rf"(?:\s{{0,{MAX_INNER_SPACE}}}(?:{either}))*"


def _consists_of(text: str, parts: Sequence[str]) -> bool:
    ends = {0}
    for at in range(len(text)):
        if at in ends:
            ends.update(at + len(part) for part in parts if text.startswith(part, at))
            ends.update([at + 1] * text[at].isspace())
    return len(text) in ends
