"""The common part of all pages: one look, one file, nothing that is loaded or run."""

from __future__ import annotations

from tplc.page.document import document, figures, with_line_ends

__all__ = ["document", "figures", "with_line_ends"]
