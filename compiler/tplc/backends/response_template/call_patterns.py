"""The patterns of what is around the arguments of a call: what opens it, its header, and what closes it."""

from __future__ import annotations

import re

from tplc.backends.response_template.limits import Limit, closed_early
from tplc.backends.response_template.patterns import any_of, end, marker, markers, split, turn_ends
from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import Layout, Slot, TemplateIR, Text, Tools
from tplc.lower import Acceptor, CallForm, SlotEnd
from tplc.lower.lexemes import core_pattern, exact
from tplc.lower.written import written_calls
from tplc_runtime.slots import NUMBERS

LONGEST = 128  # characters of a name or key: what is looked through for each place where one may begin
KEY = rf"[^\s=:,(){{}}\[\]\"']{{1,{LONGEST}}}"
LINE_START = r"(?:\A|(?<=\n))"


class CallPatterns:
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
        self.paths = {role: path for path, role in reversed(form.object.fields)}

    def object_start(self) -> str:
        """Return the pattern of the beginning of a call's object: its bracket and one of its keys."""
        constants = [path for path, role in self.form.object.fields if role == "constant"]
        paths = [path for path, _ in self.form.object.fields if path in (*self.paths.values(), *constants)]
        keys = dict.fromkeys(path[0] for path in paths if path and path[0] != "*")
        style = self.dialect.in_object
        quoted = "|".join(exact(style.key_open + key + style.key_close) for key in keys)
        return rf"{exact(self.form.object.opener)}\s{{0,64}}(?:{quoted})\s{{0,64}}{exact(style.colon.strip() or ':')}"

    def quotes(self) -> str:
        """Return the pattern of quoted text, in a value or nested in one."""
        found = []
        for style in (self.dialect.top, self.dialect.in_list, self.dialect.in_object):
            for string in style.strings:
                close = exact(string.close)
                inside = rf"(?:\\.|(?!{close})[^\\])*" if string.escape != "none" else ".*?"
                found.append(exact(string.open) + inside + close)
        return "|".join(dict.fromkeys(found))

    def header(self) -> str:
        """Return the pattern of the slots before the arguments or the object, each with the text that ends it."""
        pattern = ""
        named = False
        slots, shape = self.form.header, self.form.shape
        id_slots = shape.id_slots if self.composed() else ()
        for i, slot in enumerate(slots):
            counted = slots[i + 1] if slot.kind == "name" and slots[i + 1 :] and slots[i + 1].kind in NUMBERS else None
            # A number and its end come after the name, which may contain the text between the two.
            inner = slot_class(slot) if counted is None else f"{slot_class(counted)}?"
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
            if self.form.object.fields and i == len(slots) - 1:  # the object begins there
                suffixes = tuple(suffix.removesuffix(self.form.object.opener) for suffix in suffixes)
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
        if not self.form.opening.openers:
            return LINE_START + before
        texts = [text.removesuffix(prefix).removesuffix(cut) for text in self.form.opening.openers]
        layout = self.written.call
        first = layout[0].text if layout and isinstance(layout[0], Text) else ""
        first = self.form.shape.opener if self.form.is_object else first.removesuffix(cut)
        again = self.written.separator + first.removesuffix(prefix)
        if self.tools.parallel and is_distinctive(again):
            texts.append(again)
        safe = markers(text for text in texts if self.counts(text))
        patterns = [self.not_content() + any_of(safe)] if safe else []
        patterns += [LINE_START + marker(text) for text in texts if not self.counts(text)]
        if self.tools.parallel and not is_distinctive(again) and again.strip() not in {text.strip() for text in texts}:
            patterns.append(self.inside() + marker(again))
        return any_of(patterns) + before

    def counts(self, text: str) -> bool:
        """Return whether a text opens a call anywhere."""
        if is_distinctive(text):
            return True
        return self.form.opening.where == "anywhere" and any(
            item in text for item in self.form.opening.openers if item.strip()
        )

    def not_content(self) -> str:
        """Return a lookahead that excludes content openers that begin like a call's opener."""
        openers = [text.strip() for text in self.form.opening.openers]
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
                pattern += rf"[^\n]{{0,{LONGEST}}}?" + any_of(map(marker, slot.suffixes))
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

    def without_lookbehind(self) -> CallPatterns:
        """Return the patterns of the same calls without lookbehind."""
        return CallPatterns(self.ir, self.acceptor, self.form, ids=self.ids, plain=True)

    def early(self) -> Limit:
        """Return the limit that text like the end of a call closes it.  Only the `regex` package has the lookbehind for
        more."""
        return closed_early(self.tools, self.without_lookbehind().close())

    def closing_text(self) -> str:
        if self.form.is_object:
            return self.form.shape.closer[0] or ""
        layout: Layout = self.written.call
        if self.form.object.fields:
            return self.form.closing.closers[0] if self.form.closing.closers else ""
        at = next(i for i, item in enumerate(layout) if item == Slot("arguments"))
        return "".join(item.text for item in layout[at + 1 :] if isinstance(item, Text))

    def close_or_next(self) -> str:
        """Return the pattern of the section's end, the next call's beginning, or the end of the turn.

        The end of the text is no alternative: the parser would take it for one in each chunk.
        """
        again = self.starts(before="", cut=self.form.object.opener if self.form.object.fields else "")
        if self.form.object.fields and "name" in self.paths and not self.form.header:
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
            if self.form.opening.in_reasoning is None
            else next((lookahead(text) for text in self.form.opening.openers if is_distinctive(text)), "")
        )


def slot_class(slot: SlotEnd) -> str:
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
    return f"[^{''.join(_in_class(char) for char in sorted(excluded))}]{{1,{LONGEST}}}"


def _in_class(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(char, f"\\{char}" if char in "\\]^[-&~|" else char)


def bracketed(strings: str) -> str:
    """Return the pattern of quoted text, or of brackets with such text inside, nested to any depth."""
    return rf"{strings}|(?P<nested>[\[{{](?:{strings}|[^()\[\]{{}}\"']|(?&nested))*+[\]}}])"


def lookahead(text: str) -> str:
    core = text.strip()
    return rf"\s{{0,64}}(?={core_pattern(core)})" if is_distinctive(core) else ""


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
