"""The rules of raw values: any text, up to what ends it; where it reads as JSON, it is that.

"<v>" VALUE "</v>"
→  argument_value  = typed_value / raw_text
   typed_value     = ~r"[ \\t\\r\\n]*+"s (object_for_argument / … / scalar) ~r"[ \\t\\r\\n]*?(?=</v>|\\Z)"s
   raw_text        = ~r".*?(?=</v>|\\Z)"s

A value between texts that depend on its type is one of the choices: TypeWrap("<lit>", "</lit>", ("integer", …), …)
→  wrapped_value_for_2 = type_for_wrap_2 (typed_value_for_wrap_2 / raw_text_for_wrap_2) (wrap_close_for_2 / cut)
   type_for_wrap_2     = type_integer_… ""
   type_integer_…      = ~r"\\s*+<lit>"s
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.patterns import (
    cores,
    either,
    leaf,
    literal,
    marker,
    marker_core,
    of_kinds,
    some_prefix,
    some_suffix,
)
from tplc.backends.peg.rules import Rule, rule, sequence
from tplc.backends.peg.values import SPACE, list_rules, list_suffix, object_rules, value_rules
from tplc.ir.markers import is_distinctive, lead_of
from tplc.ir.nodes import JSON_STYLE, Dialect, Elements
from tplc.ir.spellings import WORDS
from tplc.lower import Following, PairForm
from tplc.lower.bounds import CALL_NAME
from tplc.lower.call_form import TypeWrap
from tplc.lower.following import any_key, closer_before_end, closes_call, name_of_call, pattern_of
from tplc.lower.garbled_values import garbled_end_of_value
from tplc.lower.lexemes import NOTHING, ONLY_RESPELLED, Lexeme, exact, group, lexeme_of
from tplc.lower.pairs import (
    around_key,
    between_pairs,
    closes_lost_value,
    ends_of_value,
    left_of_closer,
    value_ends_and_markers,
)
from tplc.lower.states import respelled_kinds
from tplc_runtime.guess import ODD_KEY, QUOTES
from tplc_runtime.pattern import NAME_LIMIT

KINDS = tuple(f"{kind}_for_argument" for kind in ("object", "list", *WORDS))
TYPED = " / ".join([*KINDS, "scalar"])
SCALARS = "object / list / true / false / null / scalar"
SPACES = leaf(r"\s*+")
LINE_END = r"\n?"  # before a call's closer that ends a value
WORD = re.compile(r"\w(?:\S*\w)?")
KEY_AGAIN = "(?P=next_key)"  # the key that was matched


class RawValues:
    """What ends the raw values of pairs.  `keys`: those of a tool, which show that another pair begins."""

    def __init__(self, form: FormPatterns, pairs: PairForm) -> None:
        self.form, self.pairs, self.dialect = form, pairs, form.dialect
        self.lexemes = between_pairs(pairs, respelled_kinds(form.acceptor))
        value, around = pairs.value, pairs.value_end.around_key
        self.closer = pairs.value_end.close
        # The key comes again after the value, as in closing tags.
        self.repeats = around is not None
        self.rest = around[1] if around is not None else ""
        # No marker of its own ends a raw value, in any form of it.
        self.guessed = value.guessed and value.items is None and value.wrap is None and not value.wraps
        self.own_ends = group(either([marker(text) for text in pairs.value_end.closers]))
        self.text = "raw_text" if self.dialect.elements is None else "element_text"
        self.all_keys = tuple(dict.fromkeys(one.name for tool in form.known.tools for one in tool.parameters))

    def cores_of(self, *kinds: str, only: Callable[[Lexeme], bool] | None = None) -> str:
        """Return the pattern of the markers of these kinds between pairs, where they are no key.  `only`: which."""
        keys = either([one.find for one in self.lexemes.all if one.kind == "key" and "key" not in kinds])
        chosen = [one for one in self.lexemes.all if one.kind in kinds and (only is None or only(one))]
        found = group(either([one.find for one in chosen]))
        return f"(?!{keys}){found}" if keys and found else found

    # Rules

    def rules(self) -> list[Rule]:
        if self.dialect.elements is not None:
            return self._element_rules(self.dialect.elements)
        value, typed, text = self._value_rules("", ())
        suffix, wraps = "_for_argument", WrapRules(self)
        wrapped = [*wraps.rules(), *wraps.type_rules()]
        if self.pairs.value.wrap:
            opened, close = leaf(SPACE + exact(self.pairs.value.wrap[0])), self.pairs.value.wrap[1]
            wrapped = [
                rule("wrapped_text", f"{opened} plain_text_for_wrap ({literal(close)} / cut)"),
                rule("plain_text_for_wrap", leaf(rf".*?(?={exact(close)}|\Z)")),
            ]
        kinds = [
            *object_rules(self.dialect.top, suffix, ""),
            *list_rules(self.dialect.top, suffix, list_suffix(self.dialect)),
            *self._word_rules(suffix),
        ]
        return [value, *wrapped, typed, *kinds, text]

    def rules_of_tool(self, place: str, keys: Sequence[str]) -> list[Rule]:
        """Return the same for the values of one tool, which its keys end as well."""
        rules, next_pair = list(self._value_rules(place, keys)), self._next_pair(keys)
        if self._wraps_end_by_pairs:
            rules += WrapRules(self, next_pair, place).rules()
        return rules + [rule(f"next_argument{place}", leaf(f"(?={next_pair})"))] * (not self.guessed)

    @property
    def free_text(self) -> str:
        """Return the pattern of text in which no marker ends a value, as short as possible."""
        return f"(?:(?!{self.form.breaks}).)*?" if self.form.breaks else ".*?"

    @property
    def _wraps_end_by_pairs(self) -> bool:
        return self.pairs.types_open_pairs and self.pairs.value_end.next_pair is not None

    def _value_rules(self, place: str, keys: Sequence[str]) -> list[Rule]:
        next_pair = "" if self.guessed else self._next_pair(keys)
        garbled = self._garbled(one_of(keys) or NOTHING, either([next_pair, self.call_closes]))
        close = either([self._typed_stop(keys), garbled, next_pair])
        of_place, wraps = place * self._wraps_end_by_pairs, [*enumerate(self.pairs.value.wraps, 1)]
        wrapped = [f"wrapped_value_for_{number}{of_place}" for number, wrap in wraps if wrap.opened]
        wrapped = ["wrapped_text"] if self.pairs.value.wrap else wrapped
        # A value that is bare may be of some types only.
        of_type = next((f"type_for_wrap_{number}" for number, wrap in wraps if not wrap.opened), "")
        bare = [sequence(of_type, f"{way}{place}") for way in ("typed_value", "raw_text")]
        return [
            rule(f"argument_value{place}", *wrapped, *bare),
            rule(f"typed_value{place}", self._typed_value(close)),
            rule(f"raw_text{place}", leaf(self._raw_text(keys, next_pair))),
        ]

    def bare_rules(self, place: str, following: Following, keys: Sequence[str]) -> list[Rule]:
        """Return a value that is written without the quotes that the template puts around every value."""
        tool, key = self._tool_names(), one_of(keys) or any_key(following)
        follow = f"(?={pattern_of(following, over=True, key=key, tool=tool)})"
        string = _string_before(QUOTES, pattern_of(following, over=True, tool=tool))
        return [
            rule(f"argument_value{place}", f"typed_value{place}", f"raw_text{place}"),
            rule(f"typed_value{place}", self._typed_value(follow)),
            rule(f"raw_text{place}", leaf(rf"{string}.*?(?={follow}|\Z)")),
        ]

    def _typed_value(self, close: str) -> str:
        typed = f"{leaf(SPACE)} ({TYPED}) {_space_before(close)}"
        return sequence(self._own_close_next(), typed)

    def _word_rules(self, suffix: str) -> list[Rule]:
        texts = [self.closer, *self.pairs.value_end.closers]
        texts += [text for wrap in self.pairs.value.wraps if wrap.around_key is None for text in wrap.ends]
        # A closer may begin with characters that numbers and words consist of.
        ends = either([marker_core(text) for text in dict.fromkeys(texts) if re.match(r"\s*[-+.\w]", text)])
        rules, more = [], (f"(?!{ends})" if ends else "") + r"[-+.\w]"
        for word, usual in WORDS.items():
            others = usual if "python_literals" in self.form.acceptor.tolerances else ()
            words = dict.fromkeys([getattr(self.dialect.top, word) or "", *others])
            pattern = either([exact(each) for each in words if each])
            rules.append(rule(f"{word}{suffix}", leaf(f"(?:{pattern})(?!{more})")))
        return [*rules, rule("scalar", leaf(rf"[-+.0-9](?:{more})*+" if ends else rf"[-+.0-9]{more}*+"))]

    def _element_rules(self, elements: Elements) -> list[Rule]:
        """Lists and objects are elements inside the value."""
        item_open, item_close = marker_core(elements.item_open), marker_core(elements.item_close)
        nested, over = "(list_of_items / object_of_arguments)", leaf(item_close)
        scalar = f"{leaf(SPACE)} ({SCALARS}) {_space_before(self._typed_stop())}"
        return [
            rule(
                "argument_value",
                f"{nested} &value_close",
                "scalar_value",
                "element_text &value_close",
                f"{nested} cut",
                "element_text",
            ),
            rule("list_of_items", f"({SPACES} item)+ {SPACES}"),
            rule("item", f"{leaf(item_open)} item_value ({over} / cut)"),
            rule(
                "item_value",
                f"{nested} (&{over} / cut)",
                f"scalar_item &{over}",
                leaf(rf".*?(?={item_close}|\Z)"),
            ),
            rule("scalar_item", f"{SPACES} ({SCALARS}) {SPACES}"),
            rule("object_of_arguments", f"({SPACES} argument)+ {SPACES}"),
            rule("scalar_value", sequence(self._own_close_next(), scalar)),
            *self._word_rules(""),
            *value_rules(JSON_STYLE, Dialect(JSON_STYLE, JSON_STYLE, JSON_STYLE)),
            rule("element_text", leaf(self._raw_text())),
        ]

    # What ends a value

    def close_rules(self) -> list[Rule]:
        garbled = self._garbled(one_of(self.all_keys) or NOTHING, self._after_value(self.all_keys))
        close = either([self._close(self.all_keys), garbled])
        rules = [rule("value_close", leaf(close))] if self.closer.strip() else []
        return rules + [rule("missing_closer_for_call", "&" + leaf(self.call_closes))] * bool(self.call_closes)

    def closes(self, place: str = "") -> list[str]:
        """Return the rules of what may come after a value, in the order in which they are tried."""
        by_pair = [f"next_argument{place}"] if place and not self.guessed else []
        lost = ["missing_closer_for_call"] if self.call_closes else []
        # A value that is wrapped has its end already.
        return ["value_close", *lost, *by_pair, "cut", *['""'] * bool(self.pairs.value.wrap)]

    @property
    def call_closes(self) -> str:
        """Return the call's closer and the text after it, which end a raw value without its own end."""
        following = closes_lost_value(self.pairs, self.form.acceptor.tolerances)
        if following is None or self.pairs.value.items is not None:
            return ""
        return LINE_END + closes_call(following, begun=False)

    def _close(self, keys: Sequence[str] = ()) -> str:
        if self.repeats:
            # A key that no schema has doesn't contain the text before it: that would be another closer.
            char = rf"(?!{marker_core(self.closer)})[^\n]"
            key = either([*map(exact, keys), rf"(?:{char}){{0,{NAME_LIMIT}}}?"])
            return rf"{marker(self.closer)}{group(key)}{marker(self.rest)}"
        if self.pairs.value_end.closers:
            return group(either([self.own_ends, self._respelled_closers(keys)]))
        # A closer that values hold as well counts only before what may follow it.
        if is_distinctive(self.closer) and not self.pairs.value.guessed:
            return marker(self.closer)
        # Keys of a schema may have characters that no other key has.
        odd = one_of([key for key in keys if ODD_KEY.fullmatch(key)])
        return self._guess(key=f"(?:{odd}|{self._any_key()})" if odd else "")

    def _any_key(self) -> str:
        return any_key(self.pairs.value_end.following)

    def _guess(self, keys: Sequence[str] = (), key: str = "") -> str:
        tool, following = self._tool_names(), self.pairs.value_end.following
        key, name = key or one_of(keys) or self._any_key(), tool or CALL_NAME
        names = name_of_call(following, name), name
        follow = pattern_of(following, over=True, key=key, names=names, tool=tool)
        return f"{closer_before_end(self.closer)}(?={follow})"

    def _tool_names(self) -> str:
        return one_of([tool.name for tool in self.form.known.tools])

    def _respelled_closers(self, keys: Sequence[str]) -> str:
        """Return the closer of a raw value in another spelling: before the next pair, which may lack its opener if the
        schema has its key, or the end of the call."""
        found = of_kinds(ends_of_value(self.pairs, respelled_kinds(self.form.acceptor)), (ONLY_RESPELLED,))
        return rf"{found}(?=\s*+(?:{self._after_value(keys)}))" if found else ""

    def _after_value(self, keys: Sequence[str]) -> str:
        """Return the markers between pairs, and the keys of the schema in pairs without their opener."""
        after = [one.find for one in self.lexemes.all]
        if self.pairs.value_end.next_pair is not None and self.form.reads_again and around_key(self.pairs):
            after += [exact(key) + marker_core(self.pairs.value_end.next_pair[1]) for key in keys]
        return either(after)

    def _garbled(self, key: str, after: str, own: str = "") -> str:
        """Return a garbled closer of a value, also with this key, before these texts.  `own`: the value's own
        closers."""
        garbled = garbled_end_of_value(self.form.acceptor, key)
        if garbled is None or not after:
            return ""
        return rf"{LINE_END}(?!\W{{0,8}}{own or self.own_ends}){garbled.pattern}(?=\s*?(?:{after}))"

    def wrap_garbled(self, own: str, next_pair: str) -> str:
        """Return the closer of another type, or a garbled one, before the next pair or the end of the call."""
        after = self._after_value(self.all_keys) if not next_pair else either([next_pair, self.call_closes])
        return self._garbled(one_of(self.all_keys) or NOTHING, after, own)

    def _typed_stop(self, keys: Sequence[str] = ()) -> str:
        """Return the end of a value that isn't text; a text continues if a later closer counts."""
        if self.guessed:
            return self._guess(keys)
        only = self.only_closer(self.own_ends, keys) if not self.repeats else ""
        close = [self.own_ends + only, self._respelled_closers(keys)] if only else [self._close(keys)]
        return group(either([*close, self.call_closes]))

    def _raw_text(self, keys: Sequence[str] = (), next_pair: str = "") -> str:
        """Return a raw value up to its end; no pair ends it if it quotes a call."""
        if self.guessed:
            # A string in quotes that a value is goes up to anything that may follow it, also a key that no schema has.
            string = _string_before(self.pairs.value.literals, self._guess())
            return rf"{string}.*?(?={self._guess(keys)}|\Z)"
        if self.repeats:
            # The closing marker is the one with the same key.
            own = rf"{marker(self.closer)}\1{marker_core(self.rest)}"
            return rf"{self._key_before()}.*?(?={either([own, self.call_closes])}|\Z)" + self.later_closer(own)
        own, garbled = self._close(keys), partial(self._garbled, r"\1")
        ends = group(either([own, garbled(self.call_closes), self.call_closes]))
        text = rf".*?(?={ends}|\Z)"
        own_key = rf"(?:(?<={self.text_before_value()}\s*))?" if garbled(".") else ""
        later = self.later_closer(self.own_ends, keys) if self.pairs.value_end.closers else ""
        if not next_pair:
            return own_key + text + later
        free = self.free_text
        return f"{own_key}(?:{free}(?={either([ends, garbled(next_pair), next_pair])})|{text}){later}"

    def _next_pair(self, keys: Sequence[str]) -> str:
        """Return the opener of a pair that has not come in this call: it ends an unclosed value."""
        openers, after = self.pairs.value_end.next_pair or (("",), "")
        words = [key for key in keys if WORD.fullmatch(key)]
        others = [key for key in keys if key not in words]
        # White space next to a key is optional in the same way for all words.
        key_end = marker_core("x" + after)[1:]
        before = either([marker_core(opener + "x")[:-1] for opener in openers])
        before = group(before) if len(openers) > 1 else before
        pairs = [before + KEY_AGAIN + key_end] * bool(words)
        pairs += [marker_core(opener + key + after) for key in others for opener in openers]
        left = some_suffix(left_of_closer(self.pairs))
        found = [left + exact(lead_of(openers[0])) + self._first_in_call(pair, words) for pair in pairs]
        for key in [KEY_AGAIN] * bool(words) + [*map(exact, others)] if self.pairs.value_end.next_unopened else []:
            found.append(self._first_in_call(r"\n" + key + exact(self.pairs.value_end.next_unopened), words))
        return group(either(found))

    def _first_in_call(self, text: str, words: Sequence[str]) -> str:
        """Return the pattern of a text that has not come in this call.  KEY_AGAIN in it is one of the words."""
        opener, first = self.form["call_open"] or r"\A", text.replace(KEY_AGAIN, f"(?P<next_key>{one_of(words)})")
        return rf"{first}(?<!{text}(?:(?!{opener}).)*{text})"

    # Values that contain their own closer

    def _followed(self, closer: str, keys: Sequence[str]) -> str:
        """Return the pattern after a closer that ends a value: a marker of the call, or a known key."""
        follow = either([*(one.find for one in self.lexemes.all), self._known_pair(keys)])
        return rf"(?=\s*+(?:{either([self.cores_of('key'), rf'(?!{closer})(?:{follow})'])}|\Z))"

    def _to_next_marker(self) -> str:
        marks = [one.find for one in value_ends_and_markers(self.pairs).all if one.kind == "mark"]
        return rf"(?:(?!{group(either(marks))}).)*"

    def only_closer(self, closer: str, keys: Sequence[str] = ()) -> str:
        """Return the pattern after a closer that shows that no later one closes the value."""
        if not self.pairs.value_end.marks:
            return ""
        follow = self._followed(closer, keys)
        return rf"(?:{follow}|(?!{self._to_next_marker()}?{closer}{follow * bool(self.pairs.opens)}))"

    def later_closer(self, closer: str, keys: Sequence[str] = ()) -> str:
        """Return the rest of a text up to the first closer on which a marker of the call or a known key follows, if
        there is one before the next marker; without it up to the last closer, if pairs begin with their key."""
        if not self.pairs.value_end.marks:
            return ""
        text = self._to_next_marker()
        followed = rf"{text}?(?={closer}{self._followed(closer, keys)})"
        last = f"{followed}|{text}{self._not_within_closer()}(?={closer})"
        return rf"(?:(?={closer})(?:{followed if self.pairs.opens else last}))?+"

    def _not_within_closer(self) -> str:
        """Return a pattern that fails after a part of the white space of the closer that follows."""
        if not self.closer.strip():
            return ""
        lead, core = lexeme_of(self.closer).lead, marker_core(self.closer)
        parts = (rf"(?!(?<={exact(lead[:at])}){exact(lead[at:])}{core})" for at in range(1, len(lead) + 1))
        return "".join(parts)

    def _known_pair(self, keys: Sequence[str]) -> str:
        """Return a pair with one of the keys: something of its opener, or its key's whole end."""
        around = around_key(self.pairs) if self.form.reads_again else None
        if around is None or self.pairs.value_end.next_pair is None or not keys:
            return ""
        before, after = (pattern.removesuffix("*") for pattern in around)
        end = marker_core(self.pairs.value_end.next_pair[1])
        key = f"(?>{either([exact(key) for key in sorted(filter(None, keys), key=len, reverse=True)])})"
        opened = rf"(?:{before})++\s*+{key}(?:(?:{after})++|\n)" if before else ""
        return either([key + end, opened])

    # Values that close with their key

    def _key_before(self) -> str:
        """Return the key in the text before the value, as a pattern with one group."""
        end = self.pairs.slots[-1].suffixes[0]
        return rf"(?<={self.text_before_value()}{some_prefix(end[len(end.rstrip()) :])})"

    def text_before_value(self) -> str:
        """Return the text of a pair before its value, as a pattern with one group, the key."""
        text = group(self.cores_of("pair"))
        for kind in [slot.kind for slot in self.pairs.slots]:
            ends = key_ends(self.pairs, kind)
            slot = rf"[^\n]{{0,{NAME_LIMIT}}}?"
            text += r"\s*" if kind == "key" else ""  # no part of the key
            space = r"\s*" * any(end[0].isspace() for end in ends)
            text += f"({slot})" if kind == "key" else slot
            text += space + group(cores(ends, any_spelling=self.form.any_spelling))
        return text

    def _own_close_next(self) -> str:
        """Return the pattern of text before the value's own closer, if that is the next closer."""
        if not self.repeats:
            return ""
        close = marker_core(self.closer)
        own = rf"{close}\1{marker_core(self.rest)}"
        own += self.only_closer(own)
        ends = either([own, self.call_closes.removeprefix(LINE_END), r"\Z"])
        return leaf(rf"{self._key_before()}(?=(?:(?!{close}).)*+(?:{ends}))")


