"""Find text in a message that is like a marker of the format, so that the model may have meant one."""

from __future__ import annotations

from .pattern import Pattern
from .schema import properties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .message import Message
    from .schema import Parameters

LIKE_A_MARKER = " is like a marker, but remains in the message"
SHAPES = r"\u25a0-\u25ff\u2768-\u2775\u27e6-\u27ef\u2983-\u2998"  # geometric ones, and brackets outside of prose
TAG = rf"[<＜{SHAPES}][/|｜]?[\w:.=|｜▁/-]{{1,64}}(?:\s[\w:-]{{1,64}}=[\"'\w-]{{1,64}})?[>＞{SHAPES}]"
# What is no sentence next to a call: a tag, a word in lower case or in brackets, None, punctuation, open Markdown.
PUNCTUATION = r"(?:\d{1,2}[.)]|[!-/:-@\[-`{-~]{1,8})\s*\Z"
MARKDOWN = r"(?:\n\s*[>*•-]|\A[^*]*\*{2,4}|\A[^`]*`{1,2})\s*\Z"
WORD = r"(?:[a-z_]{4,32}:?|None|[|<\[]{0,2}[a-z_]{3,32}[|>\]]{1,2}\w{0,32})\s*\Z"
NEXT_TO_A_CALL = Pattern(rf"\A\s*(?:{TAG}(?![^\S\n]\S)|{WORD}|{PUNCTUATION})|{MARKDOWN}|{TAG}\s*\Z")
INVISIBLE = Pattern(r"\A\s*[\u200b-\u200d\u2060\ufeff]|[\u200b-\u200d\u2060\ufeff]\s*\Z|\\u003[cC][/|]?\w")
OPENED, CLOSED = Pattern(r"<(\w{1,64})"), Pattern(r"</(\w{1,64})>")  # tags
KEY_AFTER_NAME = Pattern(r"""(?<![\w-])([\w-]{1,64})(?:\\?["']?\s?[=:>]|["']\s)""")
SENTENCE_END = Pattern(r"[.!?]\s|\n\s*\n")
OBJECT_AFTER_NAME = Pattern(r"""["'],\s{0,16}["']\w{1,64}["']:\s{0,16}\{""")
LONGEST_GAP = 96  # between the name of a tool and the end of its first key


def marker_like(message: Message, patterns: Sequence[Pattern]) -> str:
    """Return the first text that is like a marker; "" if there is none.  `patterns`: such a text anywhere, a bracket at
    the edge of a text next to a marker, either of them in arguments, and what is at the edge of content alone."""
    content, reasoning, calls = message["content"] or "", message["reasoning_content"] or "", message["tool_calls"]
    searched = [(one, reasoning) for one in (patterns[0], INVISIBLE)]
    searched += [(one, content) for one in (INVISIBLE, patterns[0], *patterns[3:], *[NEXT_TO_A_CALL] * bool(calls))]
    if reasoning or calls:
        searched += [(patterns[1], reasoning), (patterns[1], content)]
        if content.strip(" \n<>/\\|[](){}") in [call["function"]["name"] for call in calls]:
            return content.strip()  # what is left of a closer that repeats the name
    searched += [(patterns[2], call["function"]["arguments"]) for call in calls]
    if reasoning and not (content or calls):  # it may have another closer
        lone: set[str] = {*CLOSED.findall(reasoning)}.difference(OPENED.findall(reasoning))
        if lone:
            return f"</{min(lone)}>"
    found = next(filter(None, (pattern.search(text) for pattern, text in searched)), None)
    return "" if found is None else str(found[0]).strip()


def call_like(text: str, tools: Parameters) -> str:
    """Return the tool that a text calls: one of its keys, or an object if it has none, follows its name; or ""."""
    for name in [tool for tool in tools if tool and tool in text]:
        keys, at = set(properties_of(tools[name])), text.find(name)
        while at >= 0:
            end = at + len(name)
            before = text[at - 1 : at] * (name.isalnum() or text[at - 1 : at] == "_")  # several words can only be it
            around = (before + text[end : end + 1]).replace("_", "a")
            if not any(map(str.isalnum, around)):
                after = str(SENTENCE_END.split(text[end : end + LONGEST_GAP].lstrip(":*` \n"), 1)[0])
                if keys & {*KEY_AFTER_NAME.findall(after)} if keys else OBJECT_AFTER_NAME.match(after):
                    return str(name)
            at = text.find(name, end)
    return ""
