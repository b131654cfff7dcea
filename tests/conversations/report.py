"""Measure masks, tags and append-only verdicts: `python -m tests.conversations.report PART`.

pairs FOLDER    templates that TRL's authors tagged by hand (FOLDER/NAME.jinja, FOLDER/NAME_training.jinja): masks
                derived from the original, compared with those that transformers makes of the tags
tags            tags for the templates in ../shared: written and verified, or refused
append-only     whether they only append, against renders, and how many variants do
speed           conversations masked in a second, compared with rendering prefixes
extend          a conversation of 200 turns, extended, and rendered again
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, SHARED
from tplc.conversations import ConversationTemplate, RenderedConversation
from tplc.conversations.append_only import append_only, append_only_template
from tplc.conversations.battery import Conversation, accepted
from tplc.conversations.extend import PromptExtender, PromptSetting
from tplc.conversations.masks import selected
from tplc.conversations.rows import ConversationMasker
from tplc.conversations.training import training_template
from tplc.errors import RenderFailed, TemplateRaised, TplcError, Undecided

TOKENS = {"bos_token": "<BOS>", "eos_token": "<EOS>"}
Ranges = list[tuple[int, int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["pairs", "tags", "append-only", "speed", "extend"])
    parser.add_argument("folder", nargs="?", help="of the pairs")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=2000, help="conversations of 8 messages to mask")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json (default: one trained on the conversations)")
    options = parser.parse_args()
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "pairs": pairs,
        "tags": tags,
        "append-only": appending,
        "speed": speed,
        "extend": extend,
    }
    parts[options.part](options)


def templates(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    found = sorted(
        [*SHARED.glob("templates/*.jinja"), *SHARED.glob("more/templates/*.jinja")], key=lambda one: one.stem
    )
    for path in found[options.first :: options.every]:
        if options.only in path.stem:
            yield path.stem, path.read_text(encoding="utf-8")


def opened(name: str, source: str) -> ConversationTemplate:
    return ConversationTemplate(source, name=name, special_tokens=TOKENS)


def conversations(template: ConversationTemplate) -> list[Conversation]:
    def is_rendered(one: Conversation) -> bool:
        try:
            template.render(one.messages, tools=one.tools)
        except (RenderFailed, TemplateRaised):
            return False
        return True

    return accepted(template.ir, is_rendered)


# Pairs


def pairs(options: argparse.Namespace) -> None:
    total: Counter[str] = Counter()
    for tagged in sorted(Path(options.folder).glob("*_training.jinja")):
        name = tagged.stem.removesuffix("_training")
        original = tagged.with_name(f"{name}.jinja")
        if options.only not in name or not original.is_file():
            continue
        counts, notes = pair(name, original.read_text(encoding="utf-8"), tagged.read_text(encoding="utf-8"))
        total.update(counts)
        print(f"{name:<28}", ", ".join(f"{count} {what}" for what, count in counts.items()))
        for note in notes:
            print("     ", note)
        sys.stdout.flush()
    print("all:", dict(total))


def pair(name: str, original: str, tagged: str) -> tuple[Counter[str], list[str]]:
    """Compare up to 30 conversations; if the tags' author writes another text, compare on that text."""
    counts: Counter[str] = Counter()
    notes: dict[str, str] = {}
    with opened(name, original) as template, opened(name, tagged) as other:
        for one in _spread(conversations(template), 30):
            text, ranges = by_transformers(tagged, one)
            try:
                read = template.read(one.messages, tools=one.tools)
                where = "equal"
                if read.text != text:
                    read, where = other.read(one.messages, tools=one.tools), "equal in their text"
            except TplcError as error:
                counts["undecided"] += 1
                notes.setdefault("undecided", f"{one.title}: {error}")
                continue
            ours, theirs = characters(selected(read.spans)), characters(ranges)
            if ours == theirs:
                counts[where] += 1
                continue
            supplied = characters(before_answers(one, read))
            counts["train on what the prompt supplies" if ours < theirs <= ours | supplied else "different"] += 1
            for who, more in (("only theirs", theirs - ours), ("only ours", ours - theirs)):
                for shown in set(runs(text, more)):
                    notes.setdefault(f"{who} {shown}", f"{who}: {shown} (in: {one.title})")
    return counts, list(notes.values())


