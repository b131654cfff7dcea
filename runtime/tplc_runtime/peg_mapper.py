r"""Turn the parse tree of a generated PEG into a message.

    turn
      content    "I look.\n"
      call
        name       "f"            →  {"content": "I look.\n", "tool_calls": [… "f" … '{"a": 1}'], …}
        arguments  {"a": 1}

Only a node's `expr_name`, `start`, `end`, `children` and `full_text` are used.  A rule's name says what it captures; a
name with `_for_…` captures the same in another place.  An irregular value has a `loose_…` rule, and is repaired as the
generated parsers repair it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Protocol

from .elements import EMPTY, LIST, in_list
from .escapes import Escapes
from .guess import QUOTES as VALUE_QUOTES
from .pairs import MOST_KEYS, WHOLE_ARGUMENTS
from .peg_readers import OtherSpelling, Readers
from .raw import LITERAL, MORE_THAN_VALUE, coerced, in_type, nested_json, string_in
from .repairs import has_argument
from .schema import (
    is_odd_key,
    item_of,
    keys_of,
    member_of,
    parameters_of,
    tool_named,
    typed_as,
    types_by_items,
    types_of,
    without_quotes,
)
from .second import holds_other_call
from .transcript import Transcript
from .turn import next_char
from .values import ESCAPE, Style, escaped, literal_of, text_of

if TYPE_CHECKING:
    from .message import Message

JSON_STYLE = Style(
    (('"', '"', "json"), ("'", "'", "python")),
    {
        "true": "true",
        "false": "false",
        "null": "null",
        "True": "true",
        "False": "false",
        "None": "null",
    },
)
PUNCTUATION = {
    "object_open": "{",
    "object_close": "}",
    "list_open": "[",
    "list_close": "]",
    "comma": ",",
    "colon": ":",
}
PASSED_THROUGH = (
    "",
    "turn",
    "part",
    "turn_over",
    "tool_calls_first",
    "call_line",
    "failed_call_text",
    "failed_call",
    "cut_call",
    "cut_text",
    "thinking_cut",
)
ENDS_INSIDE = ("cut", "trailing", "missing_closer", "next_argument")
ELEMENTS = ("list_of_items", "object_of_arguments", "scalar_value", "scalar_item", "element_text")
WORDS = ("true", "false", "null")
VALUES = ("object", "list", "string", "number", *WORDS)
LOOSE = ("loose_value",)
ARGUMENTS = ("wrapped_text", "typed_value", *VALUES, *LOOSE, *ELEMENTS, "raw_text")
QUOTES = ("'", '"')
RAW = ("raw_text", "element_text")
TEXTS = ("json_text", "python_text", "plain_text")
TYPES = {"object": "object", "list": "array", "string": "string", "true": "boolean", "false": "boolean", "null": "null"}


class Node(Protocol):
    """The attributes of a node that the mapper uses."""

    expr_name: str
    full_text: str
    start: int
    end: int

    @property
    def children(self) -> Sequence[Any]: ...


class Place(NamedTuple):
    """The positions at which a call starts, its arguments begin and end, and the call is read completely."""

    start: int
    begins: int
    arguments: int
    closed: int


class Mapped(NamedTuple):
    """The message of a tree.  `in_call`: the text stops inside a call.  `trailing`: a call that was truncated before
    its name."""

    message: Message
    incomplete: bool
    in_call: bool
    calls: list[Place]
    trailing: str = ""


class Prefilled(NamedTuple):
    """The part of the answer in the prompt: characters of the text, whole calls, and arguments of the call after
    them."""

    size: int = 0
    calls: int = 0
    arguments: str = ""


NOT_PREFILLED = Prefilled()
NO_ESCAPES = Escapes({})
Types = Optional[frozenset[str]]
TypesBy = Callable[[object, object], Types]  # called with a schema and its root


def map_tree(
    tree: Node,
    *,
    tools: object = None,
    prefilled: Prefilled = NOT_PREFILLED,
    parse_reasoning: bool = True,
    parse_tool_calls: bool = True,
    json_content: bool = False,
    readers: Optional[Readers] = None,
    literals: str = "",
    name_escapes: Escapes = NO_ESCAPES,
    key_escapes: Escapes = NO_ESCAPES,
    escapes: Optional[Mapping[str, Escapes]] = None,
) -> Mapped:
    """Return the message of a tree, without its prefilled part.

    `readers` read text that differs from what the template writes.  `literals`: a raw value that is a whole string in
    such quotes is that string.  `name_escapes` and `key_escapes` are the escapes in names and keys,
    and `escapes` those in content and reasoning.
    """
    transcript = Transcript(json_content)
    transcript.ESCAPES = escapes
    readers = readers or Readers(OtherSpelling((JSON_STYLE, JSON_STYLE, JSON_STYLE)), parameters_of(tools))
    mapper = _Mapper(tree.full_text, transcript, readers, prefilled, parse_reasoning, parse_tool_calls)
    mapper.literals, mapper.name_escapes, mapper.key_escapes = literals, name_escapes, key_escapes
    mapper.turn(tree)
    mapper.end_content(final=True)
    return mapper.mapped()


def kind_of(node: Node) -> str:
    return node.expr_name.partition("_for_")[0]


def captures(node: Node, *kinds: str) -> Iterator[Node]:
    """Yield the outermost nodes of these kinds below `node`, in the order of the text."""
    waiting = list(reversed(node.children))
    while waiting:
        found = waiting.pop()
        if kind_of(found) in kinds:
            yield found
        else:
            waiting += reversed(found.children)


def first(node: Node, *kinds: str) -> Optional[Node]:
    return next(captures(node, *kinds), None)


class _Mapper:
    def __init__(
        self,
        text: str,
        transcript: Transcript,
        readers: Readers,
        prefilled: Prefilled,
        parse_reasoning: bool,
        parse_tool_calls: bool,
    ) -> None:
        self.text = text
        self.transcript = transcript
        self.readers, self.schemas = readers, readers.tools
        self.prefilled_size, self.prefilled_calls, self.prefilled_arguments = prefilled
        self.parse_reasoning = parse_reasoning
        self.parse_tool_calls = parse_tool_calls
        self.run: list[str] = []  # content since the last marker
        self.blank = True  # whether it is only white space, together with the prefilled part
        self.places: list[Place] = []
        self.incomplete = self.in_call = False
        self.literals = self.called = ""
        self.repaired = False  # a value of the call was repaired
        self.name_escapes = self.key_escapes = NO_ESCAPES

    def mapped(self) -> Mapped:
        self.transcript.end_content()
        trailing = "".join(self.transcript.texts["trailing"])
        return Mapped(self.transcript.to_message(), self.incomplete, self.in_call, self.places, trailing)

    def of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def after_prefill(self, node: Node) -> str:
        """Return the text of a node without its prefilled part."""
        return self.text[max(node.start, self.prefilled_size) : node.end]

    # The turn

    def turn(self, node: Node) -> None:
        kind = kind_of(node)
        if kind == "content":
            self.blank = self.blank and not self.of(node).strip()
            self.run.append(self.after_prefill(node))
        elif kind in ("reasoning", "thinking_aloud"):
            self.reason(node)
        elif kind == "tool_calls":
            self.tool_calls(node)
        elif kind in ("trailing", "cut"):
            self.cut_off(node)
        elif kind in ("cut_marker", "fence_open", "left_bracket"):
            self.end_content()
            self.transcript.emit("trailing", self.after_prefill(node))
        elif kind in PASSED_THROUGH and node.children:
            for child in node.children:
                self.turn(child)
        elif kind == "after_turn":
            self.transcript.emit("trailing", self.after_prefill(node))
        elif kind == "stray_closer":
            if self.blank:
                self.run.clear()
        elif node.end > node.start:
            self.end_content(final=kind == "turn_end", kept=kind == "content_open")

    def end_content(self, *, final: bool = False, kept: bool = False) -> None:
        """End the content at a marker; white space alone between markers is dropped, unless it is the whole turn.

        `final`: the turn ends.  `kept`: the following text is content in any case.
        """
        if not self.blank or (final and self.transcript.is_empty()):
            self.transcript.emit("content", "".join(self.run))
        self.run.clear()
        self.blank = not kept

    def keep(self, text: str) -> None:
        """Add text as content, even if it looks like something else."""
        self.run.append(text)
        self.blank = self.blank and not text

    def reason(self, node: Node) -> None:
        cut = first(node, "cut_marker")
        if not self.parse_reasoning:
            opener = first(node, "reasoning_open")
            opened = self.of(opener) if opener is not None and opener.end <= self.prefilled_size < node.end else ""
            end = node.end if cut is None else cut.start
            self.keep(opened + self.text[max(node.start, self.prefilled_size) : end])
            if cut is not None:
                self.end_content()
                self.transcript.emit("trailing", self.after_prefill(cut))
            return
        self.end_content()
        self.incomplete = self.incomplete or first(node, "cut") is not None
        text = "".join(self.after_prefill(part) for part in captures(node, "reasoning_text"))
        if text.strip() or (first(node, "cut") is not None and self.transcript.is_empty()):
            self.transcript.emit("reasoning_content", text)
        if cut is not None:
            self.transcript.emit("trailing", self.after_prefill(cut))

    def tool_calls(self, node: Node) -> None:
        if not self.parse_tool_calls:
            self.keep(self.after_prefill(node))
            return
        self.end_content()
        self.in_call = first(node, "cut") is not None
        self.incomplete = self.incomplete or first(node, *ENDS_INSIDE) is not None
        for part in captures(node, "call", "content", "trailing", "left_bracket", "after_turn"):
            if kind_of(part) != "call":
                self.turn(part)
                continue
            self.call(part)
            for inner in captures(
                part, "content", "trailing", "fence_open", "left_bracket"
            ):  # content: what is no argument
                self.incomplete = self.incomplete or kind_of(inner) == "content"
                self.turn(inner)
                self.end_content()

    def cut_off(self, node: Node) -> None:
        """Handle a text that ends in a call without a name: the call is no part of the message."""
        self.incomplete = True
        if kind_of(node) == "trailing":
            self.end_content()
            self.transcript.emit("trailing", self.after_prefill(node))

    # Calls

    def call(self, node: Node) -> None:
        inner = first(node, "call") or node
        whole = first(inner, "other_calls", "loose_call")
        if whole is not None:
            for found in self.read_calls(whole):
                self.add_call(*found)
            return
        name, given = first(inner, "name"), first(inner, "id")
        called = self.plain(name) if name is not None else ""
        if name is None and given is not None:
            name = first(given, "name")
            called = self.plain(name) if name is not None else ""
        called = self.name_escapes.unescape(called)
        header = first(inner, "other_header")
        if pairs_end_in_text(self.readers, self.text, first(inner, "arguments")):
            self.incomplete = True
        if header is not None:
            called, end = self.readers.other_header(self.text, header.start)
            self.incomplete = self.incomplete or has_argument(self.text[header.start : end], called, self.schemas)
        if self.readers.spelled.names_alike:
            called = tool_named(called, self.schemas)
        identity = None if given is None else self.plain(given)
        if identity is not None and not identity.startswith(self.readers.spelled.id_prefix):
            identity = self.readers.spelled.id_prefix + identity
        written = first(inner, "arguments")
        whole = first(inner, "call_object") or inner
        over = written is not None and first(written, "arguments_close") is not None
        end = inner.end if written is None else written.end
        begins = end if written is None else written.start
        if written is None and first(inner, "call_close") is None:
            self.incomplete = self.incomplete or self.readers.lacks_object(self.text, end)
        place = Place(node.start, begins, end, end if over else whole.end)
        if self.prefilled_calls > 0:
            self.add_call(place, called, identity, "")
        else:
            arguments = self.arguments(written, called)
            self.incomplete = self.incomplete or self.readers.text_follows(arguments, self.text, end, inner.end)
            self.add_call(place, called, identity, arguments)

    def read_calls(self, node: Node) -> Iterator[tuple[Place, str, Optional[str], str]]:
        """Yield the calls that a reader finds in the text of a node."""
        if node.expr_name == "other_calls_for_unopened":
            has_ids = "id" in self.readers.spelled.fields.values()
            for name, arguments, identity in self.readers.unopened_at(self.text, node.start)[0]:
                yield Place(node.start, node.start, node.end, node.end), name, identity if has_ids else None, arguments
            return
        if kind_of(node) == "other_calls":
            others, _ = self.readers.others_at(self.text, node.start)
            self.incomplete = self.incomplete or self.readers.doubts.is_guessed
            for name, arguments in others:
                self.incomplete = self.incomplete or not self.readers.fits(name, arguments)
                yield Place(node.start, node.start, node.end, node.end), name, None, arguments
            return
        found = self.readers.object_at(self.text, node.start)
        self.incomplete, self.in_call = self.incomplete or found.incomplete, self.in_call or found.incomplete
        if found.content:
            self.keep(found.content)  # no arguments, so it is content
        yield Place(node.start, found.begins, node.end, node.end), found.name, found.identity, found.arguments

    def add_call(self, place: Place, called: str, identity: Optional[str], arguments: str) -> None:
        self.places.append(place)
        if self.prefilled_calls > 0:
            self.prefilled_calls -= 1
            return
        self.incomplete = self.incomplete or holds_other_call(called, arguments, self.readers.tools)
        if arguments.startswith(self.prefilled_arguments):
            arguments = arguments[len(self.prefilled_arguments) :]
        self.prefilled_arguments = ""
        self.transcript.open_call(called, identity)
        self.transcript.emit("arguments", arguments)

    def plain(self, node: Node) -> str:
        """Return the text of a slot, without its quotes if it has some."""
        gaps = [*captures(node, "gap")]
        if gaps:
            # A composed id doesn't include the white space between its slots.
            ends = [(end.start, end.end - len(self.of(end).lstrip())) for end in captures(node, "name_end")]
            spaces = sorted([*((gap.start, gap.end) for gap in gaps), *ends])
            edges = [node.start, *(edge for space in spaces for edge in space), node.end]
            return "".join(self.text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)).strip()
        string = first(node, "string")
        if string is not None:
            return text_of(self.string(string))
        return self.of(node).strip()

    def arguments(self, node: Optional[Node], called: str) -> str:
        self.called, self.repaired = called, False
        if node is None:
            return "{}"
        value = first(node, "whole_object", "other_arguments", "object", "string", *LOOSE, "argument")
        if value is None:
            self.incomplete = self.incomplete or self.readers.lacks_object(self.text, node.end)
            return "{}"
        kind = kind_of(value)
        if kind == "argument":
            return self.pairs(node, self.schemas.get(called))
        if kind in ("whole_object", "other_arguments"):
            read = self.readers.object_for_pairs if kind == "whole_object" else self.readers.other_arguments
            found = read(called, self.text, value.start)
            self.incomplete = self.incomplete or self.readers.doubts.is_guessed
            given = "{}" if found is None else found[0]
            self.incomplete = self.incomplete or not self.readers.fits(called, given)
            return given
        inside = self.readers.within(called, self.text, value.start)
        self.incomplete = self.incomplete or (inside is not None and self.readers.doubts.is_guessed)
        if inside is not None or kind == "object":
            return self.json(value) if inside is None else inside
        text = self.string(value) if kind == "string" else self.read(value)
        inside, is_doubtful = self.readers.in_string(called, text)
        self.incomplete = self.incomplete or is_doubtful
        if kind in LOOSE and inside is not None and self.repaired:
            self.incomplete = self.incomplete or not self.readers.fits(called, inside)
        if inside is None and text not in ("null", '""'):
            self.keep(text)  # no arguments, so it is content
            self.incomplete = True
        return "{}" if inside is None else inside

    def read(self, node: Node, *, followed: bool = False) -> str:
        """Return a value, repaired as the generated parsers do it."""
        read = self.readers.followed_at if followed else self.readers.value_at
        found = read(self.text, node.start)
        if found.closing:
            self.incomplete = self.in_call = True
        self.repaired, self.incomplete = self.repaired or found.repaired, self.incomplete or found.guessed
        return found.text + found.closing

    # Values as JSON

    def json(self, node: Node) -> str:
        """Return a strict value: its punctuation, texts and words in JSON's spelling, and its own white space."""
        out: list[str] = []
        waiting = [node]
        while waiting:
            found = waiting.pop()
            piece = self.leaf(found)
            if piece is None:
                waiting += reversed(found.children)
            else:
                out.append(piece)
        return "".join(out)

    def leaf(self, node: Node) -> Optional[str]:
        kind, text = kind_of(node), self.of(node)
        if kind in PUNCTUATION:
            body = text.strip()
            at = text.index(body)
            return text[:at] + PUNCTUATION[kind] + text[at + len(body) :]
        if kind in ("string", "key"):
            return self.string(node)
        if kind == "number":
            return literal_of(text, {}) or text
        return kind if kind in WORDS else None

    def string(self, node: Node) -> str:
        """Return the JSON of a string in quotes, or of a bare key."""
        inside = node if kind_of(node) in TEXTS else first(node, *TEXTS)
        if inside is None:
            text = self.of(node)
            if node.expr_name.startswith("key_for_") and text[:1] in QUOTES and text[:1] == text[-1:]:
                text = text[1:-1]
            return '"' + escaped(text.strip()) + '"'
        text, kind = self.of(inside), kind_of(inside)
        if kind == "plain_text":
            return '"' + escaped(text) + '"'
        if kind == "python_text":
            text = json_escapes(text)
        return '"' + text + '"'

    # Pairs

    def pairs(self, node: Node, root: object) -> str:
        members = self.members(node, root, root, types_of)
        pairs = [f'"{key}": {value}' for key, value, _ in members]
        self.incomplete = self.incomplete or len({key for key, _, _ in members}) < len(members)
        known = keys_of(root, root) if first(node, *ELEMENTS) is None else None
        for key in WHOLE_ARGUMENTS if pairs and known and len(known) <= MOST_KEYS else ():
            member = f'"{key}": '
            if key in known or not pairs[0].startswith(member):  # type: ignore[operator]
                continue
            value, raw = pairs[0][len(member) :], first(node, *RAW)
            if value[:1] == '"' and raw is not None:
                value = nested_json(text_of(value).strip()) or value
            if value[:1] == "{":
                inside = value[1:-1].strip()
                pairs[:1] = [inside] if inside else []
                break
        found = "{" + ", ".join(pairs) + "}"
        self.incomplete = self.incomplete or (self.repaired and not self.readers.fits(self.called, found))
        damaged = self.readers.spelled.damaged
        self.incomplete = self.incomplete or (damaged is not None and damaged.match(found) is not None)
        return found

    def members(self, node: Node, parent: object, root: object, types_by: TypesBy) -> list[tuple[str, str, Types]]:
        return [self.pair(argument, parent, root, types_by) for argument in captures(node, "argument")]

    def gathered(self, node: Node, parent: object, root: object) -> str:
        """Return a member; consecutive repetitions of a key become a list if the schema allows one."""
        found: list[tuple[str, Types, list[str]]] = []
        for key, value, types in self.members(node, parent, root, types_by_items):
            if (types is None or "array" in types) and found and found[-1][0] == key:
                found[-1][2].append(value)
            else:
                found.append((key, types, [value]))
        return ", ".join(f'"{key}": {listed(values, types)}' for key, types, values in found)

    def pair(self, node: Node, parent: object, root: object, types_by: TypesBy) -> tuple[str, str, Types]:
        """Return the key and the value as JSON, and the types that the schema allows."""
        key, value, word = first(node, "argument_key"), first(node, "argument_value", *RAW), first(node, "type")
        name = self.key_escapes.unescape(self.of(key).strip()) if key is not None else ""
        other = first(node, "other_pair")
        found = self.readers.other_pair(self.called, self.text, other.start) if other is not None else None
        if found is not None:
            name, _, is_opened = found
            self.incomplete, self.repaired = self.incomplete or not is_opened, True
        if parent is root and self.schemas and self.readers.spelled.reads_again:
            bare = without_quotes(name, root)
            self.repaired, name = self.repaired or bare != name, bare
        if parent is root and found is None:
            self.incomplete = self.incomplete or is_odd_key(name, root)
        schema = member_of(parent, root, name)
        types, stated = types_by(schema, root), self.stated(word)
        if stated is not None:
            types = typed_as(types, stated)
        end = first(node, "key_end")
        text = "" if end is None or end.end < len(self.text) else self.of(end)
        has_begun = not (text[:1].isspace() and text[-1:].isspace())  # the output ends in the space before the value
        return escaped(name), self.argument(value if has_begun else None, types, schema, root), types_of(schema, root)

    def stated(self, word: Optional[Node]) -> Types:
        """Return the types that a type word stands for, from the name of its rule."""
        named = next((child.expr_name for child in word.children), "") if word is not None else ""
        return frozenset(named[len("type_") :].split("_")) if named.startswith("type_") else None

    def argument(self, node: Optional[Node], types: Types, schema: object, root: object) -> str:
        if node is None:
            return "null"
        choice = node if kind_of(node) in RAW else first(node, "no_value", *ARGUMENTS)
        if choice is not None and kind_of(choice) == "no_value":
            return "null"
        if choice is None or kind_of(choice) in ELEMENTS or kind_of(node) == "item_value":
            return self.element(node, choice, types, schema, root)
        kind = kind_of(choice)
        if kind in VALUES:
            return self.json(choice)
        if kind in LOOSE:
            return self.read(choice, followed=True)
        if kind == "wrapped_text":
            inside = first(choice, "plain_text")
            return '"' + escaped(self.of(inside) if inside is not None else "") + '"'
        if kind == "typed_value":
            typed = self.typed(choice, types)
            if typed is not None:
                own = types_of(schema, root)
                return in_type(typed, own if types is None or types == own or "boolean" in types else None)
        if not self.of(choice) and choice.end == len(self.text) and not self.text[-1:].isspace():
            return "null"  # the value has not begun
        text = self.of(choice)
        quotes = VALUE_QUOTES if choice.expr_name.endswith("_for_bare") else self.literals
        literal = LITERAL.fullmatch(text.strip()) if quotes and kind in RAW else None
        if literal is not None and (literal[1] or " ")[0] in quotes:
            by_schema = types_of(schema, root)
            typed = coerced(literal[1], by_schema) if self.readers.spelled.reads_again else None
            return typed or string_in(literal[1])
        return self.retyped(text, types) or '"' + escaped(text) + '"'

    def retyped(self, text: str, types: Types) -> Optional[str]:
        if not self.readers.spelled.reads_again or not text.strip():
            return None
        found = coerced(text, types)
        if found is None and types is not None and "string" not in types and MORE_THAN_VALUE.search(text.strip()):
            self.incomplete = True  # it may contain more of the call than this value
        return found

    def element(self, node: Node, choice: Optional[Node], types: Types, schema: object, root: object) -> str:
        """Return a value whose lists and objects are written as elements."""
        text, kind = self.of(node), "" if choice is None else kind_of(choice)
        if choice is not None and kind == "list_of_items" and (types is None or "array" in types):
            inner = item_of(schema, root)
            items = [
                self.argument(first(item, "item_value"), types_of(inner, root), inner, root)
                for item in captures(choice, "item")
            ]
            return "[" + ", ".join(items) + "]"
        own = types_of(schema, root)
        if choice is not None and kind == "object_of_arguments" and (types is None or "object" in types):
            inner = schema if own is None or "object" in own else item_of(schema, root)
            return "{" + self.gathered(choice, inner, root) + "}"
        if choice is not None and kind in ("scalar_value", "scalar_item"):
            typed = self.typed(choice, types)
            if typed is not None:
                return in_type(typed, types if self.readers.spelled.reads_again else None)
        if not text.strip() and types != frozenset(["string"]):
            return next((empty for kind, empty in EMPTY if own is None or kind in own), '""')
        return self.retyped(text, types) or '"' + escaped(text) + '"'

    def typed(self, node: Node, types: Types) -> Optional[str]:
        """Return a raw value that reads as something other than text, if the schema allows that."""
        value = first(node, "object", "list", *WORDS, "scalar")
        if value is None:
            return None
        kind = kind_of(value)
        if kind == "scalar":
            literal = literal_of(self.of(value), {})
            if literal is None or literal[0] == '"':
                return None
            # Without a schema, 007 and 1_000 aren't known to be numbers: only JSON's own numbers are.
            fits = literal == self.of(value) if types is None else "number" in types or "integer" in types
            return literal if fits else None
        if types is not None and TYPES[kind] not in types:
            return None
        return self.json(value)


