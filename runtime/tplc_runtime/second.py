"""Read a call again whose strict reading failed before its name, by the tools' names and keys.

    calls_in('{{"tool": "f", "arguments": {{"a": 1}}}}', tools, …)  →  [("f", '{"a": 1}')]
    calls_in("no call at all", tools, …)                           →  []

This needs the tools: without a name of a tool and keys of its schema there is no call.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache

from .pattern import LEAST_CUT, NAME_CHARACTERS, ONE_WORD, Pattern
from .scanner import next_char
from .schema import (
    OPENING_TAG,
    Parameters,
    bare_name,
    keys_allowed,
    keys_of,
    misfit,
    properties_of,
    required_of,
    tool_named,
    types_of_member,
)
from .values import CUT, Reader, Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .scanner import Match, Scanner

NAME_KEYS = ("name", "tool_name", "function_name", "function", "tool", "recipient_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "kwargs")
ID_KEYS = ("id", "call_id", "tool_call_id")
OTHER_KEYS = (*ID_KEYS, "type", "index")
KNOWN_KEYS = (*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS, "properties")  # models repeat the form of a schema
NAMESPACES = ("functions.", "tools.", "function:")
WORDS_OF_CALLS = ("json", "print(", "<", *NAMESPACES, *KNOWN_KEYS)  # or a tool's name
TURN_ENDS = ("end", "final_end")
ENDS_OF_CALLS = ("tail", "both", "call", "separator", "section", "closed", "close", *TURN_ENDS)
ENDS_OF_ALL = ("section", "closed")  # after all calls, or after the last
MOST_TURN_ENDS = 4  # so many are tried as the end of a text that is read again
NEAR = 128  # the name of a tool is so near to the beginning of a call
LONGEST_FOLLOWING = 4096  # longer text is not examined
ANY_QUOTES = frozenset("\\\"'“”‘’«`")
BEFORE_WORD = Pattern(r"""[\s(>{\[\\"'“”‘«`]*""")
NOTHING_GIVEN = ("null", '""', "[]", "None")  # in place of an object without members
MOST_WRAPS = 4  # objects around the arguments, or around a call
FENCE_END = "```"
FIRST_KEY = Pattern(r"""\{\s{0,64}["'](\w{1,64})["']""")
PART_OF_FIRST_KEY = Pattern(r"""\{\s{0,64}(?:["']\w{0,64})?""")
FENCE = Pattern(r"```[\w-]*[^\S\n]*\n")
CALL_IN_CALL = rf"(?:print\(\s*(?=\w[{NAME_CHARACTERS}]*\())?"
NOTE = r"/\*(?:(?!\*/).)*\*/|<!--(?:(?!-->).)*-->|(?:\\n)+"  # a comment, or escaped line ends
COMMENTS = Pattern(rf"(?:\s|(?:#|//)[^\n]*(?:\n|\Z)|{NOTE})*")
BEFORE_CALLS = Pattern(rf"{COMMENTS.pattern}[\s(>]*(?:\[\s*(?=\w[{NAME_CHARACTERS}]*\())?{CALL_IN_CALL}")
NO_BRACE = Pattern(r"""["']\w+["']\s*:""")
UNLIKE_OBJECT = Pattern(r"""["'](?:\w+["']\s*:|\{\s*["'])""")  # a key, or an object that is not escaped
BETWEEN_CALLS = Pattern(rf"[\s,;)\]}}`]*{COMMENTS.pattern}(?:and\s+)?" + CALL_IN_CALL)
BEFORE_FIRST_KEY = Pattern(
    r"""[\s(>{\[\\"'“”‘«`]*(?:(?:(?i:json)\b:?|(?<=```)[\w-]{0,16}(?:\n|\Z))[\s({\[\\"'“”‘«`]*)?"""
    r"""(?:<(?:[\w:-]+\s*[ =]\s*(?:\w+\s*=\s*)?)?["']?)?"""
)
ANY_KEY = Pattern(
    r"""(?=[\s(>\[`{"]|(?i:json))[\s(>\[`]*(?:(?i:json)\b:?\s*)?(?:"?\{[{\s]*|(?<=\s))(?:\\n)?[\\"'“”‘«]+\w"""
)
# What may be around arguments that are an object.
LABEL = rf"(?i:json|{'|'.join(ARGUMENT_KEYS)})\b\s?[:=]?\s*"
BEFORE_OBJECT = Pattern(rf'[\s(:=*>]*(?:`{{1,3}}[\w-]*\s*)?(?:{LABEL})?"?(?=\{{)')
AFTER_ARGUMENTS = Pattern(r'[\s)`"]*')
AFTER_OBJECT = Pattern(r"\s*(?:[,;]\s*)?")
WORD_BEFORE = Pattern(rf"\s*{LABEL}")
# The name of a tool before its arguments, which punctuation or a token may separate, and a keyword in them.
CALLED = Pattern(rf"""["'`]?([{NAME_CHARACTERS}]{{1,64}}?)["'`]?\s*(?:(\()|(?:(?:[:=]|\[\w+]|```[\w-]*)\s*)?(?=\{{))""")
KEYWORD = Pattern(r"""\s*["']?(\w{1,64})["']?\s*[=:]\s*""")
KEYWORD_FOLLOWS = (Pattern(r"\s{0,16}(?:,\s{0,16}(?:[\"']?\w{1,64}[\"']?\s{0,16}[=:]|\))|\))"),) * 2
AFTER_KEYWORD = Pattern(r"\s*(?:,\s*)?(\))?")
# An argument after an object, or after a call, and the beginning of one.
MORE_ARGUMENTS = Pattern(r"""[\s,;]{0,16}[({]?\s{0,16}["']?(\w{1,64})["']?\s{0,16}[=:]""")
PART_OF_MORE = Pattern(r"""[\s,;]{0,16}[({]?\s{0,16}["']?\w{0,64}["']?\s{0,16}""")
ELEMENT = Pattern(rf"\s*{OPENING_TAG.pattern}(.*?)</\1\s{{0,8}}>\s*")
SURROGATE = Pattern(r"[\ud800-\udfff]")
LAST_WORD = Pattern(rf"(?<![{NAME_CHARACTERS}])([{NAME_CHARACTERS}]{{1,64}})\s*\Z")
SEPARATING = " \t\n|:;,=>-"  # what may be between arguments and the name after them
CLOSING_TAG = Pattern(r"</[\w:.=▁|｜-]{1,64}>")
# A missing quote after a key, or after a value before the next key.
KEY_LEFT_OPEN = Pattern(r'(?<=[{,\s])"(\w+):(?=\s*["\[{\w-])')
NAME_LEFT_OPEN = Pattern(r':\s*"(\w+)\s*,(?=\s*"\w+"\s*:)')


def may_be_calls(text: str, tools: Parameters) -> bool:
    """Return whether the text begins like a call: with an object, or with brackets, quotes and a tool's name."""
    text = text[COMMENTS.match(text).end() :]
    rest = text[BEFORE_FIRST_KEY.match(text).end() :][:64]
    is_begun = ANY_KEY.match(text) is not None or not rest
    return is_begun or any(rest.startswith(word) or word.startswith(rest) for word in [*KNOWN_KEYS, "print(", *tools])


class Doubts(Parameters):
    """The tools of one reading, which notes whether it repaired a value, or had to guess where one ends.  `at_end`: the
    output ends with the text, which may be truncated.  `own_fields`: the format's own, with the usual ones."""

    def __init__(self, tools: Parameters, at_end: bool = False, own_fields: dict[str, str] | None = None) -> None:
        super().__init__(tools)
        self.at_end, self.own_fields, self.is_guessed, self.is_repaired = at_end, own_fields or {}, False, False


def closed(reader: Reader, tools: Doubts) -> Any:
    """Return the value that was read, as far as it goes."""
    tools.is_guessed |= reader.is_guessed or reader.string is not None or (reader.want != "" and tools.at_end)
    tools.is_repaired |= reader.repair != ""
    return loaded(reader.close())


def as_json(value: Any) -> str:
    """Return a value as JSON.  Half of a surrogate pair stays an escape, because UTF-8 has no such character."""
    return str(SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False)))


def calls_in(text: str, tools: Doubts) -> list[tuple[str, str]]:
    """Return the calls in a text, with their arguments as JSON; none if the text contains anything else."""
    for candidate in _candidates(text):
        tools.is_guessed = False
        values = [inner for value in values_in(candidate, tools) for inner in values_within(value, tools)]
        found = [call_of(value, tools) for value in values]
        if found and None not in found:
            return [call for call in found if call is not None]
    last = LAST_WORD.search(text, max(0, len(text) - NEAR))
    name = tool_named(last[1], tools) if last is not None else ""
    arguments = given_in(name, text[: last.start()].rstrip(SEPARATING), tools) if last and name in tools else None
    return [(name, arguments)] if arguments is not None and arguments != "{}" else []


def calls_follow(
    buf: str, start: int, final: bool, tools: Parameters, breaks: Scanner, after: Scanner, name_is_first: bool
) -> bool | None:
    """Return whether a call that names a tool nearby and is closed comes next, or calls with arguments in another form
    than the template's are all that comes before the next marker; None if more input is needed."""
    near = buf[start : start + NEAR]
    begins = _begins_like_call(near, tools)
    if name_is_first and not begins:
        return False
    if not final and len(near) < NEAR:
        return None
    squeezed = bare_name(near)
    if not any(bare_name(tool) in squeezed for tool in tools):
        return False
    is_closed = is_closed_call(buf, start, final, after)
    if is_closed or not begins:
        return is_closed
    other = _other_calls_follow(buf, start, final, tools, breaks, after)
    return other if other or is_closed is False else None


def _begins_like_call(text: str, tools: Parameters) -> bool:
    """Return whether a text begins with a quote, the name of a tool, or another word that calls begin with."""
    opening = BEFORE_WORD.match(text).group()
    word, words = bare_name(text[len(opening) :]), map(bare_name, (*WORDS_OF_CALLS, *tools))
    is_quoted = not ANY_QUOTES.isdisjoint(opening)
    return is_quoted or any(one.startswith(word) or word.startswith(one) for one in words)


def _other_calls_follow(
    buf: str, start: int, final: bool, tools: Parameters, breaks: Scanner, after: Scanner
) -> bool | None:
    """Return whether calls in another form come next.  What is repaired in them must be what the tool's schema asks
    for."""
    stop = start + LONGEST_FOLLOWING
    mark = breaks.find(buf, start, stop)
    if mark is None and len(buf) >= stop:
        return False
    if not final and not breaks.is_decided(mark, buf, start):
        return None
    found, _, doubts = calls_up_to(mark, buf, start, tools, after)
    fits = all(given != "{}" and (not doubts.is_repaired or is_asked_for(given, tools[name])) for name, given in found)
    return found != [] and not doubts.is_guessed and fits


def is_closed_call(buf: str, start: int, final: bool, after: Scanner) -> bool | None:
    """Return whether the last closer of a call comes next, perhaps after further calls, and directly after it another
    marker of calls, or the end of the turn; None if more input is needed."""
    at, stop = start, start + LONGEST_FOLLOWING
    while True:
        mark = after.find(buf, at, stop)
        if not final and len(buf) < stop and not after.is_decided(mark, buf, at):
            return None
        if mark is None or mark.kind not in ("close", "closed", "call", "separator"):
            return False
        at = next_char(buf, mark.end)
        if mark.kind == "closed" and mark.end - mark.start >= LEAST_CUT:
            break
    mark = after.match_at(buf, at)
    if not final and (mark is None or mark.ambiguous) and (at == len(buf) or after.prefix_of(buf, at)):
        return None
    return at == len(buf) or (mark is not None and mark.kind in ENDS_OF_CALLS)


def is_asked_for(arguments: str, schema: Any) -> bool:
    """Return whether arguments are what a tool's schema asks for: no more, and no less."""
    known = keys_allowed(schema) is not None and misfit_in(arguments, schema) is None
    return known and loaded(arguments).keys() >= set(required_of(schema))


def calls_up_to(
    mark: Match | None, text: str, pos: int, tools: Parameters, after: Scanner
) -> tuple[list[Any], int, Doubts]:
    """Return the calls up to the mark, or up to a closing tag, an end of the turn or the bracket after all calls, where
    they end, and what is doubtful.  `after` finds the latter two, which a value may contain as well."""
    end, doubts = len(text) if mark is None else mark.start, Doubts(tools, mark is None)
    found = calls_in(text[pos:end], doubts)
    tag = -1 if found else text.rfind("</", pos, end)
    if tag >= 0 and CLOSING_TAG.fullmatch(text[tag:end].rstrip()):
        end, doubts = tag, Doubts(tools)
        found = calls_in(text[pos:end], doubts)
    at, tried = pos, 0
    while not found and tried < MOST_TURN_ENDS and (mark := after.find(text, at, end)) is not None:
        at = mark.end
        if mark.kind in TURN_ENDS:
            whole, tried = Doubts(tools, True), tried + 1
            calls = calls_in(text[pos : mark.start], whole)
            if calls and not whole.is_guessed:
                return calls, mark.start, whole
    closer = after.match_at(text, pos + len(text[pos:end].rstrip()) - 1) if found and not doubts.is_guessed else None
    return found, closer.start if closer is not None and closer.kind in ENDS_OF_ALL else end, doubts


def arguments_in(name: str, text: str, tools: Doubts) -> str | None:
    """Return the arguments of a tool in a text that has another form; None if it contains anything else."""
    if text.strip() in NOTHING_GIVEN:
        return "{}"
    at = arguments_at(name, text, tools)
    return at[0] if at is not None and at[1] == len(text) else given_in(name, text, tools)


def given_in(name: str, text: str, tools: Doubts) -> str | None:
    """Return the arguments of a tool in an object, which brackets, quotes or a fence may be around."""
    for candidate in _candidates(text):
        tools.is_guessed = False
        values = values_in(candidate, tools)
        found = arguments_of(name, values[0], tools) if len(values) == 1 else None
        if found is not None:
            return found
    return None


def arguments_at(name: str, text: str, tools: Doubts) -> tuple[str, int] | None:
    """Return the arguments of a tool that begin here in another form, and where they end: an object with punctuation
    or a fence around it, keywords, also in parentheses, or elements.  None if there are none."""
    keyword = KEYWORD.match(text)
    begins_with_key = keyword is not None and keyword[1] in properties_of(tools[name])
    before = None if begins_with_key else BEFORE_OBJECT.match(text)
    if before is not None:
        value, end = json_value(text, before.end(), tools)
        found = arguments_of(name, value, tools)
    elif begins_with_key or text.startswith("("):
        called = f"{name}(" if begins_with_key else name
        value, end = call_in_text(called + text, 0, tools)
        named = value is not None and value["name"] == name
        found, end = arguments_of(name, value["arguments"], tools) if named else None, end - len(called)
    else:
        pairs, end = tagged(text, name, tools)
        found = as_json(pairs) if pairs else None
    return None if found is None else (found, int(AFTER_ARGUMENTS.match(text, end).end()))


def arguments_of(name: str, value: Any, tools: Doubts) -> str | None:
    """Return the arguments of a tool that a value is or contains, as JSON; None if they are not this tool's."""
    before = tools.is_guessed
    found = _with_arguments(name, {"arguments": value}, tools) if value is not None and name in tools else None
    tools.is_guessed = before if found is None else tools.is_guessed
    return None if found is None else found[1]


def arguments_after(name: str, text: str, pos: int, tools: Parameters, final: bool) -> tuple[str, int] | None:
    """Return the arguments of a tool in an object of their own, after the object with its name, and where they end;
    ("", pos) if there are none, None if more input is needed."""
    keys, start = keys_allowed(tools.get(name)), AFTER_OBJECT.match(text, pos).end()
    if keys is None or (start == len(text) and final) or text[start : start + 1] not in ("{", ""):
        return "", pos
    reader = Reader(any_styles())
    end = reader.read(text, start, final)
    if reader.want and not final:
        return None
    found = None if reader.want or reader.is_guessed else loaded(reader.close())
    if not isinstance(found, dict) or any(isinstance(found.get(key), str) and found[key] in tools for key in NAME_KEYS):
        return "", pos
    given = as_json(found) if keys.issuperset(found) else arguments_of(name, found, Doubts(tools))
    return (given, end) if given is not None else ("", pos)


def holds_other_call(name: str, arguments: str, tools: Parameters) -> bool:
    """Return whether a call of an unknown tool contains a call of a known one, as `print(f(a=1))` does: its name, or a
    key, has that tool's name among other text, or the arguments are a call as JSON."""
    if not tools or name in tools:
        return False
    value = loaded(arguments)
    keys = value if isinstance(value, dict) else {}
    words = {word for text in (name, *keys) for word in ONE_WORD.findall(text) if word != text}
    is_call = not keys.keys().isdisjoint((*NAME_KEYS, *tools)) and call_of(value, Doubts(tools)) is not None
    return is_call or not words.isdisjoint(tools)


def is_wrapper(first_key: Any, name: str, tools: Parameters) -> bool:
    """Return whether an object may contain the arguments of a tool, as the schema has no key like its first."""
    keys = keys_allowed(tools.get(name)) if first_key is not None else None
    if keys is None or first_key[1] in keys:
        return False
    return keys != set() or first_key[1] in KNOWN_KEYS or first_key[1] == name


def misfit_in(text: str, schema: object, *, types: bool = True) -> tuple[str, str] | None:
    """Return what `misfit` finds in arguments in JSON; ("repeated", key) if an object has a key twice."""
    try:
        arguments = json.loads(text, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        return ("repeated", error.args[1]) if len(error.args) > 1 else None
    return misfit(arguments, schema, types=types) if isinstance(arguments, dict) else None


def is_damaged(arguments: str, schema: Any, repair: object, breaks: Scanner, marks: Any, own: tuple[str, ...]) -> bool:
    """Return whether a required argument is in another's text, or has another name, or a key of the call is one; or if
    repaired arguments contain what the schema doesn't allow or what ends calls, or cut ones lack what it requires."""
    missing = [key for key in required_of(schema) if f'"{key}":' not in arguments]
    given: Any = loaded(arguments) if missing or any(f'"{key}":' in arguments for key in own) else None
    lacking = [key for key in missing if key not in given] if isinstance(given, dict) else []
    unlike = (misfit_in(arguments, schema) or breaks.find(arguments, 0)) if repair else None
    odd = unlike is not None or (repair == CUT and lacking != [])
    inside = missing != [] and marks is not None and marks.find(arguments, 0) is not None
    kind, name = (misfit(given, schema, types=False) if isinstance(given, dict) else None) or ("", "")
    return odd or inside or name in lacking or (kind == "key" and (lacking != [] or name in own))


def loaded(text: str) -> Any:
    """Return the value of a JSON text; None if it is nested too deeply, or has a number too large, or a key twice."""
    try:
        return json.loads(text, parse_float=finite, object_pairs_hook=distinct)
    except (ValueError, RecursionError):
        return None


def distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError, with the key, if it would lose a member."""
    if len(found := dict(members)) < len(members):
        raise ValueError("repeated key", Counter(key for key, _ in members).most_common(1)[0][0])
    return found


def finite(text: str) -> float:
    """Return a number; raise ValueError if it is too large."""
    if abs(number := float(text)) == float("inf"):
        raise ValueError(text)
    return number


def _candidates(text: str) -> Iterator[str]:
    """Yield the text, and repaired forms of it, with the brackets around it and without them."""
    text = without_fence(text)
    yield from _repaired_forms(text)
    if text[:1] in ("[", "("):
        yield from _repaired_forms(without_fence(text.strip("[]() \n\t")))


def without_fence(text: str) -> str:
    """Return the text without a fence around it, or a label such as `json` before it."""
    text = text.strip().removesuffix(FENCE_END).rstrip()
    fence = FENCE.match(text) or WORD_BEFORE.match(text)
    return text[fence.end() :].strip() if fence is not None else text


def _repaired_forms(text: str) -> Iterator[str]:
    """Yield the text, then what it may mean: unquoted, unescaped, with the braces and quotes that it lacks."""
    yield text
    inside = (loaded(text) if text[:1] == '"' else None) or (text[1:-1] if text[:1] in ("'", "`", '"') else None)
    if isinstance(inside, str):
        yield inside
    if '\\"' in text:
        yield text.replace('\\"', '"').replace("\\n", "\n")
    if NO_BRACE.match(text):
        yield "{" + text
    if text != (closed := NAME_LEFT_OPEN.sub(r': "\1",', KEY_LEFT_OPEN.sub(r'"\1":', text))):
        yield closed


def values_in(text: str, tools: Doubts) -> list[Any]:
    """Return consecutive objects, also of lists, and calls such as f(a=1); [None] if there is anything else."""
    found: list[Any] = []
    pos = BEFORE_CALLS.match(text, 0).end()
    while pos < len(text) and len(found) < 1000:
        read = json_value if text[pos] in "{[" else _tagged_call if text[pos] == "<" else call_in_text
        value, pos = read(text, pos, tools)
        if value is None:
            return [None]
        found += value if isinstance(value, list) else [value]
        pos = BETWEEN_CALLS.match(text, pos).end()
    return found


def _tagged_call(text: str, pos: int, tools: Doubts) -> tuple[Any, int]:
    """Return the call `<x=f> … </x>` with elements or an object in it, and where it ends; None if there is none."""
    tag = OPENING_TAG.match(text, pos)
    name = "" if tag is None else tool_named(tag[2] or tag[1], tools)
    if tag is None or name not in tools:
        return None, pos
    closer = f"</{tag[1]}>"
    first = text.find(closer, tag.end())
    for end in (first, text.rfind(closer, tag.end())) if first >= 0 else ():  # a value may contain the closer
        inside = text[tag.end() : end].strip()
        arguments, size = json_value(inside, 0, tools) if inside[:1] == "{" else tagged(inside, name, tools)
        if size == len(inside):
            return {"name": name, "arguments": arguments}, end + len(closer)
    return None, pos


@lru_cache(maxsize=1)
def any_styles() -> tuple[Style, Style, Style]:
    """Return the styles of values that models write; made when a call is read again, because few are."""
    quotes = [(pair[0], pair[1], "json") for pair in ('""', "“”", "””", "‘’", "„“", "＂＂")]
    quotes += [("'", "'", "python"), ("&quot;", "&quot;", "none")]
    words = {"None": "null", **{word: word.lower() for word in ("true", "false", "null", "True", "False")}}
    return (Style(quotes, words),) * 3


def json_value(text: str, pos: int, tools: Doubts, follow: Any = None) -> tuple[Any, int]:
    """Return the value in JSON that begins here, and where it ends.  `follow`: what may follow it."""
    reader = Reader(any_styles())
    reader.follow = follow or reader.follow
    end = reader.read(text, pos, True)
    return closed(reader, tools), end


def call_in_text(text: str, pos: int, tools: Doubts) -> tuple[Any, int]:
    """Return the call `f(a=1)`, `f({"a": 1}, b=2)` or `f {"a": 1}` as an object, or None, and where it ends."""
    match = CALLED.match(text, pos)
    name = tool_named(match[1], tools) if match is not None else ""
    if match is None or name not in tools:
        return None, pos
    pos = match.end()
    members: Any = {}
    if text.startswith("{", pos):
        members, pos = json_value(text, pos, tools)
        if not (match[2] and members and MORE_ARGUMENTS.match(text, pos)):
            return {"name": name, "arguments": members}, pos
    while match[2]:
        after = AFTER_KEYWORD.match(text, pos)
        if after[1] or after.end() == len(text):
            tools.is_guessed |= not after[1] and (tools.at_end or not members)
            return {"name": name, "arguments": members}, after.end()
        key = KEYWORD.match(text, after.end())
        if key is None or key[1] in members:
            break
        members[key[1]], pos = json_value(text, key.end(), tools, KEYWORD_FOLLOWS)
    return None, pos


def tagged(text: str, name: str, tools: Doubts) -> tuple[dict[str, Any], int]:
    """Return the arguments of a tool in elements such as `<a>1</a>` or `<x name="a">1</x>`, and where these end."""
    schema = tools.get(name)
    keys = keys_of(schema, schema) or set()
    found: dict[str, Any] = {}
    pos = 0
    while (element := ELEMENT.match(text, pos)) is not None:
        key = element[2] or element[1]
        if key not in keys or key in found:
            break
        types, value = types_of_member(schema, key), element[3].strip()
        is_text = (types is None or "string" in types) and not (value[:1] == '"' and loaded(value) is not None)
        is_text = is_text and not (value in ("null", "None") and types is not None and "null" in types)
        typed, end = (None, -1) if is_text else json_value(value, 0, tools)
        found[key], pos = typed if end == len(value) else value, element.end()
    is_closed = found and text[pos:].rstrip() == f"</{name}>"
    return found, len(text) if is_closed else pos


def values_within(value: Any, tools: Doubts) -> list[Any]:
    """Return the values that are in the place of calls: inside of lists, and of objects with one member."""
    found: list[Any] = []
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, list) and depth < MOST_WRAPS:
            waiting += [(item, depth + 1) for item in one[::-1]]
            continue
        rest = [(key, item) for key, item in one.items() if key not in OTHER_KEYS] if isinstance(one, dict) else []
        if len(rest) == 1 and tool_named(rest[0][0], tools) not in tools and isinstance(rest[0][1], (dict, list)):
            waiting.append((rest[0][1] if depth < MOST_WRAPS else None, depth + 1))
        else:
            found.append(one)
    return found


def call_of(value: Any, tools: Doubts) -> tuple[str, str] | None:
    """Return the call that an object means."""
    if (value := innermost(value)) is None:
        return None
    # The name of a tool may be under any key.
    others = [key for key, item in value.items() if isinstance(item, str) and item in tools and key not in NAME_KEYS]
    for key in (*NAME_KEYS, *others):
        name = tool_named(value[key], tools) if isinstance(value.get(key), str) else ""
        if name and name in tools:
            return _with_arguments(name, {other: item for other, item in value.items() if other != key}, tools)
    if len(value) == 1:
        [(key, arguments)] = value.items()
        name = tool_named(key, tools)
        return _with_arguments(name, {"arguments": arguments}, tools) if name and name in tools else None
    return None


def innermost(value: Any) -> dict[str, Any] | None:
    """Return the object, or the one that is its name, with the members next to that; None if both have arguments."""
    while isinstance(value, dict):
        inner = [key for key in NAME_KEYS if isinstance(value.get(key), dict)]
        if len(inner) != 1 or any(isinstance(value.get(key), str) for key in NAME_KEYS):
            return value
        given = {key: value[key] for key in ARGUMENT_KEYS if value.get(key)}
        if given and not value[inner[0]].keys().isdisjoint(ARGUMENT_KEYS):
            return None
        value = {**{key: value[key] for key in value if key != inner[0]}, **value[inner[0]], **given}
    return None


def _with_arguments(name: str, members: dict[str, Any], tools: Doubts) -> tuple[str, str] | None:
    keys = keys_of(tools[name], tools[name])
    named = [key for key in ARGUMENT_KEYS if key in members and key not in (keys or ())]
    rest = {key: value for key, value in members.items() if key not in OTHER_KEYS}
    # A lone object under a key that the schema lacks contains the arguments.
    if not named and len(rest) == 1 and not rest.keys() <= (keys or rest.keys()):
        named = list(rest)
    arguments = members[named[0]] if named else rest
    if named and any(isinstance(item, (dict, list)) for key, item in rest.items() if key != named[0]):
        return None  # it would be lost
    tools.is_guessed |= named != [] and any(key in (keys or ()) for key in rest if key != named[0])
    arguments = {} if named and arguments is None else arguments_within(name, arguments, tools)
    try:
        return None if arguments is None else (name, as_json(arguments))
    except RecursionError:
        return None


def arguments_within(name: str, value: Any, tools: Doubts) -> dict[str, Any] | None:
    """Return the object with a tool's arguments that a value is or contains; None if there is none."""
    keys, given, key = keys_allowed(tools[name]), value, ""
    for _ in range(MOST_WRAPS):
        if isinstance(value, str):
            value = values_in(value, tools)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            break
        if keys is None or keys.issuperset(value):
            # Of an object that is cut, a key is lost only if it is one that is known, with something inside.
            known = key == name or key in KNOWN_KEYS
            if key == "" or (value if tools.is_guessed and known else not tools.is_guessed and (value or known)):
                return value
            break
        named = [item for item in value.values() if isinstance(item, str) and item in tools and item != name]
        objects = [key for key, item in value.items() if isinstance(item, dict) or str(item).lstrip()[:1] == "{"]
        inner = [key for key in objects if key not in OTHER_KEYS]
        # "required" comes from a schema, whose form models repeat.
        lost = {key for key in value if value[key] != name} - {*inner, *NAME_KEYS, *OTHER_KEYS, "required"}
        if named or len(inner) != 1 or lost or not keys.isdisjoint(value):
            break
        key, value = inner[0], value[inner[0]]
    # Arguments of a tool without parameters stay as they are.
    return given if keys == set() and isinstance(given, dict) else None
