"""python with_sft.py examples/tagged-json

Supervised fine-tuning with the loss on what the model writes.  TRL's SFTTrainer asks the tokenizer's chat template
which tokens those are (`assistant_only_loss`), so it is given the template with generation tags that `tplc compile -t
training` writes.  The model is a tiny one without any training, and makes two steps on the CPU.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from datasets import Dataset
from tiny_tokenizer import tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

import tplc
from tplc.conversations.training import training_template

folder = Path(sys.argv[1])
ir = tplc.load_ir((folder / "out" / "ir.json").read_text(encoding="utf-8"))
source = (folder / "template.jinja").read_text(encoding="utf-8")
with tplc.ConversationTemplate(source, ir=ir) as template:
    tagged = training_template(template)

tokenizer = tiny_tokenizer([*ir.preserved_tokens, "<pad>"])
tokenizer.pad_token = "<pad>"
tokenizer.chat_template = tagged.text

torch.manual_seed(0)
size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **size))
questions = [("Is it far?", "Two miles."), ("And back?", "The same."), ("Shall we go?", "Yes, let us.")]
rows = [
    {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]}
    for asked, answer in questions
]

with tempfile.TemporaryDirectory() as output:
    config = SFTConfig(
        output_dir=output,
        max_steps=2,
        per_device_train_batch_size=2,
        assistant_only_loss=True,
        report_to=[],
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        logging_steps=1,
    )
    trainer = SFTTrainer(model=model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    trainer.train()

trained = [tokenizer.decode([label for label in row["labels"] if label != -100]) for row in trainer.train_dataset]
print(json.dumps({"steps": trainer.state.global_step, "trained_on": trained}, ensure_ascii=False))
