r"""White space of Python that the engine's patterns don't match as white space: the separators U+001C to U+001F.

    \s*+<a>      →  [\x1c-\x1f\s]*+<a>
    [^\S\n]*+    →  (?:[^\S\n]|[\x1c-\x1f])*+

Only formats whose markers contain one of them need that: others would be harder to read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from tplc.ir.nodes import TemplateIR, Verification
from tplc.ir.serialize import dumps

_IN_JSON = re.compile(r"\\u001[c-f]")
_RANGE = r"\x1c-\x1f"
_TOKEN = re.compile(r"\\.|\[\^?(?:\\.|[^\]\\])*\]", re.DOTALL)
_OUTSIDE = {r"\s": rf"[{_RANGE}\s]", r"\S": rf"[^{_RANGE}\s]"}


@lru_cache(maxsize=16)
def contains_separators(ir: TemplateIR) -> bool:
    """Return whether the format contains a separator, inside of a marker or around one."""
    return _IN_JSON.search(dumps(replace(ir, verification=Verification()))) is not None


def with_separators(grammar: str) -> str:
    """Return the grammar with patterns that match the separators as white space."""
    return _TOKEN.sub(lambda found: _matching_separators(found[0]), grammar)


def _matching_separators(token: str) -> str:
    if not token.startswith("["):
        return _OUTSIDE.get(token, token)
    names = re.findall(r"\\.", token)
    if token.startswith("[^") and r"\S" in names:
        return rf"(?:{token}|[{_RANGE}])"
    head = "[^" if token.startswith("[^") else "["
    return head + _RANGE + token.removeprefix(head) if r"\s" in names else token
