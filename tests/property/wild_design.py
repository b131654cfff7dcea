"""Chat templates wilder than `random_design` has: calls of any kind, and turns whose marks depend on what is in them.

wild_template(7)  →  WildTemplate(source="{%- for m in messages -%} …", kinds=("yaml-like", "end by shape"), …)

One kind of call and one or two twists of the turn, so that a failure shows which of them is not learned.  A design is
ambiguous if two messages have the same render.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.property.delimited_calls import DELIMITED
from tests.property.idiom_calls import IDIOMS
from tests.property.inverted_calls import INVERTED
from tests.property.random_markers import Markers
from tests.property.shaped_calls import SHAPED
from tests.property.wild_calls import FAMILIES, Calls, text
from tests.property.written_calls import CONSTRUCTIONS

FIRST_WRITTEN = 20_000  # seeds from here on write calls that look like text, change values, or differ by them
FIRST_SHAPED = 60_000  # seeds from here on write markers that depend on what the calls hold
FIRST_IDIOM = 80_000  # seeds from here on write calls as people copy them, in turns that differ by their shape
FIRST_PLACED = 100_000  # seeds from here on write calls of all kinds, inside of reasoning or opened by the prompt
FIRST_INVERTED = 500_000  # seeds from here on write calls that a careful person can invert


@dataclass(frozen=True, slots=True)
class WildTemplate:
    seed: int
    source: str
    kinds: tuple[str, ...]
    ambiguous: str

    @property
    def summary(self) -> str:
        return " + ".join(self.kinds) + (f" (ambiguous: {self.ambiguous})" if self.ambiguous else "")


@dataclass(slots=True)
class Plan:
    """The parts of a turn as Jinja texts, which the twists change."""

    rng: random.Random
    marks: Markers
    header: str
    user: tuple[str, str]
    tool: tuple[str, str]
    calls: Calls | None
    reasoning: tuple[str, str] | None
    content: str = "{{- content -}}"
    end: str = ""
    last: str = ""  # after the last message
    reasons: str = "{%- if thought -%}{start}{{- thought -}}{end}{%- endif -%}"
    before: str = ""  # after the header
    prompt: str = ""  # after the header of the generation prompt
    opening: str = ""  # at the very beginning
    indent: str = ""
    inside: bool = False  # calls are inside of reasoning, if there is any
    loose: bool = False
    kinds: list[str] = field(default_factory=list)
    ambiguous: str = ""


def wild_template(seed: int) -> WildTemplate:
    rng = random.Random(f"wild {seed}")
    marks = Markers(rng)
    family = rng.choice([*_families(seed), None]) if rng.random() < 0.95 else None
    calls = family(rng, marks) if family else None
    header = text(marks.one())
    reasoning = marks.pair() if rng.random() < 0.5 else None
    plan = Plan(rng, marks, header, marks.pair(), marks.pair(), calls, reasoning, end=text(marks.one()))
    plan.kinds.append(calls.kind if calls else "no calls")
    twists = TWISTS if seed < FIRST_WRITTEN else (*TWISTS, escaped_content)
    if seed >= FIRST_IDIOM:
        twists = (*twists, *SHAPES * 2)
    if seed >= FIRST_PLACED:
        twists = (*twists, *PLACES * 8)
    for twist in rng.sample(twists, rng.choice([0, 1, 1, 1, 2] if seed < FIRST_WRITTEN else [0, 0, 1, 1])):
        twist(plan)
    return WildTemplate(seed, _source(plan), tuple(plan.kinds), plan.ambiguous)


def _families(seed: int) -> tuple[Callable[[random.Random, Markers], Calls], ...]:
    if seed >= FIRST_INVERTED:
        return INVERTED
    if seed >= FIRST_PLACED:
        return (*FAMILIES, *CONSTRUCTIONS, *SHAPED, *IDIOMS, *DELIMITED * 3)
    if seed >= FIRST_IDIOM:
        return IDIOMS
    return FAMILIES if seed < FIRST_WRITTEN else CONSTRUCTIONS if seed < FIRST_SHAPED else SHAPED


def _source(plan: Plan) -> str:
    lines = [plan.opening, "{%- for m in messages -%}", "{%- if m.role == 'user' -%}"]
    lines += [text(plan.user[0]), "{{- m.content -}}", text(plan.user[1])]
    lines += ["{%- elif m.role == 'tool' -%}", text(plan.tool[0]), "{{- m.content -}}", text(plan.tool[1])]
    lines += ["{%- elif m.role == 'system' -%}", text(plan.marks.one()), "{{- m.content -}}", text(plan.user[1])]
    lines += ["{%- else -%}", "{%- set content = m.content or '' -%}"]
    if plan.reasoning:
        lines += ["{%- set thought = m.reasoning_content or '' -%}"]
    lines += [plan.header, plan.before]
    if plan.reasoning:
        start, end = map(text, plan.reasoning)
        reasons = plan.reasons.replace("{start}", start)
        if plan.inside and plan.calls:
            reasons = reasons.replace("{end}", "\n".join(["", *_calls(plan, plan.calls), "{end}"]))
        lines.append(reasons.replace("{end}", end))
    lines.append(plan.content)
    if plan.calls:
        calls = _calls(plan, plan.calls)
        lines += ["{%- if not thought -%}", *calls, "{%- endif -%}"] if plan.inside else calls
    lines += [plan.end, "{%- endif -%}", "{%- endfor -%}", plan.last]
    lines += ["{%- if add_generation_prompt -%}", plan.header, plan.before, plan.prompt, "{%- endif -%}"]
    if plan.loose:
        return _loosened(plan.rng, [line for line in lines if line])
    return "\n".join(line for line in lines if line) + "\n"


def _calls(plan: Plan, calls: Calls) -> list[str]:
    between = "{%- if not loop.first -%}" + text(calls.join) + "{%- endif -%}" if calls.join else ""
    if calls.blocks:
        between += "{%- if content or not loop.first -%}" + plan.end + plan.header + "{%- endif -%}"
    one = ["{%- for c in m.tool_calls -%}", "{%- set n = loop.index0 -%}", between, calls.one, "{%- endfor -%}"]
    return ["{%- if m.tool_calls -%}", calls.start, *one, calls.end, "{%- endif -%}"]


def _loosened(rng: random.Random, lines: list[str]) -> str:
    """Remove some of the white space control: line breaks and indentation of the source get into the render."""
    kept = []
    for line in lines:
        if line.startswith(("{%- if m.role", "{%- for m")):
            line = line.replace("{%- ", "{% ").replace(" -%}", " %}")
        elif line.startswith("{{- ") and rng.random() < 0.3:
            line = line.replace("{{- ", "{{ ", 1)
        kept.append("    " * rng.randint(0, 2) + line)
    return "\n".join(kept) + "\n"


# What makes a turn wild.  Each changes the plan and says its kind.


def content_wrapped_before_calls(plan: Plan) -> None:
    if plan.calls is None:
        return
    start, end = map(text, plan.marks.pair())
    wrapped = "{%- if content -%}" + start + "{{- content -}}" + end + "{%- endif -%}"
    plan.content = "{%- if m.tool_calls -%}" + wrapped + "{%- else -%}{{- content -}}{%- endif -%}"
    plan.kinds.append("content wrapped before calls")


def end_by_shape(plan: Plan) -> None:
    if plan.calls is None:
        return
    other = text(plan.marks.one())
    plan.end = "{%- if m.tool_calls -%}" + other + "{%- else -%}" + plan.end + "{%- endif -%}"
    plan.kinds.append("end by shape")


def opener_after_content(plan: Plan) -> None:
    """Open the calls with another text after content than at the start."""
    if plan.calls is None:
        return
    first, later = text(plan.marks.one()), text("\n\n" if plan.rng.random() < 0.5 else plan.marks.one())
    plan.content += "{%- if m.tool_calls -%}{%- if content -%}" + later + "{%- else -%}"
    plan.content += (first if plan.rng.random() < 0.5 else "") + "{%- endif -%}{%- endif -%}"
    plan.kinds.append("opener by position")


def mark_of_the_first_call(plan: Plan) -> None:
    if plan.calls is None or plan.calls.blocks:
        return
    mark = text(plan.marks.one())
    one = "{%- if n == 0 -%}" + mark + "{%- endif -%}" + plan.calls.one
    plan.calls = Calls(plan.calls.kind, one, plan.calls.join, plan.calls.start, plan.calls.end)
    plan.kinds.append("first call marked")


def mark_of_the_last_call(plan: Plan) -> None:
    if plan.calls is None or plan.calls.blocks:
        return
    last, other = text(plan.marks.one()), text(plan.marks.one())
    one = plan.calls.one + "{%- if loop.last -%}" + last + "{%- else -%}" + other + "{%- endif -%}"
    plan.calls = Calls(plan.calls.kind, one, plan.calls.join, plan.calls.start, plan.calls.end)
    plan.kinds.append("last call marked")


def prompt_holds_reasoning(plan: Plan) -> None:
    if plan.reasoning is None:
        return
    start, end = map(text, plan.reasoning)
    plan.prompt = start if plan.rng.random() < 0.6 else start + end
    plan.kinds.append("prompt holds reasoning")


def prompt_holds_more(plan: Plan) -> None:
    """The prompt contains a text that no turn of history shows."""
    plan.prompt = text(plan.marks.one()) + plan.prompt
    plan.kinds.append("prompt holds more than history")


def mode_opens_reasoning(plan: Plan) -> None:
    if plan.reasoning is None:
        return
    start, end = map(text, plan.reasoning)
    name = plan.rng.choice(["enable_thinking", "think_first", "effort"])
    asked = f"{name} == 'high'" if name == "effort" else name
    plan.prompt += "{%- if " + asked + " -%}" + start + "{%- else -%}" + start + end + "{%- endif -%}"
    plan.kinds.append("mode")


def prefix_without_tools(plan: Plan) -> None:
    mark = text(plan.marks.one())
    plan.before = "{%- if not tools -%}" + mark + "{%- endif -%}"
    plan.kinds.append("prefix without tools")


def indented_lines(plan: Plan) -> None:
    """The source's indentation is written before a part."""
    plan.content = text("\n    ") + plan.content
    plan.kinds.append("stray indentation")


