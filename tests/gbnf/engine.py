"""xgrammar with an interface of two functions; tests that need it are skipped where it is not installed.

accepts('root ::= "a"', "a")     →  True
refused('root ::= ', …)          →  what the engine says of a grammar that it can't read; None when it can
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import types
from typing import Any

import pytest

INSTALLED = all(importlib.util.find_spec(name) for name in ("xgrammar", "tvm_ffi", "numpy", "pydantic"))
needs_engine = pytest.mark.skipif(not INSTALLED, reason="xgrammar is not installed: make setup installs it")


class _Anything:
    def __init__(self, *_: Any, **__: Any) -> None: ...


def _stand_in(name: str, **held: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(held)
    module.__spec__ = importlib.util.spec_from_loader(name, loader=None)
    return module


@functools.lru_cache(maxsize=1)
def _engine() -> Any:
    # xgrammar imports these for type names and GPU kernels only; they are a hundred times its own size.
    import tvm_ffi  # noqa: F401  (before the stand-ins: it looks for the real one)

    names = dict.fromkeys(("Tensor", "LongTensor", "FloatTensor", "IntTensor", "device", "dtype"), _Anything)
    plain = {"int32": "int32", "int64": "int64", "bool": "bool", "tensor": _Anything}
    tokenizers = dict.fromkeys(("PreTrainedTokenizerBase", "PreTrainedTokenizerFast"), _Anything)
    stand_ins = {
        "torch": _stand_in("torch", **names, **plain),
        "transformers": _stand_in("transformers", LogitsProcessor=object, **tokenizers),
    }
    added = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(added)
    try:
        import xgrammar
    finally:
        for name in added:
            del sys.modules[name]
    return xgrammar


@functools.lru_cache(maxsize=16)  # some take 40 MB
def _compiled(grammar: str) -> Any:
    engine = _engine()
    compiler = engine.GrammarCompiler(engine.TokenizerInfo([]), cache_enabled=False, max_threads=1)
    return compiler.compile_grammar(engine.Grammar.from_ebnf(grammar))


def refused(grammar: str) -> str | None:
    try:
        _compiled(grammar)
    except RuntimeError as error:
        return str(error).split("\n")[0]
    return None


def accepts(grammar: str, text: str) -> bool:
    # An empty vocabulary is enough: the matcher reads text as well.
    matcher = _engine().GrammarMatcher(_compiled(grammar), terminate_without_stop_token=True)
    return (not text or matcher.accept_string(text)) and matcher.is_completed()
