"""Where a template comes from: a file, a model folder, its tokenizer_config.json, a GGUF file, the hub, standard input.

load("model/")  →  TemplateSource(name="model", text="{% for …", special_tokens={"eos_token": "<end>"}, …)
"""

from tplc.sources.added import load_added_tokens
from tplc.sources.load import check_name, is_elsewhere, load, load_tokens
from tplc.sources.source import TemplateSource

__all__ = ["TemplateSource", "check_name", "is_elsewhere", "load", "load_added_tokens", "load_tokens"]
