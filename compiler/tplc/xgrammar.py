"""A format under a key of xgrammar's own registry, so that servers find its structural tags as they find built-in ones.

register(ir, "mine")
xgrammar.get_model_structural_tag("mine", tools=tools, tool_choice="required")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tplc.backends.gbnf import grammar
from tplc.ir.nodes import Json, TemplateIR
from tplc.targets.structural_tag import structural_tag, without_reasoning

if TYPE_CHECKING:
    from xgrammar import StructuralTag

Builder = Callable[..., "StructuralTag"]


def register(ir: TemplateIR, key: str) -> Builder:
    """Put the format into the registry; what builds its tags is handed back as well."""
    from xgrammar import StructuralTag
    from xgrammar.builtin_structural_tag import register_model_structural_tag

    def build(
        tools: Sequence[Any] | None = None,
        builtin_tools: Sequence[Any] | None = None,
        tool_choice: str = "auto",
        reasoning: str = "enabled",
        any_order: bool = False,
        parallel_tool_calls: bool = True,
        **others: Any,
    ) -> StructuralTag:
        """`others` are how built-in tags are spelled: ours exclude what ends a value, and bound white space."""
        if builtin_tools:
            raise ValueError(f"{key}: the format of {ir.provenance.name} has no built-in tools")
        if not tools:
            return StructuralTag.model_validate({"format": {"type": "any_text"}})
        constrained = without_reasoning(ir) if reasoning == "disabled" else ir
        made = grammar(
            constrained,
            tools=[_as_json(tool) for tool in tools],
            tool_choice="auto" if tool_choice == "auto" else "required",
            parallel_tool_calls=parallel_tool_calls and ir.tools.parallel,
            any_order=any_order,
        )
        tag = structural_tag(constrained, made, parallel=parallel_tool_calls and ir.tools.parallel)
        return StructuralTag.model_validate(tag)

    registered: Builder = register_model_structural_tag(key)(build)
    return registered


def _as_json(tool: Any) -> dict[str, Json]:
    """A tool of xgrammar's; without a schema, or where it is not to be strict, any object is good."""
    function = tool.function
    strict = function.parameters is not None and function.strict is not False
    parameters = function.parameters if strict else {"type": "object"}
    return {"type": "function", "function": {"name": function.name, "parameters": parameters}}
