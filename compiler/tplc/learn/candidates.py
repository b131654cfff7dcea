"""Candidates to probe with, read from the template's syntax tree.

    {% if thinking_mode == "on" and m.plan is defined %}{{ m.content.split("</r>")[-1] }}
    →  variables {"thinking_mode": ["on"]}, keys ["plan", "content"], constants ["on", "</r>"]

They decide nothing by themselves: a candidate counts when a render shows its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from jinja2 import TemplateError, meta, nodes, pass_context
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

from tplc.ir.nodes import Json

# what a caller of `apply_chat_template` sets, the tokenizer's special tokens under their standard names, and functions
# of the environment: never candidates
_GIVEN = frozenset(
    "messages tools documents add_generation_prompt continue_final_message raise_exception strftime_now tojson range "
    "namespace dict lipsum cycler joiner loop bos_token eos_token unk_token pad_token sep_token cls_token "
    "mask_token".split()
)


_Node = TypeVar("_Node", bound=nodes.Node)


class _Generation(Extension):
    """{% generation %} … {% endgeneration %}, read as its body."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@pass_context
def _needs_a_render(*_: object) -> object:
    raise NotImplementedError


class _NeverFolded(dict[str, Callable[..., Any]]):
    """Filters or tests of any name, none of which has a value before a render."""

    def get(self, key: str, default: object = None) -> Callable[..., Any]:
        return _needs_a_render


class SourceEnvironment(SandboxedEnvironment):
    """Jinja works out constant expressions while it looks for variables.  Here, outside the worker and its limits, a
    stranger's `10 ** (10 ** 10)` or `('a' * 999999) | wordwrap(1)` must not run; a sum is as small as it is written."""

    intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table) - {"+", "-"}

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation])
        self.filters = _NeverFolded()
        self.tests = _NeverFolded()  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Candidates:
    """`variables`: undeclared variables and the constants they are compared with.  `keys`: names read from something.
    `constants`: the string constants, in order of appearance.  `sizes`: numbers that could be a demanded length.
    `messages`: whether it reads the variable of that name at all, as every chat template does."""

    variables: tuple[tuple[str, tuple[Json, ...]], ...]
    keys: tuple[str, ...]
    constants: tuple[str, ...]
    sizes: tuple[int, ...]
    messages: bool = True

    def without(self, names: Container[str]) -> Candidates:
        """Return the candidates without variables that already have a value."""
        return replace(self, variables=tuple(found for found in self.variables if found[0] not in names))


@dataclass(frozen=True, slots=True)
class Read:
    """Jinja's account of a source: its undeclared variables, and every node in order, constants being folded."""

    undeclared: frozenset[str]
    nodes: tuple[nodes.Node, ...]

    def all(self, kind: type[_Node]) -> Iterator[_Node]:
        return (node for node in self.nodes if isinstance(node, kind))


@lru_cache(maxsize=2)
def read_source(source: str) -> Read:
    """Return the parsed source, cached: one compile needs it four times, and parsing takes longer than rendering."""
    tree = SourceEnvironment().parse(source)
    undeclared = frozenset(meta.find_undeclared_variables(tree))
    return Read(undeclared, tuple(tree.find_all(nodes.Node)))


def undeclared(source: str) -> frozenset[str]:
    try:
        return read_source(source).undeclared
    except (TemplateError, RecursionError):  # the renderer reports it
        return frozenset()


def candidates(source: str) -> Candidates:
    try:
        return _candidates(read_source(source))
    except (TemplateError, RecursionError):  # the renderer has reported it already, or its parser has more tags
        return Candidates((), (), (), ())


def written_tokens(source: str) -> tuple[str, ...]:
    """Return the names of special tokens that are printed or added to a text. `add_x_token`, which is only tested, is a
    switch."""
    try:
        return _tokens_in(read_source(source))
    except (TemplateError, RecursionError):  # the renderer reports it
        return ()


def _tokens_in(read: Read) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for node in read.nodes:
        if not isinstance(node, (nodes.Output, nodes.Add, nodes.Concat, nodes.CondExpr, nodes.Assign)):
            continue
        asked = node.test if isinstance(node, nodes.CondExpr) else None
        for child in node.iter_child_nodes():
            if isinstance(child, nodes.Name) and child.ctx == "load" and child is not asked:
                if child.name.endswith("_token") and child.name in read.undeclared:
                    found[child.name] = None
    return tuple(found)


