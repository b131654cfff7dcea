"""Compile a generated parser with mypyc: an extension that Python imports in the file's place, and faster.

compile_native("import json\n…", "hut_parser.py")  →  the bytes of hut_parser.cpython-312-x86_64-linux-gnu.so
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from tplc.errors import MissingPackage, TplcError, UsageError

_MARK = b"TPLC_VERSION"  # each generated parser, and what is compiled from it, contains the name
_MOST_LINES = 20


class NotCompiled(TplcError):
    """The compiler refused a parser, or could not run."""


def check_native(path: str, asked: str = "--native") -> None:
    """Raises UsageError where no extension can be made, before any work is done."""
    if not os.path.basename(path).removesuffix(".py").isidentifier() or not path.endswith(".py"):
        raise UsageError(f"{asked}: {path} cannot be imported: give it a name like hut_parser.py")
    import sysconfig  # costs a few milliseconds

    if find_spec("mypyc") is None:
        raise MissingPackage(asked, "native")
    compiler = (shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "") or [""])[0]
    if sys.platform != "win32" and shutil.which(compiler) is None:
        missing = f"a C compiler ({compiler or 'cc'}), which is not on the PATH"
        raise UsageError(f"{asked} needs {missing}: tplc[native] brings mypyc alone")
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.isfile(header):
        raise UsageError(f"{asked} needs the headers of Python for C (python3-dev): there is no {header}")


def extension_of(path: str) -> str:
    """Return the path of the extension that this Python imports instead of the parser."""
    return path.removesuffix(".py") + EXTENSION_SUFFIXES[0]


def compile_native(text: str, path: str) -> bytes:
    """Return the bytes of `extension_of(path)` for a parser with this text."""
    with tempfile.TemporaryDirectory(prefix="tplc-native-") as folder:
        source = Path(folder, os.path.basename(path))
        source.write_bytes(_with_types(text).encode())
        # No names of this folder in it, and no settings of the project around.
        environment = {**os.environ, "MYPYC_DEBUG_LEVEL": "0"}
        command = [sys.executable, "-m", "mypyc", "--config-file=", source.name]
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        made = Path(extension_of(str(source)))
        if done.returncode or not made.is_file():
            lines = done.stdout.decode(errors="replace").strip().splitlines()[-_MOST_LINES:]
            raise NotCompiled(f"{path}: mypyc could not compile it\n" + "\n".join(f"    {line}" for line in lines))
        return made.read_bytes()


def _with_types(text: str) -> str:
    """Return the parser with its types defined at run time as well, because mypyc knows no others."""
    for_checkers = re.search(r"^if TYPE_CHECKING:\n((?:    .*\n|\n)*)else:\n    .* = dict.*\n", text, re.M)
    if for_checkers is None:
        return text
    types = re.sub(r"^    ", "", for_checkers[1], flags=re.M)
    return text[: for_checkers.start()] + types + text[for_checkers.end() :]


def is_native(path: str) -> bool:
    try:
        return is_native_parser(Path(path).read_bytes())
    except OSError:
        return False


def is_native_parser(data: bytes) -> bool:
    """Return whether the extension was compiled from a generated parser."""
    return _MARK in data
