"""Show an explanation as one HTML page, which loads and runs nothing, and can be printed.

Explanation  →  "<!doctype html>…"
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape

from tplc import driver
from tplc.errors import TplcError
from tplc.explain.comparisons import Comparison, tail_of
from tplc.explain.explain import AnsweredQuestion, Explanation
from tplc.explain.marks import Where, marks
from tplc.explain.samples import SAMPLE_TOOLS, samples
from tplc.ir.nodes import TemplateIR
from tplc.ir.printed import lines
from tplc.ir.write import write_parts
from tplc.learn.probe import Probe, Refusal
from tplc.page import document, with_line_ends
from tplc.version import VERSION

_KINDS = ("header", "marker", "reasoning", "content", "name", "arguments", "id", "index", "count")


def page(explanation: Explanation) -> str:
    ir = explanation.ir
    parts = [_head(explanation)]
    if ir is None:
        parts.append(f'<section><h2>Refused</h2><p class="bad">{escape(explanation.refused)}</p></section>')
    else:
        parts += [_turns(ir), _format(ir), _verification(ir), _grammar(ir)]
    parts.append(_comparisons(explanation) + _repairs(explanation))
    parts.append(_log(explanation))
    return document(f"{explanation.name}: how its format was learned", explanation.name, parts)


def _head(explanation: Explanation) -> str:
    ir = explanation.ir
    facts = [f"{explanation.renders} renders", f"tplc {VERSION}"]
    badge = '<span class="badge bad">refused</span>'
    if ir is not None:
        facts.insert(0, f"sha256 {ir.provenance.sha256[:12]}, {ir.provenance.size} bytes")
        verified = ir.verification.verified
        badge = (
            f'<span class="badge {"good" if verified else "bad"}">{"verified" if verified else "not verified"}</span>'
        )
    return f"<header><h1>{escape(explanation.name)} {badge}</h1><p>{escape(' · '.join(facts))}</p></header>"


# The format


def _turns(ir: TemplateIR) -> str:
    shown = []
    kinds = {"header"}
    for title, message in samples(ir):
        written = write_parts(ir, message)
        kinds |= {part.kind for part in written}
        parts = "".join(f'<span class="{part.kind}">{with_line_ends(part.text)}</span>' for part in written)
        header = f'<span class="header">{with_line_ends(ir.turn.header)}</span>'
        shown.append(f"<figure><figcaption>{escape(title)}</figcaption><pre>{header}{parts}</pre></figure>")
    legend = " ".join(f'<span class="{kind}">{kind}</span>' for kind in _KINDS if kind in kinds)
    return f'<section><h2>The turn</h2><p class="legend">{legend}</p>{"".join(shown)}</section>'


def _format(ir: TemplateIR) -> str:
    facts: dict[str, list[str]] = {}
    for line in lines(ir):
        if not line.startswith(
            ("ir ", "verification", "not rendered", "ambiguity", "excused", "needs tools", "not read", "failure")
        ):
            fact, _, value = line.partition(" = ")
            facts.setdefault(fact, []).append(f"<code>{escape(value)}</code>")
    rows = "".join(f"<tr><th>{escape(fact)}</th><td>{''.join(values)}</td></tr>" for fact, values in facts.items())
    return f"<section><h2>The format</h2><table>{rows}</table></section>"


def _verification(ir: TemplateIR) -> str:
    result = ir.verification
    rows = [
        ("messages rendered and parsed", str(result.messages)),
        ("came back equal", str(result.passed)),
        ("chunkings tried", str(result.chunkings)),
        ("seed", str(result.seed)),
        *(("not rendered by the template", text) for text in result.not_shown),
        *(
            ("ambiguous", f"{found.kind}: {found.first} and {found.second} both render to {json.dumps(found.render)}")
            for found in result.ambiguities
        ),
        *(
            (
                "excused",
                f"{found.title}: {json.dumps(found.message, ensure_ascii=False)} is parsed as "
                f"{json.dumps(found.other, ensure_ascii=False)}; both render to {json.dumps(found.render)}",
            )
            for found in result.distinct_excused
        ),
        *(
            (
                "needs tools",
                f"{found.title}: without tools, {json.dumps(found.message, ensure_ascii=False)} is parsed as "
                f"{json.dumps(found.other, ensure_ascii=False)}; it renders to {json.dumps(found.render)}",
            )
            for found in result.needs_tools
        ),
        *(("not read", text) for text in result.not_read),
        *(("failed", text) for text in result.failures),
    ]
    cells = "".join(f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows)
    return f"<section><h2>Verification</h2><table>{cells}</table></section>"


def _grammar(ir: TemplateIR) -> str:
    if ir.tools.format == "none":
        return ""
    try:
        text = driver.make_grammar(ir, driver.GrammarOptions(tools=SAMPLE_TOOLS)).text
    except TplcError as error:
        text = f"no grammar: {error}"
    tools = ", ".join(str(tool["function"]["name"]) for tool in SAMPLE_TOOLS)  # type: ignore[index,call-overload]
    return (
        f"<section><h2>A grammar</h2><p>For two tools, <code>{escape(tools)}</code>, which the model may call.</p>"
        f'<pre class="wide">{escape(text)}</pre></section>'
    )


# The questions


def _comparisons(explanation: Explanation) -> str:
    shown = "".join(_question(question) for question in explanation.questions if question.comparisons)
    if not shown:
        return ""
    return (
        "<section><h2>How it was learned</h2><p>Two conversations that differ in one thing, and their renders from the "
        'question on: <span class="same">in both</span>, <del>in the first only</del>, <ins>in the second only</ins>. '
        "Words that begin with <code>zq</code> are placeholders for values. The template is given other words.</p>"
        f"{shown}</section>"
    )


def _repairs(explanation: Explanation) -> str:
    if not explanation.repairs:
        return ""
    rows = "".join(
        f"<li><code>{escape(repair.reason)}</code>: {repair.failed} of {repair.messages} messages failed with that</li>"
        for repair in explanation.repairs
    )
    return (
        "<section><h2>Learned from messages that did not come back</h2><p>Each format was tried, and kept if fewer "
        f'messages failed.</p><ul class="facts">{rows}</ul></section>'
    )


def _question(question: AnsweredQuestion) -> str:
    shown = "".join(_comparison(comparison) for comparison in question.comparisons)
    return f"<h3>{escape(question.text)}</h3>{shown}"


def _comparison(comparison: Comparison) -> str:
    found = marks(tail_of(comparison.first), tail_of(comparison.second))
    sides = zip((comparison.first, comparison.second), (("first", "del"), ("second", "ins")), strict=True)
    columns = "".join(
        f'<div><pre class="asked">{escape(conversation(probe))}</pre><pre>{_marked(found, where, tag)}</pre></div>'
        for probe, (where, tag) in sides
    )
    concluded = "".join(f"<li><code>{escape(fact)}</code></li>" for fact in comparison.concluded)
    return (
        f'<article><h4><span class="number">{escape(comparison.name)}</span> {escape(comparison.title)}</h4>'
        f'<div class="pair">{columns}</div>'
        + (f'<ul class="facts">{concluded}</ul>' if concluded else "")
        + "</article>"
    )


def _marked(found: list[tuple[Where, str]], where: str, tag: str) -> str:
    shown = []
    for kind, text in found:
        if kind == "same":
            shown.append(f'<span class="same">{with_line_ends(text)}</span>')
        elif kind == where:
            shown.append(f"<{tag}>{with_line_ends(text)}</{tag}>")
    return "".join(shown)


def _log(explanation: Explanation) -> str:
    groups = "".join(_asked(question) for question in explanation.questions)
    return f'<section class="log"><h2>Everything that was asked</h2>{groups}</section>'


def _asked(question: AnsweredQuestion) -> str:
    rows = "".join(_probe(probe) for probe in question.probes)
    count = f"{len(question.probes)} conversation{'s' if len(question.probes) != 1 else ''}"
    return f"<details><summary>{escape(question.text)} <small>{count}</small></summary><table>{rows}</table></details>"


def _probe(probe: Probe) -> str:
    refused = isinstance(probe.result, Refusal)
    result = f'<pre class="{"refused" if refused else "same"}">{with_line_ends(tail_of(probe))}</pre>'
    asked = f'<pre class="asked">{escape(conversation(probe))}</pre>'
    return f"<tr><th>{escape(title_of(probe))}</th><td>{asked}</td><td>{result}</td></tr>"


def title_of(probe: Probe) -> str:
    """Return the roles in a probe, with the parts of assistant messages: "user, assistant with 2 calls"."""
    titles = ["".join(_title_words(dict(message))) for message in probe.messages]
    return ", ".join([*titles, "prompt"] if probe.generation else titles)


def _title_words(message: dict[str, object]) -> Iterator[str]:
    yield str(message["role"])
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        yield f" with {len(calls)} call{'s' if len(calls) != 1 else ''}"


def conversation(probe: Probe) -> str:
    """Return the messages of a probe, one per line, and the other inputs of the render."""
    shown = ["".join(_message_words(dict(message))) for message in probe.messages]
    if probe.generation:
        shown.append("… the assistant answers next")
    shown += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in probe.setup.context]
    return "\n".join(shown)


def _message_words(message: dict[str, object]) -> Iterator[str]:
    yield f"{message.pop('role')}:"
    for key, value in message.items():
        if key == "tool_calls" and isinstance(value, list):
            for call in value:
                function = call["function"]
                identifier = f" id {call['id']}" if "id" in call else ""
                arguments = json.dumps(function["arguments"], ensure_ascii=False)
                yield f"\n    calls {function['name']} {arguments}{identifier}"
        elif key == "content" and isinstance(value, str):
            yield f" {json.dumps(value, ensure_ascii=False)}"
        elif key == "content" and value is None:
            yield " null"
        else:
            yield f"\n    {key} {json.dumps(value, ensure_ascii=False)}"
