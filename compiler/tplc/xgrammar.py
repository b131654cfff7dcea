"""A format under a key of xgrammar's own registry, so that servers find its structural tags as they find built-in ones.

register(ir, "mine")
xgrammar.get_model_structural_tag("mine", tools=tools, tool_choice="required")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tplc.backends.gbnf import Grammar, grammar
from tplc.ir.nodes import Json, TemplateIR
from tplc.targets.structural_tag import tag_of

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
        """Return a structural tag.  `others` are the spellings of built-in tags: ours exclude the text that ends a
        value, and limit white space."""
        if builtin_tools:
            raise ValueError(f"{key}: the format of {ir.provenance.name} has no built-in tools")
        if not tools:
            return StructuralTag.model_validate({"format": {"type": "any_text"}})
        offered = [_as_json(tool) for tool in tools]
        parallel = parallel_tool_calls and ir.tools.parallel

        def grammar_of(constrained: TemplateIR) -> Grammar:
            choice = "auto" if tool_choice == "auto" else "required"
            return grammar(
                constrained, tools=offered, tool_choice=choice, parallel_tool_calls=parallel, any_order=any_order
            )

        tag = tag_of(ir, grammar_of, reasoning="outside" if reasoning == "disabled" else "inside", parallel=parallel)
        return StructuralTag.model_validate(tag)

    registered: Builder = register_model_structural_tag(key)(build)
    return registered


def _as_json(tool: Any) -> dict[str, Json]:
    """Return xgrammar's tool as JSON; without a schema, or if the tool isn't strict, any object is allowed."""
    function = tool.function
    strict = function.parameters is not None and function.strict is not False
    parameters = function.parameters if strict else {"type": "object"}
    return {"type": "function", "function": {"name": function.name, "parameters": parameters}}
