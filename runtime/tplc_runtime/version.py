"""Identify this runtime, for parsers that are generated without one of their own.

A parser and a shared runtime are of one version of tplc: the runtime has everything that the parser calls.
"""

from __future__ import annotations

RUNTIME_VERSION = "0.2.0"


def require_runtime(version: str, parser: str) -> None:
    """Raise ImportError for a parser of another version."""
    if version != RUNTIME_VERSION:
        raise ImportError(
            f"{parser} was generated for the runtime of tplc {version}, and {__name__} is of {RUNTIME_VERSION}: "
            "generate it again with `tplc compile` or `tplc build`"
        )


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    # "cannot import name" wouldn't say what is wrong, nor what to do.
    raise ImportError(
        f"{__name__} is the runtime of tplc {RUNTIME_VERSION} and has no {name}: the parser that wants it is of "
        "another version; generate it again with `tplc compile` or `tplc build`"
    )
