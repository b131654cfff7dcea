"""What is found in outputs, and what is proposed for them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tests.backends.parsers import ir_of
from tests.conftest import ROOT
from tplc.driver import artifact_of, compile_template
from tplc.ir.markers import is_distinctive, pieces_of
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.observe import Finding, Recorded, judge_of, observe
from tplc.observe.likeness import Likeness

CALL: dict[str, Any] = {
    "role": "assistant",
    "content": "Let me see.",
    "tool_calls": [{"id": "call_1", "function": {"name": "get_forecast", "arguments": {"city": "Oslo"}}}],
}
WRITTEN = write_message(ir_of("tagged-json"), CALL)


def recorded(*texts: str) -> list[Recorded]:
    return [Recorded(f"line {number}", text) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a <~do~> b", ["<~do~>"]),
        ("a <~doo~> b", ["<~doo~>"]),
        ("a <b>bold</b> c", []),
        ("a < b and c > d", []),
        ("if x <~ 3:", []),
        ("Hm.<~use~>f {}", ["<~use~>"]),
        ("<r>Hm.</r>Yes.", ["<r>", "</r>"]),
    ],
)
def test_what_looks_like_a_marker(text: str, found: list[str]) -> None:
    assert [alike.text for alike in Likeness(("<~do~>",)).find(text)] == found


def test_an_output_as_the_template_writes_it_is_clean() -> None:
    ir = ir_of("tagged-json")
    judged = judge_of(ir, artifact_of(ir)).judge(Recorded("line 1", WRITTEN))
    assert judged.findings == ()


def test_the_place_of_a_finding() -> None:
    ir = ir_of("tagged-json")
    judged = judge_of(ir, artifact_of(ir)).judge(Recorded("line 1", WRITTEN.replace("<fn>", "<fnn>")))
    assert judged.main == Finding("marker in content", "<fnn>", WRITTEN.index("<fn>"), WRITTEN.index("<fn>") + 5)


@pytest.mark.parametrize("text", ["<fnn>", "< fn >", "<call>", "<FN>", "<fn/>"])
def test_what_stood_in_a_markers_place_is_proposed(text: str) -> None:
    changed = WRITTEN.replace("<fn>", text)
    found = observe(ir_of("tagged-json"), recorded(WRITTEN, changed), source="out.jsonl")
    assert [(proposal.text, proposal.marker, proposal.seen) for proposal in found.proposals] == [(text, "<fn>", 1)]
    assert [dict(judged.message) for judged in found.tried] == [dict(found.judged[0].message)] * 2


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("name", "marker", "text"),
    [
        ("tagged-json", "</fn>", "</ fn >"),
        ("parameter-tags", "<with=", "<withs="),
        ("key-value-tags", "[k]", "[keys]"),
    ],
)
def test_markers_inside_and_after_a_call(name: str, marker: str, text: str) -> None:
    # With reasoning, and without its opener where the default prompt ends with it.
    written = write_message(ir_of(name), {**CALL, "reasoning_content": "A forecast, then."})
    written = written.removeprefix(lower(ir_of(name)).heads[0])
    found = observe(ir_of(name), recorded(written, written.replace(marker, text)), source="out.jsonl")
    assert [(proposal.text, proposal.marker) for proposal in found.proposals] == [(text, marker)]
    assert [dict(judged.message) for judged in found.tried] == [dict(found.judged[0].message)] * 2


def test_both_ends_of_a_call() -> None:
    changed = WRITTEN.replace("<fn>", "<call>").replace("</fn>", "</call>")
    found = observe(ir_of("tagged-json"), recorded(WRITTEN, changed), source="out.jsonl")
    assert {(proposal.text, proposal.marker) for proposal in found.proposals} == {
        ("<call>", "<fn>"),
        ("</call>", "</fn>"),
    }
    assert [dict(judged.message) for judged in found.tried] == [dict(found.judged[0].message)] * 2


OTHER_NAMES = ["call", "tool_call", "invoke", "think", "x1"]
TEXTS_OF_HUT = {
    "<do>": ['<do>forecast {"city": "Oslo"}</do>[end]', 'I look.<do>forecast {"city": "Oslo"}</do>[end]'],
    "<why>": ["<why>Snow?</why>It will snow.[end]"],
}


@pytest.fixture(scope="module")
def hut() -> TemplateIR:
    return compile_template((ROOT / "docs" / "hut.jinja").read_text(encoding="utf-8"), name="hut.jinja")


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", OTHER_NAMES)
@pytest.mark.parametrize("opener", TEXTS_OF_HUT)
@pytest.mark.parametrize("changes", ["both", "opener"])
def test_tags_with_another_name(hut: TemplateIR, opener: str, name: str, changes: str) -> None:
    closer = opener.replace("<", "</")
    renamed = {opener: f"<{name}>", **({closer: f"</{name}>"} if changes == "both" else {})}
    for text in TEXTS_OF_HUT[opener]:
        written = text
        for marker, other in renamed.items():
            written = written.replace(marker, other)
        found = observe(hut, recorded(written), source="out.jsonl")
        assert {proposal.marker: proposal.text for proposal in found.proposals} == renamed
        as_written = observe(hut, recorded(text), source="out.jsonl").judged[0].message
        assert dict(found.tried[0].message) == dict(as_written)


def test_nothing_is_proposed_that_changes_a_clean_output() -> None:
    talk = "In a `<fnn>` element. [fnn]"
    ir = ir_of("plain-chat")
    found = observe(ir, recorded(talk), source="out.jsonl")
    assert found.proposals == ()
    assert [dict(judged.message) for judged in found.tried] == [dict(judged.message) for judged in found.judged]


def test_no_marker_of_the_format_is_proposed_for_another() -> None:
    """A fence around a call that was never closed does not make `</fn>` the end of reasoning."""
    ir = ir_of("tagged-json")
    start, end = ir.reasoning.start, ir.reasoning.end
    odd = [f"{start}Hm.```{WRITTEN[WRITTEN.index('<fn>') :]}```", f"{start}Hm.</fn>Yes.", f"{start}Hm.</fn>{WRITTEN}"]
    found = observe(ir, recorded(WRITTEN, *odd), source="out.jsonl")
    assert [(one.text, one.marker) for one in found.proposals if one.marker == end.strip()] == []


def test_a_proposal_says_what_it_does_by_itself() -> None:
    changed = WRITTEN.replace("<fn>", "<fnn>")
    both = changed.replace("</fn>", "</fnn>")
    found = observe(ir_of("tagged-json"), recorded(WRITTEN, changed, both), source="out.jsonl")
    effects = {one.text: (one.seen, one.mended, one.changed) for one in found.proposals}
    assert effects == {"<fnn>": (2, 2, 2), "</fnn>": (1, 1, 0)}


def test_a_proposal_without_which_all_is_as_clean_is_dropped() -> None:
    """The output is odd with the proposal too, because its tool is unknown: nothing becomes clean."""
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
    odd = Recorded("line 1", WRITTEN.replace("<fn>", "<fnn>"), tools=tools)
    found = observe(ir_of("tagged-json"), [odd], source="out.jsonl")
    assert [judged.clean for judged in found.judged] == [False]
    assert found.proposals == ()


@pytest.mark.sweep(10)
@pytest.mark.parametrize("spelled", [str, str.upper, lambda text: f"{text[0]} {text[1:]}"])
@pytest.mark.parametrize("name", ["tagged-json", "forced-open", "cdata-values", "parameter-tags"])
def test_no_marker_in_any_spelling_is_proposed_for_another(name: str, spelled: Callable[[str], str]) -> None:
    """Each marker in the place of each other one, in outputs with a call."""
    ir = ir_of(name)
    written = write_message(ir, {**CALL, "reasoning_content": "A forecast, then."})
    written = written.removeprefix(lower(ir).heads[0])
    markers = [marker for marker in own_markers(ir) if marker in written and is_distinctive(marker)]
    odd = [written.replace(one, spelled(other)) for one in markers for other in markers if one != other]
    found = observe(ir, recorded(written, *odd), source="out.jsonl")
    folded = {folded_text(piece) for marker in markers for piece in (marker, *pieces_of(marker))}
    for proposal in found.proposals:
        own = {folded_text(piece) for piece in (proposal.marker, *pieces_of(proposal.marker))}
        assert folded_text(proposal.text) not in folded - own


def folded_text(text: str) -> str:
    return "".join(text.lower().split())


def test_a_proposal_that_changes_a_message_of_the_verification_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text stands in the content of a message that the template renders."""
    ir, odd = ir_of("tagged-json"), WRITTEN.replace("<fn>", "<fnn>")
    assert [one.text for one in observe(ir, recorded(odd), source="out.jsonl").proposals] == ["<fnn>"]
    quoting = WRITTEN.replace("Let me see.", 'See <fnn>\n{"name": "f", "arguments": {}}\n</fn> here.')
    monkeypatch.setattr(import_module("tplc.observe.observe"), "_rendered", lambda _: [quoting])
    assert observe(ir, recorded(odd), source="out.jsonl").proposals == ()
