"""A second list of slips, by other rules and in other answers than tests/slips/kinds.py: `--kinds further`.

    FURTHER["tag in upper case"](answer)  →  "<CALL>…", …

It was written without looking at what parsers recover, and some of its kinds need luck to be recovered.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.slips.further.registry import FURTHER

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["FURTHER"]
