"""python turns.py examples/tagged-json

A rollout of several turns: each prompt is the one before, with what was added.  The tokens of earlier turns are never
made again, so they are those that the model wrote, and a prefix cache keeps all of them.
"""

import json
import sys
from pathlib import Path

from tiny_tokenizer import tiny_tokenizer

from tplc import ChatTemplate, load_ir

folder = Path(sys.argv[1])
ir = load_ir((folder / "out" / "ir.json").read_text(encoding="utf-8"))
source = (folder / "template.jinja").read_text(encoding="utf-8")
tokenizer = tiny_tokenizer(ir.preserved_tokens)


def generate(prompt_ids: list[int], answer: str) -> list[int]:
    """In place of an engine: the tokens that it would give."""
    return tokenizer.encode(answer, add_special_tokens=False)


answers = ["Two miles.", "The same.", "Yes, let us."]
questions = ["Is it far?", "And back?", "Shall we go?"]
with ChatTemplate(source, ir=ir) as template:
    text, state = template.start([{"role": "user", "content": questions[0]}])
    ids, mask = tokenizer.encode(text, add_special_tokens=False), []
    mask += [0] * len(ids)
    for turn, answer in enumerate(answers):
        written = template.extend(state, {"role": "assistant", "content": answer})
        sampled = generate(ids, written.added)
        ids, mask = ids + sampled, mask + [1] * len(sampled)
        state = written.state
        if turn + 1 < len(questions):
            asked = template.extend(state, {"role": "user", "content": questions[turn + 1]}, debug=True)
            # A template that rewrites the past would need all of it again.
            assert not written.is_whole and not asked.is_whole
            added = tokenizer.encode(asked.added, add_special_tokens=False)
            ids, mask, state = ids + added, mask + [0] * len(added), asked.state
    whole, _ = template.start(state.messages)

print(json.dumps({"same_text": tokenizer.decode(ids) == whole, "tokens": len(ids), "trained": sum(mask)}))
