"""The rules of lists and objects with mistakes, or that the output cuts off.

    loose_object  = "{" (loose_sign / loose_object / loose_list / loose_member)* ("}" / cut)
    loose_member  = loose_key loose_sign* loose_value?
    …

The rules find the end of such a value; the mapper repairs its inside, as the generated parsers do.  Quotes and opening
brackets count anywhere; commas and colons may be missing or superfluous.  A closing bracket closes the innermost open
bracket of its kind, with everything that is open inside.  If none is open, the bracket is ignored.
"""

from __future__ import annotations

from tplc.backends.peg.patterns import any_of, either, leaf, literal, none_of
from tplc.backends.peg.rules import Rule, rule
from tplc.backends.peg.styles import BoundedStyle
from tplc.lower.lexemes import exact
from tplc_runtime.values import AFTER_LITERAL, NUMBER

VALUES = ("loose_object", "loose_list", "loose_string", "loose_word")
IN_LIST = "_for_item"
# What else reads as a number: 007, 1_000, .5, 0x1F, nan.
OTHER_NUMBERS = (
    r"[-+]?(?:0*(?:[1-9]|0_)[0-9_]*(?:\.[0-9_]*)?|0*\.[0-9_]+)(?:[eE][-+]?[0-9]+)?",
    r"0[xX][0-9a-fA-F]{1,16}",
    r"[-+]*(?i:nan|inf|infinity)",
)


def loose_rules(style: BoundedStyle, place: str = "") -> list[Rule]:
    """Return `loose_object` and `loose_list` for values inside an object; `place` distinguishes styles."""
    item = IN_LIST + place
    return [
        *_object(style, place, place),
        _list(style, f"loose_list{place}", place),
        *_object(style, item, place),
        rule(f"loose_key{place}", f"loose_string{place}", leaf(bare_key_pattern(style))),
        rule(f"loose_string{place}", leaf(string_pattern(style))),
        rule(f"loose_word{place}", leaf(word_pattern(style))),
        rule(f"loose_sign{place}", leaf(_signs(style, ",:]"))),
        rule(f"loose_sign{item}", leaf(_signs(style, ",:"))),
        *break_rules(style.stop),
    ]


def break_rules(stop: str) -> list[Rule]:
    """What stands in no value but inside a string."""
    return [rule("call_break", leaf(stop))] if stop else []


def unbroken(choice: str, stop: str) -> str:
    return f"!call_break {choice}" if stop else choice


def maybe(choice: str, stop: str) -> str:
    return f"({unbroken(choice, stop)})?" if stop else f"{choice}?"


def ends(closing: str, stop: str) -> str:
    """How an object or a list ends: closed, by what stands in none, or with the output."""
    return f"({closing} / &call_break / cut)" if stop else f"({closing} / cut)"


def open_rules(style: BoundedStyle, end: str) -> list[Rule]:
    """`open_object` and `open_list` for what the output ends in: they are not closed before `end`."""
    inside = "loose_sign / loose_object / loose_list / loose_member"
    item = f"loose_sign{IN_LIST} / loose_value{IN_LIST}"
    return [
        rule("open_object", f"{literal(_sign(style, '{'))} ({unbroken(f'({inside})', style.stop)})* {end}"),
        rule("open_list", f"{literal(_sign(style, '['))} ({unbroken(f'({item})', style.stop)})* {end}"),
    ]


def loose_top_list(style: BoundedStyle, place: str, name: str) -> list[Rule]:
    """Return the rule of a list outside of objects: a bracket that closes objects is ignored in it."""
    own = "_for_top" + place
    inside = f"(loose_sign{own} / loose_object{IN_LIST}{place} / {name} / loose_string{place} / loose_word{place})"
    return [
        rule(
            name,
            f"{literal(_sign(style, '['))} ({unbroken(inside, style.stop)})* "
            + ends(literal(_sign(style, "]")), style.stop),
        ),
        rule(f"loose_sign{own}", leaf(_signs(style, ",:}"))),
    ]


def _object(style: BoundedStyle, here: str, place: str) -> list[Rule]:
    """An object; in a list the end of the list closes it as well."""
    inside = f"(loose_sign{here} / loose_object{here} / loose_list{place} / loose_member{here})"
    closing = literal(_sign(style, "}")) + (f" / &{literal(_sign(style, ']'))}" if here != place else "")
    whole = f"{literal(_sign(style, '{'))} ({unbroken(inside, style.stop)})* {ends(closing, style.stop)}"
    return [
        rule(f"loose_object{here}", whole),
        rule(f"loose_member{here}", f"loose_key{place} loose_sign{here}* {maybe(f'loose_value{here}', style.stop)}"),
        rule(
            f"loose_value{here}",
            f"loose_object{here}",
            f"loose_list{place}",
            f"loose_string{place}",
            f"loose_word{place}",
        ),
    ]


