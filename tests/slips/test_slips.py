"""Slips in answers of the examples' formats: most are read as meant, none is read otherwise without a diagnostic."""

from __future__ import annotations

from functools import cache

import pytest

from tests.fuzz.formats import formats
from tests.slips.kinds import KINDS
from tests.slips.measure import Result, answers, results

LEAST = 0.85  # of the slips of one format


@cache
def found(name: str) -> tuple[Result, ...]:
    form = next(form for form in formats() if form.name == name)
    return tuple(results(name, form.ir, form.parser))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["tagged-json", "sectioned-ids", "json-array"])
def test_slips_are_read_as_meant(name: str) -> None:
    recovered = sum(result.outcome == "recovered" for result in found(name))
    assert recovered >= LEAST * len(found(name)) > 100


@pytest.mark.parametrize("name", ["tagged-json", "sectioned-ids", "json-array"])
def test_nothing_raises_and_every_chunking_is_the_same(name: str) -> None:
    assert [(result.kind, result.text) for result in found(name) if result.chunked or result.outcome == "raised"] == []


@pytest.mark.parametrize("name", ["parameter-tags", "words-in-calls", "key-value-tags", "tagged-name-json"])
def test_damaged_names_are_reported_without_tools(name: str) -> None:
    """Without tools, a name isn't known, but quotes and markup are in none."""
    form = next(form for form in formats() if form.name == name)
    kinds = ("name in quotes", "other quotes of an attribute", "object for pairs")
    found = results(name, form.ir, form.parser, kinds=kinds, without_tools=True)
    assert found
    assert [(one.kind, one.text) for one in found if one.outcome == "altered" and (one.silent or one.chunked)] == []


def test_every_kind_fits_some_format() -> None:
    """A kind without a slip in any example would measure nothing."""
    made = {kind for form in formats() for _, answer in answers(form.ir) for kind in KINDS if any(KINDS[kind](answer))}
    assert set(KINDS) - made <= {"ASCII for full width", "dash for underscore", "fence missing"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["words-in-calls", "tagged-json", "addressed-parts"])
def test_further_slips_raise_nothing_in_any_chunking(name: str) -> None:
    form = next(form for form in formats() if form.name == name)
    found = results(name, form.ir, form.parser, which="further")
    assert len(found) > 200
    assert [(result.kind, result.text) for result in found if result.chunked or result.outcome == "raised"] == []
