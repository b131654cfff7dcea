r"""Shapes as text in the template's dialect.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    in JSON            →  "{" ws "\"city\":" ws string ws "}"
    in bare keys       →  "{city:" "<q>" text-up-to-<q> "}"
    in tagged pairs    →  "<p=city>" text-up-to-</p>

One walk serves all dialects: a schema's shapes say what is allowed, `Values` how it is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tplc.grammars.dialect.context import SchemaContext
from tplc.grammars.dialect.members import AFTER_NESTED, MemberRules, PairPlace
from tplc.grammars.dialect.number_values import NumberPlace, number
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.expressions import alt, lit, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Chars, Expr, Lit, Rep
from tplc.grammars.schema import strings
from tplc.grammars.schema.shapes import (
    ANYTHING,
    ArrayShape,
    NamePattern,
    NumberShape,
    ObjectShape,
    Shapes,
    StringShape,
    Sub,
    only,
)
from tplc.ir.nodes import JSON_STYLE, Dialect, ValueStyle

Where = Literal["top", "list", "object"]
_WHITE_SPACE = opt(alt(lit(" "), seq(lit("\n"), rep(Chars(codepoints.of("\t ")), 0, 80))))


class Values:
    """Writes values between the delimiters of the dialect."""

    def __init__(self, context: SchemaContext, place: PairPlace | None = None) -> None:
        self._context = context
        self._rules = context.rules
        self._report = context.report
        self._dialect = context.dialect
        self._reading = context.reading
        self._place = place or PairPlace()
        self._members = MemberRules(context, self._place)

    def arguments(self, sub: Sub) -> Expr:
        """arguments = one object of the dialect"""
        shapes = only(self._context.reader.shapes(sub), ("object",))
        return self._context.once(("arguments", sub), sub or (-1,), lambda: self.of_shapes(shapes, sub, "object"))

    def value(self, sub: Sub, where: Where) -> Expr:
        """Return a value as it is between delimiters."""
        return self._context.once(
            ("value", sub, where), sub, lambda: self.of_shapes(self._context.reader.shapes(sub), sub, where)
        )

    def _style(self, where: Where) -> ValueStyle:
        return {
            "top": self._dialect.top,
            "list": self._dialect.in_list,
            "object": self._dialect.in_object,
        }[where]

    def of_shapes(self, shapes: Shapes, sub: Sub, where: Where) -> Expr:
        """Return a value of one of these shapes, which are those of `sub` or some of them."""
        if self._context.is_too_deep(sub):
            return self.value(ANYTHING, where)
        style = self._style(where)
        found = [self.object(shape, sub, where) for shape in shapes.objects]
        found += [self.array(shape, sub, where) for shape in shapes.arrays]
        found += [self._string(shape, sub, where) for shape in shapes.strings]
        found += self.scalars(shapes, sub, style)
        return alt(*found)

    def scalars(self, shapes: Shapes, sub: Sub, style: ValueStyle) -> list[Expr]:
        found = [self._number(shape, sub) for shape in shapes.numbers]
        found += [lit(style.true if value else style.false) for value in shapes.booleans]
        if shapes.null and style.null is not None:
            found.append(lit(style.null))
        return found

    def _number(self, shape: NumberShape, sub: Sub) -> Expr:
        place = NumberPlace(self._context.hint(sub), self._context.reader.path(sub))
        return number(self._rules, self._report, shape, place, plain=self._reading.plain_integers)

    def _string(self, shape: StringShape, sub: Sub, where: Where) -> Expr:
        style = self._style(where)
        named = shape.patterns[:1] if shape == StringShape(patterns=shape.patterns[:1]) else ()
        if style.strings and named and named[0].is_format:
            # Formats are long and shared.
            return self._rules.kept((named[0].text, style.strings), lambda: self._format(named[0], style))
        texts = strings.language(shape, self._report, self._context.reader.path(sub))
        if style.strings:
            followers = self._place.followers if where == "top" else AFTER_NESTED
            return strings.quoted(self._rules, self._context.hint(sub), texts, style.strings, followers)
        around = (style.list_separator, style.list_close, style.object_separator, style.object_close)
        self._report.tighter("type", self._context.reader.path(sub), "text without the characters that end it")
        return strings.raw_avoiding(self._rules, self._context.hint(sub), texts, firsts(around))

    def _format(self, pattern: NamePattern, style: ValueStyle) -> Expr:
        texts = strings.language(StringShape(patterns=(pattern,)), self._report, "#")
        whole = strings.quoted(self._rules, pattern.text, texts, style.strings, AFTER_NESTED)
        return self._rules.library(pattern.text, whole)

    def object(self, shape: ObjectShape, sub: Sub, where: Where) -> Expr:
        inner: Where = "object" if where == "top" else where
        style = self._style(where)
        colon = self._after(style.colon, style)

        def member(key: Expr, value: Sub) -> Expr:
            return seq(key, colon, self.value(value, inner))

        separator = self._after(style.object_separator, style)
        body = self._members.members(shape, sub, separator, member, self._members.key_styles(style))
        if body == NEVER:
            return NEVER
        whole = self._enclosed(style.object_open, body, style.object_close, style)
        return self._rules.library("object", whole) if sub == ANYTHING else whole

    def array(self, shape: ArrayShape, sub: Sub, where: Where) -> Expr:
        inner: Where = "list" if where == "top" else where
        style = self._style(where)
        separator = self._after(style.list_separator, style)
        body = self._members.items(shape, sub, separator, lambda item: self.value(item, inner))
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
        if is_optional(body):
            body = opt(seq(without_empty(body), space))
        else:
            body = seq(body, space)
        return seq(lit(opened.strip()), space, body, lit(closed.strip()))

    def _after(self, text: str, style: ValueStyle) -> Expr:
        """Return a separator, and optional white space after it if the dialect allows that."""
        return seq(lit(text.strip()), self._space()) if self._relaxed(style) else lit(text)

    def _relaxed(self, style: ValueStyle) -> bool:
        """Return whether white space is optional between parts: the punctuation is JSON's, and all else is quoted."""
        if self._place.is_bare:
            # White space may be what ends a value.
            return False
        cores = [
            text.strip()
            for text in (style.list_open, style.list_separator, style.list_close, style.object_open, style.colon)
        ]
        return cores == ["[", ",", "]", "{", ":"] and bool(style.strings) and bool(style.key_open)

    def _space(self) -> Expr:
        return self._rules.kept("ws", lambda: self._rules.library("ws", _WHITE_SPACE))


def firsts(texts: tuple[str, ...]) -> codepoints.Ranges:
    """Return the characters that raw text must not contain, so that its end is found: the first character of each
    text."""
    return codepoints.of("".join((text.strip() or text)[:1] for text in texts) + "\n")


def _literal(expr: Expr) -> str | None:
    return expr.text if isinstance(expr, Lit) else None


def _integers(shape: NumberShape, *, whole: bool) -> NumberShape:
    return replace(shape, integer=whole)


def is_optional(body: Expr) -> bool:
    return isinstance(body, Rep) and body.low == 0


def without_empty(body: Expr) -> Expr:
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
