"""What all pages have in common: one look, one file, nothing that is loaded, nothing that runs."""

from __future__ import annotations

from tplc.page.document import document, figures, with_line_ends

__all__ = ["document", "figures", "with_line_ends"]
