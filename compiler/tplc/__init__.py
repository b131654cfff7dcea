"""tplc: compile chat templates into parsers and grammars for the model's output.

    ir = tplc.compile_template(source_text)
    parser = tplc.generate(ir, "python")
    ready = tplc.prepare(source_text, {"messages": […], "tools": […]}, ir=ir)

The names here are loaded when they are used: `tplc --version` needs none of what they need.
"""

from __future__ import annotations

from importlib import import_module

from tplc.version import VERSION as __version__

TYPE_CHECKING = False  # as typing's, whose import would take longer than the interpreter needs to start
if TYPE_CHECKING:
    from tplc.backends.gbnf import grammar
    from tplc.conversations import ConversationTemplate, conversation_spans, token_mask
    from tplc.conversations.parse import parse_conversation
    from tplc.driver import compile_template, generate, load_ir, structural_tag
    from tplc.errors import TplcError
    from tplc.explain.turn_spans import spans
    from tplc.ir.nodes import TemplateIR
    from tplc.serving import ChatTemplate, Prepared, prepare

__all__ = [
    "ChatTemplate",
    "ConversationTemplate",
    "Prepared",
    "TemplateIR",
    "TplcError",
    "__version__",
    "compile_template",
    "conversation_spans",
    "generate",
    "grammar",
    "load_ir",
    "parse_conversation",
    "prepare",
    "spans",
    "structural_tag",
    "token_mask",
]

_HOMES = {
    "ChatTemplate": "tplc.serving",
    "ConversationTemplate": "tplc.conversations",
    "Prepared": "tplc.serving",
    "TemplateIR": "tplc.ir.nodes",
    "TplcError": "tplc.errors",
    "compile_template": "tplc.driver",
    "conversation_spans": "tplc.conversations",
    "generate": "tplc.driver",
    "grammar": "tplc.backends.gbnf",
    "load_ir": "tplc.driver",
    "parse_conversation": "tplc.conversations.parse",
    "prepare": "tplc.serving",
    "spans": "tplc.explain.turn_spans",
    "structural_tag": "tplc.driver",
    "token_mask": "tplc.conversations",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
