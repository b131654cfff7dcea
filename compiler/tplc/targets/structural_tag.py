r"""A structural tag: the JSON by which xgrammar, and the servers around it, constrain an answer to one request.

    root ::= "<call>\n{" calls, lazy, trigger "<call>"
    →  {"type": "triggered_tags", "triggers": ["<call>"], "tags": [{"begin": "<call>", "content": {"type": "grammar",
        "grammar": "root ::= \"\\n{\" calls …"}, "end": ""}]}

The values are those of our own grammar: it is exact where schemas of tags drop keywords and let closing markers into
text.  Unlike a grammar, a tag matches markers that are special tokens, and leaves text free until a call begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from tplc.backends.gbnf import Grammar
from tplc.errors import TplcError
from tplc.grammars.dialect.values import is_json
from tplc.grammars.request.openers import mark
from tplc.ir.nodes import Json, Layout, Reasoning, Slot, TemplateIR, Text
from tplc.lower import CallForm, lower
from tplc.lower.special import special_tokens
from tplc.lower.written import written_calls

TARGET = "structural_tag"
_ROOT = re.compile(r'root ::= "((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class NoTag(TplcError):
    """A grammar that no structural tag can hold."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {TARGET} cannot express this: {self.reason}"


def without_reasoning(ir: TemplateIR) -> TemplateIR:
    """Return the format without reasoning, for servers that separate it and let the grammar begin after it."""
    if ir.reasoning.mode == "none":
        return ir
    prompts = tuple(replace(prompt, head="") for prompt in ir.turn.prompts)
    return replace(ir, reasoning=Reasoning(), turn=replace(ir.turn, prompts=prompts))


def with_head(ir: TemplateIR, head: str) -> TemplateIR:
    """Return the format for a prompt that contains this part of the answer."""
    return replace(ir, turn=replace(ir.turn, prompts=(replace(ir.turn.prompts[0], head=head, context=()),)))


def structural_tag(ir: TemplateIR, grammar: Grammar, *, parallel: bool) -> dict[str, Json]:
    """Return the tag for a request.  `grammar` is the request's; `parallel`: whether another call may follow the
    first."""
    if not grammar.text:
        raise NoTag(ir.provenance.name, "nothing is constrained, so the request needs none")
    rules = "\n".join(line for line in grammar.text.split("\n") if line and not line.startswith("#")) + "\n"
    if not grammar.lazy:
        return _tag({"type": "grammar", "grammar": rules})
    tags: list[Json] = []
    for trigger in grammar.triggers:
        if trigger.type != "word":
            raise NoTag(
                ir.provenance.name,
                f"calls begin like other text, only a pattern distinguishes them ({trigger.value}); "
                "--tool-choice required does not need this",
            )
        content: Json = {"type": "grammar", "grammar": _after(ir, rules, trigger.value)}
        tags.append({"type": "tag", "begin": trigger.value, "content": content, "end": ""})
    triggers: list[Json] = [trigger.value for trigger in grammar.triggers]
    found: dict[str, Json] = {"type": "triggered_tags", "triggers": triggers, "tags": tags}
    return _tag({**found, "stop_after_first": True} if not parallel else found)


def tag_of(
    ir: TemplateIR,
    grammar_of: Callable[[TemplateIR], Grammar],
    *,
    reasoning: Literal["inside", "outside"],
    parallel: bool | None,
) -> dict[str, Json]:
    """Return the tag of a request.  `reasoning`: inside of the tag, or outside if the server reads it before."""
    constrained = ir if reasoning == "inside" else without_reasoning(ir)
    several = ir.tools.parallel if parallel is None else parallel
    return structural_tag(constrained, grammar_of(constrained), parallel=several)


def token_tag(ir: TemplateIR, grammar: Grammar, *, parallel: bool, required: bool) -> dict[str, Json] | None:
    """Return the tag for a format whose calls open with a token of a known number: calls open with that token only, and
    text that spells it opens none.  `grammar` is the request's, if calls are allowed; `required`: one call must come.

    None for other formats: text is all that opens their calls, or content opens with the same token.
    """
    known = special_tokens(ir, lower(ir))
    numbers = {token.text: token.id for token in known.markers if token.id is not None}
    rules = "\n".join(line for line in grammar.text.split("\n") if line and not line.startswith("#")) + "\n"
    tags: list[Json] = []
    triggers: list[Json] = []
    for trigger in grammar.triggers if grammar.lazy else ():
        opens = [token for token in numbers if trigger.type == "word" and trigger.value.startswith(token)]
        token = max(opens, key=len, default="")
        if not token or token in known.elsewhere or numbers[token] in triggers:
            return None
        content: Json = {"type": "grammar", "grammar": _in_tokens(_after(ir, rules, token), numbers)}
        begin: Json = {"type": "token", "token": numbers[token]}
        tags.append({"type": "tag", "begin": begin, "content": content, "end": ""})
        triggers.append(numbers[token])
    if not tags:
        return None
    calls: dict[str, Json] = {"type": "token_triggered_tags", "trigger_tokens": triggers, "tags": tags}
    calls |= {"stop_after_first": True} if not parallel else {}
    if not required:
        return _tag(calls)
    text: Json = {"type": "any_tokens", "exclude_tokens": triggers}
    return _tag({"type": "sequence", "elements": [text, {**calls, "at_least_one": True}]})


