"""Run tplc in a process of its own: `python tests/quick/alone.py ARGUMENTS` is `python -m tplc ARGUMENTS`.

It starts and ends as the installed one does, and takes what other processes of the run have learned and verified.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)
    from tests.quick.server import share
    from tplc.cli import main

    share()
    main()
