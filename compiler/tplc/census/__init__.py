"""A collection of templates at once: what each is compiled to, and what that says of all of them."""

from __future__ import annotations

from tplc.census.entry import CensusEntry
from tplc.census.run import census

__all__ = ["CensusEntry", "census"]
