"""Where a generated parser has its runtime: in its file, in one beside it that several share, or installed."""

from __future__ import annotations

from typing import Literal

Runtime = Literal["standalone", "shared", "installed"]
RUNTIME = "_tplc_runtime"
RUNTIME_FILE = f"{RUNTIME}.py"
