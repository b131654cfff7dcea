"""Which text in the markers depends on a variable, a position or a count?

    {reason effort={{ effort | default("medium") }}}  →  Captured("variable", "effort", "medium", "reasoning.start", …)

Turns are rendered again with each variable of the template set, after an earlier turn, and with more calls.  Where the
same sentinels show in the same order, the texts between them must stay: what does not is held as it was learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import Captured, CapturedBy, Json, TemplateIR
from tplc.ir.stand_ins import names_stood_for, stand_in
from tplc.ir.word_slots import could_hold_any_word
from tplc.learn.align import cut_left, cut_right
from tplc.learn.candidates import Candidates
from tplc.learn.conversation import CallSetup
from tplc.learn.probe import (
    CONTENT,
    NEXT_USER,
    REASONING,
    TOOL_RESULT,
    USER,
    Prober,
    Refusal,
    Setup,
    asks,
    assistant,
    following,
    name_of,
    opening,
    sentinel_call,
)
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.tokens import markers
from tplc.messages import Call, Message, question

_WORD = "zqheld0x"
_NUMBER = 7431
_MARK = "\0"
_EARLIER = "zqearlier0x"
_SENTINEL = re.compile(r"zq[a-z]+[0-9]+(?:n[0-9]+)?[xw]+")
_NEXT = re.compile(f"{TOOL_RESULT}|{NEXT_USER}")
_AROUND = 20
_MAY_VARY = (
    "reasoning.start",
    "reasoning.end",
    "content.start",
    "content.end",
    "tools.section_start",
    "tools.section_end",
    "tools.call",
)


@dataclass(frozen=True, slots=True)
class _Scene:
    """A turn to render, or the prompt for one: then there is no message, and `prompt` is what was learned of it."""

    setup: Setup
    message: Message | None
    calls: tuple[Call, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class _Deviation:
    """A changed text between sentinels: in `text` from `start` to `stop`, with the text that replaces it. `first`: the
    text follows the user's words.  `last`: no sentinel follows it."""

    text: str
    start: int
    stop: int
    instead: str
    first: bool = False
    last: bool = False


@asks(
    "captured",
    "Which text in the markers depends on a variable, a position or a count?",
)
def find_captured(
    prober: Prober,
    ir: TemplateIR,
    asked: str,
    base: Setup,
    called: CallSetup | None,
    shown: ReasoningMarkers,
    found: Candidates,
) -> tuple[Captured, ...]:
    """Return the variable texts in markers.  `asked`: the text after the user's words that isn't part of the turn
    yet."""
    calls = called.setup if called else None
    scenes = list(_scenes(ir, base, calls, shown.shown[0].setup if shown.shown else None))
    deviations: list[tuple[CapturedBy, str, _Deviation]] = []
    for name, constants in found.variables:
        values = [v for v in (_WORD, _NUMBER, *constants, True, False) if _matters(prober, scenes, name, v)]
        changes = list(_data(prober, scenes, name, values)) or _switched(prober, scenes, name, values)
        deviations += [("variable", name, change) for change in changes]
    for scene in scenes:
        changes = _changes(_rendered(prober, scene), _rendered(prober, scene, earlier=True))
        deviations += [("position", "", change) for change in changes]
    deviations += [("calls", "", change) for change in _counted(prober, ir, calls)]
    own = [(by, name, change) for by, name, change in deviations if not _before_the_turn(change, asked)]
    return tuple(dict.fromkeys(captured for by, name, change in own for captured in _captured(ir, by, name, change)))


def _scenes(ir: TemplateIR, base: Setup, calls: Setup | None, reasoning: Setup | None) -> Iterator[_Scene]:
    for prompt in ir.turn.prompts:
        setup = base.with_context(**dict(prompt.context))
        yield _Scene(setup, None, prompt=prompt.text)
        yield _Scene(setup, assistant(setup, content=CONTENT))
        yield _Scene(replace(setup, follow="user"), assistant(setup, content=CONTENT))
    if reasoning is not None and ir.reasoning.key:
        member = (ir.reasoning.key, REASONING)
        yield _Scene(reasoning, assistant(reasoning, content=CONTENT, reasoning=member))
    if calls is not None:
        some = tuple(sentinel_call(i, 2) for i in range(2 if ir.tools.parallel else 1))
        yield _Scene(calls, assistant(calls, calls=some), some)
        yield _Scene(calls, assistant(calls, content=CONTENT, calls=some), some)
        if ir.reasoning.key:
            yield _Scene(calls, assistant(calls, reasoning=(ir.reasoning.key, REASONING), calls=some), some)


