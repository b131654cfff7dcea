"""Tools for designing a format: what it loses or confuses, and layouts to start from."""

from tplc.design.lint import Remark, lint
from tplc.design.start import LAYOUTS, Started, refreshed, start

__all__ = ["LAYOUTS", "Remark", "Started", "lint", "refreshed", "start"]
