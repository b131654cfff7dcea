"""The right answers that slips are made in, and the tools that they call."""

from __future__ import annotations

from typing import Any


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


STRING, INTEGER, BOOLEAN, NUMBER = ({"type": kind} for kind in ("string", "integer", "boolean", "number"))
TOOLS = [
    _tool("get_weather", city=STRING, days=INTEGER),
    _tool("get_time", zone=STRING, exact=BOOLEAN),
    _tool("make_plan", tags={"type": "array", "items": STRING}, options={"type": "object"}),
    _tool("list_all"),
]


def _calls(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in calls]


WEATHER = ("get_weather", {"city": "Oslo", "days": 3})
TIME = ("get_time", {"zone": "CET", "exact": True})
PLAN = ("make_plan", {"tags": ["sea", "a hill"], "options": {"slow": "yes"}})
MESSAGES: dict[str, dict[str, Any]] = {
    "call": {"tool_calls": _calls(WEATHER)},
    "content and calls": {"content": "Let me look.", "tool_calls": _calls(TIME, WEATHER)},
    "reasoning and call": {"reasoning_content": "The user asks for weather.", "tool_calls": _calls(WEATHER)},
    "nested": {"tool_calls": _calls(PLAN)},
    "nothing given": {"tool_calls": _calls(("list_all", {}))},
    "reasoning and content": {"reasoning_content": "An easy one.", "content": "It is two."},
    "content": {"content": "It is two."},
}

# Of the second list of slips, with values that contain code and numbers.
FURTHER_TOOLS = [
    _tool("search_web", query=STRING, limit=INTEGER),
    _tool("set_alarm", time=STRING, repeat=BOOLEAN),
    _tool("run_code", code=STRING, language=STRING),
    _tool("update_record", record={"type": "object"}, labels={"type": "array", "items": STRING}, score=NUMBER),
    _tool("get_status"),
]
SEARCH = ("search_web", {"query": "best pizza in Rome", "limit": 5})
ALARM = ("set_alarm", {"time": "07:30", "repeat": False})
CODE = ("run_code", {"code": 'for i in range(3):\n    print(i, "ok")', "language": "python"})
RECORD = ("update_record", {"record": {"id": 7, "name": "Ann"}, "labels": ["new", "vip"], "score": 2.5})
FURTHER_MESSAGES: dict[str, dict[str, Any]] = {
    "call": {"tool_calls": _calls(SEARCH)},
    "content and calls": {"content": "I will do both.", "tool_calls": _calls(ALARM, SEARCH)},
    "reasoning and call": {"reasoning_content": "They want pizza. Let me search.", "tool_calls": _calls(SEARCH)},
    "code": {"tool_calls": _calls(CODE)},
    "nested": {"tool_calls": _calls(RECORD)},
    "nothing given": {"tool_calls": _calls(("get_status", {}))},
    "reasoning and content": {"reasoning_content": "Just say hello.", "content": "Hello there."},
    "content": {"content": "Hello there."},
}
