r"""Members of objects and items of arrays: which come, in which order, and how their keys are written.

{"properties": {"a": …, "b": …}, "required": ["a"]}  →  a ("," b)?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tplc.grammars.dialect.bare import KEY_CHARACTERS
from tplc.grammars.dialect.context import SchemaContext
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
from tplc.grammars.regular.expressions import alt, lit, seq
from tplc.grammars.regular.nodes import NEVER, Expr
from tplc.grammars.regular.quoting import quoting_of
from tplc.grammars.regular.repetitions import LARGEST_COUNT
from tplc.grammars.regular.until import SPACE
from tplc.grammars.schema import algebra, strings
from tplc.grammars.schema.shapes import (
    ANYTHING,
    ArrayShape,
    Contains,
    NamePattern,
    ObjectShape,
    Shapes,
    StringShape,
    Sub,
)
from tplc.ir.nodes import StringStyle, ValueStyle
from tplc_runtime.pattern import LONGEST_KEY

# What may come after a nested string.
AFTER_NESTED = codepoints.of(",]}):")
_MOST_PATTERNS = 3
_WORD = codepoints.union(
    codepoints.span("0", "9"), codepoints.span("A", "Z"), codepoints.of("_-"), codepoints.span("a", "z")
)


@dataclass(frozen=True, slots=True)
class PairPlace:
    """How values stand in pairs: what ends a key, what may follow a value, whether nothing else closes it, and which
    characters no key that may be any contains."""

    key_stop: str = ""
    followers: codepoints.Ranges = AFTER_NESTED
    is_bare: bool = False
    not_in_keys: codepoints.Ranges = ()


class MemberRules:
    """Writes the members of objects and the items of arrays; the caller says how each of them is written."""

    def __init__(self, context: SchemaContext, place: PairPlace) -> None:
        self._context = context
        self._rules = context.rules
        self._report = context.report
        self._dialect = context.dialect
        self._reading = context.reading
        self._place = place

    def members(
        self,
        shape: ObjectShape,
        sub: Sub,
        separator: Expr,
        write: Callable[[Expr, Sub], Expr],
        key_styles: tuple[StringStyle, ...] = (),
    ) -> Expr:
        reader, hint, path = self._context.reader, self._context.hint(sub), self._context.reader.path(sub)
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
            stop = self._place.key_stop.strip()
            if self._place.is_bare and not (
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

    def key_styles(self, style: ValueStyle) -> tuple[StringStyle, ...]:
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
            if self._context.reader.is_void(sub):
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
        shapes = algebra.intersection(Shapes(strings=(key,)), self._context.reader.shapes(names)).strings
        path = self._context.reader.path(names)
        texts = [strings.language(shape, self._report, path) for shape in shapes if not strings.is_void(shape)]
        style = styles[0] if styles else StringStyle("", self._place.key_stop, "none")
        if not styles:
            if self._place.is_bare:
                avoided = codepoints.union(codepoints.complement(KEY_CHARACTERS), self._place.not_in_keys)
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

    def items(self, shape: ArrayShape, sub: Sub, separator: Expr, write: Callable[[Sub], Expr]) -> Expr:
        path, hint = self._context.reader.path(sub), self._context.hint(sub)
        if shape.unique and (shape.high is None or shape.high > 1):
            self._report.looser("uniqueItems", path, "items may be equal")

        def item(wanted: Sub) -> Expr:
            return NEVER if self._context.reader.is_void(wanted) else write(wanted)

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
        reader = self._context.reader
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
