"""The templates that ship with tplc, for models that have none.  They are data: a file each, named by its base name.

builtin_template("NAME")  →  the text of NAME.jinja
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent
PREFIX = "builtin:"


def builtin_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _HERE.glob("*.jinja")))


def builtin_template(name: str) -> str:
    return (_HERE / f"{name}.jinja").read_text(encoding="utf-8")


def offer() -> str:
    """Return the hint for a model without a template."""
    names = ", ".join(PREFIX + name for name in builtin_names())
    return f"if the model follows a built-in template, name that as the source: {names}"
