r"""The states of a turn: the lexemes that count in each, what kind of text lies between them, and where each leads.

reasoning "<r>" … "</r>", call "<call>", end "<end>"
→  content    text content
     reasoning      "<r>"     drop                                    → reasoning
     call           "<call>"  open call                               → call
     stray          "</r>"    note "reasoning ends that was not open", drop and go on → content
     …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from tplc.ir.markers import is_unmistakable, pieces_of
from tplc.lower.acceptor import Acceptor, Marker, markers_of
from tplc.lower.call_form import CallForm, Where
from tplc.lower.lexemes import Lexemes, is_respelled, lexemes_of
from tplc_runtime.lexemes import singular
from tplc_runtime.scanner import squeezed
from tplc_runtime.turn import ANOTHER_TURN, EMPTY_CALL, REASONING_NOT_CLOSED, REASONING_NOT_OPEN

StateName = Literal[
    "start",  # closers of reasoning that nothing opened come first
    "pending",  # its end shows whether the text is reasoning
    "reasoning",
    "before_content",  # as long as no content has come, where more counts then
    "content",
    "after_call",
    "over",  # after the end of the turn
]
Kinds = tuple[tuple[str, tuple[str, ...]], ...]
TextKind = Literal["content", "reasoning_content", "pending", "trailing"]
Action = Literal[
    "drop",  # the marker, and the white space around it: a part of the turn ends or begins here
    "drop opener",  # the same, but white space that follows is the model's
    "drop and go on",  # the same, within a part
    "keep",  # the marker is text
    "open call",  # it may turn out to be none: then the marker is text
    "open call without opener",  # the same, where no marker shows that a call begins
    "drop closer",  # a piece of what closes the call
    "close call",  # nothing is missing of the call any more
    "close calls",  # no further call follows, or only after another marker
    "drop separator",  # something is missing until a further call has come
    "read tail",  # slots that come after the arguments
    "pending is reasoning",
    "pending is content",
]
BranchTest = Literal[
    "parse_reasoning",  # options of the caller
    "parse_tool_calls",
    "call is closed",
    "calls are closed",
]
UNCLOSED = "unclosed"  # the kind of what opens content, where reasoning is open: it counts if nothing closes that
# What a marker is that counts only at the output's end, before other markers, or at the start of a line.
COUNTED_AS = {"final_end": "end", "weak_content_end": "content_end", "reasoning_line": "reasoning_end"}
OPENS_BEFORE_CONTENT = ("reasoning", "content")  # kinds of markers
BEGINNING = 3  # characters by which markers begin alike


@dataclass(frozen=True, slots=True)
class Transition:
    """What a lexeme does.  `note`, a code and a text, is reported; `only_after_text`: if something of the part has
    come."""

    actions: tuple[Action, ...]
    next: StateName | Literal["call"]
    note: tuple[str, str] | None = None
    only_after_text: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """A transition that depends on an option of the caller, or on what has come of the calls."""

    condition: BranchTest
    on: Transition
    off: Transition


@dataclass(frozen=True)
class TurnState:
    name: StateName
    text: TextKind | None  # None: no text is expected here; other text leads to `otherwise`
    kinds: Kinds
    on: tuple[tuple[str, Transition | Branch], ...]
    otherwise: Transition | Branch | None = None
    respelled: tuple[str, ...] = ()  # the kinds whose markers may be in other case, or have other separators
    apart: tuple[str, ...] = ()  # the same, where they count at some places only
    any_number: frozenset[str] = frozenset()  # those markers whose words may be in the singular or the plural then
    drops_left_over: bool = False  # superfluous brackets, fences and openers
    counting: tuple[str, ...] = ()  # the kinds that count here; the others only begin like them

    @cached_property
    def lexemes(self) -> Lexemes:
        return lexemes_of(self.kinds, self.respelled, apart=self.apart, any_number=self.any_number)


@lru_cache(maxsize=64)
def states(acceptor: Acceptor) -> tuple[TurnState, ...]:
    """Return the states of the format, in the order in which an output passes them."""
    opens, content = _opening(acceptor), _in_content(acceptor)
    first, anywhere = _starts(acceptor, "before content"), _starts(acceptor, "anywhere")
    known = anywhere if first else opens
    found: list[tuple[StateName, Kinds]] = []
    if starts_with_closer(acceptor):
        closers = texts_at(acceptor.ignorable_closers, "turn start")
        found.append(("start", (("reasoning_end", closers), *opens, *content)))
    if is_unopened(acceptor):
        found.append(("pending", (*_closers(acceptor), *known, *content)))
    elif acceptor.reasoning_ends:
        found.append(("reasoning", ends_of_reasoning(acceptor)))
    found.append(("content", (*known, *content)))
    calls = acceptor.calls
    alike = respelled_kinds(acceptor)
    # An opener of reasoning may be in another spelling before content begins.
    if first or (alike and any(is_respelled(one.text.strip()) for one in acceptor.reasoning_starts)):
        found.append(("before_content", _only_before((*opens, *content))))
    if calls is not None:
        found.append(("after_call", (*_after_call(calls), *opens, *(pair for pair in content if pair[0] not in CALLS))))
        if calls.opening.openers and calls.opening.where == "anywhere":
            found.append(("over", (("call", calls.opening.openers), ("header", acceptor.further))))
    any_number = in_any_number(acceptor) if alike else frozenset[str]()
    respelled: dict[StateName, tuple[str, ...]] = {"over": (), "before_content": (*alike, "reasoning")}
    return tuple(
        _state(
            acceptor,
            name,
            tuple(kind for kind in kinds if kind[1]),
            respelled.get(name, alike) if alike else (),
            any_number,
        )
        for name, kinds in found
    )


def _only_before(kinds: Kinds) -> Kinds:
    """Return what counts only before content, with the markers that begin like it, because the longest counts.  The
    state of the content finds all others."""
    opens = [text for kind, texts in kinds if kind in OPENS_BEFORE_CONTENT for text in texts]
    beginnings = {_beginning(text) for text in opens}

    def is_alike(text: str) -> bool:
        own = _beginning(text)
        return any(own.startswith(other) or other.startswith(own) for other in beginnings)

    return tuple((kind, tuple(filter(is_alike, texts))) for kind, texts in kinds)


def _beginning(text: str) -> str:
    return squeezed(text.strip())[:BEGINNING]


def has_respelled_ends(acceptor: Acceptor) -> bool:
    """Return whether a closer of reasoning may be in another spelling, in a line of its own or before the next part."""
    return bool(respelled_kinds(acceptor)) and any(map(is_respelled, map(str.strip, acceptor.reasoning_ends)))


def respelled_kinds(acceptor: Acceptor) -> tuple[str, ...]:
    """Return the kinds of markers that may be in other case, or have other separators: those of calls."""
    return RESPELLED_KINDS if "marker_spelling" in acceptor.tolerances else ()


def in_any_number(acceptor: Acceptor) -> frozenset[str]:
    """Return the cores of markers whose words may be in the singular or the plural: no piece of them is then another
    marker's, or the beginning of one."""
    breaks = acceptor.calls.breaks if acceptor.calls is not None else ()
    pieces = {text.strip(): pieces_of(text) for text in (*markers_of(acceptor), *acceptor.ends, *breaks)}
    written = {piece: squeezed(piece) for each in pieces.values() for piece in each}
    bare = {piece: squeezed(singular(piece)) for piece in written}

    def is_alone(piece: str) -> bool:
        begun = [other for other in bare if bare[other].startswith(bare[piece])]
        same = [other for other in begun if bare[other] == bare[piece]]
        return len(same) == 1 and all(written[other].startswith(written[piece]) for other in begun)

    return frozenset(core for core, each in pieces.items() if all(map(is_alone, each)))