def _candidates(read: Read) -> Candidates:
    names = sorted(read.undeclared - _GIVEN)
    # a variable with a default (`set x = x or …`) is declared by Jinja's count, yet a caller may set it
    for node in read.all(nodes.Test):
        if node.name in ("defined", "undefined") and isinstance(node.node, nodes.Name) and node.node.name not in names:
            if node.node.name not in _GIVEN:
                names.append(node.node.name)
    compared = _compared(read, names)
    return Candidates(
        variables=tuple((name, tuple(compared[name])) for name in names),
        keys=tuple(_keys(read)),
        constants=tuple(dict.fromkeys(n.value for n in read.all(nodes.Const) if isinstance(n.value, str))),
        sizes=tuple(_sizes(read)),
        messages="messages" in read.undeclared,
    )


def _compared(read: Read, names: list[str]) -> dict[str, list[Json]]:
    """Return the constants that each variable is compared with, on either side, through filters and methods
    (`policy | lower == "lenient"`), in lists and by tests (`policy is eq "lenient"`)."""
    compared: dict[str, list[Json]] = {name: [] for name in names}
    aliases, lists = _aliases(read, names), _constants_by_name(read)
    for node in read.nodes:
        if isinstance(node, nodes.Compare):
            sides = [node.expr, *(operand.expr for operand in node.ops)]
        elif isinstance(node, nodes.Test) and node.args:
            sides = [node.node, *node.args]
        else:
            continue
        constants = [value for side in sides for value in (*_constants_in(side), *lists.get(_subject(side), ()))]
        for name in (name for side in sides for name in aliases.get(_subject(side), ())):
            compared[name] += [value for value in constants if not _is_among(value, compared[name])]
    return compared


def _subject(node: nodes.Node) -> str:
    """Return the name of the variable that a side of a comparison is about: `x`, `x | lower`, `x.strip()`."""
    while isinstance(node, (nodes.Filter, nodes.Call, nodes.Getattr)):
        node = node.node if node.node is not None else nodes.Const(None)
    return node.name if isinstance(node, nodes.Name) else ""


def _constants_in(node: nodes.Node) -> list[Json]:
    """Return the constants in an expression; Jinja folds lists of constants to one constant."""
    found = [node] if isinstance(node, nodes.Const) else list(node.find_all(nodes.Const))
    values = [value for const in found for value in _items(const.value)]
    return [value for value in values if isinstance(value, (str, bool, int))]


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, dict)) else [value]


def _constants_by_name(read: Read) -> dict[str, list[Json]]:
    """Return the constants of names that are set to a list, a tuple or an object: `policy in allowed`."""
    return {
        assign.target.name: _constants_in(assign.node)
        for assign in read.all(nodes.Assign)
        if isinstance(assign.target, nodes.Name) and isinstance(assign.node, nodes.Literal)
    }


def _is_among(value: Json, others: list[Json]) -> bool:
    """Return whether the list has the value: 1 is not True here."""
    return any(value == other and type(value) is type(other) for other in others)


def _aliases(read: Read, names: list[str]) -> dict[str, list[str]]:
    """Return which undeclared variables a name stands for: itself, and those it is set from."""
    aliases = {name: [name] for name in names}
    for assign in read.all(nodes.Assign):
        if isinstance(assign.target, nodes.Name):
            sources = [n.name for n in assign.node.find_all(nodes.Name) if n.name in names]
            if isinstance(assign.node, nodes.Name) and assign.node.name in names:
                sources.append(assign.node.name)
            known = aliases.setdefault(assign.target.name, [])
            known += [name for name in sources if name not in known]
    return aliases


def _sizes(read: Read) -> list[int]:
    compared = {
        const.value
        for compare in read.all(nodes.Compare)
        for operand in compare.ops
        for const in operand.find_all(nodes.Const)
        if isinstance(const.value, int) and not isinstance(const.value, bool) and 6 <= const.value <= 64
    }
    return sorted(compared - {9, 24})


def _keys(read: Read) -> list[str]:
    """Return names read by attribute, by item, by `.get(…)` or tested with `in`."""
    keys: dict[str, None] = {}
    for node in read.nodes:
        if isinstance(node, nodes.Getattr):
            keys[node.attr] = None
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            keys[node.arg.value] = None
        elif isinstance(node, nodes.Call) and node.args and isinstance(node.args[0], nodes.Const):
            if isinstance(node.args[0].value, str):
                keys[node.args[0].value] = None
        elif isinstance(node, nodes.Compare) and isinstance(node.expr, nodes.Const):
            if isinstance(node.expr.value, str) and node.ops and node.ops[0].op == "in":
                keys[node.expr.value] = None
    return [key for key in keys if key.isidentifier()]
