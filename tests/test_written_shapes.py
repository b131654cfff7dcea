"""What `write_message` writes is what the template renders, for every shape of turn that the template renders.

White space between parts, the text that the prompt ends with, and which of the turn's ends comes apart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.independent import TOKENS
from tplc.driver import artifact_of, learn_format, open_renderer, tolerate, verify_ir
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify import try_messages
from tplc.verify.battery import Case, Shape, battery
from tplc.verify.compare import as_message

CASES = ROOT / "tests/cases"
FOLDERS = [CASES / name for name in ("authored", "invertible", "learn", "repair", "reproductions")]
EXAMPLES = sorted(ROOT.glob("examples/*/template.jinja"))
OTHERS = [path for folder in FOLDERS for path in sorted(folder.glob("**/*.jinja"))]
REASONING_ALONE = Shape(True, False, 0)  # a template may write empty content after it, which no model does


def differences(path: Path) -> list[tuple[str, str, str]]:
    """Return the shapes that are written differently: their name, the render, and what is written."""
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, name=path.stem, special_tokens=TOKENS) as renderer, renderer.within_total():
        try:
            ir = learn_format(renderer, name=path.stem, source_text=source, special_tokens=TOKENS)
            ir = verify_ir(tolerate(ir), renderer)
        except TplcError:
            return []
        if not ir.verification.verified:
            return []
        shapes = [case for case in battery(ir) if case.title == str(case.shape) and case.shape != REASONING_ALONE]
        tried = try_messages(ir, artifact_of(ir), renderer, cases=shapes).tried
    turns = [(one.case.title, one.turn, _written(ir, one.case)) for one in tried]
    return [turn for turn in turns if not _is_alike(ir, turn[1], turn[2])]


def _written(ir: TemplateIR, case: Case) -> str:
    return write_message(ir, as_message(ir, case))


def _is_alike(ir: TemplateIR, turn: str, written: str) -> bool:
    turn, written = _visible(turn), _visible(written)
    ends = [_visible(end) for end in ir.turn.ends] or [""]
    if _visible(ir.tools.separator) in ends[: len(ir.turn.ends)]:
        # Each part is a message of its own.  Content that ends before calls as the turn does has no closer: text
        # after it is no longer content.
        turn, written = (text.replace(_visible(ir.tools.separator), "") + ends[0] for text in (turn, written))
    texts = [lead + written.removesuffix(ends[0]) for lead in map(_visible, _leads(ir))]
    return any(turn == text + end for text in texts for end in [*ends, ""])


def _visible(text: str) -> str:
    return "".join(text.split())


def _leads(ir: TemplateIR) -> list[str]:
    """Return what may be before a turn: its beginning in prompts, and an empty block of reasoning."""
    empty = [ir.reasoning.end, ir.reasoning.start + ir.reasoning.end]
    return ["", *ir.turn.heads, *empty]


@pytest.mark.sweep(17)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_are_written_as_their_templates_render_them(path: Path) -> None:
    assert differences(path) == []


@pytest.mark.sweep(140)
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_shapes_are_written_as_the_template_renders_them(path: Path) -> None:
    assert differences(path) == []
