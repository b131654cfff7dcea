"""`tplc diff`: a template changed, and whether it matters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE, Run

REASONING = "    {%- if m.reasoning %}{{- '<why>' + m.reasoning + '</why>' }}{%- endif %}\n"
CALLS = TEMPLATE[TEMPLATE.index("    {%- for c in") : TEMPLATE.index("    {{- '<end>' }}")]
SECTION = CALLS.replace("    {%- for", "    {%- if m.tool_calls %}{{- '<calls>' }}{%- endif %}\n    {%- for", 1)
SYSTEM = "{%- if messages[0].role != 'system' %}{{- '<system>Be kind.<end>' }}{%- endif %}\n"
INN = TEMPLATE.replace("call>", "order>")
READS = "a parser for the first reads the output of the second (86 of 86 messages)"


@pytest.fixture
def formats(tmp_path: Path) -> Path:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    (tmp_path / "inn.jinja").write_text(INN)
    return tmp_path


def test_diff(run: Run, formats: Path) -> None:
    same = run("diff", "hut.jinja", "hut.jinja")
    assert (same.code, same.out) == (
        0,
        "the formats are the same\na parser for the first reads the output of the second (86 of 86 messages)\n",
    )
    changed = run("diff", "hut.jinja", "inn.jinja")
    assert changed.code == 1
    lines = changed.out.splitlines()
    assert lines[0] == (
        'tools.call: "<call>{\\"name\\": \\"" name "\\", \\"arguments\\": " arguments "}</call>" became '
        '"<order>{\\"name\\": \\"" name "\\", \\"arguments\\": " arguments "}</order>"'
    )
    assert lines[-4].startswith("a parser for the first reads ")
    report = json.loads(run("diff", "hut.jinja", "inn.jinja", "--json").out)
    assert report["reads"] is False
    assert report["changes"][0]["fact"] == "tools.call"
    assert report["messages"] == 86


def test_diff_of_what_does_not_matter(run: Run, formats: Path) -> None:
    """White space before a closer changes the format, but not what a parser reads."""
    spaced = TEMPLATE.replace("}</call>", "}\\n</call>")
    (formats / "spaced.jinja").write_text(spaced)
    run("compile", "spaced.jinja", "-o", "spaced.json", "-q")
    result = run("diff", "hut.jinja", "spaced.json")
    assert (result.code, result.out.splitlines()[-1]) == (
        0,
        "a parser for the first reads the output of the second (86 of 86 messages)",
    )
    assert "the formats are the same" not in result.out


# What is changed in the template, the exit code, what of the format changed, and how many messages come back.
PAIRS: dict[str, tuple[str, int, list[str], str]] = {
    "a comment": (TEMPLATE + "{# new #}", 0, [], "86 of 86"),
    "a system message": (SYSTEM + TEMPLATE, 0, [], "86 of 86"),
    "white space": (TEMPLATE.replace("}</call>", "}\\n</call>"), 0, ["tools.call", "tools.json"], "86 of 86"),
    "the key of reasoning": (TEMPLATE.replace("m.reasoning", "m.thinking"), 0, ["reasoning.key"], "86 of 86"),
    "Python literals": (
        TEMPLATE.replace("c.function.arguments | tojson", "c.function.arguments | string"),
        0,
        ["tools.dialect"],
        "86 of 86",
    ),
    "the name of the role": (
        TEMPLATE.replace("<assistant>", "<bot>").replace("m.role +", "(m.role | replace('assistant', 'bot')) +"),
        0,
        ["turn.header"],
        "86 of 86",
    ),
    "a prompt that opens reasoning": (
        # A parser takes what others wrote into a prompt for no head, so one that is new has to be made known to it.
        TEMPLATE.replace("'<assistant>'", "'<assistant><why>'"),
        1,
        ["turn.prompt {}", "reasoning.mode"],
        "73 of 86",
    ),
    "no reasoning": (
        TEMPLATE.replace(REASONING, ""),
        0,
        ["preserved", "reasoning.end", "reasoning.key", "reasoning.mode", "reasoning.start"],
        "71 of 71",
    ),
    "no calls": (
        TEMPLATE.replace(CALLS, ""),
        0,
        ["capabilities", "content.with_calls", "preserved", "tools.arguments", "tools.call", "tools.dialect",
         "tools.format", "tools.json", "tools.json.arguments", "tools.json.name", "tools.parallel"],
        "14 of 14",
    ),
    "the markers of reasoning": (
        TEMPLATE.replace("why>", "because>"), 1, ["preserved", "reasoning.end", "reasoning.start"], "73 of 86"
    ),
    "the end of a turn": (TEMPLATE.replace("<end>", "<fin>"), 1, ["preserved", "turn.end"], "0 of 86"),
    "the name of a member": (
        TEMPLATE.replace('"arguments": ', '"parameters": '), 0, ["tools.call", "tools.json.arguments"], "86 of 86"
    ),
    "a section around calls": (
        TEMPLATE.replace(CALLS, SECTION + "    {%- if m.tool_calls %}{{- '</calls>' }}{%- endif %}\n"),
        1,
        ["preserved", "tools.section_end", "tools.section_start"],
        "14 of 88",
    ),
}  # fmt: skip


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(run: Run, formats: Path, name: str) -> None:
    text, code, facts, counts = PAIRS[name]
    assert text != TEMPLATE
    (formats / "new.jinja").write_text(text)
    result = run("diff", "hut.jinja", "new.jinja", "--json")
    report = json.loads(result.out)
    assert (result.code, result.err) == (code, "")
    assert sorted({change["fact"] for change in report["changes"]}) == sorted(facts)
    assert f"{report['passed']} of {report['messages']}" == counts
    assert report["reads"] is (code == 0)


def test_where_a_template_refuses_is_no_difference(run: Run, formats: Path) -> None:
    raising = "{%- if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('One call!') }}{%- endif %}\n"
    for name, text in (("a.jinja", raising), ("b.jinja", "\n\n" + raising)):
        (formats / name).write_text(TEMPLATE.replace(CALLS, text + CALLS))
    refusal = 'refusal: "parallel calls: the template refused: One call!" is new'
    assert refusal in run("diff", "hut.jinja", "a.jinja").out.splitlines()
    assert run("diff", "a.jinja", "b.jinja").out.splitlines()[0] == "the formats are the same"


# Artifacts


def test_a_parser_is_run_as_it_is(run: Run, formats: Path) -> None:
    """A parser has no format, so the markers in its constants are compared."""
    run("compile", "hut.jinja", "-o", "old.py", "-q")
    same = run("diff", "old.py", "hut.jinja")
    assert (same.code, same.out, same.err) == (0, f"the formats are the same\n{READS}\n", "")
    changed = run("diff", "old.py", "inn.jinja")
    assert (changed.code, changed.err) == (1, "")
    assert [line for line in changed.out.splitlines() if line.startswith(("CLOSERS", "PRESERVED"))] == [
        "PRESERVED_TOKENS: '</call>' became '</order>'",
        "PRESERVED_TOKENS: '<call>' became '<order>'",
        "CLOSERS: '</call>' became '</order>'",
    ]
    mended = (formats / "old.py").read_text().replace("call>", "order>")
    (formats / "old.py").write_text(mended)
    assert run("diff", "old.py", "inn.jinja").code == 0


@pytest.mark.sweep(4)
@pytest.mark.parametrize("artifact", ["old.py", "old.peg", "old.gbnf"])
def test_an_artifact_with_its_format_next_to_it(run: Run, formats: Path, artifact: str) -> None:
    (formats / "tools.json").write_text('[{"type": "function", "function": {"name": "look"}}]')
    tools = ["--tools", "tools.json"] if artifact.endswith(".gbnf") else []
    run("compile", "hut.jinja", "-o", artifact, "-q", *tools)
    # Another template's is not its own, and a damaged one is none.
    run("compile", "inn.jinja", "-o", "inn.json", "-q")
    (formats / "damaged.json").write_text('{"version": 1, "provenance": {}, "turn": {}}')
    run("compile", "hut.jinja", "-o", "old.json", "-q")
    by_template = run("diff", "hut.jinja", "inn.jinja")
    reported = "" if artifact.endswith(".py") else f"{artifact}: compared by the IR next to it\n"
    for names in ((artifact, "inn.jinja"), (artifact, "inn.json")):
        result = run("diff", *names)
        assert (result.code, result.out, result.err) == (1, reported + by_template.out, "")
    (formats / "old.json").rename(formats / "any name.json")
    assert run("diff", "hut.jinja", artifact).out == f"{reported}the formats are the same\n{READS}\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["hut.jinja", "old.py"], "old.py: a parser does not contain the format that its template writes\n"
         "    name the template here, or keep its IR (tplc compile -o FILE.json) next to the parser"),
        (["old.peg", "hut.jinja"], "old.peg: a grammar does not contain its format, and no IR of its template (sha256 "
         "SHA) is next to it\n    name the template, or keep its IR (tplc compile -o FILE.json) there"),
        (["mine.gbnf", "hut.jinja"], "mine.gbnf: was not generated by tplc"),
        (["mine.py", "hut.jinja"], "mine.py: is not a parser made by tplc: it has no parse and StreamParser"),
        (["broken.py", "hut.jinja"], "broken.py: cannot be run: NameError: name 'missing' is not defined"),
        (["gone.py", "hut.jinja"], "gone.py: there is no such file\n    this folder has broken.py, mine.py, old.py"),
        (["hut.jinja", "gone.json"], "gone.json: there is no such file or folder\n    this folder has no *.json"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(run: Run, formats: Path, arguments: list[str], error: str) -> None:
    for name in ("old.py", "old.peg"):
        run("compile", "hut.jinja", "-o", name, "-q")
    (formats / "mine.py").write_text("raise SystemExit('it was run')\n")
    (formats / "broken.py").write_text("parse = StreamParser = missing\n")
    (formats / "mine.gbnf").write_text('root ::= "x"\n')
    sha = json.loads(run("inspect", "hut.jinja", "--json").out)["provenance"]["sha256"][:12]
    result = run("diff", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error.replace('SHA', sha)}\n")


def test_a_side_that_is_not_verified_is_reported(run: Run, formats: Path) -> None:
    """Names are written with other letters, so no parser can read them."""
    other = TEMPLATE.replace("+ c.function.name +", "+ (c.function.name | replace('_', 'x')) +")
    (formats / "cut.jinja").write_text(other)
    result = run("diff", "hut.jinja", "cut.jinja")
    reported = result.out.splitlines()[-1]
    assert reported.startswith("cut.jinja is not verified: ") and reported.endswith(" messages come back")
    assert json.loads(run("diff", "hut.jinja", "cut.jinja", "--json").out)["unverified"] == [reported]
    run("compile", "cut.jinja", "-o", "cut.py", "--allow-unverified", "-q")
    assert "cut.py is not verified" in run("diff", "cut.py", "hut.jinja").out.splitlines()
    assert "not verified" not in run("diff", "hut.jinja", "hut.jinja").out