def _list(style: BoundedStyle, name: str, place: str) -> Rule:
    """A list in an object; the end of the object closes it as well."""
    item = IN_LIST + place
    closing = ends(f"{literal(_sign(style, ']'))} / &{literal(_sign(style, '}'))}", style.stop)
    inside = unbroken(f"(loose_sign{item} / loose_value{item})", style.stop)
    return rule(name, f"{literal(_sign(style, '['))} ({inside})* {closing}")


def _sign(style: BoundedStyle, token: str) -> str:
    return next((text for text, kind in style.tokens.items() if kind == token), token)


def _signs(style: BoundedStyle, tokens: str) -> str:
    texts = [text for text, token in style.tokens.items() if token in tokens]
    signs = rf"\s|{either([exact(text) for text in texts])}"
    return rf"(?:(?!{style.stop})(?:{signs}))++" if style.stop else rf"(?:{signs})++"


def string_pattern(style: BoundedStyle, *, follow: str = "", whole: bool = False) -> str:
    """Text in quotes of any kind, to its end or the output's (unless `whole`).

    `follow` is what comes after quotes that may stand unescaped in the text.
    """
    stop = "" if whole else r"|\\?\Z"
    strings = [
        rf"{exact(opened)}{_text(of.close, of.escape)}(?:{_close(style, of.close, of.escape, follow)}{stop})"
        for opened, of in style.strings.items()
    ]
    return either(strings) or "(?!)"


def open_string_pattern(style: BoundedStyle) -> str:
    """Text in quotes that the output's end cuts."""
    strings = []
    for opened, of in style.strings.items():
        text = rf"(?:(?!{exact(of.close)}).)*+" if of.escape == "none" else _text(of.close, of.escape) + r"\\?"
        strings.append(exact(opened) + text + r"\Z")
    return either(strings) or "(?!)"


def _text(close: str, escape: str) -> str:
    if escape == "none":
        return ".*?"
    plain = none_of(close + "\\") if len(close) == 1 else rf"(?!{exact(close)})[^\\]"
    escapes = r"\\." if escape == "python" else r"""\\["\\/bfnrt']|\\(?!\Z)"""
    return rf"(?:{plain}|{escapes})*+"


def _close(style: BoundedStyle, close: str, escape: str, follow: str) -> str:
    guessed = escape == "none" and len(close) < 3
    return exact(close) + (f"(?={follow or style.follow.pattern})" if guessed else "")


def no_name_pattern(style: BoundedStyle) -> str:
    """Text in quotes that names nothing: white space, or lines."""
    blank = [rf"{exact(opened)}(?:\s|\\[nrt])*+{exact(of.close)}" for opened, of in style.strings.items()]
    lines = [
        rf"{exact(opened)}(?:(?!{exact(of.close)})[^\\\n]|\\[^n])*+(?:\n|\\n)" for opened, of in style.strings.items()
    ]
    return either([*blank, *lines]) or "(?!)"


def word_pattern(style: BoundedStyle) -> str:
    """A number or a literal word; any other goes on to a comma, a bracket, or the line's end."""
    char = _word_char(style)
    return rf"(?={char})(?:{_literal_word(style)}|{_to_comma(style)}|(?:{char})++)"


def bare_word_pattern(style: BoundedStyle) -> str:
    """A word that is text, although it stands in no quotes."""
    char = _word_char(style)
    return rf"(?={char})(?!{_literal_word(style)})(?:{_to_comma(style)}|(?:{char})++)"


def _to_comma(style: BoundedStyle) -> str:
    return rf"(?:(?!{style.stop})[^,\n\]}}])++" if style.stop else r"[^,\n\]}]++"


def _literal_word(style: BoundedStyle) -> str:
    words = [exact(word) for word in sorted(style.words, key=len, reverse=True)]
    return f"(?:{either([*words, NUMBER.pattern, *OTHER_NUMBERS])})(?!{_word_char(style)})"


def top_word_pattern(style: BoundedStyle, follow: str) -> str:
    """A word that stands in no brackets: up to what may follow the value."""
    signs = either([exact(text) for text, token in style.tokens.items() if token in ",:]}[{"])
    words = [exact(word) for word in sorted(style.words, key=len, reverse=True)]
    literal_word = f"(?:{either([*words, NUMBER.pattern])})(?={follow}|{AFTER_LITERAL.pattern})"
    return rf"(?!{signs})(?:{literal_word}|(?!{follow}).+?(?={follow}|\Z))"


def bare_key_pattern(style: BoundedStyle) -> str:
    char = _word_char(style)
    stops = either([exact(_sign(style, ":")), "" if style.bare_keys else style.stop])
    return rf"(?={char})(?:(?:(?!{stops})[^\n}}])++|(?:{char})++)"


def _word_char(style: BoundedStyle) -> str:
    ordered = sorted(style.tokens, key=len, reverse=True)
    single = any_of("".join(sign for sign in ordered if len(sign) == 1))[1:]
    longer = either([*(exact(sign) for sign in ordered if len(sign) > 1), style.stop])
    return (f"(?!{longer})" if longer else "") + rf"[^\s{single}"
