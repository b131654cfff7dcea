r"""Read calls of known tools that no marker of the format opens, before any content.

    unopened_calls('{"name": "f", "arguments": {"a": 1}}', …)         →  [("f", '{"a": 1}', None)], 36
    unopened_calls('<tools>{"name": "f", "input": {}}</tools>\n', …)  →  [("f", "{}", None)], 44
    unopened_calls('f\n{"a": 1}', …)                                  →  [("f", '{"a": 1}', None)], 10
    unopened_calls('<x=f>{"a": 1}</x>', …)                            →  [("f", '{"a": 1}', None)], 17
    unopened_calls("[f(a=1), g(b=2)] are calls.", …)                  →  [], 0: text follows in the same line

Such a text counts as a whole only: nothing in it may be lost, or guessed.  If something is repaired, the arguments must
be what the tool's schema asks for.
"""

from __future__ import annotations

from .pattern import LEAST_CUT, NAME_CHARACTERS, NAME_LIMIT, Pattern
from .scanner import next_char
from .schema import OPENING_TAG, bare_name, keys_allowed, tool_named
from .second import (
    ARGUMENT_KEYS,
    ENDS_OF_CALLS,
    FENCE_END,
    ID_KEYS,
    NAME_KEYS,
    NAMESPACES,
    NEAR,
    OTHER_KEYS,
    Doubts,
    any_styles,
    arguments_of,
    as_json,
    given_in,
    innermost,
    is_asked_for,
    values_in,
    values_within,
)
from .values import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .scanner import Scanner
    from .schema import Parameters

CALL_KEYS = frozenset(NAME_KEYS + ARGUMENT_KEYS + OTHER_KEYS)
FIRST_OF_CALLS = Pattern(r"""\s*(?:[,;]\s*)?(?=[\w{\[`<"'*]|\Z)""")
# A fence, a backtick, a tag or a token around calls; and a text that may become one.
AROUND_CALLS = Pattern(r"(?:(```)[\w-]{0,16}\s{1,16}|(`)|<([\w:-]{1,64})>\s{0,16}|<([|｜])[^\s<>]{1,64}>\s{0,16})?")
PART_OF_AROUND = Pattern(r"(?:`{1,3}[\w-]{0,16}|<[|｜]?[^\s<>]{0,64}(?:[ =][^<>\n]{0,128})?>?)\s{0,16}\Z")
CLOSING_TOKEN = Pattern(r"<[|｜/][^\s<>]{1,64}>|\Z")
PREFIXES_OF_NAMES = ("", *NAMESPACES)
# How calls begin: a name, or an object with a key and a value.
HEAD_OF_CALL = Pattern(
    rf"""\[?\s{{0,16}}(?:print\(\s{{0,8}})?["']?(?:([{NAME_CHARACTERS}]{{1,64}})["']?(\(|\s{{1,16}}(?:```[\w-]{{0,16}}\s{{1,16}})?"""
    r"""(?:\{|`{0,3}[\w-]{0,16}\Z))?|\Z)|[\[\s]{0,16}"""
    r"""(?:\{{1,2}\s{0,64}(?:["']?(\w{0,64})(?:["']?\s{0,16}(?::\s{0,16}(?:["']([\w.:/-]{0,64})(["'])?)?)?)?)?)?"""
)
# A key around calls, and brackets that close what is around them.
WRAPPER = Pattern(r"""(?:\{\s{0,16}["']\w{1,64}["']\s{0,16}:\s{0,16}(?=[\[{]))?""")
CLOSING_BRACKETS = Pattern(r"[\s\]})]{0,16}")
# What may be around the name of a tool before its arguments in another form.
BEFORE_NAME = Pattern("[\"'`*]{0,2}")
AFTER_NAME = Pattern(
    rf"""["'`*]{{0,2}}(?:\(\)|:)?\s{{0,16}}[:=(]?\s{{0,16}}(?:(?=[{{["'`]|(?i:json|{"|".join(ARGUMENT_KEYS)})\W)|\w{{0,10}}(\Z))"""
)


