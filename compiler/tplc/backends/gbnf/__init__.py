"""Grammars that constrain a model's answer to what the parser reads: GBNF, for whoever reads that dialect."""

from tplc.backends.gbnf.grammar.build import grammar
from tplc.backends.gbnf.grammar.errors import (
    BadGrammar,
    GrammarNotExact,
    GrammarTooLarge,
    NothingAllowed,
    SchemaTooDeep,
)
from tplc.backends.gbnf.grammar.request import Request
from tplc.backends.gbnf.grammar.result import Grammar
from tplc.backends.gbnf.grammar.size import MOST_CHARACTERS
from tplc.backends.gbnf.grammar.triggers import Trigger, fires_at
from tplc.backends.gbnf.schema.report import NotExpressed

__all__ = [
    "MOST_CHARACTERS",
    "BadGrammar",
    "Grammar",
    "GrammarNotExact",
    "GrammarTooLarge",
    "NotExpressed",
    "NothingAllowed",
    "Request",
    "SchemaTooDeep",
    "Trigger",
    "fires_at",
    "grammar",
]