def _rendered(prober: Prober, scene: _Scene, *, earlier: bool = False) -> str | None:
    """Return the text between the user's last words and the next message; None if the template refuses."""
    setup = scene.setup
    messages = opening(setup)
    if earlier:
        messages[-1:-1] = [*question(_EARLIER, parts=setup.parts), assistant(setup, content=_EARLIER)]
    if scene.message is not None:
        messages += [scene.message, *following(setup, scene.calls)]
    text = prober.render(messages, setup, generation=scene.message is None, calls=scene.calls)
    if isinstance(text, Refusal) or USER not in text:
        return None
    tail = text[text.rindex(USER) + len(USER) :]
    return _NEXT.split(tail)[0]


def _matters(prober: Prober, scenes: Sequence[_Scene], name: str, value: Json) -> bool:
    """Return whether a value changes a conversation with all scenes, in a prompt or in an answer. Most values don't,
    and are skipped."""
    usual, other = _all_in_one(prober, scenes), _all_in_one(prober, scenes, **{name: value})
    if usual is None or usual != other:
        return True
    prompts = [scene for scene in scenes if scene.message is None]
    answers = [scene for scene in scenes if scene.message is not None][:1]
    return any(one != two for _, one, two in _set(prober, [*prompts, *answers], name, value))


def _all_in_one(prober: Prober, scenes: Sequence[_Scene], **values: Json) -> str | None:
    """Return all the turns of the scenes in one conversation, from the user's first words on."""
    setup = scenes[-1].setup.with_context(**values)
    messages: list[Message] = []
    for scene in scenes:
        if scene.message is not None:
            messages += question(USER, parts=setup.parts)
            messages += [scene.message, *following(replace(setup, follow="tool"), scene.calls)]
    text = prober.render(messages, setup, calls=[call for scene in scenes for call in scene.calls])
    return None if isinstance(text, Refusal) or USER not in text else text[text.index(USER) :]


def _data(prober: Prober, scenes: Sequence[_Scene], name: str, values: Sequence[Json]) -> Iterator[_Deviation]:
    """Yield the places where a variable's own value is written, in any case of its letters."""
    for value in [value for value in values if value in (_WORD, _NUMBER)]:
        # what only makes a prompt longer is the beginning of the answer, and read as one
        begun: set[str] = set()
        for scene, usual, other in _set(prober, scenes, name, value):
            if scene.message is None and other.startswith(usual):
                begun.add(usual)
                continue
            for change in _changes(usual, other):
                if str(value) in change.instead.lower() and change.text[: change.start] not in begun:
                    yield change


def _switched(prober: Prober, scenes: Sequence[_Scene], name: str, values: Sequence[Json]) -> Iterator[_Deviation]:
    """Yield where a value changes a marker while the prompts stay the same."""
    for value in [value for value in values if value != _NUMBER]:
        renders = list(_set(prober, scenes, name, value))
        if any(scene.message is None and not _same_prompt(scene, usual, other) for scene, usual, other in renders):
            continue
        for _, usual, other in renders:
            for change in _changes(usual, other):
                if change.text[change.start : change.stop].strip() and change.instead.strip():
                    yield _whole(change)


def _same_prompt(scene: _Scene, usual: str, other: str) -> bool:
    return usual == other or (bool(scene.prompt) and other.endswith(scene.prompt))


def _set(prober: Prober, scenes: Sequence[_Scene], name: str, value: Json) -> Iterator[tuple[_Scene, str, str]]:
    for scene in scenes:
        usual = _rendered(prober, scene)
        other = _rendered(prober, replace(scene, setup=scene.setup.with_context(**{name: value})))
        if usual is not None and other is not None:
            yield scene, usual, other


def _whole(change: _Deviation) -> _Deviation:
    """Return the change with all of the words and tokens that it touches."""
    return replace(change, start=cut_left(change.text, change.start), stop=cut_right(change.text, change.stop))