def no_white_space_control(plan: Plan) -> None:
    plan.loose = True
    plan.kinds.append("white space control gone wrong")


def end_token(plan: Plan) -> None:
    plan.end += "{{- eos_token -}}"
    plan.opening = "{{- bos_token -}}"
    plan.kinds.append("special tokens")


def end_token_at_the_very_end(plan: Plan) -> None:
    plan.last = "{%- if not add_generation_prompt -%}{{- eos_token -}}{%- endif -%}"
    plan.kinds.append("token after the conversation")


def literal_escapes(plan: Plan) -> None:
    """The template writes a backslash and an n instead of a line break."""
    plan.before = text("\\n")
    plan.kinds.append("literal backslash n")


def reasoning_without_a_mark(plan: Plan) -> None:
    if plan.reasoning is None:
        return
    plan.reasoning = ("", "\n\n")
    plan.ambiguous = "only white space ends reasoning"
    plan.kinds.append("white space ends reasoning")


def reasoning_twice(plan: Plan) -> None:
    """Write a second block of reasoning, from another key, after the content."""
    if plan.reasoning is None:
        return
    start, end = map(text, plan.reasoning)
    plan.content += "{%- if m.afterthought -%}" + start + "{{- m.afterthought -}}" + end + "{%- endif -%}"
    plan.kinds.append("two reasoning blocks")


