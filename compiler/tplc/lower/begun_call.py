r"""The beginning of a call, from its opener on, as one pattern: what looks like text has to read as one without tools.

"call " NAME ": " ARGUMENTS  →  (?:\Z|\s{0,16}(?:\Z|NAME(?:\Z|:(?:\Z|\s{0,16}(?:\Z|\{(?:\Z|\s{0,16}(?:\Z|["}]())))))))

It goes up to the first argument's value.  Group 1 is there if all of it has come, and not where the text ended before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tplc.ir.forms import texts_of
from tplc.ir.markers import is_distinctive, is_unmistakable
from tplc.ir.nodes import ObjectArguments, Slot, TemplateIR, Text, Tools
from tplc.ir.spellings import WORDS
from tplc.ir.write import escaped
from tplc.lower.bounds import INDENT, KEY, SOME_SPACE, SPACE
from tplc.lower.call_form import CallForm, PairForm
from tplc.lower.layouts import merged, text_at, unique
from tplc.lower.lexemes import END, exact, truncated_pattern
from tplc_runtime.pattern import LONGEST_KEY, NAME_CHARACTERS

NAME = rf"[^\W\d][{NAME_CHARACTERS}]{{0,{2 * LONGEST_KEY}}}?"
ID = rf"[{NAME_CHARACTERS}]{{1,{LONGEST_KEY}}}?"
NUMBER = r"\d{1,9}"
ALL = "()"


def begun_call_of(ir: TemplateIR, form: CallForm) -> str:
    """Return the pattern; "" if the template doesn't write a header and then arguments that it can say the beginning
    of."""
    tools = ir.tools
    layout = merged((Text(tools.section_start), *tools.call))
    rest = begun_arguments_of(ir, form, KEY)
    if not rest:
        return ""
    at = layout.index(Slot("arguments"))
    if tools.bare_call:
        # A call without arguments may be closed directly after its name.
        rest = _header(layout[layout.index(Slot("name")) + 1 : at], rest)
        rest = _either([rest, *_closed(ir, _after_name(tools))])
        at = layout.index(Slot("name")) + 1
    known = next((index for index in range(1, at) if is_unmistakable(text_at(layout, index))), 0)
    if known:  # the marker after the name shows that it is a call
        return _or_end(_space(" ", _header(layout[1:known], _text(f" {text_at(layout, known).strip()}", ALL))))
    return _or_end(_space(" ", _header(layout[1:at], rest)))


def begun_arguments_of(ir: TemplateIR, form: CallForm, key: str) -> str:
    """Return the pattern of the beginning of the arguments alone; "" as for the whole call.  `key`: that of keys."""
    layout = merged((Text(ir.tools.section_start), *ir.tools.call))
    if form.object.fields or not form.opening.openers or isinstance(layout[0], Slot):
        return ""
    at = layout.index(Slot("arguments"))
    arguments = _arguments(ir, form, text_at(layout, at - 1), layout[at + 1 :], key)
    return _either(arguments) if arguments else ""


def _after_name(tools: Tools) -> Sequence[Text | Slot]:
    bare = merged(tools.bare_call)
    return bare[bare.index(Slot("name")) + 1 :]


def _header(layout: Sequence[Text | Slot], rest: str) -> str:
    """Return the pattern of texts and words with any white space around them, and then of `rest`; the text may end
    anywhere.  A line end that the template writes after a text is there."""
    for item in reversed(layout):
        if isinstance(item, Text):
            space = item.text[len(item.text.rstrip()) :] or " "
            rest = _text(f" {item.text.strip()}{space}" if item.text.strip() else space, rest)
        else:
            rest = {"name": NAME, "index": NUMBER, "count": NUMBER}.get(item.kind, ID) + _or_end(rest)
    return rest


def _text(text: str, rest: str) -> str:
    """Return the pattern of a text with any white space in the place of its own, and then of `rest`."""
    for part in reversed(re.findall(r"\s+|\S+", text)):
        rest = _space(part, rest) if part.isspace() else _piece(part, rest)
    return rest


def _space(space: str, rest: str) -> str:
    """Return the pattern of white space, which contains a line break if the template writes one."""
    if not space:
        return rest
    if "\n" in space:
        return INDENT + _or_end(r"\n" + SPACE + _or_end(rest))
    return SPACE + _or_end(rest)


def _piece(piece: str, rest: str) -> str:
    begun = truncated_pattern([piece]) if len(piece) > 1 else ""
    whole = exact(piece) + _or_end(rest)
    return _either([whole, begun]) if begun else whole


def _or_end(rest: str) -> str:
    return rest if rest == ALL else f"(?:{END}|{rest})"


def _either(patterns: Sequence[str]) -> str:
    found = unique(patterns)
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _arguments(ir: TemplateIR, form: CallForm, before: str, after: Sequence[Text | Slot], key: str) -> list[str]:
    """Return the patterns of how arguments begin, and of what closes a call without any.  `before`, `after`: the texts
    around them."""
    if form.pairs is None:
        closer = text_at(after, 0)
        return [*_object(form, ir.tools), *([_text(closer.strip(), ALL)] if is_distinctive(closer) else [])]
    pairs = form.pairs
    empty = _closed(ir, merged((Text(pairs.empty), *after)))
    if not pairs.empty and (pairs.start + pairs.end).strip():
        empty += _closed(ir, merged((Text(pairs.start + pairs.end), *after)))
    return [_text(pairs.start, rest) for rest in _pair(pairs, before + pairs.start, key)] + empty


def _object(form: CallForm, tools: Tools) -> list[str]:
    """Return the patterns of an object up to its first key, with the quotes and braces that models write for these."""
    if (
        form.arguments.styles is None
        or form.arguments.lines is not None
        or not isinstance(tools.arguments, ObjectArguments)
    ):
        return []
    spelling = form.arguments.styles[2]
    opened, closed, colon = (spelling.punctuation[at] for at in (3, 6, 4))
    if spelling.bare_keys:
        return [_text(f"{opened} ", _either([KEY + _or_end(_text(f" {colon}", ALL)), _text(closed, ALL)]))]
    quotes = unique([*(quote for quote, _, _ in spelling.strings), *['\\"'] * form.arguments.encoded])
    keys = [*(_text(quote, ALL) for quote in quotes), KEY + _or_end(f'"{ALL}'), _text(closed, ALL)]
    if len(opened) > 1:
        return [_text(f"{opened} ", _either(keys))]
    if form.arguments.escapes:
        first, quote, last = (escaped(tools.replaced, "value", text) for text in (opened, '"', closed))
        keys += [_text(quote, ALL), _text(last, ALL)]
        return [_text(f"{first} ", _either(keys)), *([_text(f"{opened} ", _either(keys))] if first != opened else [])]
    return [f'"?{exact(opened)}{{1,2}}{_space(" ", _either(keys))}', f'"{END}']


def _pair(pairs: PairForm, before: str, key: str) -> list[str]:
    """Return the patterns of a pair up to its value; an opener that nothing else is like says enough."""
    at = pairs.pair.index(Slot("key"))
    opener, text = text_at(pairs.pair, 0), text_at(pairs.pair, at + 1)
    # Between words, what ends a key is nothing but prose if there is other white space: `look x = 1`.
    space = " " * bool((before + opener).strip())
    ends = [_text(space + text.rstrip(), ALL) if text.strip() else SOME_SPACE + ALL]
    if pairs.value_end.bare is not None:  # models write any literal there, instead of what is in the template's quotes
        words = (_text(word, ALL) for spelled in WORDS.values() for word in spelled)
        literal = _either([rf"[\"'\[{{(\d-]{ALL}", *words])
        ends.append(_text(f"{space}{pairs.slots[-1].suffixes[-1]} ", literal))
    key += _or_end(_either(ends))
    if pairs.types_open_pairs:
        return [_text(wrap.opened, key) for wrap in pairs.value.wraps]
    if is_unmistakable(opener):
        return [_text(opener.rstrip(), ALL)]
    for item in reversed(pairs.pair[:at]):
        key = _text(item.text, key) if isinstance(item, Text) else ID + _or_end(key)
    return [key]


def _closed(ir: TemplateIR, after: Sequence[Text | Slot]) -> list[str]:
    """Return the pattern of what closes a call; like text, it must be all of its line, or the next part follows."""
    tools = ir.tools
    closer = text_at(after, 0)
    if is_distinctive(closer) or len(after) > 1:
        return [_text(closer.rstrip(), ALL)]
    nexts = [*texts_of(ir, "tools.section_end"), tools.separator, *ir.turn.ends, text_at(merged(tools.call), 0)]
    # Where the template writes a line end, only a marker shows that the call is over without it.
    ends = [
        _text(text.strip(), ALL) for text in nexts if text.strip() and ("\n" not in closer or is_unmistakable(text))
    ]
    return [_text(closer.rstrip(), INDENT + _or_end(_either([r"\n" + ALL, *ends])))]
