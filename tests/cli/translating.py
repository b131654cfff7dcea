"""Translate parsers with mypyc as far as it can refuse them, which takes a twentieth of the time of compiling them.

    python -m tests.cli.translating FOLDER

It prints what mypyc refuses, a line each.  What it makes is checked by `make native`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mypyc.build import get_mypy_config
from mypyc.codegen.emitmodule import parse_and_typecheck
from mypyc.errors import Errors
from mypyc.irbuild.main import build_ir
from mypyc.irbuild.mapper import Mapper
from mypyc.options import CompilerOptions


def refused(folder: Path) -> list[str]:
    """Return the errors of mypyc in all Python files of a folder, which becomes the current one."""
    os.chdir(folder)
    paths = sorted(path.name for path in Path().glob("*.py"))
    compiler = CompilerOptions(separate=True)
    sources, _, options = get_mypy_config(["--config-file=", *paths], None, compiler, None)
    result = parse_and_typecheck(sources, options, compiler, [([source], None) for source in sources])
    errors = Errors(options)
    mapper = Mapper({source.module: None for source in sources})
    files = [result.files[source.module] for source in sources]
    build_ir(files, result.graph, result.types, mapper, compiler, errors)
    return [*result.errors, *(line for line in errors.new_messages() if ": error: " in line)]


if __name__ == "__main__":
    print("\n".join(refused(Path(sys.argv[1]))))
