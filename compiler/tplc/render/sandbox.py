"""The sandboxed Jinja environment of chat templates, set up as in `apply_chat_template`.

    {{- messages[0] | tojson(indent=2) }}{% generation %}…{% endgeneration %}{{ strftime_now("%Y") }}

Attributes that begin with an underscore and code objects are out of reach, `format` is the sandbox's, nothing is loaded
or imported, operators that blow up small operands are bounded.  In one thing this is laxer than
`apply_chat_template`: lists and objects may be changed (`messages.append(…)`), for each render gets its own copies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn, cast

from jinja2 import BaseLoader, Environment, nodes, pass_eval_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace

from tplc.render.limits import Limits

# Every field of the clock differs from the others, so that a date in a render shows which field it came from.
CLOCK = datetime(2025, 8, 21, 17, 43, 9)

_PLAIN = frozenset([str, dict, list, Namespace, LoopContext, Context])

_METHODS = frozenset(dir(dict))

# Templates add these to strings without asking whether they are defined.
SPECIAL_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")


class Refused(Exception):
    """The template called raise_exception."""


class OverLimit(Exception):
    """An operation that would take too much."""

    def __init__(self, limit: str, value: object) -> None:
        super().__init__(limit, value)
        self.limit = limit
        self.value = str(value)


def make_environment(limits: Limits) -> Environment:
    environment = ChatEnvironment(limits)
    environment.filters["tojson"] = _tojson
    environment.filters["from_json"] = json.loads
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    environment.globals["range"] = environment.bounded_range
    return environment


class ChatEnvironment(SandboxedEnvironment):
    # Intercepted operators are also not folded while the template is compiled.
    intercepted_binops = frozenset(["*", "**", "%"])

    def __init__(self, limits: Limits) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols], loader=NoTemplates()
        )
        self.limits = limits

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        if operator == "**":
            self._check_power(left, right)
        elif operator == "*":
            self._check_product(left, right)
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: object, attribute: str) -> object:
        """Return the attribute as Jinja does. The key of a message, by far the most frequent case, is found without a
        failing search."""
        if type(obj) is dict and attribute not in _METHODS:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        # Only functions, types, frames and generators have internals without an underscore; most asked are none.
        if type(obj) in _PLAIN:
            return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)

    def unsafe_undefined(self, obj: object, attribute: str) -> NoReturn:
        # Jinja would print it as nothing; an error is more useful to the template's author.
        raise SecurityError(f"access to attribute {attribute!r} of {type(obj).__name__!r} object is unsafe")

    def bounded_range(self, *args: int) -> range:
        items = range(*args)
        # len() of a range beyond the machine's integers raises; its ends do not.
        if items and abs(items[-1] - items[0]) // abs(items.step) >= self.limits.range_items:
            raise OverLimit("range_items", self.limits.range_items)
        return items

    def _check_power(self, base: object, exponent: object) -> None:
        if isinstance(base, int) and isinstance(exponent, int):
            self._check_bits(base.bit_length() * max(exponent, 0))

    def _check_product(self, left: object, right: object) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() + right.bit_length())
        for items, times in ((left, right), (right, left)):
            if isinstance(items, (str, list, tuple)) and isinstance(times, int):
                self._check_length(items, times)

    def _check_bits(self, bits: int) -> None:
        if bits > self.limits.number_bits:
            raise OverLimit("number_bits", self.limits.number_bits)

    def _check_length(self, items: Sequence[object], times: int) -> None:
        if len(items) * times > self.limits.output_chars:
            raise OverLimit("output_chars", self.limits.output_chars)


class NoTemplates(BaseLoader):
    def get_source(self, environment: Environment, template: str) -> NoReturn:
        raise SecurityError(f"a chat template cannot load another template: {template!r}")


class GenerationTag(Extension):
    """{% generation %}…{% endgeneration %} marks what the assistant wrote; here it only renders its body."""

    tags = {"generation"}  # noqa: RUF012 - as the base class declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # A call block, as in apply_chat_template: what is set inside is not seen outside.
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    @pass_eval_context
    def _render(self, _context: nodes.EvalContext, caller: Callable[[], str]) -> str:
        text = caller()
        _generated.ranges.append((_generated.written, _generated.written + len(text)))
        return text


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: object) -> NoReturn:
    raise Refused(str(message))


def set_clock(moment: datetime) -> list[str]:
    """Set the clock to this moment; the returned list collects every time that the clock shows."""
    _clock.moment, _clock.shown = moment, []
    return _clock.shown


def note_written(characters: int) -> None:
    """Note that so many characters were written to the stream: a generation block begins after them, as transformers
    counts."""
    _generated.written += characters


def take_generated() -> list[tuple[int, int]]:
    """Return the characters of the generation blocks since the last call, and start counting again."""
    ranges = _generated.ranges
    _generated.ranges, _generated.written = [], 0
    return ranges


@dataclass(slots=True)
class _Generated:
    ranges: list[tuple[int, int]] = field(default_factory=list)
    written: int = 0


_generated = _Generated()


@dataclass(slots=True)
class _Clock:
    moment: datetime = CLOCK
    shown: list[str] = field(default_factory=list)


_clock = _Clock()


def _strftime_now(format: object) -> str:
    text = _clock.moment.strftime(cast(str, format))
    _clock.shown.append(text)
    return text
