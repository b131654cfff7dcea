"""What is odd about one output, by the parser that reads it.

'Sure.<~doo~>f {}' with the tools g   →   marker in content "<~doo~>"
'<~do~>f {}</~do~>' with the tools g  →   unknown tool "f"
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from tplc.ir.nodes import TemplateIR
from tplc.observe.likeness import Likeness, likeness_of
from tplc.observe.outputs import Recorded
from tplc.verify.artifact import Artifact, Message

if TYPE_CHECKING:
    from tplc.verify.allowed import Allowed

Kind = Literal["marker in content", "marker in reasoning", "diagnostic", "unknown tool", "arguments", "incomplete"]
_MOST_SCHEMAS = 1000  # are kept, ready to be held against
# The first kind that an output has says best what is wrong with it.
KINDS: tuple[Kind, ...] = (
    "marker in content",
    "marker in reasoning",
    "diagnostic",
    "unknown tool",
    "arguments",
    "incomplete",
)
MISFITS = ("unknown_argument", "argument_of_other_type")
ENDS = ("ends_in_call", "ends_in_marker", "ends_in_reasoning")  # codes of diagnostics
WEIGHTS: Mapping[Kind, int] = {
    "marker in content": 5,
    "marker in reasoning": 5,
    "diagnostic": 3,
    "unknown tool": 4,
    "arguments": 4,
    "incomplete": 6,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` is what outputs with the same finding share; the place in the output is from `start` to `end`."""

    kind: Kind
    what: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Judged:
    """An output as it was read."""

    output: Recorded
    message: Message
    findings: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        return not self.findings

    @property
    def badness(self) -> int:
        return sum(WEIGHTS[finding.kind] for finding in self.findings)

    @property
    def main(self) -> Finding:
        """Return the finding that describes the problem best."""
        return min(self.findings, key=lambda finding: (KINDS.index(finding.kind), finding.start))


@dataclass(frozen=True, slots=True)
class Judge:
    """A parser, and what looks like markers of its format."""

    parser: Artifact
    likeness: Likeness

    def judge(self, output: Recorded) -> Judged:
        assert self.parser.stream is not None
        stream: Any = self.parser.stream(**output.options)
        stream.feed(output.text)
        stream.finish()
        message: Message = stream.message
        return Judged(output, message, tuple(self._findings(output, message, stream)))

    def _findings(self, output: Recorded, message: Message, stream: Any) -> Iterator[Finding]:
        markers = [*self._alike("marker in content", output.text, message["content"])]
        markers += self._alike("marker in reasoning", output.text, message["reasoning_content"])
        yield from markers
        unknown = list(_unknown_tools(output, message))
        yield from unknown
        violations = list(_violations(output, message))
        yield from violations
        # Codes that findings of their own are about.
        elsewhere = {*ENDS, *["unknown_tool"] * bool(unknown), *MISFITS * bool(violations)}
        elsewhere.update(["like_a_marker"] * bool(markers))
        for diagnostic in stream.diagnostics:
            if diagnostic.code not in elsewhere:
                at = max(diagnostic.offset, 0)
                yield Finding("diagnostic", diagnostic.text, at, min(at + 1, len(output.text)))
        if stream.incomplete:
            yield Finding("incomplete", _where_cut(stream), len(output.text), len(output.text))

    def _alike(self, kind: Kind, text: str, part: str | None) -> Iterator[Finding]:
        at = 0
        for alike in self.likeness.find(part or ""):
            start = text.find(alike.text, at)
            at = start + len(alike.text) if start >= 0 else at
            yield Finding(kind, alike.text, max(start, 0), max(start, 0) + len(alike.text))


def judge_of(ir: TemplateIR, parser: Artifact) -> Judge:
    return Judge(parser, likeness_of(ir))


def _where_cut(stream: Any) -> str:
    ends = [diagnostic.text for diagnostic in stream.diagnostics if diagnostic.code in ENDS]
    return ends[-1] if ends else "the output ends too early"


def _unknown_tools(output: Recorded, message: Message) -> Iterator[Finding]:
    if output.tools is None:
        return
    known = {_function(tool).get("name") for tool in output.tools}
    for name, start in _names(output.text, message):
        if name not in known:
            yield Finding("unknown tool", name, start, start + len(name))


def _names(text: str, message: Message) -> Iterator[tuple[str, int]]:
    at = 0
    for call in message["tool_calls"]:
        name = call["function"]["name"]
        at = max(text.find(name, at), 0)
        yield name, at


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function", tool)
    return function if isinstance(function, Mapping) else {}


def _violations(output: Recorded, message: Message) -> Iterator[Finding]:
    """Yield arguments that the tool's schema does not allow; of a call that is not cut."""
    schemas = {_function(tool).get("name"): _function(tool).get("parameters") for tool in output.tools or ()}
    for call, (name, start) in zip(message["tool_calls"], _names(output.text, message), strict=True):
        schema = schemas.get(name)
        problem = violation(call["function"]["arguments"], schema) if isinstance(schema, Mapping) else ""
        if problem:
            yield Finding("arguments", f"{name}: {problem}", start, start + len(name))


def violation(arguments: str, schema: Mapping[str, Any]) -> str:
    """Return what the schema doesn't allow in the arguments; "" also if that can't be decided, or not in time."""
    from tplc.verify.allowed import NOT_JUDGED

    try:
        error = _allowed(json.dumps(schema)).error(json.loads(arguments))
    except NOT_JUDGED:
        return ""  # the call is truncated, which is its own finding; or servers accept invalid schemas
    if error is None:
        return ""
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{missing[0]!r} is missing"
    path = ".".join(map(str, error.absolute_path))
    return f"{path or 'the object'}: not what {error.validator} allows"


@lru_cache(maxsize=_MOST_SCHEMAS)
def _allowed(schema: str) -> Allowed:
    from jsonschema import Draft202012Validator

    from tplc.verify.allowed import Allowed

    return Allowed(json.loads(schema), Draft202012Validator)
