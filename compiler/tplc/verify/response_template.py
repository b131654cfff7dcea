"""Run a response template with transformers' parser, so that it is verified like any artifact.

    {"fields": …}, "<why>Hm</why>Hi<end>"  →  {"reasoning_content": "Hm", "content": "Hi", "tool_calls": []}

That parser works with dictionaries and events; here they become messages and deltas.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tplc.errors import UsageError
from tplc.ir.nodes import Json
from tplc.verify.artifact import Artifact

CUTS = tuple(range(1, 30))
TESTED = "5.15 to 5.23"


class ParserMissing(UsageError):
    """The parser that a response template is verified with is not installed, or is too old."""

    def __str__(self) -> str:
        why = str(self.args[0])
        return (
            f"a response template is verified with transformers ({TESTED} tested), which {why}: "
            "pip install 'tplc[transformers]'"
        )


def parser_class() -> Any:
    # It says on import that there is no torch; nothing here needs it.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        import transformers
    except ImportError as error:
        raise ParserMissing("is not installed") from error
    version = transformers.__version__
    if tuple(int(part) for part in version.split(".")[:2]) < (5, 15):
        raise ParserMissing(f"is here in version {version}")
    from transformers.utils.chat_parsing import ResponseParser

    return ResponseParser


def response_artifact(template: Mapping[str, Json], reasoning_key: str, prompt: str, *, events_only: bool) -> Artifact:
    """Return the artifact.  `prompt` is used if none is given; `events_only`: only the events' content counts, as in
    servers."""
    parser = parser_class()

    def stream(*, tools: Any = None, **options: Any) -> _Stream:
        asked = options.get("prompt")
        made = parser(dict(template), prompt if asked is None else asked, tools=tools)
        return _Stream(made, reasoning_key, events_only=events_only)

    def parse(text: str, **options: Any) -> Mapping[str, Any]:
        whole = stream(**options)
        whole.feed(text)
        whole.finish()
        return whole.message

    return Artifact(parse, stream)


class _Stream:
    def __init__(self, parser: Any, reasoning_key: str, *, events_only: bool) -> None:
        self._parser = parser
        self._events_only = events_only
        self._names = {"content": "content", reasoning_key: "reasoning_content"}
        self._pending: list[Mapping[str, Any]] = list(parser.initial_events)
        self._calls: list[dict[str, Any]] = []
        self._texts = {"content": "", "reasoning_content": ""}

    def feed(self, chunk: str) -> Sequence[Mapping[str, Any]]:
        events = [*self._pending, *self._parser.feed(chunk)]
        self._pending = []
        return [delta for event in events for delta in self._deltas(event)]

    def finish(self) -> Sequence[Mapping[str, Any]]:
        message, events = self._parser.finalize()
        deltas = [delta for event in [*self._pending, *events] for delta in self._deltas(event)]
        self._check(message)
        return deltas

    @property
    def message(self) -> Mapping[str, Any]:
        texts = {name: text or None for name, text in self._texts.items()}
        return {"role": "assistant", **texts, "tool_calls": self._calls}

    def _deltas(self, event: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        name = self._names.get(event["field"])
        if name is not None:
            if event["type"] == "region_close":
                self._texts[name] += event["value"]
            elif event["type"] == "region_chunk":
                yield {name: event["text"]}
        elif event["type"] == "region_close":
            value = event["value"]
            for call in value if isinstance(value, list) else [value]:
                yield self._call(call)

    def _call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        function = call["function"]
        arguments = json.dumps(function["arguments"], ensure_ascii=False)
        made = {
            "id": call.get("id"),
            "type": "function",
            "function": {"name": function["name"], "arguments": arguments},
        }
        self._calls.append(made)
        return {"tool_calls": [{"index": len(self._calls) - 1, **made}]}

    def _check(self, message: Mapping[str, Any]) -> None:
        """Check that the dictionary agrees with the events."""
        found = {name: message.get(key) or "" for key, name in self._names.items()}
        calls = [call["function"]["name"] for call in message.get("tool_calls") or ()]
        names = [call["function"]["name"] for call in self._calls]
        if calls != names or (found != self._texts and not self._events_only):
            raise ValueError(
                f"the events have {self._texts} and the calls {names}, the message has {found} and {calls}"
            )
