"""The rules of values in a dialect: objects, lists, text in quotes, numbers, words.

    JSON_STYLE  →  object       = object_open (member (comma member)*)? object_close
                   member       = key colon value
                   value        = object / list / string / number / true / false / null
                   string       = "\\"" json_text "\\""
                   …

They are strict.  What breaks them, or is cut off, is a `loose_object`: no more than brackets and quotes that pair up,
which the mapper repairs.  The name of a text's rule says how it is escaped: json_text, python_text, plain_text.  A rule
that stands for the same thing in another style has a name that continues with `_for_…`.
"""

from __future__ import annotations

from tplc.backends.peg.patterns import either, leaf, literal, none_of
from tplc.backends.peg.rules import Rule, rule
from tplc.ir.nodes import Dialect, StringStyle, ValueStyle
from tplc.lower.lexemes import exact
from tplc.lower.values import NUMBER, possessive
from tplc_runtime.values import JSON_ESCAPE, Quoting

WHOLE_NUMBER = possessive(NUMBER) + r"(?!\w|\.(?:\d|\Z))"  # a closer may begin with a dot
FOLLOWING = r"\s*+(?:[,\]}):]|\Z)"
SPACE = r"[ \t\r\n]*+"
TEXT_RULES = {"json": "json_text", "python": "python_text", "none": "plain_text"}
ESCAPES = {
    "json": JSON_ESCAPE,
    "python": r"""\\(?:['"\\abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})""",
}


def value_rules(
    style: ValueStyle, dialect: Dialect, suffix: str = "", *, after: str = "", no_key: str = ""
) -> list[Rule]:
    """Return the rules for values of one style; inside its lists and objects, the dialect determines the style.

    `after` is what may follow a value, where quotes stand unescaped inside quotes; `no_key` what begins no bare key.
    """
    words = [f"{word}{suffix}" for word in _words(style)]
    strings = [f"string{suffix}"] if style.strings else []
    in_list = suffix if suffix == "_for_list" else ""
    return [
        rule(f"value{suffix}", f"object{suffix}", f"list{suffix}", *strings, "number", *words),
        *object_rules(style, suffix, in_list, no_key),
        *list_rules(style, suffix, in_list or (suffix and list_suffix(dialect))),
        *string_rules(style, suffix, after),
        *([rule("number", leaf(WHOLE_NUMBER))] if not suffix else []),
        *(rule(f"{word}{suffix}", leaf(exact(getattr(style, word)) + r"(?!\w)")) for word in _words(style)),
    ]


def _words(style: ValueStyle) -> list[str]:
    return [word for word in ("true", "false", "null") if getattr(style, word)]


def list_suffix(dialect: Dialect) -> str:
    """Return the suffix of rules for values inside a top-level list, if their style differs."""
    return "" if dialect.in_list == dialect.in_object else "_for_list"


def object_rules(style: ValueStyle, suffix: str, inner: str, no_key: str = "") -> list[Rule]:
    member = f"member{inner}"
    rules = [
        rule(f"object{suffix}", f"object_open{suffix} ({member} (comma{suffix} {member})*)? object_close{suffix}"),
        rule(f"object_open{suffix}", leaf(exact(style.object_open.strip()) + SPACE)),
        rule(f"object_close{suffix}", leaf(SPACE + exact(style.object_close.strip()))),
        rule(f"comma{suffix}", leaf(SPACE + exact(style.object_separator.strip()) + SPACE)),
    ]
    if inner == suffix:
        rules += [
            rule(member, f"key{suffix} colon{suffix} value{suffix}"),
            *key_rules(style, suffix, no_key),
            rule(f"colon{suffix}", leaf(SPACE + exact(style.colon.strip()) + SPACE)),
        ]
    return rules


def key_rules(style: ValueStyle, suffix: str, no_key: str) -> list[Rule]:
    if style.key_open:
        return [rule(f"key{suffix}", f"string{suffix}")]
    inside = [style.colon, style.object_close, *(string.open for string in style.strings)]
    punctuation = [*inside, style.object_open, style.list_open, style.list_close, style.object_separator]
    stops, first = (either([exact(char.strip()) for char in texts if char.strip()]) for texts in (inside, punctuation))
    first = either([first, no_key])
    return [rule(f"key{suffix}", leaf(rf"(?!{first})\S(?:(?!{stops})[^\n])*+"))]


def list_rules(style: ValueStyle, suffix: str, inner: str) -> list[Rule]:
    value = f"value{inner}"
    return [
        rule(f"list{suffix}", f"list_open{suffix} ({value} (comma{suffix} {value})*)? list_close{suffix}"),
        rule(f"list_open{suffix}", leaf(exact(style.list_open.strip()) + SPACE)),
        rule(f"list_close{suffix}", leaf(SPACE + exact(style.list_close.strip()))),
    ]


def string_rules(style: ValueStyle, suffix: str, after: str = "") -> list[Rule]:
    """Return the rules of strings, with one choice for each quoting: "\\"" json_text "\\""."""
    choices, rules = list[str](), list[Rule]()
    for index, string in enumerate(style.strings):
        name = TEXT_RULES[string.escape] + suffix + (f"_for_quotes_{index + 1}" if index else "")
        choices.append(f"{literal(string.open)} {name} {literal(string.close)}")
        rules.append(rule(name, leaf(text_pattern(string, after))))
    return [rule(f"string{suffix}", *choices), *rules] if rules else []


def text_pattern(string: StringStyle, after: str) -> str:
    """Return the pattern of the text between the quotes; without escapes, a quote closes it only if the value can end
    there, unless it is like nothing in a text."""
    if string.escape == "none":
        follow = (after or FOLLOWING) * Quoting(string.close, string.escape).is_guessed
        return f".*?(?={exact(string.close)}{follow})"
    plain = none_of(string.close[0] + "\\") if string.escape == "python" else rf"[^{string.close[0]}\\\x00-\x1f]"
    if len(string.close) > 1:
        return rf"(?:(?!{exact(string.close)}){plain}|{ESCAPES[string.escape]})*+"
    return rf"{plain}*+(?:{ESCAPES[string.escape]}{plain}*+)*+"
