"""Facts about values are in one place each: the runtime if parsers need them, otherwise `lower/values.py`."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tplc.ir.spellings import WORDS
from tplc.lower import values
from tplc.lower.closers import LEFT_OVER_CHARS
from tplc_runtime.repairs import LEFT_OVER
from tplc_runtime.values import literal_of

CHARACTERS = "".join(map(chr, range(33, 127)))
FOLDERS = ("compiler/tplc", "runtime/tplc_runtime")
# What states a fact, and the file that does.
STATED = {
    r"(?:0|[1-9][0-9]*": "runtime/tplc_runtime/values.py",
    r"[\"\\/bfnrt]|u[0-9a-fA-F]{4}": "runtime/tplc_runtime/values.py",
    "NAME_LIMIT = ": "runtime/tplc_runtime/pattern.py",
    "LEAST_CUT = ": "runtime/tplc_runtime/pattern.py",
    "LONGEST_KEY = ": "runtime/tplc_runtime/pattern.py",
    "MOST_SPACE = ": "runtime/tplc_runtime/pattern.py",
    "MOST_KEYS = 64": "runtime/tplc_runtime/pairs.py",
    "NEVER_IN_NAMES = ": "runtime/tplc_runtime/slots.py",
    "CUT_KINDS = ": "runtime/tplc_runtime/turn.py",
    '"true": ("true", "True")': "compiler/tplc/ir/spellings.py",
}


@pytest.mark.parametrize("text", STATED)
def test_a_fact_is_stated_once(text: str) -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [path.relative_to(ROOT).as_posix() for path in files if text in path.read_text(encoding="utf-8")]
    assert found == [STATED[text]]


@pytest.mark.parametrize("pattern", [values.NUMBER, values.possessive(values.NUMBER)])
@pytest.mark.parametrize(
    ("text", "is_number"),
    [("0", True), ("-12.5e+3", True), ("1E9", True), ("01", False), ("1.", False), (".5", False), ("+1", False)],
)
def test_numbers_of_json(pattern: str, text: str, is_number: bool) -> None:
    engine = pytest.importorskip("regex") if pattern != values.NUMBER else re
    assert (engine.fullmatch(pattern, text) is not None) == is_number


@pytest.mark.parametrize(("word", "spellings"), WORDS.items())
def test_words_mean_what_the_runtime_reads(word: str, spellings: tuple[str, ...]) -> None:
    words = {spelling: meaning for meaning, known in WORDS.items() for spelling in known}
    assert [literal_of(spelling, words) for spelling in spellings] == [word, word]


def test_what_is_left_over_has_the_characters_that_lower_names() -> None:
    named = re.compile(f"[{LEFT_OVER_CHARS}]+")
    texts = [first + second + third for first in CHARACTERS for second in CHARACTERS for third in ("", "}", ";")]
    found = [match.group() for text in texts if (match := LEFT_OVER.match(text, 0))]
    assert found and all(named.fullmatch(text) for text in found)
