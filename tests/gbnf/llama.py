"""llama.cpp's engine with the interface of `engine`; `make llama-checker` builds it.

accepts('root ::= "a"', "a")     →  True
refused('root ::= ', …)          →  "refused"; None for a grammar that it reads
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable

import pytest

from tests.conftest import ROOT

CHECKER = ROOT / "build" / "llama" / "checker"
INSTALLED = CHECKER.is_file()
needs_llama = pytest.mark.skipif(not INSTALLED, reason="llama.cpp's engine is not built: make llama-checker")


class _Checker:
    def __init__(self) -> None:
        self._process = _started()
        self._grammar: str | None = None
        self._read = False

    def read(self, grammar: str) -> bool:
        if grammar != self._grammar:
            self._grammar = grammar
            self._read = self._asked("G", grammar) == "read"
        return self._read

    def takes(self, grammar: str, text: str) -> bool:
        return self.read(grammar) and self._asked("T", text) == "yes"

    def takes_tokens(self, grammar: str, tokens: Iterable[tuple[int, str]]) -> bool:
        pieces = [f"{number} {len(text.encode())}\n{text}" for number, text in tokens]
        return self.read(grammar) and self._asked("I", "".join(pieces)) == "yes"

    def _asked(self, what: str, text: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        data = text.encode("utf-8")
        self._process.stdin.write(f"{what}{len(data)}\n".encode() + data)
        self._process.stdin.flush()
        answer = self._process.stdout.readline().decode("utf-8").strip()
        if not answer:
            raise RuntimeError(f"the engine ended on {text[:200]!r}")
        return answer


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen([str(CHECKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@functools.lru_cache(maxsize=1)
def _checker() -> _Checker:
    return _Checker()


def refused(grammar: str) -> str | None:
    return None if _checker().read(grammar) else "refused"


def accepts(grammar: str, text: str) -> bool:
    return _checker().takes(grammar, text)


def accepts_tokens(grammar: str, tokens: Iterable[tuple[int, str]]) -> bool:
    """Return whether the grammar accepts the tokens as a whole; each has an id and a text."""
    return _checker().takes_tokens(grammar, tokens)
