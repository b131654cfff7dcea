"""Templates of the examples with their conversations, and the spans that renders of prefixes show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tests.conftest import ROOT
from tplc.conversations import ConversationTemplate, Span
from tplc.conversations.battery import Conversation, accepted
from tplc.errors import RenderFailed, TemplateRaised

TOKENS = {"bos_token": "<bos>", "eos_token": "<eos>"}
EXAMPLES = tuple(sorted(path.parent.name for path in ROOT.glob("examples/*/template.jinja")))


@cache
def example(name: str) -> ConversationTemplate:
    source = (ROOT / "examples" / name / "template.jinja").read_text(encoding="utf-8")
    return ConversationTemplate(source, name=name, special_tokens=TOKENS)


def rendered(template: ConversationTemplate, messages, generation: bool = False, **options) -> str | None:
    try:
        return template.render(messages, add_generation_prompt=generation, **options)
    except (RenderFailed, TemplateRaised):
        return None


@cache
def conversations(name: str) -> list[Conversation]:
    template = example(name)
    return accepted(template.ir, lambda one: rendered(template, one.messages, tools=one.tools) is not None)


def generated(spans: tuple[Span, ...] | list[Span]) -> list[tuple[int, int, int]]:
    """Return the generated characters of each answer: message, first, last."""
    found: dict[int, list[int]] = {}
    for span in spans:
        if span.generated and span.message is not None:
            found.setdefault(span.message, [span.start, span.stop])[1] = span.stop
    return [(message, start, stop) for message, (start, stop) in found.items()]


def from_prefixes(template: ConversationTemplate, one: Conversation, text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the same, found by renders of the conversation's beginnings, if the text begins with them."""
    for index, message in enumerate(one.messages):
        if message["role"] != "assistant":
            continue
        prompt = rendered(template, one.messages[:index], True, tools=one.tools)
        past = rendered(template, one.messages[: index + 1], tools=one.tools)
        if prompt is not None and past is not None and text.startswith(prompt) and text.startswith(past):
            yield index, len(prompt), len(past)
