"""Which columns hold what, and whether a table has them.

Columns(output="text", prompt="prompt").check(schema)  →  nothing, or "the column prompt holds chat messages: …"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tplc.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

FLAT = ("content", "reasoning_content", "tool_calls", "incomplete", "diagnostics")
STRUCT = "message"
# In the metadata of a column: it contains JSON text of what stood as JSON in lines, and is written so into lines again.
JSON_TEXT = {b"tplc.json": b"text"}


@dataclass(frozen=True, slots=True)
class Columns:
    """`output`: text, or token ids; `prompt`: text; `tools`: JSON text of each row's tools; `parser`: its name.

    `struct`: one column `message` instead of the flat ones.
    """

    output: str
    prompt: str | None = None
    tools: str | None = None
    parser: str | None = None
    struct: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        return (STRUCT,) if self.struct else FLAT

    @property
    def named(self) -> tuple[str, ...]:
        """Return the columns that are read."""
        return tuple(filter(None, (self.output, self.prompt, self.tools, self.parser)))

    def check(self, schema: pa.Schema, *, ids: bool) -> None:
        """Raise where the table is not as it is described.  `ids`: a tokenizer is there for token ids."""
        for problem in self._problems(schema, ids=ids):
            raise UsageError(problem)

    def missing(self, names: Sequence[str]) -> Iterator[str]:
        for name in self.named:
            if name not in names:
                yield f"there is no column {name}; the columns are {', '.join(names)}"

    def _problems(self, schema: pa.Schema, *, ids: bool) -> Iterator[str]:
        import pyarrow.types as types

        yield from self.missing(schema.names)
        for name in self.written:
            if name in schema.names:
                yield f"there is a column {name} already, and it would be overwritten: rename it, or drop it first"
        kind = schema.field(self.output).type
        if types.is_list(kind) or types.is_large_list(kind):
            if not types.is_integer(kind.value_type):
                yield f"the column {self.output} holds lists ({kind}): expected text, or token ids"
            if not ids:
                yield f"the column {self.output} holds token ids: give --tokenizer with the model's tokenizer.json"
        elif not is_text(schema.field(self.output)):
            yield f"the column {self.output} is not text: it contains {_contents(schema.field(self.output))}"
        if self.prompt is not None and not is_text(schema.field(self.prompt)):
            yield (
                f"the column {self.prompt} holds {_contents(schema.field(self.prompt))}, and not the text of prompts: "
                "chat messages become text with the template (tplc render)"
            )
        if self.parser is not None and not is_text(schema.field(self.parser)):
            yield f"the column {self.parser} is not text: it contains {_contents(schema.field(self.parser))}"
        if self.tools is not None and not (is_json_text(field := schema.field(self.tools)) or is_text(field)):
            yield f"the column {self.tools} is not text (the JSON of each row's tools): it contains {_contents(field)}"


def is_text(field: pa.Field) -> bool:
    return _is_text(field.type) and not is_json_text(field)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind))


def is_json_text(field: pa.Field) -> bool:
    return bool((field.metadata or {}).items() >= JSON_TEXT.items())


def _contents(field: pa.Field) -> str:
    return "JSON objects, lists, or what is of several types" if is_json_text(field) else str(field.type)
