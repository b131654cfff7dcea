"""Declare a command by a dataclass whose fields are its options.

    @dataclass(frozen=True)
    class HutOptions:
        rooms: Annotated[tuple[str, ...], typer.Option("--room", help="A room.")] = ()

    def hut(options: HutOptions) -> None: ...      tplc hut --room a --room b  →  hut(HutOptions(rooms=("a", "b")))

A field may be such a dataclass itself: its options are options of the command.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property, reduce, update_wrapper
from operator import getitem
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import ParameterInfo

from tplc.errors import UsageError


@dataclass(frozen=True, slots=True)
class For:
    """The targets of `tplc compile` that an option applies to."""

    targets: tuple[str, ...]

    def __str__(self) -> str:
        *others, last = self.targets
        return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True, slots=True)
class InHeader:
    """Marks an option that changes the generated file: the file's header repeats it.

    `is_path` says whether a value is a path, which the header gives relative to the file's folder.
    """

    is_path: Callable[[str], bool] = lambda value: False


@dataclass(frozen=True, slots=True)
class CommandParameter:
    """An option or an argument.  `path` leads to its value in the object that contains all options of a command."""

    path: tuple[str, ...]
    annotation: Any
    default: Any
    info: ParameterInfo
    targets: For | None
    in_header: InHeader | None

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def is_repeated(self) -> bool:
        """Return whether the option may be given several times; its value is a tuple."""
        return get_origin(self.annotation) is tuple

    def value_in(self, options: Any) -> Any:
        return reduce(getattr, self.path, options)

    def flag(self, value: Any) -> str:
        """Returns the long flag that gives this value: `--main` or `--no-main` of `--main/--no-main`."""
        declared = self.info.param_decls or ()
        long = next(text for text in (self.info.default, *declared) if isinstance(text, str) and text.startswith("--"))
        yes, _, no = long.partition("/")
        return no if value is False else yes


@cache
def _hints_of(options: type) -> dict[str, Any]:
    return get_type_hints(options, include_extras=True)


def parameters_of(options: type) -> Iterator[CommandParameter]:
    """Yields the parameters that a dataclass declares, in order."""
    hints = _hints_of(options)
    for field in fields(options):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield from _expanded(field.name, hints[field.name], default)


def _expanded(name: str, annotation: Any, default: Any) -> Iterator[CommandParameter]:
    if is_dataclass(annotation) and isinstance(annotation, type):
        for inner in parameters_of(annotation):
            yield CommandParameter(
                (name, *inner.path), inner.annotation, inner.default, inner.info, inner.targets, inner.in_header
            )
        return
    kind, *notes = get_args(annotation)
    [info] = [note for note in notes if isinstance(note, ParameterInfo)]
    targets = next((note for note in notes if isinstance(note, For)), None)
    in_header = next((note for note in notes if isinstance(note, InHeader)), None)
    yield CommandParameter((name,), kind, default, info, targets, in_header)


class DeclaredCommand:
    """A command's function as typer reads it: one parameter for each option, and lists in place of tuples.

    Nothing is read of the declarations before it is asked for: only one of all commands runs.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function
        update_wrapper(self, function, ("__module__", "__name__", "__qualname__", "__doc__"))

    def __call__(self, **given: Any) -> None:
        groups = self._groups.items()
        self._function(**{name: _built(self._hints[name], (name,), group, given) for name, group in groups})

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self._function, include_extras=True)

    @cached_property
    def _groups(self) -> dict[str, list[CommandParameter]]:
        parameters = inspect.signature(self._function).parameters
        return {name: list(_expanded(name, self._hints[name], one.default)) for name, one in parameters.items()}

    @cached_property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature([_shown(parameter) for group in self._groups.values() for parameter in group])

    @cached_property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {one.name: one.annotation for one in self.__signature__.parameters.values()}


def _shown(parameter: CommandParameter) -> inspect.Parameter:
    info = copy(parameter.info)
    if parameter.targets is not None:
        info.rich_help_panel = f"For {', '.join(parameter.targets.targets)}"
        info.help = f"{info.help[:1].upper()}{info.help[1:]}" if info.help else info.help
    kind, default = parameter.annotation, parameter.default
    if parameter.is_repeated:
        kind, default = types.GenericAlias(list, get_args(kind)[:1]) | None, None
    annotation = getitem(Annotated, (kind, info))  # computed, so not in brackets, where mypy expects a type
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _built(annotation: Any, path: tuple[str, ...], group: list[CommandParameter], given: Mapping[str, Any]) -> Any:
    """Returns the value of one parameter of the function: what was typed, or a dataclass that contains that."""
    if not (is_dataclass(annotation) and isinstance(annotation, type)):
        [parameter] = group
        return tuple(given[parameter.name] or ()) if parameter.is_repeated else given[parameter.name]
    hints = _hints_of(annotation)
    values = {}
    for field in fields(annotation):
        place = (*path, field.name)
        inside = [parameter for parameter in group if parameter.path[: len(place)] == place]
        values[field.name] = _built(hints[field.name], place, inside, given)
    return annotation(**values)


def check_targets(options: Any, target: str) -> None:
    """Raises UsageError if an option was given that doesn't apply to the target."""
    for parameter in parameters_of(type(options)):
        value = parameter.value_in(options)
        if parameter.targets is not None and value != parameter.default and target not in parameter.targets.targets:
            raise UsageError(f"{parameter.flag(value)} is for --target {parameter.targets}, not for {target}")
