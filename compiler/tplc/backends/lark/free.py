"""Text that is free until a call begins, and the calls from there on: a request where the model may call, or not.

calls begin with "<call>"   →   start: FREE | BEFORE rest-of-the-calls
                              FREE: any text without "<call>"          BEFORE: any text up to the first "<call>"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tplc.backends.lark.regex import ANY, but_not, text_regex
from tplc.backends.lark.spelling import LarkSpelling
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import both, from_expr, minimal, negation
from tplc.grammars.regular.derivative import after
from tplc.grammars.regular.expressions import alt, lit, opt, rep, seq
from tplc.grammars.regular.nodes import ANY_CHARACTER, NEVER, Chars, Expr, Spelled
from tplc.grammars.regular.rules import Rules
from tplc.grammars.request.triggers import Takeover

_ANYTHING = rep(ANY_CHARACTER, 0, None)
_SPACE_REGEX = r"[\t\n\r ]*"
_SPACE = rep(Chars(codepoints.of("\t\n\r ")), 0, None)


def with_free_text(
    rules: Rules, ways: Sequence[Expr], found: Iterable[Takeover], spelling: LarkSpelling, preserved: Iterable[str]
) -> Expr:
    """Return free text that may be followed by calls.  `preserved`: tokens that free text may contain, unless a call
    begins with them."""
    takeovers = tuple(dict.fromkeys(found))
    opening = {token for takeover in takeovers for text in takeover.texts for token in spelling.tokens_in(text)}
    tokens = [spelling.token(text) for text in preserved if text in spelling.tokens and text not in opening]
    texts = _Texts(takeovers)
    free = rules.add("free", texts.free())
    leading = rep(seq(free, alt(*tokens)), 0, None) if tokens else seq()
    calls = alt(*ways)
    # What calls begin with is a token, and free text ends there; or it is text, with what is before it.
    ended, begun = [], []
    for takeover in takeovers:
        for text in takeover.texts if takeover.kind != "word" else (takeover.opener,):
            rest = after(rules, calls, text)
            if rest == NEVER:
                continue
            if takeover.kind == "word" and spelling.before_token(text) is None:
                begun.append(seq(leading, rules.add("before", texts.ending_in(text)), rest))
            elif takeover.kind == "word":
                ended.append(seq(lit(text), rest))
            else:
                begun.append(seq(leading, rules.add("before", texts.before(takeover)), lit(text), rest))
    prose = rules.add("prose", seq(leading, free))
    return alt(seq(prose, opt(alt(*ended))) if ended else prose, *begun)


class _Texts:
    """Free text, with nothing in it that a call begins with."""

    def __init__(self, takeovers: Sequence[Takeover]) -> None:
        self._takeovers = takeovers

    def free(self) -> Expr:
        return self._but(ANY, _ANYTHING, ".*", _ANYTHING)

    def ending_in(self, word: str) -> Expr:
        """Return text up to and with the first occurrence of the word that a call begins with."""
        return self._but(ANY + text_regex(word), seq(_ANYTHING, lit(word)), ".+", seq(ANY_CHARACTER, _ANYTHING))

    def before(self, takeover: Takeover) -> Expr:
        """Return text up to a line that may begin with a call; white space if only the whole answer may."""
        if takeover.kind == "start":
            return _SPACE
        place, places = _line(takeover)
        return self._but(f"(?s:{place})", places, ".*", _ANYTHING)

    def _but(self, text: str, texts: Expr, rest: str, more: Expr) -> Expr:
        """Return the texts without a call in them; one may begin at the end if `more` can't follow it."""
        automaton = from_expr(texts)
        never = []
        for takeover in self._takeovers:
            pattern, begun = _begun(takeover)
            never.append(pattern + rest)
            automaton = both(automaton, negation(from_expr(seq(begun, more))))
        return Spelled(but_not(f"/{text}/", never), minimal(automaton))


def _begun(takeover: Takeover) -> tuple[str, Expr]:
    """Return all text up to the beginning of a call, as a pattern and as an expression."""
    words = "|".join(map(text_regex, takeover.texts))
    called = f"({words})" if len(takeover.texts) > 1 else words
    call = alt(*map(lit, takeover.texts))
    if takeover.kind == "word":
        return f".*{called}", seq(_ANYTHING, call)
    place, places = _line(takeover) if takeover.kind == "line" else (_SPACE_REGEX, _SPACE)
    return place + called, seq(places, call)


def _line(takeover: Takeover) -> tuple[str, Expr]:
    ends = ("\n", *takeover.before)
    pattern = "|".join(map(text_regex, ends))
    return f"(.*({pattern}))?{_SPACE_REGEX}", seq(opt(seq(_ANYTHING, alt(*map(lit, ends)))), _SPACE)
