"""What may follow a value that no marker of its own ends, as a pattern: the next pair, or the end of the call.

f(a=1, b=2)  →  ", b=" of a further pair, or ")" and then what comes after a call
"""

from __future__ import annotations

from tplc.backends.peg.facts import is_distinctive, pieces_of
from tplc.backends.peg.patterns import END, either, exact, group
from tplc.ir.nodes import PairArguments, Slot, Text, Tools

SPACE = r"\s{0,16}"
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
    choices += (
        [rf"{end}{SPACE}(?:{either([*after, END])})"] if end else [f"{SPACE}(?:{either(after)})"] if after else []
    )
    # A closer like nothing in a value may have anything after it.
    choices += [SPACE.join([first, *rest])] if is_distinctive(closer) else []
    return rf"{space}(?:{either([*choices, END])})"


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
    before, after = (
        "".join(item.text for item in items if isinstance(item, Text))
        for items in (pairs.pair[:at], pairs.pair[at + 1 : at + 2])
    )
    parts = [exact(pairs.separator.strip()), exact(before.strip()), key, exact(after.strip())]
    return SPACE.join(part for part in parts if part)


def _next_call(tools: Tools) -> str:
    """A further call, up to what ends its name; "" where nothing shows its beginning."""
    separator, at = exact(tools.separator.strip()), tools.call.index(Slot("name"))
    before, suffix = tools.call[:at], tools.call[at + 1 : at + 2]
    start = ""
    if not any(isinstance(item, Slot) for item in before) and suffix and isinstance(suffix[0], Text):
        first = "".join(item.text.strip() for item in before if isinstance(item, Text))
        if suffix[0].text.strip():
            start = rf"{exact(first)}{SPACE}{KEY_SHAPE}{SPACE}{exact(suffix[0].text.strip())}"
    return f"{separator}{SPACE}{start}" if separator or start else ""
