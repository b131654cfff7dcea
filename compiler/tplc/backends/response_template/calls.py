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

from tplc.backends.response_template.dialects import json_arguments
from tplc.backends.response_template.limits import (
    Limit,
    closed_early,
    of_bare_calls,
    of_object,
    of_pairs,
    value_closed_early,
)
from tplc.backends.response_template.patterns import any_of, end, marker, markers, split, turn_ends
from tplc.errors import TplcError
from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import Json, Layout, Slot, TemplateIR, Text, Tools
from tplc.ir.write import write_message
from tplc.lower import Acceptor, CallForm, PairForm, SlotEnd
from tplc.lower.acceptor import TypeWrap
from tplc.lower.lexemes import core_pattern, exact
from tplc.lower.values import NUMBERS
from tplc.lower.written import written_calls

_LONGEST = 128  # characters of a name or key: what is looked through for each place where one may begin
_KEY = rf"[^\s=:,(){{}}\[\]\"']{{1,{_LONGEST}}}"
_LINE_START = r"(?:\A|(?<=\n))"


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


class _Calls:
    def __init__(self, ir: TemplateIR, acceptor: Acceptor, form: CallForm, *, ids: bool, plain: bool = False) -> None:
        assert ir.tools.dialect is not None
        self.ir = ir
        self.tools: Tools = ir.tools
        self.dialect = ir.tools.dialect
        self.acceptor = acceptor
        self.form = form
        self.written = written_calls(ir.tools)
        self.ids = ids
        self.plain = plain
        # The first of a role is the template's own; a member of another name has no second place to be read from.
        self.paths = {role: path for path, role in reversed(form.fields)}

    def field(self) -> CallField:
        if "name" in self.paths and self.is_array():
            return self.array()
        if "name" in self.paths:
            return self.objects()
        if self.form.fields:
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
        bare = marker(head) + _LINE_START + looks
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
            opener=_lookahead(head) if self.form.in_reasoning is not None else "",
        )

    def objects(self) -> CallField:
        """Return the field for calls that are one object each, perhaps with markers around it and slots before it."""
        opened = self.form.object_open
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
        opened = exact(self.form.object_open)
        name = rf"\s{{0,64}}\"(?P<name>[^\"\\\n]{{1,{_LONGEST}}})\"\s{{0,64}}:\s{{0,64}}(?=\{{)"
        open_ = self.starts(before="", cut=self.form.object_open) + opened + name
        follow = self.close_or_next()
        close = rf"\}}\s{{0,64}}{follow}"
        plain = rf"\}}\s{{0,64}}{replace_calls(self).close_or_next()}"
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

    def object_start(self) -> str:
        """Return the pattern of the beginning of a call's object: its bracket and one of its keys."""
        constants = [path for path, role in self.form.fields if role == "constant"]
        paths = [path for path, _ in self.form.fields if path in (*self.paths.values(), *constants)]
        keys = dict.fromkeys(path[0] for path in paths if path and path[0] != "*")
        style = self.dialect.in_object
        quoted = "|".join(exact(style.key_open + key + style.key_close) for key in keys)
        return rf"{exact(self.form.object_open)}\s{{0,64}}(?:{quoted})\s{{0,64}}{exact(style.colon.strip() or ':')}"

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
        open_ = self.starts(before=self.header()) + rf"(?={exact(self.form.object_open)})"
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
        if form.quoted:
            parser = {**json_arguments(self.dialect.top), "allow_non_json": True}
            parser.pop("unquoted_keys", None)
            arguments["value_parser"] = {"name": "json", "args": parser}
        ends = form.value_ends or ((form.value_close[0],) if form.value_close else ())
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
            inner = _slot_class(slot)
            if slot.kind == "key":
                pattern += f"(?P<key>{inner if form.opens else _KEY})"
            else:
                pattern += inner.replace("{1,", "{0,")
            pattern += any_of(map(marker, slot.suffixes))
        if form.types_open_pairs:
            values = (any_of(map(marker, wrap.ends)) for wrap in form.wraps)
            openers = (marker(wrap.opened) for wrap in form.wraps)
            pairs = zip(openers, values, strict=True)
            return any_of(rf"{opener}{pattern}(?P<value>.*?){ends}" for opener, ends in pairs)
        return pattern + self.value(form)

    def value(self, form: PairForm) -> str:
        if form.quoted:
            return rf"(?P<value>{_bracketed(self.quotes())}|[^,()\[\]{{}}]*)"
        if form.wraps:
            return f"(?:{'|'.join(map(_wrapped, form.wraps, repeat(form)))})"
        if form.value_close is not None:
            close, rest = form.value_close
            return f"(?P<value>.*?){marker(close)}(?P=key){marker(rest)}"
        if form.value_ends:
            ends = any_of(map(marker, form.value_ends))
            if form.wrap is None:
                return f"(?P<value>.*?){ends}"
            wrapped = f"{exact(form.wrap[0])}(?P<value>.*?){exact(form.wrap[1])}"
            return f"(?:{wrapped}|(?P<value>.*?)){ends}"
        follow = marker(form.separator) + any_of(map(marker, form.opens)) + _KEY
        key_end = any_of(map(marker, form.slots[-1].suffixes)) if form.slots else ""
        return rf"(?P<value>.*?)(?={follow}{key_end}|{marker(form.end)}\Z)"

    def quotes(self) -> str:
        """Return the pattern of quoted text, in a value or nested in one."""
        found = []
        for style in (self.dialect.top, self.dialect.in_list, self.dialect.in_object):
            for string in style.strings:
                close = exact(string.close)
                inside = rf"(?:\\.|(?!{close})[^\\])*" if string.escape != "none" else ".*?"
                found.append(exact(string.open) + inside + close)
        return "|".join(dict.fromkeys(found))

    # What is around

    def header(self) -> str:
        """Return the pattern of the slots before the arguments or the object, each with the text that ends it."""
        pattern = ""
        named = False
        slots, shape = self.form.header, self.form.shape
        id_slots = shape.id_slots if self.composed() else ()
        for i, slot in enumerate(slots):
            counted = slots[i + 1] if slot.kind == "name" and slots[i + 1 :] and slots[i + 1].kind in NUMBERS else None
            # A number and its end come after the name, which may contain the text between the two.
            inner = _slot_class(slot) if counted is None else f"{_slot_class(counted)}?"
            if slot.kind in NUMBERS:
                part = r"\d{1,64}"
            elif slot.kind == "name" and not named:
                part, named = f"(?P<name>{inner})", True
            elif slot.kind == "id" and self.ids:
                part = f"(?P<id>{inner})"
            else:
                part = inner
            suffixes = slot.suffixes
            if id_slots and slot.kind == id_slots[0]:
                part = f"(?P<id>{exact(shape.id_prefix)}{part}"
            if id_slots and slot.kind == id_slots[-1]:
                part = f"{part}{exact(shape.id_suffix)})"
                suffixes = tuple(suffix.removeprefix(shape.id_suffix) for suffix in suffixes)
            if id_slots and i + 1 < len(slots) and slots[i + 1].kind == id_slots[0]:
                suffixes = tuple(suffix.removesuffix(shape.id_prefix) for suffix in suffixes)
            if self.form.fields and i == len(slots) - 1:  # the object begins there
                suffixes = tuple(suffix.removesuffix(self.form.object_open) for suffix in suffixes)
            pattern += part + (any_of(map(marker, suffixes)) if suffixes else r"\s{0,64}")
        return pattern

    def composed(self) -> bool:
        """Return whether ids are made of the name and the index, and all of that is before the arguments."""
        kinds = {slot.kind for slot in self.form.header}
        id_slots = self.form.shape.id_slots
        return self.ids and bool(id_slots) and "id" not in id_slots and kinds.issuperset(id_slots)

    def id_prefix(self) -> str:
        """Return the beginning of an id that is at the end of the text before the first slot."""
        id_slots = self.form.shape.id_slots if self.composed() else ()
        return self.form.shape.id_prefix if id_slots and self.form.header[0].kind == id_slots[0] else ""

    def header_id(self) -> str:
        kinds = {slot.kind for slot in self.form.header}
        return "{id}" if self.ids and (self.composed() or "id" in kinds) else ""

    def starts(self, *, before: str, cut: str = "") -> str:
        """Return the pattern of what opens a call, inside and outside a section; `before` is the pattern of the slots
        after it."""
        prefix = self.id_prefix()
        if not self.form.openers:
            return _LINE_START + before
        texts = [text.removesuffix(prefix).removesuffix(cut) for text in self.form.openers]
        layout = self.written.call
        first = layout[0].text if layout and isinstance(layout[0], Text) else ""
        first = self.form.shape.opener if self.form.is_object else first.removesuffix(cut)
        again = self.written.separator + first.removesuffix(prefix)
        if self.tools.parallel and is_distinctive(again):
            texts.append(again)
        safe = markers(text for text in texts if self.counts(text))
        patterns = [self.not_content() + any_of(safe)] if safe else []
        patterns += [_LINE_START + marker(text) for text in texts if not self.counts(text)]
        if self.tools.parallel and not is_distinctive(again) and again.strip() not in {text.strip() for text in texts}:
            patterns.append(self.inside() + marker(again))
        return any_of(patterns) + before

    def counts(self, text: str) -> bool:
        """Return whether a text opens a call anywhere."""
        if is_distinctive(text):
            return True
        return self.form.where == "anywhere" and any(item in text for item in self.form.openers if item.strip())

    def not_content(self) -> str:
        """Return a lookahead that excludes content openers that begin like a call's opener."""
        openers = [text.strip() for text in self.form.openers]
        starts = [start.text for start in self.acceptor.content_starts]
        clashes = [text for text in starts if any(text.strip().startswith(o) for o in openers)]
        return f"(?!{any_of(map(marker, clashes))})" if clashes else ""

    def inside(self) -> str:
        """Return a lookbehind for calls that only punctuation opens: a section is open, or a call precedes."""
        section, end = self.written.section_start.strip(), self.written.section_end.strip()
        if self.plain:
            return ""
        if is_distinctive(section):
            return f"(?<={core_pattern(section)}(?:(?!{core_pattern(end) or '(?!)'}).)*)"
        last = self.last_text()
        return f"(?<={exact(last)})" if last else ""

    def last_text(self) -> str:
        layout = self.written.call
        last = layout[-1].text.rstrip() if layout and isinstance(layout[-1], Text) else ""
        return last[-1:]

    def close(self) -> str:
        """Return the text that ends a call's arguments: its closer, or what comes next if it has none."""
        if self.form.tail is not None:
            text, slots = self.form.tail
            pattern = marker(text)
            for slot in slots:
                pattern += rf"[^\n]{{0,{_LONGEST}}}?" + any_of(map(marker, slot.suffixes))
            return pattern
        text = self.closing_text()
        if not text.strip():
            return self.close_or_next()
        if is_distinctive(text):
            return marker(text)
        # Nothing but punctuation: it ends what ends like arguments, or must be followed by what may follow a call.
        if self.form.pairs is None:
            closing = exact(self.dialect.in_object.object_close.strip())
            return ("" if self.plain else f"(?<={closing})") + marker(text)
        return marker(text) + self.close_or_next()

    def early(self) -> Limit:
        """Return the limit that text like the end of a call closes it.  Only the `regex` package has the lookbehind for
        more."""
        return closed_early(self.tools, replace_calls(self).close())

    def closing_text(self) -> str:
        if self.form.is_object:
            return self.form.shape.closer[0] or ""
        layout: Layout = self.written.call
        if self.form.fields:
            return self.form.closers[0] if self.form.closers else ""
        at = next(i for i, item in enumerate(layout) if item == Slot("arguments"))
        return "".join(item.text for item in layout[at + 1 :] if isinstance(item, Text))

    def close_or_next(self) -> str:
        """Return the pattern of the section's end, the next call's beginning, or the end of the turn.

        The end of the text is no alternative: the parser would take it for one in each chunk.
        """
        again = self.starts(before="", cut=self.form.object_open if self.form.fields else "")
        if self.form.fields and "name" in self.paths and not self.form.header:
            again += self.object_start()
        else:
            again += self.header()
        section = [marker(self.written.section_end)] if self.written.section_end.strip() else []
        found = [*section, *map(end, turn_ends(self.acceptor))]
        if self.tools.parallel:
            after = self.form.pairs is None and not self.plain and not is_distinctive(self.written.separator)
            ended = rf"(?<={exact(self.dialect.in_object.object_close.strip())})\s{{0,64}}" if after else ""
            found.insert(0, f"{ended}(?={_unnamed(again)})")
        return any_of(found)

    def turn_ends(self) -> str:
        found = turn_ends(self.acceptor)
        return f"(?:{'|'.join(map(end, found))})" if found else ""

    def rest(self) -> tuple[str, ...]:
        return (self.written.section_end,) if is_distinctive(self.written.section_end) else ()

    def reasoning_ender(self) -> str:
        """Return the lookahead for a call's opener that ends open reasoning; "" if no opener is distinctive."""
        return (
            ""
            if self.form.in_reasoning is None
            else next((_lookahead(text) for text in self.form.openers if is_distinctive(text)), "")
        )


