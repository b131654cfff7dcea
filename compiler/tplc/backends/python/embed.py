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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from tplc.backends.python.fold import flags_in, fold
from tplc.backends.python.merge import PARSER, ClassMember, class_of, groups, members_of_parser, with_bases
from tplc.backends.python.nodes import defined_names, walk

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
    "turn",
    "slots",
    "machine",
    "repairs",
    "objects",
    "callobjects",
    "pairs",
    "raw",
    "guess",
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
_SHARED_ONLY = "version"
_OFF = frozenset(["False", "None", "()", "{}", "''"])
_PUBLIC = frozenset(["feed", "finish", "message", "copy", "trailing", "response", "read"])

Import = tuple[str, str]  # module and name; the name is "" for `import module`


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of a definition: a member of a class, or what is around the members.  `inherited`: the methods that it
    takes from a base, of that base ("" for the next)."""

    member: str
    lines: tuple[str, ...]
    names: frozenset[str]
    attributes: frozenset[str]
    inherited: frozenset[tuple[str, str]] = frozenset()
    signature: tuple[str, ...] = ()  # of a method, without what it does
    names_of_signature: frozenset[str] = frozenset()

    @property
    def stub(self) -> tuple[str, ...]:
        """Return the method with its signature only, for a base whose method is always overridden."""
        return (*self.signature, "        raise NotImplementedError")


@dataclass(frozen=True, slots=True)
class Definition:
    names: tuple[str, ...]
    bases: tuple[str, ...]
    flags: frozenset[str]  # of a class, those that are true or hold something
    parts: tuple[Fragment, ...]
    imports: tuple[tuple[str, Import], ...]
    type_imports: tuple[tuple[str, Import], ...]
    only_types: bool


@dataclass(frozen=True, slots=True)
class Embedded:
    imports: tuple[Import, ...]
    type_imports: tuple[Import, ...]
    types: tuple[str, ...]
    text: str
    unasked: frozenset[str] = frozenset()  # attributes of the parser that no code asks for any more
    code: tuple[str, ...] = ()  # the lines of the parser itself, with the members of classes that became part of it


def embed(code: Sequence[str], bases: Sequence[str] = (), used: Collection[str] = ()) -> Embedded:
    """Return the definitions that `code`, the lines of the parser itself, needs.  Each of `bases` is a subclass of the
    next, if there are several.  `used`: names and members of the runtime that other code in the file uses."""
    walked = [*walk(ast.parse("\n".join(code)))]
    names, attributes = _names(walked).union(bases, used), _attributes(walked).union(used)
    known = _flags_of_parser(bases, walked)
    definitions, kept, stubs = _needed_for(names, attributes, known, bases)
    chosen = [definition for definition in definitions if definition.names[0] in kept]
    texts: dict[str, str] = {}
    mentioned = set(names)
    for definition in chosen:
        name = definition.names[0]
        parts = [(part, (name, part.member) in stubs) for part in definition.parts if part in kept[name]]
        mentioned.update(name for part, stub in parts for name in (part.names_of_signature if stub else part.names))
        text = "\n".join(line for part, stub in parts for line in (part.stub if stub else part.lines))
        # The first member was left out.
        text = re.sub(r"\A(class .*:\n)\n+", r"\1", text)
        text = re.sub(r'\A(class .*:\n    """(?:(?!""")(?:.|\n))*"""\n)(?=    )', r"\1\n", text)
        texts[name] = text + "\n    pass" * text.endswith("):")  # all members were left out
    if bases:
        code = _with_joined_classes(code, texts, chosen, kept, stubs, _Family.of(definitions, bases))
    shown = [(definition, texts[name]) for definition in chosen if (name := definition.names[0]) in texts]
    return Embedded(
        imports=_needed((pair for definition in chosen for pair in definition.imports), mentioned),
        type_imports=_needed((pair for definition in definitions for pair in definition.type_imports), mentioned),
        types=_spaced([text for definition, text in shown if definition.only_types]),
        text=_joined([text for definition, text in shown if not definition.only_types]),
        unasked=frozenset(known).difference(
            attributes, *(part.attributes for parts in kept.values() for part in parts)
        ),
        code=tuple(code),
    )


def _with_joined_classes(
    code: Sequence[str],
    texts: dict[str, str],
    chosen: Sequence[Definition],
    kept: Mapping[str, set[Fragment]],
    stubs: Collection[tuple[str, str]],
    family: _Family,
) -> Sequence[str]:
    """Join short classes of the family, in `texts` and in the parser; return the lines of the parser."""
    line, members = list(family.members), dict[str, list[ClassMember]]()
    for definition in chosen:
        name = definition.names[0]
        if name in line:
            parts = [part for part in definition.parts if part in kept[name] and part.member]
            members[name] = [
                ClassMember(
                    part.member, part.stub if (name, part.member) in stubs else part.lines, bool(part.signature)
                )
                for part in parts
            ]
    refers = _references(chosen, kept, family)
    found = [*groups(((name, members[name]) for name in line), members_of_parser(code), refers)]
    names = [PARSER, *(max(group.names, key=lambda name: len(members[name])) for group in found[1:]), ""]
    for group, (name, base) in zip(found, pairwise(names), strict=True):
        if name == PARSER:
            code = with_bases(code, group, base)
        elif len(group.names) > 1:
            texts[group.names[0]] = class_of(group, name, base)  # where all that it needs is defined
        else:
            texts[name] = re.sub(r"\Aclass (\w+)\(\w+\):", rf"class \1({base}):", texts[name])
        for other in group.names[1:]:
            del texts[other]
    return code


def _references(
    chosen: Sequence[Definition], kept: Mapping[str, set[Fragment]], family: _Family
) -> set[tuple[str, str]]:
    """Return the pairs of classes of which the first, or other code, refers to the second, which must stay a class."""
    refers = set[tuple[str, str]]()
    for definition in chosen:
        name = definition.names[0]
        members = [part for part in kept[name] if part.member or name not in family.members]
        named = {base for part in members for base in part.names if base in family.members}
        refers |= {(other, base) for base in named for other in (*family.members, PARSER)}
        refers |= {(name, base) for part in members for base, _ in family.meant(name, part.inherited)}
    return refers


def _needed_for(
    names: frozenset[str], attributes: frozenset[str], known: Mapping[str, bool | None], bases: Sequence[str]
) -> tuple[list[Definition], dict[str, set[Fragment]], set[tuple[str, str]]]:
    """Return all definitions as the flags fold them; those that are needed, and the methods of which only the signature
    is."""
    always = frozenset(flag for flag, on in known.items() if on)
    # Flags of other classes are off until a class that is embedded sets them.
    off = frozenset(flag for file in FILES for flag in _flags(file) if known.get(flag, False) is False)
    off |= frozenset(flag for flag, on in known.items() if on is False)
    while True:
        definitions = [definition for file in FILES for definition in _definitions(file, off, always)]
        kept, stubs = _reachable(definitions, names, attributes, _Family.of(definitions, bases))
        chosen = (definition for definition in definitions if definition.names[0] in kept)
        on = frozenset(flag for definition in chosen for flag in definition.flags if flag not in known)
        if not on & off:
            return definitions, kept, stubs
        off -= on


@cache
def _classes() -> dict[str, ast.ClassDef]:
    return {node.name: node for file in FILES for node in _tree(file).body if isinstance(node, ast.ClassDef)}


def _flags_of_parser(bases: Sequence[str], walked: Iterable[ast.AST]) -> dict[str, bool | None]:
    """Return the attributes of a parser's class that are true, and those that are false or empty; None: neither.

    `walked` contains the class itself; its attributes stand in for those of its bases."""
    line, classes = [node for node in walked if isinstance(node, ast.ClassDef)], _classes()
    line += [classes[name] for name in bases]
    known: dict[str, bool | None] = {}
    for node in line:
        for item in node.body:
            for flag in filter(str.isupper, defined_names(item)):
                known.setdefault(flag, _value_of(item))
        line += [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return known


def _value_of(item: ast.stmt) -> bool | None:
    """Return whether the value that an attribute is given is true, or false and empty; None if it is neither."""
    value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
    text = "" if value is None else ast.unparse(value)
    return True if text == "True" else False if text in _OFF else None


def share() -> Embedded:
    """Return all of the runtime, for the file that parsers share."""
    definitions = [definition for file in (*FILES, _SHARED_ONLY) for definition in _definitions(file)]
    texts = ["\n".join(line for part in definition.parts for line in part.lines) for definition in definitions]
    written = list(zip(definitions, texts, strict=True))
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
    names = {*_names(walk(ast.parse("\n".join(code))))}
    taken: dict[str, tuple[str, ...]] = {}
    types: dict[str, tuple[str, ...]] = {}
    definitions = {file: _definitions(file) for file in (*FILES, _SHARED_ONLY)}
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
    def of(definitions: Sequence[Definition], bases: Sequence[str]) -> _Family:
        classes = {definition.names[0]: definition for definition in definitions}
        line = [*bases]
        while line and (above := [base for base in classes[line[-1]].bases if base in classes]):
            line += above
        return _Family({name: frozenset(part.member for part in classes[name].parts) for name in line})

    def replaced(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """Return the members, by class, that a nearer class overrides, and those of which a signature must stay because
        code of their class uses them."""
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


def _reachable(
    definitions: list[Definition], names: frozenset[str], attributes: frozenset[str], family: _Family
) -> tuple[dict[str, set[Fragment]], set[tuple[str, str]]]:
    """Return the reachable parts of definitions, by their first names: names lead to definitions, attributes to
    members. Also return the methods, by class, of which only the signature is needed."""
    kept: dict[str, set[Fragment]] = {}
    used, members = {*names, "Message", "Delta", "ToolCall", "Function"}, {*attributes, *_PUBLIC}
    (replaced, stubs), size = family.replaced(), (-1, -1, -1, -1)
    while size != (size := (len(used), len(members), len(replaced), len(stubs))):
        for definition in definitions:
            name = definition.names[0]
            if name not in kept and not used.intersection(definition.names):
                continue
            parts = kept.setdefault(name, set())
            for part in definition.parts:
                usable = not part.member or part.member in members or part.member.startswith("__")
                if not usable or (name, part.member) in replaced:
                    continue
                parts.add(part)
                if (name, part.member) in stubs and part.signature:
                    used |= part.names_of_signature
                    continue
                stubs.discard((name, part.member))
                used |= part.names
                members |= part.attributes
                meant = {*family.meant(name, part.inherited)}
                replaced -= meant
                stubs -= meant
    return kept, stubs


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


@cache
def _source(file: str) -> str:
    return (resources.files("tplc_runtime") / f"{file}.py").read_text(encoding="utf-8")


@cache
def _flags(file: str) -> frozenset[str]:
    """Return the attributes of classes that are false or empty by default."""
    return frozenset(flag for node in _tree(file).body for flag in _flags_of(node, on=False))


def _flags_of(node: ast.stmt, *, on: bool) -> Iterator[str]:
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            if item.target.id.isupper() and (ast.unparse(item.value) not in _OFF) == on:
                yield item.target.id


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(_source(file))


@cache
def _flags_asked(file: str) -> frozenset[str]:
    return flags_in(_tree(file))


def _definitions(
    file: str, off: frozenset[str] = frozenset(), on: frozenset[str] = frozenset()
) -> tuple[Definition, ...]:
    asked = _flags_asked(file)
    return _folded_definitions(file, off & asked, on & asked)


@cache
def _folded_definitions(file: str, off: frozenset[str], on: frozenset[str]) -> tuple[Definition, ...]:
    known = {**dict.fromkeys(on, True), **dict.fromkeys(off, False)}
    return _definitions_in(fold(_source(file), known.get, _tree(file)) if known else _source(file))


@cache  # formats that differ in flags have most files alike
def _definitions_in(source: str) -> tuple[Definition, ...]:
    tree = ast.parse(source)
    lines = source.splitlines()
    guarded = [item for node in tree.body if isinstance(node, ast.If) for item in node.body]
    imports, type_imports = tuple(_imports(tree.body)), tuple(_imports(guarded))
    found = []
    for node in [*guarded, *tree.body]:
        names = defined_names(node)
        if names and names != ("TYPE_CHECKING",):
            parts = tuple(_parts(node, lines))
            bases = tuple(base.id for base in getattr(node, "bases", ()) if isinstance(base, ast.Name))
            flags = frozenset(_flags_of(node, on=True))
            found.append(Definition(names, bases, flags, parts, imports, type_imports, node in guarded))
    return tuple(found)


def _imports(body: list[ast.stmt]) -> Iterator[tuple[str, Import]]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module and node.module != "__future__":
            yield from ((alias.name, (node.module, alias.name)) for alias in node.names)


def _parts(node: ast.stmt, lines: list[str]) -> Iterator[Fragment]:
    """Yield the definition's lines, a part for each member and for what is between."""
    start, stop = _first_line(node, lines), node.end_lineno or node.lineno
    if not isinstance(node, ast.ClassDef):
        yield _part("", lines[start:stop], [node], node.col_offset)
        return
    between: list[ast.AST] = [*node.bases]
    for item in node.body:
        members = () if isinstance(item, ast.ClassDef) else defined_names(item)
        if members:
            first = _first_line(item, lines)
            while first > start and not lines[first - 1].strip():
                first -= 1
            if first > start:
                yield _part("", lines[start:first], between, node.col_offset)
            start, between = item.end_lineno or item.lineno, []
            yield _part(members[0], lines[first:start], [item], node.col_offset)
        else:
            between.append(item)
    if start < stop:
        yield _part("", lines[start:stop], between, node.col_offset)


def _part(member: str, lines: list[str], nodes: list[ast.AST], indent: int) -> Fragment:
    walked = [item for node in nodes for item in walk(node)]
    own = member or any(isinstance(node, ast.FunctionDef) for node in nodes)
    inherited = [(_base(item.value), item.attr) for item in walked if isinstance(item, ast.Attribute)]
    method = nodes[0] if member and len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef) else None
    own_lines = tuple(line[indent:] for line in lines)
    if method is None:
        signature: tuple[str, ...] = ()
        of_signature: frozenset[str] = frozenset()
    else:
        above = own_lines[: len(lines) - (method.end_lineno or 0) + method.body[0].lineno - 1]
        signature = tuple(line for line in above if not line.lstrip().startswith("#"))
        annotated = [method.args, *([method.returns] if method.returns else []), *method.decorator_list]
        of_signature = _names([item for node in annotated for item in walk(node)])
    return Fragment(
        member,
        own_lines,
        _names(walked) - (_local(walked) if own else frozenset()),
        _attributes(walked),
        frozenset((base, name) for base, name in inherited if base is not None),
        signature,
        of_signature,
    )


def _names(walked: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(item.id for item in walked if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load))


def _local(walked: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names that a function or a class defines locally."""
    stored = (item.id for item in walked if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store))
    return frozenset(stored).union(item.arg for item in walked if isinstance(item, ast.arg))


def _attributes(walked: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(item.attr for item in walked if isinstance(item, ast.Attribute))


def _base(value: ast.expr) -> str | None:
    """Return the class of the member: "" for super(), None for a member of an object."""
    if isinstance(value, ast.Name):
        return value.id
    is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
    return "" if is_super else None


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    start = min([node.lineno, *(item.lineno for item in decorators)]) - 1
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start
