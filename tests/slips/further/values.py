"""Slips in the values of pairs, and in calls such as f(a=1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from tests.slips.further.registry import after, before, calls_span, first_call, further, is_keyword_format, mapped
from tests.slips.kinds import PAIRS, Answer
from tests.slips.written import text_of
from tplc.ir.nodes import PairArguments

FALSE = ("False", "false", "FALSE", "0")


def _has_raw_values(answer: Answer) -> bool:
    dialect = answer.ir.tools.dialect
    return dialect is not None and not dialect.top.strings


@further("value in quotes or in a fence")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("value") if _has_raw_values(answer) else ():
        text = answer.pieces[at].text
        if text in ("5", "2.5", "False", "false"):
            yield answer.with_(at, f'"{text}"')
            yield answer.with_(at, f"'{text}'")
        if text[:1] in "[{":
            yield answer.with_(at, f"```json\n{text}\n```")


@further("number or word otherwise")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("value"):
        text = answer.pieces[at].text
        if text == "5":
            yield from (answer.with_(at, made) for made in ("5.0", " 5 ", "\n5\n"))
        if text in FALSE:
            yield from (answer.with_(at, made) for made in FALSE)


@further("list or object otherwise")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("value"):
        text = answer.pieces[at].text
        if text[:1] not in "[{" or text[-1:] not in "]}":
            continue
        yield answer.with_(at, json.dumps(text))
        yield answer.with_(at, text.replace('"', '\\"'))
        yield answer.with_(at, text.replace('"', "'"))
        yield answer.with_(at, text.replace("'", '"'))
        yield answer.with_(at, text[:-1] + "," + text[-1])
        with suppress(ValueError):  # of a dialect other than JSON
            yield answer.with_(at, json.dumps(json.loads(text), indent=2))


@further("object in the place of pairs")
def _(answer: Answer) -> Iterator[str]:
    places = [at for at, p in enumerate(answer.pieces) if p.call == 0 and p.kind in (*PAIRS, "key_again")]
    places = [at for at in places if answer.pieces[at].kind not in ("args_start", "args_end")]
    if isinstance(answer.ir.tools.arguments, PairArguments) and places and first_call(answer)[1]:
        start, end = before(answer, places[0]), after(answer, places[-1] + 1)
        line = "\n" * ("\n" in answer.text[len(start) :])
        for indent in (None, 2):
            space = line * (not start.endswith("\n"))
            yield start + space + json.dumps(first_call(answer)[1], indent=indent) + line + end


@further("call as JSON in another format")
def _(answer: Answer) -> Iterator[str]:
    openers, closers = answer.places("opener", call=0), answer.places("closer", call=0)
    if answer.ir.tools.json is None and not is_keyword_format(answer) and answer.calls == 1 and openers and closers:
        name, given = first_call(answer)
        text = json.dumps({"name": name, "arguments": given})
        start, end = before(answer, openers[0]), after(answer, closers[-1] + 1)
        tag = answer.pieces[openers[0]].text.partition(">")
        yield f"{start}{tag[0]}{tag[1]}{text}{answer.pieces[closers[-1]].text}{end}" if "=" not in tag[0] else start
        if answer.places("section_start"):
            yield f"{start}\n{text}\n{end}"


# Calls such as f(a=1)


def _inside(answer: Answer) -> tuple[str, str, str] | None:
    """Return the texts before, of, and after the arguments of the first call."""
    kinds = ("key", "key_end", "value", "args_separator")
    places = [at for at, p in enumerate(answer.pieces) if p.call == 0 and p.kind in kinds]
    if not is_keyword_format(answer) or not places:
        return None
    first, last = places[0], places[-1] + 1
    return before(answer, first), text_of(answer.pieces[first:last]), after(answer, last)


@further("keywords: an object")
def _(answer: Answer) -> Iterator[str]:
    found = _inside(answer)
    if found is not None:
        given = first_call(answer)[1]
        text = json.dumps(given)
        for made in (text, "**" + text, "arguments=" + text, text[1:-1], f"**{given!r}"):
            yield found[0] + made + found[2]


@further("keywords: other separators")
def _(answer: Answer) -> Iterator[str]:
    if is_keyword_format(answer):
        for text in (": ", " = ", ":", "= "):
            yield mapped(answer, "key_end", text)
        yield mapped(answer, "key", lambda key: f'"{key}"')
        for text in (",\n    ", ",", " "):
            yield mapped(answer, "args_separator", text)


@further("keywords: white space or a comma around them")
def _(answer: Answer) -> Iterator[str]:
    found = _inside(answer)
    if found is not None:
        yield f"{found[0]}{found[1]},{found[2]}"
        yield f"{found[0]}\n    {found[1]}\n{found[2]}"


@further("keywords: other values")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("value") if is_keyword_format(answer) else ():
        text = answer.pieces[at].text
        inner, plain = text[1:-1], "\\" not in text
        forms = {
            "[": ("{" + inner + "}", f"({inner})"),
            "'": ('"' + inner.replace('"', '\\"') + '"', f"f{text}", f"r{text}", f"''{text}''"),
            '"': (f"f{text}", f'""{text}""', *((f"'{inner}'", inner) if plain else ())),
            "{": ('dict(id=7, name="Ann")',),
        }
        for made in forms.get(text[:1], ()):
            yield answer.with_(at, made)


@further("keywords: code around the call")
def _(answer: Answer) -> Iterator[str]:
    names = answer.places("name", call=0)
    if is_keyword_format(answer) and names:
        start, end = before(answer, names[0]), after(answer, names[0])
        yield from (start + word + end for word in ("tool.", "result = ", "await "))
        last = max(at for at, piece in enumerate(answer.pieces) if piece.call == 0)
        call = text_of(answer.pieces[names[0] : last]) + answer.pieces[last].text.replace(")", "))", 1)
        yield f"{start}print({call}{after(answer, last + 1)}"


@further("keywords: parentheses")
def _(answer: Answer) -> Iterator[str]:
    # In formats without parentheses of their own they belong to a value.
    own = any(")" in piece.text for piece in answer.pieces if piece.kind not in ("value", "content"))
    if is_keyword_format(answer) and answer.calls == 1 and own:
        start, _, end = answer.text.rpartition(")")
        yield from (start + bracket + end for bracket in ("", "))", ");"))
        yield answer.text.replace("(", " (", 1)


@further("keywords: calls as JSON")
def _(answer: Answer) -> Iterator[str]:
    span, tools = calls_span(answer), answer.ir.tools
    start, end = tools.section_start.strip().removesuffix("["), tools.section_end.strip().removeprefix("]")
    if is_keyword_format(answer) and len(start) > 1 and span:
        calls = [call["function"] for call in answer.message["tool_calls"]]
        text = json.dumps([{"name": call["name"], "arguments": call["arguments"]} for call in calls])
        for made in (text, text.replace('"arguments"', '"parameters"'), *([text[1:-1]] if len(calls) == 1 else [])):
            yield before(answer, span[0]) + start + made + end + after(answer, span[1])


@further("pairs as tags named by keys")
def _(answer: Answer) -> Iterator[str]:
    """Values must be text without quotes: `<city>Oslo</city>`."""
    opens = [p.core for p in answer.pieces if p.kind == "pair_open"]
    if not opens or opens[0].endswith("<") or not _has_raw_values(answer):
        return
    line = "\n" * ("\n" in text_of([p for p in answer.pieces if p.kind == "args_separator"]))
    kinds = {"pair_open": "<{}>", "pair_close": "</{}>", "args_separator": line}
    dropped = ("key", "key_again", "key_end", "type")
    made = [kinds.get(p.kind, "" if p.kind in dropped else None) for p in answer.pieces]
    yield "".join(p.text if text is None else text.format(p.key) for p, text in zip(answer.pieces, made, strict=True))


BETWEEN_TAGS = re.compile(r"(?<=>)\s*(?=<)|(?<=\])\s*(?=\[)")


@further("one tag of two missing around a key")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("key_end", "pair_open", "pair_close", call=0):
        text = answer.pieces[at].text
        for between in BETWEEN_TAGS.finditer(text):
            first, second = text[: between.start()].strip(), text[between.end() :].strip()
            yield answer.with_(at, text.replace(first, "", 1))
            yield answer.with_(at, text.replace(second, "", 1))
