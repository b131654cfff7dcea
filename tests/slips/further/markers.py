"""Slips in markers: how tags are spelled, which are missing, and the white space around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.slips.further.registry import (
    after,
    before,
    calls_span,
    further,
    has_line_breaks,
    last_closer,
    mapped,
    replaced,
)
from tests.slips.kinds import Answer
from tests.slips.written import text_of

CLOSERS = ("closer", "section_end", "pair_close")
MARKERS = ("section_start", "opener", "between", "reasoning_start", "reasoning_end", "pair_open", "key_end", *CLOSERS)
MARKERS = (*MARKERS, "content_start", "content_end")
TAG = re.compile(r"<[^<>\s{}]*[A-Za-z]{3,}[^<>{}]*>|\[/?[A-Z_]{4,}\]")

# name, the tags that it is about, the pattern that it replaces in them, the replacement, the kinds of pieces
RESPELLED: tuple[tuple[str, str, str, str | Callable[[re.Match[str]], str], tuple[str, ...]], ...] = (
    ("in title case", "", r"[A-Za-z]+", lambda match: match[0].capitalize(), MARKERS),
    ("in camel case", "", r"[_▁-]([a-z])", lambda match: match[1].upper(), MARKERS),
    ("without separators", "", r"(?<=\w)[_▁-](?=\w)", "", MARKERS),
    ("with spaces for separators", "", r"(?<=\w)[_▁](?=\w)", " ", MARKERS),
    ("with full-width brackets", r"[^|｜]*", r"[<>]", lambda match: "＜" if match[0] == "<" else "＞", MARKERS),
    ("with full-width bars", r".*\|.*", r"\|", "｜", MARKERS),
    ("with another bracket at its end", "", r"(.)$", r"\1\1", MARKERS),
    ("with another bracket at its start", "", r"^(.)", r"\1\1", MARKERS),
    ("without its last bracket", "", r".$", "", CLOSERS),
    ("without its last bar", r".*\|>", r"\|>$", ">", MARKERS),
    ("with bars", r"[^|｜=/]*", r"^(.)(.*)(.)$", r"\1|\2|\3", MARKERS),
    ("with a backslash for the slash", r"</.*", r"^</", r"<\\", MARKERS),
    ("without its slash", r"</.*", r"^</", "<", ("closer", "section_end")),
    ("with its slash at the end", r"</.*", r"^</(.*)>$", r"<\1/>", CLOSERS),
    ("in the plural", "", r"(call)(>|\|>)", r"\1s\2", MARKERS),
    ("with a space inside its start", "", r"^(</?|\[/?)", r"\1 ", MARKERS),
    ("with a space inside its end", "", r"(.)$", r" \1", MARKERS),
)


def tags(answer: Answer) -> Iterator[tuple[int, str]]:
    """Yield the tags in markers, each once, with the places of their pieces."""
    seen = set()
    for at in answer.places(*MARKERS):
        for tag in TAG.findall(answer.pieces[at].text):
            if tag not in seen:
                seen.add(tag)
                yield at, tag


def _respell(
    name: str, about: str, old: str, new: str | Callable[[re.Match[str]], str], kinds: tuple[str, ...]
) -> None:
    @further(f"tag {name}")
    def _(answer: Answer) -> Iterator[str]:
        for at, tag in tags(answer):
            piece = answer.pieces[at]
            if piece.kind in kinds and (not about or re.fullmatch(about, tag)):
                yield answer.with_(at, piece.text.replace(tag, re.sub(old, new, tag), 1))


for _row in RESPELLED:
    _respell(*_row)


@further("tokenizer's spaces inside of a marker")
def _(answer: Answer) -> Iterator[str]:
    """SentencePiece writes a space as ▁, byte-level BPE as Ġ."""
    for at in answer.places(*MARKERS):
        text = answer.pieces[at].text
        if re.match(r"\s*[<\[]", text) and re.search(r"(?<=\w) (?=\w)", text):
            for space in "▁Ġ":
                yield answer.with_(at, re.sub(r"(?<=\w) (?=\w)", space, text))


# Reasoning


@further("reasoning closed again at the end of content")
def _(answer: Answer) -> Iterator[str]:
    end = answer.ir.reasoning.end.strip()
    if end and not answer.calls:
        for at in answer.places("content"):
            yield answer.with_(at, answer.pieces[at].text + "\n" + end)


@further("header again before open reasoning")
def _(answer: Answer) -> Iterator[str]:
    header, start = answer.ir.turn.header, answer.ir.reasoning.start
    if header.strip() and answer.message.get("reasoning_content") and not answer.places("reasoning_start"):
        yield header + answer.text
        yield header + start + answer.text


@further("reasoning closed first")
def _(answer: Answer) -> Iterator[str]:
    end = answer.ir.reasoning.end
    if end.strip() and not answer.message.get("reasoning_content"):
        yield end + answer.text
        yield end.strip() + "\n\n" + answer.text


@further("other white space around the end of reasoning")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("reasoning_end"):
        yield answer.with_(at, "\n\n" + answer.pieces[at].core + "\n\n\n")
        yield answer.with_(at, answer.pieces[at].core)


# White space


@further("white space first")
def _(answer: Answer) -> Iterator[str]:
    yield from ("\n" + answer.text, "\n\n" + answer.text, " " + answer.text)


@further("white space last")
def _(answer: Answer) -> Iterator[str]:
    text = answer.without(*answer.places("turn_end"))
    yield from (text + "\n", text + "\n\n", answer.text + "\n")


@further("CRLF")
def _(answer: Answer) -> Iterator[str]:
    if "\n" in answer.text and not has_line_breaks(answer):
        yield answer.text.replace("\n", "\r\n")


@further("all in one line")
def _(answer: Answer) -> Iterator[str]:
    if "\n" in answer.text and answer.calls and not has_line_breaks(answer):
        yield replaced(answer, {at: p.text.replace("\n", "") for at, p in enumerate(answer.pieces) if p.kind != "name"})


@further("markers on lines of their own")
def _(answer: Answer) -> Iterator[str]:
    if answer.calls and not answer.ir.tools.json:
        places = answer.places("section_start", "section_end", "closer")
        yield replaced(answer, {at: "\n" + answer.pieces[at].core + "\n" for at in places})


@further("pairs indented, or with empty lines between")
def _(answer: Answer) -> Iterator[str]:
    yield mapped(answer, "pair_open", lambda text: "\n    " + text.lstrip())
    yield mapped(answer, "pair_close", lambda text: text.rstrip() + "\n\n" if text.strip() else text)


# Ends


@further("another special token last")
def _(answer: Answer) -> Iterator[str]:
    yield answer.without(*answer.places("turn_end")).rstrip() + "\n<|what|>"


@further("another end of the turn")
def _(answer: Answer) -> Iterator[str]:
    for end in answer.ir.turn.ends[1:]:
        for at in answer.places("turn_end")[:1]:
            if end.strip():
                yield answer.with_(at, end)


@further("another turn begins")
def _(answer: Answer) -> Iterator[str]:
    header = answer.ir.turn.header
    if re.search(r"[<\[]", header):
        yield answer.text.rstrip() + "\n" + header
        yield answer.text.rstrip() + header[:-2]


@further("marker of calls truncated")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("section_end", "closer")[-1:]:
        core, text = answer.pieces[at].core, answer.pieces[at].text.rstrip()
        for missing in (1, 2, len(core) // 2):
            if len(core) - missing > 2:
                yield before(answer, at) + text[: len(text) - missing]


# Openers and closers


@further("section without opener and closer")
def _(answer: Answer) -> Iterator[str]:
    places = answer.places("section_start", "section_end")
    if len(places) > 1:
        yield answer.without(*places)


@further("opener of an object missing")
def _(answer: Answer) -> Iterator[str]:
    json_call = answer.ir.tools.json
    if json_call and json_call.prefix.strip() and answer.places("section_start"):
        for at in answer.places("opener")[:1]:
            yield answer.with_(at, answer.pieces[at].text[len(json_call.prefix) :])


@further("closer of the first of two calls missing")
def _(answer: Answer) -> Iterator[str]:
    closer = last_closer(answer)
    if answer.calls > 1 and len(closer.strip()) > 1:
        for at in answer.places("closer")[:1]:
            for left in ("", "\n"):
                yield answer.with_(at, answer.pieces[at].text.removesuffix(closer) + left)


@further("closers missing, and the end of the turn")
def _(answer: Answer) -> Iterator[str]:
    places = answer.places("closer", "section_end")
    if places and answer.calls == 1 and not answer.ir.tools.json:
        yield answer.without(*places, *answer.places("turn_end"))


@further("closers in the other order")
def _(answer: Answer) -> Iterator[str]:
    closers, ends = answer.places("closer")[-1:], answer.places("section_end")
    if closers and ends and not answer.ir.tools.json:
        first, last = answer.pieces[closers[0]].text, answer.pieces[ends[0]].text
        yield replaced(answer, {closers[0]: last, ends[0]: first})


@further("closer after content")
def _(answer: Answer) -> Iterator[str]:
    tools = answer.ir.tools
    closer = (tools.json.suffix if tools.json else getattr(tools.call[-1:] and tools.call[-1], "text", "")).strip()
    closer = closer or tools.section_end.strip()
    if not answer.calls and len(closer) > 3 and re.match(r"[<\[].*[>\]]$", closer):
        for at in answer.places("content"):
            yield answer.with_(at, answer.pieces[at].text + closer)
            yield answer.with_(at, answer.pieces[at].text + "\n" + closer)


@further("empty call first")
def _(answer: Answer) -> Iterator[str]:
    tools = answer.ir.tools
    if answer.calls and tools.json and len(tools.json.prefix.strip()) > 3 and len(tools.json.suffix.strip()) > 3:
        for at in answer.places("opener", call=0):
            empty = tools.json.prefix + tools.json.suffix + tools.separator
            yield before(answer, at) + empty + after(answer, at)


# Fences and lists


@further("fence around the calls, any word")
def _(answer: Answer) -> Iterator[str]:
    span = calls_span(answer)
    if span and "```" not in answer.text:
        start, end = before(answer, span[0]).rstrip(), after(answer, span[1])
        middle = text_of(answer.pieces[slice(*span)])
        if re.match(r"\s*[<\[]", middle):
            for word in ("json", "", "xml", "tool_call", "python", "tool_code"):
                yield f"{start}\n```{word}\n{middle.strip()}\n```{end}"
            yield f"{start}\n`{middle.strip()}`{end}"


@further("fence otherwise")
def _(answer: Answer) -> Iterator[str]:
    for old, new in (("```json", "```"), ("```json", "```JSON"), ("```json", "``` json"), ("```json\n?", "")):
        if "```json" in answer.text:
            yield re.sub(old, new, answer.text)
    if "```json" in answer.text:
        yield re.sub("\n?```(?!json)", "", answer.text)


@further("separator of calls otherwise")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("separator"):
        for text in ("\n", ", ", ",\n", "; ", "", " "):
            yield answer.with_(at, text)
    for at in answer.places("opener", call=1) if not answer.places("separator") else ():
        for text in (", ", ",\n", "\n\n", "; ", " "):
            yield before(answer, at).rstrip() + text + after(answer, at).lstrip()


@further("one bracket of the list missing, or both twice")
def _(answer: Answer) -> Iterator[str]:
    tools = answer.ir.tools
    starts, ends = answer.places("section_start"), answer.places("section_end")
    if tools.section_start.rstrip().endswith("[") and tools.section_end.lstrip().startswith("]") and starts and ends:
        opened, closed = answer.pieces[starts[0]].text, answer.pieces[ends[0]].text
        if tools.section_start.strip() != "[":
            yield answer.with_(starts[0], opened.rstrip()[:-1])
            yield answer.with_(ends[0], closed.replace("]", "", 1))
        yield replaced(answer, {starts[0]: opened + "[", ends[0]: "]" + closed})


@further("content marker missing")
def _(answer: Answer) -> Iterator[str]:
    for at in answer.places("content_start", "content_end"):
        if len(answer.pieces[at].core) > 2:
            yield answer.without(at)
