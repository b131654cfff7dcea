"""Structural tags, in the real xgrammar: what templates render is accepted, wrong arguments are not."""

from __future__ import annotations

import functools
import json
import time
from typing import Any

import pytest

import tplc
from tests.conftest import SHARED
from tests.gbnf.engine import _engine, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.gbnf.vocabulary import vocabulary
from tplc.backends.gbnf import Grammar, grammar
from tplc.errors import UsageError
from tplc.targets.structural_tag import NoTag, legacy_tag, structural_tag, without_reasoning
from tplc.xgrammar import register

TOOLS = [
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, required=("at",)),
    tool("see", {}),
]
GOOD: list[tuple[tuple[str, dict[str, Any]], ...]] = [
    (("look", {"at": "it", "days": 2}),),
    (("look", {"at": "Tromsø, now"}),),
    (("see", {}),),
    (("look", {"at": "a"}), ("see", {})),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("look", {"days": 2}),
    ("look", {"at": "it", "days": "x"}),
    ("look", {"at": "it", "days": -1}),
    ("look", {"at": "it", "other": "x"}),
    ("listen", {"at": "it"}),
]
NAMES = sorted(formats())


@functools.lru_cache(maxsize=64)
def _compiled(tag: str) -> Any:
    engine = _engine()
    compiler = engine.GrammarCompiler(engine.TokenizerInfo([]), cache_enabled=False, max_threads=1)
    return compiler.compile_structural_tag(tag)


def accepts(tag: dict[str, Any], text: str) -> bool:
    matcher = _engine().GrammarMatcher(_compiled(json.dumps(tag)), terminate_without_stop_token=True)
    return (not text or matcher.accept_string(text)) and matcher.is_completed()


def made(name: str, choice: str, *, parallel: bool = True) -> dict[str, Any]:
    ir = formats()[name].ir
    asked = grammar(ir, tools=TOOLS, tool_choice=choice, parallel_tool_calls=None if parallel else False)
    return structural_tag(ir, asked, parallel=parallel)


@pytest.mark.sweep(5)
@needs_engine
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", NAMES)
def test_renders_are_accepted_and_wrong_arguments_refused(name: str, choice: str) -> None:
    ir = formats()[name].ir
    try:
        tag = made(name, choice)
    except NoTag as error:
        assert choice == "auto" and "--tool-choice required does not need this" in str(error)
        return
    content = "Well." if choice == "auto" and ir.content.with_calls == "before" else None
    for calls in GOOD:
        if len(calls) > 1 and not ir.tools.parallel:
            continue
        text = written(ir, calls_message(*calls, content=content))
        assert accepts(tag, text), text
    raw = ir.tools.dialect is not None and not ir.tools.dialect.top.strings
    for call in WRONG:
        text = written(ir, calls_message(call))
        assert not accepts(tag, text), (raw, text)


@needs_engine
def test_text_is_free_until_a_call_begins() -> None:
    tag = made("tagged-json", "auto")
    assert accepts(tag, "Just < text > of any kind.") and not accepts(tag, "Now <fn>\n{}")
    assert not accepts(made("tagged-json", "required"), "Just text.")


@needs_engine
def test_one_call_only() -> None:
    ir = formats()["tagged-json"].ir
    both = written(ir, calls_message(("see", {}), ("see", {})))
    one = written(ir, calls_message(("see", {})))
    assert accepts(made("tagged-json", "auto"), both)
    tag = made("tagged-json", "auto", parallel=False)
    assert accepts(tag, one) and not accepts(tag, both)


@needs_engine
def test_reasoning_that_the_server_parts_off() -> None:
    ir = without_reasoning(formats()["parameter-tags"].ir)
    tag = structural_tag(ir, grammar(ir, tools=TOOLS, tool_choice="required"), parallel=True)
    assert accepts(tag, "<deed>\n<do=see>\n</do>\n</deed>")


@needs_engine
def test_by_the_library_from_where_on_a_tag_holds() -> None:
    ir = formats()["forced-open"].ir
    call = '@@look {"at": "it"} @@'
    asked = {"tools": TOOLS, "tool_choice": "required"}
    inside, outside = tplc.structural_tag(ir, **asked), tplc.structural_tag(ir, reasoning="outside", **asked)
    assert accepts(inside, f"Hm.</sketch>{call}") and not accepts(inside, "Hm.</sketch>Hello.")
    assert accepts(outside, call) and not accepts(outside, "Hello.")
    # After a prompt that opens no reasoning, the answer may open it.
    closed = tplc.structural_tag(ir, head="", **asked)
    assert accepts(closed, call) and accepts(closed, f"<sketch>\nHm.</sketch>{call}")


def test_a_format_without_reasoning_is_the_same_inside_and_outside() -> None:
    """The part of the answer in the prompt is kept, too."""
    ir = formats()["recipient-lines"].ir
    asked = {"tools": TOOLS, "tool_choice": "required"}
    assert tplc.structural_tag(ir, **asked) == tplc.structural_tag(ir, reasoning="outside", **asked)


def test_a_line_of_a_grammar_ends_where_its_engine_says() -> None:
    """A class may contain characters that Python counts as line ends."""
    rules = "root ::= [^\x85\u2028]*\n"
    made = Grammar(f"# A comment.\n\n{rules}", False, (), (), "", ())
    tag = structural_tag(formats()["tagged-json"].ir, made, parallel=True)
    assert tag["format"] == {"type": "grammar", "grammar": rules}


@pytest.mark.parametrize("where", ["q", 3, None])
def test_reasoning_is_inside_or_outside(where: Any) -> None:
    with pytest.raises(UsageError, match=f"reasoning: expected 'inside' or 'outside', got {where!r}"):
        tplc.structural_tag(formats()["tagged-json"].ir, tools=TOOLS, reasoning=where)


