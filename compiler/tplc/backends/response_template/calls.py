r"""Calls: one region of text for each, or one for all of a JSON array.

<call>NAME\n{"city": "Oslo"}</call>   →  open <call>(?P<name>[^\s{]+)\s*(?=\{), close </call>, content json
[{"name": …, "arguments": …}, …]      →  one region, each element made into a call
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat

from tplc.backends.response_template.call_patterns import (
    KEY,
    LINE_START,
    LONGEST,
    CallPatterns,
    bracketed,
    lookahead,
    slot_class,
)
from tplc.backends.response_template.dialects import json_arguments
from tplc.backends.response_template.limits import (
    Limit,
    closed_early,
    of_bare_calls,
    of_object,
    of_pairs,
    value_closed_early,
)
from tplc.backends.response_template.patterns import any_of, marker
from tplc.errors import TplcError
from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.write import write_message
from tplc.lower import Acceptor, PairForm
from tplc.lower.call_form import TypeWrap
from tplc.lower.lexemes import exact


class CannotExpress(TplcError):
    """A format that a target has no words for at all: the feature, and a message that shows it."""

    def __init__(self, name: str, target: str, feature: str, example: str = "") -> None:
        super().__init__(name, target, feature, example)
        self.name = name
        self.target = target
        self.feature = feature
        self.example = example

    def __str__(self) -> str:
        shown = f"\n    for example {self.example}" if self.example else ""
        return f"{self.name}: {self.target} cannot express this format: {self.feature}{shown}"


@dataclass(frozen=True, slots=True)
class CallField:
    """`open` and `close` are patterns; `rest` what is left after the calls, to be dropped."""

    open: str
    close: str
    content: str
    arguments: dict[str, Json]
    transform: Json
    each: bool = False
    rest: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    typed: bool = True  # values have their types without tools
    opener: str = field(default="")  # what ends reasoning


def call_field(ir: TemplateIR, acceptor: Acceptor, *, ids: bool) -> CallField:
    assert acceptor.calls is not None and ir.tools.dialect is not None
    return _Calls(ir, acceptor, acceptor.calls, ids=ids).field()


class _Calls(CallPatterns):
    def field(self) -> CallField:
        if "name" in self.paths and self.is_array():
            return self.array()
        if "name" in self.paths:
            return self.objects()
        if self.form.object.fields:
            return self.named_by_key()
        if all(slot.kind != "name" for slot in self.form.header):
            raise self.cannot("the name of a call comes after its arguments")
        return self.pairs(self.form.pairs) if self.form.pairs is not None else self.arguments()

    def cannot(self, feature: str) -> CannotExpress:
        plain = {"function": {"name": "look", "arguments": "{}"}}
        shown = json.dumps(write_message(self.ir, {"tool_calls": [plain]}), ensure_ascii=False)
        return CannotExpress(self.ir.provenance.name, "response_template", feature, shown)

    # Calls that are objects

    def is_array(self) -> bool:
        form = self.form
        return (
            form.is_object
            and not form.shape.opener
            and not form.shape.closer[0]
            and self.written.section_start.rstrip().endswith("[")
            and self.written.section_end.lstrip().startswith("]")
            and self.written.separator.strip() == ","
        )

    def array(self) -> CallField:
        head = self.written.section_start.rstrip()[:-1]
        tail = self.written.section_end.lstrip()[1:]
        looks = rf"(?=\[\s{{0,64}}(?:{self.object_start()}|\]))"
        bare = marker(head) + LINE_START + looks
        open_ = marker(head) + r"(?=\[)" if is_distinctive(head) else bare if not head.strip() else marker(head) + looks
        close = marker(tail) if tail.strip() else self.turn_ends()
        return CallField(
            open=open_,
            close=close,
            content="json",
            arguments=json_arguments(self.dialect.in_object),
            transform=self.transform("", self.paths),
            each=True,
            limits=(*self.object_limits(), closed_early(self.tools, close)),
            opener=lookahead(head) if self.form.opening.in_reasoning is not None else "",
        )

    def objects(self) -> CallField:
        """Return the field for calls that are one object each, perhaps with markers around it and slots before it."""
        opened = self.form.object.opener
        open_ = self.starts(before=self.header(), cut="" if self.form.header else opened)
        open_ += f"(?={self.object_start()})"
        close = self.close()
        return CallField(
            open=open_,
            close=close,
            content="json",
            arguments=json_arguments(self.dialect.in_object),
            transform=self.transform("content", self.paths),
            rest=self.rest(),
            limits=(*self.object_limits(), self.early()),
            opener=self.reasoning_ender(),
        )

    def named_by_key(self) -> CallField:
        """Return the field for calls of the form {"NAME": {…}}, whose outer brackets become part of the markers."""
        opened = exact(self.form.object.opener)
        name = rf"\s{{0,64}}\"(?P<name>[^\"\\\n]{{1,{LONGEST}}})\"\s{{0,64}}:\s{{0,64}}(?=\{{)"
        open_ = self.starts(before="", cut=self.form.object.opener) + opened + name
        follow = self.close_or_next()
        close = rf"\}}\s{{0,64}}{follow}"
        plain = rf"\}}\s{{0,64}}{self.without_lookbehind().close_or_next()}"
        return CallField(
            open=open_,
            close=close,
            content="json",
            arguments=json_arguments(self.dialect.in_object),
            transform=_transform("{name}", "{content}", ""),
            rest=self.rest(),
            limits=(*of_object(self.dialect.in_object), closed_early(self.tools, plain)),
            opener=self.reasoning_ender(),
        )

    def object_limits(self) -> Iterator[Limit]:
        yield from of_object(self.dialect.in_object)

    def transform(self, root: str, paths: dict[str, tuple[str, ...]]) -> Json:
        for path in paths.values():
            for key in path:
                if not re.fullmatch(r"\w+", key):
                    raise self.cannot(f"a member of calls whose name isn't a word ({key!r})")
        found = {role: "{" + ".".join(filter(None, [root, *path])) + "}" for role, path in paths.items()}
        identifier = found.get("id", "") if self.ids else ""
        return _transform(found["name"], found.get("arguments", "{}"), identifier or self.header_id())

    # Calls in a layout of texts and slots

    def arguments(self) -> CallField:
        style = self.dialect.in_object
        open_ = self.starts(before=self.header()) + rf"(?={exact(self.form.object.opener)})"
        close = self.close()
        return CallField(
            open=open_,
            close=close,
            content="json",
            arguments=json_arguments(style),
            transform=_transform("{name}", "{content}", self.header_id()),
            rest=self.rest(),
            limits=(*of_object(style), *of_bare_calls(self.tools), self.early()),
            opener=self.reasoning_ender(),
        )

    def pairs(self, form: PairForm) -> CallField:
        open_ = self.starts(before=self.header())
        close = self.close()
        arguments: dict[str, Json] = {"tag_pattern": self.tag(form)}
        if form.value.quoted:
            parser = {**json_arguments(self.dialect.top), "allow_non_json": True}
            parser.pop("unquoted_keys", None)
            arguments["value_parser"] = {"name": "json", "args": parser}
        ends = form.value_end.closers or ((form.value_end.around_key[0],) if form.value_end.around_key else ())
        limits = [*of_pairs(self.tools), self.early()]
        return CallField(
            open=open_,
            close=close,
            content="xml-inline",
            arguments=arguments,
            transform=_transform("{name}", "{content}", self.header_id()),
            rest=self.rest(),
            typed=False,
            limits=(*limits, *([value_closed_early(ends)] if ends else [])),
            opener=self.reasoning_ender(),
        )

    def tag(self, form: PairForm) -> str:
        pattern = "" if form.types_open_pairs else any_of(map(marker, form.opens))
        for slot in form.slots:
            inner = slot_class(slot)
            if slot.kind == "key":
                pattern += f"(?P<key>{inner if form.opens else KEY})"
            else:
                pattern += inner.replace("{1,", "{0,")
            pattern += any_of(map(marker, slot.suffixes))
        if form.types_open_pairs:
            values = (any_of(map(marker, wrap.ends)) for wrap in form.value.wraps)
            openers = (marker(wrap.opened) for wrap in form.value.wraps)
            pairs = zip(openers, values, strict=True)
            return any_of(rf"{opener}{pattern}(?P<value>.*?){ends}" for opener, ends in pairs)
        return pattern + self.value(form)

    def value(self, form: PairForm) -> str:
        if form.value.quoted:
            first = (form.between_pairs.strip() or form.between_pairs)[:1]
            stops = "" if first in ",()[]{}" else re.escape(first)
            return rf"(?P<value>{bracketed(self.quotes())}|[^,()\[\]{{}}{stops}]*)"
        if form.value.wraps:
            return f"(?:{'|'.join(map(_wrapped, form.value.wraps, repeat(form)))})"
        if form.value_end.around_key is not None:
            close, rest = form.value_end.around_key
            return f"(?P<value>.*?){marker(close)}(?P=key){marker(rest)}"
        if form.value_end.closers:
            ends = any_of(map(marker, form.value_end.closers))
            if form.value.wrap is None:
                return f"(?P<value>.*?){ends}"
            wrapped = f"{exact(form.value.wrap[0])}(?P<value>.*?){exact(form.value.wrap[1])}"
            return f"(?:{wrapped}|(?P<value>.*?)){ends}"
        follow = marker(form.separator) + any_of(map(marker, form.opens)) + KEY
        key_end = any_of(map(marker, form.slots[-1].suffixes)) if form.slots else ""
        return rf"(?P<value>.*?)(?={follow}{key_end}|{marker(form.end)}\Z)"


def _wrapped(wrap: TypeWrap, form: PairForm) -> str:
    """Return the pattern of a value between texts that depend on its type, or of a bare value."""
    close = wrap.around_key if wrap.opened else form.value_end.around_key
    if close is not None:
        return f"{exact(wrap.opened)}(?P<value>.*?){marker(close[0])}(?P=key){marker(close[1])}"
    return (
        f"{exact(wrap.opened)}(?P<value>.*?){any_of(map(marker, wrap.ends if wrap.opened else form.value_end.closers))}"
    )


def _transform(name: str, arguments: str, identifier: str) -> Json:
    call: dict[str, Json] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {**call, "id": identifier} if identifier else call
