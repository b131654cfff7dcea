r"""Arguments in pairs: the layout of a pair with each key, and raw values up to what closes them.

{"properties": {"city": {"type": "string"}}}  →  "<p=city>" text-up-to-</p> "</p>"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tplc.grammars.dialect import readings
from tplc.grammars.dialect.bare import Around, text_before
from tplc.grammars.dialect.context import SchemaContext
from tplc.grammars.dialect.members import MemberRules, PairPlace
from tplc.grammars.dialect.values import Values, firsts, is_optional, without_empty
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.expressions import alt, lit, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Expr, Lit
from tplc.grammars.regular.until import Stop, stop_at
from tplc.grammars.schema import algebra, strings
from tplc.grammars.schema.shapes import (
    ANYTHING,
    ArrayShape,
    NumberShape,
    ObjectShape,
    Shapes,
    StringShape,
    Sub,
)
from tplc.ir.nodes import Dialect, JsonType, Slot, Text
from tplc.lower import PairForm
from tplc.lower.layouts import text_after, text_at
from tplc.lower.written import WrittenCalls
from tplc_runtime.schema import keys_of, types_of

VariantsOf = Callable[[str], tuple[str, ...]]


def place_of(pairs: PairForm, dialect: Dialect, written: WrittenCalls) -> PairPlace:
    """Return how values stand in these pairs."""
    followers = codepoints.of("".join(end.strip()[:1] for end in _ends_of(pairs, written)))
    is_bare = not dialect.top.strings and pairs.pair[-1] == Slot("value")
    # Of a text that no key contains, the first character is enough.
    avoided = codepoints.of(pairs.value_end.following.not_in_keys[:1]) if is_bare else ()
    return PairPlace(text_after(pairs.pair, "key"), followers, is_bare, avoided)


def _ends_of(pairs: PairForm, written: WrittenCalls) -> tuple[str, str]:
    """Return the texts that may come after a pair: before a further one, and after the last."""
    return pairs.separator, pairs.end + written.after_arguments or written.separator or written.section_end


class PairValues:
    """Writes arguments in pairs.  `after`: what may come after the call; `variants`: how else a marker may be written,
    itself first."""

    def __init__(
        self,
        context: SchemaContext,
        pairs: PairForm,
        written: WrittenCalls,
        after: tuple[str, ...],
        variants: VariantsOf,
    ) -> None:
        self._context = context
        self._rules = context.rules
        self._report = context.report
        self._dialect = context.dialect
        self._place = place_of(pairs, context.dialect, written)
        self._values = Values(context, self._place)
        self._members = MemberRules(context, self._place)
        self._pairs = pairs
        self._variants = variants
        self._call_closer = pairs.end + written.after_arguments
        self._after_call = after
        self._ends = _ends_of(pairs, written)

    def arguments(self, sub: Sub) -> Expr:
        """arguments = start pair (separator pair)* end | empty"""
        pairs, parts = self._pairs, []
        for shape in self._context.reader.shapes(sub).objects:
            body = self._members.members(shape, sub, lit(pairs.separator), self._pair)
            some = seq(lit(pairs.start), without_empty(body), lit(pairs.end))
            parts.append(alt(some, lit(pairs.empty)) if is_optional(body) else some)
            if body == EMPTY:
                parts[-1] = lit(pairs.empty)
        return alt(*parts)

    def _pair(self, key: Expr, sub: Sub) -> Expr:
        """Return the layout of a pair with this key; the type word agrees with the value's type."""
        if not any(isinstance(item, Slot) and item.kind == "type" for item in self._pairs.pair):
            return self._filled(key, "", self._context.reader.shapes(sub), sub)
        found = []
        for word, shapes in self._by_type_word(self._context.reader.shapes(sub)).items():
            found.append(self._filled(key, word, shapes, sub))
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

    def _filled(self, key: Expr, word: str, shapes: Shapes, sub: Sub) -> Expr:
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
                closing = None if closing is None else self._close_of(word) + closing
                if closing is None:
                    done = "left out: what closes a member repeats its name"
                    self._report.tighter("additionalProperties", self._context.reader.path(sub), done)
                    return NEVER
                closings = self._variants(closing) if closing.strip() else (closing,)
                values = [self._top(shapes, sub, word, one, closings) for one in closings]
                # The text after the value is read with it.
                return seq(*found, alt(*values)) if keyed else NEVER
        return seq(*found)

    def _close_of(self, word: str) -> str:
        """Return the text directly after a value with this type word."""
        return next((entry.close for entry in self._dialect.types if entry.word == word), "")

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

    def _top(self, shapes: Shapes, sub: Sub, word: str, closing: str, closings: tuple[str, ...]) -> Expr:
        """Return a whole argument value of the types that the type word allows, and the text that closes its pair."""
        if self._context.is_too_deep(sub):
            sub = ANYTHING
            shapes = self._context.reader.shapes(sub)
        style = self._dialect.top
        if style.strings:
            return seq(
                self._context.once(("top", sub, word), sub, lambda: self._values.of_shapes(shapes, sub, "top")),
                lit(closing),
            )
        if not closing:
            return self._bare(shapes, sub, word)
        found: list[Expr] = []
        if shapes.strings:
            others = tuple(one.strip() for one in closings if not closing.strip().endswith(one.strip()))
            key = ("raw", sub, word, closing, others)
            found.append(self._context.once(key, sub, lambda: self._raw(shapes, sub, word, closing, others)))
        if self._is_any_text(shapes, sub):
            # Anything else here is text as well.
            return alt(*found)
        if shapes != Shapes(strings=shapes.strings):
            # Without what closes it, so that values that are alike are one rule.
            more = self._context.once(("others", sub, word), sub, lambda: alt(*self._others_than_raw(shapes, sub)))
            found.append(seq(more, lit(closing)))
        return alt(*found)

    def _is_any_text(self, shapes: Shapes, sub: Sub) -> bool:
        return sub == ANYTHING and shapes.strings == (StringShape(),) and self._dialect.elements is None

    def _bare(self, shapes: Shapes, sub: Sub, word: str) -> Expr:
        """Return a raw value that only the text after it ends."""
        found = self._others_than_strings(shapes, sub)
        if shapes.arrays or shapes.objects:
            done = "a list or an object may contain the text that ends a value"
            self._report.looser("type", self._context.reader.path(sub), done)
        next_pair = (self._pairs.separator + self._pair_opening(), self._place.key_stop)
        around = Around(next_pair, self._only_keys(), self._call_closer, self._after_call)
        allowed = self._rules.kept(around, partial(text_before, self._pairs.value_end.following, around))
        for shape in shapes.strings:
            path = self._context.reader.path(sub)
            texts = self._texts(shape, shapes, sub, word)
            self._report.tighter("type", path, "text can't contain the text that ends a value")
            found.append(strings.raw_within(self._rules, self._context.hint(sub), texts, allowed, firsts(self._ends)))
        return alt(*found)

    def _only_keys(self) -> tuple[str, ...] | None:
        """Return the keys if the parser knows that there are no others; otherwise None."""
        schema = self._context.reader.document.root.schema
        keys = keys_of(schema, schema)
        return None if keys is None else tuple(sorted(keys))

    def _texts(self, shape: StringShape, shapes: Shapes, sub: Sub, word: str) -> strings.Language:
        """Return the raw texts of the shape, without texts that would be read as a wrong value of another type."""
        path = self._context.reader.path(sub)
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
        schema = self._context.reader.schema(sub)
        types = None if schema is None else types_of(schema, self._context.reader.document.root.schema)
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
        return text_at(self._pairs.pair, 0)

    def _others_than_strings(self, shapes: Shapes, sub: Sub) -> list[Expr]:
        found = [self._values.object(shape, sub, "top") for shape in shapes.objects]
        found += [self._values.array(shape, sub, "top") for shape in shapes.arrays]
        return found + self._values.scalars(shapes, sub, self._dialect.top)

    def _raw(self, shapes: Shapes, sub: Sub, word: str, closing: str, others: tuple[str, ...]) -> Expr:
        """Return unquoted text with the text that closes it, without text that would be read as another value."""
        core = closing.rstrip()
        stop, after = stop_at(core or closing), lit(closing[len(core) :] if core else "")
        hint = self._context.hint(sub)
        wrap = self._dialect.wrap
        found = []
        for shape in shapes.strings:
            texts = self._texts(shape, shapes, sub, word)
            without = strings.counts_without(texts, stop)
            if without:
                done = f"text of counted length can't hold {without!r}"
                self._report.tighter("maxLength", self._context.reader.path(sub), done)
            forbidden = (wrap.open, *others) if wrap is not None else others
            found.append(seq(strings.raw_ending_in(self._rules, hint, texts, stop, forbidden), after))
            if wrap is not None:
                whole = strings.language(shape, self._report, self._context.reader.path(sub))
                wrapped = seq(lit(wrap.open), strings.raw_ending_in(self._rules, hint, whole, Stop("", wrap.close)))
                found.append(seq(wrapped, lit(closing)))
        return alt(*found)

    def _others_than_raw(self, shapes: Shapes, sub: Sub) -> list[Expr]:
        """Return the values of types other than text, in a pair that a marker closes."""
        if self._dialect.elements is None:
            return self._others_than_strings(shapes, sub)
        found = self._values.scalars(shapes, sub, self._dialect.top)
        found += [self._element_members(shape, sub) for shape in shapes.objects]
        return found + [self._element_items(shape, sub) for shape in shapes.arrays]

    def _element_members(self, shape: ObjectShape, sub: Sub) -> Expr:
        return self._members.members(shape, sub, EMPTY, lambda k, s: self._pair(k, s))

    def _element_items(self, shape: ArrayShape, sub: Sub) -> Expr:
        elements = self._dialect.elements
        assert elements is not None

        def item(wanted: Sub) -> Expr:
            close = elements.item_close
            value = self._top(self._context.reader.shapes(wanted), wanted, "", close, (close,))
            return seq(lit(elements.item_open), value)

        return self._members.items(shape, sub, EMPTY, item)


def _literal(expr: Expr) -> str | None:
    return expr.text if isinstance(expr, Lit) else None


def _integers(shape: NumberShape, *, whole: bool) -> NumberShape:
    return replace(shape, integer=whole)
