"""The errors of tplc, as data that formats itself once.

    TemplateSyntaxError("chat.jinja", 2, 4, "{% fi x %}", "Encountered unknown tag 'fi'.")
    →
    chat.jinja:2:4: Encountered unknown tag 'fi'.
        {% fi x %}
           ^

`exit_code` is the command line's: 1 when a template or an artifact is not right, 2 for wrong usage or input that
cannot be read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_LINE = 160


class TplcError(Exception):
    """Anything tplc reports to its user."""

    exit_code = 1


class FilePlace:
    """A line of a file, perhaps with a column: both count from 1.

    Its text is `tplc.toml:4:1`, or `pairs.jsonl: line 3` without a column.
    """

    __slots__ = ("column", "file", "line")

    def __init__(self, file: str, line: int, column: int | None = None) -> None:
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}" if self.column is None else f"{self.file}:{self.line}:{self.column}"


class SourceError(TplcError):
    """Input that cannot be read: what, why, and what to do about it.

    `source` is what the message begins with; `name`, `line` and `column` are its place, as far as it is known.
    """

    exit_code = 2

    def __init__(self, source: str | FilePlace, problem: str, hint: str = "") -> None:
        super().__init__(source, problem, hint)
        self.source = str(source)
        self.name = source.file if isinstance(source, FilePlace) else source
        self.line = source.line if isinstance(source, FilePlace) else None
        self.column = source.column if isinstance(source, FilePlace) else None
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.source}: {self.problem}" + (f"\n    {self.hint}" if self.hint else "")


class UsageError(TplcError):
    """Options exclude each other, or a value is invalid."""

    exit_code = 2


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return a question after a wrong name, if one of the known names is similar; otherwise "".

    >>> did_you_mean("trainig", ["python", "training"])
    ' (did you mean training?)'
    """
    from difflib import get_close_matches  # here, because this module is a part of every start

    near = get_close_matches(wrong, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def unknown_name(kind: str, wrong: object, known: Iterable[str]) -> str:
    """Return the message about a name that is not among the known ones.

    >>> unknown_name("target", "trainig", ["python", "training"])
    "no target is called 'trainig' (did you mean training?): there are python, training"
    """
    known = list(known)
    return f"no {kind} is called {wrong!r}{did_you_mean(str(wrong), known)}: there are {', '.join(known)}"


class ReportedFailure(TplcError):
    """A failure that a report has already printed."""


class MissingPackage(UsageError):
    """The request needs an extra of tplc that is not installed; `instead` names an alternative without it."""

    def __init__(self, what: str, extra: str, instead: str = "") -> None:
        super().__init__(what, extra, instead)
        self.what = what
        self.extra = extra
        self.instead = instead

    def __str__(self) -> str:
        message = f"{self.what} needs a package that is not installed: pip install 'tplc[{self.extra}]'"
        return message + (f", or {self.instead}" if self.instead else "")


class TemplateError(TplcError):
    """A template failed or refused to render; `line` is None if Jinja doesn't report it."""

    def __init__(self, name: str, line: int | None, message: str) -> None:
        super().__init__(name, line, message)
        self.name = name
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: {self.message}"


class TemplateSyntaxError(TemplateError):
    """The template is not Jinja.  `column` counts from 1; None where Jinja gives the line only."""

    def __init__(self, name: str, line: int, column: int | None, source_line: str, message: str) -> None:
        super().__init__(name, line, message)
        self.args = (name, line, column, source_line, message)
        self.column = column
        self.source_line = source_line

    def __str__(self) -> str:
        place = f"{self.name}:{self.line}" + (f":{self.column}" if self.column else "")
        text, caret = _excerpt(self.source_line, self.column)
        lines = [f"{place}: {self.message}"]
        if text.strip():
            lines.append(f"    {text}")
            if caret is not None:
                lines.append(f"    {' ' * caret}^")
        return "\n".join(lines)


class TemplateRaised(TemplateError):
    """The template refused the conversation: it called `raise_exception(message)`."""

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: the template refused: {self.message}"


class RenderFailed(TemplateError):
    """Any other exception in the template; `type_name` is the exception's."""

    def __init__(self, name: str, line: int | None, type_name: str, message: str) -> None:
        super().__init__(name, line, message)
        self.args = (name, line, type_name, message)
        self.type_name = type_name

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: {self.type_name}: {self.message}" if self.message else f"{place}: {self.type_name}"


class UnsafeTemplate(TemplateError):
    """The template reached for what the sandbox keeps from it; `message` says for what."""

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: the sandbox does not allow this: {self.message}"


class WorkerDied(TemplateError):
    """The process that renders ended by itself, or was killed from outside."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(name, None, f"the process that renders ended with {how}")
        self.args = (name, how)
        self.how = how


# What a template exceeded, by the limit's name.
_EXCEEDED = {
    "render_seconds": "one render took more than {} s of processor time",
    "wall_seconds": "one render took more than {} s",
    "cpu_seconds": "all renders together took more than {} s of processor time",
    "total_seconds": "all work on the template took more than {} s",
    "memory_mb": "rendering needed more than {} MB of memory",
    "total_memory_mb": "all work on the template needed more than {} MB of memory",
    "output_chars": "a render has more than {} characters",
    "source_chars": "the template has more than {} characters",
    "range_items": "a range has more than {} items",
    "number_bits": "a number has more than {} bits",
    "probe_chars": "the render of a conversation of a few words has more than {} characters",
    "marker_chars": "a marker has more than {} characters",
    "recursion": "code or values are nested more than {} levels deep",
    "nesting": "blocks are nested too deeply for Python: {}",
}
_FIXED_LIMITS = ("recursion", "nesting")


def exceeded(limit: str, value: str, found: str = "") -> str:
    """Return the text of an exceeded limit: what was exceeded, what was found if that is known, and the limit's name.

    >>> exceeded("render_seconds", "1.5")
    'one render took more than 1.5 s of processor time (limit render_seconds)'
    """
    text = _EXCEEDED.get(limit, "a limit was exceeded: {}").format(value) + (f": {found}" if found else "")
    return text if limit in _FIXED_LIMITS else f"{text} (limit {limit})"


class LimitExceeded(TemplateError):
    """The template used more than a limit allows.

    `limit` is the name of a field of `Limits`, or "recursion" or "nesting", which can't be raised.  `value` is the
    limit, and `found` what exceeded it, if that is known.
    """

    def __init__(self, name: str, limit: str, value: str, line: int | None = None, found: str = "") -> None:
        super().__init__(name, line, exceeded(limit, value, found))
        self.args = (name, limit, value, line, found)
        self.limit = limit
        self.value = value


class UnsupportedTemplate(TemplateError):
    """A template whose format is understood to be beyond what the IR can say; `message` is the reason."""

    def __init__(self, name: str, reason: str, line: int | None = None) -> None:
        super().__init__(name, line, reason)
        self.args = (name, reason, line)
        self.reason = reason


class NotLearned(UnsupportedTemplate):
    """A template whose renders show no format that can be learned; `tplc explain` shows these renders."""


class VerificationFailed(TplcError):
    """The generated artifact doesn't parse the template's renders correctly."""

    def __init__(self, name: str, failed: int, messages: int, failures: tuple[str, ...] = ()) -> None:
        super().__init__(name, failed, messages, failures)
        self.name = name
        self.failed = failed
        self.messages = messages
        self.failures = failures

    def __str__(self) -> str:
        head = f"{self.name}: {self.failed} of {self.messages} messages did not come back as they were"
        if self.messages and not self.failed:
            came = (
                "one message came back, and it does"
                if self.messages == 1
                else f"{self.messages} messages came back, and they do"
            )
            head = f"{self.name}: {came} not verify the format"
        if not self.messages:
            head = (
                f"{self.name}: the template shows no message in a place that was learned, so nothing could be verified"
            )
        return "\n".join([head, *(f"    {failure}" for failure in self.failures)])


class UnfinishedFormat(TplcError):
    """An answer ends with special tokens that were not given, and `--strict` is set; `how` says how to give one."""

    def __init__(self, name: str, tokens: tuple[str, ...], how: str) -> None:
        super().__init__(name, tokens, how)
        self.name = name
        self.tokens = tokens
        self.how = how

    def __str__(self) -> str:
        are = "is" if len(self.tokens) == 1 else "are"
        what = f"an answer ends with {' and '.join(self.tokens)}, which {are} not given"
        return f"{self.name}: {what}\n    give {self.how}"


class BadIR(TplcError):
    """IR text that is not an IR, or of a version that is not read here; `path` is the member's ("tools.call[2]")."""

    exit_code = 2

    def __init__(self, path: str, expected: str, got: str | None = None) -> None:
        super().__init__(path, expected, got)
        self.path = path
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"{self.path or 'IR'}: expected {self.expected}" + (f", got {self.got}" if self.got is not None else "")


class InvalidIR(TplcError):
    """An IR breaks the rules of `tplc.ir.check`: by a bug of tplc if it was learned, by its author if it was read."""

    def __init__(self, name: str, violations: tuple[str, ...], printed: str) -> None:
        super().__init__(name, violations, printed)
        self.name = name
        self.violations = violations
        self.printed = printed

    def __str__(self) -> str:
        what = "internal error: an invalid IR was learned" if self.printed else "this IR is not valid"
        return "\n".join([f"{self.name}: {what}", *(f"    {violation}" for violation in self.violations)])


class ToleranceError(TplcError):
    """A declared tolerance that does nothing for a format, or not what another says.

    `index` is its place among those that were given, `other` that of the other one, which `problem` ends with.
    """

    exit_code = 2

    def __init__(self, index: int, member: str, problem: str, other: int | None = None) -> None:
        super().__init__(index, member, problem, other)
        self.index = index
        self.member = member
        self.problem = problem
        self.other = other

    def __str__(self) -> str:
        other = "" if self.other is None else f" tolerances[{self.other}]"
        return f"tolerances[{self.index}].{self.member}: {self.problem}{other}"


class RequestError(TplcError):
    """A request that is not right, or that the template cannot do; `path` is the member's ("tools[2]")."""

    exit_code = 2

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"request: {self.path}: {self.problem}" if self.path else f"request: {self.problem}"


class Undecided(TplcError):
    """The characters of a conversation cannot be assigned; the error names the message and the reason."""

    def __init__(self, name: str, message: int | None, reason: str) -> None:
        super().__init__(name, message, reason)
        self.name = name
        self.message = message
        self.reason = reason

    def __str__(self) -> str:
        place = "" if self.message is None else f"messages[{self.message}]: "
        return f"{self.name}: {place}{self.reason}"


class BadMessage(TplcError):
    """A message that is not one, or that the template has no way to write."""

    exit_code = 2

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"message: {self.path} {self.problem}"


def _excerpt(line: str, column: int | None) -> tuple[str, int | None]:
    """Return the part of a source line to show, and the column of the caret under it."""
    shown = line.rstrip().expandtabs(1)
    at = None if column is None else column - 1
    start = len(shown) - len(shown.lstrip())
    if len(shown) - start > _LONGEST_LINE and at is not None:
        start = max(start, at - _LONGEST_LINE // 2)
    text = shown[start : start + _LONGEST_LINE]
    return text, None if at is None or at < start else at - start