def unopened_calls(
    buf: str, pos: int, final: bool, known: Parameters, own_fields: dict[str, str], markers: Sequence[Scanner]
) -> tuple[list[tuple[str, str, str | None]], int] | None:
    """Return the calls that begin here, with their ids, and where they end; [] if none do.  None: more input is needed.
    `markers`: what opens other parts, what ends a call in its line, and what closes calls or the turn."""
    (marks, breaks, after), first = markers, FIRST_OF_CALLS.match(buf, pos)
    start = pos if first is None else first.end()
    if first is None or marks.match_at(buf, start) is not None or (not final and marks.prefix_of(buf, start)):
        return [], pos
    tools = Doubts(known, True, own_fields)
    around = AROUND_CALLS.match(buf, start)
    at, closing = around.end(), around[1] or around[2] or (f"</{around[3]}>" if around[3] else "")
    closing = CLOSING_TOKEN.search(buf, at)[0] if around[4] else closing
    if _tool_tag(buf, start, tools):
        at, closing = start, ""
    is_part = PART_OF_AROUND.match(buf, start) or PART_OF_AROUND.match(buf, at)
    end = None if is_part else _end_of_calls(buf, at, final, tools, closing, breaks)
    end = None if around[4] and end and not (closing or final) else end
    over = None if end is None or not end else _over(buf, end + len(closing), final, closing, after, tools)
    if end is None or over is None:
        return named_call(buf, start, final, tools, breaks) if final or end == 0 else None
    found = [_whole_call(one, tools) for value in values_in(buf[at:end], tools) for one in values_within(value, tools)]
    calls = [call for call in found if call is not None and (call[1] != "{}" or buf[at:end].rstrip()[-1:] != ")")]
    is_whole = over and calls and len(calls) == len(found) and not tools.is_guessed
    if tools.is_repaired:
        is_whole = is_whole and all(is_asked_for(arguments, tools[name]) for name, arguments, _ in calls)
    return (calls, end + len(closing)) if is_whole else named_call(buf, start, final, tools, breaks)


def named_call(buf: str, pos: int, final: bool, tools: Doubts, breaks: Scanner) -> Any:
    """Return the call of a tool, named in any spelling, with all that its schema asks for up to the next marker.  Words
    before a whole call are content, also if they read as its name."""
    at = end = BEFORE_NAME.match(buf, pos).end()
    near = bare_name(buf[at : at + NEAR])
    words = [("", ""), *((bare_name(prefix + tool), tool) for prefix in PREFIXES_OF_NAMES for tool in tools)]
    if not final and len(buf) - at < NEAR and any(bare.startswith(near) for bare, _ in words):
        return None
    word, name = max(pair for pair in words if near.startswith(pair[0]))
    while len(bare_name(buf[at:end])) < len(word):
        end += 1
    after = AFTER_NAME.match(buf, end) if name and bare_name(buf[at:end]) == word else None
    if after is None:
        return [], pos
    mark = breaks.find(buf, after.end())
    if not final and (after[1] is not None or not breaks.is_decided(mark, buf, pos)):
        return None
    end, doubts = len(buf) if mark is None else mark.start, Doubts(tools, mark is None)
    found = given_in(name, given := buf[after.end() : end].rstrip(" \t\r\n.,;"), doubts)
    is_whole = found is not None and not doubts.is_guessed and is_asked_for(found, tools[name])
    is_whole = is_whole and not any(_whole_call(value, tools) for value in values_in(given, tools))
    return ([(name, found, None)], end) if is_whole else ([], pos)


def unopened_headers(buf: str, pos: int, tools: Parameters, header: Any) -> tuple[list[tuple[int, int]], bool]:
    """Return where the name of a tool begins and ends that is in the header of a call whose opener is missing, or a
    piece of it; and whether more input may show such a header.  `header`: a pattern from the name up to the first
    value, with a group if all of it has come, and pieces of the opener."""
    (pattern, *pieces), start, found, undecided = header, next_char(buf, pos), [], False
    for piece in pieces:
        rest = buf[start : start + len(piece)]
        at = next_char(buf, start + len(piece))
        name = max((tool for tool in tools if buf.startswith(tool, at)), key=len, default="")
        if rest != piece or not name:
            begun = piece.startswith(rest) if start + len(rest) == len(buf) else rest == piece
            undecided |= begun and any(tool.startswith(buf[at : at + NAME_LIMIT]) for tool in tools)
            continue
        match, end = pattern.match(buf, at), at + len(name)
        if match is not None and not (buf[end : end + 1].isalnum() or buf.startswith("_", end)):
            undecided |= match.lastindex is None
            found += [(at, end)] * (match.lastindex is not None)
    return found, undecided


def is_object_over(buf: str, pos: int, final: bool, after: Scanner, tools: Parameters) -> bool | None:
    """Return whether an object comes next, and then the end of the line; None if more input is needed."""
    start, reader = buf.find("{", pos), Reader(any_styles())
    end = reader.read(buf, start, final) if start >= 0 else pos
    if start < 0 or reader.is_guessed or reader.want:
        return None if reader.want and not final and not reader.is_guessed else False
    return _over(buf, end, final, "", after, tools)


def _tool_tag(buf: str, pos: int, tools: Parameters) -> Any:
    """Return the match of a tag that names a tool, if one begins here."""
    tag: Any = OPENING_TAG.match(buf, pos)
    return tag if tag is not None and (tag[2] or tag[1]) in tools else None


