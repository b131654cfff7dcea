"""Plug-ins of collected templates inside the servers, against our own parser: `make servers-wild`.

    python -m tests.servers.wild [FOLDER …] [--only WORD] [--every N] [--most N]

Prints, for each template, how many messages were read otherwise by which server; the exit code says whether any was.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.conftest import SHARED
from tests.servers import test_sglang as sglang
from tests.servers import test_vllm as vllm
from tests.servers.answers import CUTS, Answer, Read, answers_of_template
from tests.servers.plugins import plugin_module
from tplc.errors import TplcError
from tplc.targets.plugins import NothingToParse

Reading = tuple[str, Callable[[], Read], Read]


def readings(name: str, answer: Answer) -> Iterator[Reading]:
    """Yield how a server reads an answer, and what it should read."""
    parser = plugin_module(name, "vllm")
    ours, sent = (answer.wanted(parser, stream=stream) for stream in (False, True))
    yield "vLLM whole", partial(vllm.whole, name, answer, check_ids=ours == answer.ours), vllm.blank_is_none(ours)
    yield "SGLang whole", partial(sglang.whole, name, answer), ours
    for size in CUTS:
        yield "vLLM streamed", partial(vllm.streamed, name, answer, size), sent
        yield "SGLang streamed", partial(sglang.streamed, name, answer, size), sent


def check(path: Path, most: int) -> bool:
    """Return whether all answers are read correctly; print the differences."""
    name = path.stem.replace(".", "_")
    try:
        found = answers_of_template(name, path.read_text(encoding="utf-8"))
        chosen = random.Random(0).sample(found, min(most, len(found)))
        wrong: Counter[str] = Counter()
        for answer in chosen:
            for label, read, wanted in readings(name, answer):
                if (got := read()) != wanted:
                    if not wrong[label]:
                        print(f"    {label}: {answer}\n      expected {wanted}\n      got      {got}")
                    wrong[label] += 1
    except NothingToParse:
        print(f"{name}: neither calls nor reasoning")
        return True
    except TplcError as error:
        print(f"{name}: {str(error).splitlines()[0]}")
        return True
    print(f"{name}: {len(chosen)} messages, {dict(wrong) or 'all as our parser'}", flush=True)
    return not wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.wild")
    parser.add_argument("folders", nargs="*", type=Path, default=[SHARED / "templates", SHARED / "more" / "templates"])
    parser.add_argument("--only", default="", help="templates with this in their name")
    parser.add_argument("--every", type=int, default=1, help="every N-th template")
    parser.add_argument("--most", type=int, default=60, help="messages of each template, chosen by chance")
    options = parser.parse_args(arguments)
    paths = sorted(path for folder in options.folders for path in folder.glob("*.jinja") if options.only in path.name)
    results = [check(path, options.most) for path in paths[:: options.every]]
    print(f"{sum(results)} of {len(results)} templates without a difference")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
