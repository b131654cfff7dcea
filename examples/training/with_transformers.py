"""python with_transformers.py examples/tagged-json

A response template that tplc derives, kept with the tokenizer: `parse_response` reads what a model answered by it.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tiny_tokenizer import tiny_tokenizer
from transformers import AutoTokenizer

import tplc

folder = Path(sys.argv[1])
conversation = json.loads((folder / "conversation.json").read_text(encoding="utf-8"))
ir = tplc.load_ir((folder / "out" / "ir.json").read_text(encoding="utf-8"))

# Of a real model: AutoTokenizer.from_pretrained, then `tplc compile FOLDER --into FOLDER/tokenizer_config.json`, once.
tokenizer = tiny_tokenizer(ir.preserved_tokens)
tokenizer.chat_template = (folder / "template.jinja").read_text(encoding="utf-8")
tokenizer.response_template = json.loads(tplc.generate(ir, "response_template"))
with TemporaryDirectory() as saved:
    tokenizer.save_pretrained(saved)
    tokenizer = AutoTokenizer.from_pretrained(saved)

messages, tools = conversation["messages"][:2], conversation["tools"]
prompt = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, return_dict=False)
for file in sorted(folder.glob("outputs/*.txt")):
    # What a model generates; special tokens are kept.
    answer = tokenizer.encode(file.read_bytes().decode("utf-8"), add_special_tokens=False)
    try:
        message = tokenizer.parse_response(answer, prefix=prompt, tools=tools)
    except ValueError:
        message = None  # it was cut off inside a call, and a response template has no word for that
    print(json.dumps({file.stem: message}, ensure_ascii=False))