_TEXT: dict[StateName, TextKind | None] = {
    "start": None,
    "pending": "pending",
    "reasoning": "reasoning_content",
    "before_content": None,
    "content": "content",
    "after_call": None,
    "over": "trailing",
}
TO_CONTENT = Transition((), "content")
OPENED_BY_SEPARATOR = Transition(("drop separator", "open call without opener"), "call")


def _state(
    acceptor: Acceptor, name: StateName, kinds: Kinds, respelled: tuple[str, ...], any_number: frozenset[str]
) -> TurnState:
    calls = acceptor.calls
    if name == "after_call" and calls is not None:
        on = tuple((kind, _after_call_on(calls, kind)) for kind, _ in kinds)
        left_over = "repeated_markers" in acceptor.tolerances
        after = _text_after_call(calls)
        return TurnState(name, None, kinds, on, after, respelled, any_number=any_number, drops_left_over=left_over)
    on = tuple((kind, transition_of(name, kind)) for kind, _ in kinds)
    on = _with_opened_content(on) if acceptor.closer_opens_content else on
    otherwise = None if _TEXT[name] else TO_CONTENT
    apart = ("reasoning_end",) if name in ("reasoning", "pending") and has_respelled_ends(acceptor) else ()
    counting = tuple(kind for kind, _ in _starts(acceptor, "before content")) or ("reasoning",)
    counting = counting if name == "before_content" else ()
    return TurnState(name, _TEXT[name], kinds, on, otherwise, respelled, apart, any_number, counting=counting)


