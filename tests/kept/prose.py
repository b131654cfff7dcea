r"""Messages whose prose is made of the words and pieces of a format's own markers: what means nothing there is text.

words_of(ir)      →  "tool", "call", "end", …                      of "<|tool call end|>"
fragments_of(ir)  →  "<|tool", "end|>", "|tool call end|>", …      no fragment holds what is a marker as a whole
marks_of(ir)      →  "Answer:", …                                  markers that people write as well
cases(ir)         →  Case("content: a sentence with 'tool'", content="So it says: no tool here …"), …
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tests.fuzz.outputs import markers_of
from tplc.ir.markers import could_be_prose, is_word, parts_of, pieces_of
from tplc.ir.nodes import PairArguments, Slot, TemplateIR, Text
from tplc.ir.write import write_message
from tplc.verify.battery import Call, Case

# More of one format teach nothing new.
MOST_WORDS = 60
_ANSWER = "It is so."
_QUOTED = {"type": "function", "function": {"name": "look", "arguments": {"q": "Oslo"}}}
_CALL = Call("look", (("q", "Oslo"),))


def words_of(ir: TemplateIR) -> list[str]:
    found = [word for marker in _markers(ir) for word in re.findall(r"[^\W_]+|\w+", marker)]
    reported = [word for word in found if any(map(str.isalnum, word)) and len(word) <= 40]
    return list(dict.fromkeys(reported))[:MOST_WORDS]


def fragments_of(ir: TemplateIR) -> list[str]:
    """Return pieces that are no marker: words with the punctuation next to them, and markers that lack one
    character."""
    markers = _markers(ir)
    pieces = [piece for marker in markers for one in pieces_of(marker) for piece in (one, *parts_of(one))]
    whole = [piece for piece in [*pieces, *(marker.strip() for marker in markers)] if not could_be_prose(piece)]
    cut = [token for marker in markers for token in marker.split()]
    cut += [part for piece in whole for part in (piece[1:], piece[:-1], *re.findall(r"\w+\W|\W\w+", piece))]
    fragments = [text.strip() for text in cut if any(map(str.isalnum, text)) and len(text) <= 60]
    fragments = [text for text in fragments if text[0] not in ")]}"]  # right after a call they close it
    characters = [marker.strip() for marker in markers if not is_word(marker) and len(marker.strip()) > 1]
    never = [*whole, *characters, *marks_of(ir), "{", "["]
    return list(dict.fromkeys(text for text in fragments if not any(piece in text for piece in never)))[:MOST_WORDS]


def marks_of(ir: TemplateIR) -> list[str]:
    """Return the markers that are prose: they are text as well, except in the part that they close, or where they open
    one."""
    found = (marker.strip() for marker in _markers(ir) if is_word(marker))
    return list(dict.fromkeys(text for text in found if "{" not in text and len(text) <= 60))


def _markers(ir: TemplateIR) -> list[str]:
    return list(dict.fromkeys([*markers_of(ir), *ir.turn.anchors, *ir.turn.ends]))


def names_of(ir: TemplateIR) -> list[str]:
    """Return words that a function can have as its name, except those that are a marker together with the text that
    opens a name."""
    words = [word for word in words_of(ir) if re.fullmatch(r"[A-Za-z_]\w*", word, re.ASCII)]
    at = next((at for at, item in enumerate(ir.tools.call) if item == Slot("name")), 0)
    before = ir.tools.call[at - 1] if at else None
    opener = before.text.split("\n")[-1].lstrip() if isinstance(before, Text) else ""
    return [word for word in words if not opener or not any(opener + word in marker for marker in _markers(ir))]


def cases(ir: TemplateIR) -> Iterator[Case]:
    """Yield one word or fragment at a time, then all of them."""
    words, fragments, marks = words_of(ir), fragments_of(ir), marks_of(ir)
    for kind, of in (("sentence", _sentence), ("lines", _lines), ("start", _start)):
        for reported in [*([word] for word in [*words, *fragments]), words, fragments]:
            text = of(reported) if reported else ""
            # A history without the header of the prompt shows no difference between that and this text.
            if text and not (ir.turn.header.strip() and text.startswith(ir.turn.header.strip())):
                yield from _placed(_title(kind, reported), text)
    for reported in [*([mark] for mark in marks), marks]:
        if reported:
            yield Case(f"content: {_title('sentence', reported)}", content=_sentence(reported))
            yield Case(f"content: {_title('lines', reported)}", content=_lines(reported))
    for quoted in quotes_of(ir):
        yield Case(
            f"value that quotes {quoted!r}", calls=(Call("look", (("q", f"It is {quoted} here."), ("rest", "x"))),)
        )
    for name in names_of(ir):
        yield Case(f"called {name!r}", calls=(Call(name, _CALL.arguments),))
        yield Case(f"called with {name!r}", calls=(Call(f"{name}_all", ((name, "Oslo"), (f"the_{name}", 3))),))
        yield Case(f"about {name!r}", calls=(Call("look", (("of", name), ("title", name.title()))),))


def quotes_of(ir: TemplateIR) -> list[str]:
    """Return markers, and a whole call, that values may quote: of raw values, what holds none of their closers."""
    if ir.tools.format == "none":
        return []
    dialect, arguments = ir.tools.dialect, ir.tools.arguments
    raw = isinstance(arguments, PairArguments) and dialect is not None and not dialect.top.strings
    closers = [
        text for item in (arguments.pair if raw else ()) if isinstance(item, Text) for text in pieces_of(item.text)
    ]
    styles = (dialect.top, dialect.in_list, dialect.in_object) if dialect is not None else ()
    closers += [one.close for style in styles for one in style.strings if one.escape == "none"]
    quotes = [piece for marker in _markers(ir) for piece in pieces_of(marker) if piece.strip()]
    quotes.append(write_message(ir, {"role": "assistant", "content": None, "tool_calls": [_QUOTED]}).strip())
    return [text for text in dict.fromkeys(quotes) if not any(closer.strip() in text for closer in closers)]


def _title(kind: str, reported: Sequence[str]) -> str:
    return f"{kind} with {reported[0]!r}" if len(reported) == 1 else f"{kind} with all of them"


def _placed(title: str, text: str) -> Iterator[Case]:
    yield Case(f"content: {title}", content=text)
    yield Case(f"content before a call: {title}", content=text, calls=(_CALL,))
    yield Case(f"reasoning: {title}", reasoning=text, content=_ANSWER)
    yield Case(f"value: {title}", calls=(Call("look", (("q", text), ("rest", "x"))),))


def _sentence(words: Sequence[str]) -> str:
    return "So it says: " + ", ".join(f"no {word} here, {word.title()}s un{word}ed" for word in words) + ". All done."


def _lines(words: Sequence[str]) -> str:
    return "So:\n\n" + "\n".join(f"{word}: one\n- {word} two\n{word}\n" for word in words) + "\nThat is all."


def _start(words: Sequence[str]) -> str:
    return f"{words[0].title()}: it says {words[0]} here." if len(words) == 1 else " ".join(words) + " are its words"
