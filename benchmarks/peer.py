"""Run transformers' ResponseParser on the same output, if it is installed: templates for it are written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.outputs import JSON_FORMAT, ir_of


def peer_parser(format_name: str) -> Callable[[Sequence[str]], object] | None:
    """Return a function that feeds chunks to the peer; None if it isn't installed or has no such format."""
    try:
        from transformers.utils.chat_parsing.response_parser import ResponseParser
        from transformers.utils.chat_parsing.response_templates import load_response_template
    except ImportError:
        return None
    if format_name != JSON_FORMAT:
        return None
    ir = ir_of(format_name)
    assert ir.tools.json is not None
    template = load_response_template(
        {
            "defaults": {"role": "assistant"},
            "start_anchor": ir.turn.header,
            "fields": {
                "thinking": {"open": ir.reasoning.start, "close": ir.reasoning.end},
                "tool_calls": {
                    "open": ir.tools.json.prefix,
                    "close": ir.tools.json.suffix,
                    "content": "json",
                    "repeats": True,
                    "transform": {"type": "function", "function": "{content}"},
                },
                "content": {"close": ir.turn.ends[0].strip()},
            },
        }
    )

    def parse(chunks: Sequence[str]) -> Any:
        parser = ResponseParser(template, prefix=ir.turn.header)
        count = 0
        for chunk in chunks:
            for _ in parser.feed(chunk):
                count += 1
        return parser.finalize()

    return parse
