"""Add to a table of outputs the columns of their messages.

RowParser({"": parser text}, Columns("text"))(table)  →  table, with content, reasoning_content, tool_calls, …

It contains generated parsers as text, so that it can be sent to the workers of any engine, and loads them as modules
when it is first called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tplc.batch.columns import Columns
from tplc.batch.lines import UNREAD
from tplc.batch.surrogates import encodable
from tplc.ir.hashes import sha256
from tplc.verify.artifact import NotAParser, read_parser
from tplc.version import VERSION

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
# The codes of rows that no parser read.
NO_PARSER, NOT_READ = "no_parser", "row_not_read"
_MODULES: dict[str, ModuleType] = {}


def message_fields() -> list[pa.Field]:
    """Return the columns of a message.  Arguments stay JSON text, because objects of different shapes don't fit one
    column."""
    import pyarrow as pa

    call = pa.struct([("id", pa.string()), ("name", pa.string()), ("arguments", pa.string())])
    note = pa.struct([("offset", pa.int64()), ("text", pa.string()), ("code", pa.string())])
    return [
        pa.field("content", pa.string()),
        pa.field("reasoning_content", pa.string()),
        pa.field("tool_calls", pa.list_(call)),
        pa.field("incomplete", pa.bool_()),
        pa.field("diagnostics", pa.list_(note)),
    ]


State = tuple[Mapping[str, str], Columns, object, str | None, str | None]


@dataclass(slots=True)
class RowParser:
    """`parsers`: texts of generated parsers by the name that the column `columns.parser` holds; "" for the only one.

    `tools`: JSON text, or the tools themselves, of all rows.  `tokenizer`: the text of a tokenizer.json, for columns
    of token ids.  `runtime`: the text of the runtime that the parsers share, where they do.
    """

    parsers: Mapping[str, str]
    columns: Columns
    tools: object = None
    tokenizer: str | None = None
    runtime: str | None = None
    _decode: Callable[[Sequence[Sequence[int]]], list[str]] | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> State:
        return (self.parsers, self.columns, self.tools, self.tokenizer, self.runtime)

    def __setstate__(self, state: State) -> None:
        self.parsers, self.columns, self.tools, self.tokenizer, self.runtime = state
        self._decode = None

    def __call__(self, table: pa.Table) -> pa.Table:
        """Return the table with the message's columns after its own, with the same rows in the same order."""
        import pyarrow as pa

        self.columns.check(table.schema, ids=self.tokenizer is not None)
        fields = message_fields()
        unread = None
        if UNREAD in table.column_names:
            unread = table[UNREAD].to_pylist()
            table = table.drop_columns([UNREAD])
        rows = self.rows(table)
        for at, row in enumerate(unread or ()):
            if row is not None:
                rows[at] = _all_content(row["text"], NOT_READ, f"not read: {row['why']}")
        shape = pa.struct(fields)
        try:
            message = pa.array(rows, shape)
        except UnicodeEncodeError:
            message = pa.array(encodable(rows), shape)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **self.metadata()})
        if self.columns.struct:
            return table.append_column("message", message)
        for at, one in enumerate(fields):
            # A message that is null is null in each of its columns: `flatten` knows that, `field` does not.
            table = table.append_column(one, message.flatten()[at])
        return table

    def rows(self, table: pa.Table) -> list[Row | None]:
        columns = self.columns
        texts = self._texts(table[columns.output])
        prompts = table[columns.prompt].to_pylist() if columns.prompt else None
        tools = table[columns.tools].to_pylist() if columns.tools else None
        if columns.parser is None:
            only = self.module(next(iter(self.parsers)))
            read: list[Row | None] = only.parse_many(
                texts, prompts=prompts, tools=self.tools if tools is None else tools
            )
            return read
        return self._by_parser(texts, table[columns.parser].to_pylist(), prompts, tools)

    def metadata(self) -> dict[bytes, bytes]:
        """Return the hashes of the templates and the version of tplc, so that rows of older parsers can be found."""
        made = {name: self.module(name).TEMPLATE_SHA256 for name in sorted(self.parsers)}
        digests = ",".join(f"{name}={digest}" if name else digest for name, digest in made.items())
        return {b"tplc.template_sha256": digests.encode(), b"tplc.version": VERSION.encode()}

    def _by_parser(
        self,
        texts: Sequence[str | None],
        names: Sequence[str | None],
        prompts: Sequence[str | None] | None,
        tools: Sequence[str | None] | None,
    ) -> list[Row | None]:
        places: dict[str | None, list[int]] = defaultdict(list)
        for at, name in enumerate(names):
            places[name].append(at)
        found: list[Row | None] = [None] * len(texts)
        for name, those in places.items():
            if name is None or name not in self.parsers:
                for at in those:
                    found[at] = _of_no_parser(name, texts[at])
                continue
            read = self.module(name).parse_many(
                [texts[at] for at in those],
                prompts=[prompts[at] for at in those] if prompts else None,
                tools=[tools[at] for at in those] if tools else self.tools,
            )
            for at, row in zip(those, read, strict=True):
                found[at] = row
        return found

    def module(self, name: str) -> ModuleType:
        """Return the parser of this name; it is loaded once per process."""
        text = self.parsers[name]
        key = sha256(text)
        if key not in _MODULES:
            module = read_parser(text, name or "parser.py", runtime=self.runtime)
            if not hasattr(module, "parse_many"):
                raise NotAParser(
                    f"{name or 'the parser'}: made by an older tplc, without parse_many: generate it again"
                )
            _MODULES[key] = module
        return _MODULES[key]

    def _texts(self, column: pa.ChunkedArray) -> list[str | None]:
        values: list[Any] = column.to_pylist()
        if not any(isinstance(value, list) for value in values):
            return values
        decode = self._decoder()
        there = [value for value in values if value is not None]
        texts = iter(decode(there))
        return [None if value is None else next(texts) for value in values]

    def _decoder(self) -> Callable[[Sequence[Sequence[int]]], list[str]]:
        """Return a function that decodes whole rows.  A token may be a piece of a character; markers are special tokens
        and are kept."""
        if self._decode is None:
            assert self.tokenizer is not None  # checked with the columns
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_str(self.tokenizer)
            self._decode = lambda rows: tokenizer.decode_batch(list(rows), skip_special_tokens=False)
        return self._decode


def _of_no_parser(name: str | None, text: str | None) -> Row | None:
    if text is None:
        return None
    why = "the row names no parser" if name is None else f"no parser is called {name}"
    return _all_content(text, NO_PARSER, why)


def _all_content(text: str, code: str, why: str) -> Row:
    """Return the row of an output that no parser reads: all text is content, so that none is lost."""
    return {
        "content": text,
        "reasoning_content": None,
        "tool_calls": [],
        "incomplete": False,
        "diagnostics": [{"offset": 0, "text": why, "code": code}],
    }
