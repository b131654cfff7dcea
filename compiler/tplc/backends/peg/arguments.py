"""The rules of arguments: one object, or pairs of a key and a value.

ObjectArguments()  →  arguments = object / string / loose_value / cut
                      object    = object_open (member (comma member)*)? object_close
                      …
"""

from __future__ import annotations

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.pairs import PairRules
from tplc.backends.peg.patterns import either, leaf, marker_core
from tplc.backends.peg.rules import Section, rule
from tplc.backends.peg.schemas import schema_rules
from tplc.backends.peg.values import list_suffix, value_rules
from tplc.lower import PairForm, SlotEnd
from tplc.lower.lexemes import exact


def arguments_ahead(form: FormPatterns, pairs: PairForm, *, after: SlotEnd | None = None) -> list[str]:
    """Return the rules for text at the place where the arguments begin: the texts that end this slot, if one is
    given."""
    opens = pairs.opens if after is None else [text for text in pairs.opens if text in after.nexts]
    return [
        marker_core(text, any_spelling=form.any_spelling)
        for text in (pairs.start, *opens, pairs.empty, pairs.end)
        if text.strip()
    ]


def argument_sections(form: FormPatterns) -> list[Section]:
    dialect, known = form.dialect, form.known
    inside = value_rules(dialect.in_object, dialect, no_key=no_key(form, 2))
    if form.calls.pairs is not None:
        suffix = list_suffix(dialect)
        inside += value_rules(dialect.in_list, dialect, suffix, no_key=no_key(form, 1)) if suffix else []
        return [
            Section("Its arguments: pairs of a key and a value.", (*PairRules(form, form.calls.pairs).rules(),)),
            Section("Values inside lists and objects.", tuple(inside) if dialect.elements is None else ()),
        ]
    loose = [] if form.calls.object.fields else ["loose_value", "cut"]
    arguments = rule("arguments", "object", "string", *loose)
    fenced = form.reads_again and not form.calls.object.fields
    schemas = [each for tool in known.tools for each in schema_rules(tool, dialect, fenced=fenced)]
    schemas += [rule("fence_open", leaf(r"\s*+```[\w-]*+\s*+"))] if fenced else []
    schemas += [form.external(f"other_arguments_for_{tool.rule}") for tool in known.tools] if fenced else []
    return [
        Section("The arguments of each tool, as its schema has them; else as any arguments.", (*schemas,)),
        Section("Its arguments: an object.", (arguments, *inside)),
        Section(
            "Values with mistakes, or that the output cuts off.",
            (form.external("loose_value"),),
            ("The engine has a reader for them, which says where they end.",),
        ),
    ]


def no_key(form: FormPatterns, style: int) -> str:
    """Return the pattern of characters that begin no unquoted key: quotes, and the punctuation of values."""
    strings = form.calls.arguments.styles[style].strings if form.calls.arguments.styles else ()
    return either([*(exact(opened) for opened, _, _ in strings), form.breaks])