def two_sections(plan: Plan) -> None:
    """Every call is in a section of its own, with the header between."""
    if plan.calls is None or plan.calls.blocks:
        return
    one = "{%- if n > 0 -%}" + plan.end + plan.header + "{%- endif -%}" + plan.calls.start + plan.calls.one
    plan.calls = Calls(plan.calls.kind, one + plan.calls.end)
    plan.kinds.append("a section for each call")


ESCAPES = ("e", "e", "urlencode", "tojson", "indent(2)", "replace('<', '&lt;')")


def escaped_content(plan: Plan) -> None:
    """Text passes through a filter that escapes it, or indents its lines; reasoning may pass through it as well."""
    escape = plan.rng.choice(ESCAPES)
    plan.content = plan.content.replace("{{- content -}}", "{{- content | " + escape + " -}}", 1)
    plan.kinds.append("escaped content")
    if plan.reasoning is not None and plan.rng.random() < 0.5:
        plan.reasons = plan.reasons.replace("{{- thought -}}", "{{- thought | " + escape + " -}}")
        plan.kinds.append("escaped reasoning")


def lead_by_shape(plan: Plan) -> None:
    """White space precedes the content, and a different one if calls follow it."""
    if plan.calls is None:
        return
    alone, called = plan.rng.sample([" ", "\n", "\n\n", ""], 2)
    lead = "{%- if content -%}{%- if m.tool_calls -%}" + text(called) + "{%- else -%}" + text(alone)
    plan.content = lead + "{%- endif -%}{%- endif -%}" + plan.content
    plan.kinds.append("lead by shape")


