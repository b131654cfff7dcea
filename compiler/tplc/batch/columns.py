"""Which columns hold what, and whether a table has them.

Columns(output="text", prompt="prompt").check(schema)  →  nothing, or "the column prompt holds chat messages: …"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tplc.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

FLAT = ("content", "reasoning_content", "tool_calls", "incomplete", "diagnostics")
STRUCT = "message"


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

    def check(self, schema: pa.Schema, *, ids: bool) -> None:
        """Raise where the table is not as it is said to be.  `ids`: a tokenizer is there for token ids."""
        for problem in self._problems(schema, ids=ids):
            raise UsageError(problem)

    def _problems(self, schema: pa.Schema, *, ids: bool) -> Iterator[str]:
        import pyarrow.types as types

        there = ", ".join(schema.names)
        for name in filter(None, (self.output, self.prompt, self.tools, self.parser)):
            if name not in schema.names:
                yield f"there is no column {name}: there are {there}"
        for name in self.written:
            if name in schema.names:
                yield f"there is a column {name} already, and it would be overwritten: rename it, or drop it first"
        kind = schema.field(self.output).type
        if types.is_list(kind) or types.is_large_list(kind):
            if not types.is_integer(kind.value_type):
                yield f"the column {self.output} holds lists ({kind}): expected text, or token ids"
            if not ids:
                yield f"the column {self.output} holds token ids: give --tokenizer with the model's tokenizer.json"
        elif not is_text(kind):
            yield f"the column {self.output} is no text: it holds {kind}"
        if self.prompt is not None and not is_text(schema.field(self.prompt).type):
            yield (
                f"the column {self.prompt} holds {schema.field(self.prompt).type}, and not the text of prompts: "
                "chat messages become text with the template (tplc render)"
            )
        for name in filter(None, (self.tools, self.parser)):
            if not is_text(schema.field(name).type):
                yield f"the column {name} is no text: it holds {schema.field(name).type}"


def is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind))
