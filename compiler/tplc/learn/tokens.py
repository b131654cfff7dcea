r"""Which special tokens does the template write, and where?

{{ m.content }}{{ eos_token }}, no eos_token given  →  stand-ins {"eos_token": "<eos_token:not-given>"}
ends ("<stop>\n<eos>",)                             →  ("<stop>\n<eos>", "<eos>", "<stop>")
markers "to=<to>", "<say>x<sep>"                    →  preserved "<to>", "<say>", "<sep>"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tplc.ir.markers import is_distinctive
from tplc.ir.nodes import PairArguments, TemplateIR, Text
from tplc.ir.stand_ins import names_stood_for, stand_in
from tplc.learn.align import token_spans
from tplc.learn.candidates import written_tokens
from tplc.learn.probe import Prober, Setup, after_content, asks


def stand_ins(source: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return a stand-in for each special token that the template writes out and no one gave."""
    return {name: stand_in(name) for name in written_tokens(source) if name not in given}


@asks("tokens", "Which special tokens does the template write, and where?")
def with_token_ends(prober: Prober, base: Setup, ir: TemplateIR, tokens: Mapping[str, str]) -> TemplateIR:
    """Add ends that are special tokens.  A token ends the turn by itself if it follows other text in an end, or follows
    everything at the end of a conversation.  So does the text before it, unless that is in one of the inner markers,
    after which the turn continues."""
    ends = ir.turn.ends
    inner = [marker for path, marker in markers(ir) if path != "turn.end"]
    more: list[str] = []
    last = after_content(prober, replace(base, follow="none")) or ""
    appended = prober.tail([], base, generation=True)
    for text in sorted(filter(str.strip, tokens.values()), key=len, reverse=True):
        token = text.strip()
        holding = [end for end in ends if token in end]
        if not holding and token in last and not (isinstance(appended, str) and token in appended):
            more.append(token)
        for end in holding:
            before = end[: end.index(token)].strip()
            if before and is_distinctive(before):
                more += [token] if any(before in marker for marker in inner) else [token, before]
    return replace(ir, turn=replace(ir.turn, ends=tuple(dict.fromkeys((*ends, *more)))))


def markers(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    """Return every marker by its name in the IR, the smaller before those that contain them; none is only white
    space."""
    tools, turn = ir.tools, ir.turn
    named = [("reasoning.start", ir.reasoning.start), ("reasoning.end", ir.reasoning.end)]
    named += [("content.start", ir.content.start), ("content.end", ir.content.end)]
    if isinstance(tools.arguments, PairArguments):
        pairs = tools.arguments
        named += [("tools.arguments.pair", item.text) for item in pairs.pair if isinstance(item, Text)]
        named += [("tools.arguments.start", pairs.start), ("tools.arguments.end", pairs.end)]
        named += [("tools.arguments.separator", pairs.separator)]
    named += [("tools.call", item.text) for item in tools.call if isinstance(item, Text)]
    named += [("tools.section_start", tools.section_start), ("tools.separator", tools.separator)]
    named += [("tools.section_end", tools.section_end), ("turn.header", turn.header)]
    named += [("turn.prompt", prompt.head) for prompt in turn.prompts]
    named += [("turn.end", end) for end in turn.ends]
    return ((path, marker) for path, marker in named if marker.strip())


def preserved_tokens(ir: TemplateIR, added: Sequence[str]) -> tuple[str, ...]:
    """Return what a detokeniser must not strip from an output: the tokenizer's added tokens that markers hold, where
    they are known; else all that looks like one."""
    dialect = ir.tools.dialect
    quotes = [m for string in (dialect.in_object.strings if dialect else ()) for m in (string.open, string.close)]
    texts = [*(marker for path, marker in markers(ir) if path not in ("turn.header", "turn.prompt")), *quotes]
    found = {token for token in added if any(token in text for text in texts)}
    if not added:
        found = {text[start:end] for text in texts for start, end in token_spans(text)}
        found = {token for token in found if not any(ch.isspace() or ch in "\"'" for ch in token)}
    return tuple(sorted(token for token in found if not names_stood_for(token)))
