"""Make the conversation for a case, in the form that a template takes.

    Case(calls=(Call("f", …),)), Setting(arguments="text", follow="tool")
    →  [user, {"role": "assistant", "tool_calls": [{… "arguments": "{…}"}]}, {"role": "tool", …}]

Which settings a template takes is found by rendering, not by trust in what was learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.write import json_type
from tplc.messages import (
    ArgumentForm,
    Call,
    Empty,
    Follow,
    Message,
    answer,
    function_tool,
    question,
    tool_call,
    tool_result,
)
from tplc.verify.battery import Case, id_of
from tplc.verify.words import Words


@dataclass(frozen=True, slots=True)
class Setting:
    """How a conversation is put: what a template may insist on."""

    follow: Follow = "none"
    arguments: ArgumentForm = "object"
    empty_content: Empty = "null"
    parts: bool = False
    system: bool = False
    tools: bool = True
    after_result: bool = False


def settings(ir: TemplateIR) -> Iterator[Setting]:
    """Yield settings, the likely ones first."""
    seen = ir.capabilities
    follows: tuple[Follow, ...] = ("none", "tool", "user", "tool_user")
    if seen.needs_tool_result:
        follows = ("tool", "tool_user", "none", "user")
    text_first = seen.string_arguments and not seen.object_arguments
    for system, follow, tools, empty, parts, arguments in product(
        (False, True),
        follows,
        (True, False),
        ("null", "empty", "absent") if seen.null_content else ("empty", "absent", "null"),
        (True, False) if seen.list_content else (False, True),
        ("text", "object") if text_first else ("object", "text"),
    ):
        yield Setting(follow, arguments, empty, parts, system, tools)  # type: ignore[arg-type]


def opening(ir: TemplateIR, setting: Setting, words: Words) -> list[Message]:
    """Return the messages before the turn: a question, and if `after_result` is set, a call and its result."""
    asked = question(words.asked, parts=setting.parts, system=words.system if setting.system else None)
    if not setting.after_result:
        return asked
    name, key, value, result = words.earlier
    call = Call(name, ((key, value),))
    case = Case("earlier", calls=(call,))
    identifier = id_of(ir, call, 0)
    return [*asked, assistant(ir, case, setting), tool_result(result, parts=setting.parts, name=name, id=identifier)]


def conversation(
    ir: TemplateIR, case: Case, setting: Setting, words: Words, *, followed: Case | None = None
) -> list[Message]:
    """Return the conversation.  `followed`: the case whose tools' results follow the turn, if it is another one."""
    after = _following(ir, followed or case, setting, words)
    return [*opening(ir, setting, words), assistant(ir, case, setting), *after]


def assistant(ir: TemplateIR, case: Case, setting: Setting) -> Message:
    return answer(
        case.content or None,
        parts=setting.parts,
        empty=setting.empty_content,
        reasoning=(ir.reasoning.key or "reasoning_content", case.reasoning) if case.reasoning else None,
        calls=[
            tool_call(call.name, dict(call.arguments), id=id_of(ir, call, index), form=setting.arguments)
            for index, call in enumerate(case.calls)
        ],
    )


def _following(ir: TemplateIR, case: Case, setting: Setting, words: Words) -> list[Message]:
    messages: list[Message] = []
    if "tool" in setting.follow:
        result = words.result + words.text_after_result
        for index, call in enumerate(case.calls):
            identifier = id_of(ir, call, index)
            messages.append(tool_result(result, parts=setting.parts, name=call.name, id=identifier))
    if "user" in setting.follow:
        messages += question(words.next_question + words.text_after_next, parts=setting.parts)
    return messages


# Tools


def offered_tools(calls: Sequence[Call]) -> list[dict[str, Json]]:
    """Return tools for the template: the same for every case, so that what is before the turn stays the same."""
    keys: dict[str, dict[str, Json]] = {}
    for call in calls:
        # Templates that walk schemas know no "null", and some no types beyond the plain ones.
        properties: dict[str, Json] = {key: {"type": "string", "description": "text"} for key, _ in call.arguments}
        keys.setdefault(call.name, {}).update(properties)
    return [_tool(name, properties) for name, properties in keys.items()]


def fitting_tools(case: Case) -> list[dict[str, Json]]:
    """Return tools for the parser: their schemas say of every argument what type it has."""
    return [_tool(call.name, {key: schema_of(value) for key, value in call.arguments}) for call in case.calls]


def _tool(name: str, properties: dict[str, Json]) -> dict[str, Json]:
    parameters: dict[str, Json] = {"type": "object", "properties": properties, "required": []}
    return function_tool(name, f"The function {name}.", parameters)


def schema_of(value: Json) -> Json:
    schema: dict[str, Json] = {"type": json_type(value)}
    if isinstance(value, dict):
        schema["properties"] = {key: schema_of(item) for key, item in value.items()}
    elif isinstance(value, list) and value:
        kinds = [schema_of(item) for item in value]
        distinct = [kind for index, kind in enumerate(kinds) if kind not in kinds[:index]]
        schema["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": list(distinct)}
    return schema
