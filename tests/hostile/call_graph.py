"""Find the functions of a source that may call themselves, directly or through others.

cycles("def f(x): return g(x)\\ndef g(x): return [f(one) for one in x]")  →  [{"f", "g"}]

A call is taken to reach everything of that name: a function, or the methods of all classes (of the bases alone for
`super()` and those named, of the family for `self`, of the classes that an attribute of `self` holds if they are
known).  A call of a state reaches every function that is passed on as a value.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import re
import sys
import uuid
from collections.abc import Container, Iterator, Mapping

Function = ast.FunctionDef | ast.AsyncFunctionDef
Graph = dict[str, set[str]]
DISPATCH = frozenset(["_state", "_find_safe_end", "_is_still_ambiguous"])  # attributes that hold functions
HOLDS_ONE = {"_regular_fast_path": "_feed_regular_text"}  # and those that hold one only, or none: it is no state


def cycles(*sources: str) -> list[set[str]]:
    """Return the groups of functions that reach themselves."""
    graph = call_graph(*sources)
    reached = {name: _reached(graph, name) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted((set(group) for group in groups if group), key=sorted)


def _reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def unknown_calls(*sources: str) -> set[str]:
    return _Sources([ast.parse(source) for source in sources]).unknown()


def call_graph(*sources: str) -> Graph:
    """Return functions by name, methods as Class.name, with those that each may call."""
    return _Sources([ast.parse(source) for source in sources]).graph()


class _Sources:
    def __init__(self, trees: list[ast.Module]) -> None:
        self.bodies = dict(one for tree in trees for one in _functions(tree.body, ""))
        classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        self.bases = {node.name: [_last(base) for base in node.bases] for node in classes}
        self.by_name: dict[str, set[str]] = {}
        for name in self.bodies:
            owner, _, word = name.rpartition(".")
            self.by_name.setdefault(owner if word == "__init__" else word, set()).add(name)
        self.held = _held(self.bodies, self.bases)
        words = [word for tree in trees for word in _handed_on(tree)]
        values = {name for word in words for name in self.by_name.get(word, ())}
        apart = {name for word in HOLDS_ONE.values() for name in self.by_name.get(word, ())}
        self.handed_on = {name for name in values - apart if not name.endswith(".__init__")}

    def graph(self) -> Graph:
        calls = {name: _calls(body) for name, body in self.bodies.items()}
        return {name: {to for call in calls[name] for to in self._targets(name, call.func)} for name in calls}

    def _targets(self, name: str, called: ast.expr) -> set[str]:
        word, owner = _last(called), name.rpartition(".")[0]
        found = self.by_name.get(word, set())
        if word in DISPATCH:
            return self.handed_on
        found = found | self.by_name.get(HOLDS_ONE.get(word, ""), set())
        if isinstance(called, ast.Name):
            return {one for one in found if one == word or one.endswith(".__init__")}
        if not isinstance(called, ast.Attribute) or _last(called.value) in _texts(self.bodies[name]):
            return set()
        if _is_super(called.value):
            return {f"{one}.{word}" for one in self._above(owner)} & found
        if _last(called.value) in self.bases:
            return {f"{one}.{word}" for one in (_last(called.value), *self._above(_last(called.value)))} & found
        held = f"{owner}.{_last(called.value)}"
        if isinstance(called.value, ast.Attribute) and held in self.held:
            kinds = self.held[held]
            kinds = kinds.union(*map(self._above, kinds))
            return {one for one in found if one.rpartition(".")[0] in kinds}
        if _last(called.value) == "self":
            family = {owner, *self._above(owner), *(one for one in self.bases if owner in self._above(one))}
            found = {one for one in found if one.rpartition(".")[0] in family}
        return found

    def unknown(self) -> set[str]:
        """Return called names that are neither here nor in the language or its library, by their last part."""
        words = {_last(call.func) for body in self.bodies.values() for call in _calls(body)}
        words -= DISPATCH | HOLDS_ONE.keys() | self.by_name.keys() | self.bases.keys()
        return {word for word in words if not hasattr(builtins, word) and not _is_built_in(word)}

    def _above(self, name: str) -> list[str]:
        found: list[str] = []
        waiting = [*self.bases.get(name, ())]
        while waiting:
            found.append(waiting.pop())
            waiting += self.bases.get(found[-1], ())
        return found


def _held(bodies: Mapping[str, Function], classes: Container[str]) -> dict[str, set[str]]:
    """Return the classes of an attribute's values, by Class.attribute, if all that a class assigns to it is made by
    calling one of them, or is a parameter that is annotated with them."""
    found: dict[str, set[str]] = {}
    for name, body in bodies.items():
        annotated = {one.arg: one.annotation for one in (*body.args.args, *body.args.kwonlyargs)}
        for node in (node for node in ast.walk(body) if isinstance(node, ast.Assign)):
            pairs = [(target, node.value) for target in node.targets]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
            for target, value in pairs:
                if isinstance(target, ast.Attribute) and _last(target.value) == "self":
                    kinds = annotated.get(value.id) if isinstance(value, ast.Name) else value
                    found.setdefault(f"{name.rpartition('.')[0]}.{target.attr}", set()).update(_classes_in(kinds))
    return {name: kinds for name, kinds in found.items() if all(kind in classes for kind in kinds)}


def _classes_in(node: ast.expr | None) -> set[str]:
    """Return the class that is called, or the classes that an annotation names."""
    if isinstance(node, ast.Call):
        return {_last(node.func)}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if isinstance(node, ast.expr) else {""}


def _functions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, node.name + ".")
        elif isinstance(node, Function):
            yield owner + node.name, node
        elif isinstance(node, ast.If | ast.Try):
            yield from _functions(node.body, owner)


def _calls(body: Function) -> list[ast.Call]:
    return [node for node in ast.walk(body) if isinstance(node, ast.Call)]


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) == "super"


def _is_built_in(word: str) -> bool:
    """Return whether a method is one of the language or its library: it calls nothing of ours except its arguments."""
    types = (str, list, dict, set, tuple, re.Pattern, re.Match, json, re, sys, uuid, io.TextIOBase, json.JSONDecoder)
    return any(hasattr(one, word) for one in types)


def _texts(body: Function) -> set[str]:
    """Return the parameters that are annotated as texts."""
    arguments = [*body.args.args, *body.args.kwonlyargs]
    return {one.arg for one in arguments if one.annotation is not None and ast.unparse(one.annotation) == "str"}


def _handed_on(tree: ast.Module) -> Iterator[str]:
    """Yield names that are used as values, except those that a module has for functions of its classes."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inside = [node for node in tree.body if not isinstance(node, ast.Assign)]
    for node in (node for one in inside for node in ast.walk(one)):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            yield _last(node)