def before_answers(one: Conversation, read: RenderedConversation) -> Ranges:
    """Return the text before each answer, from the end of the preceding message's text: the prompt ends with that."""
    answers = {at for at, message in enumerate(one.messages) if message["role"] == "assistant"}
    return [
        (span.start, span.stop)
        for span in read.spans
        if (span.part == "header" and span.message in answers)
        or (span.part == "end" and span.message not in answers and (span.message or 0) + 1 in answers)
    ]


def _spread(found: list[Conversation], most: int) -> list[Conversation]:
    """Return so many items, spread over all kinds."""
    return [found[index * len(found) // most] for index in range(most)] if len(found) > most else found


def by_transformers(source: str, one: Conversation) -> tuple[str, Ranges]:
    from transformers.utils.chat_template_utils import render_jinja_template

    (text,), (ranges,) = render_jinja_template(
        [list(one.messages)],
        tools=list(one.tools) or None,
        chat_template=source,
        return_assistant_tokens_mask=True,
        **TOKENS,
    )
    return text, ranges


def characters(ranges: Sequence[tuple[int, int]]) -> set[int]:
    return {at for start, stop in ranges for at in range(start, stop)}


def runs(text: str, places: set[int]) -> Iterator[str]:
    """Yield the stretches of text that these characters make."""
    for start in sorted(place for place in places if place - 1 not in places):
        stop = start
        while stop in places:
            stop += 1
        yield json.dumps(text[start:stop][:60], ensure_ascii=False)


# Tags


def tags(options: argparse.Namespace) -> None:
    total: Counter[str] = Counter()
    for name, source in templates(options):
        try:
            with opened(name, source) as template:
                made = training_template(template)
                wrong = _unlike_transformers(template, made.text)
        except TplcError as error:
            text = str(error)
            why = "has tags already" if "generation tags already" in text else type(error).__name__
            total[why] += 1
            print(f"{name}: {why}: {text[:220]}", flush=True)
            continue
        total["written, and transformers' masks are equal" if not wrong else "transformers' masks differ"] += 1
        if made.other_masks:
            total["of these, with other masks under some variables"] += 1
        if wrong:
            print(f"{name}: transformers gives another mask: {wrong}", flush=True)
    print(dict(total))


def _unlike_transformers(template: ConversationTemplate, tagged: str) -> str:
    for one in conversations(template):
        try:
            read = template.read(one.messages, tools=one.tools)
        except Undecided:
            continue
        try:
            text, ranges = by_transformers(tagged, one)
        except Exception as error:  # noqa: BLE001 - any exception is a result
            try:
                by_transformers(template.source, one)
            except Exception:  # noqa: BLE001 - nor does it render the template itself
                continue
            return f"{one.title}: {error}"
        if text == read.text and characters(ranges) != characters(selected(read.spans)):
            return one.title
    return ""


# Append-only


def appending(options: argparse.Namespace) -> None:
    total: Counter[str] = Counter()
    for name, source in templates(options):
        try:
            with opened(name, source) as template:
                verdict = append_only(template)
                wrong = brute_force(template)
                kinds = {kind: kind not in verdict.rewritten for kind in verdict.kinds}
                if any(kinds[kind] != wrong[kind] for kind in kinds):
                    total["verdict differs from renders"] += 1
                    print(f"{name}: {kinds} but {wrong}", flush=True)
                total["append-only" if verdict.holds else "not append-only"] += 1
                for kind in verdict.kinds:
                    total[f"{kind}: {'append-only' if kinds[kind] else 'not'}"] += 1
                if not verdict.holds:
                    try:
                        made = append_only_template(template)
                    except TplcError as error:
                        total["no variant"] += 1
                        print(f"{name}: no variant: {error}"[:260], flush=True)
                        continue
                    with opened(name, made.text) as variant:
                        total["variants that verify" if append_only(variant).holds else "variants that do not"] += 1
        except TplcError as error:
            total["not learned"] += 1
            print(f"{name}: {error}"[:160], flush=True)
    print(dict(total))


def brute_force(template: ConversationTemplate) -> dict[str, bool]:
    """Compare every prompt and its answer with every later prompt, sharing only renders with the checker."""
    found: dict[str, bool] = {}
    for one in conversations(template):
        keys = {key for message in one.messages if message["role"] == "assistant" for key in message}
        kind = "reasoning" if keys - {"role", "content", "tool_calls"} else "tools" if one.tools else "text"
        answers = [index for index, message in enumerate(one.messages) if message["role"] == "assistant"]
        for at, index in enumerate(answers):
            try:
                prompt = template.render(one.messages[:index], tools=one.tools, add_generation_prompt=True)
                past = template.render(one.messages[: index + 1], tools=one.tools)
            except TplcError:
                continue
            for later in answers[at + 1 : at + 2]:
                try:
                    text = template.render(one.messages[:later], tools=one.tools, add_generation_prompt=True)
                except TplcError:
                    continue
                begins = past if past[: len(prompt)] == prompt else prompt
                found[kind] = found.get(kind, True) and text[: len(begins)] == begins
    return {kind: found.get(kind, True) for kind in ("text", "tools", "reasoning")}


# Speed


def tokenizer_text(texts: Sequence[str]) -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4000, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    return str(tokenizer.to_str())


def talk(number: int, turns: int) -> list[dict[str, Any]]:
    words = ("rain", "harbour", "maybe", "so", "Tromsø", "they said:", "42", "first,", "then", "it is.")
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        text = " ".join(words[(number * 7 + turn * 3 + at * at) % len(words)] for at in range(60))
        messages.append({"role": ("user", "assistant")[turn % 2], "content": f"{text} {number}"})
    return messages


def by_prefixes(template: ConversationTemplate, messages: list[dict[str, Any]]) -> tuple[str, Ranges]:
    """Find each answer as trainers do: between the renders of the messages before it and of those up to it."""
    ranges = []
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            start = len(template.render(messages[:index], add_generation_prompt=True))
            ranges.append((start, len(template.render(messages[: index + 1]))))
    return template.render(messages), ranges


def worked(template: ConversationTemplate, do: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of processor time of this process and of the one that renders."""
    worker = template.renderer._worker
    assert worker is not None
    before = time.process_time() + _of_process(worker.process.pid)
    made = do()
    return time.process_time() + _of_process(worker.process.pid) - before, made


def _of_process(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def speed(options: argparse.Namespace) -> None:
    from tokenizers import Tokenizer

    source = (ROOT / "examples" / "tagged-json" / "template.jinja").read_text(encoding="utf-8")
    if options.tokenizer is not None:
        text = options.tokenizer.read_text(encoding="utf-8")
    else:
        text = tokenizer_text([one["content"] for number in range(50) for one in talk(number, 8)])
    tokenizer = Tokenizer.from_str(text)
    for turns in (8, 32):
        masker = ConversationMasker(source, text).with_format()
        template = masker.open()
        count = options.count if turns == 8 else min(options.count // 4, 2000)
        few = [talk(number, turns) for number in range(min(count, 2000 // turns))]
        masker({"messages": few[:2]})

        def masked(turns: int = turns, masker: ConversationMasker = masker, count: int = count) -> tuple[int, float]:
            """Return how many rows have a mask, and the seconds on the clock."""
            done, clock = 0, time.perf_counter()
            for at in range(0, count, 1000):
                rows = [talk(number, turns) for number in range(at, min(at + 1000, count))]
                done += sum(mask is not None for mask in masker({"messages": rows})["assistant_masks"])
            return done, time.perf_counter() - clock

        def spans(few: list[Any] = few, template: ConversationTemplate = template) -> None:
            for messages in few:
                template.read(messages)

        def ours(few: list[Any] = few, masker: ConversationMasker = masker) -> Any:
            return masker({"messages": few})["assistant_masks"]

        def prefixes(few: list[Any] = few, template: ConversationTemplate = template) -> list[Any]:
            return [by_prefixes(template, messages) for messages in few]

        def prefix_tokens(few: list[Any] = few, template: ConversationTemplate = template) -> list[Any]:
            return [by_prefix_tokens(template, tokenizer, messages) for messages in few]

        reading, _ = worked(template, spans)
        masking, masks = worked(template, ours)
        rendering, found = worked(template, prefixes)
        tokenizing, encoded = worked(
            template, lambda found=found: tokenizer.encode_batch([one for one, _ in found], add_special_tokens=False)
        )
        both, _ = worked(template, prefix_tokens)
        for mask, encoding, (_, ranges) in zip(masks, encoded, found, strict=True):
            inside = characters(ranges)
            assert mask == [int(any(at in inside for at in range(a, b))) for a, b in encoding.offsets]
        (done, clock), size = masked(), len(few)
        assert done == count
        print(
            f"{turns} messages: {count:,} conversations masked in {clock:,.0f} s, {count / clock:,.0f} a second by the "
            f"clock. In a second of one core, of {size}:\n"
            f"    without tokens: {size / reading:,.0f} by spans, {size / rendering:,.0f} by prefixes "
            f"({rendering / reading:.1f} times)\n"
            f"    with tokens: {size / masking:,.0f} masked, {size / both:,.0f} by tokens of each prefix "
            f"({both / masking:.1f} times), {size / (rendering + tokenizing):,.0f} by prefixes and the tokens of the "
            f"whole ({(rendering + tokenizing) / masking:.1f} times)",
            flush=True,
        )


def by_prefix_tokens(
    template: ConversationTemplate, tokenizer: Any, messages: list[dict[str, Any]]
) -> tuple[list[int], list[int]]:
    """Find answers as trainers on tokens do: `apply_chat_template(messages[:i], tokenize=True)` twice for a turn."""

    def ids(some: list[dict[str, Any]], *, prompt: bool = False) -> list[int]:
        text = template.render(some, add_generation_prompt=prompt)
        found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return found

    whole = ids(messages)
    mask = [0] * len(whole)
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            start, stop = len(ids(messages[:index], prompt=True)), len(ids(messages[: index + 1]))
            mask[start:stop] = [1] * (stop - start)
    return whole, mask


# Extending


def extend(options: argparse.Namespace) -> None:
    for name in ("tagged-json", "forced-closed"):
        source = (ROOT / "examples" / name / "template.jinja").read_text(encoding="utf-8")
        with opened(name, source) as template:

            def render(messages: Any, setting: PromptSetting, prompt: bool, template: Any = template) -> str:
                return str(template.render(messages, tools=setting.tools, add_generation_prompt=prompt))

            extender = PromptExtender(render, template.ir)
            messages = talk(1, 400)
            _, state = extender.start(messages[:1], PromptSetting())
            extender.extend(state, messages[1])  # the probes are asked once
            start = time.perf_counter()
            text, state = extender.start(messages[:1], PromptSetting())
            whole = 0
            for message in messages[1:]:
                grown = extender.extend(state, message)
                text, state = (grown.added if grown.is_whole else text + grown.added), grown.state
                whole += grown.is_whole
            ours = time.perf_counter() - start
            start = time.perf_counter()
            for count in range(1, len(messages) + 1):
                again = render(messages[:count], PromptSetting(), messages[count - 1]["role"] != "assistant")
            theirs = time.perf_counter() - start
            assert text == again
            print(
                f"{name}: 200 turns extended in {ours:.2f} s ({whole} whole renders), rendered again in {theirs:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