def test_what_no_tag_can_say() -> None:
    ir = formats()["bare-json"].ir
    with pytest.raises(NoTag) as caught:
        structural_tag(ir, grammar(ir, tools=TOOLS), parallel=True)
    assert str(caught.value).startswith(
        "bare-json: structural_tag cannot express this: calls begin like other text, only a pattern distinguishes them"
    )
    with pytest.raises(NoTag, match="nothing is constrained"):
        structural_tag(ir, grammar(ir, tools=TOOLS, tool_choice="none"), parallel=True)


LEGACY = ("channels", "closer-with-name", "fenced-json", "open-json", "tagged-json")


@needs_engine
@pytest.mark.parametrize("name", LEGACY)
def test_the_old_form(name: str) -> None:
    ir = formats()[name].ir
    tag = legacy_tag(ir, TOOLS, tool_choice="auto", parallel=None)
    assert set(tag) == {"type", "structures", "triggers"}
    # Servers hand it over in its two parts.
    items = [_engine().StructuralTagItem(**one) for one in tag["structures"]]
    tag = _engine().StructuralTag.from_legacy_structural_tag(items, tag["triggers"]).model_dump()
    for calls in GOOD:
        text = written(ir, calls_message(*calls))
        assert accepts(tag, text), text
    for call in WRONG:
        text = written(ir, calls_message(call))
        assert not accepts(tag, text), text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("parameter-tags", "arguments are not written as JSON, and the old form cannot express anything else"),
        ("bare-json", 'a call begins like other text ("{\\"name\\": \\"")'),
        ("tagged-name-json", "nothing closes a call, and the old form needs a text after the arguments"),
        ("sectioned-ids", "a call has to be its name and then its arguments; this has name, index, arguments"),
    ],
)
def test_what_the_old_form_cannot_say(name: str, reason: str) -> None:
    with pytest.raises(NoTag) as caught:
        legacy_tag(formats()[name].ir, TOOLS, tool_choice="auto", parallel=None)
    assert str(caught.value) == f"{name}: structural_tag cannot express this: {reason}"


@pytest.mark.parametrize(
    ("choice", "parallel", "asked"), [("required", None, "--tool-choice required"), ("auto", False, "--no-parallel")]
)
def test_the_old_form_is_for_free_text(choice: str, parallel: bool | None, asked: str) -> None:
    with pytest.raises(NoTag, match=f"leaves text free and counts no calls, so {asked} has no place in it"):
        legacy_tag(formats()["tagged-json"].ir, TOOLS, tool_choice=choice, parallel=parallel)


@needs_engine
def test_the_registry_of_xgrammar() -> None:
    engine = _engine()
    ir = formats()["parameter-tags"].ir
    register(ir, "mine")
    good, wrong = (written(ir, calls_message(call)) for call in (GOOD[0][0], WRONG[1]))
    both = written(ir, calls_message(("see", {}), ("see", {})))

    def tag(**asked: Any) -> dict[str, Any]:
        made: dict[str, Any] = engine.get_model_structural_tag("mine", **asked).model_dump()
        return made

    for choice in ("auto", "required"):
        made = tag(tools=TOOLS, tool_choice=choice)
        assert accepts(made, good) and accepts(made, both) and not accepts(made, wrong)
    assert not accepts(tag(tools=TOOLS, tool_choice="required"), "Just text.")
    forced = tag(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "see"}})
    assert not accepts(forced, good) and accepts(forced, both)
    assert not accepts(tag(tools=TOOLS, parallel_tool_calls=False), both)
    assert accepts(tag(tools=[]), "Just text.")
    open_tool = {"type": "function", "function": {**TOOLS[0]["function"], "strict": False}}
    assert accepts(tag(tools=[open_tool]), wrong)
    with pytest.raises(ValueError, match="has no built-in tools"):
        tag(tools=[{"type": "web_search", "parameters": {}}])


# Of a processor, for a tag with a vocabulary as large as those of models, and for the masks of a long answer.
SECONDS_TO_COMPILE, SECONDS_OF_MASKS = 60, 10
REAL_TEMPLATE = SHARED / "templates" / "llamacpp__deepseek-ai-DeepSeek-V3.1.jinja"


@needs_engine
@pytest.mark.skipif(not REAL_TEMPLATE.is_file(), reason=f"no folder {SHARED.name} next to the project")
def test_required_calls_of_a_real_template_take_bounded_time() -> None:
    """Text before a required call is free, and an answer can't end without the call: a limit on tokens ends it."""
    import numpy

    ir = tplc.compile_template(REAL_TEMPLATE.read_text("utf-8"))
    tag = json.dumps(tplc.structural_tag(ir, tools=TOOLS, tool_choice="required", any_order=True))
    engine, words = _engine(), list(vocabulary())
    end = len(words) - 1
    info = engine.TokenizerInfo(words, vocab_size=len(words), stop_token_ids=[end])
    start = time.process_time()
    made = engine.GrammarCompiler(info, cache_enabled=False, max_threads=1).compile_structural_tag(tag)
    compiled = time.process_time()
    assert compiled - start < SECONDS_TO_COMPILE
    matcher, mask = engine.GrammarMatcher(made), numpy.full((1, -(-len(words) // 32)), -1, dtype=numpy.int32)
    for letter in "Well, a < b, and <｜ or <| is not a call.  " * 50:
        matcher.fill_next_token_bitmask(mask, 0)
        assert not mask[0, end // 32] >> (end % 32) & 1
        assert matcher.accept_string(letter)
    assert time.process_time() - compiled < SECONDS_OF_MASKS
