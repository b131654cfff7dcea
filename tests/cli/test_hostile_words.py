r"""Text written by strangers controls no terminal and no log: every command, with such texts in every place that it
prints.

A template whose file's name, markers, errors, tokens and tools hold `ESC`, lines that begin with `::error::`, `##[…]`,
`##vso[…]` and characters that reverse text; outputs, tools, a catalogue and tables that do so too.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Result, Run

EVIL = (
    "\x1b[2J\x07\r\u202e\u2066\x9b\n::error::gone\n  ::warning file=a::b ##vso[task.x]y ##[add-path]/tmp\u2028\x7f "
    '<script></p>"><img src=x>'
)
FILE = f"hut {EVIL.replace('/', '')}.jinja"
WRITTEN = json.dumps(EVIL)[1:-1]
TEMPLATE = (
    "{%- if messages[0].role == 'tool' %}{{ raise_exception('no EVIL') }}{% endif %}"
    "{%- if messages[0].content == 'EVIL' %}{{ 'EVIL' }}{% endif %}"
    "{%- for m in messages %}{{- '<' + m.role + '>' }}"
    "{%- if m.reasoning %}{{- '<why EVIL>' + m.reasoning + '</why EVIL>' }}{%- endif %}{{- m.content or '' }}"
    '{%- for c in m.tool_calls or [] %}{{- \'<call EVIL>{"name": "\' + c.function.name + \'", "arguments": \' }}'
    "{{- (c.function.arguments | tojson) + '}</call EVIL>' }}{%- endfor %}{{- eos_token + '<end EVIL>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
).replace("EVIL", WRITTEN)
REFUSES = "{{ raise_exception('no WRITTEN') }}".replace("WRITTEN", WRITTEN)
BROKEN = "{% for m in messages %}{{ m.content | WRITTEN }}".replace("WRITTEN", EVIL)
FUNCTION = {"name": "look " + EVIL, "description": EVIL, "parameters": {"type": "object", "properties": {EVIL: {}}}}
TOOLS = [{"type": "function", "function": FUNCTION}, {"type": "function", "function": {"name": "look"}}]
OUTPUTS = [
    f"<why {EVIL}>so</why {EVIL}>{EVIL}",
    f'<call {EVIL}>{{"name": "look {EVIL}", "arguments": {{"{EVIL}": 1}}}}</call {EVIL}>',
    f"a <call {EVIL}>{{x {EVIL}",
    f'<Call {EVIL}>{{"name": "f", "arguments": []}}',
]
UNSEEN = re.compile(
    r"[^\n\t\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ufefe\uff00-\uffef\U00010000-\U0010ffff]"
)
COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


@pytest.fixture
def place(run: Run, tmp_path: Path) -> Path:
    sources = {FILE: TEMPLATE, "refuses.jinja": REFUSES, "broken.jinja": BROKEN}
    for name, source in sources.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "odd.json").write_text(json.dumps([{"type": EVIL, "function": EVIL}]))
    rows = [json.dumps({"text": text, "tools": TOOLS, "prompt": EVIL}) for text in OUTPUTS]
    (tmp_path / "outputs.jsonl").write_text("\n".join(rows) + "\n")
    (tmp_path / "output.txt").write_text(OUTPUTS[1], encoding="utf-8")
    messages = [{"role": "user", "content": EVIL}]
    (tmp_path / "messages.json").write_text(json.dumps({"messages": messages, "tools": TOOLS}))
    (tmp_path / "odd-messages.json").write_text(json.dumps({"messages": [{"role": EVIL, EVIL: EVIL}]}))
    outputs = '["hut.py", "hut.json", "hut.gbnf"]'
    (tmp_path / "tplc.toml").write_text(
        f'[models.hut]\nsource = {json.dumps(FILE)}\noutputs = {outputs}\ntools = "tools.json"\n'
        '[models.no]\nsource = "refuses.jinja"\noutputs = ["no.py"]\n',
        encoding="utf-8",
    )
    (tmp_path / "odd.toml").write_text(f"[models.hut]\n{json.dumps(EVIL)} = 1\n", encoding="utf-8")
    (tmp_path / "wrong.json").write_text(json.dumps({EVIL: EVIL}))
    (tmp_path / "catalogue").mkdir()
    entry = {"title": EVIL, "reason": EVIL, "source": EVIL, "markers": {EVIL: [EVIL]}, EVIL: EVIL}
    (tmp_path / "catalogue" / f"{EVIL.replace('/', '')}.json").write_text(json.dumps(entry))
    return tmp_path


TOKEN = ("--token", f"eos_token=</s {EVIL}>")
COMMANDS: list[tuple[str, ...]] = [
    ("inspect", FILE, *TOKEN),
    ("compile", FILE, "-o", "out.py"),
    ("compile", "refuses.jinja", "-o", "x.py"),
    ("compile", "broken.jinja", "-o", "x.py"),
    ("compile", EVIL, "-o", "x.py"),
    ("compile", FILE, "-o", f"{EVIL}/x.py"),
    ("compile", FILE, "-o", "x.py", "--limit", EVIL),
    ("compile", FILE, "-o", "x.gbnf", "--tools", "odd.json"),
    ("compile", FILE, "-o", "x.py", "--tolerances", "wrong.json"),
    ("compile", FILE, "-o", "x.py", "--catalogue", "catalogue"),
    ("catalogue", "--catalogue", "catalogue"),
    ("build",),
    ("build",),
    ("check",),
    ("build", "-m", "odd.toml"),
    ("build", EVIL),
    ("init", FILE, EVIL, "-o", "new.toml"),
    ("verify", FILE, "hut.py"),
    ("verify", "refuses.jinja", "hut.py", "--json"),
    ("parse", FILE, "output.txt", "--tools", "tools.json"),
    ("parse", "hut.py", "output.txt", "--stream"),
    ("parse", "hut.py", "outputs.jsonl", "--column", "text", "-o", f"{EVIL.replace('/', '')}.jsonl"),
    ("parse", "hut.py", "outputs.jsonl", "--column", EVIL, "-o", "rows.jsonl"),
    ("try", "hut.py", "output.txt", "--tools", "tools.json"),
    ("prepare", FILE, "messages.json"),
    ("explain", FILE),
    ("explain", "refuses.jinja", "-v"),
    ("explain", "broken.jinja", "-v"),
    ("doctor", FILE),
    ("census", "."),
    ("diff", "hut.json", "builtin:chatml"),
    ("diff", "wrong.json", "hut.json"),
    ("observe", "hut.json", "outputs.jsonl", "--try"),
    ("observe", "hut.json", EVIL),
]


def said(result: Result) -> list[str]:
    """Return the commands and invisible characters in its output."""
    found = []
    for text in (result.out, result.err):
        found += [repr(match.group()) for match in UNSEEN.finditer(text)]
        found += [repr(text[match.start() : match.start() + 60]) for match in COMMAND.finditer(text)]
    return found


def test_no_command_hands_them_on(run: Run, place: Path) -> None:
    for command in COMMANDS:
        result = run(*command)
        assert said(result) == [], command
        assert "Traceback" not in result.err, command


class Elements(HTMLParser):
    """The names of a page's elements, and of the attributes that run something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs if name.startswith("on") or name in ("src", "href"))}


