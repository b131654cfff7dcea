"""Grammars in the Lark of llguidance: for llguidance itself, and the servers that constrain with it."""

from tplc.backends.lark.build import lark
from tplc.backends.lark.result import LarkGrammar, NoLark
from tplc.grammars.request.size import MOST_CHARACTERS

__all__ = ["MOST_CHARACTERS", "LarkGrammar", "NoLark", "lark"]
