"""How Lark writes text that an automaton describes: with "and" and "not", or as one regular expression.

ending in "</p>"  →   /(?s:.*)<\\/p>/ & ~/(?s:.*<\\/p>.+)/
without "<call>"   →   /(?s:.*)/ & ~/(?s:.*<call>.*)/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tplc.backends.lark.elimination import as_expression
from tplc.backends.lark.regex import ANY, but_not, text_regex
from tplc.grammars.regular.automaton import TooLarge, minimal
from tplc.grammars.regular.automaton_rules import right_linear
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import chars, lit, seq
from tplc.grammars.regular.nodes import Automaton, Expr, Lit, Seq, Spelled, Written
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import Stop, ending_in, without
from tplc.ir.tokens import AddedToken


class LarkSpelling:
    def __init__(self, tokens: Sequence[AddedToken]) -> None:
        """Keep the tokenizer's tokens that no text matches, and that match no text."""
        self.tokens = {token.text: token for token in tokens if token.apart and token.text}
        known = sorted(self.tokens, key=len, reverse=True)
        self._cut = re.compile("(" + "|".join(map(re.escape, known)) + ")") if known else None

    def before_token(self, text: str) -> str | None:
        found = None if self._cut is None else self._cut.search(text)
        return None if found is None else text[: found.start()]

    def tokens_in(self, text: str) -> list[str]:
        return [] if self._cut is None else self._cut.findall(text)

    def in_tokens(self, literal: Lit | Spelled) -> Expr:
        """Return the text divided into text and tokens."""
        if self._cut is None or isinstance(literal, Spelled):
            return literal
        parts = self._cut.split(literal.text)
        # At odd places stand what it was cut at.
        found = [self.token(part) if place % 2 else lit(part) for place, part in enumerate(parts)]
        return seq(*(part for part in found if part != Seq(())))

    def token(self, text: str) -> Written:
        """Return a token by its name if the grammar can express that, since names apply to every tokenizer; else by its
        number."""
        named = re.fullmatch(r"<[^<>\s\[\]]+>", text) is not None
        return Written(text if named else f"<[{self.tokens[text].number}]>", ())

    def ending_in(self, rules: Rules, hint: str, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
        never = [f".*{text_regex(stop.core)}.+"]
        never += [f".*{text_regex(text)}{'.+' if stop.text.endswith(text) else '.*'}" for text in forbidden if text]
        texts = but_not(f"/{ANY}{text_regex(stop.text)}/", never)
        return rules.add(hint, Spelled(texts, minimal(ending_in([stop], forbidden))))

    def without(self, rules: Rules, hint: str, forbidden: tuple[str, ...], end: str = "") -> Expr:
        excluded = [text for text in dict.fromkeys(forbidden) if text]
        texts = but_not(f"/{ANY}{text_regex(end)}/", [f".*{text_regex(text)}.*" for text in excluded])
        return rules.add(hint, Spelled(texts, minimal(without(excluded, end))))

    def automaton(self, rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
        if not _turns_back(automaton):
            return right_linear(rules, hint, automaton, write)
        try:
            return as_expression(automaton, write)
        except TooLarge:
            return Spelled("", automaton) if write is chars else right_linear(rules, hint, automaton, write)


def _turns_back(automaton: Automaton) -> bool:
    """Return whether some state reaches itself through others; without one the rules are regular as they are."""
    left = {state: {to for _, to in row} - {state} for state, row in enumerate(automaton.edges)}
    predecessors: dict[int, set[int]] = {}
    for state, targets in left.items():
        for to in targets:
            predecessors.setdefault(to, set()).add(state)
    done = [state for state, targets in left.items() if not targets]
    count = 0
    while done:
        count += 1
        last = done.pop()
        for state in predecessors.get(last, ()):
            left[state].discard(last)
            if not left[state]:
                done.append(state)
    return count < len(automaton.edges)


def as_plain(expr: Spelled) -> Expr:
    """Return the text as an expression of ordinary parts, or unchanged if that would be many times as long."""
    try:
        return as_expression(expr.automaton, chars)
    except TooLarge:
        return expr