def pairs_end_in_text(readers: Readers, text: str, node: Optional[Node]) -> bool:
    """Return whether text is in the place of a pair, or of the end of the call."""
    between = readers.spelled.between
    if between is None or node is None or first(node, "whole_object", "arguments_close") is not None:
        return False
    at = next_char(text, node.end)
    mark = between.match_at(text, at)
    ends = at == len(text) or (mark is not None and mark.kind in ("end", "next"))
    return not ends and not readers.closes_garbled(text, at)


def listed(values: Sequence[str], types: Types) -> str:
    """Return consecutive values of one key as a list; also a single value if the schema wants a list."""
    if len(values) == 1:
        return in_list(values[0]) if types == LIST else values[0]
    return f"[{', '.join(values)}]"


def json_escapes(text: str) -> str:
    """Return the inside of a Python string as the inside of a JSON string."""
    out, at = [], 0
    while at < len(text):
        found = ESCAPE.match(text, at)
        if found is None:
            out.append(escaped(text[at]))
            at += 1
            continue
        out.append(_escape(found))
        at = found.end()
    return "".join(out)


def _escape(found: re.Match[str]) -> str:
    if found.group(1):
        return found.group()
    digits = found.group(2) or found.group(3)
    return escaped(chr(int(digits, 16))) if digits else escaped(found.group()[1:])
