"""Render an untrusted template: in a sandbox, in a worker process, within limits.

with Renderer("{{ messages[0].content }}") as renderer:
    renderer.render([{"role": "user", "content": "hi"}])  →  "hi"
"""

from tplc.render.limits import Limits
from tplc.render.renderer import EncodedTools, Renderer, Trace
from tplc.render.sandbox import CLOCK

__all__ = ["CLOCK", "EncodedTools", "Limits", "Renderer", "Trace"]
