"""Grammars that constrain a model's answer to what the parser reads: GBNF, for readers of that dialect."""

from tplc.backends.gbnf.build import grammar
from tplc.backends.gbnf.result import Grammar
from tplc.grammars.request.errors import (
    BadGrammar,
    GrammarNotExact,
    GrammarTooLarge,
    NothingAllowed,
    SchemaTooDeep,
)
from tplc.grammars.request.request import Request
from tplc.grammars.request.size import MOST_CHARACTERS
from tplc.grammars.request.triggers import Trigger, fires_at
from tplc.grammars.schema.report import NotExpressed

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
