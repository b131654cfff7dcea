"""Is there a part of a message that the template writes, and that was not learned?

    a call of `zqname0x`, a call of `zqother0x`, and no format for calls: `<call zqn4me0x>`, `<call zq0ther0x>`

If the words of a part change the render, the part is written in some way.  If none of the words is found in a render,
something changes them.  If they are found, their place is one that the format doesn't have: reasoning after all else.
A parser without that part would take it for content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tplc.errors import NotLearned
from tplc.ir.nodes import TemplateIR
from tplc.ir.printed import quoted
from tplc.learn.probe import CONTENT, Prober, Refusal, Setup, asks, assistant, opening
from tplc.messages import REASONING_KEYS, Call, Message
from tplc.transformations import transformations

_CALLS = (Call("zqname0x", (("zqkey0x", "zqvalue0n0x"),)), Call("zqother0x", (("zqplace0x", "zqthing0x"),)))
# Words that the template sees as they are: what it makes of them says what it does to a part.
_CALL = Call("findLakes", (("theShore", "Deep lake, & shore"),))
_THOUGHT = "A deep Lake, & shore"
_TIMES = 10  # renders that depend on chance are recognised and reported
_THOUGHTS = ("zqreason0x", "zqthought0x")
_CHANGED = (
    "the render depends on the message's words, but contains none of them unchanged, because the template changes them"
)
_LAST = "it comes after the content and the calls, where no format has it"


@asks("unlearned", "Does the template write a part that was not learned?")
def check_all_is_learned(prober: Prober, base: Setup, ir: TemplateIR) -> None:
    """Raises NotLearned for calls or reasoning that are written, and not in the format."""
    setup = replace(base, follow="none")
    if ir.tools.format == "none":
        why = next(_calls_are_written(prober, setup), None)
        if why is not None:
            raise NotLearned(ir.provenance.name, f"calls cannot be read: {why}")
    if ir.reasoning.mode == "none" and not ir.left_out:
        why = next(_reasoning_is_written(prober, setup), None)
        if why is not None:
            raise NotLearned(ir.provenance.name, f"reasoning cannot be read: {why}")


def _calls_are_written(prober: Prober, setup: Setup) -> Iterator[str]:
    """Yield why calls were not learned, for each form of a message in which they are written."""
    key, value = _CALL.arguments[0]
    for arguments in ("object", "text"):
        for content in (CONTENT, ""):
            asked = replace(setup, arguments=arguments)
            turns = [assistant(asked, content=content, calls=[call]) for call in _CALLS]
            if _depends(prober, asked, turns):
                turn = assistant(asked, content=content, calls=[_CALL])
                words = {"names": _CALL.name, "keys": key, "values": str(value)}
                yield _change(prober.render([*opening(asked), turn], asked, calls=[_CALL]), words)


def _reasoning_is_written(prober: Prober, setup: Setup) -> Iterator[str]:
    """Yield why reasoning was not learned, for each key under which it is written."""
    # A part of content that a template knows nothing of is printed like any other list, words and all.
    for key in (key for key in REASONING_KEYS if ":" not in key):
        turns = [assistant(setup, content=CONTENT, reasoning=(key, thought)) for thought in _THOUGHTS]
        if _depends(prober, setup, turns):
            render = prober.render([*opening(setup), turns[0]], setup)
            last = not isinstance(render, Refusal) and _THOUGHTS[0] in render.partition(CONTENT)[2]
            turn = assistant(setup, content=CONTENT, reasoning=(key, _THOUGHT))
            shown = prober.render([*opening(setup), turn], setup)
            yield _LAST if last else _change(shown, {"reasoning": _THOUGHT})


def _change(render: str | Refusal, words: Mapping[str, str]) -> str:
    """Return what the template does to the words of a part, as far as that is known."""
    for part, word in words.items():
        name, written = next(transformations(word, "" if isinstance(render, Refusal) else render), ("", ""))
        if name:
            return f"the template {name} in {part}: {quoted(word)} is written {quoted(written)}"
    lost = [part for part, word in words.items() if isinstance(render, str) and word not in render]
    if 0 < len(lost) < len(words):
        return f"the template leaves out the {' and '.join(lost)} of arguments"
    return _CHANGED


def _depends(prober: Prober, setup: Setup, turns: Sequence[Message]) -> bool:
    """Return whether two turns are rendered differently, and the first always in the same way."""

    def render(asked: Prober, turn: Message) -> str | Refusal:
        return asked.render([*opening(setup), turn], setup, calls=_CALLS)

    one, two = (render(prober, turn) for turn in turns)
    if isinstance(one, Refusal) or isinstance(two, Refusal) or one == two:
        return False
    return all(render(Prober(prober.renderer), turns[0]) == one for _ in range(_TIMES))
