"""A template to start a format from, with outputs in that format and a test that reads them.

start("hut", "json")  →  chat_template.jinja, tplc.toml, outputs/call.txt, outputs/call.json, test_format.py, …
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tplc.errors import BadMessage
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import Artifact

LAYOUTS: Mapping[str, str] = {
    "json": "calls as JSON objects between markers",
    "parameters": "calls with each argument between markers of its own",
    "keywords": "calls as a function is called: NAME(KEY=VALUE, …)",
    "channels": "parts of a turn in channels; a call names its recipient in the header",
}
_HERE = Path(__file__).resolve().parent / "layouts"
_TOOLS: Json = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look something up.",
            "parameters": {
                "type": "object",
                "properties": {"place": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["place"],
            },
        },
    }
]
_MESSAGES: Mapping[str, Mapping[str, Json]] = {
    "answer": {"content": "The harbour is old."},
    "reasoning": {"reasoning_content": "I know this.", "content": "The harbour is old."},
    "call": {"content": "I will look.", "tool_calls": [{"place": 'the "old" harbour', "days": 2}]},
    "two calls": {"reasoning_content": "Both.", "tool_calls": [{"place": "Oslo"}, {"place": "a\nb", "days": 1}]},
}
_TEST = '''"""Test that the parser reads each output as the message next to it: python -m unittest"""

import importlib.util
import json
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = json.loads((HERE / "tools.json").read_text(encoding="utf-8"))
spec = importlib.util.spec_from_file_location("parser", HERE / "PARSER")
parser = importlib.util.module_from_spec(spec)
spec.loader.exec_module(parser)


def compared(message):
    """Return what a test compares; ids are left out, because some formats have none."""
    calls = [call["function"] for call in message["tool_calls"] or []]
    read = [{"name": call["name"], "arguments": json.loads(call["arguments"])} for call in calls]
    return {"content": message["content"], "reasoning_content": message["reasoning_content"], "tool_calls": read}


class Outputs(unittest.TestCase):
    maxDiff = None

    def test_each(self):
        for path in sorted((HERE / "outputs").glob("*.txt")):
            with self.subTest(path.name):
                text = path.read_text(encoding="utf-8")
                wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                self.assertEqual(compared(parser.parse(text, tools=TOOLS)), wanted)
                for size in (1, 3, 7):
                    stream = parser.StreamParser(tools=TOOLS)
                    for start in range(0, len(text), size):
                        stream.feed(text[start : start + size])
                    stream.finish()
                    self.assertEqual(compared(stream.message), wanted)


if __name__ == "__main__":
    unittest.main()
'''


@dataclass(frozen=True, slots=True)
class Started:
    """A new template with its files. `files` by their path in the new folder."""

    files: Mapping[str, str]


def layout_text(layout: str) -> str:
    return (_HERE / f"{layout}.jinja").read_text(encoding="utf-8")


def start(name: str, layout: str, compile_: Callable[[str], TemplateIR]) -> Started:
    """Return the files of a new format.  `compile_` learns and verifies a template's text; `name` is the model's in the
    manifest."""
    template = layout_text(layout)
    ir = compile_(template)
    parser = f"{name.replace('-', '_').replace('.', '_')}_parser.py"
    files = {
        "chat_template.jinja": template,
        "tplc.toml": f'[models."{name}"]\nsource = "chat_template.jinja"\noutputs = ["{parser}"]\n',
        "tools.json": _json(_TOOLS),
        "test_format.py": _TEST.replace("PARSER", parser),
    }
    for title, message in _MESSAGES.items():
        stem = _stem(title)
        files[f"{stem}.txt"] = write_message(ir, _message(message))
        files[f"{stem}.json"] = _json(_wanted(message))
    return Started(files)


def refreshed(ir: TemplateIR, artifact: Artifact) -> dict[str, str | None]:
    """Return the outputs that a new folder has, by their paths, as this format writes them; None if it can't.

    `artifact` is a parser of the format: what a format leaves out doesn't come back.
    """
    found: dict[str, str | None] = {}
    for title, message in _MESSAGES.items():
        try:
            text = write_message(ir, _message(message))
        except BadMessage:
            text = ""
        came_back = _compared(artifact.parse(text, tools=_TOOLS)) == _wanted(message)
        found[f"{_stem(title)}.txt"] = text if came_back else None
    return found


def _compared(message: Mapping[str, Any]) -> Json:
    """Return a message in the form of the files next to outputs."""
    called = [call["function"] for call in message["tool_calls"] or ()]
    calls: list[Json] = [{"name": one["name"], "arguments": json.loads(one["arguments"])} for one in called]
    return {"content": message["content"], "reasoning_content": message["reasoning_content"], "tool_calls": calls}


def _stem(title: str) -> str:
    return f"outputs/{title.replace(' ', '_')}"


def _calls(message: Mapping[str, Json]) -> list[Json]:
    calls = message.get("tool_calls", [])
    assert isinstance(calls, list)
    return calls


def _message(message: Mapping[str, Json]) -> dict[str, Json]:
    calls: list[Json] = [{"function": {"name": "look_up", "arguments": call}} for call in _calls(message)]
    return {**message, "tool_calls": calls}


def _wanted(message: Mapping[str, Json]) -> Json:
    calls: list[Json] = [{"name": "look_up", "arguments": call} for call in _calls(message)]
    return {
        "content": message.get("content"),
        "reasoning_content": message.get("reasoning_content"),
        "tool_calls": calls,
    }


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
