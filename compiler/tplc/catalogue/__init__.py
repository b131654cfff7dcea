"""Observed variants of markers, as data: the texts that models write where their templates write others.

An entry applies to a format by the format's own markers; what it declares is put into the IR as tolerances.
"""

from tplc.catalogue.apply import applied_entries, apply_catalogue, fits
from tplc.catalogue.entries import Entry, ExpectedOutput
from tplc.catalogue.load import load_folder, shipped

__all__ = ["Entry", "ExpectedOutput", "applied_entries", "apply_catalogue", "fits", "load_folder", "shipped"]