def _changes(usual: str | None, other: str | None) -> Iterator[_Deviation]:
    if usual is None or other is None:
        return
    other = other.replace(_WORD, _MARK).replace(_WORD.upper(), _MARK)
    if _SENTINEL.findall(usual) != _SENTINEL.findall(other):
        return
    pairs = list(zip(_SENTINEL.split(usual), _SENTINEL.split(other), strict=True))
    for number, (one, two) in enumerate(pairs):
        if one != two:
            yield replace(_change(one, two), first=number == 0, last=0 < number == len(pairs) - 1)


def _change(one: str, two: str) -> _Deviation:
    start = len(common_prefix(one, two))
    end = len(common_suffix(one[start:], two[start:]))
    return _Deviation(one, start, len(one) - end, two[start : len(two) - end].replace(_MARK, _WORD))


def _before_the_turn(change: _Deviation, asked: str) -> bool:
    return change.first and change.text.startswith(asked) and change.stop <= len(asked) and change.start < len(asked)


def _captured(ir: TemplateIR, by: CapturedBy, name: str, change: _Deviation) -> Iterator[Captured]:
    """Yield the captured text of a change; nothing for a change after the turn's end, or for a call's own counter."""
    text = change.text[change.start : change.stop]
    place = next((named for named in markers(ir) if _touches(change, named[1])), None)
    if place is not None and (by != "calls" or place[0] != "tools.call"):
        captured = Captured(by, name, text, *place)
        yield replace(captured, any_word=_is_any_word(ir, captured, change))
    elif place is None and not change.last:
        shown = change.text[max(0, change.start - _AROUND) : change.stop + _AROUND]
        yield Captured(by, name, text, "", shown)


def _is_any_word(ir: TemplateIR, captured: Captured, change: _Deviation) -> bool:
    """Return whether any word may be in the place of the text: a variable's own value was written there, or another
    number."""
    data = captured.by != "position" and change.instead.lower() in (_WORD, str(_NUMBER))
    numbers = captured.by != "variable" and captured.text.isdecimal() and change.instead.isdecimal()
    in_object = captured.marker == "tools.call" and ir.tools.json is not None
    return (data or numbers) and captured.marker in _MAY_VARY and not in_object and could_hold_any_word(captured)


def _touches(change: _Deviation, marker: str) -> bool:
    """Return whether the whole change is in the marker; text after a turn's end isn't part of the turn."""
    at = change.text.find(marker)
    while at >= 0 and not (at <= change.start and change.stop <= at + len(marker)):
        at = change.text.find(marker, at + 1)
    return at >= 0 and not (change.last and change.start == at + len(marker))


def _counted(prober: Prober, ir: TemplateIR, setup: Setup | None) -> Iterator[_Deviation]:
    """Yield the numbers in the opener and closer of all calls that change if there are fewer calls."""
    if setup is None or not ir.tools.parallel:
        return
    edges = []
    for count in (3, 2, 1):
        some = tuple(sentinel_call(i) for i in range(count))
        text = _rendered(prober, _Scene(setup, assistant(setup, calls=some), some))
        if text is None or name_of(count - 1) not in text:
            return
        parts = _SENTINEL.split(text)
        edges.append((parts[0], parts[-1]))
    for three, two, one in zip(*edges, strict=True):
        changes, others = _changed_numbers(three, two), _changed_numbers(three, one)
        if [change.start for change in changes] == [other.start for other in others]:
            yield from (replace(change, last=True) for change in changes)


def _changed_numbers(text: str, other: str) -> list[_Deviation]:
    """Return the numbers that differ, if nothing else does: an opener of all calls and of the first may hold one."""
    parts, others = re.split("([0-9]+)", text), re.split("([0-9]+)", other)
    if parts[::2] != others[::2]:
        return []
    each = zip(accumulate(map(len, parts), initial=0), parts, others, strict=False)
    return [_Deviation(text, at, at + len(part), instead) for at, part, instead in each if part != instead]


def captured_tokens(ir: TemplateIR) -> tuple[Captured, ...]:
    """Return the markers that contain a stand-in."""
    return tuple(
        Captured("token", name, stand_in(name), path, marker)
        for path, marker in dict.fromkeys(markers(ir))
        for name in names_stood_for(marker)
    )
