"""Compare derived response templates with those that TRL's authors wrote by hand: `make hand-written`.

    python -m tests.targets.hand_written FOLDER

FOLDER holds TRL's package, unpacked; nothing of it is imported.  Every message of the battery that a chat template
shows is read by both, through the parser of transformers; where they differ, one of them is right.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tplc.backends.response_template import response_template
from tplc.driver import learn_format, open_renderer, tolerate, verify_ir
from tplc.errors import TplcError
from tplc.verify import try_messages
from tplc.verify.artifact import Artifact
from tplc.verify.response_template import response_artifact

SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def written_by_hand(module: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the chat template's name, the response template's name, and the response template, paired as in the
    module's function."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    known: dict[str, Any] = {"_SUPPORTS_PARSE_RESPONSE_TOOLS": True}
    for node in tree.body:
        # Texts and tables; what asks for the library around it has no part in them.
        if isinstance(node, ast.Assign) and not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
            exec(compile(ast.Module([node], []), str(module), "exec"), {"__builtins__": {}}, known)
    pairing = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "add_response_schema"
    )
    for test in (node for node in ast.walk(pairing) if isinstance(node, ast.If)):
        names = [node.id for node in ast.walk(test.test) if isinstance(node, ast.Name) and node.id != "chat_template"]
        chosen = [node.value for node in test.body if isinstance(node, ast.Assign)]
        for value in chosen[:1]:
            if isinstance(value, ast.Tuple) and isinstance(value.elts[1], ast.Name):
                template = value.elts[1].id
                yield from ((name.removesuffix("_chat_template"), template, known[template]) for name in names)


def read_right(path: Path, by_hand: Mapping[str, Any]) -> tuple[int, dict[str, tuple[bool, bool]]]:
    """Return how many messages there are, and those that are read differently: by ours, by theirs, correctly or not."""
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, special_tokens=SPECIAL_TOKENS) as renderer:
        ir = tolerate(learn_format(renderer, name=path.name, source_text=source))
        ir = verify_ir(ir, renderer)
        made, prompt = response_template(ir), ir.turn.prompts[0].text
        key = next((name for name in by_hand["fields"] if name not in ("content", "tool_calls")), "")
        ours = response_artifact(made.template, made.reasoning_key, prompt, events_only=False)
        theirs = response_artifact(by_hand, key, prompt, events_only=False)
        right = [passed(ir, artifact, renderer) for artifact in (ours, stripped(theirs))]
    shared = right[0].keys() & right[1].keys()
    return len(shared), {title: (right[0][title], right[1][title]) for title in sorted(shared)}


def stripped(artifact: Artifact) -> Artifact:
    """Return the message without outer white space in content and reasoning, and without empty texts."""

    def parse(text: str, **options: Any) -> Mapping[str, Any]:
        message = dict(artifact.parse(text, **options))
        content, reasoning = ((message.get(key) or "").strip() for key in ("content", "reasoning_content"))
        empty = None if reasoning or message["tool_calls"] else ""
        return {**message, "content": content or empty, "reasoning_content": reasoning or None}

    return Artifact(parse, None)


def passed(ir: Any, artifact: Artifact, renderer: Any) -> dict[str, bool]:
    trial = try_messages(ir, artifact, renderer)
    return {f"{one.case.title} {json.dumps(one.turn)}": one.passed for one in trial.tried}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compare derived response templates with those written by hand.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="print what theirs reads rightly and ours does not")
    options = parser.parse_args(arguments)
    package = options.folder / "trl"
    total = [0, 0, 0, 0]
    for name, template, by_hand in written_by_hand(package / "chat_template_utils.py"):
        try:
            count, right = read_right(package / "chat_templates" / f"{name}.jinja", by_hand)
        except TplcError as error:
            print(f"{name}: {error}")
            continue
        ours, theirs = (sum(both[side] for both in right.values()) for side in (0, 1))
        worse = [title for title, both in right.items() if both == (False, True)]
        print(f"{name} ({template}): {count} messages, ours right {ours}, theirs {theirs}, theirs alone {len(worse)}")
        for title in worse if options.show else ():
            print(f"    {title[:300]}")
        total = [total[0] + count, total[1] + ours, total[2] + theirs, total[3] + len(worse)]
    print("all: {} messages, ours right {}, theirs {}, theirs alone {}".format(*total))
    return 0 if total[0] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
