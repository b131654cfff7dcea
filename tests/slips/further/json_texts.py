"""Slips in the JSON of a call, or of its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.slips.further.registry import Change, first_call, further, has_line_breaks, json_texts
from tests.slips.kinds import Answer, _arguments, _object

KEY = r"(query|limit|time|repeat|labels|score|code|language|record)"
TOOL = r"(search_web|set_alarm|run_code|update_record|get_status)"

# name, each pattern with its replacement in the text, the count of replacements (0: all)
SUBSTITUTIONS: dict[str, list[tuple[str, str, int]]] = {
    "comma too many": [(r"(\s*\}+)$", r",\1", 1), (r"\]", ",]", 1), (r',(\s*")', r",,\1", 1), (r"^\{", "{,", 1)],
    "comma missing": [(rf',(\s*"{KEY}")', r"\1", 1)],
    "comments": [
        (rf',\s*"(?={KEY})', ', // most\n"', 1),
        (rf',\s*"(?={KEY})', ', /* most */ "', 1),
        (rf',\s*"(?={KEY})', ', # most\n"', 1),
        (r"^\{", "{ // call\n", 1),
        (r"\}$", " // done\n}", 1),
    ],
    "doubled quotes around keys": [(rf'"{KEY}"', r'""\1""', 0)],
    "braces around": [(r"\A(.*)\Z", r"{\1}", 1), (r"\A\{(.*)\}\Z", r"{{\1}}", 1)],
    "single quotes around keys": [(r'"(\w+)":', r"'\1':", 0), (r'^\{"(\w+)"', r"{'\1'", 1)],
    "one bare key": [(rf'"{KEY}":', r"\1:", 1)],
    "quote missing at a later key": [(rf'(?<=, )"{KEY}":', r'"\1:', 1), (rf'(?<=, )"{KEY}":', r'\1":', 1)],
    "quote missing at the name": [(rf'(:\s*)"{TOOL}"', r'\1\2"', 1), (rf'(:\s*"{TOOL})"', r"\1", 1)],
    "no quotes around the name": [(rf'"{TOOL}"', r"\1", 1)],
    "quote missing at a field": [(r'"(name|arguments|parameters)":', r'"\1:', 1), (r'"(name)":', r'\1":', 1)],
    "quote missing at a value": [('Rome"', "Rome", 1), ('"best', "best", 1), ('07:30"', "07:30", 1)],
    "colon otherwise": [(rf'"{KEY}":', rf'"\1"{colon}', 1) for colon in ("", "::", ": :", " =>", "=")],
    "full-width punctuation": [(r'":\s*', '"：', 0), (r',\s*"', '，"', 0)],
    "brace missing": [(r"\}$", "", 1), (r"\}+$", "", 1), (r"^\{", "", 1)],
    "bracket too many": [(r"$", "}", 1), (r"$", "}}", 1), (r"$", "]", 1)],
    "another bracket": [(r"\}$", "]", 1), (r"\}$", ")", 1), (r"\]", "}", 1)],
    "words otherwise": [(r"\bfalse\b", "False", 0), (r"\bfalse\b", "FALSE", 0)],
    "number as text": [(r": (5|2\.5|false)(?=[,}])", r': "\1"', 1)],
    "number otherwise": [(r": 5\b", ": 05", 1), (r": 5\b", ": 5.", 1), (r": 2\.5\b", ": +2.5", 1)],
    "line break not escaped": [(r"\\n", "\n", 0)],
    "quotes in a string not escaped": [(r"\\\"", '"', 0)],
    "escaped line break between members": [(r',\s*"', r',\\n"', 1), (r"\{", r"{\\n", 1)],
    "word before": [(r"^", "json ", 1), (r"^", "json\n", 1), (r"^", "JSON: ", 1)],
    "label before arguments": [
        (rf"\A(?!.*{TOOL})", label, 1) for label in ("arguments: ", "Parameters:\n", "args=", "input ")
    ],
    "last argument after the arguments": [(rf', ("{KEY}": [^{{}}]*)\}}\}}$', r"}, \1}", 1)],
    "triple quotes": [(r'"(best pizza in Rome)"', r'"""\1"""', 0)],
    "punctuation after": [(r"$", char, 1) for char in ";.,"],
    "escaped underscores": [("_", r"\\_", 0)],
    "in brackets": [(r"\A(.*)\Z", r"[\1]", 1), (r"\A(.*)\Z", r"(\1)", 1)],
    "in quotes": [(r"\A(.*)\Z", r"'\1'", 1)],
}
# What would change code in a string as well.
QUOTES: dict[str, list[Change]] = {
    "other quotes": [
        lambda text: re.sub(r'"([^"]*)"', r"”\1”", text),
        lambda text: re.sub(r'"([^"]*)"', r"‘\1’", text),
        lambda text: re.sub(r'"([^"]*)"', r"«\1»", text),
        lambda text: re.sub(rf'"{KEY}"', r"“\1”", text),
    ],
    "quotes doubled": [lambda text: text.replace('"', '""')],
    "as a string": [json.dumps],
    "written otherwise": [
        lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=False),
        lambda text: json.dumps(json.loads(text), indent="\t"),
    ],
}


def _register(name: str, changes: list[Change], *, no_code: bool) -> None:
    @further(f"JSON: {name}")
    def _(answer: Answer) -> Iterator[str]:
        for start, text, end in json_texts(answer):
            if no_code and has_line_breaks(answer):
                continue
            for made in (change(text) for change in changes):
                if made != text:
                    yield start + made + end


def _substitution(old: str, new: str, count: int) -> Change:
    return lambda text: re.sub(old, new, text, count=count, flags=re.DOTALL)


for _name, _rows in SUBSTITUTIONS.items():
    _register(_name, [_substitution(*row) for row in _rows], no_code=False)
for _name, _changes in QUOTES.items():
    _register(_name, _changes, no_code=_name in ("other quotes", "quotes doubled"))


# Calls that are one object


def _fields(answer: Answer) -> tuple[str, str] | None:
    json_call = answer.ir.tools.json
    if json_call is None or len(json_call.name) != 1 or not json_call.arguments:
        return None
    return json_call.name[0], json_call.arguments[-1]


ARGUMENT_FIELDS = ("inputs", "parameter", "argument", "tool_input", "function_args", "Arguments", "tool_args")
NAME_FIELDS = ("Name", "fn", "func", "action", "api", "call")


@further("field of the arguments otherwise")
def _(answer: Answer) -> Iterator[str]:
    yield from _renamed(answer, 1, (*ARGUMENT_FIELDS, "action_input"))


@further("field of the name otherwise")
def _(answer: Answer) -> Iterator[str]:
    yield from _renamed(answer, 0, NAME_FIELDS)


def _renamed(answer: Answer, field: int, words: tuple[str, ...]) -> Iterator[str]:
    fields = _fields(answer)
    for start, text, end in json_texts(answer) if fields else ():
        for word in words:
            yield start + re.sub(rf'"{fields[field]}":', f'"{word}":', json.dumps(json.loads(text)), count=1) + end


def _other_objects(name: str, arguments: dict, name_key: str, key: str) -> dict[str, object]:  # type: ignore[type-arg]
    """Return the call in other forms, as texts or as values to be written as JSON."""
    call, text = {name_key: name, key: arguments}, json.dumps(arguments)
    keywords = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return {
        "name as key": {name: arguments},
        "with id and type": {"id": "call_1", "type": "function", "function": call},
        "with id, arguments as text": {"id": "call_1", "type": "function", "function": {**call, key: text}},
        "in function": {"function": call},
        "type next to it": {"type": "function", **call},
        "in tool_call": {"tool_call": call},
        "in tool_calls": {"tool_calls": [call]},
        "in function_call": {"function_call": call},
        "arguments as text": {**call, key: text},
        "arguments in a list": {**call, key: [arguments]},
        "arguments first": {key: arguments, name_key: name},
        "another field": {name_key: name, "description": "x", key: arguments},
        "arguments twice": {**call, key: {key: arguments}},
        "properties": {**call, key: {"type": "object", "properties": arguments}},
        "call as arguments": {**call, key: call},
        "two objects": f'{{"{name_key}": "{name}"}}, {text}',
        "f({…})": f"{name}({text})",
        "f(a=1)": f"{name}({keywords})",
        "name, then object": f"{name}\n{text}",
        "arguments without key": f'{{"{name_key}": "{name}", {text}}}',
        "no braces": f'"{name_key}": "{name}", "{key}": {text}',
    }


def _object_kind(name: str) -> None:
    @further(f"object: {name}")
    def _(answer: Answer) -> Iterator[str]:
        span, fields = _object(answer), _fields(answer)
        if span and fields:
            made = _other_objects(*first_call(answer), *fields)[name]
            text = made if isinstance(made, str) else json.dumps(made)
            yield answer.text[: span[0]] + text + answer.text[span[1] :]


for _name in _other_objects("", {}, "name", "arguments"):
    _object_kind(_name)


@further("two objects in one pair of markers")
def _(answer: Answer) -> Iterator[str]:
    json_call = answer.ir.tools.json
    if json_call and answer.calls > 1 and len(json_call.prefix.strip()) > 2:
        joint = json_call.suffix + answer.ir.tools.separator + json_call.prefix
        for text in (" ", "", "\n\n"):
            yield answer.text.replace(joint, text)


@further("fence around the object otherwise")
def _(answer: Answer) -> Iterator[str]:
    span = _object(answer)
    if span and "```" not in answer.text and answer.calls == 1 and answer.ir.tools.json.prefix.strip():
        start, text, end = answer.text[: span[0]], answer.text[slice(*span)], answer.text[span[1] :]
        yield f"{start.rstrip()}\n```\n{text}\n```\n{end.lstrip()}"
        yield f"{start}`{text}`{end}"


# Arguments that are an object


@further("arguments otherwise")
def _(answer: Answer) -> Iterator[str]:
    for at in [_arguments(answer)] if _arguments(answer) is not None else ():
        name, given = first_call(answer)
        for made in (
            {"name": name, "arguments": given},
            {"name": name, "parameters": given},
            {"arguments": given},
            {"parameters": given},
            {name: given},
            {"type": "object", "properties": given},
            [given],
            json.dumps(given),
        ):
            yield answer.with_(at, json.dumps(made))


@further("arguments in a fence")
def _(answer: Answer) -> Iterator[str]:
    for at in [_arguments(answer)] if _arguments(answer) is not None else ():
        text = answer.pieces[at].text
        for made in (f"\n```\n{text}\n```\n", f"```json{text}```", f"`{text}`", f" {text} "):
            yield answer.with_(at, made)


@further("characters around the arguments")
def _(answer: Answer) -> Iterator[str]:
    for at in [_arguments(answer)] if _arguments(answer) is not None else ():
        text = answer.pieces[at].text
        yield from (answer.with_(at, made) for made in (f"({text})", f": {text}", f"={text}"))


@further("pairs for an object")
def _(answer: Answer) -> Iterator[str]:
    for at in [_arguments(answer)] if _arguments(answer) is not None else ():
        given = first_call(answer)[1]
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
        if given:
            yield answer.with_(at, "".join(f"<{key}>{value}</{key}>" for key, value in texts.items()))
            yield answer.with_(at, "(" + ", ".join(f"{key}={value!r}" for key, value in given.items()) + ")")


@further("no arguments, otherwise")
def _(answer: Answer) -> Iterator[str]:
    if answer.calls != 1 or first_call(answer)[1]:
        return
    span, places = _object(answer), answer.places("arguments", call=0)
    if span is not None:
        for text in ("null", "[]", '""', '"{}"'):
            made = re.sub(r"\{\s*\}", text, answer.text[slice(*span)], count=1)
            yield answer.text[: span[0]] + made + answer.text[span[1] :]
    elif places and answer.pieces[places[0]].core == "{}":
        for text in ("null", "[]", '""', "None"):
            yield answer.with_(places[0], text)
