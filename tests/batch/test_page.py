"""The summary of parsed rows as a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.batch.test_rows import one, outputs, parsers
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.conftest import ROOT
from tplc.batch.columns import Columns
from tplc.batch.summary import Summary

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from tplc.batch.page import page  # noqa: E402 - it needs pyarrow
from tplc.batch.rows import RowParser  # noqa: E402

CALL = '<fn>\n{"name": "look", "arguments": {"at": 5}}\n</fn>'
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}}]


def page_of(read: RowParser, **columns: list[str | None]) -> str:
    summary = Summary.of(read)
    summary.place = "parsed.parquet"
    summary.add(read(pa.table(columns)))
    return page(summary, read, "rows.parquet")


def sections(html: str) -> dict[str, list[list[str]]]:
    """Return the cells of each section's table, by the section's title."""
    found = {}
    for title, body in re.findall(r"<section[^>]*><h2>(.*?)</h2>(.*?)</section>", html, re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", body)
        found[title] = [[unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)] for row in rows]
    return found


def figures(html: str) -> list[str]:
    return [unescape(one) for one in re.findall(r"<figure>(.*?)</figure>", html, re.DOTALL)]


def test_rates_by_tool_diagnostic_and_length() -> None:
    texts = ["Hi.", None, CALL, CALL.replace("look", "peek"), CALL.replace("5", '"Oslo"'), CALL[:-9], "x" * 200]
    found = sections(page_of(RowParser(one(), Columns("text"), tools=TOOLS), text=texts))
    assert found["Totals"] == [
        ["figure", "count", "share"],
        ["rows", "7", ""],
        ["null", "1", "14.3%"],
        ["with calls", "4", "57.1%"],
        ["incomplete", "1", "14.3%"],
        ["with diagnostics", "3", "42.9%"],
        ["not read", "0", "0%"],
        ["calls", "4", ""],
        ["calls of tools not given", "1", "25.0%"],
        ["calls violating the tool's schema", "2", "50.0%"],
        ["calls not judged", "0", "0%"],
    ]
    assert found["By tool"] == [
        ["tool", "calls", "of all", "schema violations", "not judged"],
        ["look", "3", "75.0%", "2", "0"],
        ["peek", "1", "25.0%", "0", "0"],
    ]
    assert found["By diagnostic"][1:] == [
        ["argument_of_other_type", "1", "14.3%"],
        ["ends_in_call", "1", "14.3%"],
        ["unknown_tool", "1", "14.3%"],
    ]
    rows = [row[:3] for row in found["By length"]]
    assert rows == [["characters", "rows", "of all"], ["< 100", "6", "85.7%"], ["< 1,000", "1", "14.3%"]]
    assert "By model" not in found


def test_rates_by_model_of_rows_of_several() -> None:
    rows = outputs(400)
    read = RowParser(parsers(), Columns("text", parser="model"))
    html = page_of(read, model=[*(name for name, _ in rows), None], text=[*(text for _, text in rows), "Hi."])
    found = sections(html)["By model"]
    assert [row[0] for row in found[1:]] == ["(none)", *sorted(parsers())]
    assert sum(int(row[1].replace(",", "")) for row in found[1:]) == 401
    assert len(figures(html)) == 40


def test_the_parts_of_a_row_are_coloured() -> None:
    text = f"<musing>\nHm & so\n</musing>\n\nI <look>.\n{CALL}"
    html = page_of(RowParser(one(), Columns("text")), text=[text])
    [shown] = re.findall(r"<figure>.*?<pre>(.*?)</pre>", html, re.DOTALL)
    assert unescape(re.sub(r"<[^>]*>", "", shown)).replace("↵\n", "\n") == text
    parts = re.findall(r'<span class="(\w+)">(.*?)</span>', shown.replace('<i class="end">↵</i>', ""), re.DOTALL)
    assert [(kind, unescape(part).strip()) for kind, part in parts if part.strip()] == [
        ("marker", "<musing>"),
        ("reasoning", "Hm & so"),
        ("marker", "</musing>"),
        ("content", "I <look>."),
        ("marker", '<fn>\n{"name": "'),
        ("name", "look"),
        ("marker", '", "arguments":'),
        ("arguments", '{"at": 5}'),
        ("marker", "}\n</fn>"),
    ]


def test_rows_to_look_at_are_few_and_have_their_place() -> None:
    texts: list[str | None] = [None, *[CALL[:-9]] * 5, "Hi.", "y" * 5000, *["Ho."] * 5]
    found = figures(page_of(RowParser(one(), Columns("text")), text=texts))
    captions = [re.sub(r"<[^>]*>", "", figure.split("</figcaption>")[0]) for figure in found]
    assert captions == [
        "ends_in_call row 2 of parsed.parquet",
        "ends_in_call row 3 of parsed.parquet",
        "nothing is odd row 7 of parsed.parquet",
    ]
    long = figures(page_of(RowParser(one(), Columns("text")), text=["y" * 5000]))
    assert long[0].count("y" * 3000) == 1 and "y" * 3001 not in long[0] and "… and more" in long[0]


# What may stand directly in what; text and the tags of PHRASES stand in everything that holds PHRASES.
PHRASES = {"span", "i", "small", "code", "br"}
CONTENT = {
    "": {"html"},
    "html": {"head", "body"},
    "head": {"meta", "title", "style"},
    "body": {"main"},
    "main": {"header", "section"},
    "header": {"h1", "p"},
    "section": {"h2", "p", "div", "figure"},
    "div": {"table"},
    "table": {"tr"},
    "tr": {"th", "td"},
    "figure": {"figcaption", "pre", "ul"},
    "ul": {"li"},
    **dict.fromkeys(("h1", "h2", "p", "th", "td", "figcaption", "pre", "li", *PHRASES), PHRASES),
    "title": set(),
    "style": set(),
}
TEXT = {"title", "style", *(tag for tag, inside in CONTENT.items() if inside is PHRASES)}
ATTRIBUTES = {"class", "lang", "charset", "name", "content"}
# Of what may be anywhere only numbers and names of entities are no letters of their own.
BARE = re.compile(r"&(?!(?:lt|gt|amp|quot|#x27);)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Valid(HTMLParser):
    """Asserts that all tags are closed and stand where they may, and that nothing is loaded and nothing runs."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        assert html.startswith("<!doctype html>\n") and not BARE.search(html.split("</style>")[1])
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.feed(html)
        self.close()
        assert self.open == [] and [self.seen[tag] for tag in ("html", "head", "title", "body", "main")] == [1] * 5

    @property
    def at(self) -> str:
        return self.open[-1] if self.open else ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in CONTENT[self.at], f"<{tag}> in <{self.at}>"
        names = [name for name, _ in attributes]
        assert set(names) <= ATTRIBUTES and len(set(names)) == len(names)
        self.seen[tag] += 1
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert not data.strip() or self.at in TEXT, f"{data!r} in <{self.at}>"
        assert self.at != "style" or not re.search(r"url|import|expression|</", data)

    def handle_decl(self, decl: str) -> None:
        assert decl == "doctype html"

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def test_the_page_is_html_outputs_are_quoted_and_nothing_is_loaded() -> None:
    evil = '</pre></style><script>alert(1)</script><img src="http://x/" onerror=a>&amp;&#0;<!--\x1b[31m\u202e\x00\x85'
    call = json.dumps({"name": evil, "arguments": {evil: evil}})
    texts = [evil, f"<fn>\n{call}\n</fn>", f"<fn>\n{call}", None, "", f"<musing>{evil}</musing>{evil}"]
    name = evil.replace("\x00", "")  # of a file
    read = RowParser({name: one()[""]}, Columns("text", parser="m"), tools=TOOLS)
    html = page_of(read, m=[*[name] * 5, evil], text=texts)
    assert Valid(html).seen["figure"] > 2
    assert "\x1b" not in html and "\u202e" not in html
    assert "<script" not in html and "<img" not in html
    Valid(page_of(RowParser(one(), Columns("text")), text=["Hi."]))


