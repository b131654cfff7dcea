"""Cut the assistant's turn out of a render.

    asked     "…<ask>…belumarot<stop>"
    prompt    "…<ask>…belumarot<stop><bot><r>"
    full      "…<ask>…belumarot<stop><bot>Hi<stop><bot><r>"      (it appends a prompt in any case)
    →  turn "Hi<stop>", given the header "<bot>" and the trailing "<bot><r>"

Only what is after the user's text is compared: what is before it may change with the conversation.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import Turn
from tplc.verify.words import Words


@dataclass(frozen=True, slots=True)
class TurnFrame:
    """What the renders of one setting and context have around a turn.

    `asked` and `prompt` are whole renders of the conversation that ends with the user, without and with a generation
    prompt; `trailing` is what follows every turn.  `after_result`: the conversation before the turn ends with a tool's
    result.
    """

    turn: Turn
    asked: str
    prompt: str
    words: Words
    trailing: str = ""
    after_result: bool = False

    def asks(self, full: str) -> bool:
        return self.words.question in full

    def turn_text(self, full: str) -> str | None:
        """Return the turn in a full render; None if its beginning is unknown."""
        text = self.with_trailing(full)
        if text is None:
            return None
        if self.trailing and text.endswith(self.trailing):
            return text[: len(text) - len(self.trailing)]
        return text

    def with_trailing(self, full: str) -> str | None:
        start = self._start(self._after_question(full))
        return None if start is None else self._before_next(self._after_question(full)[start:])

    def _start(self, tail: str) -> int | None:
        """Return where the turn starts in the text after the user's text, or after a result.  White space after a
        result takes the place of a header, as it is the header's after one."""
        start = self._start_after_header(tail)
        if start is None or not self.after_result:
            return start
        return len(tail) - len(tail[start:].lstrip())

    def _start_after_header(self, tail: str) -> int | None:
        asked, header = self._after_question(self.asked), self.turn.header
        if header and tail.startswith(asked) and tail.startswith(header, len(asked)):
            return len(asked) + len(header)
        # History may open a turn, or close the question, differently from the prompt.
        before = len(asked) if tail.startswith(asked) else 0
        for anchor in self.turn.anchors:
            if anchor not in asked and tail.startswith(anchor, before):
                return before + len(anchor)
        # The template always appends a prompt: the turn starts where its header ends.
        for anchor in self.turn.anchors:
            at = asked.rfind(anchor)
            if at >= 0 and tail.startswith(asked[: at + len(anchor)]):
                return at + len(anchor)
        if tail.startswith(asked):
            rest = tail[len(asked) :]
            space = len(rest) - len(rest.lstrip())
            # History may have other white space before the header than the prompt, or no header at all.
            bare = rest.lstrip()
            if header.strip() and bare.startswith(header.strip()) and not bare.startswith(header.lstrip()):
                # Nor does a turn of every shape need the white space after it.
                after = bare[len(header.strip()) :]
                return len(tail) - len(after.lstrip())
            found = bool(header.strip()) and bare.startswith(header.lstrip())
            return len(asked) + (space + len(header.lstrip()) if found else 0)
        after_header = _after_but_space(tail, asked + header)
        if after_header is not None:
            return after_header
        shared = _out_of_brackets(tail, len(common_prefix(asked, tail)))
        # What closes the user's message may be left out, or differ, when an answer follows.
        at = tail.find(header, max(0, shared - len(header))) if header else shared
        return None if at < 0 else at + len(header)

    def _after_question(self, render: str) -> str:
        return render[render.rindex(self.words.question) + len(self.words.question) :]

    def _before_next(self, text: str) -> str:
        ends = [text.index(mark) for mark in (self.words.result, self.words.next_question) if mark in text]
        return text[: min(ends)] if ends else text

    def with_next(self, full: str) -> str | None:
        """Return the turn with everything up to the next question, without the text that every render has, answered or
        not."""
        tail = self._after_question(full)
        start = self._start(tail)
        if start is None:
            return None
        mark = self.words.next_question
        if mark in tail:
            return tail[start : tail.index(mark)]
        return tail[start:].removesuffix(self._always_there(full))

    def _always_there(self, full: str) -> str:
        """Return the common end of every render: a prompt that is always written, or a text after the answer."""
        if len(self.prompt) <= len(self.asked):
            asked = self._after_question(self.asked)
            found = [asked[asked.rfind(anchor) :] for anchor in self.turn.anchors if anchor and anchor in asked]
            return max(found, key=len, default=asked)
        if full.startswith(self.asked):
            return ""
        shared = common_suffix(full, self.asked)
        known = [shared.index(end) + len(end) for end in self.turn.ends if end in shared]
        return shared[max(known, default=0) :]

    def prompt_tail(self) -> str:
        """Return the text that the generation prompt adds to the question."""
        return self._after_question(self.prompt).removeprefix(self._after_question(self.asked))

    def head(self) -> str:
        """Return the part of the turn in the generation prompt."""
        start = self._start(self._after_question(self.prompt))
        return "" if start is None else self._after_question(self.prompt)[start:]

    def bare_prompt(self) -> str:
        """Return the prompt without the part of the turn that it holds."""
        if len(self.prompt) > len(self.asked):
            return self.prompt[: len(self.prompt) - len(self.head())]
        return self.asked + self.turn.header if not self.asked.endswith(self.turn.header) else self.asked


def trailing_of(frame: TurnFrame, full: str, last: str) -> str:
    """Return the text after the turn in a render whose last part ends with the text `last`."""
    text = frame.with_trailing(full)
    if text is None or last not in text:
        return ""
    rest = text[text.rindex(last) + len(last) :]
    found = [(rest.index(end), -len(end)) for end in frame.turn.ends if end in rest]
    if found:
        at, size = min(found)
        return rest[at - size :]
    if not rest.strip():
        return rest
    prompt = frame.prompt_tail()
    if prompt and rest.endswith(prompt):
        return prompt
    words = frame.words
    return common_suffix(rest, frame.asked[: words.question_at(frame.asked)]) if words.next_question in full else ""


def _after_but_space(text: str, start: str) -> int | None:
    """Return where `text` continues after `start`, ignoring white space in both; None if it begins differently."""
    visible = [char for char in start if not char.isspace()]
    at = 0
    for char in visible:
        while at < len(text) and text[at].isspace():
            at += 1
        if text[at : at + 1] != char:
            return None
        at += 1
    return at if visible else None


def _out_of_brackets(text: str, at: int) -> int:
    """Return `at`, or the place of the bracket before it that is still open there: two texts may share the beginning of
    a marker."""
    for start in range(at - 1, -1, -1):
        kind = unicodedata.category(text[start])
        if text[start] == "<" or kind == "Ps":
            return start
        if text[start] == ">" or kind == "Pe" or text[start].isspace():
            break
    return at
