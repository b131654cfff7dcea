"""Embed the runtime: the definitions a generated parser needs, and only those, as text.

    names = {"Pairs"}  →  class Scanner: …, class Machine: …, class Pairs(Machine): …

Definitions keep the order they have in the runtime's files.  Of classes, methods and attributes that nothing refers to
are left out, and so are methods of the parser's bases that others stand in for, and branches for what the format has
not: `if self.FLAG` (alone, as the first of several conditions, or with other flags by `or`), where FLAG is false or
empty in the runtime's class, and neither the parser nor a class that is embedded says otherwise.  Where a flag is true,
`if self.FLAG` goes, and what it guards stays.  Module docstrings and imports are left out too, and the imports that are
needed are gathered.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from tplc.backends.python.definitions import (
    Definition,
    Flags,
    Fragment,
    Import,
    Statement,
    assigned,
    attributes_in,
    flags,
    is_filled,
    is_off,
    names_in,
)
from tplc.backends.python.definitions import definitions as definitions_of
from tplc.backends.python.fold import flag_of_kind
from tplc.backends.python.merge import (
    PARSER,
    ClassMember,
    Joined,
    class_of,
    groups,
    member_of,
    members_of_parser,
    parser_in,
    with_bases,
)
from tplc.backends.python.nodes import defined_names, walk

# In the order in which each finds what it needs above it.
FILES = (
    "message",
    "pattern",
    "scanner",
    "schema",
    "values",
    "second",
    "escapes",
    "markerlike",
    "fence",
    "transcript",
    "heads",
    "whole",
    "stream",
    "texts",
    "places",
    "turn",
    "slots",
    "arguments",
    "machine",
    "unopened",
    "repairs",
    "objects",
    "callobjects",
    "pairs",
    "raw",
    "guess",
    "lines",
    "elements",
    "wraps",
    "typedwraps",
    "special",
    "openai",
    "events",
    "responses",
    "messages",
    "command",
)
# Of the runtime that several parsers share, not of a parser that contains its own.
_SHARED_ONLY = ("lexemes", "version")
FILLED = "filled"  # an attribute holds something that is true, but not True
_PUBLIC = frozenset(["feed", "finish", "message", "copy", "trailing", "response", "read"])


@dataclass(frozen=True, slots=True)
class Embedded:
    imports: tuple[Import, ...]
    type_imports: tuple[Import, ...]
    types: tuple[str, ...]
    text: str
    unasked: frozenset[str] = frozenset()  # attributes of the parser that no code asks for any more
    code: tuple[str, ...] = ()  # the lines of the parser itself, with the members of classes that became part of it


def embed(
    code: Sequence[str],
    bases: Sequence[str] = (),
    used: Collection[str] = (),
    *,
    flags: Mapping[str, bool] = {},
    absent_kinds: Collection[str] = (),
) -> Embedded:
    """Return the definitions that `code`, the lines of the parser itself, needs.  Each of `bases` is a subclass of the
    next, if there are several.  `used`: names and members of the runtime that other code in the file uses.  `flags` are
    known in addition to those of the classes; `absent_kinds`: the format has no markers of these."""
    own = ast.parse("\n".join(code))
    walked = [*walk(own)]
    names, attributes = names_in(walked).union(bases, used), attributes_in(walked).union(used)
    known = {**_flags_of_parser(bases, walked), **flags, **dict.fromkeys(map(flag_of_kind, absent_kinds), False)}
    kept = _needed_for(names, attributes, known, bases)
    chosen = [_definitions()[name] for name in kept]
    texts: dict[str, str] = {}
    mentioned = set(names)
    for definition in chosen:
        name = definition.name
        mentioned.update(name for part in kept[name] for name in part.code.names)
        text = "\n".join(line for part in kept[name] for line in part.code.lines)
        # The first member was left out.
        if definition.statement.is_class:
            text = re.sub(r"\A(class .*:\n)\n+", r"\1", text)
            text = re.sub(r'\A(class .*:\n    """(?:(?!""")(?:.|\n))*"""\n)(?=    )', r"\1\n", text)
        texts[name] = text + "\n    pass" * text.endswith("):")  # all members were left out
    if bases:
        family = _Family.of(tuple(bases))
        code = _with_joined_classes(code, parser_in(own), texts, chosen, kept, family)
    _drop_unused_constants(texts, chosen, code)
    shown = [(definition, texts[name]) for definition in chosen if (name := definition.name) in texts]
    return Embedded(
        imports=_needed((pair for definition in chosen for pair in definition.imports), mentioned),
        type_imports=_needed((pair for one in _definitions().values() for pair in one.type_imports), mentioned),
        types=_spaced([text for definition, text in shown if definition.only_types]),
        text=_joined([text for definition, text in shown if not definition.only_types]),
        unasked=frozenset(known).difference(
            attributes, *(part.code.attributes for parts in kept.values() for part in parts)
        ),
        code=tuple(code),
    )


def _drop_unused_constants(texts: dict[str, str], chosen: Sequence[Definition], code: Iterable[str]) -> None:
    """Drop the constants that only members mentioned which other members stand in for."""
    constants = [
        definition
        for definition in chosen
        if not definition.only_types and re.match(r"\w+[^\n(]* = ", texts.get(definition.name, ""))
    ]
    words = {name: _constants_in(text) for name, text in (*texts.items(), ("", "\n".join(code)))}
    mentioned = Counter[str]()
    for found in words.values():
        mentioned.update(found)
    for definition in reversed(constants):  # a constant is used below its definition
        name = definition.name
        if all(mentioned[one] == words[name][one] for one in definition.names):
            mentioned.subtract(words[name])
            del texts[name]


@lru_cache(maxsize=4096)  # formats share most of the texts
def _constants_in(text: str) -> Counter[str]:
    return Counter(filter(_constants().__contains__, re.findall(r"\w+", text)))


@cache
def _constants() -> frozenset[str]:
    statements = (definition.statement for definition in _definitions().values())
    return frozenset(name for one in statements if not one.is_class for name in one.names)


def _with_joined_classes(
    code: Sequence[str],
    parser: ast.ClassDef,
    texts: dict[str, str],
    chosen: Sequence[Definition],
    kept: Mapping[str, Sequence[Fragment]],
    family: _Family,
) -> Sequence[str]:
    """Join short classes of the family, in `texts` and in the parser; return the lines of the parser."""
    line, members = list(family.members), dict[str, list[ClassMember]]()
    for definition in chosen:
        name = definition.name
        if name in line:
            members[name] = [member_of(part) for part in kept[name] if part.member]
    refers = _references(chosen, kept, family)
    found = [*groups(((name, members[name]) for name in line), members_of_parser(code, parser), refers)]
    called = {base for name, base in refers if name == PARSER}  # code refers to them by these names
    names = [PARSER, *(_name_of(group, members, called) for group in found[1:]), ""]
    for group, (name, base) in zip(found, pairwise(names), strict=True):
        if name == PARSER:
            code = with_bases(code, parser, group, base)
        elif len(group.names) > 1:
            texts[group.names[0]] = class_of(group, name, base)  # where all that it needs is defined
        else:
            texts[name] = re.sub(r"\Aclass (\w+)\(\w+\):", rf"class \1({base}):", texts[name])
        for other in group.names[1:]:
            del texts[other]
    return code


def _name_of(group: Joined, members: Mapping[str, Sequence[ClassMember]], called: Collection[str]) -> str:
    """Return the name of a class: the one that code refers to, or that of the longest of its parts."""
    return next((name for name in group.names if name in called), max(group.names, key=lambda one: len(members[one])))


def _references(
    chosen: Sequence[Definition], kept: Mapping[str, Sequence[Fragment]], family: _Family
) -> set[tuple[str, str]]:
    """Return the pairs of classes of which the first, or other code, refers to the second, which must stay a class."""
    refers = set[tuple[str, str]]()
    for definition in chosen:
        name = definition.name
        members = [part for part in kept[name] if part.member or name not in family.members]
        named = {base for part in members for base in part.code.names if base in family.members}
        refers |= {(other, base) for base in named for other in (*family.members, PARSER)}
        refers |= {(name, base) for part in members for base, _ in family.meant(name, part.code.inherited)}
    return refers


def _needed_for(
    names: frozenset[str], attributes: frozenset[str], known: Mapping[str, bool | str | None], bases: Sequence[str]
) -> dict[str, list[Fragment]]:
    """Return the parts of the definitions that are needed, as the flags fold them."""
    always = frozenset(flag for flag, on in known.items() if on is True)
    changing = frozenset[str]().union(*map(assigned, FILES))
    filled = frozenset(flag for flag, value in known.items() if value == FILLED) - changing
    # Flags of other classes are off until a class that is embedded sets them.
    off = frozenset(flag for file in FILES for flag in flags(file) if known.get(flag, False) is False)
    off |= frozenset(flag for flag, on in known.items() if on is False)
    while True:
        kept = _Reach(Flags(off, always, filled), _Family.of(tuple(bases)), names, attributes).parts()
        on = frozenset(flag for name in kept for flag in _definitions()[name].flags if flag not in known)
        if not on & off:
            return kept
        off -= on


@cache
def _definitions() -> dict[str, Definition]:
    """Return the definitions of the runtime by their first names."""
    return {definition.name: definition for file in FILES for definition in definitions_of(file)}


@cache
def _first_names() -> dict[str, str]:
    return {name: first for first, definition in _definitions().items() for name in definition.names}


def flags_of(bases: Sequence[str]) -> dict[str, bool | str | None]:
    """Return the flags that a parser of these bases has if it says nothing about them."""
    return _flags_of_parser(bases, ())


def _flags_of_parser(bases: Sequence[str], walked: Iterable[ast.AST]) -> dict[str, bool | str | None]:
    """Return the attributes of a parser's class that are True, those that are false or empty, and those that hold
    something (FILLED); None: that isn't known.

    `walked` contains the class itself; its attributes stand in for those of its bases."""
    known: dict[str, bool | str | None] = {}
    for item in (item for node in walked if isinstance(node, ast.ClassDef) for item in node.body):
        value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
        for flag in filter(str.isupper, defined_names(item)):
            known.setdefault(flag, _value_of(value))
    line, definitions = [*bases], _definitions()
    for name in line:
        for one in definitions[name].statement.members:
            if one.member.isupper() and one.member not in known:
                known[one.member] = _value_of(one.value)
        line += filter(definitions.__contains__, definitions[name].bases)
    return known


def _value_of(value: ast.expr | None) -> bool | str | None:
    if value is None:
        return None
    is_true = isinstance(value, ast.Constant) and value.value is True
    return True if is_true else False if is_off(value) else FILLED if is_filled(value) else None


def share() -> Embedded:
    """Return all of the runtime, for the file that parsers share."""
    definitions = [definition for file in (*FILES, *_SHARED_ONLY) for definition in definitions_of(file)]
    written = [(definition, definition.statement.text) for definition in definitions]
    return Embedded(
        imports=tuple(sorted({pair for definition in definitions for _, pair in definition.imports})),
        type_imports=tuple(sorted({pair for definition in definitions for _, pair in definition.type_imports})),
        types=_spaced([text for definition, text in written if definition.only_types]),
        text=_joined([text for definition, text in written if not definition.only_types]),
    )


def imports_of(code: Iterable[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], Embedded]:
    """Return the names that `code` imports from the runtime and from other modules, if it doesn't define them.

    Returns the names by file of the runtime, those that are types alone, and the imports of other modules.
    """
    names = {*names_in(walk(ast.parse("\n".join(code))))}
    taken: dict[str, tuple[str, ...]] = {}
    types: dict[str, tuple[str, ...]] = {}
    definitions = {file: definitions_of(file) for file in (*FILES, *_SHARED_ONLY)}
    for file, there in definitions.items():
        for found, only_types in ((taken, False), (types, True)):
            wanted = {name for one in there if one.only_types == only_types for name in one.names if name in names}
            if wanted:
                found[file] = tuple(sorted(wanted))
    all_of = [definition for there in definitions.values() for definition in there]
    outside = Embedded(
        imports=_needed((pair for definition in all_of for pair in definition.imports), names),
        type_imports=_needed((pair for definition in all_of for pair in definition.type_imports), names),
        types=(),
        text="",
    )
    return taken, types, outside


@dataclass(frozen=True, slots=True)
class _Family:
    """The classes that a parser is one of, the nearest first, with their members."""

    members: dict[str, frozenset[str]]

    @staticmethod
    @cache
    def of(bases: tuple[str, ...]) -> _Family:
        classes, line = _definitions(), [*bases]
        while line and (above := [base for base in classes[line[-1]].bases if base in classes]):
            line += above
        return _Family({name: frozenset(one.member for one in classes[name].statement.members) for name in line})

    def replaced(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """Return the members, by class, that a nearer class overrides, and those of which a declaration must stay
        because code of their class uses them."""
        line = list(self.members)
        between: set[tuple[str, str]] = set()
        farthest: set[tuple[str, str]] = set()
        for at, name in enumerate(line):
            for member in self.members[name] - {""}:
                if any(member in self.members[other] for other in line[:at]):
                    last = not any(member in self.members[other] for other in line[at + 1 :])
                    (farthest if last else between).add((name, member))
        return between, farthest

    def meant(self, name: str, inherited: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield the class and the member to which super().member or Base.member refers in code of the class `name`."""
        line = list(self.members)
        for base, member in inherited:
            if name in line and (not base or base in line):
                start = line.index(base) if base else line.index(name) + 1
                yield from [(other, member) for other in line[start:] if member in self.members[other]][:1]


class _Reach:
    """Finds the reachable parts of definitions: names lead to definitions, attributes to members.  Methods that are
    always overridden are only declared."""

    def __init__(self, flags: Flags, family: _Family, names: frozenset[str], attributes: frozenset[str]) -> None:
        self.folded, self.family = flags.folded, family
        self.used = {*names, "Message", "Delta", "ToolCall", "Function"}
        self.members = {*attributes, *_PUBLIC}
        self.replaced, self.declared = family.replaced()
        self.kept: dict[str, set[Statement]] = {}
        self.left: dict[str, list[Statement]] = {}  # of the definitions that are kept, what isn't reached so far

    def parts(self) -> dict[str, list[Fragment]]:
        """Return the parts of the definitions, by their first names, in the order of the runtime."""
        size = (-1, -1, -1, -1)
        while size != (size := (len(self.used), len(self.members), len(self.replaced), len(self.declared))):
            for name in {first for name in self.used if (first := _first_names().get(name))} - self.kept.keys():
                self.kept[name], self.left[name] = set(), [*_definitions()[name].statement.members]
            for name, left in self.left.items():
                self.left[name] = [one for one in left if not self.follow(name, one)]
        return {name: self.in_order(name) for name in _definitions() if name in self.kept}

    def follow(self, name: str, one: Statement) -> bool:
        """Keep a part if it is reached; return whether all that it refers to is reached then."""
        place = name, one.member
        is_asked = not one.member or one.member in self.members or one.member.startswith("__")
        if not is_asked or place in self.replaced:
            return False
        self.kept[name].add(one)
        code = self.folded(one)
        if place in self.declared and code.declaration is not None:
            self.used |= code.declaration.names
            return False
        self.declared.discard(place)
        self.used |= code.names
        self.members |= code.attributes
        meant = {*self.family.meant(name, code.inherited)}
        self.replaced -= meant
        self.declared -= meant
        return True

    def in_order(self, name: str) -> list[Fragment]:
        """Return the parts of a definition, with declarations in place of methods that are always overridden; these
        follow the attributes."""
        declarations, others = list[Fragment](), list[Fragment]()
        for one in _definitions()[name].statement.members:
            if one in self.kept[name]:
                code = self.folded(one)
                if (name, one.member) in self.declared and code.declaration is not None:
                    declarations.append(Fragment(one.member, code.declaration))
                else:
                    others.append(Fragment(one.member, code, one.is_method))
        first = next((at for at, part in enumerate(others) if part.is_method), len(others))
        return [*others[:first], *declarations, *others[first:]]


def _needed(imports: Iterable[tuple[str, Import]], used: set[str]) -> tuple[Import, ...]:
    return tuple(sorted({pair for name, pair in imports if name in used}))


def _spaced(texts: list[str]) -> tuple[str, ...]:
    """Return definitions inside a block, with an empty line around each class."""
    lines: list[str] = []
    for text in texts:
        if text.startswith("class") and lines and lines[-1]:
            lines.append("")
        lines += [*text.split("\n"), ""] if text.startswith("class") else text.split("\n")
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _joined(texts: list[str]) -> str:
    joined, previous = "", False
    for text in texts:
        block = bool(re.search(r"^(class|def|@)", text, re.M))
        joined += ("\n\n\n" if block or previous else "\n") * bool(joined) + text
        previous = block
    return joined