def page_at(folder: Path) -> str:
    return (folder / "page.html").read_text(encoding="utf-8")


def test_the_command(run: Run, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    parquet.write_table(pa.table({"text": ["Hi.", CALL]}), tmp_path / "rows.parquet")
    parser = str(ROOT / "examples" / "tagged-json" / "out" / "parser.py")
    arguments = ("parse", parser, "rows.parquet", "--column", "text", "--engine", "pyarrow", "--html", "page.html")
    result = run(*arguments, "-o", "parsed.jsonl")
    assert (result.code, result.err.splitlines()[-2:]) == (0, ["wrote        parsed.jsonl", "wrote        page.html"])
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>\n<!-- Generated by tplc ") and sections(html)["Totals"][1] == [
        "rows",
        "2",
        "",
    ]
    assert run(*arguments, "--force", "-o", "-").code == 0
    places = [one.partition("row ")[2] for one in re.findall("<small>(.*?)</small>", page_at(tmp_path))]
    assert places == ["1 of standard output"]
    (tmp_path / "page.html").write_text("mine", encoding="utf-8")
    result = run(*arguments, "-o", "more.jsonl")
    assert (result.code, result.err) == (
        2,
        "tplc: page.html: exists and was not generated by tplc; use --force to overwrite it\n",
    )
    result = run("parse", parser, "--html", "page.html", stdin="Hi.")
    assert (result.code, result.err) == (2, "tplc: --html is for rows (--column)\n")
