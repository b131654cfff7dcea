"""python rollout.py examples/tagged-json

What a loop of reinforcement learning has to know of each answer: the calls to run, whether it was cut off, and which of
its tokens to train on.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tiny_tokenizer import tiny_tokenizer

import tplc
from tplc.verify import load_artifact

folder = Path(sys.argv[1])
conversation = json.loads((folder / "conversation.json").read_text(encoding="utf-8"))
ir = tplc.load_ir((folder / "out" / "ir.json").read_text(encoding="utf-8"))
# In a project of one's own: import the parser that `tplc compile` wrote.
parser = load_artifact((folder / "out" / "parser.py").read_text(encoding="utf-8"))
tokenizer = tiny_tokenizer(ir.preserved_tokens)

# The loss is on what the model decides; what it copies from the format teaches little.
TRAINED = {"reasoning", "content", "arguments"}


def parts_of_tokens(text: str, prompt: str) -> list[str]:
    """The part of the turn that each token of an answer belongs to."""
    spans = tplc.spans(ir, text, prompt=prompt, tools=conversation["tools"])
    by_character = [span.part for span in spans for _ in range(span.stop - span.start)]
    starts = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return [by_character[start] for start, _ in starts]


def rollout(text: str, prompt: str) -> dict:
    stream = parser.stream(tools=conversation["tools"], prompt=prompt)
    stream.feed(text)
    stream.finish()
    parts = parts_of_tokens(text, prompt)
    # An answer that was cut off is neither right nor wrong: it is left out of the loss, and no call of it is run.
    mask = [int(part in TRAINED and not stream.incomplete) for part in parts]
    calls = [] if stream.incomplete else [call["function"] for call in stream.message["tool_calls"]]
    return {"incomplete": stream.incomplete, "tokens": Counter(parts), "trained": sum(mask), "calls": calls}


for file in sorted(folder.glob("outputs/*.txt")):
    found = rollout(file.read_bytes().decode("utf-8"), ir.turn.prompts[0].text)
    print(json.dumps({file.stem: found}, ensure_ascii=False))
