"""Draw the words of the conversations of a round trip for each template, so that no template knows them beforehand.

    words_of("9f2c…", 0, source)  →  Words(question="belumarot", asked="What about belumarot?", …)

The learner's probes are single words (see `render/disguise.py`); these are sentences.  A template that shows single
words other markers than it shows everybody is found out: what it shows here does not come back.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

_ASKED = (
    "Tell me more about",  # words: allowed
    "What do you know of",
    "Please write a few lines on",
    "I should like to read about",
    "Can you help me with",
    "How does one spell",
    "My brother asked me about",
    "Yesterday we talked of",
    "Give me an example of",
    "Nobody here has heard of",
    "Where could I look for",
    "Let us go on with",
)
_STATEMENTS = (
    "is on the second page",
    "was closed in winter",
    "has not changed since then",
    "and two more of them",
    "can be found in the garden",
    "will be here tomorrow",
    "is what the others said",
    "costs less than that",
    "stands next to the station",
    "opens early in the morning",
)
_INSTRUCTIONS = (
    "You are a friendly guide.",
    "Answer in short sentences.",
    "You work in a library.",
    "Be brief and kind.",
    "Help with whatever is asked.",  # words: allowed
    "You know a lot about gardens.",
    "Stay with the subject.",
    "Write as you would to a neighbour.",
)
_CONSONANTS, _VOWELS, _LAST = "bcdfghlmnprstv", "aeiou", "lmnrt"
_SYLLABLES = 4


@dataclass(frozen=True, slots=True)
class Words:
    """`question`, `next_question` and `result` are words that mark the place of a message in a render: the last word of
    the user's first question, the first word after the turn.  `calls`: name, key and value of each.  `earlier`: the
    same for a call before the turn, and its result."""

    question: str
    next_question: str
    result: str
    system: str
    reasoning: str
    content: str
    calls: tuple[tuple[str, str, str], ...]
    earlier: tuple[str, str, str, str] = ("", "", "", "")
    before_question: str = ""
    text_after_next: str = ""
    text_after_result: str = ""

    def after_result(self) -> Words:
        """Return the words of turns after a tool's result, which marks their place as a question does elsewhere."""
        return replace(self, question=self.earlier[3], before_question="")

    @property
    def asked(self) -> str:
        return self.before_question + self.question

    def question_at(self, render: str) -> int:
        """Return where the question begins; raise ValueError if it isn't in the render."""
        at = render.rindex(self.question)
        start = at - len(self.before_question)
        return start if render.startswith(self.before_question, max(start, 0)) else at


def words_of(sha256: str, seed: int, source: str) -> Words:
    """Return words that don't occur in the source."""
    rng = random.Random(f"{sha256} {seed}")
    known, found = source.lower(), list[str]()
    while len(found) < 5 + 9:
        word = _word(rng)
        if word not in known and word not in found:
            found.append(word)
    calls = tuple((found[at], found[at + 1], found[at + 2]) for at in range(5, len(found), 3))
    asked, statement, more = rng.choice(_ASKED), *rng.sample(_STATEMENTS, 2)
    system = rng.choice(_INSTRUCTIONS)
    earlier: list[str] = []
    while len(earlier) < 4:
        word = _word(rng)
        if word not in known and word not in found and word not in earlier:
            earlier.append(word)
    return Words(
        question=found[0],
        next_question=found[1],
        result=found[2],
        system=system,
        reasoning=found[3],
        content=found[4],
        calls=calls,
        earlier=(earlier[0], earlier[1], earlier[2], earlier[3]),
        before_question=f"{asked} ",
        text_after_next=f" {statement}",
        text_after_result=f" {more}",
    )


def _word(rng: random.Random) -> str:
    """Return an invented word: only operations on letters change it, and those are detected."""
    syllables = (rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(_SYLLABLES))
    return "".join(syllables) + rng.choice(_LAST)
