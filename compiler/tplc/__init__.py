"""tplc: compile chat templates into parsers and grammars for what the model answers.

    ir = tplc.compile_template(source_text)
    parser = tplc.generate(ir, "python")

The names here are loaded when they are used: `tplc --version` needs none of what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tplc.version import VERSION as __version__

if TYPE_CHECKING:
    from tplc.driver import compile_template, generate, load_ir
    from tplc.errors import TplcError
    from tplc.ir.nodes import TemplateIR

__all__ = ["TemplateIR", "TplcError", "__version__", "compile_template", "generate", "load_ir"]

_HOMES = {
    "TemplateIR": "tplc.ir.nodes",
    "TplcError": "tplc.errors",
    "compile_template": "tplc.driver",
    "generate": "tplc.driver",
    "load_ir": "tplc.driver",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
