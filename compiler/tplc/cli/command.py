"""Read the command line of any command.

tplc compile chat.jinja -o a.py -o b.py  →  --output is given twice but takes one value; give it once
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tplc.cli.given import check_outputs
from tplc.errors import ReportedFailure, TplcError, UsageError
from tplc.overwriting import inputs_protected

try:  # typer has a copy of click from 0.20 on
    from typer._click.exceptions import ClickException, NoSuchOption
except ImportError:
    from click.exceptions import ClickException, NoSuchOption  # type: ignore[assignment]


# Options by their earlier names, of all commands ("") or of one; these names work for one release more.
_RENAMED = {
    "": {"--special-token": "--token"},
    "compile": {"--reasoning": "--tag-reasoning"},
    "observe": {"--write": "--output"},
}


class Commands(TyperGroup):
    """All commands.  If a file is given in place of a command, the error names the command that compiles it."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        return _simply_coerced(super().get_params(ctx))

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        try:
            return super().resolve_command(ctx, args)
        except ClickException as error:
            if os.path.exists(args[0]):
                error.message += f" To compile a template: tplc compile {shlex.quote(args[0])} -o PARSER.py"
            raise


class Command(TyperCommand):
    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                # As documents name them: SOURCE, and not `source <str>`.
                parameter.metavar = parameter.metavar or str(parameter.name).upper()
                parameter.get_help_record = partial(_record, parameter)  # type: ignore[method-assign]

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        return _simply_coerced(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return [piece[1:-1] if piece[:1] == "{" else piece for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write arguments, then options by their panels, those without one first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        try:
            return self._parsed(ctx, list(_renamed(self.name or "", args)))
        except (TplcError, ClickException) as error:
            if not ctx.resilient_parsing and self._is_json(args):
                message = str(error) if isinstance(error, TplcError) else error.format_message()
                self._print_failure(UsageError(message))
            raise

    def _is_json(self, args: list[str]) -> bool:
        """Return whether the arguments, which may be wrong, ask for JSON."""
        options = {name for parameter in self.params for name in parameter.opts}
        asked = "--json" in args or "--format=json" in args or ("--format", "json") in pairwise(args)
        return "--json" in options and asked

    def _print_failure(self, error: TplcError) -> None:
        from tplc.cli.shown import print_json

        if self.name == "compile":
            # Where its report goes, for standard output is the artifact's.
            print_json(failure(error), sys.stderr)
            raise SystemExit(error.exit_code) from None
        print_json(failure(error))

    def _parsed(self, ctx: typer.Context, args: list[str]) -> list[str]:
        try:
            if not ctx.resilient_parsing:  # completion in a shell must not print errors
                self._check_once(ctx, args)
            return super().parse_args(ctx, args)
        except NoSuchOption as error:
            names = [name for parameter in self.params for name in _names(parameter)]
            error.possibilities = [name for name in names if _begins(name, error)] or _near(error.option_name, names)
            raise

    def _check_once(self, ctx: typer.Context, args: list[str]) -> None:
        """Raise an error for an option that is given twice, because the first value would be dropped silently."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        seen = set()
        for parameter in given:
            holds_one = parameter.param_type_name == "option" and not (
                parameter.multiple or getattr(parameter, "is_flag", False) or getattr(parameter, "count", False)
            )
            if holds_one and parameter.name in seen:
                raise UsageError(f"{parameter.opts[-1]} is given twice but takes one value; give it once")
            seen.add(parameter.name)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            with inputs_protected():
                check_outputs(self.params, ctx.params)
                return super().invoke(ctx)
        except ReportedFailure:
            raise
        except TplcError as error:
            if not (ctx.params.get("as_json") or ctx.params.get("output_format") == "json"):
                raise
            self._print_failure(error)
            raise


def _simply_coerced(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        parameter.get_runtime_param = partial(_Coerced, parameter)
    return parameters


class _Coerced:
    """Coerces the values of an option or an argument like typer, but asks pydantic, whose import takes as long as many
    commands, only for those that aren't yet what is declared.  Texts always are.  Older releases of typer coerce all of
    them by themselves."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = self._parameter.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is kind:
            return value
        if kind == list[str] and isinstance(value, (list, tuple)) and all(type(item) is str for item in value):
            return list(value)
        return type(self._parameter).get_runtime_param(self._parameter).coerce(value, param=param, ctx=ctx)


def _renamed(command: str, args: list[str]) -> Iterator[str]:
    """Yield the arguments with the names that options have now.  A warning names each."""
    names = {**_RENAMED[""], **_RENAMED.get(command, {})}
    for argument in args:
        name, equals, value = argument.partition("=")
        if name in names:
            print(f"warning: {name} is now {names[name]}", file=sys.stderr)
        yield names.get(name, name) + equals + value


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


def _begins(name: str, error: NoSuchOption) -> bool:
    """Return whether an option begins like the unknown one: `--tol` is the beginning of `--tolerances`."""
    return len(error.option_name) > 2 and name.startswith(error.option_name)


def _near(wrong: str, names: Iterable[str]) -> list[str]:
    """Return the options whose letters are like those of an unknown one.  The dashes, which all have, don't count."""
    from difflib import get_close_matches

    words = {name.lstrip("-"): name for name in names if name.startswith("--")}
    return [words[word] for word in get_close_matches(wrong.lstrip("-"), words, cutoff=0.7)]


def _record(argument: Any, ctx: typer.Context) -> tuple[str, str] | None:
    record = type(argument).get_help_record(argument, ctx)
    return None if record is None else (record[0].partition(" <")[0], record[1])


def failure(error: TplcError) -> dict[str, Any]:
    """Return an error as JSON, in the form that `schemas/failure.schema.json` describes."""
    return {
        "error": {
            "type": type(error).__name__,
            "message": str(error),
            **{name: getattr(error, name, None) for name in ("name", "line", "column")},
        },
        "exit_code": error.exit_code,
    }
