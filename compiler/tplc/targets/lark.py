"""A Lark grammar, read by the library that it is for, where that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from tplc.errors import TplcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tplc.backends.lark import LarkGrammar

# Those that were tested: the first, and the first that was not.
_TESTED = ((1, 7), (2, 0))
_TESTED_TEXT = "1.7.6 to 1.9.1"


class WrongLibrary(TplcError):
    """The installed version of llguidance was not tested with tplc."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found

    def __str__(self) -> str:
        return f"llguidance {self.found} is installed, and {_TESTED_TEXT} were tested: pip install 'tplc[lark]'"


class NotRead(TplcError):
    """A grammar that the library refuses: a defect of tplc, or more than the library's limits allow."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.name}: llguidance does not read this grammar: {self.problem}"


def check_read(name: str, grammar: LarkGrammar) -> None:
    """Raise NotRead where the library refuses the grammar.  Tokens are not looked up: the tokenizer is elsewhere."""
    try:
        found = version("llguidance")
    except PackageNotFoundError:
        return
    if not _TESTED[0] <= tuple(map(int, found.split(".")[:2])) < _TESTED[1]:
        raise WrongLibrary(found)
    if not grammar.text:
        return
    import llguidance

    tokenizer = None if grammar.tokens else llguidance.LLTokenizer("byte", slices=[])
    problem = llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("lark", grammar.text), tokenizer)
    if problem:
        raise NotRead(name, problem.strip().split("\n")[0])
