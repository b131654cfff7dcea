"""Entries of a catalogue: the formats an entry applies to, what it declares, and outputs that show it.

{"title": "…", "reason": "…", "source": "…", "markers": ["<call>"], "lacks": ["reasoning.start"],
 "tolerances": [{"kind": "variant", "marker": "<call>", "text": "<Call>"}], "outputs": [{"text": "…", "message": {…}}]}

A tolerance without a reason or a source of its own has those of its entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tplc.errors import SourceError
from tplc.ir.nodes import Json, Tolerance
from tplc.ir.tolerances import tolerances_from


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """A model's output, and the message that it means; missing content and reasoning are ""."""

    text: str
    content: str
    reasoning: str
    calls: tuple[tuple[str, Json], ...]  # name and arguments


@dataclass(frozen=True, slots=True)
class Entry:
    """`markers`: each is in a marker of the format; `lacks`: roles for which the format has no marker."""

    name: str
    title: str
    reason: str
    source: str
    markers: tuple[str, ...]
    lacks: tuple[str, ...]
    tolerances: tuple[Tolerance, ...]
    outputs: tuple[ExpectedOutput, ...]


def read_entry(entry: Mapping[str, Any], name: str, path: str) -> Entry:
    """Return the entry of a valid file; `path` is the file's, for messages."""
    shared = {"reason": entry["reason"], "source": entry["source"]}
    listed: Json = [{**(shared if item["kind"] == "variant" else {}), **item} for item in entry["tolerances"]]
    return Entry(
        name=name,
        title=entry["title"],
        reason=entry["reason"],
        source=entry["source"],
        markers=tuple(entry["markers"]),
        lacks=tuple(entry.get("lacks", ())),
        tolerances=tuple(tolerances_from({"tolerances": listed}, path)),
        outputs=tuple(map(_output, entry["outputs"])),
    )


def _output(item: Mapping[str, Any]) -> ExpectedOutput:
    message = item["message"]
    calls = tuple((call["name"], call["arguments"]) for call in message.get("tool_calls", ()))
    return ExpectedOutput(item["text"], message.get("content", ""), message.get("reasoning_content", ""), calls)


def validated(data: Json, path: str) -> Mapping[str, Any]:
    """Raises SourceError for what the schema does not allow."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from tplc.schemas import load_schema

    error = best_match(Draft202012Validator(load_schema("catalogue")).iter_errors(data))
    if error is not None:
        at = error.json_path.removeprefix("$").lstrip(".")
        raise SourceError(path, f"is not an entry of a catalogue: {at}: {error.message}".replace(": : ", ": "))
    assert isinstance(data, dict)
    return data
