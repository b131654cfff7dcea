r"""Shapes as text in the template's dialect.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    in JSON            →  "{" ws "\"city\":" ws string ws "}"
    in bare keys       →  "{city:" "<q>" text-up-to-<q> "}"
    in tagged pairs    →  "<p=city>" text-up-to-</p>

One walk serves all dialects: a schema's shapes say what is allowed, `Values` how it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal

from tplc.grammars.dialect import readings
from tplc.grammars.dialect.bare import KEY_CHARACTERS, Around, text_before
from tplc.grammars.dialect.number_values import NumberPlace, number
from tplc.grammars.dialect.sequences import (
    Items,
    Member,
    ObjectMembers,
    TooManyStates,
    in_any_order,
    in_order,
    items,
    machine,
)
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.expressions import alt, lit, opt, rep, seq, walk
from tplc.grammars.regular.nodes import EMPTY, NEVER, Chars, Expr, Lit, Ref, Rep
from tplc.grammars.regular.quoting import quoting_of
from tplc.grammars.regular.repetitions import LARGEST_COUNT
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import SPACE, Stop, stop_at
from tplc.grammars.schema import algebra, strings
from tplc.grammars.schema.reader import SchemaReader
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import (
    ANYTHING,
    ArrayShape,
    Contains,
    NamePattern,
    NumberShape,
    ObjectShape,
    Shapes,
    StringShape,
    Sub,
    only,
)
from tplc.ir.nodes import JSON_STYLE, Dialect, JsonType, Slot, StringStyle, Text, ValueStyle
from tplc.lower import PairForm
from tplc.lower.layouts import text_at, text_behind
from tplc.lower.values import LONGEST_KEY
from tplc.lower.written import WrittenCalls
from tplc_runtime.schema import keys_of, types_of

Where = Literal["top", "list", "object"]
VariantsOf = Callable[[str], tuple[str, ...]]
_DEEPEST = 48
_LARGEST_INLINE = 8
_MOST_PATTERNS = 3


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """How schemas are taken.

    `closed`: an object whose schema lists properties, and says nothing of others, has no others.
    `plain_integers`: an integer is written without ".0".
    """

    closed: bool = True
    plain_integers: bool = True
    any_order: bool = False
    formats: bool = True


class Values:
    """Writes the values of one schema after another (`read`) into one set of rules."""

    def __init__(self, rules: Rules, report: Report, dialect: Dialect, reading: SchemaReading) -> None:
        self._rules = rules
        self._report = report
        self._dialect = dialect
        self._reading = reading
        self._pairs: PairForm | None = None
        self._variants: VariantsOf = lambda text: (text,)
        self._shared: dict[object, Expr] = {}
        self._made: dict[object, Expr] = {}
        self._making: dict[object, str | None] = {}
        self._depth = 0
        self._name = ""
        # The texts that may follow a string: nested, and as the value of a pair.
        self._behind_nested = codepoints.of(",]}):")
        self._behind_top = self._behind_nested

    def read(self, reader: SchemaReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._made = {}

    def object_arguments(self, sub: Sub) -> Expr:
        """arguments = one object of the dialect"""
        shapes = only(self._reader.shapes(sub), ("object",))
        return self._once(("arguments", sub), sub or (-1,), lambda: self._value(shapes, sub, "object"))

    def pair_arguments(
        self, sub: Sub, pairs: PairForm, written: WrittenCalls, after: tuple[str, ...], variants: VariantsOf
    ) -> Expr:
        """arguments = start pair (separator pair)* end | empty

        `after`: what may come after the call; `variants`: how else a marker may be written, itself first.
        """
        self._pairs = pairs
        self._variants = variants
        self._call_closer = pairs.end + written.after_arguments
        self._after_call = after
        shapes = self._reader.shapes(sub)
        ends = (pairs.separator, self._call_closer or written.separator or written.section_end)
        self._behind_top = codepoints.of("".join(end.strip()[:1] for end in ends))
        parts = []
        for shape in shapes.objects:
            body = self._members(shape, sub, lit(pairs.separator), lambda k, s: self._pair(k, s, ends))
            some = seq(lit(pairs.start), _without_empty(body), lit(pairs.end))
            parts.append(alt(some, lit(pairs.empty)) if _is_optional(body) else some)
            if body == EMPTY:
                parts[-1] = lit(pairs.empty)
        return alt(*parts)

    def value(self, sub: Sub, where: Where) -> Expr:
        """Return a value as it is between delimiters."""
        return self._once(("value", sub, where), sub, lambda: self._value(self._reader.shapes(sub), sub, where))

    # Once for each schema and place

    def _once(self, key: object, sub: Sub, make: Callable[[], Expr]) -> Expr:
        made = self._shared if sub == ANYTHING else self._made
        if key in made:
            return made[key]
        if key in self._making:
            name = self._making[key]
            if name is None:
                name = self._making[key] = self._rules.reserve(self._hint(sub))
            return Ref(name)
        self._making[key] = None
        self._depth += 1
        body = make()
        self._depth -= 1
        name = self._making.pop(key)
        if name is not None:
            self._rules.define(name, body)
            body = Ref(name)
        elif not isinstance(body, Ref) and any(True for _ in islice(walk(body), _LARGEST_INLINE, None)):
            body = self._rules.add(self._hint(sub), body)
        made[key] = body
        return body

    def _hint(self, sub: Sub) -> str:
        if sub == ANYTHING:
            return "value"
        if sub == (-1,):
            return f"{self._name}-arguments"
        words = [word for word in self._reader.path(sub).split("/")[1:] if word not in _STRUCTURE]
        if "$defs" in self._reader.path(sub) or "definitions" in self._reader.path(sub):
            return "-".join(words) or self._name
        return "-".join([self._name, *words]) if words else f"{self._name}-arguments"

    # Values between delimiters

    def _style(self, where: Where) -> ValueStyle:
        return {"top": self._dialect.top, "list": self._dialect.in_list, "object": self._dialect.in_object}[where]

    def _value(self, shapes: Shapes, sub: Sub, where: Where) -> Expr:
        if self._is_too_deep(sub):
            return self.value(ANYTHING, where)
        style = self._style(where)
        found = [self._object(shape, sub, where) for shape in shapes.objects]
        found += [self._array(shape, sub, where) for shape in shapes.arrays]
        found += [self._string(shape, sub, where) for shape in shapes.strings]
        found += self._scalars(shapes, sub, style)
        return alt(*found)

    def _is_too_deep(self, sub: Sub) -> bool:
        """Return whether the nesting limit is reached, and report it: then any value is accepted."""
        if self._depth <= _DEEPEST or sub == ANYTHING:
            return False
        self._report.looser("type", self._reader.path(sub), f"any value: nested more than {_DEEPEST} deep")
        return True

    def _scalars(self, shapes: Shapes, sub: Sub, style: ValueStyle) -> list[Expr]:
        found = [self._number(shape, sub) for shape in shapes.numbers]
        found += [lit(style.true if value else style.false) for value in shapes.booleans]
        if shapes.null and style.null is not None:
            found.append(lit(style.null))
        return found

    def _number(self, shape: NumberShape, sub: Sub) -> Expr:
        place = NumberPlace(self._hint(sub), self._reader.path(sub))
        return number(self._rules, self._report, shape, place, plain=self._reading.plain_integers)

    def _string(self, shape: StringShape, sub: Sub, where: Where) -> Expr:
        style = self._style(where)
        named = shape.patterns[:1] if shape == StringShape(patterns=shape.patterns[:1]) else ()
        if style.strings and named and named[0].is_format:
            # Formats are long and shared.
            return self._rules.kept((named[0].text, style.strings), lambda: self._format(named[0], style))
        texts = strings.language(shape, self._report, self._reader.path(sub))
        if style.strings:
            followers = self._behind_top if where == "top" else self._behind_nested
            return strings.quoted(self._rules, self._hint(sub), texts, style.strings, followers)
        around = (style.list_separator, style.list_close, style.object_separator, style.object_close)
        self._report.tighter("type", self._reader.path(sub), "text without the characters that end it")
        return strings.raw_avoiding(self._rules, self._hint(sub), texts, _firsts(around))

    def _format(self, pattern: NamePattern, style: ValueStyle) -> Expr:
        texts = strings.language(StringShape(patterns=(pattern,)), self._report, "#")
        whole = strings.quoted(self._rules, pattern.text, texts, style.strings, self._behind_nested)
        return self._rules.library(pattern.text, whole)

    def _object(self, shape: ObjectShape, sub: Sub, where: Where) -> Expr:
        inner: Where = "object" if where == "top" else where
        style = self._style(where)
        colon = self._after(style.colon, style)

        def member(key: Expr, value: Sub) -> Expr:
            return seq(key, colon, self.value(value, inner))

        separator = self._after(style.object_separator, style)
        body = self._members(shape, sub, separator, member, self._key_styles(style))
        if body == NEVER:
            return NEVER
        whole = self._enclosed(style.object_open, body, style.object_close, style)
        return self._rules.library("object", whole) if sub == ANYTHING else whole

    def _array(self, shape: ArrayShape, sub: Sub, where: Where) -> Expr:
        inner: Where = "list" if where == "top" else where
        style = self._style(where)
        separator = self._after(style.list_separator, style)
        body = self._items(shape, sub, separator, lambda item: self.value(item, inner))
        if body == NEVER:
            return NEVER
        whole = self._enclosed(style.list_open, body, style.list_close, style)
        return self._rules.library("array", whole) if sub == ANYTHING else whole

    def _enclosed(self, opened: str, body: Expr, closed: str, style: ValueStyle) -> Expr:
        if not self._relaxed(style):
            return seq(lit(opened), body, lit(closed))
        space = self._space()
        if body == EMPTY:
            return seq(lit(opened.strip()), space, lit(closed.strip()))
        if _is_optional(body):
            body = opt(seq(_without_empty(body), space))
        else:
            body = seq(body, space)
        return seq(lit(opened.strip()), space, body, lit(closed.strip()))

    def _after(self, text: str, style: ValueStyle) -> Expr:
        """Return a separator, and optional white space after it if the dialect allows that."""
        return seq(lit(text.strip()), self._space()) if self._relaxed(style) else lit(text)

    def _relaxed(self, style: ValueStyle) -> bool:
        """Return whether white space is optional between parts: the punctuation is JSON's, and all else is quoted."""
        if self._pairs is not None and self._is_bare():
            # White space may be what ends a value.
            return False
        cores = [
            text.strip()
            for text in (style.list_open, style.list_separator, style.list_close, style.object_open, style.colon)
        ]
        return cores == ["[", ",", "]", "{", ":"] and bool(style.strings) and bool(style.key_open)

    def _space(self) -> Expr:
        return self._rules.kept("ws", lambda: self._rules.library("ws", _WHITE_SPACE))

    # Members

    def _members(
        self,
        shape: ObjectShape,
        sub: Sub,
        separator: Expr,
        write: Callable[[Expr, Sub], Expr],
        key_styles: tuple[StringStyle, ...] = (),
    ) -> Expr:
        reader, hint, path = self._reader, self._hint(sub), self._reader.path(sub)
        declared = [name for name, _ in shape.properties]
        listed = tuple(dict.fromkeys([*declared, *shape.required, *(n for o in shape.others for n in o.names)]))
        needed = frozenset(shape.required)
        named = []
        for name, member in reader.members(shape, listed).items():
            required = name in needed
            if not self._can_be_written(name, key_styles):
                effect = self._report.looser if required else self._report.tighter
                effect("properties", path, f"{name!r} is left out: it contains the text that ends a name")
                continue
            expr = NEVER if reader.is_void(member) else write(self._key(name, key_styles), member)
            if expr != NEVER:
                named.append(Member(expr, required, name))
            elif required:
                return NEVER
        other = self._others(shape, listed, hint, write, key_styles)
        members = ObjectMembers(tuple(named), None if other == NEVER else other, separator, shape.low, shape.high)
        return self._arranged(members, hint, path, ordered=bool(declared))

    def _arranged(self, members: ObjectMembers, hint: str, path: str, *, ordered: bool) -> Expr:
        """Return the members in an object.  `ordered`: the schema defines an order; a list of required names does
        not."""
        several = len(members.named) > 1 or (members.named and members.other is not None)
        if several and (self._reading.any_order or not ordered):
            free = in_any_order(self._rules, hint, members)
            if free is not None:
                return free
        if several and self._reading.any_order:
            # One rule for each member: both orders refer to it.
            named = [replace(one, expr=self._rules.add(f"{hint}-member", one.expr)) for one in members.named]
            members = replace(members, named=tuple(named))
            by_name = tuple(sorted(named, key=lambda member: member.name))
            what = "in the schema's order, or sorted by name: any order would take too many rules"
            self._report.tighter("properties", path, what)
            if by_name != members.named:
                return alt(
                    self._in_order(members, hint, path),
                    self._in_order(replace(members, named=by_name), f"{hint}-sorted", path),
                )
        return self._in_order(members, hint, path)

    def _in_order(self, members: ObjectMembers, hint: str, path: str) -> Expr:
        try:
            return in_order(self._rules, hint, members)
        except TooManyStates:
            keyword = "minProperties" if members.high is None else "maxProperties"
            self._report.looser(keyword, path, "left out: counting would take too many rules")
            return in_order(self._rules, hint, replace(members, low=0, high=None))

    def _can_be_written(self, name: str, styles: tuple[StringStyle, ...]) -> bool:
        """Return whether a parser can find the end of the name."""
        if not styles:
            stop = self._key_stop().strip()
            if self._is_bare() and not (
                len(name) <= LONGEST_KEY and codepoints.minus(codepoints.of(name), KEY_CHARACTERS) == ()
            ):
                return False
            if not stop:
                return len(name.split()) == 1 and name.strip() == name
            return bool(name.strip()) and "\n" not in name and stop not in name
        close = styles[0].close or self._dialect.in_object.colon.strip()
        return styles[0].escape != "none" or not close or close not in name

    def _key(self, name: str, styles: tuple[StringStyle, ...]) -> Expr:
        if not styles:
            return lit(name)
        # As the template chooses: the usual quotes, or others where those stand in the name.
        style = (
            next((style for style in styles if style.close not in name), styles[0]) if styles[0].close else styles[0]
        )
        return seq(lit(style.open), quoting_of(self._rules, style).text(name), lit(style.close))

    def _key_styles(self, style: ValueStyle) -> tuple[StringStyle, ...]:
        # Among raw text a key is quoted as the strings in the object are.
        styles = style.strings or self._dialect.in_object.strings
        if any(string.open == style.key_open for string in styles):
            return styles
        return (StringStyle(style.key_open, style.key_close, "none"),)

    def _others(
        self,
        shape: ObjectShape,
        listed: tuple[str, ...],
        hint: str,
        write: Callable[[Expr, Sub], Expr],
        key_styles: tuple[StringStyle, ...],
    ) -> Expr:
        """Return the members that the schema does not name."""
        texts = list(
            dict.fromkeys([text for text, _ in shape.patterns] + [t for o in shape.others for t in o.patterns])
        )
        closed = self._reading.closed and shape.declared and not shape.others
        if len(texts) > _MOST_PATTERNS:
            self._report.looser("patternProperties", "#", f"only the first {_MOST_PATTERNS} patterns count")
            texts = texts[:_MOST_PATTERNS]
        found = []
        for mask in range(1 << len(texts)):
            matched = [text for index, text in enumerate(texts) if mask >> index & 1]
            if closed and not matched:
                continue
            sub = self._region(shape, matched)
            if self._reader.is_void(sub):
                continue
            patterns = tuple(NamePattern(text, text in matched) for text in texts)
            key = self._other_key(StringShape(patterns=patterns, excluded=listed), shape.names, hint, key_styles)
            if key != NEVER:
                found.append(write(key, sub))
        return alt(*found)

    def _region(self, shape: ObjectShape, matched: list[str]) -> Sub:
        sub: Sub = ANYTHING
        for text, wanted in shape.patterns:
            if text in matched:
                sub = algebra.joined(sub, wanted)
        for others in shape.others:
            if not any(text in matched for text in others.patterns):
                sub = algebra.joined(sub, others.sub)
        return sub

    def _other_key(self, key: StringShape, names: Sub, hint: str, styles: tuple[StringStyle, ...]) -> Expr:
        shapes = algebra.intersection(Shapes(strings=(key,)), self._reader.shapes(names)).strings
        path = self._reader.path(names)
        texts = [strings.language(shape, self._report, path) for shape in shapes if not strings.is_void(shape)]
        style = styles[0] if styles else StringStyle("", self._key_stop(), "none")
        if not styles:
            if self._is_bare():
                avoided = codepoints.complement(KEY_CHARACTERS)
                texts = [strings.Free(0, LONGEST_KEY) if text == strings.Free(0, None) else text for text in texts]
                return alt(*(strings.raw_avoiding(self._rules, f"{hint}-key", text, avoided) for text in texts))
            # The text that ends the key is written with the pair.
            stop = style.close.strip()[:1]
            avoided = codepoints.of(stop + "\n") if stop else SPACE
            return alt(*(strings.raw_avoiding(self._rules, f"{hint}-key", text, avoided) for text in texts))
        if style.escape == "none" and not style.close:
            # A bare key is a word.
            avoided = codepoints.complement(_WORD)
            return alt(*(strings.raw_avoiding(self._rules, f"{hint}-key", text, avoided) for text in texts))
        return alt(*(strings.quoted(self._rules, f"{hint}-key", text, (style,)) for text in texts))

    # Items

    def _items(self, shape: ArrayShape, sub: Sub, separator: Expr, write: Callable[[Sub], Expr]) -> Expr:
        path, hint = self._reader.path(sub), self._hint(sub)
        if shape.unique and (shape.high is None or shape.high > 1):
            self._report.looser("uniqueItems", path, "items may be equal")

        def item(wanted: Sub) -> Expr:
            return NEVER if self._reader.is_void(wanted) else write(wanted)

        if shape.contains:
            try:
                return self._with_contained(shape, shape.contains, hint, separator, item)
            except TooManyStates:
                self._report.looser("contains", path, "left out: counting would take too many rules")
        prefix = tuple(item(wanted) for wanted in shape.prefix)
        low, high = shape.low, shape.high
        if high is not None and low <= high and high > LARGEST_COUNT:
            self._report.looser("maxItems", path, f"ignored beyond {LARGEST_COUNT}")
            high = None
        if low > LARGEST_COUNT and high is None:
            self._report.looser("minItems", path, f"ignored beyond {LARGEST_COUNT}")
            low = LARGEST_COUNT
        return items(self._rules, hint, Items(prefix, item(shape.rest), separator, low, high))

    def _with_contained(
        self,
        shape: ArrayShape,
        contains: tuple[Contains, ...],
        hint: str,
        separator: Expr,
        write: Callable[[Sub], Expr],
    ) -> Expr:
        """Return items with states that count the place and the items of each wanted kind."""
        reader = self._reader
        last = max(len(shape.prefix), shape.low, shape.high or 0)
        caps = [wanted.low if wanted.high is None else wanted.high for wanted in contains]

        def moves(state: tuple[int, ...]) -> list[tuple[Expr, tuple[int, ...]]]:
            place, counts = state[0], state[1:]
            if shape.high is not None and place == shape.high:
                return []
            here = algebra.item_at(shape, place)
            found: list[tuple[Expr, tuple[int, ...]]] = []
            for mask in range(1 << len(contains)):
                sub, after = here, [min(place + 1, last)]
                possible = True
                for index, wanted in enumerate(contains):
                    counted = bool(mask >> index & 1)
                    count = counts[index] + counted
                    possible = possible and (wanted.high is None or count <= wanted.high)
                    after.append(min(count, caps[index]))
                    if counted:
                        sub = algebra.joined(sub, wanted.sub)
                    elif wanted.high is not None:
                        sub = algebra.joined(sub, reader.opposite(wanted.sub))
                if possible:
                    found.append((write(sub), tuple(after)))
            return found

        def ends(state: tuple[int, ...]) -> bool:
            enough = all(count >= wanted.low for count, wanted in zip(state[1:], contains, strict=True))
            return enough and state[0] >= shape.low

        return machine(self._rules, hint, (0,) * (len(contains) + 1), moves, ends, separator)

    # Pairs

    def _key_stop(self) -> str:
        assert self._pairs is not None
        return text_behind(self._pairs.pair, "key")

    def _pair(self, key: Expr, sub: Sub, ends: tuple[str, ...]) -> Expr:
        """pair = the layout with this key; the type word goes with the value's type."""
        assert self._pairs is not None
        if not any(isinstance(item, Slot) and item.kind == "type" for item in self._pairs.pair):
            return self._filled(key, "", self._reader.shapes(sub), sub, ends)
        found = []
        for word, shapes in self._by_type_word(self._reader.shapes(sub)).items():
            found.append(self._filled(key, word, shapes, sub, ends))
        return alt(*found)

    def _by_type_word(self, shapes: Shapes) -> dict[str, Shapes]:
        words: dict[JsonType, str] = {word.type: word.word for word in self._dialect.types}
        integers = tuple(_integers(shape, whole=True) for shape in shapes.numbers if shape.integer is not False)
        others = tuple(_integers(shape, whole=False) for shape in shapes.numbers if shape.integer is not True)
        if words.get("integer", words.get("number")) == words.get("number"):
            integers, others = (), shapes.numbers
        found: dict[str, Shapes] = {}

        def add(kind: JsonType, part: Shapes) -> None:
            word = words.get(kind, words.get("number", "") if kind == "integer" else "")
            found[word] = algebra.union(found[word], part) if word in found else part

        if shapes.strings:
            add("string", Shapes(strings=shapes.strings))
        if integers:
            add("integer", Shapes(numbers=integers))
        if others:
            add("number", Shapes(numbers=others))
        if shapes.booleans:
            add("boolean", Shapes(booleans=shapes.booleans))
        if shapes.null:
            add("null", Shapes(null=True))
        if shapes.arrays:
            add("array", Shapes(arrays=shapes.arrays))
        if shapes.objects:
            add("object", Shapes(objects=shapes.objects))
        return found

    def _filled(self, key: Expr, word: str, shapes: Shapes, sub: Sub, ends: tuple[str, ...]) -> Expr:
        assert self._pairs is not None
        layout = self._pairs.pair
        found: list[Expr] = []
        keyed = False
        for index, item in enumerate(layout):
            if isinstance(item, Text):
                found.append(alt(*map(lit, self._variants(item.text))))
            elif item.kind == "key":
                found.append(key)
                keyed = True
            elif item.kind == "type":
                found.append(lit(word))
            else:
                closing = self._closing(layout[index + 1 :], key)
                if closing is None:
                    done = "left out: what closes a member repeats its name"
                    self._report.tighter("additionalProperties", self._reader.path(sub), done)
                    return NEVER
                closings = self._variants(closing) if closing.strip() else (closing,)
                values = [self._top(shapes, sub, word, one, ends, closings) for one in closings]
                # The text after the value is read with it.
                return seq(*found, alt(*values)) if keyed else NEVER
        return seq(*found)

    def _closing(self, rest: tuple[Text | Slot, ...], key: Expr) -> str | None:
        """Return the text that follows the value; None if it repeats a key that is not known."""
        found = ""
        for item in rest:
            if isinstance(item, Text):
                found += item.text
            else:
                name = _literal(key)
                if name is None:
                    return None
                found += name
        return found

    def _top(
        self, shapes: Shapes, sub: Sub, word: str, closing: str, ends: tuple[str, ...], closings: tuple[str, ...]
    ) -> Expr:
        """Return a whole argument value of the types that the type word allows, and the text that closes its pair."""
        if self._is_too_deep(sub):
            sub = ANYTHING
            shapes = self._reader.shapes(sub)
        style = self._dialect.top
        if style.strings:
            return seq(self._once(("top", sub, word), sub, lambda: self._value(shapes, sub, "top")), lit(closing))
        if not closing:
            return self._bare(shapes, sub, word, ends)
        found: list[Expr] = []
        if shapes.strings:
            others = tuple(one.strip() for one in closings if not closing.strip().endswith(one.strip()))
            key = ("raw", sub, word, closing, others)
            found.append(self._once(key, sub, lambda: self._raw(shapes, sub, word, closing, others)))
        if self._is_any_text(shapes, sub):
            # Anything else here is text as well.
            return alt(*found)
        if shapes != Shapes(strings=shapes.strings):
            # Without what closes it, so that values that are alike are one rule.
            more = self._once(("others", sub, word), sub, lambda: alt(*self._others_than_raw(shapes, sub)))
            found.append(seq(more, lit(closing)))
        return alt(*found)

    def _is_any_text(self, shapes: Shapes, sub: Sub) -> bool:
        return sub == ANYTHING and shapes.strings == (StringShape(),) and self._dialect.elements is None

    def _bare(self, shapes: Shapes, sub: Sub, word: str, ends: tuple[str, ...]) -> Expr:
        """Return a raw value that only the text after it ends."""
        assert self._pairs is not None
        found = self._others_than_strings(shapes, sub)
        if shapes.arrays or shapes.objects:
            done = "a list or an object may contain the text that ends a value"
            self._report.looser("type", self._reader.path(sub), done)
        next_pair = (self._pairs.separator + self._pair_opening(), self._key_stop())
        around = Around(next_pair, self._only_keys(), self._call_closer, self._after_call)
        allowed = self._rules.kept(around, partial(text_before, self._pairs.following, around))
        for shape in shapes.strings:
            path = self._reader.path(sub)
            texts = self._texts(shape, shapes, sub, word)
            self._report.tighter("type", path, "text can't contain the text that ends a value")
            found.append(strings.raw_within(self._rules, self._hint(sub), texts, allowed, _firsts(ends)))
        return alt(*found)

    def _is_bare(self) -> bool:
        """Return whether only the text after it ends a pair's value."""
        assert self._pairs is not None
        return not self._dialect.top.strings and self._pairs.pair[-1] == Slot("value")

    def _only_keys(self) -> tuple[str, ...] | None:
        """Return the keys if the parser knows that there are no others; otherwise None."""
        schema = self._reader.document.root.schema
        keys = keys_of(schema, schema)
        return None if keys is None else tuple(sorted(keys))

    def _texts(self, shape: StringShape, shapes: Shapes, sub: Sub, word: str) -> strings.Language:
        """Return the raw texts of the shape, without texts that would be read as a wrong value of another type."""
        path = self._reader.path(sub)
        texts = strings.language(shape, self._report, path)
        types = readings.restricted(shapes) & self._types_tried(sub, word)
        if not types:
            return texts
        spelled = self._spelling()
        allowed = self._rules.kept((types, spelled), lambda: readings.text_only(types, spelled))
        only, exact = strings.within(texts, allowed)
        if exact:
            self._report.tighter("type", path, f"text can't look like {' or '.join(sorted(types))}")
        else:
            self._report.looser("type", path, f"text may be read as {' or '.join(sorted(types))}")
        return only

    def _types_tried(self, sub: Sub, word: str) -> frozenset[str]:
        """Return the types as which a parser tries to read a value; integers count as numbers."""
        schema = self._reader.schema(sub)
        types = None if schema is None else types_of(schema, self._reader.document.root.schema)
        stated = frozenset(entry.type for entry in self._dialect.types if entry.word == word)
        if stated:
            types = (types or stated) & stated or stated
        if types is None:
            return frozenset(("null", "boolean", "number", "array", "object"))
        return frozenset("number" if name == "integer" else name for name in types if name != "string")

    def _spelling(self) -> readings.WordSpelling:
        top, elements = self._dialect.top, self._dialect.elements
        words = (("boolean", top.true), ("boolean", top.false), *([("null", top.null)] if top.null else []))
        if elements is None:
            return readings.WordSpelling(words)
        return readings.WordSpelling(words, elements.item_open, self._pair_opening())

    def _pair_opening(self) -> str:
        assert self._pairs is not None
        return text_at(self._pairs.pair, 0)

    def _others_than_strings(self, shapes: Shapes, sub: Sub) -> list[Expr]:
        found = [self._object(shape, sub, "top") for shape in shapes.objects]
        found += [self._array(shape, sub, "top") for shape in shapes.arrays]
        return found + self._scalars(shapes, sub, self._dialect.top)

    def _raw(self, shapes: Shapes, sub: Sub, word: str, closing: str, others: tuple[str, ...]) -> Expr:
        """Return unquoted text with the text that closes it, without text that would be read as another value."""
        core = closing.rstrip()
        stop, after = stop_at(core or closing), lit(closing[len(core) :] if core else "")
        hint = self._hint(sub)
        wrap = self._dialect.wrap
        found = []
        for shape in shapes.strings:
            texts = self._texts(shape, shapes, sub, word)
            without = strings.counts_without(texts, stop)
            if without:
                done = f"text of counted length can't hold {without!r}"
                self._report.tighter("maxLength", self._reader.path(sub), done)
            forbidden = (wrap.open, *others) if wrap is not None else others
            found.append(seq(strings.raw_through(self._rules, hint, texts, stop, forbidden), after))
            if wrap is not None:
                whole = strings.language(shape, self._report, self._reader.path(sub))
                wrapped = seq(lit(wrap.open), strings.raw_through(self._rules, hint, whole, Stop("", wrap.close)))
                found.append(seq(wrapped, lit(closing)))
        return alt(*found)

    def _others_than_raw(self, shapes: Shapes, sub: Sub) -> list[Expr]:
        """Return the values of types other than text, in a pair that a marker closes."""
        if self._dialect.elements is None:
            return self._others_than_strings(shapes, sub)
        found = self._scalars(shapes, sub, self._dialect.top)
        found += [self._element_members(shape, sub) for shape in shapes.objects]
        return found + [self._element_items(shape, sub) for shape in shapes.arrays]

    def _element_members(self, shape: ObjectShape, sub: Sub) -> Expr:
        ends = ("", "")
        return self._members(shape, sub, EMPTY, lambda k, s: self._pair(k, s, ends))

    def _element_items(self, shape: ArrayShape, sub: Sub) -> Expr:
        elements = self._dialect.elements
        assert elements is not None

        def item(wanted: Sub) -> Expr:
            close = elements.item_close
            value = self._top(self._reader.shapes(wanted), wanted, "", close, ("",), (close,))
            return seq(lit(elements.item_open), value)

        return self._items(shape, sub, EMPTY, item)


