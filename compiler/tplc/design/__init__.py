"""For those who design a format: what it cannot say, and layouts to start from."""

from tplc.design.lint import Remark, lint
from tplc.design.start import LAYOUTS, Started, refreshed, start

__all__ = ["LAYOUTS", "Remark", "Started", "lint", "refreshed", "start"]
