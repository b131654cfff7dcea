"""python with_trl.py examples/tagged-json

TRL's trainers read tool calls of a rollout by the tokenizer's response template.  Those that TRL ships are found by the
whole text of a chat template; for any other one, set the template before the tokenizer is given to a trainer
(`GRPOTrainer(processing_class=tokenizer, tools=…)`): it is this function that the trainer calls then.
"""

import json
import sys
from pathlib import Path

from tiny_tokenizer import tiny_tokenizer
from trl.chat_template_utils import parse_response

import tplc

folder = Path(sys.argv[1])
conversation = json.loads((folder / "conversation.json").read_text(encoding="utf-8"))
ir = tplc.load_ir((folder / "out" / "ir.json").read_text(encoding="utf-8"))

tokenizer = tiny_tokenizer(ir.preserved_tokens)
tokenizer.chat_template = (folder / "template.jinja").read_text(encoding="utf-8")
tokenizer.response_template = json.loads(tplc.generate(ir, "response_template"))

messages, tools = conversation["messages"][:2], conversation["tools"]
prompt = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, return_dict=False)
for file in sorted(folder.glob("outputs/*.txt")):
    answer = tokenizer.encode(file.read_bytes().decode("utf-8"), add_special_tokens=False)
    print(json.dumps({file.stem: parse_response(tokenizer, answer, prefix=prompt, tools=tools)}, ensure_ascii=False))
