"""From a request to everything a server needs: prompt, grammar, stops, and the parser's keywords."""

from tplc.serving.request import Request, read_request
from tplc.serving.template import ChatTemplate, Prepared, prepare

__all__ = ["ChatTemplate", "Prepared", "Request", "prepare", "read_request"]
