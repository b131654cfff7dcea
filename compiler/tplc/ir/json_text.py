"""JSON of strangers, read with one error for all that may be wrong with it.

parse_json('{"a": 1')          →  NotJson: Expecting ',' delimiter at line 1, column 8
parse_json("[" * 10**6)        →  NotJson: is nested too deeply
parse_json("1" * 5000)         →  NotJson: has a number of too many digits
"""

from __future__ import annotations

import json

from tplc.errors import FilePlace, SourceError
from tplc.ir.nodes import Json

# No legitimate value is nested as deeply, and recursive functions can still walk this depth.
DEEPEST = 100


class NotJson(ValueError):
    """`line` and `column` count from 1; None where the text is JSON, and yet not read."""

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(problem, line, column)
        self.problem = problem
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return self.problem if self.line is None else f"{self.problem} at line {self.line}, column {self.column}"


def not_json_in(file: str, error: NotJson, *, line: int | None = None, hint: str = "") -> SourceError:
    """Return the error about a file, or about one of its lines: "tools.json:3:5: is not JSON: Expecting value"."""
    if error.line is None:
        place = file if line is None else FilePlace(file, line)
        return SourceError(place, f"is not JSON that can be read: it {error.problem}")
    return SourceError(FilePlace(file, line or error.line, error.column), f"is not JSON: {error.problem}", hint)


def not_json(error: NotJson) -> str:
    """Return the problem with one line of JSON: "is not JSON: Expecting value at character 1"."""
    if error.line is None:
        return f"is not JSON that can be read: it {error.problem}"
    return f"is not JSON: {error.problem.removesuffix(' at')} at character {error.column}"


def parse_json(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise NotJson("is nested too deeply") from error
    except ValueError as error:
        # Python reads no longer ones: its time would grow with the square.
        raise NotJson("has a number of too many digits") from error
    if _is_deep(value):
        raise NotJson("is nested too deeply")
    return value


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
