"""Which variables of the template change a prompt or an answer?

{% if thinking %}{r}{% endif %}  →  contexts thinking=True, thinking=False
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.learn.candidates import Candidates
from tplc.learn.probe import CONTENT, Prober, Refusal, Setup, asks, assistant
from tplc.learn.turn import TURN


@asks("turn", TURN)
def contexts_that_matter(prober: Prober, base: Setup, found: Candidates) -> tuple[Setup, ...]:
    """Return the settings of undeclared variables that change the generation prompt or a plain answer: one setup for
    each distinct effect, in a stable order."""
    effects = {_effect(prober, base)}
    setups: list[Setup] = []
    for setup in settings(base, found.without([name for name, _ in found.variables if _is_data(prober, base, name)])):
        effect = _effect(prober, setup)
        if effect is not None and effect not in effects:
            effects.add(effect)
            setups.append(setup)
    return tuple(setups)


def settings(base: Setup, found: Candidates) -> Iterator[Setup]:
    """Yield the setup with each undeclared variable true, false and what the template compares it with."""
    for name, constants in found.variables:
        for value in (True, False, *(c for c in constants if not isinstance(c, bool))):
            yield base.with_context(**{name: value})


def _is_data(prober: Prober, base: Setup, name: str) -> bool:
    """Return whether the variable's own text is written out: then it is data (a date, a system prompt), not a
    switch."""
    control = "zqcontrol0x"
    setup = base.with_context(**{name: control})
    renders = (prober.tail([], setup, generation=True), prober.tail([assistant(setup, content=CONTENT)], setup))
    return any(not isinstance(text, Refusal) and control in text for text in renders)


def _effect(prober: Prober, setup: Setup) -> tuple[str, str] | None:
    prompt = prober.tail([], setup, generation=True)
    answer = prober.tail([assistant(setup, content=CONTENT)], setup)
    if isinstance(prompt, Refusal) or isinstance(answer, Refusal):
        return None
    return prompt, answer
