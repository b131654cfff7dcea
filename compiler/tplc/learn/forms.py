"""Which markers are others in turns of one shape?

What opens content ends reasoning: it is written once, and not where no content follows.
"""

from __future__ import annotations

from tplc.ir.nodes import Form, Part, TemplateIR


def forms_of_shared_opener(ir: TemplateIR) -> tuple[Form, ...]:
    if not ir.reasoning.end.strip() or ir.reasoning.end.strip() != ir.content.start.strip():
        return ()
    shapes: list[tuple[Part, ...]] = [("reasoning", "content"), ("reasoning", "content", "calls")]
    opened = [Form(parts, "content.start", "") for parts in shapes]
    space = ir.reasoning.end[: -len(ir.reasoning.end.lstrip())]
    return (*opened, Form(("reasoning",), "reasoning.end", space), Form(("reasoning", "calls"), "reasoning.end", space))