def _in_tokens(rules: str, numbers: Mapping[str, int]) -> str:
    """Return the rules with Token(NUMBER) for each token in their literals."""
    cut = re.compile("(" + "|".join(map(re.escape, sorted(numbers, key=len, reverse=True))) + ")")

    def written(match: re.Match[str]) -> str:
        parts = cut.split(_unquoted(match[1])) if match[1] is not None else []
        if len(parts) < 2:
            return match[0]
        # At odd places stand what it was cut at.
        found = [f"Token({numbers[part]})" if place % 2 else _quoted(part) for place, part in enumerate(parts) if part]
        return f"({' '.join(found)})"

    return re.sub(r'"((?:[^"\\]|\\.)*)"|\[(?:[^\]\\]|\\.)*\]', written, rules)


def legacy_tag(
    ir: TemplateIR, tools: Sequence[Mapping[str, Any]], *, tool_choice: str, parallel: bool | None
) -> dict[str, Json]:
    """Return the old form, for engines that only read that: JSON of a schema between two texts, in free text.

    It says no more than that, so what is more is refused.
    """
    name, calls = ir.provenance.name, lower(ir).calls
    if tool_choice != "auto" or parallel is False:
        asked = f"--tool-choice {tool_choice}" if tool_choice != "auto" else "--no-parallel"
        raise NoTag(name, f"the old form leaves text free and counts no calls, so {asked} has no place in it")
    if calls is None or ir.tools.dialect is None:
        raise NoTag(name, "the format has no calls")
    written = written_calls(ir.tools)
    kinds = [item.kind for item in written.call if isinstance(item, Slot)]
    if kinds.count("arguments") != 1 or set(kinds) != {"name", "arguments"} or kinds[0] != "name":
        raise NoTag(name, f"a call has to be its name and then its arguments; this has {', '.join(kinds)}")
    if calls.pairs is not None or calls.arguments.encoded or not is_json(ir.tools.dialect):
        raise NoTag(name, "arguments are not written as JSON, and the old form cannot express anything else")
    opener = written.opener.lstrip()
    trigger = mark(opener)
    if trigger is None:
        raise NoTag(name, f"a call begins like other text ({json.dumps(opener, ensure_ascii=False)})")
    structures: list[Json] = []
    for tool in tools:
        function = tool.get("function", tool)
        begin, end = _around_arguments(written.call, _spelled_name(calls, function["name"]))
        if not end:
            raise NoTag(name, "nothing closes a call, and the old form needs a text after the arguments")
        schema = function.get("parameters") or {"type": "object", "properties": {}}
        structures.append({"begin": begin, "schema": schema, "end": end})
    return {"type": TARGET, "structures": structures, "triggers": [trigger]}


def _spelled_name(calls: CallForm, name: str) -> str:
    return json.dumps(name, ensure_ascii=False)[1:-1] if calls.object.fields else name


def _around_arguments(layout: Layout, name: str) -> tuple[str, str]:
    """Return the text before and after the arguments of this tool's calls."""
    at = layout.index(Slot("arguments"))
    parts = (layout[:at], layout[at + 1 :])
    before, after = ("".join(item.text if isinstance(item, Text) else name for item in part) for part in parts)
    return before.lstrip(), after.rstrip()


def tag_text(tag: dict[str, Json]) -> str:
    return json.dumps(tag, ensure_ascii=False, indent=2) + "\n"


def _tag(format_: Json) -> dict[str, Json]:
    return {"type": TARGET, "format": format_}


def _after(ir: TemplateIR, rules: str, trigger: str) -> str:
    """Return the rules for the text after the trigger, with which the root begins."""
    match = _ROOT.match(rules)
    literal = "" if match is None else _unquoted(match[1])
    if match is None or not literal.startswith(trigger):
        raise NoTag(
            ir.provenance.name,
            f"the trigger {json.dumps(trigger, ensure_ascii=False)} is not what all calls begin with; "
            "--tool-choice required does not need this",
        )
    rest = literal[len(trigger) :]
    return f"root ::= {_quoted(rest)}{rules[match.end() :]}"


def _unquoted(text: str) -> str:
    def char(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] in "xuU":
            return chr(int(escape[1:], 16))
        return _ESCAPES.get(escape, escape)

    return re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", char, text)


def _quoted(text: str) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(named.get(char, char) for char in text) + '"'
