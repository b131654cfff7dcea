"""The rules of raw values between texts that depend on their type.

TypeWrap("<lit>", "</lit>", ("integer", …), …)
→  wrapped_value_for_2 = type_for_wrap_2 (typed_value_for_wrap_2 / raw_text_for_wrap_2) (wrap_close_for_2 / cut)
   type_for_wrap_2     = type_integer_… ""
   type_integer_…      = ~r"\\s*+<lit>"s
   …
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tplc.backends.peg.patterns import either, leaf, marker, marker_core
from tplc.backends.peg.rules import Rule, rule, sequence
from tplc.backends.peg.values import SPACE
from tplc.lower.acceptor import TypeWrap
from tplc.lower.lexemes import exact, group
from tplc.lower.values import NAME_LIMIT


@dataclass(frozen=True, slots=True)
class WrapPlace:
    """What is known of the pairs that such values stand in.

    `only` and `later` return the patterns of what shows that no later closer counts, and of the text up to one that
    does, `garbled` those of closers that replace the own before the next pair or the end of the call.  `key_before` is
    the pattern of what is before the wrapper, with the key as its group; `typed` are the names of the rules of values
    that are no text.  `key_after` is the pattern of the key and what ends it, if wrappers open pairs.  `next_pair` is
    the pattern of the next pair, if it may end a value, and `free` that of text before it; `suffix` is then in the
    names of the rules.
    """

    only: Callable[[str], str]
    later: Callable[[str], str]
    garbled: Callable[[str, str], str]
    call_closes: str
    key_before: str
    typed: str
    key_after: str = ""
    next_pair: str = ""
    free: str = ""
    suffix: str = ""


def names_of_wraps(wraps: tuple[TypeWrap, ...]) -> list[str]:
    """Return the alternatives of a value: one for each wrapper."""
    return [f"wrapped_value_for_{number}" for number, wrap in enumerate(wraps, 1) if wrap.opened]


def type_of_bare(wraps: tuple[TypeWrap, ...]) -> str:
    """Return the rule of the types of bare values; "" if there are none."""
    return next((f"type_for_wrap_{number}" for number, wrap in enumerate(wraps, 1) if not wrap.opened), "")


def wrap_rules(wraps: tuple[TypeWrap, ...], place: WrapPlace) -> list[Rule]:
    return [each for number, wrap in enumerate(wraps, 1) for each in _rules(number, wrap, place)]


def type_rules(wraps: tuple[TypeWrap, ...], place: WrapPlace) -> list[Rule]:
    """Return the rules of the texts that show types."""
    rules = []
    for number, wrap in enumerate(wraps, 1):
        named = f"type_{'_'.join(wrap.types)}"
        rules.append(rule(f"type_for_wrap_{number}", f'{named} ""'))
        rules.append(rule(named, leaf(_opened(wrap, place) if wrap.opened else "")))
        if wrap.opened:
            close = rf"\s*+{marker_core(wrap.close)}"
            garbled = place.garbled(_ends(wrap, place)[1], "") if wrap.close and place.key_after else ""
            rules.append(rule(f"wrap_close_for_{number}", leaf(either([close, garbled]))))
    return rules


def _rules(number: int, wrap: TypeWrap, place: WrapPlace) -> list[Rule]:
    if not wrap.opened:
        return []
    opened, own, close = _ends(wrap, place)
    stop, name = group(either([own, place.call_closes])), f"for_wrap_{number}{place.suffix}"
    garbled = place.garbled(own, place.next_pair) if place.next_pair else ""
    lost = " / missing_closer_for_call" * bool(place.call_closes)
    lost += f" / next_argument{place.suffix}" * bool(place.next_pair)
    texts, rules, is_typed = [f"raw_text_{name}"], [], wrap.types != ("string",)
    if is_typed:
        texts.insert(0, f"typed_value_{name}")
        own_close = close if wrap.around_key else close + place.only(own)
        over = group(either([own_close, garbled, place.call_closes, place.next_pair]))
        own_next = leaf(rf"{opened}(?=(?:(?!{close}).)*+(?:{own}{place.only(own)}|\Z))") if wrap.around_key else ""
        space = leaf(rf"[ \t\r\n]*?(?={over}|\Z)")
        rules.append(rule(texts[0], sequence(own_next, leaf(SPACE), f"({place.typed})", space)))
    text = rf"{opened}.*?(?={stop}|\Z)"
    if place.next_pair:
        text = rf"(?:{place.free}(?={group(either([stop, garbled, place.next_pair]))})|{text})"
    rules.append(rule(texts[-1], leaf(text + place.later(own))))
    ended = f"({' / '.join(texts)}) (wrap_close_for_{number}{lost} / cut)"
    return [rule(f"wrapped_value_for_{number}{place.suffix}", f"type_for_wrap_{number} {ended}"), *rules]


def _opened(wrap: TypeWrap, place: WrapPlace) -> str:
    """Return the pattern of the text before a value that shows its type."""
    if place.key_after:
        return rf"(?<={marker_core(wrap.opened)}\s*{place.key_after})"
    return SPACE + exact(wrap.opened)


def _ends(wrap: TypeWrap, place: WrapPlace) -> tuple[str, str, str]:
    """Return the patterns of what precedes the value, of its own closer, and of any closer like that."""
    if wrap.around_key is None:
        own = group(either([marker(text) for text in wrap.ends]))
        return "", own, own
    before, after = wrap.around_key
    opened = rf"(?<={place.key_before}\s*{exact(wrap.opened)})"
    own = rf"{marker(before)}\1{marker_core(after)}"
    return opened, own, rf"{marker(before)}[^\n]{{0,{NAME_LIMIT}}}?{marker(after)}"
