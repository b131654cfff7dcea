r"""No regular expression of parsers, grammars, response templates and the runtime takes more than linear time.

Searched for with texts made of each pattern's own classes and words (`growth.py`), in every way that it is matched.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
import regex

import tplc_runtime
from tests.conftest import amount
from tests.example_case import EXAMPLES, load_examples, standalone_parser
from tests.fuzz.formats import formats
from tests.hostile.growth import Slow, slowest
from tests.hostile.patterns import Use, uses_of
from tplc import driver
from tplc.backends.response_template import Profile
from tplc.errors import TplcError
from tplc.verify.artifact import load_module
from tplc_runtime.raw import nested_json

SHARES = 4  # the patterns are shared out to as many tests
# `make patterns` tries all; `make test` one in six of parsers, one in twenty of grammars and response templates.
ALL = bool(os.environ.get("TPLC_ALL_PATTERNS"))
EVERY, EVERY_OF_PARSERS = (1, 1) if ALL else (amount(40, sweep=10), amount(12, sweep=3))


@cache
def uses() -> list[tuple[Use, str]]:
    """Return each pattern once, with the place where it was found first."""
    found: dict[Use, str] = {}
    for example in load_examples():
        source = standalone_parser(example.name)
        for use in sorted(uses_of(load_module(source), source)):
            found.setdefault(use, example.name)
    for module in runtime():
        for use in sorted(uses_of(module, Path(module.__file__ or "").read_text(encoding="utf-8"))):
            found.setdefault(use, module.__name__)
    return sorted(found.items())


@cache
def grammar_patterns() -> dict[str, str]:
    """Return the patterns of PEGs, each with the place where it was found first. Parsimonious matches them where a rule
    may begin."""
    found: dict[str, str] = {}
    for path in sorted(EXAMPLES.glob("*/out/grammar.peg")):
        for match in re.finditer(r'~r"((?:[^"\\]|\\.)*)"s', path.read_text(encoding="utf-8")):
            found.setdefault(match[1].replace('\\"', '"'), path.parent.parent.name)
    return found


@cache
def template_patterns() -> dict[str, str]:
    """Return the patterns of response templates, which engines search for."""
    found: dict[str, str] = {}
    for form in formats():
        for profile in get_args(Profile):
            with suppress(TplcError):  # a format that it cannot say
                made = driver.generate(form.ir, "response_template", driver.GrammarOptions(profile=profile))
                for pattern in _patterns_in(json.loads(made)):
                    found.setdefault(pattern, f"{form.name} ({profile})")
    return found


def _patterns_in(value: Any) -> Iterator[str]:
    inner = value.items() if isinstance(value, dict) else ((None, item) for item in value if isinstance(value, list))
    for key, member in inner:
        if isinstance(member, str) and str(key).endswith("_pattern"):
            yield member
        elif isinstance(member, (dict, list)):
            yield from _patterns_in(member)


def runtime() -> list[ModuleType]:
    names = [info.name for info in pkgutil.iter_modules(tplc_runtime.__path__)]
    return [importlib.import_module(f"tplc_runtime.{name}") for name in names]


def hardest(methods: set[str]) -> set[str]:
    """Return the ways of matching whose time bounds that of the others: a walk through a text searches at each place,
    and a search matches at each place. A full match backtracks where the others stop."""
    walks = methods & {"finditer", "findall", "sub", "split"}
    least = {"finditer"} if walks else methods & {"search"} or methods & {"match"}
    return least | methods & {"fullmatch"}


def measured() -> list[tuple[Use, str]]:
    methods: dict[str, set[str]] = {}
    for use, _ in uses():
        methods.setdefault(use.pattern, set()).add(use.method)
    seen = {use.pattern: where for use, where in reversed(uses())}
    return [(Use(it, method), seen[it]) for it in sorted(methods) for method in sorted(hardest(methods[it]))]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("share", range(SHARES))
def test_no_pattern_is_slow(share: int) -> None:
    chosen = measured()[share * EVERY_OF_PARSERS :: SHARES * EVERY_OF_PARSERS]
    slow = [f"{where}: {use} on {found}" for use, where in chosen if (found := slowest(*use))]
    assert slow == []


def test_every_pattern_is_measured_the_hardest_way() -> None:
    assert hardest({"match", "search", "sub", "findall", "fullmatch"}) == {"finditer", "fullmatch"}
    assert hardest({"match", "search"}) == {"search"}
    assert hardest({"match"}) == {"match"}
    assert {use.pattern for use, _ in measured()} == {use.pattern for use, _ in uses()}


@pytest.mark.sweep(1)
def test_no_pattern_of_a_grammar_is_slow() -> None:
    given = sorted(grammar_patterns().items())
    assert len(given) > 300
    assert [f"{where}: {it} on {found}" for it, where in given[::EVERY] if (found := slowed(it, "match"))] == []


@pytest.mark.sweep(1)
def test_no_pattern_of_a_response_template_is_slow() -> None:
    """Only patterns that look back over a whole section are exempt."""
    given = sorted((it, where) for it, where in template_patterns().items() if ").)*)" not in it)
    assert len(given) > 100
    assert [f"{where}: {it} on {found}" for it, where in given[::EVERY] if (found := slowed(it, "search"))] == []


def slowed(pattern: str, method: str) -> Slow | None:
    return slowest(pattern, method, compiled=regex.compile)


def test_all_patterns_are_looked_at() -> None:
    seen = {use for use, _ in uses()}
    assert len(seen) > 300
    # By the name of a module, of an attribute, of an item of a list, and without one.
    assert {
        Use(r"\S|\Z", "search"),
        Use(r"[\w.:/-]+", "fullmatch"),
        Use(r"[^\S \t\n\r]", "sub"),
        Use(r"0[xX][0-9a-fA-F]{1,16}", "fullmatch"),
    } <= seen
    # Found one way, each pattern is found in all ways that it is matched, and in no other.
    assert {method for pattern, method in seen if pattern == r"[^\S \t\n\r]"} == {"sub"}


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    ("pattern", "method", "pump"),
    [
        (r"(a+)+b", "match", "a"),
        (r"(a|a)*$", "match", "a"),
        (r"\s*x\s*$", "search", " "),
        (r".+?(?=(?<=\n)[^\S\n]*(?=\s*\{)|\Z)", "match", "\n"),  # once a PEG's
        (r"<do=(?P<name>[^\n>]+)>", "search", "<do="),  # once a response template's
        (r"(\s*)(.*?)(\s*)", "fullmatch", " "),  # once how markers were taken apart
        (r"([+-]?)0*([0-9][0-9_]*)?(?:\.([0-9_]*))?([eE][+-]?[0-9]+)?", "fullmatch", "0"),  # once the runtime's
        (r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|\b(?:True|False|None)\b""", "sub", '\\"'),  # and this
    ],
)
def test_slow_patterns_are_found(pattern: str, method: str, pump: str) -> None:
    found = slowest(pattern, method)
    assert isinstance(found, Slow)
    assert found.pump in (pump, 2 * pump)  # the slowest of them, by the load of the machine


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*x", "match"),
        (r"[^,\n\]}]+", "search"),
        (r"(?:<b>\s*)*<c>", "match"),
        (r"\s{0,16}(?:,|\)|\Z)", "search"),
        (r"<a\s{0,64}b>|<a>", "finditer"),
    ],
)
def test_fast_patterns_are_not(pattern: str, method: str) -> None:
    assert slowest(pattern, method) is None


def test_a_pattern_that_cannot_be_determined_is_an_error() -> None:
    source = "import re\ndef f(x): return re.match(x + '*', x)\n"
    with pytest.raises(AssertionError, match=re.escape("which pattern is it? re.match(x + '*', x)")):
        uses_of(load_module(source), source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("['it\\'s', True, None, \"don't\"]", '["it\'s", true, null, "don\'t"]'),
        ("['a', 'b]", None),
        ("['a', True, b'", None),
        ('["a]\\', None),
        ("{'a': 'b\\\\'}", '{"a": "b\\\\"}'),
    ],
)
def test_lists_that_python_writes(text: str, expected: str | None) -> None:
    assert nested_json(text) == expected
