"""Messages to show a format with: an answer, and calls where the format has them."""

from __future__ import annotations

from typing import Any

from tplc.ir.nodes import Json, TemplateIR

SAMPLE_TOOLS: tuple[dict[str, Json], ...] = (
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "minimum": 1},
                    "detailed": {"type": "boolean"},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_time",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    },
)


def samples(ir: TemplateIR) -> list[tuple[str, dict[str, Any]]]:
    """Return sample conversations, each with a title."""
    found: list[tuple[str, dict[str, Any]]] = []
    plain: dict[str, Any] = {"content": "It is 4 °C in Oslo."}
    if ir.reasoning.mode != "none":
        plain["reasoning_content"] = "They want the weather."
    found.append(("a turn", plain))
    if ir.tools.format != "none":
        calls = [{"function": {"name": "get_weather", "arguments": {"city": "Oslo", "days": 3, "detailed": True}}}]
        if ir.tools.parallel:
            calls.append({"function": {"name": "get_time", "arguments": {"city": "Oslo"}}})
        called: dict[str, Any] = {"tool_calls": calls}
        if ir.reasoning.mode == "forced_open":  # the prompt opens it, so every turn has some
            called["reasoning_content"] = plain["reasoning_content"]
        found.append(("a turn with calls", called))
    return found
