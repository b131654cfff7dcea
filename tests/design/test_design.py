"""`tplc new` and `tplc lint`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.conftest import ROOT
from tplc.design import LAYOUTS
from tplc.design.start import layout_text

__all__ = ["run"]
TAGS = """\
{%- for message in messages %}
    {{- '[' + message.role + ']' }}
    {%- if message.content is string %}{{ message.content }}{% endif %}
    {%- for call in message.tool_calls or [] %}
        {{- '<get name=' + call.function.name + '>' }}
        {%- for key, value in call.function.arguments.items() %}
            {{- '<' + key + '>' }}{{ value if value is string else value | tojson }}{{ '</' + key + '>' }}
        {%- endfor %}
        {{- '</get>' }}
    {%- endfor %}
    {{- '[end]' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[assistant]' }}{% endif %}
"""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_started_works(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    made = run("new", "hut", "--layout", layout)
    assert (made.code, made.out) == (
        0,
        "wrote hut/chat_template.jinja\nwrote hut/tplc.toml\nwrote hut/tools.json\nwrote hut/test_format.py\n"
        "wrote hut/outputs/answer.txt\nwrote hut/outputs/answer.json\n"
        "wrote hut/outputs/reasoning.txt\nwrote hut/outputs/reasoning.json\n"
        "wrote hut/outputs/call.txt\nwrote hut/outputs/call.json\n"
        "wrote hut/outputs/two_calls.txt\nwrote hut/outputs/two_calls.json\n"
        "next: change the markers in chat_template.jinja, then build, test and check the format:\n"
        "    cd hut && tplc build && tplc new --refresh . && python -m unittest\n"
        "    tplc lint chat_template.jinja\n",
    )
    monkeypatch.chdir(tmp_path / "hut")
    assert run("build").out.startswith("built    hut: hut_parser.py (")
    tested = subprocess.run([sys.executable, "-m", "unittest"], capture_output=True, text=True, check=False)
    assert (tested.returncode, tested.stderr.split("\n")[-2]) == (0, "OK")
    # And it is a test: another answer fails.
    other = tmp_path / "hut" / "outputs" / "call.json"
    other.write_text(other.read_text().replace("I will look.", "I look."))
    assert subprocess.run([sys.executable, "-m", "unittest"], capture_output=True, check=False).returncode == 1
    linted = run("lint", "chat_template.jinja", "--json")
    assert {remark["about"] for remark in json.loads(linted.out)} <= {"calls", "content", "template"}


def test_the_layouts_are_good_designs(run: Run, tmp_path: Path) -> None:
    """The remaining remarks concern the server and the tokenizer."""
    tokens = {"added_tokens_decoder": {str(n): {"content": text} for n, text in enumerate(MARKERS)}}
    for layout in LAYOUTS:
        folder = tmp_path / layout
        folder.mkdir()
        (folder / "chat_template.jinja").write_text(layout_text(layout))
        (folder / "tokenizer_config.json").write_text(json.dumps(tokens))
        reported = [remark["what"] for remark in json.loads(run("lint", layout, "--json").out)]
        ids = "calls have no ids: results are matched by their order alone"
        assert [what for what in reported if what != ids and not what.startswith("arguments as JSON text")] == []


MARKERS = (
    "<:think:> </:think:> <:assistant:> <:end:> <:call:> </:call:> <:arg:> <:is:> </:arg:> "
    "<:channel:> <:text:> <:json:> <:close:>"
).split()


EXISTS = "name a new folder, or give --refresh to write its outputs again"


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        (
            ("new", "hut", "--layout", "jsn"),
            2,
            "no layout is called 'jsn' (did you mean json?): there are json, parameters, keywords, channels",
        ),
        (
            ("new", "full"),
            2,
            f"full: already exists\n    {EXISTS}",
        ),
        (("new", "-x-"), 2, None),
        (("new", "ä"), 2, "ä: a model's name has ASCII letters, digits, '-', '_' and '.', no '.' or '-' first"),
        (("lint", "none.jinja"), 2, "none.jinja: there is no such file or folder\n    this folder has no *.jinja"),
    ],
)
def test_what_is_refused(run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, reported: str | None) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    done = run(*arguments)
    assert done.code == code
    assert reported is None or done.err == f"tplc: {reported}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


def test_a_design_with_faults(run: Run, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    (tmp_path / "tags.jinja").write_text(TAGS)
    done = run("lint", "tags.jinja")
    golden(ROOT / "tests" / "cases" / "cli" / "lint.txt", done.out)
    assert done.code == 0
    assert run("lint", "tags.jinja", "--strict").code == 1


def test_a_design_whose_template_is_not_right(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.jinja").write_text(TAGS.replace("{{- '[end]' }}", "{{- '[end' ~ message.content|length ~ ']' }}"))
    done = run("lint", "odd.jinja")
    assert done.code == 1
    assert done.err.startswith("tplc: odd.jinja: ")


def unittested() -> int:
    return subprocess.run([sys.executable, "-m", "unittest"], capture_output=True, check=False).returncode


@pytest.mark.sweep(4)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_outputs_follow_a_changed_template(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    run("new", "hut", "--layout", layout)
    monkeypatch.chdir(tmp_path / "hut")
    template, mine = Path("chat_template.jinja"), Path("outputs/mine.txt")
    template.write_text(template.read_text().replace(":>", "~>"))
    mine.write_text("Mine.")
    Path("outputs/mine.json").write_text('{"content": "Mine.", "reasoning_content": null, "tool_calls": []}\n')
    before = {path.name: path.read_text() for path in Path("outputs").iterdir()}
    assert (run("build").code, unittested()) == (0, 1)
    made = run("new", "--refresh", ".")
    assert made.code == 0
    after = {path.name: path.read_text() for path in Path("outputs").iterdir()}
    reported = dict(reversed(line.split(maxsplit=1)) for line in made.out.splitlines())
    for name in ("answer", "reasoning", "call", "two_calls"):
        changed_text = before[f"{name}.txt"] != after[f"{name}.txt"]
        assert reported[f"./outputs/{name}.txt"] == ("wrote" if changed_text else "current")
    assert "wrote" in reported.values() and after["mine.txt"] == "Mine."
    assert unittested() == 0
    assert "wrote" not in run("new", "--refresh", ".").out


def test_a_message_that_the_changed_template_cannot_write(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new", "hut")
    monkeypatch.chdir(tmp_path / "hut")
    Path("chat_template.jinja").write_text(TAGS)
    made = run("new", "--refresh", ".")
    lines = [line for line in made.out.splitlines() if line.startswith("kept")]
    assert made.code == 1
    assert lines == [
        f"kept    ./outputs/{name}.txt: the template can't write its message: delete it and its .json"
        for name in ("reasoning", "two_calls")
    ]
    for name in ("reasoning", "two_calls"):
        for kind in ("txt", "json"):
            Path(f"outputs/{name}.{kind}").unlink()
    assert (run("build").code, run("new", "--refresh", ".").code, unittested()) == (0, 0, 0)
    refused = run("new", "--refresh", "..")
    problem = "..: has no chat_template.jinja with outputs: tplc new FOLDER starts one"
    assert (refused.code, refused.err) == (2, f"tplc: {problem}\n")
