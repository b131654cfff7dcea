"""Convert rows of conversations to token ids and masks: for `datasets.map`, and for tables of any engine.

    masker = ConversationMasker(template_text, tokenizer_json)
    dataset.map(masker, batched=True)      messages  →  input_ids, assistant_masks, mask_error

It contains texts only, so it can be sent to workers; they open the template when they are first called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tplc.batch.lines import UNREAD
from tplc.conversations.masks import PARTS, MaskPart, Straddling, token_mask
from tplc.conversations.template import ConversationTemplate, RenderedConversation
from tplc.errors import MissingPackage, TplcError, UsageError
from tplc.ir.hashes import sha256
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json
from tplc.ir.serialize import dumps, loads
from tplc.messages import with_object_arguments

if TYPE_CHECKING:
    import pyarrow as pa

IDS, MASKS, ERROR = "input_ids", "assistant_masks", "mask_error"
# Of this process, by what they were made of.
_TEMPLATES: dict[str, ConversationTemplate] = {}
_TOKENIZERS: dict[str, Any] = {}


@dataclass(slots=True)
class ConversationMasker:
    """Callable for `datasets.map(batched=True)`: columns of conversations to columns of token ids and masks.

    `template` is its text, `tokenizer` the text of a tokenizer.json.  `messages` and `tools` are the names of columns;
    their values are lists, or JSON text of lists.  Members that are null are left out of messages, as tables give all
    messages the same members.  `ir` is the format as JSON text; it is learned once where it is not given.

    A conversation that is refused, or undecided, has neither ids nor a mask, and `mask_error` says why; for the others
    it is "", because `datasets` takes the type of a column from the first rows.
    """

    template: str
    tokenizer: str
    name: str = "template"
    special_tokens: Mapping[str, str] | None = None
    messages: str = "messages"
    tools: str | None = None
    parts: Sequence[MaskPart] = PARTS
    straddling: Straddling = "inside"
    variables: Mapping[str, Json] = field(default_factory=dict)
    ir: str | None = None

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        if self.messages not in batch:
            raise UsageError(f"there is no column {self.messages}; the columns are {', '.join(batch)}")
        rows = batch[self.messages]
        tools = batch[self.tools] if self.tools else [None] * len(rows)
        read = [self._read(one, offered) for one, offered in zip(rows, tools, strict=True)]
        return self._masked(read)

    def table(self, table: pa.Table) -> pa.Table:
        """Return a table with the three columns added."""
        import pyarrow as pa

        unread: list[Any] = [None] * table.num_rows
        if UNREAD in table.column_names:
            unread = table[UNREAD].to_pylist()
            table = table.drop_columns([UNREAD])
        columns = {name: table[name].to_pylist() for name in filter(None, (self.messages, self.tools))}
        made = self(columns)
        for at, line in enumerate(unread):
            if line is not None:
                made[ERROR][at] = f"not read: {line['why']}"
        made[ERROR] = [error or None for error in made[ERROR]]
        types = {IDS: pa.list_(pa.int32()), MASKS: pa.list_(pa.int8()), ERROR: pa.string()}
        for name, kind in types.items():
            table = table.append_column(pa.field(name, kind), pa.array(made[name], kind))
        return table

    def features(self, given: Any) -> Any:
        """Return the features of a dataset with the three columns added, for `datasets.map(features=…)`: needed if the
        first thousand rows may all be refused."""
        import datasets

        kinds = {IDS: datasets.List(datasets.Value("int32")), MASKS: datasets.List(datasets.Value("int8"))}
        return datasets.Features({**given, **kinds, ERROR: datasets.Value("string")})

    def check(self, names: Sequence[str]) -> None:
        """Raise where a table with these columns cannot be masked."""
        for name in filter(None, (self.messages, self.tools)):
            if name not in names:
                raise UsageError(f"there is no column {name}; the columns are {', '.join(names)}")
        for name in (IDS, MASKS, ERROR):
            if name in names:
                raise UsageError(f"there is a column {name} already; rename it, or drop it first")

    def with_format(self) -> ConversationMasker:
        """Learn the format, so that workers need not."""
        self.ir = self.ir or dumps(self.open().ir)
        return self

    def open(self) -> ConversationTemplate:
        """Return the template, opened once in a process."""
        given = json.dumps([self.template, self.name, dict(self.special_tokens or {}), self.ir], sort_keys=True)
        key = sha256(given)
        if key not in _TEMPLATES:
            _TEMPLATES[key] = ConversationTemplate(
                self.template,
                name=self.name,
                ir=loads(self.ir) if self.ir else None,
                special_tokens=self.special_tokens,
            )
        return _TEMPLATES[key]

    def _tokenizer(self) -> Any:
        key = sha256(self.tokenizer)
        if key not in _TOKENIZERS:
            try:
                from tokenizers import Tokenizer
            except ImportError:
                raise MissingPackage("a mask of tokens", "tokens") from None
            tokenizer = Tokenizer.from_str(self.tokenizer)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            _TOKENIZERS[key] = tokenizer
        return _TOKENIZERS[key]

    def _read(self, messages: Any, tools: Any) -> RenderedConversation | str:
        template = self.open()
        try:
            return template.read(
                messages_of(messages, objects=template.ir.capabilities.object_arguments),
                tools=_list_of(tools, "tools") if tools else None,
                variables=self.variables,
            )
        except TplcError as error:
            return str(error)

    def _masked(self, read: Sequence[RenderedConversation | str]) -> dict[str, list[Any]]:
        made: dict[str, list[Any]] = {IDS: [], MASKS: [], ERROR: []}
        texts = [one.text for one in read if not isinstance(one, str)]
        encodings = iter(self._tokenizer().encode_batch(texts, add_special_tokens=False))
        for one in read:
            ids, mask, error = None, None, ""
            if isinstance(one, str):
                error = one
            else:
                encoding = next(encodings)
                try:
                    mask = token_mask(one.spans, encoding.offsets, self.parts, straddling=self.straddling)
                    ids = encoding.ids
                except UsageError as straddles:
                    error = str(straddles)
            made[IDS].append(ids)
            made[MASKS].append(mask)
            made[ERROR].append(error)
        return made


def messages_of(value: Any, *, objects: bool) -> list[dict[str, Json]]:
    """Return a row's messages without null members; `objects`: arguments that are JSON text become objects."""
    return [_message(one, objects) for one in _list_of(value, "messages")]


def _list_of(value: Any, what: str) -> list[Any]:
    # In a column of lists and texts each value is JSON text, also that of a text.
    for _ in range(2):
        if isinstance(value, str):
            try:
                value = parse_json(value)
            except NotJson as error:
                raise UsageError(f"{what}: is not JSON: {error}") from error
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise UsageError(f"{what}: expected a list of objects")
    return [_without_nulls(one) for one in value]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _message(message: dict[str, Any], objects: bool) -> dict[str, Json]:
    if message.get("role") == "assistant":
        message.setdefault("content", None)
    return with_object_arguments(message) if objects else message
