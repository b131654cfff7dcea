"""IR → a parsing expression grammar for parsimonious."""

from tplc.backends.peg.generate import generate

__all__ = ["generate"]
