"""Check with plain Jinja that every excused message has the same render as the message it was read as: `make excused`.

    python -m tests.excused [--only WORD] [--every N]

Verification excuses a message that came back as another one if the template renders both alike.  Each such pair is
rendered again here, with the environment of `tests.independent` instead of the project's renderer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import SHARED
from tests.independent import FOLDERS, TOKENS, environment
from tplc.driver import artifact_of, learn_format, open_renderer, tolerate
from tplc.errors import TplcError
from tplc.verify import Pair, try_messages


@dataclass(frozen=True, slots=True)
class Checked:
    """The pairs of a template, and those that plain Jinja does not render alike."""

    name: str
    pairs: int
    different: tuple[str, ...]


def check_pairs(source: str, name: str) -> Checked:
    """Raises TplcError for a template that cannot be learned."""
    with open_renderer(source, name=name, special_tokens=TOKENS) as renderer:
        ir = tolerate(learn_format(renderer, name=name, source_text=source, special_tokens=TOKENS))
        pairs = try_messages(ir, artifact_of(ir), renderer).pairs
    return Checked(name, len(pairs), tuple(_shown(pair) for pair in pairs if not _is_one_render(source, pair)))


def _is_one_render(source: str, pair: Pair) -> bool:
    template = environment().from_string(source)

    def render(messages: Sequence[Mapping[str, Any]]) -> str:
        given = json.loads(json.dumps([messages, pair.tools, dict(pair.context)]))
        return template.render(messages=given[0], tools=given[1], add_generation_prompt=False, **TOKENS, **given[2])

    first, second = render(pair.conversation), render(pair.other)
    return first == second and pair.excused.render in first


def _shown(pair: Pair) -> str:
    return f"{pair.excused.title}: {json.dumps([pair.excused.message, pair.excused.other], ensure_ascii=False)}"


def templates(only: str = "", every: int = 1) -> list[Path]:
    found = sorted(path for folder in FOLDERS if folder.is_dir() for path in folder.glob("*.jinja"))
    return [path for path in found if only in path.name][::every]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Render the messages that verification excuses with plain Jinja.")
    parser.add_argument("--only", default="", help="templates whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="one template of so many")
    options = parser.parse_args(arguments)
    if not SHARED.is_dir():
        print(f"no folder {SHARED.name} next to the project: nothing to check", file=sys.stderr)
        return 2
    pairs = different = 0
    for path in templates(options.only, options.every):
        try:
            checked = check_pairs(path.read_bytes().decode("utf-8"), path.stem)
        except TplcError as error:
            print(f"{path.stem}: not learned: {str(error).splitlines()[0]}")
            continue
        pairs, different = pairs + checked.pairs, different + len(checked.different)
        if checked.pairs:
            print(f"{path.stem}: {checked.pairs} excused, {len(checked.different)} of them not of one render")
        for shown in checked.different:
            print(f"    {shown[:400]}")
    print(f"{pairs} excused messages, {different} of them not of one render")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
