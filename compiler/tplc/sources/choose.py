"""Choose one template of a model.

{"default": …, "rag": …, "tool_use": …}, no name asked for  →  "tool_use", the one that shows tools
"""

from __future__ import annotations

from collections.abc import Mapping

from tplc.errors import SourceError
from tplc.sources.builtin import offer

DEFAULT = "default"
TOOLS = "tool_use"


def choose(origin: str, templates: Mapping[str, str], template_name: str | None, *, prefer_tools: bool) -> str:
    """Return the name of the template to use."""
    if not templates:
        raise SourceError(origin, "there is no chat template", offer())
    if template_name is not None:
        if template_name not in templates:
            raise SourceError(origin, f"there is no template named {template_name!r}", f"there is: {_names(templates)}")
        return template_name
    for name in (TOOLS, DEFAULT) if prefer_tools else (DEFAULT,):
        if name in templates:
            return name
    if len(templates) > 1:
        raise SourceError(
            origin,
            f"there are {len(templates)} templates, and none is named {DEFAULT!r}",
            f"choose one by its name (--template-name): {_names(templates)}",
        )
    return next(iter(templates))


def _names(templates: Mapping[str, str]) -> str:
    return ", ".join(sorted(templates))
