"""The page in a real browser: it says nothing on the console, asks for nothing, follows the scheme, and prints.

Skipped where no Chromium is installed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tplc.explain import explain
from tplc.explain.page import page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EXAMPLES = ("tagged-json", "nested-elements", "channels")
# A new profile without network: no name has an address.
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
)  # fmt: skip
LIGHT, DARK = (0xFF, 0xFF, 0xFF), (0x14, 0x18, 0x1E)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def browse(html: Path, *options: str) -> str:
    """Return what the browser logs while it shows a page."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *QUIET, f"--user-data-dir={html.parent / 'profile'}", *options, html.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def console(log: str) -> list[str]:
    return re.findall(r":CONSOLE[^\]]*\] (.*), source: ", log)


def requests(net_log: Path) -> list[str]:
    """Return the addresses that pages requested; requests of the browser itself have no initiator."""
    log = json.loads(net_log.read_text(encoding="utf-8"))
    start = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    params = [event.get("params", {}) for event in log["events"] if event["type"] == start]
    return [param["url"] for param in params if param.get("initiator", "not an origin") != "not an origin"]


def first_pixel(png: Path) -> tuple[int, ...]:
    """Return the first pixel; its value doesn't depend on the row's filter, because nothing is to the left of it or
    above."""
    data = png.read_bytes()
    chunks = re.search(rb"IDAT(.*)....IEND", data, re.DOTALL)
    assert chunks is not None
    return tuple(zlib.decompressobj().decompress(chunks.group(1), 4)[1:])


def pages(pdf: Path) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name in EXAMPLES:
        source = (ROOT / "examples" / name / "template.jinja").read_text(encoding="utf-8")
        found[name] = tmp_path_factory.mktemp(name) / "report.html"
        found[name].write_text(page(explain(source, name=name)), encoding="utf-8")
    return found


def test_what_is_wrong_would_be_seen(tmp_path: Path) -> None:
    html = tmp_path / "bad.html"
    html.write_text(
        '<!doctype html><img src="http://127.0.0.1:9/x.png"><script>console.error("oh"); missing()</script>'
        + "<div style='break-after: page'>1</div>" * 4
        + "5"
    )
    log = browse(html, f"--log-net-log={tmp_path / 'net.json'}", f"--screenshot={tmp_path / 'bad.png'}")
    assert console(log) == ['"oh"', '"Uncaught ReferenceError: missing is not defined"']
    assert requests(tmp_path / "net.json") == ["http://127.0.0.1:9/x.png"]
    browse(html, f"--print-to-pdf={tmp_path / 'bad.pdf'}")
    assert pages(tmp_path / "bad.pdf") == 5


@pytest.mark.parametrize("name", EXAMPLES)
def test_page(reports: dict[str, Path], name: str) -> None:
    html = reports[name]
    picture, net_log, pdf = (html.with_name(file) for file in ("page.png", "net.json", "page.pdf"))
    assert console(browse(html, f"--log-net-log={net_log}", f"--screenshot={picture}")) == []
    assert requests(net_log) == []
    assert first_pixel(picture) == LIGHT
    browse(html, f"--print-to-pdf={pdf}")
    # Some twenty comparisons, two or three a page, and two pages of what was found; the log is left out.
    assert 5 <= pages(pdf) <= 25


def test_dark(reports: dict[str, Path]) -> None:
    html = reports["tagged-json"]
    dark = "--blink-settings=preferredColorScheme=0"
    browse(html, dark, f"--screenshot={html.with_name('dark.png')}")
    assert first_pixel(html.with_name("dark.png")) == DARK