def test_pages_show_them(run: Run, place: Path) -> None:
    run("build", "hut")
    pages = {
        "explain.html": ("explain", FILE, *TOKEN, "--html"),
        "refused.html": ("explain", "refuses.jinja", "--html"),
        "census.html": ("census", ".", "--html"),
        "observe.html": ("observe", "hut.json", "outputs.jsonl", "--html"),
    }
    for name, command in pages.items():
        result = run(*command, name)
        assert said(result) == []
        assert result.code == int(name == "refused.html"), result.err
        written = (place / name).read_text(encoding="utf-8")
        assert "gone" in written
        assert [repr(match.group()) for match in UNSEEN.finditer(written)] == [], name
        elements = Elements()
        elements.feed(written)
        assert elements.found & {"script", "img", "src", "href", "onerror", "iframe"} == set(), name


def test_a_check_for_a_log_of_its_own(run: Run, place: Path) -> None:
    """Annotations are commands, each on a line of its own, with no foreign text at its beginning."""
    run("build", "no")
    (place / "hut.py").write_text("# Generated by tplc 0.0.1\n" + EVIL)
    result = run("check", "--format", "github")
    lines = [line for line in result.out.splitlines() if line.lstrip().startswith("::")]
    assert lines
    assert all(re.match(r"::(error|warning|notice) file=[\w.%/-]+(,[a-z]+=\d+)*::(hut|no): ", line) for line in lines)
    assert not UNSEEN.search(result.out)
    assert "##[" not in result.out
    assert "##vso[" not in result.out


def test_they_are_seen() -> None:
    assert len(said(Result(0, EVIL, f"  {EVIL}"))) == 2 * 12
    assert said(Result(0, "a ::error:: # [x]\n", "ünïcode 世界 — … → « » 🎉\n")) == []
