"""Slips in the header of a call: its name, id, index, attributes, and the texts between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.slips.further.registry import after, before, first_call, further, is_keyword_format, is_tag, replaced
from tests.slips.kinds import Answer

SPELLINGS_OF_NAMES = {
    "with spaces": lambda name: name.replace("_", " "),
    "with points": lambda name: name.replace("_", "."),
    "in title case": str.title,
    "in Pascal case": lambda name: name.title().replace("_", ""),
    "without separators": lambda name: name.replace("_", ""),
    "escaped": lambda name: name.replace("_", "\\_"),
    "repeated": lambda name: f"{name}.{name}",
    "after function:": lambda name: f"function:{name}",
    "after default_api.": lambda name: f"default_api.{name}",
}


def _rename(name: str) -> None:
    @further(f"name {name}")
    def _(answer: Answer) -> Iterator[str]:
        for at in answer.places("name")[:1]:
            text = answer.pieces[at].text
            if not name.startswith("after") or before(answer, at)[-1:] not in ".:":
                yield answer.with_(at, SPELLINGS_OF_NAMES[name](text))


for _name in SPELLINGS_OF_NAMES:
    _rename(_name)


@further("name without its prefix")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        match = re.search(r"[A-Za-z_]+[.:]$", answer.pieces[at - 1].text) if at else None
        if match and not answer.ir.tools.json:
            yield answer.with_(at - 1, answer.pieces[at - 1].text[: match.start()])


@further("name in quotes or backticks")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        if not answer.ir.tools.json and (not at or answer.pieces[at - 1].text[-1:] not in "\"'"):
            for quote in "`\"'":
                yield answer.with_(at, quote + answer.pieces[at].text + quote)


@further("name with a colon or parentheses")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        if answer.ir.tools.format != "keyword_arguments":
            yield answer.with_(at, answer.pieces[at].text + "()")
            yield answer.with_(at, answer.pieces[at].text + ":")


@further("name on a line")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1] if not answer.ir.tools.json else ():
        yield answer.with_(at, answer.pieces[at].text + "\n")
        yield answer.with_(at, "\n" + answer.pieces[at].text)


# Attributes


@further("attribute otherwise")
def _(answer: Answer) -> Iterator[str]:
    """Leave out one quote, add spaces around `=`, write `<x name="f">` for `<x=f>`, and the reverse."""
    for at in (
        [*answer.places("name", call=0)[:1], *answer.places("key", call=0)[:1]] if not answer.ir.tools.json else ()
    ):
        text, start = answer.pieces[at].text, answer.pieces[at - 1].text if at else ""
        end = answer.pieces[at + 1].text if at + 1 < len(answer.pieces) else ""
        if start.endswith('="') and end.startswith('"'):
            yield answer.with_(at - 1, start[:-1])
            yield answer.with_(at + 1, end[1:])
            yield answer.with_(at - 1, start[:-2] + ' = "')
        elif match := re.search(r"(<\w+)=$", start):
            opened = start[: match.start()] + match[1]
            yield replaced(answer, {at - 1: opened + ' name="', at: text + '"'})
            for separator in (" = ", " ", ":"):
                yield answer.with_(at - 1, opened + separator)


@further("word of an attribute missing or another")
def _(answer: Answer) -> Iterator[str]:
    for at in (
        [*answer.places("name", call=0)[:1], *answer.places("key", call=0)[:1]] if not answer.ir.tools.json else ()
    ):
        start, end = answer.pieces[at - 1].text if at else "", answer.pieces[at + 1].text
        if match := re.search(r"(<[^<>\s]+) (\w+)=\"$", start):
            opened = start[: match.start()] + match[1]
            yield replaced(answer, {at - 1: opened + "=", at + 1: end[1:]})
            yield answer.with_(at - 1, opened + ' "')
            for word in ("name", "key", "id", "function"):
                yield answer.with_(at - 1, f'{opened} {word}="')


@further("another attribute")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("key", call=0)[:1]:
        end = answer.pieces[at + 1].text
        if end.startswith('">'):
            yield answer.with_(at + 1, '" type="string"' + end[1:])
        elif end.startswith(">") and "=" in answer.pieces[at - 1].text:
            yield answer.with_(at + 1, ' type="string"' + end)


@further("closing tag of the call with its name")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("closer", call=0)[-1:]:
        text = answer.pieces[at].text
        if not answer.ir.tools.json and (match := re.match(r"\s*</(function|invoke|call|tool_call)>", text)):
            name = first_call(answer)[0]
            yield answer.with_(at, text.replace(match[0].strip(), f"</{match[1]}={name}>", 1))
            yield answer.with_(at, text.replace(match[0].strip(), f"</{name}>", 1))


# Texts between slots


@further("part of the header missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("between", "opener", call=0) if answer.ir.tools.json is None else ():
        parts = re.findall(r"<[^<>]*>|\[[A-Z_]+\]|\w+|[^\w<>\[\]]+", answer.pieces[at].text)
        for index, part in enumerate(parts):
            if len(parts) > 1 and re.search(r"\w{3}", part):
                yield answer.with_(at, "".join(parts[:index] + parts[index + 1 :]))


@further("text between slots missing or twice")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("between", call=0) if answer.ir.tools.json is None else ():
        if len(answer.pieces[at].core) > 3:
            for text in (answer.pieces[at].text * 2, "", " ", "\n"):
                yield answer.with_(at, text)


@further("id or index missing, or another")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("id", "index", call=0) if answer.ir.tools.json is None else ():
        yield answer.without(at)
        if at and answer.pieces[at - 1].kind == "between":
            yield answer.without(at, at - 1)
        for text in ("7", "x") if answer.pieces[at].kind == "index" else ("call_9f8e-12", "0"):
            yield answer.with_(at, text)


@further("words of a header otherwise")
def _(answer: Answer) -> Iterator[str]:
    """Leave out a word between two bracketed tags, or write it in upper case; leave out the tag before it."""
    for at in answer.places("opener", "between", "content_start", "reasoning_start"):
        text = answer.pieces[at].text
        if match := re.search(r"(<\|\w+\|>)(\w+)", text):
            yield answer.with_(at, text.replace(match[2], "", 1))
            yield answer.with_(at, text.replace(match[1], " ", 1))
            yield answer.with_(at, text.replace(match[0], match[2], 1))
            yield answer.with_(at, text.replace(match[0], match[1] + match[2].upper(), 1))


# Tags of pairs


@further("closing tag of a pair otherwise")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("pair_close", call=0)[:1]:
        piece = answer.pieces[at]
        if is_tag(piece.text):
            yield answer.with_(at, piece.text.replace(piece.core, f"</{piece.key}>"))
            yield answer.with_(at, piece.text.replace(piece.core, f"{piece.core[:-1]}={piece.key}>"))
        if "</" in piece.text:
            yield answer.with_(at, piece.text.replace("</", "<"))


@further("key as the tag of a pair")
def _(answer: Answer) -> Iterator[str]:
    opened, closed = answer.places("pair_open", call=0), answer.places("pair_close", call=0)
    if not (opened and closed and "<" in answer.pieces[opened[0]].text and "\n" in answer.text):
        return
    key = answer.pieces[opened[0]].key
    places = {p.kind: at for at, p in enumerate(answer.pieces) if p.call == 0 and p.key == key}
    if places.keys() >= {"pair_open", "key", "key_end", "value", "pair_close"} and places["key"] < places["value"]:
        at = places["value"]
        start = re.sub(r"\S.*", f"<{key}>", answer.pieces[places["pair_open"]].text)
        space = "\n" * answer.pieces[places["key_end"]].text.endswith("\n")
        end = answer.pieces[places["pair_close"]].text.replace(answer.pieces[places["pair_close"]].core, f"</{key}>")
        value = start + space + answer.pieces[at].text + end
        yield before(answer, places["pair_open"]) + value + after(answer, places["pair_close"] + 1)


@further("marker of a pair missing or twice")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("pair_open", "pair_close"):
        piece = answer.pieces[at]
        if len(piece.core) > 2:
            yield answer.with_(at, piece.text + (piece.text if piece.kind == "pair_close" else piece.text.lstrip()))
            yield answer.with_(at, "\n" if "\n" in piece.text else "")
            yield answer.without(at)


@further("end of a key missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("key_end", call=0)[:1]:
        if ">" in answer.pieces[at].core:
            yield answer.with_(at, "\n")
            yield answer.with_(at, answer.pieces[at].text.replace(">", "", 1))


@further("call closed in the place of its last pair")
def _(answer: Answer) -> Iterator[str]:
    closers = answer.places("pair_close", call=0)
    if closers and len(answer.pieces[closers[-1]].core) > 2 and not answer.places("args_separator"):
        yield answer.without(closers[-1])


@further("braces for no arguments")
def _(answer: Answer) -> Iterator[str]:
    if (
        answer.calls == 1
        and not first_call(answer)[1]
        and answer.ir.tools.json is None
        and not is_keyword_format(answer)
    ):
        for at in answer.places("closer")[:1]:
            if answer.pieces[at - 1].kind != "arguments":
                yield before(answer, at) + "{}" + after(answer, at)
