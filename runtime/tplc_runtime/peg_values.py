"""Turn the nodes of values, and of pairs of keys and values, into JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional, Union

from .elements import BRACKETS, EMPTY, LIST, in_list
from .guess import QUOTES as VALUE_QUOTES
from .pairs import MOST_KEYS, WHOLE_ARGUMENTS
from .peg_nodes import Node, captures, first, kind_of
from .peg_readers import Readers
from .raw import LITERAL, MORE_THAN_VALUE, coerced, in_type, nested_json, string_in
from .schema import (
    MARKUP_IN_KEYS,
    is_odd_key,
    item_of,
    keys_of,
    member_of,
    typed_as,
    types_by_items,
    types_of,
    without_quotes,
)
from .values import escaped, is_usual_number, literal_of, text_of

ELEMENTS = ("list_of_items", "object_of_arguments", "scalar_value", "scalar_item", "element_text")
WORDS = ("true", "false", "null")
VALUES = ("object", "list", "string", "number", *WORDS)
LOOSE = ("loose_value",)
ARGUMENTS = ("wrapped_text", "typed_value", *VALUES, *LOOSE, *ELEMENTS, "raw_text")
RAW = ("raw_text", "element_text")
TYPES = {"object": "object", "list": "array", "string": "string", "true": "boolean", "false": "boolean", "null": "null"}
Types = Optional[frozenset[str]]
TypesBy = Callable[[object, object], Types]  # called with a schema and its root


class ValueMapper:
    def __init__(self, text: str, readers: Readers) -> None:
        self.text = text
        self.readers, self.form, self.schemas = readers, readers.form, readers.tools
        self.incomplete = self.in_call = False
        self.called = ""
        self.repaired: Union[str, bool] = False  # a value of the call was repaired

    def of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def read(self, node: Node, *, followed: bool = False) -> str:
        """Return a value as the generated parsers read it; one with mistakes may go on after its node."""
        read = self.readers.followed_at if followed else self.readers.value_at
        if kind_of(node) not in LOOSE:
            return read(self.of(node), 0).text
        found = read(self.text, node.start)
        if found.closing:
            self.incomplete = self.in_call = True
        self.repaired, self.incomplete = self.repaired or found.repair, self.incomplete or found.guessed
        return found.text + found.closing

    def pairs(self, node: Node, root: object) -> str:
        members = self.members(node, root, root, types_of)
        pairs = [f'"{key}": {value}' for key, value, _ in members]
        self.incomplete = self.incomplete or len({key for key, _, _ in members}) < len(members)
        known = keys_of(root, root) if first(node, *ELEMENTS) is None else None
        for key in WHOLE_ARGUMENTS if pairs and known and len(known) <= MOST_KEYS else ():
            member = f'"{key}": '
            if key in known or not pairs[0].startswith(member):  # type: ignore[operator]
                continue
            value, raw = pairs[0][len(member) :], first(node, *RAW)
            if value[:1] == '"' and raw is not None:
                value = nested_json(text_of(value).strip()) or value
            if value[:1] == "{":
                inside = value[1:-1].strip()
                pairs[:1] = [inside] if inside else []
                break
        found = "{" + ", ".join(pairs) + "}"
        self.incomplete = self.incomplete or not self.readers.fits(self.called, found, self.repaired)
        damaged = self.form.pairs.damaged
        by_text = damaged is not None and damaged.match(found) is not None
        self.incomplete = self.incomplete or by_text
        return found

    def members(self, node: Node, parent: object, root: object, types_by: TypesBy) -> list[tuple[str, str, Types]]:
        return [self.pair(argument, parent, root, types_by) for argument in captures(node, "argument")]

    def gathered(self, node: Node, parent: object, root: object) -> str:
        """Return a member; consecutive repetitions of a key become a list if the schema allows one."""
        found: list[tuple[str, Types, list[str]]] = []
        for key, value, types in self.members(node, parent, root, types_by_items):
            if (types is None or "array" in types) and found and found[-1][0] == key:
                found[-1][2].append(value)
            else:
                found.append((key, types, [value]))
        return ", ".join(f'"{key}": {listed(values, types)}' for key, types, values in found)

    def pair(self, node: Node, parent: object, root: object, types_by: TypesBy) -> tuple[str, str, Types]:
        """Return the key and the value as JSON, and the types that the schema allows."""
        key, value, word = first(node, "argument_key"), first(node, "argument_value", *RAW), first(node, "type")
        name = self.form.pairs.key_escapes.unescape(self.of(key).strip()) if key is not None else ""
        other = first(node, "other_pair")
        found = self.readers.other_pair(self.called, self.text, other.start) if other is not None else None
        if found is not None:
            name, _, is_opened = found
            self.incomplete, self.repaired = self.incomplete or not is_opened, True
        if parent is root and self.schemas and self.form.reads_again:
            bare = without_quotes(name, root)
            self.repaired, name = self.repaired or bare != name, bare
        if parent is root and found is None:
            odd = is_odd_key(name, root) or not (self.schemas or MARKUP_IN_KEYS.isdisjoint(name))
            self.incomplete = self.incomplete or odd
        schema = member_of(parent, root, name)
        types, stated = types_by(schema, root), self.stated(word)
        if stated is not None:
            types = typed_as(types, stated)
        end = first(node, "key_end")
        text = "" if end is None or end.end < len(self.text) else self.of(end)
        has_begun = not (text[:1].isspace() and text[-1:].isspace())  # the output ends in the space before the value
        return escaped(name), self.argument(value if has_begun else None, types, schema, root), types_of(schema, root)

    def stated(self, word: Optional[Node]) -> Types:
        """Return the types that a type word stands for, from the name of its rule."""
        named = next((child.expr_name for child in word.children), "") if word is not None else ""
        return frozenset(named[len("type_") :].split("_")) if named.startswith("type_") else None

    def argument(self, node: Optional[Node], types: Types, schema: object, root: object) -> str:
        if node is None:
            return "null"
        choice = node if kind_of(node) in RAW else first(node, "no_value", *ARGUMENTS)
        if choice is not None and kind_of(choice) == "no_value":
            return "null"
        if choice is None or kind_of(choice) in ELEMENTS or kind_of(node) == "item_value":
            return self.element(node, choice, types, schema, root)
        kind = kind_of(choice)
        if kind in (*VALUES, *LOOSE):
            return self.read(choice, followed=True)
        if kind == "wrapped_text":
            inside = first(choice, "plain_text")
            return '"' + escaped(self.of(inside) if inside is not None else "") + '"'
        if kind == "typed_value":
            typed = self.typed(choice, types)
            if typed is not None:
                own = types_of(schema, root)
                return in_type(typed, own if types is None or types == own or "boolean" in types else None)
        if not self.of(choice) and choice.end == len(self.text) and not self.text[-1:].isspace():
            return "null"  # the value has not begun
        text = self.of(choice)
        quotes = VALUE_QUOTES if choice.expr_name.endswith("_for_bare") else self.form.values.literals
        literal = LITERAL.fullmatch(text.strip()) if quotes and kind in RAW else None
        if literal is not None and (literal[1] or " ")[0] in quotes:
            by_schema = types_of(schema, root)
            typed = coerced(literal[1], by_schema) if self.form.reads_again else None
            return typed or string_in(literal[1])
        return self.retyped(text, types) or '"' + escaped(text) + '"'

    def retyped(self, text: str, types: Types) -> Optional[str]:
        if not self.form.reads_again or not text.strip():
            return None
        found = coerced(text, types)
        if found is None and types is not None and "string" not in types and MORE_THAN_VALUE.search(text.strip()):
            self.incomplete = True  # it may contain more of the call than this value
        return found

    def element(self, node: Node, choice: Optional[Node], types: Types, schema: object, root: object) -> str:
        """Return a value whose lists and objects are written as elements."""
        text, kind = self.of(node), "" if choice is None else kind_of(choice)
        if choice is not None and kind == "list_of_items" and (types is None or "array" in types):
            inner = item_of(schema, root)
            items = [
                self.argument(first(item, "item_value"), types_of(inner, root), inner, root)
                for item in captures(choice, "item")
            ]
            return "[" + ", ".join(items) + "]"
        own = types_of(schema, root)
        if choice is not None and kind == "object_of_arguments" and (types is None or "object" in types):
            inner = schema if own is None or "object" in own else item_of(schema, root)
            return "{" + self.gathered(choice, inner, root) + "}"
        if choice is not None and kind in ("scalar_value", "scalar_item"):
            typed = self.typed(choice, types)
            if typed is not None and (types is not None or typed[0] not in BRACKETS):
                return in_type(typed, types if self.form.reads_again else None)
        if not (text if types is None else text.strip()) and types != frozenset(["string"]):
            return next((empty for kind, empty in EMPTY if own is None or kind in own), '""')
        return self.retyped(text, types) or '"' + escaped(text) + '"'

    def typed(self, node: Node, types: Types) -> Optional[str]:
        """Return a raw value that reads as something other than text, if the schema allows that."""
        value = first(node, "object", "list", *WORDS, "scalar")
        if value is None or (types is None and self.of(node) != self.of(node).strip()):
            return None  # without a schema, ` 2` is text
        kind = kind_of(value)
        if kind == "scalar":
            literal = literal_of(self.of(value), {})
            if literal is None or literal[0] == '"':
                return None
            # Without a schema, 007 and 1_000 aren't known to be numbers.
            fits = is_usual_number(self.of(value)) if types is None else "number" in types or "integer" in types
            return literal if fits else None
        is_text = self.of(value).strip() in self.form.values.text_words if types is None else TYPES[kind] not in types
        if is_text:
            return None
        return kind if kind in WORDS else nested_json(self.of(value))


def listed(values: Sequence[str], types: Types) -> str:
    """Return consecutive values of one key as a list; also a single value if the schema wants a list."""
    if len(values) == 1:
        return in_list(values[0]) if types == LIST else values[0]
    return f"[{', '.join(values)}]"
