"""The request for a grammar: tools and a choice of them, or a response format, after one of the format's prompts.

Request(tools=[{"type": "function", "function": {"name": "f", …}}], tool_choice="required")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tplc.errors import UsageError
from tplc.grammars.request.size import MOST_CHARACTERS
from tplc.ir.nodes import GenerationPrompt, Json, TemplateIR


@dataclass(frozen=True, slots=True)
class Request:
    """`tool_choice` is "auto", "required", "none" or a tool's name.  `context` names a generation prompt by the
    variables that give it.  `any_order` takes properties in any order, `open_objects` takes arguments that a tool's
    schema does not mention; without `formats`, "format" is only a remark.  `strict` refuses to loosen any schema.
    Of a grammar with more than `most_characters`, the largest schemas are said generally.
    """

    tools: Sequence[Mapping[str, Any]] | None = None
    tool_choice: str = "auto"
    parallel_tool_calls: bool | None = None
    json_schema: Json | None = None
    context: Mapping[str, Json] | None = None
    any_order: bool = False
    open_objects: bool = False
    formats: bool = True
    strict: bool = False
    most_characters: int = MOST_CHARACTERS

    @property
    def eager(self) -> bool:
        """Return whether the grammar applies from the first character of the answer on."""
        return self.json_schema is not None or self.tool_choice not in ("auto", "none")


def check_request(request: Request) -> None:
    if request.json_schema is not None and request.tool_choice not in ("auto", "none"):
        raise UsageError("a response format and required tools exclude each other: the answer is one or the other")


def chosen_tools(ir: TemplateIR, request: Request) -> dict[str, Json]:
    """Return the parameters of the tools that may be called, by their names."""
    return _chosen(ir, _functions(request.tools or ()), request.tool_choice)


def prompt_of(ir: TemplateIR, context: Mapping[str, Json] | None) -> GenerationPrompt:
    if context is None:
        return ir.turn.prompts[0]
    wanted = dict(context)
    for prompt in ir.turn.prompts:
        if dict(prompt.context) == wanted:
            return prompt
    known = " or ".join(_variables(dict(prompt.context)) for prompt in ir.turn.prompts)
    raise UsageError(f"no prompt was learned with {_variables(wanted)}: {ir.provenance.name} has prompts with {known}")


def _variables(context: Mapping[str, Json]) -> str:
    shown = [f"{name}={json.dumps(value, ensure_ascii=False, default=repr)}" for name, value in context.items()]
    return " ".join(shown) or "no variables"


def _functions(tools: Sequence[object]) -> dict[str, Json]:
    """Return the names and parameter schemas of tools. A tool without parameters takes none."""
    found: dict[str, Json] = {}
    for index, tool in enumerate(tools):
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise UsageError(f'tools[{index}]: expected {{"type": "function", "function": {{"name": …}}}}')
        if name in found:
            raise UsageError(f"tools[{index}]: the name {name!r} is taken by an earlier tool")
        parameters = function.get("parameters")
        found[name] = {"type": "object", "properties": {}} if parameters is None else parameters
    return found


def _chosen(ir: TemplateIR, functions: dict[str, Json], tool_choice: str) -> dict[str, Json]:
    if tool_choice == "none":
        return {}
    if tool_choice == "auto":
        return functions
    if ir.tools.format == "none":
        raise UsageError(f"{ir.provenance.name} shows no tool calls, so no grammar can ask for one")
    if not functions:
        raise UsageError(f"tool_choice is {tool_choice!r}, and there are no tools")
    if tool_choice == "required":
        return functions
    if tool_choice not in functions:
        raise UsageError(
            f"tool_choice is {tool_choice!r}; expected auto, required, none or one of: {', '.join(functions)}"
        )
    return {tool_choice: functions[tool_choice]}