@dataclass(frozen=True, slots=True)
class WrapRules:
    """The rules of raw values between texts that depend on their type.  `next_pair`: the pattern of the next pair, if
    it may end a value; `place` is in the names of the rules then."""

    values: RawValues
    next_pair: str = ""
    place: str = ""

    def rules(self) -> list[Rule]:
        wraps = enumerate(self.values.pairs.value.wraps, 1)
        return [each for number, wrap in wraps if wrap.opened for each in self._rules_of(number, wrap)]

    def type_rules(self) -> list[Rule]:
        """Return the rules of the texts that show types."""
        rules = []
        for number, wrap in enumerate(self.values.pairs.value.wraps, 1):
            named = f"type_{'_'.join(wrap.types)}"
            rules.append(rule(f"type_for_wrap_{number}", f'{named} ""'))
            rules.append(rule(named, leaf(self._opened(wrap) if wrap.opened else "")))
            if wrap.opened:
                close = rf"\s*+{marker_core(wrap.close)}"
                may_be_garbled = wrap.close and self.values.pairs.types_open_pairs
                garbled = self.values.wrap_garbled(self._ends(wrap)[1], "") if may_be_garbled else ""
                rules.append(rule(f"wrap_close_for_{number}", leaf(either([close, garbled]))))
        return rules

    def _rules_of(self, number: int, wrap: TypeWrap) -> list[Rule]:
        (opened, own, close), values, next_pair = self._ends(wrap), self.values, self.next_pair
        stop, name = group(either([own, values.call_closes])), f"for_wrap_{number}{self.place}"
        garbled = values.wrap_garbled(own, next_pair) if next_pair else ""
        lost = " / missing_closer_for_call" * bool(values.call_closes)
        lost += f" / next_argument{self.place}" * bool(next_pair)
        texts, rules = [f"raw_text_{name}"], list[Rule]()
        if wrap.types != ("string",):
            texts.insert(0, f"typed_value_{name}")
            only = values.only_closer(own, values.all_keys)
            own_close = close if wrap.around_key else close + only
            over = group(either([own_close, garbled, values.call_closes, next_pair]))
            own_next = leaf(rf"{opened}(?=(?:(?!{close}).)*+(?:{own}{only}|\Z))") if wrap.around_key else ""
            rules.append(rule(texts[0], sequence(own_next, leaf(SPACE), f"({TYPED})", _space_before(over))))
        text = rf"{opened}.*?(?={stop}|\Z)"
        if next_pair:
            text = rf"(?:{values.free_text}(?={group(either([stop, garbled, next_pair]))})|{text})"
        rules.append(rule(texts[-1], leaf(text + values.later_closer(own, values.all_keys))))
        ended = f"({' / '.join(texts)}) (wrap_close_for_{number}{lost} / cut)"
        return [rule(f"wrapped_value_for_{number}{self.place}", f"type_for_wrap_{number} {ended}"), *rules]

    def _opened(self, wrap: TypeWrap) -> str:
        """Return the pattern of the text before a value that shows its type; one that opens pairs is before the key."""
        values = self.values
        if not values.pairs.types_open_pairs:
            return SPACE + exact(wrap.opened)
        ends = group(cores(key_ends(values.pairs), any_spelling=values.form.any_spelling))
        key = rf"(?:(?!{either([ends, values.cores_of('pair')])})[^\n]){{0,{NAME_LIMIT}}}{ends}\s*"
        return rf"(?<={marker_core(wrap.opened)}\s*{key})"

    def _ends(self, wrap: TypeWrap) -> tuple[str, str, str]:
        """Return the patterns of what precedes the value, of its own closer, and of any closer like that."""
        if wrap.around_key is None:
            own = group(either([marker(text) for text in wrap.ends]))
            return "", own, own
        before, after = wrap.around_key
        opened = rf"(?<={self.values.text_before_value() if self.values.repeats else ''}\s*{exact(wrap.opened)})"
        own = rf"{marker(before)}\1{marker_core(after)}"
        return opened, own, rf"{marker(before)}[^\n]{{0,{NAME_LIMIT}}}?{marker(after)}"


def key_ends(pairs: PairForm, kind: str = "key") -> list[str]:
    """Return the ends of a slot before the value, with variants; values without their quotes are read elsewhere."""
    most = None if pairs.value_end.bare is None else 1
    texts = [text for slot in pairs.slots if slot.kind == kind for text in slot.suffixes[:most] if text.strip()]
    return sorted(texts, key=len, reverse=True)


def one_of(keys: Sequence[str]) -> str:
    """Return the pattern of one of the keys; "" if none is known."""
    return group(either([exact(key) or "(?:)" for key in sorted(keys, key=len, reverse=True)]))


def _string_before(quotes: Sequence[str], follow: str) -> str:
    """Return the choice of a string in one of the quotes, before this; "" if there are no quotes."""
    typographic = {"‘": "‘[^‘’]*+’", "“": "“[^“”]*+”"}
    strings = [typographic.get(quote) or rf"{quote}[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+{quote}" for quote in quotes]
    return rf"\s*+(?:{either(strings)})(?={follow})|" if strings else ""


def _space_before(close: str) -> str:
    return leaf(rf"[ \t\r\n]*?(?={close}|\Z)")
