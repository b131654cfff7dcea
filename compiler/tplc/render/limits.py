"""The resources that one template may use.  The worker enforces these with the
operating system's own limits if it has them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Defaults are many times what the largest real template needs.

    `render_seconds` is the processor time of one render (and of compiling the template); `wall_seconds` is the clock's,
    for a worker that hangs without working.  `cpu_seconds` is for all renders of one worker together,
    `total_seconds` the clock's for one compile, verification or explanation as a whole, and `total_memory_mb` what the
    process that compiles may take for it.  `probe_chars` is the longest render of a conversation of a few words,
    `marker_chars` the longest text that a template may write around a part.
    """

    render_seconds: float = 1.5
    wall_seconds: float = 20.0
    cpu_seconds: int = 300
    total_seconds: float = 300.0
    memory_mb: int = 256
    output_chars: int = 2_000_000
    source_chars: int = 1_000_000
    range_items: int = 100_000
    number_bits: int = 10_000
    probe_chars: int = 200_000
    marker_chars: int = 1_000
    total_memory_mb: int = 1_200
