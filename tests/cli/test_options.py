"""The table of options: what a command reads from it, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, get_args

import pytest
import typer
from typer.testing import CliRunner

from tests.cli.conftest import Run
from tplc.cli.declare import DeclaredCommand, For, parameters_of
from tplc.cli.options import CompileOptions
from tplc.driver import TARGETS

PARAMETERS = {parameter.name: parameter for parameter in parameters_of(CompileOptions)}
GIVEN = {str: "x", int: 3}


@dataclass(frozen=True)
class Beds:
    bunk: Annotated[bool, typer.Option("--bunk/--no-bunk", help="Beds over one another.")] = True


@dataclass(frozen=True)
class HutOptions:
    name: Annotated[str, typer.Argument(help="The name.")]
    beds: Beds
    rooms: Annotated[tuple[int, ...], typer.Option("--room", help="a room."), For(("huts", "inns"))] = ()


def test_a_dataclass_declares_a_command() -> None:
    app, seen = typer.Typer(), []
    app.command()(DeclaredCommand(stay))
    for arguments in (["bo"], ["bo", "--room", "2", "--no-bunk", "--room", "1"]):
        assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    shown = CliRunner().invoke(app, ["--help"]).output
    panel, option = shown.index("For huts, inns"), shown.index("A room.")
    assert 0 < panel < option
    seen = list(STAYED)
    assert seen == [(HutOptions("bo", Beds()), ()), (HutOptions("bo", Beds(bunk=False), (2, 1)), ())]


STAYED: list[tuple[HutOptions, tuple[str, ...]]] = []


def stay(options: HutOptions, guests: Annotated[tuple[str, ...], typer.Option("--guest")] = ()) -> None:
    STAYED.append((options, guests))


def typed(name: str) -> tuple[str, list[str]]:
    """Returns the flag of an option, and the words that give it a value which isn't its default."""
    parameter = PARAMETERS[name]
    kinds = {*get_args(parameter.annotation), parameter.annotation}
    if bool in kinds:
        flag = parameter.flag(not parameter.default)
        return flag, [flag]
    flag = parameter.flag("x")
    return flag, [flag, str(3 if int in kinds else "x")]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", [name for name, parameter in PARAMETERS.items() if parameter.targets])
def test_options_of_other_targets_are_refused(run: Run, name: str) -> None:
    targets = PARAMETERS[name].targets
    assert targets is not None
    assert {*targets.targets} < {*TARGETS, "training"}
    flag, words = typed(name)
    for target in (one for one in TARGETS if one not in targets.targets):
        done = run("compile", "-", "-t", target, *words, stdin="{{ messages }}")
        assert (done.code, done.out) == (2, "")
        assert done.err == f"tplc: {flag} is for --target {targets}, not for {target}\n"


def test_what_a_header_repeats() -> None:
    """A header repeats the options that change the file; not those that report, verify or overwrite, nor those that the
    header itself contains."""
    left_out = [name for name, parameter in PARAMETERS.items() if parameter.in_header is None]
    assert left_out == [
        *("source", "output", "target", "into", "force", "seed", "thorough", "depfile", "as_json", "quiet", "watch"),
    ]
    assert [field.name for field in fields(CompileOptions)][:3] == ["source", "output", "target"]
