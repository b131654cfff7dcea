"""The rules of arguments in pairs: what opens a pair, its key, what is between pairs.

PairForm(opens "<k>", key ends at "</k><v>", value ends at "</v>", …)
→  arguments       = (argument_gap argument)* argument_gap
   argument        = key_open argument_key key_end argument_value (value_close / cut)
   key_open        = ~r"<k>"s
   …
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.backends.peg.cuts import pair_cuts
from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.known_tools import KnownTool
from tplc.backends.peg.patterns import any_of, cores, either, leaf, literal, marker, marker_core, some_prefix
from tplc.backends.peg.raw_values import RawValues, key_ends
from tplc.backends.peg.rules import Rule, rule, sequence
from tplc.backends.peg.values import value_rules
from tplc.lower import PairForm
from tplc.lower.call_form import LINE_END
from tplc.lower.following import after_quoted
from tplc.lower.lexemes import group
from tplc.lower.pairs import around_key
from tplc.lower.values import AFTER_LITERAL
from tplc_runtime.pairs import MOST_KEYS
from tplc_runtime.pattern import NAME_LIMIT
from tplc_runtime.slots import NEVER_IN_NAMES

NO_PAIR = "content_for_no_pair"
ENDS_OF_PAIRS = ("end", "next")


class PairRules:
    """The rules of arguments in pairs, from the layout of one pair."""

    def __init__(self, form: FormPatterns, pairs: PairForm) -> None:
        self.pairs, self.form, self.dialect = pairs, form, form.dialect
        self.values = RawValues(form, pairs)
        self.key_end, self.type_end = key_ends(pairs), key_ends(pairs, "type")
        self.opened = "arguments_open?" if pairs.start.strip() else ""
        guard = ["!arguments_over"] if self.instead or (form.garbled_closer and not pairs.opens) else []
        self.head = [*guard, *(["key_open"] if pairs.opens else [])]
        # One character of white space that ends a key is no part of a raw value, and none of it is part of a type.
        typed, spaced = bool(pairs.value.types), any(slot.kind == "key" and slot.stops for slot in pairs.slots)
        spaced = spaced and (typed or not pairs.value.quoted)
        self.middle = ["key_end"] if self.key_end else [leaf(r"\s*+" if typed else r"\s?")] if spaced else []
        self.middle += ["type", "type_end"] if pairs.value.types else []

    def core(self, text: str) -> str:
        return marker_core(text, any_spelling=self.form.any_spelling)

    def end_of(self, texts: Sequence[str]) -> str:
        """Return the text that ends a slot, with the white space after it."""
        return group(either([marker(text.lstrip(), any_spelling=self.form.any_spelling) for text in texts]))

    def rules(self) -> list[Rule]:
        return [
            *(each for tool in self.form.known.tools for each in self.tool_rules(tool)),
            rule("arguments", self.all("argument")),
            *self.frame_rules(),
            *self.argument_rules(),
            *self.slot_rules(),
            *pair_cuts(self.form, self.pairs, sequence(*self.head)),
            *(self.quoted_rules() if self.pairs.value.quoted else self.values.rules()),
            *self.values.close_rules(),
        ]

    # The pairs of a tool

    def tool_rules(self, tool: KnownTool) -> list[Rule]:
        suffix, keys = f"_for_{tool.rule}", tuple(parameter.name for parameter in tool.parameters)
        # Whether the keys of a tool distinguish what ends a value from text of it.
        ends = self.values.guessed or (self.pairs.value_end.next_pair and len(keys) <= MOST_KEYS)
        place = suffix if keys and ends else ""
        whole = [self.form.external(f"whole_object{suffix}")] if self.form.reads_again else []
        pairs = self.all(f"any_argument{suffix}" if keys else "argument")
        rules = [rule(f"arguments{suffix}", *(f"argument_gap {each.name}" for each in whole), pairs), *whole]
        rules += self.any_pair_of(tool, place) if keys else []
        rules += [*self.argument_rules(place, keys), *self.values.rules_of_tool(place, keys)] if place else []
        # A text is not read as a value of another type, unless something else than the schema says so.
        form = self.pairs.value
        as_text = not (form.quoted or form.wrap or form.wraps or form.types)
        for parameter in tool.parameters:
            key = f"argument_key_for_{parameter.rule}"
            is_text = as_text and parameter.types == frozenset({"string"})
            value = (self.values.text if is_text else "argument_value") + place
            rules.append(rule(f"argument_for_{parameter.rule}", self.pair(key, value, place)))
            rules.append(rule(key, f"{literal(parameter.name)} &key_stop"))
        return rules

    def any_pair_of(self, tool: KnownTool, place: str) -> list[Rule]:
        """Return rules for a pair of a parameter, or any other, and for one in another form than the template's."""
        suffix, other = f"_for_{tool.rule}", f"argument_for_other__for_{tool.rule}"
        # White space may end a key that another key begins with: the longest first.
        ordered = sorted(tool.parameters, key=lambda one: -len(one.name) * (one.name.split() != [one.name]))
        own = [f"argument_for_{parameter.rule}" for parameter in ordered]
        if not self.form.reads_again or around_key(self.pairs) is None:
            return [rule(f"any_argument{suffix}", *own, f"argument{place}")]
        over, key_end = self.values.cores_of(*ENDS_OF_PAIRS), self.pairs.slots[-1].suffixes[0]
        pair = f"other_pair{suffix} {leaf(some_prefix(key_end[len(key_end.rstrip()) :]))} argument_value{place}"
        return [
            rule(f"any_argument{suffix}", *own, f"!odd_pair{suffix} argument{place}", other),
            rule(other, f"!{leaf(over)} " * bool(over) + self.closed(pair, place)),
            *(self.form.external(f"{name}_pair{suffix}") for name in ("other", "odd")),
        ]

    # Around the pairs, and the pair around the value

    def argument_rules(self, place: str = "", keys: Sequence[str] = ()) -> list[Rule]:
        """Return a pair; and one whose value is written without the quotes that the template puts around every
        value."""
        name, pair = f"argument{place}", self.pair("argument_key", f"argument_value{place}", place)
        if self.pairs.value_end.bare is None:
            return [rule(name, pair)]
        last, value = self.pairs.slots[-1].suffixes[-1], f"argument_value{place}_for_bare"
        stop = r"\s*+" + marker_core(last)
        return [
            rule(name, pair, sequence(*self.head, "argument_key_for_bare", "key_end_for_bare", value)),
            rule("argument_key_for_bare", leaf(r"\s*+" + slot_text(stop))),
            rule("key_end_for_bare", leaf(rf"\s*+{marker(last.lstrip())}")),
            *self.values.bare_rules(f"{place}_for_bare", self.pairs.value_end.bare, keys),
        ]

    def pair(self, key: str, value: str, place: str = "") -> str:
        return self.closed(sequence(*self.head, key, *self.middle, value), place)

    def closed(self, pair: str, place: str) -> str:
        """Return a pair up to its value, and the end of that."""
        if not self.pairs.value_end.close.strip():
            return pair
        quoted = self.pairs.value.quoted
        return sequence(pair, "value_close?" if quoted else f"({' / '.join(self.values.closes(place))})")

    def all(self, argument: str) -> str:
        rest = "argument_rest" if self.values.cores_of("skip") else ""
        # At the end of a text parsimonious tries nothing that `?` makes optional.
        close = "arguments_close / " if self.values.cores_of("end") else ""
        closed = f'(gap ({close}trailing_for_pair / cut) / "")'
        pairs = f"argument_gap {argument}" + (f" / argument_gap {NO_PAIR}" if self.pairs.resumes else "")
        return sequence(self.opened, f"({pairs})*", rest, closed)

    def frame_rules(self) -> list[Rule]:
        """Return the rules of the text around and between the pairs."""
        between, all_of = self.values.cores_of("skip"), self.values.lexemes.all
        opens = [one.core for one in all_of if one.kind == "pair"]
        # The opener of a pair may begin with a text that is skipped: `, "` with a comma.
        alike = any(text.startswith(one.core) for one in all_of if one.kind == "skip" for text in opens)
        skipped = f"(?!{self.values.cores_of('pair')}){between}" if alike else between
        rules = [rule("argument_gap", leaf(rf"(?:\s++|{skipped})*+" if between else r"\s*+"))]
        rules += [rule("argument_rest", leaf(rf"(?:\s*+(?:{between}))*+"))] if between else []
        if self.opened:
            rules.append(rule("arguments_open", leaf(r"\s*+" + self.core(self.pairs.start))))
        if ends := self.values.cores_of("end"):
            rules.append(rule("arguments_close", leaf(ends)))
        return [*rules, self.no_pair()] if self.pairs.resumes else rules

    def no_pair(self) -> Rule:
        """Return the rule of text that isn't a pair, up to the next pair or the end of the call."""
        ends = self.values.cores_of(*ENDS_OF_PAIRS)
        stop = self.values.cores_of("pair", "broken", *ENDS_OF_PAIRS)
        # White space is looked at once: what steps through it takes its length squared.
        text = rf"\S(?:(?!{stop})\S|\s++(?!{stop}))*+(?=\s*+(?:{stop}))"
        over = either([ends, self.form.garbled_closer])
        return rule(NO_PAIR, leaf(f"(?!{over})" * bool(over) + text))

    # The slots before the value

    def slot_rules(self) -> list[Rule]:
        rules = [rule("key_open", leaf(self.values.cores_of("pair")))] if self.pairs.opens else []
        # Where a pair begins with its key, what else may come there.
        over = self.instead
        garbled = self.form.garbled_closer if not self.pairs.opens else ""
        rules += [rule("arguments_over", leaf(either([over, garbled])))] if over or garbled else []
        # What shows that the key has ended: a marker, or white space alone, which may be a line end.
        blank = (
            r"[^\S\n]*+\n" if any(one.kind == "key" and one.stops == LINE_END for one in self.pairs.slots) else r"\s"
        )
        stop = rf"\s*+{group(cores(self.key_end, any_spelling=self.form.any_spelling))}" if self.key_end else blank
        empty = f"(?={stop})|" if self.key_end else ""
        # A key ends where a value without quotes would begin, and no key of an element is around the closer of another.
        value = self.pairs.value_end
        ends = [self.pairs.slots[-1].suffixes[-1]] if value.bare is not None else []
        ends += value.around_key[:1] if self.pairs.value.items and value.around_key else []
        guard = f"(?!{either([marker_core(text) for text in ends])})" if ends else ""
        first = guard if self.pairs.value.items else ""
        rules.append(rule("argument_key", leaf(rf"{empty}\s*+{first}{slot_text(stop, guard)}")))
        rules += [rule("key_stop", leaf(stop))] if self.form.known else []
        if self.key_end:
            end = self.end_of(self.key_end)
            # White space after it is the value's, unless there is white space before it too.
            spaced = rf"(?:\s++{end}\s*+|{end})"
            rules.append(rule("key_end", leaf(spaced if self.pairs.value.spaced else rf"\s*+{end}")))
        return [*rules, *(self.type_rules() if self.pairs.value.types else [])]

    @property
    def instead(self) -> str:
        """Return the pattern of the markers that may occur in place of a pair and begin like one."""
        openers = tuple(text.strip() for text in self.pairs.opens)
        return self.values.cores_of(
            *ENDS_OF_PAIRS,
            *["broken"] * bool(openers),
            only=lambda one: not openers or (one.core.startswith(openers) and one.core not in openers),
        )

    def type_rules(self) -> list[Rule]:
        names = {word: f"type_{'_'.join(types)}" for word, types in self.pairs.value.types}
        stop = rf"\s*+{group(cores(self.type_end, any_spelling=self.form.any_spelling))}"
        no_type = any_of("".join(sorted({*NEVER_IN_NAMES, '"', "="})))
        return [
            rule("type", *names.values(), leaf(rf"(?!{no_type}){slot_text(stop, f'(?!{no_type})')}")),
            *(rule(name, f"{literal(word)} &type_end") for word, name in names.items()),
            rule("type_end", leaf(rf"\s*+{self.end_of(self.type_end)}")),
        ]

    # Values in quotes

    def quoted_rules(self) -> list[Rule]:
        suffix, follow = "_for_argument", after_quoted(self.pairs.value_end.following, over=True)
        values = value_rules(self.dialect.top, self.dialect, suffix, after=follow)
        # Values in quotes or brackets have their own end; a number or a word may be the beginning of something else.
        firm = [kind for kind in values[0].choices if kind.removesuffix(suffix) in ("object", "list", "string")]
        words = [kind for kind in values[0].choices if kind not in firm]
        # Three quotes open a string as in Python, which the reader of values with mistakes knows.
        triple = either([one.open * 3 for one in self.dialect.top.strings if one.open in ('"', "'")])
        firm = [f"!{leaf(triple)} {kind}" if triple and kind == f"string{suffix}" else kind for kind in firm]
        spaces = leaf(r"\s*+")
        return [
            rule("argument_value", f"{spaces} ({' / '.join([*firm, 'firm_word', 'loose_value'])})", "no_value"),
            *values[1:],
            rule("firm_word", f"({' / '.join(words)}) value_end"),
            rule("value_end", leaf(rf"(?={follow}|{AFTER_LITERAL})")),
            self.form.external("loose_value"),
            rule("no_value", leaf(r"\s*+")),
        ]


def slot_text(stop: str, guard: str = "") -> str:
    """Return text on one line up to this; `guard` is before each character but the first."""
    char = rf"(?:{guard}[^\n])" if guard else r"[^\n]"
    return rf"\S{char}{{0,{NAME_LIMIT - 1}}}?(?={stop})"
