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

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Optional

from .peg_nodes import Node, captures, first, kind_of
from .peg_readers import Readers
from .peg_values import LOOSE, ValueMapper
from .repairs import has_argument
from .scanner import next_char
from .schema import tool_named
from .second import NOTHING_GIVEN, holds_other_call, is_damaged
from .slots import ODD_IN_NAMES
from .transcript import Transcript
from .values import text_of

if TYPE_CHECKING:
    from .message import Message

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
INSTEAD_OF_PAIRS = ("whole_object", "other_arguments")
ENDS_INSIDE = ("cut", "trailing", "missing_closer", "next_argument")


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


def map_tree(
    tree: Node,
    readers: Readers,
    prefilled: Prefilled = NOT_PREFILLED,
    *,
    parse_reasoning: bool = True,
    json_content: bool = False,
) -> Mapped:
    """Return the message of a tree, without its prefilled part.  `readers` read text that differs from what the
    template writes."""
    transcript = Transcript(json_content)
    transcript.ESCAPES = readers.form.escapes
    mapper = _Mapper(tree.full_text, transcript, readers, prefilled, parse_reasoning)
    mapper.turn(tree)
    mapper.end_content(final=True)
    return mapper.mapped()


class _Mapper(ValueMapper):
    def __init__(
        self,
        text: str,
        transcript: Transcript,
        readers: Readers,
        prefilled: Prefilled,
        parse_reasoning: bool,
    ) -> None:
        super().__init__(text, readers)
        self.transcript = transcript
        self.prefilled_size, self.prefilled_calls, self.prefilled_arguments = prefilled
        self.parse_reasoning = parse_reasoning
        self.run: list[str] = []  # content since the last marker
        self.blank = True  # whether it is only white space, together with the prefilled part
        self.places: list[Place] = []

    def mapped(self) -> Mapped:
        self.transcript.end_content()
        trailing = "".join(self.transcript.texts["trailing"])
        return Mapped(self.transcript.to_message(), self.incomplete, self.in_call, self.places, trailing)

    def after_prefill(self, node: Node) -> str:
        """Return the text of a node without its prefilled part."""
        return self.text[max(node.start, self.prefilled_size) : node.end]

    # The turn

    def turn(self, node: Node) -> None:
        kind = kind_of(node)
        if kind == "content":
            self.blank = self.blank and not self.of(node).strip()
            self.incomplete = self.incomplete or (bool(self.places) and self.has_further_closer(node))
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
        self.end_content()
        self.in_call = first(node, "cut") is not None
        self.incomplete = self.incomplete or first(node, *ENDS_INSIDE) is not None
        for part in captures(node, "call", "content", "trailing", "cut_marker", "left_bracket", "after_turn"):
            if kind_of(part) != "call":
                self.turn(part)
                continue
            self.call(part)
            # Content: what is no argument.
            for inner in captures(part, "content", "trailing", "fence_open", "left_bracket"):
                self.incomplete = self.incomplete or kind_of(inner) == "content"
                self.turn(inner)
                self.end_content()
        self.incomplete = self.incomplete or self.has_further_closer(node, len([*captures(node, "call")]))

    def has_further_closer(self, node: Node, after: int = 0) -> bool:
        """Return whether the text contains a closer of calls that shows that a value was cut, `after` so many."""
        end = self.readers.form.pairs.call_end
        return end != "" and self.of(node).count(end) > after

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
        called = self.form.header.name_escapes.unescape(called)
        header = first(inner, "other_header")
        if pairs_end_in_text(self.readers, self.text, first(inner, "arguments")):
            self.incomplete = True
        if header is not None:
            called, end = self.readers.other_header(self.text, header.start)
            self.incomplete = self.incomplete or has_argument(self.text[header.start : end], called, self.schemas)
        if self.form.names_alike:
            called = tool_named(called, self.schemas)
        identity = None if given is None else self.plain(given)
        if identity is not None and not identity.startswith(self.form.header.id_prefix):
            identity = self.form.header.id_prefix + identity
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
            if not over and self.form.pairs.between is not None and first(inner, *INSTEAD_OF_PAIRS) is None:
                self.incomplete = self.incomplete or self.readers.is_left_open(called, arguments, self.text, end)
            self.incomplete = self.incomplete or self.readers.text_follows(called, arguments, self.text, end, inner.end)
            self.add_call(place, called, identity, arguments)

    def read_calls(self, node: Node) -> Iterator[tuple[Place, str, Optional[str], str]]:
        """Yield the calls that a reader finds in the text of a node."""
        if node.expr_name == "other_calls_for_unopened":
            has_ids = "id" in self.form.objects.fields.values()
            for name, arguments, identity in self.readers.unopened_at(self.text, node.start)[0]:
                self.incomplete = self.incomplete or not self.readers.fits(name, arguments)
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
        odd = not (self.schemas or ODD_IN_NAMES.isdisjoint(called))
        form = self.readers.form
        of_form = form.markers.breaks, form.pairs.markers, form.objects.own_keys
        odd = odd or is_damaged(arguments, self.schemas.get(called), False, *of_form)
        self.incomplete = self.incomplete or odd or holds_other_call(called, arguments, self.readers.tools)
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
            return text_of(self.read(string))
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
            return self.read(value) if inside is None else inside
        text = self.read(value)
        inside, is_doubtful = self.readers.in_string(called, text)
        self.incomplete = self.incomplete or is_doubtful
        if kind in LOOSE and inside is not None:
            self.incomplete = self.incomplete or not self.readers.fits(called, inside, self.repaired)
        if inside is None and text not in NOTHING_GIVEN:
            self.keep(text)  # no arguments, so it is content
            self.incomplete = True
        return "{}" if inside is None else inside


def pairs_end_in_text(readers: Readers, text: str, node: Optional[Node]) -> bool:
    """Return whether text is in the place of a pair, or of the end of the call."""
    between = readers.form.pairs.between
    if between is None or node is None or first(node, "whole_object", "arguments_close") is not None:
        return False
    at = next_char(text, node.end)
    mark = between.match_at(text, at)
    ends = at == len(text) or (mark is not None and mark.kind in ("end", "next"))
    ends = ends or (readers.form.markers.are_juxtaposed and "\n" in text[node.end : at])
    return not ends and not readers.closes_garbled(text, at)
