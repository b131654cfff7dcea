"""Add a postprocess to ray.data.llm: each row gets its message after the engine.

    build_processor(config, preprocess=…, postprocess=Postprocess("parser.py"))

The stage that makes text of tokens drops special tokens, and with them the markers: switch it off, or give the engine
`sampling_params={"skip_special_tokens": False, …}`.
"""

import importlib.util
from typing import Any


class Postprocess:
    def __init__(self, path: str) -> None:
        self.path, self.parser = path, None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.parser is None:  # once in each worker
            spec = importlib.util.spec_from_file_location("parser", self.path)
            self.parser = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.parser)
        [message] = self.parser.parse_many([row["generated_text"]], prompts=[row.get("prompt")])
        return {**row, **message}