_STRUCTURE = frozenset(
    {"properties", "$defs", "definitions", "items", "prefixItems", "anyOf", "oneOf", "allOf", *map(str, range(10))}
)
_WORD = codepoints.union(
    codepoints.span("0", "9"), codepoints.span("A", "Z"), codepoints.of("_-"), codepoints.span("a", "z")
)


_WHITE_SPACE = opt(alt(lit(" "), seq(lit("\n"), rep(Chars(codepoints.of("\t ")), 0, 80))))


def _firsts(texts: tuple[str, ...]) -> codepoints.Ranges:
    """Return the characters that raw text must not contain, so that its end is found: the first character of each
    text."""
    return codepoints.of("".join((text.strip() or text)[:1] for text in texts) + "\n")


def _literal(expr: Expr) -> str | None:
    return expr.text if isinstance(expr, Lit) else None


def _integers(shape: NumberShape, *, whole: bool) -> NumberShape:
    return replace(shape, integer=whole)


def _is_optional(body: Expr) -> bool:
    return isinstance(body, Rep) and body.low == 0


def _without_empty(body: Expr) -> Expr:
    if isinstance(body, Rep) and body.low == 0:
        return body.item if body.high == 1 else rep(body.item, 1, body.high)
    return body


def is_json(dialect: Dialect) -> bool:
    """Return whether an object of the dialect is JSON as any engine writes it."""
    return dialect.elements is None and all(map(_is_json_style, (dialect.in_list, dialect.in_object)))


def _is_json_style(style: ValueStyle) -> bool:
    marks = (style.list_open, style.list_separator, style.list_close, style.object_open, style.colon)
    words = (style.true, style.false, style.null, style.key_open, style.key_close)
    plain = (JSON_STYLE.true, JSON_STYLE.false, JSON_STYLE.null, '"', '"')
    # Beyond ASCII engines take characters, and no escapes.
    strings = [(string.open, string.close, string.escape) for string in style.strings if not string.ascii]
    return (
        [mark.strip() for mark in marks] == ["[", ",", "]", "{", ":"]
        and words == plain
        and strings == [('"', '"', "json")]
    )