def _with_opened_content(
    found: Sequence[tuple[str, Transition | Branch]],
) -> tuple[tuple[str, Transition | Branch], ...]:
    """Return the transitions with closers of reasoning that open content."""
    return tuple(
        (kind, replace(on, on=replace(on.on, actions=(*on.on.actions[:-1], "drop opener"))))
        if kind in ("reasoning_end", "reasoning_line") and isinstance(on, Branch)
        else (kind, on)
        for kind, on in found
    )


def _after_call_on(calls: CallForm, kind: str) -> Transition | Branch:
    """Return what a marker does after a call; markers of other parts are left to the state of content."""
    open_call = Transition(("open call",), "call")
    if kind == "call":
        return open_call
    if kind == "both":  # the first closes the call, another one opens the next
        return Branch("calls are closed", open_call, Transition(("close calls",), "after_call"))
    if kind == "separator" and calls.is_separated:
        return OPENED_BY_SEPARATOR
    action = _AFTER_CALL.get(kind)
    return Transition((action,), "after_call") if action is not None else TO_CONTENT


_AFTER_CALL: dict[str, Action] = {
    "tail": "read tail",
    "separator": "drop separator",
    "section": "close calls",
    "closed": "close call",
    "close": "drop closer",
}


def _text_after_call(calls: CallForm) -> Transition | Branch:
    """Return what text after a call does: if nothing opens calls, a further one may begin with it."""
    if calls.calls_are_juxtaposed:
        return Branch("calls are closed", TO_CONTENT, Transition(("open call without opener",), "call"))
    if calls.closing.of_turn:
        return Branch("call is closed", Transition((), "over"), TO_CONTENT)
    return TO_CONTENT


def transition_of(state: StateName, kind: str) -> Transition | Branch:
    """Return what a marker of this kind does in this state."""
    here: StateName = "content" if state == "before_content" else state
    keep = Transition(("keep",), "content" if state == "reasoning" else here)
    if state == "over":
        return Branch("parse_tool_calls", TO_CONTENT, Transition((), "over"))
    if kind in CALLS:
        return Branch("parse_tool_calls", Transition(("open call",), "call"), keep)
    if state == "start":
        found = Transition(("drop",), "start", REASONING_NOT_OPEN)
        return found if kind == "reasoning_end" else TO_CONTENT
    if kind == "reasoning":
        keep = Transition(("keep",), "pending" if state == "pending" else "reasoning")
        dropped = Transition(("drop",), "pending" if state == "pending" else "reasoning")
        return Branch("parse_reasoning", dropped, keep)
    if kind in ("reasoning_end", "reasoning_line"):
        released: tuple[Action, ...] = ("pending is reasoning",) if state == "pending" else ()
        return Branch("parse_reasoning", Transition((*released, "drop"), "content"), keep)
    if kind in ("end", "final_end"):
        ended: tuple[Action, ...] = ("pending is content",) if state == "pending" else ()
        return Transition((*ended, "drop"), "over")
    if kind == "content":
        opened: tuple[Action, ...] = ("pending is content",) if state == "pending" else ()
        return Transition((*opened, "drop opener"), "content")
    if kind == UNCLOSED:
        return Branch("parse_reasoning", Transition(("drop opener",), "content", REASONING_NOT_CLOSED), keep)
    if kind in ("content_end", "weak_content_end"):
        return Transition(("drop",), here)
    if kind == "header":
        return Transition(("drop",), here, ANOTHER_TURN, only_after_text=True)
    if kind == "stray":
        return Branch("parse_reasoning", Transition(("drop and go on",), here, REASONING_NOT_OPEN), keep)
    assert kind == "empty", kind
    return Branch("parse_tool_calls", Transition(("drop and go on",), here, EMPTY_CALL), keep)


CALLS = ("call", "line", "ordinary")
RESPELLED_KINDS = tuple("tail both call separator section closed close line pair end skip next suffix".split())