def _wrapped(wrap: TypeWrap, form: PairForm) -> str:
    """Return the pattern of a value between texts that depend on its type, or of a bare value."""
    close = wrap.around_key if wrap.opened else form.value_close
    if close is not None:
        return f"{exact(wrap.opened)}(?P<value>.*?){marker(close[0])}(?P=key){marker(close[1])}"
    return f"{exact(wrap.opened)}(?P<value>.*?){any_of(map(marker, wrap.ends if wrap.opened else form.value_ends))}"


def _slot_class(slot: SlotEnd) -> str:
    """Return the pattern of a slot's text: characters that can't begin what ends it, on one line."""
    follow = [text for text in (*slot.suffixes, *slot.nexts) if text]
    excluded = {"\n"}
    for text in follow:
        lead, core, _ = split(text)
        if lead or not core:
            excluded.update(" \t\n")
        elif not core[0].isalnum():
            excluded.add(core[0])
    if not slot.suffixes:
        excluded.update(" \t\n")
    return f"[^{''.join(_in_class(char) for char in sorted(excluded))}]{{1,{_LONGEST}}}"


def _in_class(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(char, f"\\{char}" if char in "\\]^[-&~|" else char)


def _bracketed(strings: str) -> str:
    """Return the pattern of quoted text, or of brackets with such text inside, nested to any depth."""
    return rf"{strings}|(?P<nested>[\[{{](?:{strings}|[^()\[\]{{}}\"']|(?&nested))*+[\]}}])"


def _transform(name: str, arguments: str, identifier: str) -> Json:
    call: dict[str, Json] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {**call, "id": identifier} if identifier else call


def _lookahead(text: str) -> str:
    core = text.strip()
    return rf"\s{{0,64}}(?={core_pattern(core)})" if is_distinctive(core) else ""


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def replace_calls(calls: _Calls) -> _Calls:
    """Return the same calls without lookbehind."""
    return _Calls(calls.ir, calls.acceptor, calls.form, ids=calls.ids, plain=True)
