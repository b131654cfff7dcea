"""Why a request gets no grammar."""

from __future__ import annotations

from collections.abc import Sequence

from tplc.errors import TplcError
from tplc.grammars.schema.report import NotExpressed


class GrammarNotExact(TplcError):
    """Asked to be strict, and some schema can't be said in a grammar."""

    def __init__(self, found: Sequence[NotExpressed]) -> None:
        super().__init__(tuple(found))
        self.found = tuple(found)

    def __str__(self) -> str:
        lines = [f"    {entry}" for entry in self.found]
        return "\n".join(["the grammar would accept what the schemas do not:", *lines])


class NothingAllowed(TplcError):
    """A schema that no value satisfies."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what}: no value satisfies the schema, so no text would satisfy the grammar"


class BadGrammar(TplcError):
    """A grammar outside the portable subset: a defect of tplc, found before anyone uses it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(["tplc wrote a grammar that not every engine reads:", *(f"    {p}" for p in self.problems)])


class GrammarTooLarge(TplcError):
    """Even with the most general arguments the grammar has too many characters."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(size, most)
        self.size = size
        self.most = most

    def __str__(self) -> str:
        return (
            f"the grammar would have {self.size:,} characters and may have {self.most:,}: "
            "offer fewer tools, or allow more (--max-size, most_characters)"
        )


class SchemaTooDeep(TplcError):
    """A schema nests deeper than the stack of who asks for the grammar."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what}: the schema nests too deep for the stack that is left: make it flatter"
