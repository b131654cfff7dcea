r"""The `format`s of JSON Schema as patterns.

    "date"  →  ^(\d{4}-(01|03|…)-(0[1-9]|[12]\d|3[01])|…)$

Formats that no pattern of sensible size can say are in `BEYOND`; names in neither are annotations, as the standard has
it.
"""

from __future__ import annotations

_DAY_31 = r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])"
_DAY_30 = r"(0[469]|11)-(0[1-9]|[12]\d|30)"
_DAY_28 = r"02-(0[1-9]|1\d|2[0-8])"
# No calendar in use has a year 0.
_YEAR = r"(\d{3}[1-9]|\d\d[1-9]0|\d[1-9]00|[1-9]000)"
_LEAP_YEAR = r"(\d\d(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DATE = rf"({_YEAR}-({_DAY_31}|{_DAY_30}|{_DAY_28})|{_LEAP_YEAR}-02-29)"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)"

_BYTE = r"(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])"
_IPV4 = rf"({_BYTE}\.){{3}}{_BYTE}"
_H = r"[0-9A-Fa-f]{1,4}"
_LOW_32 = rf"({_H}:{_H}|{_IPV4})"
_IPV6 = "|".join(
    (
        rf"({_H}:){{6}}{_LOW_32}",
        rf"::({_H}:){{5}}{_LOW_32}",
        rf"({_H})?::({_H}:){{4}}{_LOW_32}",
        rf"(({_H}:){{0,1}}{_H})?::({_H}:){{3}}{_LOW_32}",
        rf"(({_H}:){{0,2}}{_H})?::({_H}:){{2}}{_LOW_32}",
        rf"(({_H}:){{0,3}}{_H})?::{_H}:{_LOW_32}",
        rf"(({_H}:){{0,4}}{_H})?::{_LOW_32}",
        rf"(({_H}:){{0,5}}{_H})?::{_H}",
        rf"(({_H}:){{0,6}}{_H})?::",
    )
)


def _hostname(longest: int, fewest: int, most: int) -> str:
    label = rf"[A-Za-z0-9]([A-Za-z0-9-]{{0,{longest - 2}}}[A-Za-z0-9])?"
    return rf"({label}\.){{{fewest - 1},{most - 1}}}{label}"


# No name may be longer than 253 characters: few long labels, or more short ones.
_HOSTNAME = f"({_hostname(62, 1, 4)}|{_hostname(30, 5, 8)})"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_EMAIL = rf"{_ATOM}(\.{_ATOM})*@{_HOSTNAME}"

_ASCII_URI = r"A-Za-z0-9._~!$&'()*+,;=:@-"
_WIDE_URI = _ASCII_URI.replace("-]", "") + "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"


def _uri(characters: str, *, relative: bool) -> str:
    # A hyphen stands for itself only at the end of a class.
    members = characters.replace("@-", "@") + "-"
    one = rf"([{members}]|%[0-9A-Fa-f]{{2}})"
    authority = (
        rf"(([{members.replace('@', '')}]|%[0-9A-Fa-f]{{2}})*@)?"
        rf"(([{members.replace('@', '').replace(':', '')}]|%[0-9A-Fa-f]{{2}})*|\[[0-9A-Fa-f:.]+\])(:\d*)?"
    )
    path = rf"(//{authority}(/{one}*)*|/({one}+(/{one}*)*)?|{one}+(/{one}*)*)?"
    no_colon = one.replace(":@", "@")
    loose = rf"(//{authority}(/{one}*)*|/({one}+(/{one}*)*)?|{no_colon}+(/{one}*)*)?"
    tail = rf"(\?({one}|[/?])*)?(#({one}|[/?])*)?"
    absolute = rf"[A-Za-z][A-Za-z0-9+.-]*:{path}{tail}"
    return f"({absolute}|{loose}{tail})" if relative else absolute


_DURATION = (
    r"P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))?"
    r"|T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))"
)
_POINTER = r"(/([^/~]|~[01])*)*"

_BODIES = {
    "date": _DATE,
    "time": _TIME,
    "date-time": rf"{_DATE}[Tt]{_TIME}",
    "duration": _DURATION,
    "email": _EMAIL,
    "hostname": _HOSTNAME,
    "ipv4": _IPV4,
    "ipv6": f"({_IPV6})",
    "uuid": r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
    "uri": _uri(_ASCII_URI, relative=False),
    "uri-reference": _uri(_ASCII_URI, relative=True),
    "iri": _uri(_WIDE_URI, relative=False),
    "iri-reference": _uri(_WIDE_URI, relative=True),
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(0|[1-9]\d*)(#|{_POINTER})",
}

PATTERNS = {name: f"^({body})$" for name, body in _BODIES.items()}
BEYOND = frozenset({"regex", "idn-email", "idn-hostname", "uri-template"})
