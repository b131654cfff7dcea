"""White space inside markers, next to `_` and between brackets, is optional for the parser and the PEG alike."""

from __future__ import annotations

import pytest

from tests.learn.test_idioms import CONTENT, calls, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import learn_format, open_renderer

MARKERS = (
    ("<_ call _>", "</_ call _>"),
    ("<|tool_ use|>", "<|tool_ end|>"),
    ("[CALL_ ]", "[/CALL_ ]"),
    ("<call_ name= ", "</call_ name>"),
    ("begin_ call ", "_ end_ call"),
    ("<|_x|> <|_y|>", "<|_x|> _ <|/y|>"),
)
PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}]


def spellings(marker: str) -> list[str]:
    others = [marker.replace(" ", other) for other in ("", "  ", "\n")]
    others += [marker.replace("_", other) for other in ("_ ", " _", " _ ")]
    return list(dict.fromkeys([marker, *others]))


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("opened", "closed"), MARKERS)
def test_readers_agree(opened: str, closed: str) -> None:
    call = f"{{{{- '{opened}' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ '{closed}' }}}}"
    source = source_of(CONTENT + calls(call))
    with open_renderer(source, name="t") as renderer:
        readers = EveryReader(learn_format(renderer, name="t", source_text=source))
    for before in spellings(opened):
        for after in spellings(closed):
            for text in (f'Hi {before}f {{"a": 1}}{after}', f'{before}f {{"a": 1}}{after}{before}f {{}}{after}<|e|>'):
                for tools in (None, TOOLS):
                    readers.parse(text, tools=tools)
    assert readers.differ == []
