"""Parse many outputs into rows: plain values of one shape, for the columns of a table.

rows_of(StreamParser, ["Hi.", None], None, None)
→  [{"content": "Hi.", "reasoning_content": None, "tool_calls": [], "incomplete": False, "diagnostics": []}, None]
"""

from __future__ import annotations

from .message import Diagnostic, checked_text
from .schema import parameters_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Row = dict[str, Any]

MOST_TOOLS = 1000  # the most distinct lists of tools that are kept


def tools_of(tools: object, known: dict[str, tuple[object, str]]) -> tuple[object, str]:
    """Return the tools, and the error if they can't be read.  Each JSON text is read once."""
    if not isinstance(tools, str):
        return tools, ""
    import json  # takes longer than all of a parser without calls, which needs it only here

    if tools not in known:
        if len(known) >= MOST_TOOLS:
            known.clear()
        try:
            known[tools] = json.loads(tools) if tools.strip() else None, ""
        except (ValueError, RecursionError) as error:
            known[tools] = None, "the tools are not JSON: " + str(error)
    return known[tools]


def rows_of(
    parser: Any, texts: Iterable[str | None], prompts: str | Sequence[str | None] | None, tools: object
) -> list[Row | None]:
    """Return a row for each text, and None for None.  `prompts` and `tools` are one value for all texts, or a list with
    one for each."""
    rows = tools if isinstance(tools, (list, tuple)) and any(not isinstance(tool, dict) for tool in tools) else None
    read: dict[str, tuple[object, str]] = {}
    usual = tools_of(tools if rows is None else None, read)
    if parser.CALLS:
        usual = parameters_of(usual[0]), usual[1]
    found: list[Row | None] = []
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts: expected a list of texts, got {type(texts).__name__}")
    for at, text in enumerate(texts):
        if text is None:
            found.append(None)
            continue
        known, problem = usual if rows is None else tools_of(rows[at], read)
        stream = parser(tools=known, prompt=prompts if prompts is None or isinstance(prompts, str) else prompts[at])
        stream.feed(checked_text(f"texts[{at}]", text) if text.__class__ is not str else text)
        stream.finish()
        found.append(_row(stream, problem))
    return found


def _row(stream: Any, problem: str) -> Row:
    message = stream.message
    notes = [Diagnostic(0, problem, "tools_not_read")] if problem else []
    return {
        "content": message["content"],
        "reasoning_content": message["reasoning_content"],
        "tool_calls": [{"id": call["id"], **call["function"]} for call in message["tool_calls"]],
        "incomplete": stream.incomplete,
        "diagnostics": [note._asdict() for note in notes + stream.diagnostics],
    }