def _begins_call(head: Any, tools: Doubts) -> bool:
    """Return whether a match of HEAD_OF_CALL begins a call of a tool, or may, as the text ends there."""
    name, called, key, value, ended = head.groups()
    key = tools.own_fields.get(key, key)
    is_cut = head.end() == len(head.string)
    if (key in NAME_KEYS and value is not None) or not key:
        word = bare_name(value or name or "")
        forms = ((prefix, end) for prefix in PREFIXES_OF_NAMES for end in ("", "call"))
        words = ("print(", *(bare_name(prefix + tool) + end for prefix, end in forms for tool in tools))
        return word in words if ended or called else is_cut and any(one.startswith(word) for one in words)
    return is_cut or key in tools or key in CALL_KEYS


def _end_of_calls(buf: str, pos: int, final: bool, tools: Doubts, closing: str, breaks: Scanner) -> int | None:
    """Return where a text ends that begins like calls of tools; 0 if none does, None if more input is needed."""
    tag = _tool_tag(buf, pos, tools)
    if tag is not None:
        closer = closing or f"</{tag[1]}>"
        end = buf.find(closer, tag.end())
        if end >= 0 and not (tag[2] or buf[tag.end() : end].strip()):
            return 0  # prose names a tool as `<f></f>`, too
        return end + len(closer) * (not closing) if end >= 0 else None
    head, inner = HEAD_OF_CALL.match(buf, pos), HEAD_OF_CALL.match(buf, WRAPPER.match(buf, pos).end())
    begins = _begins_call(head, tools) or _begins_call(inner, tools)
    if not begins or head.end() == len(buf):
        return None if begins else 0
    if closing:
        return None if (end := buf.find(closing, pos)) < 0 else end
    if head[2] == "(":  # in a line
        mark = breaks.find(buf, pos)
        end = len(buf) if mark is None else mark.start
        line = buf.find("\n", pos, end)
        return line if line >= 0 else end if mark is not None or final else None
    reader = Reader(any_styles())
    end = reader.read(buf, head.end() - 1 if head[2] else pos, final)
    if head[2] and "`" in head[2] and not reader.want:
        fence = buf[(start := next_char(buf, end)) : start + len(FENCE_END)]
        is_cut = not final and fence != FENCE_END and FENCE_END.startswith(fence)
        return None if is_cut else start + len(fence) if fence == FENCE_END else 0
    return 0 if reader.is_guessed else None if reader.want else end


def _over(buf: str, end: int, final: bool, closing: str, after: Scanner, tools: Parameters) -> bool | None:
    """Return whether nothing but a further call follows calls in their line; None if more input is needed."""
    at = int(CLOSING_BRACKETS.match(buf, end).end())
    if "\n" in buf[end:at] and closing != FENCE_END:  # what follows a fence shows whether it is an example
        return True
    starts = range(end, at + 1)  # what closes calls may begin with a bracket
    marks = [mark for start in starts if (mark := after.match_at(buf, start)) is not None and mark.end > at]
    if at == len(buf) or (marks and marks[0].kind in ENDS_OF_CALLS):
        return True if final or at < len(buf) else None
    is_cut = any(after.prefix_of(buf, start, ENDS_OF_CALLS) for start in starts)
    if (is_cut or PART_OF_AROUND.match(buf, at)) and not final:
        return None
    another = buf[at] in ",;" or _tool_tag(buf, at, tools) is not None
    return (is_cut and len(buf) - at >= LEAST_CUT) or (another and not closing)


def _whole_call(value: Any, tools: Doubts) -> tuple[str, str, str | None] | None:
    """Return the call that an object is, with its id, if it has a name, arguments of the schema, and nothing else."""
    inner, usual = innermost(value), tools.own_fields
    inner = None if inner is None else {usual.get(key, key): item for key, item in inner.items()}
    if inner is not None and len(inner) == 1:  # the name may be the key
        [(key, given)] = inner.items()
        inner = {"name": key, "arguments": given or None}
    if inner is None or not inner.keys() <= CALL_KEYS:
        return None
    names, found = ([inner[key] for key in keys if key in inner] for keys in (NAME_KEYS, ARGUMENT_KEYS))
    if len(names) != 1 or len(found) != 1 or not isinstance(found[0], dict) or not isinstance(names[0], str):
        return None
    name = tool_named(names[0], tools)
    keys, given = keys_allowed(tools.get(name)), found[0]
    ids = [one[key] for one in (inner, value) for key in ID_KEYS if isinstance(one.get(key), str)]
    arguments = as_json(given) if name in tools and (keys is None or keys.issuperset(given)) else None
    if arguments is None and keys:
        inside = arguments_of(name, given, tools)
        arguments = inside if inside is not None and is_asked_for(inside, tools[name]) else None
    return None if arguments is None else (name, arguments, ids[0] if ids else None)
