"""The kinds of slips: each makes one mistake in a right answer that a reader with the template and the tools can undo.

    KINDS["opener twice"](answer)  →  "<call><call>…", …

A kind takes an `Answer` and gives the texts with the slip, none where it does not fit.  What a slip needs to know comes
from the IR's texts.  After the slip the message is the same as before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.slips.written import Piece, text_of
from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import ObjectArguments, PairArguments, TemplateIR, Text


@dataclass(frozen=True, slots=True)
class Answer:
    ir: TemplateIR
    message: dict[str, Any]
    pieces: list[Piece]
    head: str
    tokens: tuple[str, ...] = ()  # further special tokens of the tokenizer
    tools: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return text_of(self.pieces)

    @property
    def calls(self) -> int:
        return len(self.message.get("tool_calls") or ())

    def without(self, *places: int) -> str:
        return text_of([piece for at, piece in enumerate(self.pieces) if at not in places])

    def with_(self, place: int, text: str) -> str:
        return text_of([replace(p, text=text) if at == place else p for at, p in enumerate(self.pieces)])

    def places(self, *kinds: str, call: int | None = None) -> list[int]:
        return [
            at
            for at, piece in enumerate(self.pieces)
            if piece.kind in kinds and piece.core and (call is None or piece.call == call)
        ]


Kind = Callable[[Answer], Iterator[str]]
KINDS: dict[str, Kind] = {}
PAIRS = ("pair_open", "key", "key_end", "type", "value", "pair_close", "args_start", "args_end", "args_separator")
OF_CALLS = (
    "section_start",
    "opener",
    "name",
    "id",
    "index",
    "between",
    "arguments",
    "closer",
    "separator",
    "key_again",
)
OF_CALLS = (*OF_CALLS, *PAIRS, "section_end", "args_empty")


def kind(name: str) -> Callable[[Kind], Kind]:
    def keep(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return keep


def _object(answer: Answer) -> tuple[int, int] | None:
    """Return where the first call's JSON object begins and ends in the text, if a call is one object."""
    json_call = answer.ir.tools.json
    if json_call is None or not answer.calls:
        return None
    start = answer.text.find("{", len(text_of(answer.pieces[: answer.places("opener", call=0)[0]])))
    try:
        _, end = json.JSONDecoder().raw_decode(answer.text, start)
    except ValueError:
        return None
    return start, end


def _arguments(answer: Answer) -> int | None:
    """Return the piece of the first call's arguments, if these are plain JSON."""
    places = answer.places("arguments", call=0)
    if not places or not isinstance(answer.ir.tools.arguments, ObjectArguments):
        return None
    try:
        return places[0] if json.loads(answer.pieces[places[0]].text) else None
    except ValueError:
        return None


# Openers and closers


