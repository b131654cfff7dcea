"""Make outputs that a model might write: random ones, mutated ones, and ones made of a format's own parts.

Writer(format, random.Random(1)).output()  →  ("parts", '<call>{"name": "lookup", "argu<call>')
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from tests.fuzz.formats import Format, collected_outputs
from tplc.errors import TplcError
from tplc.ir.nodes import Layout, PairArguments, TemplateIR, Text
from tplc.ir.write import write_parts

KINDS = ("random", "soup", "mutated", "parts", "pieces")

CHARACTERS = "{}[]()<>\"'`\\/:;,.=|&#!?*+-_~@$%^"
ODD = (
    "\0\x01\x07\x0b\x0c\x1b\x1c\x7f\x85\xa0\u00ad\u0301\u200b\u2028\u2029\u202e\ufeff\ufffd\ud800\udc00\udfff\U0001f389"
)
WORDS = """
    the city of Paris null true false None True False nan NaN inf -Infinity 0 1 -1 2.5 1e9 1e999 007 0x1F 1_000 +1 .5 5.
    -0 00 1e 1e+ --1 lookup get_weather name arguments id type function parameters ünïcode 世界 é
""".split()
_FRAGMENTS = r"""
    {"a":~1} {} [] {'a':~True} " \" \ \u00 \u00e9 \ud800 \x41 \N{DASH} \' \8
    {"name":~"lookup",~"arguments":~{"city":~"Paris"}}
    {"name":~ "arguments":~ {"arguments":~{},~"name":~"f"} "arguments":~"{\"a\":~1}" {"a":~[1,~{"b":~null}] [[[ ]]] }}}
    ,~ :~ = ``` <![CDATA[ ]]> {'a':~'it's'} {"a":~"b"~"c":~d} {a:~1,~b:~two} {"a":~1,~"a":~2} //~note
"""
FRAGMENTS = [*(text.replace("~", " ") for text in _FRAGMENTS.split()), "\r\n", "\n\n", "    ", "\t"]


class Writer:
    def __init__(self, form: Format, rng: random.Random) -> None:
        self.form, self.rng = form, rng
        self.markers = tuple(sorted(set(markers_of(form.ir))))
        self.pieces = sorted({piece for marker in self.markers for piece in pieces_of(marker)}) or ["a"]
        self.names = [tool["function"]["name"] for tool in form.tools] or ["lookup"]
        self.keys = sorted({key for tool in form.tools for key in properties_of(tool)}) or ["city"]

    def output(self) -> tuple[str, str]:
        kind = self.rng.choice(KINDS)
        return kind, getattr(self, f"_{kind}")()

    # Kinds of output

    def _random(self) -> str:
        return "".join(self._char() for _ in range(self._few(60)))

    def _soup(self) -> str:
        return "".join(self._piece() for _ in range(self._few(24)))

    def _mutated(self) -> str:
        foreign = collected_outputs()
        texts = foreign if foreign and self.rng.random() < 0.15 else self.form.outputs
        return self._mutate(self.rng.choice(texts))

    def _parts(self) -> str:
        """Return a message as the template would write it, with parts of it cut, doubled, moved or replaced."""
        try:
            parts = [part.text for part in write_parts(self.form.ir, self._message())]
        except TplcError:
            parts = []  # a format that can't write this message: without calls, or its arguments
        for _ in range(self._few(4)):
            self._change(parts)
        text = "".join(parts)
        return self._mutate(text) if self.rng.random() < 0.2 else text

    def _pieces(self) -> str:
        """Return pieces of markers as people might write them: in prose, or in any place of a message."""
        rng = self.rng
        if rng.random() < 0.3:
            return self._prose(30)
        message: dict[str, Any] = {"content": self._prose(12)}
        if rng.random() < 0.5:
            message["reasoning_content"] = self._prose(12)
        if self.form.ir.tools.format != "none" and rng.random() < 0.8:
            message["tool_calls"] = [self._call_of_pieces(index) for index in range(rng.choice((1, 1, 2)))]
        try:
            parts = [part.text for part in write_parts(self.form.ir, message)]
        except TplcError:
            return self._prose(30)
        for _ in range(self._few(2)):
            parts.insert(rng.randrange(len(parts) + 1), self._prose(3))
        return "".join(parts)

    # How they are made

    def _prose(self, most: int) -> str:
        """Return pieces of markers between words."""
        rng, text = self.rng, ""
        for _ in range(1 + self._few(most)):
            piece = self._of_marker() if rng.random() < 0.6 else self._word()
            text += piece + rng.choice((" ", " ", " ", "", "\n", ", ", ". "))
        return text

    def _of_marker(self) -> str:
        """Return a piece in another case, with other white space, or as it is."""
        piece, how = self.rng.choice(self.pieces), self.rng.randrange(8)
        if how == 0:
            return piece.swapcase()
        if how == 1:
            return piece.capitalize()
        if how == 2:
            return "".join(piece.split())
        if how == 3:
            return piece.replace(" ", "  ").replace("\n", " ")
        return " ".join(BORDER.split(piece)) if how == 4 else piece

    def _call_of_pieces(self, index: int) -> dict[str, Any]:
        rng = self.rng
        keys = [self._of_marker() if rng.random() < 0.4 else rng.choice(self.keys) for _ in range(self._few(4))]
        arguments: dict[str, Any] = {key: self._prose(6) for key in keys}
        if arguments and rng.random() < 0.3:
            arguments[rng.choice(self.keys)] = [self._prose(2), {self._of_marker(): self._prose(2)}]
        name = self._of_marker() if rng.random() < 0.3 else rng.choice(self.names)
        return {"id": f"call{index:05}", "function": {"name": name, "arguments": arguments}}

    def _change(self, parts: list[str]) -> None:
        rng = self.rng
        at = rng.randrange(len(parts) + 1)
        how = rng.randrange(8)
        if how == 0 or at == len(parts):
            parts.insert(at, self._piece())
        elif how == 1:
            del parts[at]
        elif how == 2:
            parts.insert(at, parts[at])
        elif how == 3:
            parts.insert(rng.randrange(len(parts)), parts.pop(at))
        elif how == 4:
            parts[at] = parts[at][: rng.randrange(len(parts[at]) + 1)]
        elif how == 5:
            parts[at] = parts[at][rng.randrange(len(parts[at]) + 1) :]
        elif how == 6:
            parts[at] = parts[at].strip() if rng.random() < 0.5 else " ".join(parts[at])
        else:
            del parts[at:]

    def _mutate(self, text: str) -> str:
        rng = self.rng
        for _ in range(1 + self._few(4)):
            start = rng.randrange(len(text) + 1)
            end = min(len(text), start + self._few(20))
            how = rng.randrange(7)
            if how == 0:
                text = text[:start] + text[end:]
            elif how == 1:
                text = text[:end] + text[start:]
            elif how == 2:
                text = text[:start] + self._piece() + text[start:]
            elif how == 3:
                text = text[:start] + self._piece() + text[end:]
            elif how == 4:
                text = text[:start] + self._char() + text[start + 1 :]
            elif how == 5:
                at = rng.randrange(len(text) + 1)
                text = text[:at] + text[start:end] + text[at:]
            else:
                text = text[:end]
        return text

    def _message(self) -> dict[str, Any]:
        rng = self.rng
        message: dict[str, Any] = {"content": self._words() if rng.random() < 0.6 else None}
        if rng.random() < 0.5:
            message["reasoning_content"] = self._words()
        if self.form.ir.tools.format != "none" and rng.random() < 0.8:
            message["tool_calls"] = [self._call(index) for index in range(rng.choice((1, 1, 1, 2, 2, 3)))]
        return message

    def _call(self, index: int) -> dict[str, Any]:
        arguments = {
            self.rng.choice(self.keys) if self.rng.random() < 0.7 else self._word(): self._value(2)
            for _ in range(self._few(4))
        }
        name = self.rng.choice(self.names) if self.rng.random() < 0.8 else self._word()
        return {"id": f"call{index:05}", "function": {"name": name, "arguments": arguments}}

    def _value(self, depth: int) -> object:
        rng = self.rng
        kind = rng.randrange(8 if depth else 6)
        if kind == 6:
            return [self._value(depth - 1) for _ in range(self._few(3))]
        if kind == 7:
            return {self._word(): self._value(depth - 1) for _ in range(self._few(3))}
        if kind == 5:
            return "".join(self._piece() for _ in range(self._few(5)))
        if kind == 4:
            return self._words()
        return (rng.choice((True, False, None)), rng.randrange(-5, 10**6), rng.random() * 100, self._word())[kind]

    def _piece(self) -> str:
        rng = self.rng
        kind = rng.randrange(8)
        if kind < 4 and self.markers:
            marker = rng.choice(self.markers)
            if kind < 2:
                return marker
            if kind == 2:
                return marker[: rng.randrange(len(marker)) + 1]
            return marker[rng.randrange(len(marker)) :]
        if kind == 4:
            return rng.choice((*self.names, *self.keys))
        if kind == 5:
            return self._word()
        return rng.choice(FRAGMENTS) if kind == 6 else rng.choice(" \n") + self._char()

    def _word(self) -> str:
        return self.rng.choice(WORDS)

    def _words(self) -> str:
        return self.rng.choice((" ", " ", "\n", "\n\n")).join(self._word() for _ in range(1 + self._few(8)))

    def _char(self) -> str:
        rng = self.rng
        kind = rng.randrange(8)
        if kind < 3:
            return chr(rng.randrange(32, 127))
        if kind < 5:
            return rng.choice(CHARACTERS)
        if kind == 5:
            return rng.choice(" \n\t\r")
        return rng.choice(ODD) if kind == 6 else rng.choice("aé世0")

    def _few(self, most: int) -> int:
        """Return a number up to `most`, small ones more often."""
        return int(self.rng.random() ** 2 * (most + 1))


# Between a word, punctuation, and white space.
BORDER = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)|(?<=\S)(?=\s)|(?<=\s)(?=\S)")
LONGEST = 60  # a marker with more borders than that is cut at its first ones


def pieces_of(marker: str) -> Iterator[str]:
    """Yield a marker from each of its inner borders to each later one: its words, its punctuation, its beginnings and
    ends.

    "<call end>"  →  "<", "<call", "<call ", "<call end", "<call end>", "call", "call ", …
    """
    borders = [0, *(found.start() for found in BORDER.finditer(marker)), len(marker)]
    ends = borders[:LONGEST] if len(borders) > LONGEST else borders
    for at, start in enumerate(ends):
        yield from (marker[start:end] for end in ends[at + 1 :])


def markers_of(ir: TemplateIR) -> Iterator[str]:
    """Return every text that the format writes."""
    tools = ir.tools
    texts = [*ir.turn.ends, ir.turn.header, ir.reasoning.start, ir.reasoning.end, ir.content.start, ir.content.end]
    texts += [tools.section_start, tools.separator, tools.section_end, *layout_texts(tools.call)]
    texts += [prompt.head for prompt in ir.turn.prompts]
    if tools.json is not None:
        texts += [tools.json.prefix, tools.json.suffix]
    if isinstance(tools.arguments, PairArguments):
        pairs = tools.arguments
        texts += [pairs.start, pairs.separator, pairs.end, pairs.empty, *layout_texts(pairs.pair)]
    if tools.dialect is not None:
        texts += [part for string in tools.dialect.top.strings for part in (string.open, string.close)]
        if tools.dialect.elements is not None:
            texts += [tools.dialect.elements.item_open, tools.dialect.elements.item_close]
        if tools.dialect.wrap is not None:
            texts += [tools.dialect.wrap.open, tools.dialect.wrap.close]
        texts += [word.word for word in tools.dialect.types]
    return (text for text in texts if text)


def layout_texts(layout: Layout) -> Iterator[str]:
    return (item.text for item in layout if isinstance(item, Text))


def properties_of(tool: dict[str, Any]) -> list[str]:
    return list(tool["function"].get("parameters", {}).get("properties", {}))


TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


def random_tools(form: Format, rng: random.Random) -> object:
    """Return the example's own tools, others with schemas of every kind, none, or a value that isn't a list of
    tools."""
    kind = rng.randrange(10)
    if kind < 4:
        return form.tools or None
    if kind < 6:
        return None
    if kind == 6:
        return rng.choice(([], {}, "tools", 7, [None], [{}], [{"function": 3}], [{"function": {"name": None}}], ({},)))
    names = [*(tool["function"]["name"] for tool in form.tools), "f", "two\nlines", ""]
    keys = [*(key for tool in form.tools for key in properties_of(tool)), "a", "b", "city"]
    return [
        {
            "type": "function",
            "function": {"name": rng.choice(names), "parameters": _schema(rng, keys, 3)},
        }
        for _ in range(rng.randrange(1, 4))
    ]


def _schema(rng: random.Random, keys: list[str], depth: int) -> object:
    kind = rng.randrange(9)
    if depth == 3 or (kind == 0 and depth):
        properties = {rng.choice(keys): _schema(rng, keys, depth - 1) for _ in range(rng.randrange(4))}
        return {"type": "object", "properties": properties, "$defs": {"D": {"type": rng.choice(TYPES)}}}
    if kind == 1 and depth:
        return {"type": "array", "items": _schema(rng, keys, depth - 1)}
    if kind == 2:
        return {"type": [rng.choice(TYPES), rng.choice(TYPES)]}
    if kind == 3 and depth:
        return {rng.choice(("anyOf", "oneOf", "allOf")): [_schema(rng, keys, depth - 1) for _ in range(2)]}
    if kind == 4:
        return {"enum": [rng.choice(("a", 1, None, True, [], {})) for _ in range(2)]}
    if kind == 5:
        return {"$ref": rng.choice(("#/$defs/D", "#", "#/properties/a", "elsewhere", "#/$defs/none"))}
    if kind == 6:
        return rng.choice(
            (True, False, None, 3, "x", [], {}, {"type": 5}, {"type": []}, {"anyOf": 1}, {"properties": 0})
        )
    return {"type": rng.choice(TYPES), "nullable": rng.choice((True, False))}


def random_options(form: Format, rng: random.Random) -> dict[str, Any]:
    """Return keywords of a parser: tools, the prompt with or without a prefilled answer, and the switches."""
    options: dict[str, Any] = {"tools": random_tools(form, rng)}
    if rng.random() < 0.4:
        prompt = rng.choice(form.ir.turn.prompts).text if form.ir.turn.prompts else ""
        options["prompt"] = "Hello." + prompt if rng.random() < 0.95 else "no prompt of this template"
        if rng.random() < 0.3:
            text = Writer(form, rng).output()[1]
            options["prompt"] += text[: rng.randrange(len(text) + 1)]
            options["continue_final_message"] = rng.random() < 0.7
    for switch in ("parse_reasoning", "parse_tool_calls"):
        if rng.random() < 0.1:
            options[switch] = False
    if rng.random() < 0.15:
        options["echo"] = True
    return options


def random_chunks(text: str, rng: random.Random) -> list[str]:
    """Return the text in pieces: of one character, of a few, of any size, some of them empty."""
    kind = rng.randrange(4)
    if kind == 0:
        return list(text)
    if kind == 1:
        size = rng.randrange(2, 12)
        return [text[at : at + size] for at in range(0, len(text), size)]
    if kind == 2:
        cut = rng.randrange(len(text) + 1)
        return [text[:cut], text[cut:]]
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
