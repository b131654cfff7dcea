"""The outputs that are timed, of two formats: calls in JSON, and calls with a tag for each argument.

outputs(4000)["JSON: one long string"].text  →  '<fn>\n{"name": "write", "arguments": {"text": "The quick …"}}\n</fn>'
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tplc.backends.python import generate
from tplc.driver import learn_format, open_renderer
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message

ROOT = Path(__file__).resolve().parent.parent
JSON_FORMAT, TAGGED_FORMAT = "tagged-json", "parameter-tags"
WORDS = "the quick brown fox jumps over the lazy dog while 12 wizards quietly brew a (large) pot of tea, "
LINE = (WORDS * 2).strip() + ".\n"


@dataclass(frozen=True, slots=True)
class Timed:
    """One output: the format it is of, and the arguments in it (what json.loads would have to read)."""

    format: str
    text: str
    arguments: tuple[str, ...] = ()


@cache
def ir_of(example: str) -> TemplateIR:
    folder = ROOT / "examples" / example
    source = (folder / "template.jinja").read_bytes().decode()
    special = json.loads((folder / "conversation.json").read_text(encoding="utf-8"))["special_tokens"]
    with open_renderer(source, name=example, special_tokens=special) as renderer:
        return learn_format(renderer, name=example, source_text=source, special_tokens=special)


@cache
def parser_of(example: str) -> str:
    return generate(ir_of(example))


def outputs(size: int) -> dict[str, Timed]:
    """Return outputs of about `size` characters."""
    text = prose(size)
    dense = {"rows": [{"id": i, "name": f"row {i}", "ok": True, "size": i / 8} for i in range(size // 56)]}
    return {
        "content": Timed(JSON_FORMAT, _written(JSON_FORMAT, content=text)),
        "reasoning": Timed(JSON_FORMAT, _written(JSON_FORMAT, reasoning_content=text, content="Done.")),
        "JSON: one long string": _calls(JSON_FORMAT, [{"text": text}]),
        "JSON: numbers and names": _calls(JSON_FORMAT, [dense]),
        "JSON: 20 calls": _calls(JSON_FORMAT, [{"text": text[: size // 20 - 60], "n": i} for i in range(20)]),
        "tagged: one long string": _calls(TAGGED_FORMAT, [{"text": text}]),
        "tagged: 20 calls": _calls(TAGGED_FORMAT, [{"text": text[: size // 20 - 60], "n": i} for i in range(20)]),
        "content: Markdown": Timed(JSON_FORMAT, _written(JSON_FORMAT, content=files("docs/*.md", size))),
        "JSON: source code": _calls(JSON_FORMAT, [{"text": files("compiler/**/*.py", size)}]),
        "tagged: source code": _calls(TAGGED_FORMAT, [{"text": files("compiler/**/*.py", size)}]),
    }


def prose(size: int) -> str:
    return (LINE * (size // len(LINE) + 1))[:size].strip()


def files(pattern: str, size: int) -> str:
    """Return text as people write it: the files of this project, from the first again after the last."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern)))
    return (text * (size // len(text) + 1))[:size].strip()


def _calls(format_name: str, arguments: list[dict[str, object]]) -> Timed:
    calls = [{"id": "call00001", "type": "function", "function": {"name": "write", "arguments": a}} for a in arguments]
    text = _written(format_name, tool_calls=calls)
    return Timed(format_name, text, tuple(json.dumps(a, ensure_ascii=False) for a in arguments))


def _written(format_name: str, **message: object) -> str:
    return write_message(ir_of(format_name), {"role": "assistant", **message})