def reasoning_by_shape(plan: Plan) -> None:
    """Other markers surround the reasoning of a turn with calls."""
    if plan.calls is None or plan.reasoning is None:
        return
    start, end = map(text, plan.marks.pair())
    other = start + "{{- thought -}}" + end
    plan.reasons = "{%- if thought and m.tool_calls -%}" + other + "{%- else -%}" + plan.reasons + "{%- endif -%}"
    plan.kinds.append("reasoning by shape")


def effort_in_marker(plan: Plan) -> None:
    """A variable is in the opener of reasoning, or in the header."""
    value = "{{- (effort | default('" + plan.rng.choice(["low", "medium"]) + "')) -}}"
    if plan.reasoning is None:
        plan.header += text(" effort=") + value + text("|>")
    else:
        plan.reasons = plan.reasons.replace("{start}", "{start}" + text("[") + value + text("]"))
    plan.kinds.append("effort in a marker")


def content_always_printed(plan: Plan) -> None:
    """Print a content that is null as `None`."""
    plan.content = plan.content.replace("{{- content -}}", "{{- m.content -}}")
    plan.kinds.append("null printed")


def indented_reasoning(plan: Plan) -> None:
    if plan.reasoning is None:
        return
    start, end = plan.marks.pair(space=False)
    plan.reasoning = (start + "\n  ", "\n" + end)
    plan.reasons = plan.reasons.replace("{{- thought -}}", "{{- thought | indent(2) -}}")
    plan.kinds.append("indented reasoning")


def calls_inside_reasoning(plan: Plan) -> None:
    if plan.calls is None or plan.reasoning is None or plan.calls.blocks:
        return
    plan.inside = True
    plan.kinds.append("calls inside reasoning")


def prompt_opens_calls(plan: Plan) -> None:
    """If tools are offered, the prompt has the text that opens the calls."""
    if plan.calls is None or plan.calls.blocks or plan.reasoning is not None or not plan.calls.start:
        return
    plan.prompt = "{%- if tools -%}" + plan.calls.start + "{%- endif -%}"
    plan.content = "{%- if not m.tool_calls -%}" + plan.content + "{%- endif -%}"
    plan.kinds.append("prompt opens calls")


def number_of_the_turn(plan: Plan) -> None:
    """The turn's place in the conversation is in the opener of reasoning."""
    if plan.reasoning is None:
        return
    plan.reasons = plan.reasons.replace("{start}", "{start}" + text("[turn ") + "{{- loop.index -}}" + text("]"))
    plan.kinds.append("number of the turn")


PLACES = (calls_inside_reasoning, prompt_opens_calls, number_of_the_turn)
SHAPES = (lead_by_shape, reasoning_by_shape, effort_in_marker, content_always_printed, indented_reasoning)
TWISTS: tuple[Callable[[Plan], None], ...] = (
    content_wrapped_before_calls,
    end_by_shape,
    opener_after_content,
    mark_of_the_first_call,
    mark_of_the_last_call,
    prompt_holds_reasoning,
    prompt_holds_more,
    mode_opens_reasoning,
    prefix_without_tools,
    indented_lines,
    no_white_space_control,
    end_token,
    end_token_at_the_very_end,
    literal_escapes,
    reasoning_without_a_mark,
    reasoning_twice,
    two_sections,
)
