"""Compile a collection of templates, and summarise the results."""

from __future__ import annotations

from tplc.census.entry import CensusEntry
from tplc.census.run import census

__all__ = ["CensusEntry", "census"]
