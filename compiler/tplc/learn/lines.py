r"""Are arguments written as indented lines?

    {"k": {"l": 1}}   →  `args:\n  k:\n    l: 1\n</call>`
    {"k": ["a", {}]}  →  `args:\n  k:\n    - "a"\n    - {}\n</call>`
    →  lines, the outermost with two spaces, two more a level

Each probe is written with what two of them show; if one is written in another way, the arguments are no such lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from tplc.ir.nodes import JSON_STRING, JSON_STYLE, Json, Lines, ValueStyle
from tplc.ir.write import write_lines

Render = Callable[[Mapping[str, Json]], "str | None"]  # the turn of a call with these arguments

_NUMBER = 7431
_OUTER, _INNER = "zqkey0x", "zqkey1x"
_STYLES = (JSON_STYLE, replace(JSON_STYLE, strings=(replace(JSON_STRING, ascii=True),)))
_PROBES: tuple[dict[str, Json], ...] = (
    {_OUTER: "zqs0x", _INNER: ["zqs1x", 2, True, None]},
    {_OUTER: {_INNER: [[1, []], {_OUTER: {}, _INNER: ["1"]}]}, _INNER: 1.5},
    {_OUTER: "é: \"q\"\n- 'a' \\", _INNER: ""},
)


def learn_lines(render: Render) -> tuple[Lines, ValueStyle] | None:
    """Return how the lines are indented and how scalars are written; None if arguments are written otherwise."""
    one, two = render({_OUTER: _NUMBER}), render({_OUTER: {_INNER: _NUMBER}})
    line = re.search(rf"\n( *){_OUTER}: {_NUMBER}", one or "")
    nested = re.search(rf"\n( *){_OUTER}:\n( *){_INNER}: {_NUMBER}", two or "")
    if one is None or line is None or nested is None or len(nested[1]) != len(line[1]):
        return None
    lines = Lines(len(line[1]), len(nested[2]) - len(line[1]))
    before, after = one[: line.start()], one[line.end() :]
    if lines.indent < 1:
        return None
    for style in _STYLES:
        if all(render(probe) == before + write_lines(probe, lines, style, lines.first) + after for probe in _PROBES):
            return lines, style
    return None
