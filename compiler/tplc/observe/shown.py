"""Split an output at a finding: the text before it, the finding, the text after it.

"Sure.<~doo~>f {}"  →  ("Sure.", "<~doo~>", "f {}")
"""

from __future__ import annotations

from tplc.observe.findings import Finding

_AROUND = 60


def around(text: str, finding: Finding) -> tuple[str, str, str]:
    """Return the finding with the text around it, shortened; of text before it, the end is kept."""
    before, after = text[: finding.start], text[finding.end :]
    return _last(before), text[finding.start : finding.end], _first(after)


def _last(text: str) -> str:
    return text if len(text) <= _AROUND else "…" + text[-_AROUND:]


def _first(text: str) -> str:
    return text if len(text) <= _AROUND else text[:_AROUND] + "…"
