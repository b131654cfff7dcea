"""Name the places of a generated parser's runtime: in the parser's file, in one file shared by several, or
installed."""

from __future__ import annotations

from typing import Literal

Runtime = Literal["standalone", "shared", "installed"]
RUNTIME = "_tplc_runtime"
RUNTIME_FILE = f"{RUNTIME}.py"
