"""Headers that are a set of parts are learned as such: parser and PEG read them in any order, with parts left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import pytest
import regex

from tests.backends.parsers import ir_of, parser_for, streamed
from tplc.backends.peg.engine import PegEngine
from tplc.backends.peg.form import FormPatterns, without_calls
from tplc.backends.peg.known_tools import KnownTools
from tplc.driver import compile_template, learn_format, open_renderer
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.lower import lower
from tplc.lower.header_parts import header_parts


@dataclass(frozen=True)
class Format:
    """`order`: how the template writes the header of a call, parts by their first letters."""

    start: str
    tag: str
    words: tuple[str, str, str]  # of reasoning, content and calls
    recipient: str
    kind: str
    body: str
    over: str
    order: str = "rck"

    def header(self, order: str, name: str, word: str = "") -> str:
        parts = {"c": self.tag + (word or self.words[2]), "r": self.recipient + name, "k": self.kind}
        return "".join(parts[letter] for letter in order) + self.body

    def template(self) -> str:
        def said(word: str, text: str) -> str:
            return repr(self.start + "bot" + self.tag + word + self.body) + f" + {text} + " + repr(self.over)

        before, after = self.header(self.order, "\0").split("\0")
        return (
            "{%- for message in messages %}{%- if message.role == 'assistant' %}"
            f"{{%- if message.reasoning %}}{{{{- {said(self.words[0], 'message.reasoning')} }}}}{{%- endif %}}"
            f"{{%- if message.content %}}{{{{- {said(self.words[1], 'message.content')} }}}}{{%- endif %}}"
            "{%- for call in message.tool_calls or [] %}"
            f"{{{{- {self.start + 'bot' + before!r} + call.function.name + {after!r} }}}}"
            f"{{{{- (call.function.arguments | tojson) + {self.over!r} }}}}{{%- endfor %}}"
            f"{{%- else %}}{{{{- {self.start!r} + message.role + {self.body!r} + message.content + {self.over!r} }}}}"
            "{%- endif %}{%- endfor %}"
            f"{{%- if add_generation_prompt %}}{{{{- {self.start + 'bot'!r} }}}}{{%- endif %}}"
        )


FORMATS = {
    "recipient first": Format("[[by]]", "[[in]]", ("muse", "say", "act"), "[[to]]", " json", "[[text]]", "[[over]]"),
    "channel first": Format(
        "<~~", "<~in~>", ("why", "out", "do"), " for=", " <~as~>json", "<~text~>", "<~over~>", "crk"
    ),
    "no kind": Format("⟦", "⟦канал⟧", ("мысль", "ответ", "дело"), "⟦кому⟧", "", "⟦текст⟧", "⟦всё⟧", "rc"),
    "kind between": Format("@@", "@@w:", ("a-b", "c-d", "e-f"), "@@t:", "@@json", "@@body", "@@end", "rkc"),
}


@cache
def learned(name: str) -> TemplateIR:
    source = FORMATS[name].template()
    with open_renderer(source, name=name) as renderer:
        return learn_format(renderer, name=name, source_text=source)


def read(ir: TemplateIR, text: str, **options: bool) -> dict[str, Any]:
    """Return what every engine reads from a text, in any chunking."""
    module = parser_for(ir)
    message = dict(module.parse(text, **options))
    assert dict(PegEngine(ir).parse(text, **options)) == message
    assert streamed(module, list(text), **options) == message
    return message


def called(name: str) -> dict[str, Any]:
    call = {"id": None, "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}
    return {"role": "assistant", "content": None, "reasoning_content": None, "tool_calls": [call]}


def said(content: str | None, reasoning: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "reasoning_content": reasoning, "tool_calls": []}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", list(FORMATS))
def test_a_call_is_read_in_any_order_of_its_header(name: str) -> None:
    form, ir = FORMATS[name], learned(name)
    assert header_parts(ir) is not None
    orders = [order for count in (1, 2, 3) for order in permutations("rck", count) if "r" in order]
    tried = 0
    for order in map("".join, orders):
        before = order[: order.index("k")][-1:] if "k" in order else "-"
        if form.kind == "" and "k" in order:
            continue
        if form.kind[:1] == " " and form.kind.strip()[0].isalnum() and before in ("", "r"):
            continue  # it could be the end of a name
        for word in form.words:
            tried += 1
            assert read(ir, form.header(order, "look_up", word) + '{"a": 1}' + form.over) == called("look_up"), order
    assert tried >= 9


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", list(FORMATS))
def test_a_call_that_is_kept_keeps_all_of_its_header(name: str) -> None:
    form, ir = FORMATS[name], learned(name)
    for order in map("".join, permutations("rck")):
        for word in form.words:
            call = form.header(order, "look_up", word) + '{"a": 1}'
            kept = read(ir, call + form.over, parse_tool_calls=False)["content"]
            assert kept.removesuffix(form.over).strip() == call.strip(), order


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_header_is_kept_where_nothing_ends_a_turn(name: str) -> None:
    form, acceptor = FORMATS[name], lower(learned(name))
    kept = without_calls(FormPatterns(replace(acceptor, ends=(), last_ends=(), headers=()), KnownTools()))
    header = form.header(form.order, "look_up")
    found = regex.match(kept.header_unparsed, header + '{"a": 1}' + header, regex.DOTALL)
    assert found is not None
    assert found[0] == header


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_word_marks_a_message_without_a_call(name: str) -> None:
    form, ir = FORMATS[name], learned(name)
    for word, wanted in zip(
        form.words, (said(None, "I look."), said("I look.", None), said("I look.", None)), strict=True
    ):
        for kind in dict.fromkeys(["", form.kind]):
            assert read(ir, form.tag + word + kind + form.body + "I look." + form.over) == wanted, word


@pytest.mark.parametrize("name", list(FORMATS))
def test_it_can_be_switched_off(name: str) -> None:
    form, ir = FORMATS[name], learned(name)
    strict = replace(ir, tolerances=(*ir.tolerances, Tolerance("header_parts", enabled=False)))
    assert header_parts(ir) is not None
    own = form.header(form.order, "look_up") + '{"a": 1}' + form.over
    other = form.header("rc" if form.order[0] == "c" else "cr", "look_up") + '{"a": 1}' + form.over
    assert read(ir, own) == read(ir, other) == read(strict, own) == called("look_up")
    assert read(strict, other) != called("look_up")
    assert header_parts(ir) == header_parts(strict)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("target", ["python", "peg"])
def test_the_template_still_verifies(name: str, target: Any) -> None:
    result = compile_template(FORMATS[name].template(), name=name, target=target).verification
    assert (result.failures, result.verified) == ((), True)


@pytest.mark.parametrize("name", ["tagged-json", "parameter-tags", "addressed-parts", "recipient-lines", "plain-chat"])
def test_other_formats_have_no_such_headers(name: str) -> None:
    assert header_parts(ir_of(name)) is None


def test_words_like_a_recipient_stay_in_the_text() -> None:
    """The template writes a word after the tag: by itself it opens a call only if the whole header follows."""
    ir = learned("channel first")
    for text in ('Send it for=bob {"a": 1} now.', "f(x, for=bob{1})", "for=bob"):
        assert read(ir, f"<~in~>out<~text~>{text}<~over~>") == said(text, None)
    assert read(ir, ' for=bob<~text~>{"a": 1}<~over~>') == called("bob")


@pytest.mark.parametrize("word", ["say", "muse"])
def test_a_call_whose_header_ends_like_a_message(word: str) -> None:
    form = Format("[[by]]", "[[in]]", ("muse", "say", word), "[[to]]", "", "[[text]]", "[[over]]", "rc")
    with open_renderer(form.template(), name="same") as renderer:
        ir = learn_format(renderer, name="same", source_text=form.template())
    for order in ("rc", "cr", "r"):
        for other in form.words:
            text = form.header(order, "look_up", other) + '{"a": 1}[[over]]'
            assert read(ir, text) == called("look_up"), text
    assert read(ir, "[[in]]say[[text]]Hi.[[over]]") == said("Hi.", None)
    assert read(ir, "[[in]]muse[[text]]Hi.[[over]]") == said(None, "Hi.")


def test_a_turn_of_messages_continues_after_an_end() -> None:
    """The template ends each message of a turn: another one, with its header, is the turn's as well."""
    form, ir = FORMATS["recipient first"], learned("recipient first")
    text = f"[[in]]say[[text]]Hi.[[over]][[by]]bot[[in]]muse[[text]]Hm.[[over]][[by]]bot{form.header('rck', 'f')}"
    message = read(ir, text + '{"a": 1}[[over]]')
    assert (message["content"], message["reasoning_content"]) == ("Hi.", "Hm.")
    assert message["tool_calls"] == called("f")["tool_calls"]
    assert read(ir, "[[in]]say[[text]]Hi.[[over]][[by]]user[[text]]And?[[over]]") == said("Hi.", None)
