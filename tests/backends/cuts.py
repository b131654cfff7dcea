"""Cut rendered calls at every place inside of them; count the cuts, and those that are read as whole calls.

    tally_of(form)  →  Cuts(tried=512, wrong=[])

`python -m tests.backends.cuts` (`make cuts`) takes the examples and the collected templates, where they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.formats import Format, formats
from tests.peg.agreement import collected_formats, written
from tplc.ir.nodes import Text
from tplc.lower import CallForm, lower

LEAST = 3  # fewer characters of an opener, or a word, may as well be text
MOST = 6  # turns of a format


@dataclass(slots=True)
class Cuts:
    tried: int = 0
    wrong: list[str] = field(default_factory=list)


def tally_of(form: Format) -> Cuts:
    calls, found = lower(form.ir).calls, Cuts()
    for text, tools, head, cuts in rendered_calls(form, calls) if calls is not None else ():
        before = (form.parser.parse(head, tools=tools)["content"] or "").rstrip()
        whole = form.parser.parse(text, tools=tools)["tool_calls"]
        for cut in cuts:
            stream = form.parser.StreamParser(tools=tools)
            stream.feed(text[:cut])
            stream.finish()
            content = (stream.message["content"] or "").rstrip()
            # One call a turn: its closer may be what ends the turn, which servers cut off.
            so_far = stream.message["tool_calls"]
            if (calls.closing.ends_turn and is_read(text[:cut], so_far, whole)) or not goes_on(form, calls, text[:cut]):
                continue
            found.tried += 1
            if not stream.incomplete:
                found.wrong.append(f"{text[:cut]!r} passes for whole: {stream.message}")
            if calls.opening.where == "anywhere" and content != before:
                found.wrong.append(f"{text[:cut]!r} gives content {content!r}")
    return found


def is_read(text: str, calls: list[dict[str, Any]], whole: list[dict[str, Any]]) -> bool:
    """Return whether everything but the last call's closer has arrived."""
    ended = bool(calls) and text.rstrip().endswith(calls[-1]["function"]["arguments"])
    return calls == whole or (ended and calls == whole[: len(calls)])


def rendered_calls(form: Format, calls: CallForm) -> Iterator[tuple[str, Any, str, range]]:
    """Yield turns that end with calls, their tools, and the cuts from the first opener to before the last closer."""
    own = [item.text.strip() for item in form.ir.tools.call if isinstance(item, Text) and item.text.strip()]
    found = 0
    for text, tools in written(form.ir):
        body = text.rstrip()
        for end in (*form.ir.turn.ends, form.ir.tools.section_end, form.ir.tools.section_end):
            body = body.removesuffix(end.strip()).rstrip() if end.strip() else body
        starts = [(at, opener.strip()) for opener in calls.opening.openers if (at := text.find(opener.strip())) >= 0]
        if own and starts and body.endswith(own[-1]) and found < MOST and form.parser.parse(text)["tool_calls"]:
            found += 1
            start, opener = min(starts)
            first = start + max(LEAST, len(re.match(r"[\w\s]*", opener)[0]) + 1)  # type: ignore[index]
            closer = own[-1].split()[-1]
            last = len(body) - len(closer)
            if re.fullmatch(r"[\w\s]*", opener):
                # Nor does what comes between calls say that another one comes.
                first = certain(form, text, tools, start)
                last = text.index(closer, first)
            yield text, tools, text[:start], range(first, last + 1)


def certain(form: Format, text: str, tools: Any, start: int) -> int:
    """Return the place from which the text is certainly a call: an ordinary word may open something else, so there it
    is the place where the name has been read."""
    stream = form.parser.StreamParser(tools=tools)
    stream.feed(text[:start])
    for at in range(start, len(text)):
        stream.feed(text[at])
        if stream.message["tool_calls"]:
            return at + 1
    return len(text)


def goes_on(form: Format, calls: CallForm, text: str) -> bool:
    """Return whether a cut here is inside a call and not between two; at an opener's first characters it may be
    either."""
    closer = next(item.text.split()[-1] for item in reversed(form.ir.tools.call) if isinstance(item, Text))
    rest = text[text.rindex(closer) + len(closer) :].strip() if closer in text else "in the first"
    return len(rest) >= LEAST or rest in {piece.strip() for piece in calls.closing.separators}


def main() -> int:
    every = [*formats(), *collected_formats()]
    tallies = [(form, tally_of(form)) for form in every]
    tried = sum(tally.tried for _, tally in tallies)
    wrong = [f"{form.name}: {line}" for form, tally in tallies for line in tally.wrong]
    cut = sum(1 for _, tally in tallies if tally.tried)
    print(f"{len(every)} formats, {cut} with calls that are cut here: {tried:,} cuts, {len(wrong):,} read as whole")
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
