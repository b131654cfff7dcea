"""Generated plug-ins as modules."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from tests.servers.answers import ir_of
from tplc import driver
from tplc.targets.plugins import Server

_FOLDER = TemporaryDirectory()


def plugin_file(example: str, server: Server) -> Path:
    path = Path(_FOLDER.name) / f"{example.replace('-', '_')}_{server}.py"
    options = driver.GrammarOptions(plugin_name=example)
    path.write_text(driver.generate(ir_of(example), server, options), encoding="utf-8")
    return path


@cache
def plugin_module(example: str, server: Server) -> ModuleType:
    path = plugin_file(example, server)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
