"""What may follow a value that no marker of its own ends, as a pattern: the next pair, or the end of the call.

f(a=1, b=2)  →  ", b=" of a further pair, or ")" and then what comes after a call
"""

from __future__ import annotations

import re

from tplc.backends.peg.patterns import END, either, exact, group
from tplc.ir.markers import is_distinctive, pieces_of
from tplc.ir.nodes import Layout, PairArguments, Slot, Text, Tools

SPACE = r"\s{0,16}"
INDENTED = re.compile(r"\n[^\S\n]+\Z")
KEY_SHAPE = r"[^\s=:,(){}\[\]]{1,64}"


def following(
    tools: Tools, pairs: PairArguments, turn_ends: tuple[str, ...], *, space: str = SPACE, keys: tuple[str, ...] = ()
) -> str:
    """The pattern begins with `space`: the white space that is not the value's.  `keys`: all that there are."""
    closer = pairs.end + closing_text(tools)
    first, *rest = map(exact, pieces_of(closer) or [""])
    end = first + "".join(f"(?:{SPACE}{piece})?" for piece in rest)
    after = [exact(text.strip()) for text in (tools.section_end, *turn_ends) if text.strip()]
    start = _next_call(tools)
    after += [start] if start else []
    choices = [_next_pair(tools, pairs, group(either([exact(key) for key in keys])) or KEY_SHAPE)]
    choices += [rf"{end}{SPACE}(?:{either([*after, END])})"] if end else after
    # A closer like nothing in a value may have anything after it.
    choices += [SPACE.join([first, *rest])] if is_distinctive(closer) else []
    return rf"{space}(?:{either([*choices, END])})"


def following_space(tools: Tools, pairs: PairArguments, turn_ends: tuple[str, ...], keys: tuple[str, ...] = ()) -> str:
    """The same where white space alone ends a value: as much as the template writes, no more.

    What ends the turn may follow at once, also with the call's closer before it.
    """
    lead = lead_of(pairs)
    space = r"\n[^\S\n]{0,16}" if "\n" in lead else exact(lead[0])
    closer = pairs.end + closing_text(tools)
    ends = either([*(exact(text.strip()) for text in turn_ends if is_distinctive(text)), END])
    at_once = [f"{exact(closer.strip())}{SPACE}(?:{ends})"] if is_distinctive(closer) else []
    return either([following(tools, pairs, turn_ends, space=space, keys=keys), *at_once, ends])


def lead_of(pairs: PairArguments) -> str:
    """The white space that alone stands between a value and the next pair; "" where there is more."""
    before = pairs.separator + _text_of(pairs.pair[: pairs.pair.index(Slot("key"))])
    return "" if pairs.separator.strip() else before[: len(before) - len(before.lstrip())]


def closing_text(tools: Tools) -> str:
    """The texts after the arguments; what stands before a slot there comes last."""
    after = tools.call[tools.call.index(Slot("arguments")) + 1 :]
    texts = [item.text for item in after if isinstance(item, Text)]
    slots = any(isinstance(item, Slot) for item in after)
    if slots and isinstance(after[0], Text):
        texts = [*texts[1:], texts[0]]
    return "".join(texts)


def _next_pair(tools: Tools, pairs: PairArguments, key: str) -> str:
    at = pairs.pair.index(Slot("key"))
    before, after = _text_of(pairs.pair[:at]), _text_of(pairs.pair[at + 1 : at + 2])
    if INDENTED.search(pairs.separator + before):
        key = rf"(?<=[^\S\n]){key}"
    parts = [exact(pairs.separator.strip()), exact(before.strip()), key, exact(after.strip())]
    return SPACE.join(part for part in parts if part)


def _next_call(tools: Tools) -> str:
    """A further call, up to what ends its name; "" where nothing shows its beginning."""
    separator, at = exact(tools.separator.strip()), tools.call.index(Slot("name"))
    before, suffix = tools.call[:at], _text_of(tools.call[at + 1 : at + 2]).strip()
    opener = _text_of(before[:1]).strip()
    if suffix and all(isinstance(item, Text) for item in before):
        start = rf"{exact(opener)}{SPACE}{KEY_SHAPE}{SPACE}{exact(suffix)}"
    else:
        start = exact(opener) if is_distinctive(opener) else ""
    return SPACE.join(text for text in (separator, start) if text)


def _text_of(items: Layout) -> str:
    return "".join(item.text for item in items if isinstance(item, Text))
