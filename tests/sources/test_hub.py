"""Hub ids, read by the real client from a local cache, in its offline mode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tplc.errors import SourceError
from tplc.sources import load
from tplc.sources.hub import is_hub_id

pytest.importorskip("huggingface_hub")

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER = "fedcba9876543210fedcba9876543210fedcba98"

LOAD = """
import json, sys
from tplc.errors import TplcError
from tplc.sources import load
try:
    source = load(sys.argv[1])
    print(json.dumps([source.name, source.text, dict(source.special_tokens), source.origin]))
except TplcError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache as the client lays it out: models--org--name/refs/REVISION and snapshots/COMMIT/."""
    model = tmp_path / "hub" / "models--maker--small"
    for revision, commit, text in (("main", COMMIT, "new"), ("v1", OLDER, "old")):
        snapshot = model / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (snapshot / "chat_template.jinja").write_text(text)
        (snapshot / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>"}))
        (model / "refs").mkdir(exist_ok=True)
        (model / "refs" / revision).write_text(commit)
    return tmp_path


def run(cache: Path, source: str) -> tuple[int, str]:
    environment = {**os.environ, "HF_HOME": str(cache), "HF_HUB_OFFLINE": "1"}
    environment.pop("HF_HUB_CACHE", None)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, source], env=environment, cwd=cache, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("source", "text"), [("maker/small", "new"), ("maker/small@v1", "old"), (f"maker/small@{OLDER}", "old")]
)
def test_cached_model(cache: Path, source: str, text: str) -> None:
    code, out = run(cache, source)
    assert (code, json.loads(out)) == (0, ["small", text, {"eos_token": "</s>"}, source])


@pytest.mark.parametrize("source", ["maker/other", "maker/small@v2"])
def test_model_that_is_not_in_the_cache(cache: Path, source: str) -> None:
    assert run(cache, source) == (
        2,
        f"{source}: there is no such file or folder here; the hub cannot be reached, and the model is not in the local "
        "cache\n"
        "    check the connection, or unset HF_HUB_OFFLINE",
    )


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SourceError) as caught:
        load("maker/small")
    assert str(caught.value) == (
        "maker/small: there is no such file or folder; reading it as a hub id needs the huggingface_hub package\n"
        "    install it with: pip install 'tplc[hub]'"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("maker/small", True),
        ("maker/small-1.5_x@refs/pr/3", True),
        ("small", False),
        ("a/b/c", False),
        ("./small", False),
        ("../small", False),
        ("/a/b", False),
        ("maker/", False),
        ("maker/chat.jinja", False),
        ("maker/chat.jinj", False),
        ("maker/chat.JSON", False),
        ("maker/chat.txt", False),
        ("maker/chat.jinja@main", True),
        ("maker/small.v2", True),
        ("maker/small-0.5b.q4_k", True),
        ("maker/a b", False),
        ("https://host/maker/small", False),
    ],
)
def test_is_hub_id(source: str, expected: bool) -> None:
    assert is_hub_id(source) is expected


def test_a_folder_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "maker" / "small").mkdir(parents=True)
    (tmp_path / "maker" / "small" / "chat_template.jinja").write_text("here")
    assert load("maker/small").text == "here"


def test_a_folder_here_that_has_no_such_model(cache: Path) -> None:
    """A model next to others here was looked for here; with a revision it is the hub's."""
    (cache / "maker" / "smile").mkdir(parents=True)
    hub = "maker is a folder here, so the hub was not asked: maker/small@main asks it"
    assert run(cache, "maker/small") == (
        2,
        f"maker/small: there is no such file or folder\n    did you mean maker/smile?\n    {hub}",
    )
    code, out = run(cache, "maker/small@main")
    assert (code, json.loads(out)[1]) == (0, "new")
