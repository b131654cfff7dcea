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
from dataclasses import replace

from tplc.backends.gbnf import Grammar
from tplc.errors import TplcError
from tplc.ir.nodes import Json, Reasoning, TemplateIR

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
        return f"{self.name}: {TARGET} cannot say this: {self.reason}"


def without_reasoning(ir: TemplateIR) -> TemplateIR:
    """For servers that let the grammar begin behind the reasoning, which they part off themselves."""
    if ir.reasoning.mode == "none":
        return ir
    prompts = tuple(replace(prompt, head="") for prompt in ir.turn.prompts)
    return replace(ir, reasoning=Reasoning(), turn=replace(ir.turn, prompts=prompts))


def with_head(ir: TemplateIR, head: str) -> TemplateIR:
    """For a prompt that holds this of the answer."""
    return replace(ir, turn=replace(ir.turn, prompts=(replace(ir.turn.prompts[0], head=head, context=()),)))


def structural_tag(ir: TemplateIR, grammar: Grammar, *, parallel: bool) -> dict[str, Json]:
    """`grammar` is that of the request; `parallel`: whether another call may follow the first."""
    if not grammar.text:
        raise NoTag(ir.provenance.name, "nothing is constrained, so the request needs none")
    rules = "\n".join(line for line in grammar.text.splitlines() if line and not line.startswith("#")) + "\n"
    if not grammar.lazy:
        return _tag({"type": "grammar", "grammar": rules})
    tags: list[Json] = []
    for trigger in grammar.triggers:
        if trigger.type != "word":
            raise NoTag(
                ir.provenance.name,
                f"calls begin like other text, and only a pattern tells them ({trigger.value}); "
                "--tool-choice required has no such need",
            )
        content: Json = {"type": "grammar", "grammar": _behind(ir, rules, trigger.value)}
        tags.append({"type": "tag", "begin": trigger.value, "content": content, "end": ""})
    triggers: list[Json] = [trigger.value for trigger in grammar.triggers]
    found: dict[str, Json] = {"type": "triggered_tags", "triggers": triggers, "tags": tags}
    return _tag({**found, "stop_after_first": True} if not parallel else found)


def tag_text(tag: dict[str, Json]) -> str:
    return json.dumps(tag, ensure_ascii=False, indent=2) + "\n"


def _tag(format_: Json) -> dict[str, Json]:
    return {"type": TARGET, "format": format_}


def _behind(ir: TemplateIR, rules: str, trigger: str) -> str:
    """The rules of what follows the trigger, which the root begins with."""
    match = _ROOT.match(rules)
    literal = "" if match is None else _unquoted(match[1])
    if match is None or not literal.startswith(trigger):
        raise NoTag(
            ir.provenance.name,
            f"the trigger {json.dumps(trigger, ensure_ascii=False)} is not what all calls begin with; "
            "--tool-choice required has no such need",
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
