"""Many outputs, a row for each: plain values of one shape, as columns want them.

rows_of(StreamParser, ["Hi.", None], None, None)
→  [{"content": "Hi.", "reasoning_content": None, "tool_calls": [], "incomplete": False, "diagnostics": []}, None]
"""

from __future__ import annotations

import json

from .schema import Parameters, parameters_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Row = dict[str, Any]

MOST_TOOLS = 1000  # so many distinct tools of rows are kept


class ToolsOfRows:
    """The tools of each row: the same for all, or one entry a row.  Each text of JSON is read once."""

    def __init__(self, tools: object) -> None:
        by_row = isinstance(tools, (list, tuple)) and any(not isinstance(tool, dict) for tool in tools)
        self._by_row: Sequence[object] | None = tools if by_row else None  # type: ignore[assignment]
        self._known: dict[str, tuple[Parameters, str]] = {}
        self._usual = self._read(tools) if not by_row else (Parameters(), "")

    def of(self, row: int) -> tuple[Parameters, str]:
        """What parsers want to know of the tools, and what is wrong with them."""
        if self._by_row is None:
            return self._usual
        tools = self._by_row[row]
        if not isinstance(tools, str):
            return self._read(tools)
        if tools not in self._known:
            if len(self._known) >= MOST_TOOLS:
                self._known.clear()
            self._known[tools] = self._read(tools)
        return self._known[tools]

    def _read(self, tools: object) -> tuple[Parameters, str]:
        if isinstance(tools, str):
            try:
                tools = json.loads(tools) if tools.strip() else None
            except (ValueError, RecursionError) as error:
                return Parameters(), "the tools are not JSON: " + str(error)
        return parameters_of(tools), ""


def rows_of(
    parser: Callable[..., Any],
    texts: Iterable[str | None],
    prompts: str | Sequence[str | None] | None,
    tools: object,
) -> list[Row | None]:
    """`prompts` and `tools`: one for all texts, or a list with one for each.  A text that is None gives None."""
    given = ToolsOfRows(tools)
    found: list[Row | None] = []
    for at, text in enumerate(texts):
        if text is None:
            found.append(None)
            continue
        known, problem = given.of(at)
        stream = parser(tools=known, prompt=prompts if prompts is None or isinstance(prompts, str) else prompts[at])
        stream.feed(text)
        stream.finish()
        found.append(_row(stream, problem))
    return found


def _row(stream: Any, problem: str) -> Row:
    message = stream.message
    diagnostics = [f"{diagnostic.offset}: {diagnostic.text}" for diagnostic in stream.diagnostics]
    return {
        "content": message["content"],
        "reasoning_content": message["reasoning_content"],
        "tool_calls": [{"id": call["id"], **call["function"]} for call in message["tool_calls"]],
        "incomplete": stream.incomplete,
        "diagnostics": [problem, *diagnostics] if problem else diagnostics,
    }
