"""The messages of a round trip: turns of every shape, with every kind of value.

    battery(ir)  →  Case("one call: string with quotes", "lookup it", {"content": None, "tool_calls": [...]}), …

Arguments are objects here; how a template wants to be given them is `conversation.py`'s business.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.ir.markers import could_be_prose, ends_in_text, is_distinctive, is_ordinary, is_word, pieces_of
from tplc.ir.nodes import Json, PairArguments, Reasoning, Slot, TemplateIR, Text
from tplc.messages import Call


@dataclass(frozen=True, slots=True)
class Shape:
    """Which parts a message has."""

    reasoning: bool
    content: bool
    calls: int

    def __str__(self) -> str:
        calls = {0: "", 1: "one call", 2: "two calls", 3: "three calls"}.get(self.calls, f"{self.calls} calls")
        parts = ["reasoning" * self.reasoning, "content" * self.content, calls]
        return " and ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Case:
    """A message to render.  `after_result`: a call and a tool's result precede its turn."""

    title: str
    reasoning: str = ""
    content: str = ""
    calls: tuple[Call, ...] = ()
    after_result: bool = False

    @property
    def shape(self) -> Shape:
        return Shape(bool(self.reasoning), bool(self.content), len(self.calls))

    @property
    def is_plain(self) -> bool:
        """Return whether the case is the one for its shape: with words alone."""
        return self.title in (str(self.shape), _after_result(str(self.shape)))

    @property
    def quotes_marker(self) -> bool:
        """Return whether the case has a text with a marker of the format in it, or a part of one."""
        return "marker" in self.title

    def words(self) -> Iterator[str]:
        """Yield the texts that a render of a plain case must contain."""
        yield from filter(None, (self.reasoning, self.content))
        for call in self.calls:
            yield call.name
            yield from (str(value) for _, value in call.arguments)


CONTENT = "The answer is here."
CODE = "Like this:\n```python\nx = 1\n```"
REASONING = "First I look at the question."
RANDOM = "random message"
OUTER_SPACE = "outer white space"  # how the titles of cases end that have it
KEY = "value"  # of the argument that values of all kinds are tried for
# As long as OpenAI's API allows; a template may write the dash and the dot as other characters.
LONG_NAME = "search-all.documents_of_the_house_and_their_comments_of_one_year"
LONG_KEY = "words_that_documents_or_their_comments_contain_in_whatever_order"
LONG_CONTENT = "All work and no play makes a dull answer. " * 40
LONG_TEXT = "lorem ipsum dolor sit amet " * 60
_LAST_WORD = re.compile(r"[^\W\d]\w*\Z")
_WORD = re.compile(r"(?<![\w-])[A-Za-z_]\w*(?![\w-])")
_MOST_WORDS = 8  # of a format, as keys
SHAPES = tuple(
    Shape(reasoning, content, calls)
    for calls in (0, 1, 2, 3)
    for reasoning in (False, True)
    for content in (False, True)
    if reasoning or content or calls
)