@kind("section opener missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("section_start"):
        yield answer.without(at)


@kind("call opener missing")
def _(answer: Answer) -> Iterator[str]:
    if answer.places("section_start") and answer.ir.tools.json is None:
        for at in answer.places("opener")[:1]:
            yield answer.without(at)


@kind("opener twice")
def _(answer: Answer) -> Iterator[str]:
    for at in [*answer.places("section_start"), *answer.places("opener")[:1]]:
        piece = answer.pieces[at]
        text = _prefix(answer) if piece.kind == "opener" and answer.ir.tools.json else piece.text
        if is_distinctive(text):
            yield answer.with_(at, text + piece.text)
            yield answer.with_(at, text.strip() + "\n" + piece.text.lstrip())


def _prefix(answer: Answer) -> str:
    assert answer.ir.tools.json is not None
    return answer.ir.tools.json.prefix


@kind("closer twice")
def _(answer: Answer) -> Iterator[str]:
    for at in [*answer.places("closer")[:1], *answer.places("section_end")]:
        text = answer.pieces[at].text
        json_call = answer.ir.tools.json
        again = json_call.suffix if json_call and answer.pieces[at].kind == "closer" else text
        if is_distinctive(again):
            yield answer.with_(at, text + again)
            yield answer.with_(at, text.rstrip() + "\n" + again.lstrip())


@kind("call closer missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("closer"):
        closer, json_call = answer.pieces[at].text, answer.ir.tools.json
        closer = json_call.suffix if json_call else closer
        if is_distinctive(closer):
            yield answer.with_(at, answer.pieces[at].text.removesuffix(closer))


@kind("section closer missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("section_end"):
        yield answer.without(at)


@kind("closers missing")
def _(answer: Answer) -> Iterator[str]:
    at = next((place for place, p in enumerate(answer.pieces) if p.kind == "section_end" and p.core), 0)
    if at and answer.pieces[at - 1].kind == "closer" and answer.ir.tools.json is None:
        yield answer.without(at, at - 1)


@kind("opener for closer")
def _(answer: Answer) -> Iterator[str]:
    openers, closers = answer.places("opener"), answer.places("closer")
    if (openers and closers and answer.ir.tools.json is None) or (answer.ir.tools.json and closers):
        opener = answer.pieces[openers[0]].core if openers else ""
        opener = _prefix(answer).strip() if answer.ir.tools.json else opener
        closer = answer.pieces[closers[-1]].text
        own = answer.ir.tools.json.suffix if answer.ir.tools.json else closer
        if is_distinctive(opener) and is_distinctive(own) and opener.endswith(">") and "=" not in opener:
            yield answer.with_(closers[-1], closer.replace(own.strip(), opener))


@kind("closer of another level")
def _(answer: Answer) -> Iterator[str]:
    """Write the section's closer for the call's, or the call's for the section's."""
    ends, closers = answer.places("section_end"), answer.places("closer")
    if ends and closers and answer.ir.tools.json is None:
        yield answer.with_(ends[0], answer.pieces[closers[-1]].text)


# Reasoning


@kind("reasoning closer missing before a call")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("reasoning_end"):
        after = answer.pieces[at + 1 :]
        if after and answer.calls and after[0].kind in OF_CALLS:
            yield answer.without(at)
            yield answer.with_(at, "\n")
            yield answer.with_(at, " ")


@kind("reasoning closer missing before an opener of content")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("reasoning_end"):
        after = answer.pieces[at + 1 :]
        if after and after[0].kind == "content_start" and is_distinctive(after[0].text):
            yield answer.without(at)
            yield answer.with_(at, "\n")


@kind("reasoning opener again")
def _(answer: Answer) -> Iterator[str]:
    reasoning = answer.ir.reasoning
    if reasoning.start.strip() and answer.message.get("reasoning_content"):
        if not answer.places("reasoning_start"):  # the prompt opened it
            yield reasoning.start + answer.text
        else:
            at = answer.places("reasoning_start")[0]
            yield answer.with_(at, reasoning.start + answer.pieces[at].text)


@kind("reasoning closer twice")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("reasoning_end"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.with_(at, answer.pieces[at].text + answer.pieces[at].text.lstrip())


@kind("empty reasoning first")
def _(answer: Answer) -> Iterator[str]:
    reasoning = answer.ir.reasoning
    if reasoning.mode in ("tag_based", "forced_closed") and not answer.message.get("reasoning_content"):
        if not answer.head.strip() or reasoning.end.strip() in answer.head:
            yield reasoning.start + reasoning.end.lstrip() + answer.text


# How markers are spelled


def _markers(answer: Answer) -> Iterator[tuple[int, str]]:
    """Yield distinctive markers that the model writes, each once."""
    seen = set()
    kinds = ("section_start", "opener", "closer", "section_end", "reasoning_start", "reasoning_end", "pair_open")
    for at in answer.places(*kinds, "pair_close", "key_end", "between", "turn_end"):
        core = answer.pieces[at].core
        if core not in seen and is_distinctive(core):
            seen.add(core)
            yield at, core


def _words(text: str) -> list[str]:
    """Return the words of a marker that has punctuation."""
    return list(re.findall(r"(?<=[<\[|/｜])[A-Za-z][\w▁-]{2,}(?=[>\]|｜= ])", text))


def _respelled(answer: Answer, change: Callable[[str], str]) -> Iterator[str]:
    for at, core in _markers(answer):
        words = [w for w in _words(core) if change(w) != w]
        if words and answer.pieces[at].kind != "turn_end":
            word = words[0]
            yield answer.with_(at, answer.pieces[at].text.replace(word, change(word), 1))


@kind("upper case")
def _(answer: Answer) -> Iterator[str]:
    yield from _respelled(answer, lambda word: word.upper() if word != word.upper() else word.lower())


@kind("first letter's case")
def _(answer: Answer) -> Iterator[str]:
    yield from _respelled(answer, lambda word: word[0].swapcase() + word[1:])


@kind("dash for underscore")
def _(answer: Answer) -> Iterator[str]:
    yield from _respelled(answer, lambda word: word.replace("_", "-") if "_" in word else word.replace("-", "_"))


@kind("ASCII for full width")
def _(answer: Answer) -> Iterator[str]:
    for at, core in _markers(answer):
        text = answer.pieces[at].text
        if "｜" in core:
            yield answer.with_(at, text.replace("｜", "|"))
        if "▁" in core:
            yield answer.with_(at, text.replace("▁", "_"))
            yield answer.with_(at, text.replace("▁", " "))
            yield answer.with_(at, text.replace("｜", "|").replace("▁", "_"))


@kind("white space in a marker")
def _(answer: Answer) -> Iterator[str]:
    for at, core in _markers(answer):
        text = answer.pieces[at].text
        if match := re.search(r"<(/?)([\w:-]{3,})>", text):
            yield answer.with_(at, text.replace(match[0], f"<{match[1]}{match[2]} >"))
            yield answer.with_(at, text.replace(match[0], f"< {match[1]}{match[2]}>"))
            if match[1]:
                yield answer.with_(at, text.replace(match[0], f"</ {match[2]}>"))
        if match := re.search(r"(\w)=(\"?)$", core):
            yield answer.with_(at, text.replace(match[0], f"{match[1]} = {match[2]}"))
        if match := re.search(r"<\|(/?\w+)\|>", text):
            yield answer.with_(at, text.replace(match[0], f"<| {match[1]} |>"))
            yield answer.with_(at, text.replace(match[0], f"<|{match[1]} |>"))


@kind("white space around a marker")
def _(answer: Answer) -> Iterator[str]:
    kinds = ("section_start", "opener", "closer", "section_end", "between", "separator", "args_start", "args_end")
    for at in answer.places(*kinds):
        piece = answer.pieces[at]
        if "```" in piece.text:
            continue
        yield answer.with_(at, piece.text.rstrip() + "\n" if piece.text.rstrip() + "\n" != piece.text else piece.core)
        yield answer.with_(at, "\n" + piece.text.lstrip() if piece.kind != "opener" else piece.text + " ")
        yield answer.with_(at, piece.text.rstrip() + "\n\n")
        if piece.kind != "section_start":
            yield answer.with_(at, piece.core)


@kind("white space in pairs")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("pair_open", "key_end", "pair_close", call=0)[:3]:
        piece = answer.pieces[at]
        if not is_distinctive(piece.text):
            continue
        if piece.kind == "pair_open":
            yield answer.with_(at, "\n  " + piece.text.lstrip())
        if piece.kind == "pair_close":
            yield answer.with_(at, piece.text.rstrip() + "\n  ")


# Headers


@kind("header text missing")
def _(answer: Answer) -> Iterator[str]:
    """Leave out a constant between two slots, or a part of it: the text around a name, an id or an index."""
    for at in answer.places("between", call=0) if answer.ir.tools.json is None else ():
        core = answer.pieces[at].text
        parts = re.findall(r"<[^<>]*>|\[[A-Z_]+\]|\w+|[^\w<>\[\]]+", core)
        for index, part in enumerate(parts):
            if len(parts) > 2 and is_distinctive(part) and re.search(r"\w{3,}", part):
                yield answer.with_(at, "".join(parts[:index] + parts[index + 1 :]))


@kind("word of the opener missing")
def _(answer: Answer) -> Iterator[str]:
    """Leave out `call:` or `functions.` before a name, or `function<sep>`."""
    for at in answer.places("opener")[:1]:
        text = answer.pieces[at].text
        if answer.ir.tools.json is None and (match := re.search(r"[A-Za-z]+[.:]$|(?<=>)\w+(<[^<>]*>)?$", text)):
            yield answer.with_(at, text[: match.start()])


@kind("index missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("index", call=0):
        before = answer.pieces[at - 1] if at else None
        if answer.ir.tools.json is None and before is not None and before.kind == "between" and len(before.core) == 1:
            yield answer.without(at, at - 1)


@kind("namespace before the name")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        before = answer.text[: len(text_of(answer.pieces[:at]))]
        if not before.endswith((".", ":")):
            yield answer.with_(at, "functions." + answer.pieces[at].text)
            yield answer.with_(at, "tools." + answer.pieces[at].text)


@kind("name with other separators")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        name = answer.pieces[at].text
        yield answer.with_(at, name.replace("_", "-"))
        yield answer.with_(at, name.upper())
        yield answer.with_(at, "".join(word.title() if i else word for i, word in enumerate(name.split("_"))))


@kind("name in quotes")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        before, after = answer.pieces[at - 1].text if at else "", "".join(p.text for p in answer.pieces[at + 1 :][:1])
        if '"' not in before[-1:] + after[:1] and "'" not in before[-1:]:
            yield answer.with_(at, f'"{answer.pieces[at].text}"')


@kind("space around the name")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name")[:1]:
        if answer.ir.tools.format != "keyword_arguments":
            yield answer.with_(at, " " + answer.pieces[at].text)
            yield answer.with_(at, answer.pieces[at].text + " ")


@kind("other quotes of an attribute")
def _(answer: Answer) -> Iterator[str]:
    for slot in ("name", "key"):
        for at in answer.places(slot, call=0)[:1]:
            before, after = answer.pieces[at - 1].text, answer.pieces[at + 1].text
            value = answer.pieces[at].text
            if answer.ir.tools.json is not None or answer.ir.tools.format == "keyword_arguments":
                continue
            if before.endswith('="') and after.startswith('"'):
                for quote in ("'", ""):
                    made = [replace(p) for p in answer.pieces]
                    made[at - 1] = replace(made[at - 1], text=before[:-1] + quote)
                    made[at + 1] = replace(made[at + 1], text=quote + after[1:])
                    yield text_of(made)
            elif before.endswith("=") and before[-2:-1].isalpha() and is_distinctive(before):
                yield answer.with_(at, f'"{value}"')
                yield answer.with_(at, f"'{value}'")


@kind("attribute missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("key_end", call=0)[:1]:
        pieces = answer.pieces
        types = [i for i in range(at, min(at + 3, len(pieces))) if pieces[i].kind == "type"]
        if types and pieces[at].text.startswith('"'):
            made = list(pieces)
            made[at] = replace(made[at], text='"')
            made[types[0]] = replace(made[types[0]], text="")
            closing = made[types[0] + 1]
            made[types[0] + 1] = replace(closing, text=closing.text.removeprefix('"'))
            yield text_of(made)


@kind("recipient repeats the name")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name", call=0):
        name = answer.pieces[at].text
        if answer.ir.tools.json is None and at and answer.pieces[at - 1].text.rstrip().endswith("."):
            yield answer.with_(at, f"{name}.{name}")


# Lists of calls


@kind("list brackets missing")
def _(answer: Answer) -> Iterator[str]:
    start, end = answer.ir.tools.section_start, answer.ir.tools.section_end
    if "[" in start[-6:] and end.lstrip().startswith("]") and start.strip() != "[":
        opened = start.rindex("[")
        pieces = []
        for piece in answer.pieces:
            text = piece.text
            if piece.kind == "section_start":
                text = text[: text.rindex("[")] + text[text.rindex("[") + 1 :] if opened else text
            elif piece.kind == "section_end":
                text = text.replace("]", "", 1)
            pieces.append(replace(piece, text=text))
        yield text_of(pieces)
        if answer.calls > 1:
            yield text_of([replace(p, text="\n") if p.kind == "separator" else p for p in pieces])


@kind("list where one call is expected")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and "[" not in answer.ir.tools.section_start + json_call.prefix and answer.calls == 1:
        start, end = span
        yield f"{answer.text[:start]}[{answer.text[start:end]}]{answer.text[end:]}"
    if json_call and answer.calls > 1 and json_call.suffix.strip() and json_call.prefix.strip():
        joint = json_call.suffix + answer.ir.tools.separator + json_call.prefix
        if joint in answer.text and is_distinctive(joint):
            start = answer.text.index(json_call.prefix) + len(json_call.prefix)
            end = answer.text.rindex(json_call.suffix)
            body = answer.text[start:end].replace(joint, ", ")
            yield f"{answer.text[:start]}[{body}]{answer.text[end:]}"


@kind("two calls in one pair of markers")
def _(answer: Answer) -> Iterator[str]:
    json_call = answer.ir.tools.json
    if json_call and answer.calls > 1 and is_distinctive(json_call.prefix):
        joint = json_call.suffix + answer.ir.tools.separator + json_call.prefix
        for between in ("\n", ", ", ",\n", "; "):
            yield answer.text.replace(joint, between)


@kind("call list missing in keyword calls")
def _(answer: Answer) -> Iterator[str]:
    tools = answer.ir.tools
    if tools.json is None and "(" in answer.text and "[" in tools.section_start and "]" in tools.section_end:
        made = []
        for piece in answer.pieces:
            text = piece.text
            if piece.kind == "section_start" and is_distinctive(text):
                text = text.replace("[", "")
            elif piece.kind == "section_end" and is_distinctive(text):
                text = text.replace("]", "")
            made.append(replace(piece, text=text))
        if text_of(made) != answer.text:
            yield text_of(made)


@kind("JSON calls for keyword calls")
def _(answer: Answer) -> Iterator[str]:
    tools = answer.ir.tools
    start, end = tools.section_start.strip(), tools.section_end.strip()
    if tools.format == "keyword_arguments" and is_distinctive(start) and answer.calls:
        calls = [call["function"] for call in answer.message["tool_calls"]]
        text = json.dumps([{"name": call["name"], "arguments": call["arguments"]} for call in calls])
        yield _with_calls(answer, start.removesuffix("[") + text + end.removeprefix("]"))


def _with_calls(answer: Answer, text: str) -> str:
    """Return the answer with another text in place of everything between the section's ends, these included."""
    before = [p for p in answer.pieces if p.kind not in OF_CALLS]
    first = next(at for at, p in enumerate(answer.pieces) if p.kind in OF_CALLS)
    return text_of(answer.pieces[:first]) + text + text_of(before[first:])


@kind("text between calls")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("separator"):
        if answer.pieces[at].core in (",", ";", ""):
            yield answer.with_(at, "\n")
            yield answer.with_(at, ";" if answer.pieces[at].core == "," else ",")
    if answer.calls > 1 and not answer.places("separator"):
        at = answer.places("opener", call=1)[:1]
        if at and is_distinctive(answer.pieces[at[0]].text):
            yield answer.with_(at[0], "," + answer.pieces[at[0]].text)
            yield answer.with_(at[0], "\n\n" + answer.pieces[at[0]].text.lstrip())


# Fences


@kind("fence around the calls")
def _(answer: Answer) -> Iterator[str]:
    places = [at for at, p in enumerate(answer.pieces) if p.kind in OF_CALLS]
    if places and "```" not in answer.text and is_distinctive(answer.pieces[places[0]].text):
        first, last = places[0], places[-1] + 1
        before, inside, after = (text_of(answer.pieces[a:b]) for a, b in ((0, first), (first, last), (last, None)))
        for word in ("json", "", "xml"):
            yield f"{before.rstrip()}\n```{word}\n{inside.strip()}\n```{after}"
            break


@kind("fence around the object")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and answer.calls == 1 and "```" not in answer.text and is_distinctive(json_call.prefix):
        start, end = span
        yield f"{answer.text[:start].rstrip()}\n```json\n{answer.text[start:end]}\n```\n{answer.text[end:].lstrip()}"


@kind("fence around the arguments")
def _(answer: Answer) -> Iterator[str]:
    at = _arguments(answer)
    if at is not None and answer.ir.tools.json is None and "```" not in answer.text:
        yield answer.with_(at, f"\n```json\n{answer.pieces[at].text}\n```\n")


@kind("fence missing")
def _(answer: Answer) -> Iterator[str]:
    if "```" in answer.text and answer.calls == 1:
        yield re.sub(r"\n?```(?:json)?\n?", "\n", answer.text)


# Ends


@kind("special token at the end")
def _(answer: Answer) -> Iterator[str]:
    for token in answer.tokens:
        if token not in answer.text:
            yield answer.text.rstrip() + token
            yield answer.without(*answer.places("turn_end")) + token


@kind("turn end missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("turn_end"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.without(at)


@kind("turn end twice")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("turn_end"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.text.rstrip() + answer.pieces[at].core


@kind("turn end cut")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("turn_end"):
        core = answer.pieces[at].core
        if is_distinctive(core) and answer.ir.turn.ends[0].strip() == core:
            yield text_of(answer.pieces[:at]) + core[: max(3, len(core) // 2)]
            yield text_of(answer.pieces[:at]) + core[:-1]


@kind("last closer cut")
def _(answer: Answer) -> Iterator[str]:
    ends = answer.places("section_end", "closer")
    if ends and is_distinctive(answer.pieces[ends[-1]].text):
        at = ends[-1]
        if all(p.kind == "turn_end" for p in answer.pieces[at + 1 :]):
            before = text_of(answer.pieces[:at])
            yield before + answer.pieces[at].text.rstrip()[:-1]
            yield before + answer.pieces[at].text.rstrip()[: -len(answer.pieces[at].core) // 2]


@kind("content markers missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("content_end"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.without(at)
    for at in answer.places("content_start"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.without(at)


@kind("content marker twice")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("content_start", "content_end"):
        if is_distinctive(answer.pieces[at].text):
            yield answer.with_(at, answer.pieces[at].text + answer.pieces[at].text.lstrip())


@kind("header again")
def _(answer: Answer) -> Iterator[str]:
    header = answer.ir.turn.header
    if is_distinctive(header) and not answer.head.strip():
        yield header + answer.text


# JSON


def _changed(answer: Answer, change: Callable[[str], str]) -> Iterator[str]:
    """Yield the answer with the object of a call, or its arguments, changed."""
    span, at = _object(answer), _arguments(answer)
    if span:
        start, end = span
        made = change(answer.text[start:end])
        if made != answer.text[start:end]:
            yield answer.text[:start] + made + answer.text[end:]
    elif at is not None:
        made = change(answer.pieces[at].text)
        if made != answer.pieces[at].text:
            yield answer.with_(at, made)


def _json(name: str, change: Callable[[str], str]) -> None:
    KINDS[name] = lambda answer: _changed(answer, change)


_json("trailing comma", lambda text: re.sub(r"(\s*\})$", r",\1", text))
_json("trailing comma inside", lambda text: re.sub(r"(\s*\}\s*\})$", r",\1", text) if "}}" in text else text)
_json("missing comma", lambda text: re.sub(r",(\s*\")", r"\1", text[::1]) if text.count(",") == 1 else text)
_json("line comment", lambda text: re.sub(r",\s*\"", ', // as asked\n"', text, count=1))
_json("block comment", lambda text: re.sub(r",\s*\"", ', /* as asked */ "', text, count=1))
_json("smart quotes", lambda text: re.sub(r'"([^"]*)"', "“\\1”", text))
_json("escaped quotes", lambda text: text.replace('"', '\\"'))
_json("doubled braces", lambda text: text.replace("{", "{{").replace("}", "}}"))
_json("single quotes", lambda text: text.replace('"', "'"))
_json("bare keys", lambda text: re.sub(r'"(\w+)":', r"\1:", text))
_json("quote missing after a key", lambda text: re.sub(r'"(days|zone|tags|city)":', r'"\1:', text, count=1))
_json("quote missing before a key", lambda text: re.sub(r'"(days|zone|tags|city)":', r'\1":', text, count=1))
_json("quote missing after the name", lambda text: re.sub(r'(name"\s*:\s*"\w+)",', r"\1,", text, count=1))
_json("colon missing", lambda text: re.sub(r'"days":', '"days"', text, count=1))
_json("equals for colon", lambda text: re.sub(r'"(days|zone|city)":', r'"\1"=', text, count=1))
_json("one brace missing", lambda text: re.sub(r"\s*\}$", "", text))
_json("one brace too many", lambda text: text + "}")
_json("Python words", lambda text: re.sub(r"\btrue\b", "True", re.sub(r"\bnull\b", "None", text)))
_json("string not quoted", lambda text: text.replace('"Oslo"', "Oslo").replace('"CET"', "CET"))
_json("pretty", lambda text: _pretty(text))
_json("compact", lambda text: json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False))


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


@kind("arguments under another key")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and json_call.arguments:
        own = json_call.arguments[-1]
        for word in ("args", "input", "parameters", "arguments", "params", "kwargs"):
            if word != own:
                yield _in_object(answer, span, lambda text, word=word: text.replace(f'"{own}"', f'"{word}"', 1))


@kind("name under another key")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and json_call.name:
        own = json_call.name[-1]
        for word in ("name", "function", "tool", "tool_name", "function_name"):
            if word != own:
                yield _in_object(answer, span, lambda text, word=word: text.replace(f'"{own}"', f'"{word}"', 1))


def _in_object(answer: Answer, span: tuple[int, int], change: Callable[[str], str]) -> str:
    start, end = span
    return answer.text[:start] + change(answer.text[start:end]) + answer.text[end:]


@kind("arguments next to the name")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and json_call.arguments and json_call.name:
        call = answer.message["tool_calls"][0]["function"]
        if call["arguments"] and "name" not in call["arguments"]:
            flat = {json_call.name[-1]: call["name"], **call["arguments"]}
            yield _in_object(answer, span, lambda text: json.dumps(flat))


@kind("arguments as text")
def _(answer: Answer) -> Iterator[str]:
    at = _arguments(answer)
    if at is not None and answer.ir.tools.arguments == ObjectArguments():
        yield answer.with_(at, json.dumps(answer.pieces[at].text))


@kind("call in the member function")
def _(answer: Answer) -> Iterator[str]:
    span, json_call = _object(answer), answer.ir.tools.json
    if span and json_call and json_call.arguments and len(json_call.name) == 1 and not json_call.id:
        yield _in_object(answer, span, lambda text: f'{{"type": "function", "function": {text}}}')


@kind("object call in a header format")
def _(answer: Answer) -> Iterator[str]:
    """Write {"name": …, "arguments": …} if the format has name and arguments in a row."""
    at = _arguments(answer)
    if at is not None and answer.ir.tools.json is None and answer.calls == 1:
        call = answer.message["tool_calls"][0]["function"]
        yield answer.with_(at, json.dumps({"name": call["name"], "arguments": call["arguments"]}))


@kind("text around the object")
def _(answer: Answer) -> Iterator[str]:
    at = _arguments(answer)
    if at is not None and answer.ir.tools.json is None:
        yield answer.with_(at, "\n" + answer.pieces[at].text + "\n")


@kind("arguments missing")
def _(answer: Answer) -> Iterator[str]:
    """Write no arguments at all in a call without arguments."""
    if answer.calls and not answer.message["tool_calls"][0]["function"]["arguments"]:
        for at in answer.places("arguments", "args_empty", call=0):
            if answer.ir.tools.json is None and answer.ir.tools.format != "keyword_arguments":
                yield answer.without(at)
            yield answer.with_(at, "null") if answer.ir.tools.json is not None else answer.with_(at, "{ }")
        span, json_call = _object(answer), answer.ir.tools.json
        if span and json_call and json_call.arguments and json_call.name:
            yield _in_object(answer, span, lambda text: re.sub(r',\s*"\w+":\s*\{\s*\}', "", text))


# Pairs


@kind("value closer missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("pair_close"):
        if is_distinctive(answer.pieces[at].text):
            space = "\n" if answer.pieces[at].text.endswith("\n") or "\n" in answer.pieces[at].text else ""
            yield answer.with_(at, space)


@kind("pair opener missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("pair_open")[:2]:
        if is_distinctive(answer.pieces[at].text):
            yield answer.without(at)


@kind("key's end missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("key_end", call=0)[:1]:
        core = answer.pieces[at].core
        if core in (">", '">') and "\n" in answer.pieces[at].text:
            yield answer.with_(at, answer.pieces[at].text.replace(">", ""))


@kind("name's end missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("name", call=0):
        after = answer.pieces[at + 1] if at + 1 < len(answer.pieces) else None
        if after is not None and after.core in (">", '">') and "\n" in after.text and answer.places("pair_open"):
            yield answer.with_(at + 1, after.text.replace(">", ""))


@kind("object for pairs")
def _(answer: Answer) -> Iterator[str]:
    if not isinstance(answer.ir.tools.arguments, PairArguments) or not answer.calls:
        return
    places = [at for at, p in enumerate(answer.pieces) if p.call == 0 and p.kind in PAIRS and p.kind != "args_empty"]
    arguments = answer.message["tool_calls"][0]["function"]["arguments"]
    if places and arguments:
        first, last = places[0], places[-1] + 1
        pieces = answer.pieces
        starts = [at for at in (first, last - 1) if pieces[at].kind in ("args_start", "args_end")]
        inner = json.dumps(arguments)
        if (len(starts) == 2 and pieces[first].core.endswith("(")) or not starts:
            opened = pieces[first].text if starts else ""
            closed = pieces[last - 1].text if starts else ""
            line = "\n" * ("\n" in text_of(pieces[first:last]))
            made = opened + inner + closed if starts else inner + line
            yield text_of(pieces[:first]) + made + text_of(pieces[last:])


@kind("self-closing call")
def _(answer: Answer) -> Iterator[str]:
    if answer.calls != 1 or answer.message["tool_calls"][0]["function"]["arguments"]:
        return
    tools = answer.ir.tools
    closer = "".join(item.text for item in tools.call[-1:] if isinstance(item, Text))
    places = list(answer.places("name", call=0))
    tail = answer.text[len(text_of(answer.pieces[: places[0] + 1])) :]
    if match := re.match(r'("?)>\s*(</[\w:｜]+>)', tail):
        if match[2] in closer and tools.json is None:
            cut = len(answer.text) - len(tail)
            yield answer.text[:cut] + match[1] + "/>" + tail[match.end() :]
            yield answer.text[:cut] + match[1] + " />" + tail[match.end() :]


@kind("value in another form")
def _(answer: Answer) -> Iterator[str]:
    """Write a value of another type that the schema identifies: "3" for an integer, True, 1 for a boolean."""
    if not answer.places("value") or answer.ir.tools.dialect is None or answer.ir.tools.dialect.top.strings:
        return
    for at in answer.places("value"):
        text = answer.pieces[at].text
        if text == "3":
            yield answer.with_(at, '"3"')
            yield answer.with_(at, " 3 ")
            yield answer.with_(at, "'3'")
        if text in ("true", "True"):
            for other in ("True", "true", "TRUE", "1", '"true"'):
                if other != text:
                    yield answer.with_(at, other)
        if text[:1] in "[{" and '"' in text:
            yield answer.with_(at, text.replace('"', '\\"'))
            yield answer.with_(at, json.dumps(text))
            yield answer.with_(at, text.replace('"', "'"))


# Python


@kind("Python call otherwise")
def _(answer: Answer) -> Iterator[str]:
    if answer.ir.tools.format != "keyword_arguments" and "(" not in answer.ir.tools.section_start + text_of(
        [p for p in answer.pieces if p.kind in ("between", "args_start")]
    ):
        return
    for at in answer.places("value"):
        text = answer.pieces[at].text
        if (text.startswith("[") and "'" in text) or text.startswith('["'):
            yield answer.with_(at, "{" + text[1:-1] + "}")
        if text[:1] == "'":
            yield answer.with_(at, '"' + text[1:-1] + '"')
        elif text[:1] == '"':
            yield answer.with_(at, "'" + text[1:-1] + "'")
        if text == "True":
            yield answer.with_(at, "true")


@kind("equals otherwise in keyword calls")
def _(answer: Answer) -> Iterator[str]:
    if answer.ir.tools.format == "keyword_arguments":
        for at in answer.places("key_end", call=0)[:1]:
            if answer.pieces[at].text == "=":
                yield answer.with_(at, " = ")
                yield answer.with_(at, ": ")


def slips(
    answer: Answer, kinds: Mapping[str, Kind], names: Sequence[str] = (), *, most: int = 3
) -> Iterator[tuple[str, str]]:
    """Yield slips of an answer, of each kind so many at most: the kind, and the text."""
    for name, made in kinds.items():
        if names and not any(word in name for word in names):
            continue
        texts = [text for text in dict.fromkeys(made(answer)) if text != answer.text]
        count = min(most, len(texts))
        for at in sorted({len(texts) * place // count for place in range(count)}):
            yield name, texts[at]
