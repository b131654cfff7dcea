"""From a request to everything a server needs: prompt, grammar, stops, and the parser's keywords."""

from tplc.serving.request import ChatRequest, read_request
from tplc.serving.template import ChatTemplate, Prepared, prepare

__all__ = ["ChatRequest", "ChatTemplate", "Prepared", "prepare", "read_request"]