_CONTENTS = (
    ("several paragraphs", "Dear reader,\n\nfirst this:\n\n- one\n- two\n\nthen that."),
    ("non-ASCII text", "Grüße aus Tromsø, 世界 🎉"),
    ("markup and code", "Use <b>bold</b> & \"quotes\" like this:\n```json\n{\"a\": [1, 2]}\n```\nand `x < y`."),
    ("a number", "42"),
    ("brackets", "See [1] (and {2}) or <3>: f(x) = [x]."),
)  # fmt: skip
# What a template may replace: each character alone and twice, unless it is a part of the format's markers.
_PUNCTUATION = tuple(
    "50% 100%% $3 $$4 --a b--c -d *e* **f** g_h __i__ j|k l||m ~n ~~o p@q @@r #1 ##2 `s` ``t`` u! v!! w? x?? y^2 z^^2 "
    "a+1 b++ c/d //e f; ;;g h: ::i j... k,l ,,m 'n' ''o'' 1=1 2==2 é Ï ñ – “p” ‘q’ …".split()
)  # fmt: skip
_REASONINGS = (
    ("several lines", "Hmm.\n\nOne thing,\nthen another <b>thing</b>: {\"a\": 1}."),
    ("non-ASCII text", "Überlegen … 考える 🤔"),
    ("punctuation", "First (a), [b] - {c}; then x > y? \"Yes\", it's *so* & that's 5% of: all."),
)  # fmt: skip
_STRINGS: tuple[tuple[str, str], ...] = (
    ("a word", "Oslo"),
    ("words", "San Francisco, CA (USA)"),
    ("no text", ""),
    ("outer white space", "  both ends  "),
    ("lines", "first\nsecond\n\nfourth"),
    ("a last newline", "print(1)\n"),
    ("double quotes", 'say "hi" to them'),
    ("single quotes", "it's 'fine'"),
    ("both quotes", '"it\'s"'),
    ("backslashes", "C:\\new\\table\\u0041 \\"),
    ("tabs", "a\tb\r\nc"),
    ("markup", '<b class="x">bold</b> & <br/>'),
    ("non-ASCII", "Grüße, 世界 🎉"),
    ("code", "def f(x):\n    return {\"a\": [x, 'b']}\n"),
    ("a number in it", "42"),
    ("a negative exponent in it", "-1.5e3"),
    ("leading zeros in it", "007"),
    ("true in it", "true"),
    ("False in it", "False"),
    ("null in it", "null"),
    ("None in it", "None"),
    ("an object in it", '{"a": 1}'),
    ("a list in it", "[1, 2]"),
    ("separators", "a, b=c: d; e"),
    ("brackets", "}{][)("),
)
_OTHERS: tuple[tuple[str, Json], ...] = (
    ("zero", 0),
    ("an integer", 42),
    ("a negative integer", -7),
    ("a large integer", 12345678901234567890),
    ("a float", 3.5),
    ("a large float", 1e21),
    ("a small float", -1.5e-07),
    ("true", True),
    ("false", False),
    ("null", None),
    ("an empty list", []),
    ("an empty object", {}),
    ("a list of integers", [1, 2, 3]),
    ("a list of strings", ["a", "b c", 'd "e"', "it's"]),
    ("a list of everything", ["x", 1, 2.5, True, None, [], {}]),
    ("nested lists", [[1, [2]], [["three"]]]),
    ("an object of strings", {"city": "Oslo", "note": "line\nbreak"}),
    ("an object of everything", {"s": "x", "i": 1, "f": 2.5, "t": True, "n": None, "l": [], "o": {}}),
    ("nested objects", {"a": {"b": {"c": "deep"}}}),
    ("objects in a list", [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": []}]),
    ("lists in an object", {"names": ["Ana", "Bo"], "counts": [1, 2], "on": [True, False]}),
)


def battery(ir: TemplateIR) -> Iterator[Case]:
    yield from _shapes()
    punctuation = _punctuation(ir)
    for title, text in _CONTENTS:
        yield Case(f"content: {title}", content=text)
    yield Case("content: a long text", content=f"{LONG_CONTENT}{punctuation} The end.")
    for title, text in _reasoning_markers(ir.reasoning, ir.content.end.strip()):
        yield Case(f"content: {title}", content=text)
    yield from _quoted_words(ir)
    yield Case("content before a call: code at its end", content=CODE, calls=(_call("find"),))
    yield from _outer_space()
    for slot in ("content", "reasoning"):
        text = _escapes(ir, slot)
        if text:
            texts = {"content": CONTENT, slot: text}
            title = f"{slot}: characters that are escaped"
            yield Case(title, texts.get("reasoning", ""), texts["content"])
    end = ir.content.end.strip()
    if any(one.slot == "content" and end.startswith(one.char) for one in ir.escapes):
        yield Case(f"content before a call: the marker {end!r} at its end", content=f"So {end}", calls=(_call("find"),))
    for title, text in _REASONINGS:
        yield Case(f"reasoning: {title}", reasoning=text, content=CONTENT)
    for title, text in _STRINGS:
        yield _value_case(f"string: {title}", text)
    long = (("before", "x"), (LONG_KEY, f"{LONG_TEXT}{punctuation} end"), ("after", "y"))
    yield Case("string: a long text, and long names", calls=(Call(LONG_NAME, long),))
    for title, value in _OTHERS:
        yield _value_case(f"value: {title}", value)
    end = _end_of_values(ir)
    for marker in markers(ir):
        if marker == end:
            continue
        yield _value_case(f"string: the marker {marker!r} in it", f"before {marker} after")
    closer = closer_of_values(ir)
    for marker in dict.fromkeys((closer, _closer_of_calls(ir))) if closer and closer != end else ():
        yield _value_case(f"string: the marker {marker!r} alone", marker)
    yield from _names_and_types(ir)
    yield from _words_as_keys(ir)
    yield from _escaped_names(ir)


def _outer_space() -> Iterator[Case]:
    """Yield parts that end with white space, and reasoning that begins with some.  (White space alone next to another
    part is no part, and what templates write before content often depends on the shape of the turn.)"""
    spaced, call = f"{CONTENT} \n", _call("find")
    yield Case(f"content: {OUTER_SPACE}", content=spaced)
    yield Case(f"content before a call: {OUTER_SPACE}", content=spaced, calls=(call,))
    yield Case(f"reasoning: {OUTER_SPACE}", f"\n{spaced}", CONTENT)
    yield Case(f"reasoning before a call: {OUTER_SPACE}", f"\n{spaced}", calls=(call,))


def _names_and_types(ir: TemplateIR) -> Iterator[Case]:
    """Yield calls of names with punctuation, without arguments and with those of every type."""
    # Tool servers put punctuation into names; a template may have a form of its own for such a name.
    named = (_call("files.first"), Call("files-second", ()), _call("files/third"))
    yield Case("no arguments between others", calls=named)
    yield Case("names with punctuation after content", content=CONTENT, calls=(Call("files/first", ()), _call("a:b")))
    mixed: tuple[tuple[str, Json], ...] = (
        ("s", "x"),
        ("b", False),
        ("listOf", ["y"]),
        ("by-key", {"k": "v"}),
        ("n", 1),
    )
    # A number, which has no closer, before a call that is only a name.
    after = (Call("files-now", ()), _call("files/at:last")) if ir.tools.parallel else ()
    yield Case("arguments of every type", calls=(Call("files:mixed", mixed), *after))


def _punctuation(ir: TemplateIR) -> str:
    """Return words with punctuation that no marker of the format contains."""
    reserved = {char for marker in markers(ir) for char in marker if not char.isalnum()}
    return " ".join(word for word in _PUNCTUATION if reserved.isdisjoint(word))


def _words_as_keys(ir: TemplateIR) -> Iterator[Case]:
    """Yield calls with arguments that are called as the format's own words: `name` in
    `<call><name>f</name><name>x</name></call>`.

    Where only white space ends a key, no argument may be called as what opens calls: docs/limits.md states it.
    """
    tools, pairs = ir.tools, ir.tools.arguments
    if not isinstance(pairs, PairArguments):
        return
    after_key = pairs.pair[pairs.pair.index(Slot("key")) + 1 :][:1]
    is_blank = not any(isinstance(item, Text) and item.text.strip() for item in after_key)
    call = () if is_blank else (Text(tools.section_start), *tools.call)
    texts = [item.text for item in (*call, *pairs.pair, Text(pairs.separator)) if isinstance(item, Text)]
    words = list(dict.fromkeys(_WORD.findall(" ".join(texts))))[:_MOST_WORDS]
    for title, keys in (("", words), (", in reverse", words[::-1])):
        if len(keys) > bool(title):
            arguments = tuple((key, "x") for key in keys)
            yield Case(f"arguments called {', '.join(keys)}{title}", calls=(Call("find", arguments),))
    # A key may begin with the word that a name or a number is written to.
    before = [first.text for first, _ in pairwise(call) if isinstance(first, Text) and is_ordinary(first.text)]
    for word in dict.fromkeys(match.group() for text in before if (match := _LAST_WORD.search(text))):
        longer = tuple((word + rest, "x") for rest in ("ing", "_"))
        yield Case(f"arguments called {word}ing, {word}_", calls=(Call("find", longer),))


def _escaped_names(ir: TemplateIR) -> Iterator[Case]:
    """Yield a call whose name and key contain the characters that are escaped there, apart from the one character that
    ends them: docs/limits.md states it."""
    ends = _characters_after_names(ir)
    found = dict.fromkeys(one.char for one in ir.tools.replaced if one.slot in ("name", "key"))
    chars = "".join(char for char in found if char not in ends)
    if chars:
        call = Call(f"look{chars}up", ((f"a{chars}b", "x"),))
        yield Case(f"the characters {chars} in a name and a key", calls=(call,))


def _characters_after_names(ir: TemplateIR) -> set[str]:
    """Return the texts of one character, apart from white space, that the template writes after a name or a key."""
    pairs = ir.tools.arguments
    layouts = [ir.tools.call, *([pairs.pair] if isinstance(pairs, PairArguments) else [])]
    after = [after for layout in layouts for slot, after in pairwise(layout) if slot in (Slot("name"), Slot("key"))]
    return {item.text.strip() for item in after if isinstance(item, Text) and len(item.text.strip()) == 1}


def _escapes(ir: TemplateIR, slot: str) -> str:
    """Return a text with each character that is escaped there, and after it with the texts that stand for them."""
    escapes = [one for one in ir.escapes if one.slot == slot]
    chars = "".join(f"a{one.char}b" for one in escapes)
    return f"{chars} and {''.join(f'a{one.text}b' for one in escapes)}." if escapes else ""


def _reasoning_markers(reasoning: Reasoning, end_of_content: str) -> Iterator[tuple[str, str]]:
    """Yield content with the markers of reasoning in it, if they are punctuation that prose and code use as well, and
    don't end content."""
    if reasoning.mode == "delimiter":
        return
    start, end = (text.strip() if could_be_prose(text) else "" for text in (reasoning.start, reasoning.end))
    if reasoning.after_content and start:
        yield f"reasoning between {start!r} and {reasoning.end.strip()!r} in it", f"x {reasoning.start}2{reasoning.end}"
        return
    for marker in dict.fromkeys((start, end)):
        if marker not in ("", end_of_content):
            yield f"the marker {marker!r} in it", f"x {marker} 2"


def _quoted_words(ir: TemplateIR) -> Iterator[Case]:
    """Yield reasoning and content that quote a marker inside a line, if the marker is what people also write."""
    call = next((item.text for item in ir.tools.call if isinstance(item, Text)), "")
    openers = [text for text in (ir.tools.section_start, call) if is_ordinary(text)]
    texts = [ir.reasoning.start, ir.reasoning.end, ir.content.start, ir.content.end, *openers]
    texts += [*(form.text for form in ir.forms), *ir.turn.ends, ir.turn.header]
    ends = {end.strip() for end in ir.turn.ends}
    for marker in dict.fromkeys(line.strip() for text in texts for line in text.splitlines()):
        if is_word(marker) or (ends_in_text(marker) and marker in ends):
            quoted, title = f"I could write {marker} here", f"the words {marker!r} in a line"
            yield Case(f"content: {title}", content=quoted)
            yield Case(f"reasoning: {title}", reasoning=quoted, content=CONTENT)
            yield Case(f"content before a call: {title}", content=quoted, calls=(_call("find"),))


def cut_values(ir: TemplateIR) -> Iterator[tuple[str, Case]]:
    """Yield the marker that alone ends values, and calls with a value that contains it: it is cut there."""
    end = _end_of_values(ir)
    if end:
        yield end, _value_case(f"string: the marker {end!r} in it", f"before {end} after")
        yield end, _value_case(f"string: the marker {end!r} alone", end)


def after_results() -> Iterator[Case]:
    """Turns of the shapes that may follow a tool's result."""
    for case in _shapes():
        if len(case.calls) < 2:
            yield replace(case, title=_after_result(case.title), after_result=True)


def _after_result(title: str) -> str:
    return f"{title} after a tool's result"


def _shapes() -> Iterator[Case]:
    for shape in SHAPES:
        yield Case(
            str(shape),
            REASONING if shape.reasoning else "",
            CONTENT if shape.content else "",
            tuple(_call(f"call_{index}") for index in range(shape.calls)),
        )
    yield Case("no arguments", calls=(Call("now", ()),))


def _call(name: str) -> Call:
    # Text alone: some templates refuse everything else, and values of other types have cases of their own.
    return Call(name, (("city", "Oslo"), ("unit", "degrees")))


def _value_case(title: str, value: Json) -> Case:
    # A capital letter shows whether names are rendered as they are.
    return Case(title, calls=(Call("storeIt", (("before", "x"), (KEY, value), ("after", "y"))),))


def markers(ir: TemplateIR) -> tuple[str, ...]:
    """Return the texts with a meaning in this format, without outer white space."""
    call = [item.text for item in ir.tools.call if isinstance(item, Text)]
    tools = ir.tools
    texts = [ir.reasoning.start, ir.reasoning.end, tools.section_start, tools.section_end, *call, *ir.turn.ends]
    texts.append(closer_of_values(ir))
    return tuple(sorted({text.strip() for text in texts if text.strip()}))


def closer_of_values(ir: TemplateIR) -> str:
    """Return the text after a raw value of the messages here; "" if values are delimited otherwise, or hold markup."""
    pairs, dialect = ir.tools.arguments, ir.tools.dialect
    if not isinstance(pairs, PairArguments) or dialect is None or dialect.top.strings or dialect.elements:
        return ""
    after = pairs.pair[pairs.pair.index(Slot("value")) + 1 :]
    return "".join(item.text if isinstance(item, Text) else KEY for item in after).strip()


def _closer_of_calls(ir: TemplateIR) -> str:
    """Return the text after all arguments; that after a raw value if there is none."""
    pairs, call = ir.tools.arguments, ir.tools.call
    after = [item.text for item in call[call.index(Slot("arguments")) + 1 :] if isinstance(item, Text)]
    ends = [pairs.end if isinstance(pairs, PairArguments) else "", *after, closer_of_values(ir)]
    return next(text.strip() for text in ends if text.strip())


def _end_of_values(ir: TemplateIR) -> str:
    """Return the marker that ends a raw value where nothing but the call's own closer does: no value can contain it."""
    pairs, dialect = ir.tools.arguments, ir.tools.dialect
    if not isinstance(pairs, PairArguments) or dialect is None or dialect.top.strings:
        return ""
    pair, call = pairs.pair, ir.tools.call
    after = (*pair[pair.index(Slot("value")) + 1 :], Text(pairs.end), *call[call.index(Slot("arguments")) + 1 :])
    texts = (item.text.strip() if isinstance(item, Text) else item.kind for item in after)
    end = next(filter(None, texts), "")
    return end if is_distinctive(end) and len(pieces_of(end)) == 1 else ""


def random_cases(seed: int, count: int, shapes: Sequence[Shape]) -> Iterator[Case]:
    rng = random.Random(seed)
    for number in range(count):
        shape = rng.choice(shapes)
        yield Case(
            f"{RANDOM} {number}",
            _sentence(rng) if shape.reasoning else "",
            _sentence(rng) if shape.content else "",
            tuple(_random_call(rng, index) for index in range(shape.calls)),
        )


_WORDS = (
    "rain",
    "Tromsø",
    "42",
    "it's",
    '"so"',
    "a<b",
    "x & y",
    "{k}",
    "[1]",
    "end.",
    "true",
    "\\n",
    "名前",
    "a=b",
    "—",
)


def _sentence(rng: random.Random) -> str:
    # Sentences start and end with a letter: outer white space and lone punctuation have cases of their own.
    middle = rng.choices(_WORDS, k=rng.randint(1, 6))
    return "So " + rng.choice((" ", " ", "\n", "\n\n")).join(middle) + " then"


def _random_call(rng: random.Random, index: int) -> Call:
    keys = rng.sample(("city", "days", "note", "flag", "items", "options"), rng.randint(0, 4))
    return Call(f"tool_{index}", tuple((key, _random_value(rng, 2)) for key in keys))


def _random_value(rng: random.Random, depth: int) -> Json:
    kinds = ["string", "string", "integer", "number", "boolean", "null"] + ["array", "object"] * (depth > 0)
    kind = rng.choice(kinds)
    if kind == "string":
        return _sentence(rng)
    if kind == "integer":
        return rng.randint(-1000, 1000)
    if kind == "number":
        return rng.randint(-1000, 1000) + 0.5
    if kind == "array":
        return [_random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if kind == "object":
        return {key: _random_value(rng, depth - 1) for key in rng.sample(("a", "b", "c"), rng.randint(0, 3))}
    return rng.choice((True, False)) if kind == "boolean" else None


def id_of(ir: TemplateIR, call: Call, index: int) -> str:
    """Return the call's own id, or one in the shape that the template requires; nine alphanumerics if it requires
    none."""
    if call.id is not None:
        return call.id
    layout = ir.tools.call_id.layout
    if layout and Slot("id") not in layout:
        slots = {"name": call.name, "index": str(ir.tools.index_base + index)}
        return "".join(item.text if isinstance(item, Text) else slots[item.kind] for item in layout)
    size = re.search(r"\{(\d+)\}\Z", ir.tools.call_id.pattern or "{9}")
    length = int(size.group(1)) if size else 9
    return f"callid{index:03}".ljust(length, "x")[-length:]
