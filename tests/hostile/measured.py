"""Run a command in a process of its own, and return what it used.

The figure for ended children of a process is that of the largest ever, including forks of the process itself: in a test
runner it shows how large the test runner is.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

_PROGRAM = (
    "import resource, subprocess, sys\n"
    "most = int(sys.argv[1])\n"
    "if most: resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
    "code = subprocess.run([sys.executable, '-m', 'tplc', *sys.argv[2:]]).returncode\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == 'darwin' else 1024))\n"
    "raise SystemExit(code)\n"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a command said, the seconds of the processor that it took, and the most memory of one of its processes."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    megabytes: float


def measured(*arguments: str, given: str, most_bytes: int = 0, timeout: float = 300) -> Measured:
    """Run `tplc` with these arguments, `given` on standard input.  `most_bytes` limits its address space."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(most_bytes), *arguments],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
    )
    *out, used = done.stdout.splitlines()
    seconds, size = used.split()
    return Measured(done.returncode, "\n".join(out), done.stderr, float(seconds), int(size) / 1024 / 1024)
