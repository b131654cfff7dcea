r"""A call that lacks all distinctive pieces of its openers, as steps: an object, or keyword calls in brackets.

"<call>" {"name": NAME, "arguments": ARGUMENTS} "</call>"
→  text \{, text "name"\s{0,16}:\s{0,16}", a tool before ", text …, an object, text \}, the end of a line or of the turn
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tplc.ir.nodes import JsonFields, Layout, Slot, TemplateIR, Text
from tplc.lower.acceptor import FENCE, CallForm, CallStep
from tplc.lower.bounds import INDENT, SPACE
from tplc.lower.layouts import merged, text_at
from tplc.lower.lexemes import MAX_INNER_SPACE, core_pattern, exact
from tplc.lower.openers import OBJECT
from tplc.lower.values import MOST_SPACE
from tplc.lower.whole_call import END, ID, LINE_END, NAME, optional, whole_call_of

QUOTE = '"'
_JSON_TOKEN = re.compile(r'"\w+"|[^\s",:{}]+|[^\s]')


def bare_call_of(ir: TemplateIR, form: CallForm) -> tuple[CallStep, ...]:
    """Return the steps; none if the template writes something in a call that no step stands for.  Only the name of a
    tool makes such a text a call, and nothing may follow it in its line."""
    fields, layout = ir.tools.json, merged(ir.tools.call)
    if not form.bare:
        return ()
    if fields is None:
        steps = whole_call_of(ir, form, section=False, opener="[")
    else:
        steps = _object_steps(form, fields, layout)
    if not steps:
        return ()
    return (*(replace(step, kind="tool") if step.kind == "name" else step for step in steps), _line(form.breaks))


def _line(breaks: Sequence[str]) -> CallStep:
    """Return what follows the call: a comma, or a bracket and the end of the line or one of the format's markers.  In a
    fence it is an example."""
    ends = [text for text in breaks if FENCE not in text]
    following = "|".join(
        [rf"{INDENT}(?:{LINE_END}(?!{SPACE}{FENCE})|{END})", *(SPACE + core_pattern(end) for end in ends)]
    )
    least = 3 * MOST_SPACE + max(map(len, ends), default=0) + len(FENCE)
    return CallStep("line", rf"{SPACE}[,;]|(?:{SPACE}[\]}}])?(?:{following})", least=least)


def _object_steps(form: CallForm, fields: JsonFields, layout: Layout) -> tuple[CallStep, ...]:
    """Return the steps of an object with its members in the template's order; those after the arguments may be
    missing."""
    at, last = layout.index(Slot("arguments")), text_at(layout, len(layout) - 1).removesuffix(fields.suffix).rstrip()
    if (
        form.encoded
        or form.escapes
        or form.object_open != OBJECT
        or last[-1:] != "}"
        or Slot("name") not in layout[:at]
    ):
        return ()
    first = text_at(layout, 0).removeprefix(fields.prefix).lstrip().removeprefix(OBJECT)
    inside = (Text(first), *layout[1:-1], Text(last[:-1]))
    # What may open the call has been found as a whole.
    opened = CallStep("text", rf"(?:\[\s{{0,{MAX_INNER_SPACE}}})?\{{{SPACE}")
    steps = [_step(inside, index) for index in range(len(inside))]
    after = [optional(steps[at + 1 :])] if any(step.text for step in steps[at + 1 :]) else []
    return (opened, *steps[: at + 1], *after, CallStep("text", SPACE + r"\}", "}"))


def _step(layout: Layout, index: int) -> CallStep:
    """Return the step of a text, or of a name or id up to the text after it."""
    item = layout[index]
    if isinstance(item, Text):
        return _text(item.text)
    if item.kind == "arguments":
        return CallStep("object")
    assert item.kind in ("name", "id", "index", "count")
    following = _text(text_at(layout, index + 1))
    return CallStep(item.kind, f"{NAME if item.kind == 'name' else ID}(?={following.pattern})", following.text)


def _text(text: str) -> CallStep:
    """Return the step of a text of JSON: white space may be around its tokens, but not inside an open string."""
    tokens = _JSON_TOKEN.findall(text)
    lead, trail = (SPACE * (token != [QUOTE]) for token in (tokens[:1], tokens[-1:]))
    return CallStep("text", lead + SPACE.join(map(exact, tokens)) + trail, "".join(tokens))
