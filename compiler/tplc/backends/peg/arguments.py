"""The rules of arguments: one object, or pairs of a key and a value.

PairArguments("", "<k>" KEY "</k><v>" VALUE "</v>", …)
→  arguments       = (argument_gap argument)* argument_gap
   argument        = key_open key key_end argument_value value_close
   key_open        = ~r"<k>"s
   argument_value  = typed_value &value_close / raw_text
   …
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.backends.peg.cuts import pair_cuts
from tplc.backends.peg.facts import Facts, longest_first
from tplc.backends.peg.known_tools import KnownTools, Parameter
from tplc.backends.peg.patterns import either, leaf, literal, marker, marker_core, of_kinds, some_prefix
from tplc.backends.peg.rules import Rule, Section, external, rule, sequence
from tplc.backends.peg.schemas import schema_rules
from tplc.backends.peg.styles import breaks_pattern
from tplc.backends.peg.values import SPACE, list_rules, list_suffix, object_rules, value_rules
from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import JSON_STYLE, Dialect, Elements
from tplc.lower import PairForm
from tplc.lower.bounds import KEY
from tplc.lower.following import after_quoted, closes_call, pattern_of
from tplc.lower.lexemes import ALIKE, exact, group, lexemes_of
from tplc.lower.pairs import QUOTES, around_key, ends_and_marks
from tplc.lower.states import respelled_kinds
from tplc.lower.values import AFTER_LITERAL, MOST_KEYS, WORDS

KEY_LIMIT = 512
NO_PAIR = "content_for_no_pair"
ENDS_OF_PAIRS = ("end", "next")


def arguments_ahead(facts: Facts, pairs: PairForm) -> list[str]:
    """What may stand where the arguments begin."""
    return [
        marker_core(text, alike=facts.alike)
        for text in (pairs.start, *pairs.opens, pairs.empty, pairs.end)
        if text.strip()
    ]


def argument_sections(dialect: Dialect, facts: Facts, known: KnownTools) -> list[Section]:
    if facts.calls.pairs is not None:
        pairs = PairRules(dialect, facts.calls.pairs, facts)
        return [
            Section("Its arguments: pairs of a key and a value.", (*pairs.rules(known),)),
            Section("Values inside lists and objects.", nested_rules(dialect, facts)),
        ]
    loose = [] if facts.calls.fields else ["loose_value", "cut"]
    arguments = rule("arguments", "object", "string", *loose)
    fenced = facts.reads_again and not facts.calls.fields
    schemas = [each for tool in known.tools for each in schema_rules(tool, dialect, fenced=fenced)]
    schemas += [rule("fence_open", leaf(r"\s*+```[\w-]*+\s*+"))] if fenced else []
    schemas += [external(f"other_arguments_for_{tool.rule}", facts) for tool in known.tools] if fenced else []
    inside = value_rules(dialect.in_object, dialect, no_key=no_key(facts, 2))
    return [
        Section("The arguments of each tool, as its schema has them; else as any arguments.", (*schemas,)),
        Section("Its arguments: an object.", (arguments, *inside)),
        loose_section(facts),
    ]


def nested_rules(dialect: Dialect, facts: Facts) -> tuple[Rule, ...]:
    if dialect.elements is not None:
        return ()
    inside = value_rules(dialect.in_object, dialect, no_key=no_key(facts, 2))
    suffix = list_suffix(dialect)
    return (*inside, *(value_rules(dialect.in_list, dialect, suffix, no_key=no_key(facts, 1)) if suffix else ()))


def no_key(facts: Facts, style: int) -> str:
    """What begins no key without quotes: quotes of any kind, and what stands in no value."""
    strings = facts.calls.styles[style].strings if facts.calls.styles else ()
    return either([*(exact(opened) for opened, _, _ in strings), breaks_pattern(facts.calls.breaks)])


def loose_section(facts: Facts) -> Section:
    return Section(
        "Values with mistakes, or that the output cuts off.",
        (external("loose_value", facts),),
        ("The engine has a reader for them, which says where they end.",),
    )


class PairRules:
    """The rules of arguments in pairs, from the layout of one pair."""

    def __init__(self, dialect: Dialect, pairs: PairForm, facts: Facts) -> None:
        self.pairs, self.facts, self.dialect = pairs, facts, dialect
        kinds: dict[str, list[str]] = {}
        for kind, texts in pairs.between:
            kinds.setdefault(kind, []).extend(texts)
        self.lexemes = lexemes_of(kinds.items(), respelled_kinds(facts.acceptor))
        self.opens = self.cores_of("pair") if pairs.opens else ""
        self.closer = pairs.close
        # The key comes again after the value, as in closing tags.
        self.repeats = pairs.value_close is not None
        self.rest = pairs.value_close[1] if pairs.value_close is not None else ""
        self.all_keys: tuple[str, ...] = ()  # of the tools
        self.names: tuple[str, ...] = ()  # of the tools: what a further call's name is one of

    def core(self, text: str) -> str:
        return marker_core(text, alike=self.facts.alike)

    def cores_of(self, *kinds: str) -> str:
        """The pattern of what may stand between pairs, of these kinds."""
        return group(either([one.find for one in self.lexemes.all if one.kind in kinds]))

    def rules(self, known: KnownTools) -> list[Rule]:
        self.names = tuple(tool.name for tool in known.tools)
        self.all_keys = tuple(dict.fromkeys(one.name for tool in known.tools for one in tool.parameters))
        named = [self.tool_rules(f"_for_{tool.rule}", tool.parameters) for tool in known.tools]
        return [
            *(each for rules in named for each in rules),
            rule("arguments", self.all("argument")),
            *self.frame_rules(),
            *self.argument_rules(),
            *self.slot_rules(known),
            *pair_cuts(self.pairs, known, sequence(*self.head), alike=self.facts.alike),
            *self.argument_value(),
            *self.value_close(),
        ]

    def tool_rules(self, suffix: str, parameters: tuple[Parameter, ...]) -> list[Rule]:
        own = [f"argument_for_{parameter.rule}" for parameter in parameters]
        # If punctuation ends a value, the names of the parameters distinguish it from text.
        own_end = suffix if own and (self.guessed or (self.pairs.next_pair and len(own) <= MOST_KEYS)) else ""
        choice = f"any_argument{suffix}" if own else "argument"
        again = self.facts.reads_again
        rules = [rule(f"arguments{suffix}", *[f"argument_gap whole_object{suffix}"] * again, self.all(choice))]
        rules += [external(f"whole_object{suffix}", self.facts)] * again
        others = [f"argument_for_other_{suffix}"] if self.facts.reads_again and around_key(self.pairs) else []
        odd = f"!odd_pair{suffix} " * bool(others)
        rules += [rule(choice, *own, f"{odd}argument{own_end}", *others)] if own else []
        if own and others:
            over = self.cores_of(*ENDS_OF_PAIRS)
            guard = f"!{leaf(over)} " * bool(over)
            space = leaf(
                some_prefix(self.pairs.slots[-1].suffixes[0][len(self.pairs.slots[-1].suffixes[0].rstrip()) :])
            )
            rules.append(
                rule(others[0], guard + self.closed(f"other_pair{suffix} {space} argument_value{own_end}", own_end))
            )
            rules += [external(f"{name}_pair{suffix}", self.facts) for name in ("other", "odd")]
        if own_end:
            keys = tuple(parameter.name for parameter in parameters)
            close = self.punctuation(keys) if self.guessed else f"(?:{self.typed_stop(keys)}|{self.next_pair(keys)})"
            rules += [
                *self.argument_rules(own_end, keys),
                rule(f"argument_value{own_end}", *self.wrapped, f"typed_value{own_end}", f"raw_text{own_end}"),
                rule(f"typed_value{own_end}", self.typed_value(close)),
                rule(f"raw_text{own_end}", leaf(self.own_string() + self.text_before(keys))),
            ]
            rules += [] if self.guessed else [rule(f"next_argument{own_end}", leaf(f"(?={self.next_pair(keys)})"))]
        for parameter in parameters:
            key = f"argument_key_for_{parameter.rule}"
            text = self.raw and parameter.types == frozenset({"string"}) and not (self.dialect.wrap or self.typed)
            value = (self.text if text else "argument_value") + own_end
            rules += [
                rule(f"argument_for_{parameter.rule}", self.pair(key, value, own_end)),
                rule(key, f"{literal(parameter.name)} &key_stop"),
            ]
        return rules

    # Around the pairs, and the pair around the value

    def argument_rules(self, own_end: str = "", keys: tuple[str, ...] = ()) -> list[Rule]:
        """A pair; and one whose value is written without the quotes that the template puts around every value."""
        name, pair = f"argument{own_end}", self.pair("argument_key", f"argument_value{own_end}", own_end)
        if self.pairs.bare is None:
            return [rule(name, pair)]
        place = f"{own_end}_for_bare"
        follow = f"(?={pattern_of(self.pairs.bare, over=True, key=one_of(keys), quote=exact)})"
        any_key = pattern_of(self.pairs.bare, over=True, quote=exact)
        last = self.pairs.slots[-1].suffixes[-1]
        return [
            rule(
                name, pair, sequence(*self.head, "argument_key_for_bare", "key_end_for_bare", f"argument_value{place}")
            ),
            rule("argument_key_for_bare", leaf(rf"\s*+\S[^\n]{{0,{KEY_LIMIT - 1}}}?(?=\s*+{marker_core(last)})")),
            rule("key_end_for_bare", leaf(rf"\s*+{marker(last.lstrip())}")),
            rule(f"argument_value{place}", f"typed_value{place}", f"raw_text{place}"),
            rule(f"typed_value{place}", self.typed_value(follow)),
            rule(f"raw_text{place}", leaf(string_before(QUOTES, any_key) + rf".*?(?={follow}|\Z)")),
        ]

    def pair(self, key: str, value: str, own_end: str = "") -> str:
        return self.closed(sequence(*self.head, key, *self.middle, value), own_end)

    def closed(self, pair: str, own_end: str) -> str:
        """A pair up to its value, and what ends that."""
        closed = "value_close?"
        if own_end and not self.guessed:
            lost = " / missing_closer_for_call" * bool(self.call_closes)
            closed = f"(value_close{lost} / next_argument{own_end} / cut" + ' / "")' * bool(self.dialect.wrap)
            closed += ")" * (not self.dialect.wrap)
        elif self.raw:
            # A value that is wrapped has its end already.
            lost = " / missing_closer_for_call" * bool(self.call_closes)
            closed = f"(value_close{lost} / cut" + ' / "")' * bool(self.dialect.wrap) + ")" * (not self.dialect.wrap)
        if not self.closer.strip():
            closed = ""
        return sequence(pair, closed)

    def all(self, argument: str) -> str:
        rest = "argument_rest" if self.cores_of("skip") else ""
        # At the end of a text parsimonious tries nothing that `?` makes optional.
        close = "arguments_close / " if self.pairs.end.strip() else ""
        closed = f'(gap ({close}trailing_for_pair / cut) / "")'
        pairs = f"argument_gap {argument}" + (f" / argument_gap {NO_PAIR}" if self.pairs.resumes else "")
        return sequence(self.opened, f"({pairs})*", rest, closed)

    @property
    def raw(self) -> bool:
        return not self.pairs.quoted

    @property
    def text(self) -> str:
        return "raw_text" if self.dialect.elements is None else "element_text"

    @property
    def wrapped(self) -> list[str]:
        return ["wrapped_text"] if self.dialect.wrap else []

    @property
    def opened(self) -> str:
        return "arguments_open?" if self.pairs.start.strip() else ""

    @property
    def head(self) -> list[str]:
        guard = ["!arguments_over"] if self.alike else []
        return [*guard, "key_open"] if self.opens else guard

    @property
    def middle(self) -> list[str]:
        # One character of white space that ends a key is no part of a raw value.
        spaced = self.raw and any(slot.kind == "key" and slot.stops for slot in self.pairs.slots)
        items = ["key_end"] if self.key_end else [leaf(r"\s?")] if spaced else []
        return [*items, "type", "type_end"] if self.typed else items

    @property
    def typed(self) -> bool:
        return any(slot.kind == "type" for slot in self.pairs.slots)

    @property
    def key_end(self) -> list[str]:
        return self.ends_of("key")

    def ends_of(self, kind: str) -> list[str]:
        """What ends a slot before the value, with its variants; a value without its quotes is not read here."""
        most = None if self.pairs.bare is None else 1
        return [text for slot in self.pairs.slots if slot.kind == kind for text in slot.suffixes[:most] if text.strip()]

    def frame_rules(self) -> list[Rule]:
        """What stands around and between the pairs."""
        between = self.cores_of("skip")
        rules = [rule("argument_gap", leaf(rf"(?:\s++|{between})*+" if between else r"\s*+"))]
        rules += [rule("argument_rest", leaf(rf"(?:\s*+(?:{between}))*+"))] if between else []
        if self.opened:
            rules.append(rule("arguments_open", leaf(r"\s*+" + self.core(self.pairs.start))))
        if self.pairs.end.strip():
            rules.append(rule("arguments_close", leaf(self.core(self.pairs.end))))
        return [*rules, self.no_pair()] if self.pairs.resumes else rules

    def no_pair(self) -> Rule:
        """Text that is no pair, up to the next pair or the end of the call."""
        ends, stop = self.cores_of(*ENDS_OF_PAIRS), self.cores_of("pair", "broken", *ENDS_OF_PAIRS)
        # White space is looked at once: what steps through it takes its length squared.
        text = rf"\S(?:(?!{stop})\S|\s++(?!{stop}))*+(?=\s*+(?:{stop}))"
        return rule(NO_PAIR, leaf(f"(?!{ends})" * bool(ends) + text))

    def slot_rules(self, known: KnownTools) -> list[Rule]:
        rules = [rule("key_open", leaf(self.opens))] if self.opens else []
        rules += [self.over()] if self.alike else []
        rules.append(rule("argument_key", leaf(self.key_pattern())))
        if known:
            rules.append(rule("key_stop", leaf(self.key_stop)))
        if self.key_end:
            end = ends(self.key_end, self.facts.alike)
            # White space after it is the value's, unless there is white space before it too.
            spaced = self.pairs.spaced
            rules.append(rule("key_end", leaf(rf"(?:\s++{end}\s*+|{end})" if spaced else rf"\s*+{end}")))
        if self.typed:
            rules += self.type_rules()
        return rules

    def key_pattern(self) -> str:
        empty = rf"(?={self.key_stop})|" if self.key_end else ""
        char = r"[^\n]"
        if self.pairs.bare is not None:
            # It ends where a value without quotes would begin.
            char = rf"(?:(?!{marker_core(self.pairs.slots[-1].suffixes[-1])}){char})"
        return rf"{empty}\s*+\S{char}{{0,{KEY_LIMIT - 1}}}?(?={self.key_stop})"

    @property
    def key_stop(self) -> str:
        """What shows that the key has ended: a marker, or white space alone."""
        return rf"\s*+{cores(self.key_end, self.facts.alike)}" if self.key_end else r"\s"

    def over(self) -> Rule:
        """Where a pair begins with its key, what else may come there."""
        return rule("arguments_over", leaf(either([self.core(text) for text in self.alike])))

    @property
    def alike(self) -> list[str]:
        """Return markers that may occur in place of a pair and begin like one."""
        openers = tuple(text.strip() for text in self.pairs.opens)
        kinds = ("end", "next", "broken") if openers else ("end", "next")
        texts = [text.strip() for kind, found in self.pairs.between if kind in kinds for text in found]
        return [
            text
            for text in longest_first(dict.fromkeys(texts))
            if not openers or (text.startswith(openers) and text not in openers)
        ]

    def type_rules(self) -> list[Rule]:
        words: dict[str, list[str]] = {}
        for word in self.dialect.types:
            words.setdefault(word.word, []).append(word.type)
        names = {word: f"type_{'_'.join(types)}" for word, types in words.items()}
        stop = self.ends_of("type")
        return [
            rule(
                "type", *names.values(), leaf(rf"\S[^\n]{{0,{KEY_LIMIT - 1}}}?(?=\s*+{cores(stop, self.facts.alike)})")
            ),
            *(rule(name, f"{literal(word)} &type_end") for word, name in names.items()),
            rule("type_end", leaf(rf"\s*+{ends(stop, self.facts.alike)}")),
        ]

    # The value

    def value_close(self) -> list[Rule]:
        rules = [rule("value_close", leaf(self.close_pattern(self.all_keys)))] if self.closer.strip() else []
        return rules + [rule("missing_closer_for_call", "&" + leaf(self.call_closes))] * bool(self.call_closes)

    def alike_closers(self, keys: Sequence[str]) -> str:
        """What closes a raw value, spelled otherwise: before the next pair, which may lack its opener if the schema has
        its key, or the end of the call."""
        if not self.facts.alike:
            return ""
        found = of_kinds(lexemes_of([("end", self.pairs.value_ends)], apart=("end",)), (ALIKE,))
        after = [one.find for one in self.lexemes.all]
        if self.pairs.next_pair is not None and self.facts.reads_again and around_key(self.pairs):
            after += [exact(key) + marker_core(self.pairs.next_pair[1]) for key in keys]
        return rf"{found}(?=\s*+(?:{either(after)}))" if found else ""

    @property
    def call_closes(self) -> str:
        """What closes the call, and what follows that: it ends a raw value whose own end is missing."""
        pairs, tolerated = self.pairs, "missing_closers" in self.facts.acceptor.tolerances
        if pairs.quoted or pairs.guessed or pairs.items is not None or not pairs.following.closes or not tolerated:
            return ""
        return r"\n?" + closes_call(pairs.following, self.facts.calls.section_end, begun=False, quote=exact)

    def value_stop(self, keys: Sequence[str] = ()) -> str:
        return group(either([self.close_pattern(keys), self.call_closes]))

    def typed_stop(self, keys: tuple[str, ...] = ()) -> str:
        """What closes a value that is no text; a text goes on where a later closer counts."""
        only = self.only_closer(self.own_ends, keys) if not self.repeats else ""
        close = self.own_ends + only if only else self.close_pattern(keys)
        return group(either([close, self.alike_closers(keys) if only else "", self.call_closes]))

    def close_pattern(self, keys: Sequence[str] = ()) -> str:
        if self.repeats:
            return rf"{marker(self.closer)}[^\n]{{0,{KEY_LIMIT}}}?{marker(self.rest)}"
        if self.pairs.value_ends:
            return group(either([self.own_ends, self.alike_closers(keys)]))
        return marker(self.closer) if is_distinctive(self.closer) else self.punctuation()

    @property
    def own_ends(self) -> str:
        return whole_ends(self.pairs.value_ends)

    def next_marker(self) -> str:
        return group(either([one.find for one in ends_and_marks(self.pairs).all if one.kind == "mark"]))

    def followed(self, closer: str, keys: tuple[str, ...]) -> str:
        """What comes after a closer that ends a value: a marker of the call, or a known key."""
        follow = either([*(one.find for one in self.lexemes.all), self.known_pair(keys)])
        return rf"(?=\s*+(?:(?!{closer})(?:{follow})|\Z))"

    def only_closer(self, closer: str, keys: tuple[str, ...] = ()) -> str:
        """What shows, after a closer, that no later one closes the value."""
        if not self.pairs.marks:
            return ""
        follow = self.followed(closer, keys)
        return rf"(?:{follow}|(?!(?:(?!{self.next_marker()}).)*?{closer}{follow * bool(self.opens)}))"

    def later_closer(self, closer: str, keys: tuple[str, ...] = ()) -> str:
        """The rest of a text up to the first closer on which a marker of the call or a known key follows, if there is
        one before the next marker; without it up to the last closer, if pairs begin with their key."""
        if not self.pairs.marks:
            return ""
        text = rf"(?:(?!{self.next_marker()}).)*"
        followed = rf"{text}?(?={closer}{self.followed(closer, keys)})"
        return rf"(?:(?={closer})(?:{followed if self.opens else f'{followed}|{text}(?={closer})'}))?+"

    def known_pair(self, keys: tuple[str, ...]) -> str:
        """A pair with one of the keys: something of its opener, or its key's whole end."""
        around = around_key(self.pairs) if self.facts.reads_again else None
        if around is None or self.pairs.next_pair is None or not keys:
            return ""
        before, after = (pattern.removesuffix("*") for pattern in around)
        end = marker_core(self.pairs.next_pair[1])
        key = f"(?>{either([exact(key) for key in sorted(filter(None, keys), key=len, reverse=True)])})"
        opened = rf"(?:{before})++\s*+{key}(?:(?:{after})++|\n)" if before else ""
        return either([key + end, opened])

    @property
    def guessed(self) -> bool:
        """Return whether no marker of its own ends a raw value, in any form of it."""
        return self.pairs.guessed and self.pairs.items is None and self.pairs.wrap is None

    def punctuation(self, keys: tuple[str, ...] = ()) -> str:
        """A closing marker that values hold as well, or none at all: it counts only before what may follow."""
        return marker_core(self.closer) + f"(?={self.follow(keys)})"

    def next_pair(self, keys: Sequence[str]) -> str:
        """The opener of a pair that has not come in this call: it ends a value that was not closed."""
        before, after = self.pairs.next_pair or ("", "")
        opener, found = self.facts.call_open or r"\A", []
        for key in keys:
            text = marker_core(before + key + after)
            line = r"\n" * before.startswith("\n")
            came = rf"{text}(?:(?!{opener}).)*"
            found.append(rf"{line}{text}(?<!{came}{text})")
            if self.pairs.next_unopened:
                unopened = r"\n" + exact(key + self.pairs.next_unopened)
                found.append(rf"{unopened}(?<!{came}{unopened})")
        return group(either(found))

    def text_before(self, keys: tuple[str, ...]) -> str:
        """A raw value up to its end; where it quotes a call, no pair ends it."""
        if self.guessed:
            return rf".*?(?={self.punctuation(keys)}|\Z)"
        ends, breaks = self.value_stop(keys), breaks_pattern(self.facts.calls.breaks)
        free = f"(?:(?!{breaks}).)*?" if breaks else ".*?"
        text = rf"{free}(?={ends}|{self.next_pair(keys)})|.*?(?={ends}|\Z)"
        later = self.later_closer(self.own_ends, keys)
        return f"(?:{text}){later}" if later else text

    def follow(self, keys: tuple[str, ...] = ()) -> str:
        """What may follow a value whose closing marker, if it has one, could stand in the value as well."""
        names = (one_of(self.names), one_of(self.names))
        return pattern_of(self.pairs.following, over=True, key=one_of(keys), names=names, quote=exact)

    def argument_value(self) -> list[Rule]:
        return self.raw_rules() if self.raw else self.quoted_rules()

    def raw_rules(self) -> list[Rule]:
        if self.dialect.elements is not None:
            return self.element_rules(self.dialect.elements)
        wrap = self.dialect.wrap
        rules = [rule("argument_value", *self.wrapped, "typed_value", "raw_text")]
        if wrap:
            rules.append(
                rule(
                    "wrapped_text",
                    f"{leaf(SPACE + exact(wrap.open))} plain_text_for_wrap ({literal(wrap.close)} / cut)",
                )
            )
            rules.append(rule("plain_text_for_wrap", leaf(rf".*?(?={exact(wrap.close)}|\Z)")))
        rules += [*self.typed_rules(), self.raw_text()]
        return rules

    def element_rules(self, elements: Elements) -> list[Rule]:
        """Lists and objects are elements inside the value."""
        item_open, item_close = marker_core(elements.item_open), marker_core(elements.item_close)
        spaces, nested = leaf(r"\s*+"), "(list_of_items / object_of_arguments)"
        scalars = "object / list / true / false / null / scalar"
        return [
            rule("argument_value", f"{nested} (&value_close / cut)", "scalar_value", "element_text"),
            rule("list_of_items", f"({spaces} item)+ {spaces}"),
            rule("item", f"{leaf(item_open)} item_value ({leaf(item_close)} / cut)"),
            rule(
                "item_value",
                f"{nested} (&{leaf(item_close)} / cut)",
                f"scalar_item &{leaf(item_close)}",
                leaf(rf".*?(?={item_close}|\Z)"),
            ),
            rule("scalar_item", f"{spaces} ({scalars}) {spaces}"),
            rule("object_of_arguments", f"({spaces} argument)+ {spaces}"),
            rule(
                "scalar_value",
                sequence(self.own_close_next(), f"{leaf(SPACE)} ({scalars}) {self.space_before_close()}"),
            ),
            *self.word_rules(""),
            *value_rules(JSON_STYLE, Dialect(JSON_STYLE, JSON_STYLE, JSON_STYLE)),
            self.raw_text("element_text"),
        ]

    def own_close_next(self) -> str:
        """Where the next closing marker is the one of the key before the value, or there is none."""
        if not self.repeats:
            return ""
        opened, close = self.key_before(), marker_core(self.closer)
        own = self.own_close + self.only_closer(self.own_close)
        return leaf(rf"{opened}(?=(?:(?!{close}).)*+(?:{own}|\Z))")

    @property
    def own_close(self) -> str:
        """The closing marker with the key that was matched as a group."""
        return rf"{marker_core(self.closer)}\1{marker_core(self.rest)}"

    def key_before(self) -> str:
        """The key in the text before the value, as a pattern with one group."""
        return rf"(?<={group(self.opens)}([^\n]{{0,{KEY_LIMIT}}}?){cores(self.key_end, self.facts.alike)})"

    def raw_text(self, name: str = "raw_text") -> Rule:
        if self.repeats:
            # The closing marker is the one with the same key.
            opened = self.key_before()
            own = rf"{marker(self.closer)}\1{marker_core(self.rest)}"
            close = either([own, self.call_closes])
            return rule(name, leaf(rf"{opened}.*?(?={close}|\Z)" + self.later_closer(own)))
        later = self.later_closer(self.own_ends) if self.pairs.value_ends else ""
        text = self.own_string() + rf".*?(?={self.value_stop()}|\Z)"
        return rule(name, leaf(text + later))

    def own_string(self) -> str:
        """A string in quotes that a value is, up to anything that may follow it, also a key that no schema has."""
        return string_before(self.pairs.literals, self.punctuation()) if self.guessed else ""

    def space_before_close(self, close: str = "") -> str:
        return leaf(rf"[ \t\r\n]*?(?={close or self.typed_stop()}|\Z)")

    def typed_value(self, close: str = "") -> str:
        kinds = [f"{kind}_for_argument" for kind in ("object", "list", *WORDS)]
        typed = f"{leaf(SPACE)} ({' / '.join([*kinds, 'scalar'])}) {self.space_before_close(close)}"
        return sequence(self.own_close_next(), typed)

    def typed_rules(self) -> list[Rule]:
        suffix = "_for_argument"
        return [
            rule("typed_value", self.typed_value()),
            *object_rules(self.dialect.top, suffix, ""),
            *list_rules(self.dialect.top, suffix, list_suffix(self.dialect)),
            *self.word_rules(suffix),
        ]

    def word_rules(self, suffix: str) -> list[Rule]:
        rules = []
        for word, usual in WORDS.items():
            others = usual if "python_literals" in self.facts.acceptor.tolerances else ()
            words = dict.fromkeys([getattr(self.dialect.top, word) or "", *others])
            pattern = either([exact(each) for each in words if each])
            rules.append(rule(f"{word}{suffix}", leaf(rf"(?:{pattern})(?![-+.\w])")))
        return [*rules, rule("scalar", leaf(r"[-+.0-9][-+.\w]*+"))]

    def quoted_rules(self) -> list[Rule]:
        suffix, follow = "_for_argument", after_quoted(self.pairs.following, over=True, quote=exact)
        values = value_rules(self.dialect.top, self.dialect, suffix, after=follow)
        # Values in quotes or brackets have their own end; a number or a word may be the beginning of something else.
        firm = [kind for kind in values[0].choices if kind.removesuffix(suffix) in ("object", "list", "string")]
        words = [kind for kind in values[0].choices if kind not in firm]
        spaces = leaf(r"\s*+")
        return [
            rule("argument_value", f"{spaces} ({' / '.join([*firm, 'firm_word', 'loose_value'])})", "no_value"),
            *values[1:],
            rule("firm_word", f"({' / '.join(words)}) value_end"),
            rule("value_end", leaf(rf"(?={follow}|{AFTER_LITERAL})")),
            external("loose_value", self.facts),
            rule("no_value", leaf(r"\s*+")),
        ]


def string_before(quotes: Sequence[str], follow: str) -> str:
    """The choice of a string in one of the quotes, before this; "" if there are no quotes."""
    strings = [rf"{quote}[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+{quote}" for quote in quotes]
    return rf"\s*+(?:{either(strings)})(?={follow})|" if strings else ""


def one_of(keys: Sequence[str]) -> str:
    """The pattern of one of the keys; of any, where none is known."""
    return group(either([exact(key) or "(?:)" for key in sorted(keys, key=len, reverse=True)])) or KEY


def cores(texts: Sequence[str], alike: bool = False) -> str:
    return group(either([marker_core(text, alike=alike) for text in sorted(texts, key=len, reverse=True)]))


def ends(texts: Sequence[str], alike: bool = False) -> str:
    return group(either([marker(text.lstrip(), alike=alike) for text in sorted(texts, key=len, reverse=True)]))


def whole_ends(texts: Sequence[str]) -> str:
    return group(either([marker(text) for text in texts]))
