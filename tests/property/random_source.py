"""The Jinja source of a design.

    Design(header="<vok>", end="</vok>", …)  →  {%- for m in messages -%} … {{- '<vok>' -}} … {%- endfor -%}

Every tag trims the white space around it, so literal text may stand in the source bare or quoted; a coin decides.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.property.random_design import Calls, Custom, Design, Item, Reasoning, Values


def template_source(design: Design) -> str:
    out = Source(design.seed)
    if design.calls:
        _value_macro(out, design.calls)
    if _parts(design.reasoning):
        _parts_macros(out, design.reasoning)
    out.tag("set ns = namespace(question=-1)")
    with_block(out, "for m in messages", lambda: with_block(out, "if m.role == 'user'", lambda: _note_question(out)))
    out.text(design.bos)
    with_block(out, "if tools and messages[0].role != 'system'", lambda: _system(out, design, "''"))
    with_block(out, "for m in messages", lambda: _message(out, design))
    if design.always_prompts:
        _prompt(out, design)
    else:
        with_block(out, "if add_generation_prompt", lambda: _prompt(out, design))
    return out.source()


class Source:
    """Collects tags, expressions and literal text, and prints them with a random choice of form."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"source {seed}")
        self.lines: list[str] = []
        self.depth = 0
        self.bare = False

    def tag(self, code: str) -> None:
        self._line(f"{{%- {code} -%}}")

    def value(self, code: str) -> None:
        self._line(f"{{{{- {code} -}}}}")

    def text(self, text: str) -> None:
        if not text:
            return
        if not self.bare and text == text.strip() and not set(text) & set("{}%#") and self.rng.random() < 0.3:
            self._line(text)
            self.bare = True
            return
        self.value(quoted(text))

    def source(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _line(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)
        self.bare = False


def quoted(value: object) -> str:
    r"""Return a Jinja literal: 'a\nb', true, 3."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return "'" + "".join(c if c >= " " else f"\\x{ord(c):02x}" for c in text) + "'"


def with_block(out: Source, opening: str, body: Callable[[], None]) -> None:
    out.tag(opening)
    out.depth += 1
    body()
    out.depth -= 1
    out.tag("end" + opening.split()[0])


def _note_question(out: Source) -> None:
    out.tag("set ns.question = loop.index0")


def _system(out: Source, design: Design, text: str) -> None:
    opening, closing = design.system
    out.text(opening)
    out.value(text)
    with_block(out, "if tools", lambda: out.value("'\\nFunctions: ' + (tools | tojson)"))
    out.text(closing)


def _message(out: Source, design: Design) -> None:
    out.tag("if m.role == 'system'")
    _system(out, design, "m.content")
    for role, (opening, closing) in (("user", design.user), ("tool", design.tool)):
        out.tag(f"elif m.role == '{role}'")
        out.text(opening)
        out.value("m.content")
        out.text(closing)
    out.tag("else")
    _assistant(out, design)
    out.tag("endif")


def _assistant(out: Source, design: Design) -> None:
    out.tag("set turn = loop.index0")
    _take_parts(out, design)
    if not design.repeat_header:
        out.text(design.header)
    if design.reasoning and design.reasoning.shown != "never":
        _reasoning(out, design, design.reasoning)
    if design.content_place == "before":
        _content(out, design, "content")
    elif design.content_place == "dropped":
        _content(out, design, "content and not m.tool_calls")
    else:
        _content(out, design, "content and not m.tool_calls")
    if design.calls:
        with_block(out, "if m.tool_calls", lambda: _calls(out, design))
    if design.content_place == "after":
        _content(out, design, "content and m.tool_calls")
    if design.end == design.call_end:
        out.text(design.end)
    else:
        out.tag("if m.tool_calls")
        out.text(design.call_end)
        out.tag("else")
        out.text(design.end)
        out.tag("endif")


def _take_parts(out: Source, design: Design) -> None:
    reasoning = design.reasoning
    if _parts(reasoning):
        out.tag("set content = texts(m.content)")
        out.tag("set thought = thoughts(m.content)")
        return
    out.tag("set content = m.content or ''")
    if reasoning is None:
        return
    if reasoning.shown == "never":
        end = quoted(reasoning.end)
        with_block(out, f"if {end} in content", lambda: out.tag(f"set content = content.split({end})[-1]"))
        return
    out.tag(f"set thought = m.{reasoning.key}")


def _parts(reasoning: Reasoning | None) -> str:
    return reasoning.key[len("part:") :] if reasoning and reasoning.key.startswith("part:") else ""


def _parts_macros(out: Source, reasoning: Reasoning | None) -> None:
    kind = _parts(reasoning)
    for name, wanted in (("texts", "text"), ("thoughts", kind)):
        out.tag(f"macro {name}(content)")
        if wanted == "text":
            out.tag("if content is string")
            out.value("content")
            out.tag("elif content")
        else:
            out.tag("if content and content is not string")
        out.tag(f"for part in content if part.type == '{wanted}'")
        out.value(f"part.{wanted}")
        out.tag("endfor")
        out.tag("endif")
        out.tag("endmacro")


def _reasoning(out: Source, design: Design, reasoning: Reasoning) -> None:
    condition = "thought"
    if reasoning.shown == "last_turn":
        condition += " and turn > ns.question"
    if reasoning.shown == "with_calls":
        condition += " and m.tool_calls"
    out.tag(f"if {condition}")
    if design.repeat_header:
        out.text(design.header)
    out.text(reasoning.start)
    out.value("thought")
    out.text(reasoning.end)
    if reasoning.empty:
        out.tag("else")
        out.text(reasoning.start)
        out.text(reasoning.end)
    out.tag("endif")


def _content(out: Source, design: Design, condition: str) -> None:
    opening, closing = design.content
    out.tag(f"if {condition}")
    if design.repeat_header:
        out.text(design.header)
    if design.wrapped == "with_reasoning":
        with_block(out, "if thought", lambda: out.text(opening))
        out.value("content")
        with_block(out, "if thought", lambda: out.text(closing))
    else:
        out.text(opening)
        out.value("content")
        out.text(closing)
    out.tag("endif")


def _calls(out: Source, design: Design) -> None:
    calls = design.calls
    assert calls is not None
    if calls.parallel == "raises":
        with_block(
            out, "if m.tool_calls | length > 1", lambda: out.value("raise_exception('one call at a time, please')")
        )
    out.text(calls.section_start)
    out.tag("for call in m.tool_calls" + ("[:1]" if calls.parallel == "first_only" else ""))
    if calls.separator:
        with_block(out, "if not loop.first", lambda: out.text(calls.separator))
    if calls.id_length:
        with_block(
            out,
            f"if call.id is not defined or call.id | length != {calls.id_length}",
            lambda: out.value(f"raise_exception('an id has {calls.id_length} characters')"),
        )
    out.tag("set f = call.function")
    if design.repeat_header:
        out.text(design.header)
    if calls.members or calls.name_is_key:
        out.text(calls.prefix)
        out.value(_dumped(_object_literal(calls), calls.values))
        out.text(calls.suffix)
    else:
        for item in calls.layout:
            _layout_item(out, calls, item)
    out.tag("endfor")
    out.text(calls.section_end)


def _object_literal(calls: Calls) -> str:
    if calls.name_is_key:
        return "{f.name: f.arguments}"
    tree: dict[str, object] = {}
    for member in calls.members:
        place = tree
        for key in member.path[:-1]:
            inner = place.setdefault(key, {})
            assert isinstance(inner, dict)
            place = inner
        place[member.path[-1]] = _slot_code(calls, member.value)
    return _literal_code(tree)


def _literal_code(tree: dict[str, object]) -> str:
    parts = (f"'{k}': {_literal_code(v) if isinstance(v, dict) else v}" for k, v in tree.items())
    return "{" + ", ".join(parts) + "}"


def _slot_code(calls: Calls, item: Item) -> str:
    if isinstance(item, str):
        return quoted(item)
    return {"name": "f.name", "arguments": "f.arguments", "id": "call.id", "index": _index(calls)}[item[0]]


def _index(calls: Calls) -> str:
    return "loop.index" if calls.index_base else "loop.index0"


def _layout_item(out: Source, calls: Calls, item: Item) -> None:
    if isinstance(item, str):
        out.text(item)
    elif item != ("arguments",):
        out.value(_slot_code(calls, item))
    elif calls.pairs:
        out.text(calls.pairs.start)
        out.value("pairs(f.arguments)")
        out.text(calls.pairs.end)
    elif calls.text_arguments == "passed":
        out.value(f"f.arguments if f.arguments is string else {_dumped('f.arguments', calls.values)}")
    else:
        out.value(_dumped("f.arguments", calls.values))


def _dumped(code: str, values: Values) -> str:
    if values.nested == "python":
        return f"([{code}] | string)[1:-1]"
    if values.nested in ("custom", "elements"):
        return f"value({code})"
    options = ["ensure_ascii=true"] if values.ascii else []
    options += [f"indent={values.indent}"] if values.indent else []
    options += ["separators=(',', ':')"] if values.compact else []
    return f"{code} | tojson({', '.join(options)})" if options else f"{code} | tojson"


# Values.


def _value_macro(out: Source, calls: Calls) -> None:
    values = calls.values
    if values.custom:
        _custom_macro(out, values.custom)
    if values.nested == "elements":
        _elements_macro(out, calls)
    if calls.pairs:
        _pairs_macro(out, calls)


def _custom_macro(out: Source, style: Custom) -> None:
    out.tag("macro value(v)")
    out.tag("if v is string")
    out.text(style.quote)
    out.value("v")
    out.text(style.unquote)
    out.tag("elif v is boolean")
    out.value(f"{quoted(style.true)} if v else {quoted(style.false)}")
    out.tag("elif v is none")
    out.text(style.null)
    out.tag("elif v is mapping")
    out.text(style.object_open)
    out.tag("for k, x in v.items()")
    with_block(out, "if not loop.first", lambda: out.text(style.object_separator))
    out.text(style.key_open)
    out.value("k")
    out.text(style.key_close + style.colon)
    out.value("value(x)")
    out.tag("endfor")
    out.text(style.object_close)
    out.tag("elif v is iterable")
    out.text(style.list_open)
    out.tag("for x in v")
    with_block(out, "if not loop.first", lambda: out.text(style.list_separator))
    out.value("value(x)")
    out.tag("endfor")
    out.text(style.list_close)
    out.tag("else")
    out.value("v | tojson")
    out.tag("endif")
    out.tag("endmacro")


def _elements_macro(out: Source, calls: Calls) -> None:
    opening, closing = calls.values.item
    out.tag("macro value(v)")
    out.tag("if v is mapping")
    out.value("pairs(v)")
    out.tag("elif v is string")
    out.value("v")
    out.tag("elif v is iterable")
    out.tag("for x in v")
    out.text(opening)
    out.value("value(x)")
    out.text(closing)
    out.tag("endfor")
    out.tag("else")
    out.value("v | tojson")
    out.tag("endif")
    out.tag("endmacro")


def _pairs_macro(out: Source, calls: Calls) -> None:
    assert calls.pairs is not None
    out.tag("macro pairs(arguments)")
    out.tag("for k, v in arguments.items()" + (" if v is not none" if calls.values.nested == "elements" else ""))
    if calls.pairs.separator:
        with_block(out, "if not loop.first", lambda: out.text(calls.pairs.separator if calls.pairs else ""))
    for item in calls.pairs.pair:
        if isinstance(item, str):
            out.text(item)
        elif item == ("key",):
            out.value("k")
        elif item == ("type",):
            out.value(_type_code(calls.values))
        else:
            _pair_value(out, calls.values)
    out.tag("endfor")
    out.tag("endmacro")


def _type_code(values: Values) -> str:
    if values.types == "flag":
        return "'yes' if v is string else 'no'"
    return (
        "'text' if v is string else 'truth' if v is boolean else 'nothing' if v is none else "
        "'object' if v is mapping else 'list' if v is iterable else 'number'"
    )


def _pair_value(out: Source, values: Values) -> None:
    if not values.raw:
        out.value(_dumped("v", values))
        return
    opening, closing = values.wrap
    if opening:
        out.tag("if v is string and ('<' in v or '&' in v or '\\n' in v)")
        out.text(opening)
        out.value("v")
        out.text(closing)
        out.tag("elif v is string")
    else:
        out.tag("if v is string")
    out.value("v")
    out.tag("else")
    out.value(_dumped("v", values))
    out.tag("endif")


# The prompt.


def _prompt(out: Source, design: Design) -> None:
    out.text(design.header)
    if design.head:
        out.text(design.head)
    reasoning, switch = design.reasoning, design.switch
    if reasoning is None or design.prompt == "bare":
        return
    opened, closed = reasoning.start, reasoning.start + reasoning.end
    if design.prompt in ("opened", "closed"):
        out.text(opened if design.prompt == "opened" else closed)
        return
    assert switch is not None
    value, then, otherwise = {
        "opened_on": (switch.on, opened, ""),
        "closed_off": (switch.off, closed, ""),
        "opened_or_closed": (switch.off, closed, opened),
        "closed_or_opened": (switch.on, opened, closed),
    }[design.prompt]
    out.tag(f"if {switch.name} is defined and {switch.name} == {quoted(value)}")
    out.text(then)
    if otherwise:
        out.tag("else")
        out.text(otherwise)
    out.tag("endif")