def _opening(acceptor: Acceptor) -> Kinds:
    starts = (("reasoning", acceptor.reasoning_starts), ("content", acceptor.content_starts))
    return tuple((kind, tuple(start.text for start in found)) for kind, found in starts if found)


def _starts(acceptor: Acceptor, where: Where) -> Kinds:
    """Return the openers of reasoning and content that count at this place."""
    starts = (("reasoning", acceptor.reasoning_starts), ("content", acceptor.content_starts))
    return tuple((kind, found) for kind, markers in starts if (found := texts_at(markers, where)))


def _in_content(acceptor: Acceptor) -> Kinds:
    calls = acceptor.calls
    return (
        ("content_end", acceptor.distinctive_content_ends),
        ("weak_content_end", acceptor.weak_content_ends),
        (opener_kind(calls), (*calls.opening.openers, *calls.opening.short)) if calls is not None else ("call", ()),
        ("ordinary", calls.opening.ordinary if calls is not None else ()),
        ("end", acceptor.ends),
        ("final_end", acceptor.last_ends),
        ("header", acceptor.headers),
        ("stray", texts_at(acceptor.ignorable_closers, "anywhere")),
        ("empty", calls.empty if calls is not None else ()),
    )


def ends_of_reasoning(acceptor: Acceptor) -> Kinds:
    """Return the markers that end reasoning, with the white space that counts before them there."""
    calls = acceptor.calls
    openers: tuple[str, ...] = ()
    if calls is not None and calls_end_reasoning(acceptor):
        openers = _after(calls.opening.after_reasoning, (*calls.opening.openers, *calls.opening.short))
    kind = "call" if calls is not None and calls.opening.in_reasoning == "anywhere" else "line"
    ends, last = (_after(acceptor.after_reasoning, texts) for texts in (acceptor.ends, acceptor.last_ends))
    unclosed = _openers_in_reasoning(acceptor)
    return (*_closers(acceptor), ("end", ends), ("final_end", last), (kind, openers), (UNCLOSED, unclosed))


def _openers_in_reasoning(acceptor: Acceptor) -> tuple[str, ...]:
    """Return the openers of content, alone and after the header of a message, that nothing else is like."""
    if "missing_closers" not in acceptor.tolerances:
        return ()
    texts = [one.text for one in acceptor.content_starts if is_unmistakable(one.text)]
    return tuple(head.rstrip() + text for head in ("", *acceptor.headers) for text in texts)


def _closers(acceptor: Acceptor) -> Kinds:
    """Return the closers of reasoning, and those that count at the start of a line only."""
    anywhere = tuple(text for text in acceptor.reasoning_ends if text not in acceptor.reasoning_ends_at_lines)
    return (("reasoning_end", anywhere), ("reasoning_line", acceptor.reasoning_ends_at_lines))


def _after(space: str, markers: Sequence[str]) -> tuple[str, ...]:
    """Return the markers with at least this white space before them."""
    return tuple(text if text.startswith(space) else space + text.lstrip() for text in markers)


def _after_call(calls: CallForm) -> Kinds:
    """Return the kinds after a call. A marker belongs to the first kind that has it: one that closes a call and opens
    the next comes first."""
    kinds = dict(calls.after_call_markers)
    if not calls.opening.usual_next:
        kinds["call"] = (*calls.opening.inner, *calls.opening.openers, *calls.opening.short)
    return (("tail", kinds.pop("tail")), ("both", closes_and_opens(calls)), *kinds.items())


def closes_and_opens(calls: CallForm) -> tuple[str, ...]:
    """Return markers that close a call and open the next."""
    cores = {text.strip() for text in (*calls.opening.openers, *calls.opening.inner)}
    return tuple(text for text in calls.closing.closers if text.strip() in cores)


def texts_at(markers: Iterable[Marker], where: Where) -> tuple[str, ...]:
    return tuple(marker.text for marker in markers if marker.where == where)


def is_unopened(acceptor: Acceptor) -> bool:
    """Return whether reasoning has no opener: it is the text before its end."""
    return bool(acceptor.reasoning_ends) and not acceptor.reasoning_starts


def starts_with_closer(acceptor: Acceptor) -> bool:
    return bool(texts_at(acceptor.ignorable_closers, "turn start")) and not is_unopened(acceptor)


def calls_end_reasoning(acceptor: Acceptor) -> bool:
    return acceptor.calls is not None and acceptor.calls.opening.in_reasoning is not None


def opener_kind(calls: CallForm) -> str:
    return "call" if calls.opening.where == "anywhere" else "line"
