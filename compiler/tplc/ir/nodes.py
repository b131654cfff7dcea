"""The nodes of the IR: everything a backend needs to know about a template's format.

A turn is what the assistant writes, after the header that the prompt ends with:

    <turn>assistant | <reason>R</reason> C <calls> <call>{"name": N, "arguments": A}</call> </calls> </turn>
    header            reasoning      content  section ..call.. section end                      turn end

A `Layout` is a sequence of literal text and slots.  The white space a template writes belongs to the literal text, so
the concatenation of a layout is exactly what the template renders (`ir/write.py` does that).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Union

IR_VERSION = 2

Json = Union[None, bool, int, float, str, "list[Json]", "dict[str, Json]"]

SlotKind = Literal["name", "id", "index", "count", "arguments", "key", "type", "value"]
ReasoningMode = Literal["none", "tag_based", "delimiter", "forced_open", "forced_closed", "tools_only"]
ContentMode = Literal["plain", "always_wrapped", "wrapped_with_reasoning"]
ToolFormat = Literal["none", "json_native", "tag_with_json", "tag_with_tagged", "keyword_arguments"]
IdPosition = Literal["none", "pre_func_name", "between_func_and_args", "post_args"]
ContentPlace = Literal["before", "after", "none"]
Escape = Literal["json", "python", "none"]
CapturedBy = Literal["variable", "token", "position", "calls"]
Part = Literal["reasoning", "content", "calls"]
FormMarker = Literal[
    "reasoning.start",
    "reasoning.end",
    "content.start",
    "content.end",
    "tools.section_start",
    "tools.section_end",
    "turn.end",
]
JsonType = Literal["string", "integer", "number", "boolean", "null", "array", "object"]


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text that the template writes."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place where a value goes."""

    kind: SlotKind


Layout = tuple[Text | Slot, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the format was learned.  `name` is a base name, never a path."""

    name: str
    sha256: str
    size: int
    tplc_version: str
    special_tokens: tuple[tuple[str, str], ...] = ()
    examples_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the template was seen to do with a conversation, apart from what the format itself says: whether it has
    reasoning and calls, and several of them."""

    tools: bool = False
    system_role: bool = False
    object_arguments: bool = False
    string_arguments: bool = False
    null_content: bool = False
    list_content: bool = False
    needs_tool_result: bool = False
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationPrompt:
    """One prompt the model continues, and the context (variables of the template) that gives it.  The default's context
    has only the variables without which nothing renders.

    `text` is all that the template appends; it ends with `turn.header + head`.  `head` is the part of the turn that is
    already written, and it is parsed as if the model had written it: an opened or closed reasoning block, ….
    """

    context: tuple[tuple[str, Json], ...]
    text: str
    head: str


@dataclass(frozen=True, slots=True)
class Turn:
    """`header` opens every assistant turn (and may be repeated between the parts of one turn).

    `anchors` are the texts after which an assistant turn starts in a prompt: the header where there is one, else what
    closes the message before it.  Only what a generation prompt is known to write after one is the head of the turn;
    where an answer is continued, the turn starts at the last anchor of the prompt.
    `ends` are the texts that end a turn, the most usual first; their cores (without outer white space) are the stop
    strings.  `prompts[0]` is the default generation prompt.
    `other_heads` are heads that a generation prompt has only after a tool's result, or only if tools are given.
    """

    header: str
    anchors: tuple[str, ...]
    prompts: tuple[GenerationPrompt, ...]
    ends: tuple[str, ...]
    other_heads: tuple[str, ...] = ()

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the parts of a turn that prompts may contain, the default first."""
        return tuple(dict.fromkeys([*(prompt.head for prompt in self.prompts), *self.other_heads]))


@dataclass(frozen=True, slots=True)
class Reasoning:
    """`start` and `end` around the reasoning text.

    tag_based      start text end, written by the model when it reasons
    delimiter      the model writes text and `end`; `start` is "" (no render or prompt shows one)
    forced_open    the default generation prompt contains `start`, the model continues with text and `end`
    forced_closed  the default generation prompt contains `end`; another context opens it, or the model may
    tools_only     tag_based, shown only on turns with calls

    `key` is how a message carries it for this template: a message key (`reasoning_content`), or `content:KIND` for a
    content part {"type": KIND, KIND: text}; "" when no message carries it (it shows only in prompts or is stripped).
    `after_content`: a message with both is written with its reasoning after the content.
    """

    mode: ReasoningMode = "none"
    start: str = ""
    end: str = ""
    key: str = ""
    after_content: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """`start` and `end` are "" for plain content, or the white space around it.

    `with_calls`: where the render of one message with calls has its content; "none" when the template drops it.
    """

    mode: ContentMode = "plain"
    start: str = ""
    end: str = ""
    with_calls: ContentPlace = "none"


@dataclass(frozen=True, slots=True)
class StringStyle:
    """How text is quoted.  `escape`: "json" (\\n, \\", \\uXXXX), "python" (repr), "none" (nothing is escaped).

    `ascii`: characters beyond ASCII are written as escapes.
    """

    open: str
    close: str
    escape: Escape
    ascii: bool = False


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """How one JSON value is written.  JSON itself is `JSON_STYLE`; Python literals are another point in this space.

    `strings` are the quotings in use, the usual one first; empty: strings are written raw.  `true`, `false`, `null`
    are words.  `null` None: a pair whose value is null is left out.  `colon`, `list_separator` and
    `object_separator` hold their white space.
    """

    strings: tuple[StringStyle, ...]
    true: str
    false: str
    null: str | None
    list_open: str
    list_separator: str
    list_close: str
    object_open: str
    key_open: str
    key_close: str
    colon: str
    object_separator: str
    object_close: str


@dataclass(frozen=True, slots=True)
class Elements:
    """Nested values written as elements: an object is its pairs in the pair layout of the arguments, a list is its
    items, each between `item_open` and `item_close`."""

    item_open: str
    item_close: str


@dataclass(frozen=True, slots=True)
class TypeWord:
    """The word that the `type` slot of a pair holds for values of one JSON type.

    With a `close`, the two stand directly around the value: `<str>` and `</str>`.  Values of other types may stand bare
    then: their word and their close are "".  If the `type` slot is directly before the key, they surround the pair.
    """

    type: JsonType
    word: str
    close: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How argument values are written.

    `top` is the style of a whole argument value in pair arguments; what is inside a top-level list is written in
    `in_list`, inside a top-level object in `in_object`.  Object arguments as a whole are written in `in_object` (and
    `top` equals it).  `wrap` quotes a raw string that could not be bare (as CDATA does).  `indent` is the number
    of spaces a level, for pretty-printed values; None for one line.
    """

    top: ValueStyle
    in_list: ValueStyle
    in_object: ValueStyle
    elements: Elements | None = None
    wrap: StringStyle | None = None
    types: tuple[TypeWord, ...] = ()
    indent: int | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """Objects and lists written as indented lines, as in YAML: `key:` or `-`, and then a scalar of the dialect or the
    lines of a deeper level.  Empty objects and lists are scalars.

    `first` is the number of spaces before the outermost keys, `indent` the number of further spaces a level.
    """

    first: int
    indent: int


@dataclass(frozen=True, slots=True)
class ObjectArguments:
    """The arguments are one value of the dialect, an object: {"city": "Paris"}, {city:~Paris~}.

    `encoded`: what is written is a JSON string that contains it: "{\\"city\\": \\"Paris\\"}".
    `lines`: its members, and those of values inside it, are on lines of their own.
    """

    encoded: bool = False
    lines: Lines | None = None


def type_opens(pair: Layout) -> bool:
    """Return whether the text of a value's type is directly before the key of its pair."""
    return (Slot("type"), Slot("key")) in pairwise(pair)


@dataclass(frozen=True, slots=True)
class PairArguments:
    """The arguments are pairs: start pair (separator pair)* end; `empty` is written when there are none.

    `pair` has the slots key and value once or more, and type where a type word accompanies the value.  A key that
    occurs again after the value is repeated (closing tags).
    """

    start: str
    pair: Layout
    separator: str
    end: str
    empty: str

    @property
    def types_open_pairs(self) -> bool:
        """Return whether the text of the value's type is directly before the key."""
        return type_opens(self.pair)


Arguments = ObjectArguments | PairArguments


@dataclass(frozen=True, slots=True)
class JsonFields:
    """A call that is one object of the dialect: `prefix` object `suffix` is the whole call.

    `name`, `arguments`, `id` and `index` are paths of keys in the object (("function", "name")); None when absent.
    With `name_is_key` the object has one key, the name, and its value is the arguments (name and arguments are ()).
    `constants` are further members with fixed text, as (path, JSON text) pairs.
    """

    prefix: str
    suffix: str
    name: tuple[str, ...]
    arguments: tuple[str, ...]
    id: tuple[str, ...] | None = None
    index: tuple[str, ...] | None = None
    name_is_key: bool = False
    constants: tuple[tuple[tuple[str, ...], str], ...] = ()


@dataclass(frozen=True, slots=True)
class CallId:
    """Where a call's id is, and its text as a layout: (Slot id) for an id of the caller's, or a composed one such
    as functions.NAME:INDEX.  In the call layout the same items stand in a row.  `pattern` is the shape a template
    demands of ids (a regular expression), when it demands one."""

    position: IdPosition = "none"
    layout: Layout = ()
    pattern: str | None = None


ReplacedSlot = Literal["name", "key", "value", "string", "literal", "content", "reasoning"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A character of a slot or a text, and the text that is written for it: `&` as `&amp;`, a line break as one with
    the spaces that indent the next line.

    If `%` is written `%25` in values or texts, all characters beyond ASCII are percent-encoded.  A `string` is a value
    that is one, a `literal` is one that isn't.
    """

    slot: ReplacedSlot
    char: str
    text: str


@dataclass(frozen=True, slots=True)
class Tools:
    """section_start call (separator call)* section_end, each call in the layout `call`.

    `call` contains the slots name (once or more), arguments (once), id, index, count; a slot's later occurrences repeat
    the first.  `index_base` is the first call's index; `count` is the number of calls in the turn.  `json` is set for
    the format json_native only.  `replaced` lists the characters that are escaped in names, keys and values.
    `bare_call` is a call without arguments, if that has another form than a call with empty ones.
    """

    format: ToolFormat = "none"
    section_start: str = ""
    separator: str = ""
    section_end: str = ""
    call: Layout = ()
    json: JsonFields | None = None
    arguments: Arguments | None = None
    dialect: Dialect | None = None
    call_id: CallId = CallId()
    index_base: int = 0
    parallel: bool = False
    replaced: tuple[Replaced, ...] = ()
    bare_call: Layout = ()

    def replacements(self, slot: ReplacedSlot) -> tuple[tuple[str, str], ...]:
        """Return each text that stands for a character in such a slot, with that character."""
        return tuple((replaced.text, replaced.char) for replaced in self.replaced if replaced.slot == slot)

    def written(self, slot: Literal["name", "key"], text: str) -> str:
        """Return a name or a key as the template writes it."""
        texts = {char: text for text, char in self.replacements(slot)}
        return "".join(texts.get(char, char) for char in text) if texts else text


@dataclass(frozen=True, slots=True)
class Form:
    """A marker that is another one in turns of one shape: those with these `parts`, and no others.

    A template that opens content only where calls follow it has the form (content, calls) content.start "<lead>".
    """

    parts: tuple[Part, ...]
    marker: FormMarker
    text: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A declared way in which real output may differ from what the template renders.

    `kind` names a general tolerance (see GENERAL_TOLERANCES), or is "variant": then `text` stands for `marker` (a
    marker of this IR, or a named role such as reasoning.start), for `reason`, as `source` says.  `entry` is the
    catalogue's entry that it comes from, if it comes from one.
    """

    kind: str
    enabled: bool = True
    marker: str = ""
    text: str = ""
    reason: str = ""
    source: str = ""
    entry: str = ""


GENERAL_TOLERANCES = (
    "whitespace",  # any white space around and inside markers where the template writes some or none
    "missing_closers",  # closers left out at the end of the turn
    "omitted_openers",  # a section or call opener left out before a distinctive inner opener
    "argument_order",  # arguments, and members of a call object, in any order
    "content_anywhere",  # content between and after calls
    "call_ends_reasoning",  # a call opener at the start of a line ends an open reasoning block
    "repeated_reasoning",  # more than one reasoning block
    "python_literals",  # True, False, None and single quotes where the dialect has JSON, and the other way round
    "stray_closers",  # a closer of a block that is not open is dropped
    "tool_names",  # the name of a tool with a namespace before it, in quotes, or with other separators
    "marker_spelling",  # markers of calls in other case, with `-` for `_`, `|` for `｜`, white space at their brackets
    "repeated_markers",  # openers and closers of calls twice, a bracket too many after a call, fences around calls
    "cut_markers",  # the beginning of a marker where the output ends
    "other_forms",  # with tools: headers with parts left out, calls and arguments in other usual forms
    "json_repairs",  # in JSON: quotes of other kinds
    "end_tokens",  # any special token of the tokenizer where the output ends
    "header_parts",  # parts of a header in any order, or left out, where all headers of a turn are made of such parts
)
# What parsers accept without looking for it: there is nothing to switch off.
ALWAYS_ACCEPTED = ("argument_order", "content_anywhere", "repeated_reasoning")


@dataclass(frozen=True, slots=True)
class Captured:
    """Text in a marker that the template takes from elsewhere, and the format has as it was when it was learned.

    `by` says from where: a "variable" of the template, whose `name` this is; a special "token" that no one gave; the
    turn's "position" in the conversation; how many "calls" there are.  `text` is what was there, `marker` names the
    marker of this IR that contains it ("" if several do, or none), and `whole` is that marker, or the text around it.
    `any_word`: parsers and grammars accept any word or number in its place.
    """

    by: CapturedBy
    name: str
    text: str
    marker: str
    whole: str
    any_word: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token that was added to the tokenizer's vocabulary.

    `id` is None if the source does not number its tokens.  `special`: the tokenizer keeps it apart from ordinary text.
    `ends`: the model ends an answer with it.
    """

    text: str
    id: int | None = None
    special: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Two different messages with the same render; `kind` names what they differ in."""

    kind: str
    first: str
    second: str
    render: str


@dataclass(frozen=True, slots=True)
class Excused:
    """A message that came back as another one, where the template renders both as the same text.

    `message` and `other` are given as the template was given them, `render` is the text of both turns.  `kind` names
    what the render does not distinguish.
    """

    title: str
    kind: str
    message: Json = field(hash=False)
    other: Json = field(hash=False)
    render: str


CALL_AS_TEXT = "call read as text"


@dataclass(frozen=True, slots=True)
class NeedsTools:
    """A message that comes back only if the parser is given the tools.  Without them it is read as `other`.

    Both are given as the template was given them, `render` is the text of the turn.  `kind` names what only the tools
    decide: CALL_AS_TEXT, or what differs.
    """

    title: str
    kind: str
    message: Json = field(hash=False)
    other: Json = field(hash=False)
    render: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was rendered and what came back.  `not_shown` lists what the template cannot show.

    `excused` lists every message that did not come back without failing the verification; it is counted in neither
    `messages` nor `passed`.  `needs_tools` lists messages that came back, but not without tools, and
    `not_read` those that no parser can read, because a value contains what alone ends values.
    `refused_by_grammars` is a turn with calls that grammars of the format don't accept, and where; "" if there is
    none, or if it was not asked.
    """

    verified: bool = False
    messages: int = 0
    passed: int = 0
    chunkings: int = 0
    seed: int = 0
    not_shown: tuple[str, ...] = ()
    ambiguities: tuple[Ambiguity, ...] = ()
    failures: tuple[str, ...] = ()
    excused: tuple[Excused, ...] = ()
    needs_tools: tuple[NeedsTools, ...] = ()
    not_read: tuple[str, ...] = ()
    refused_by_grammars: str = ""

    @property
    def distinct_excused(self) -> tuple[Excused, ...]:
        """The excused messages, each once, although they are rendered in every context of the prompt."""
        found: dict[str, Excused] = {}
        for one in self.excused:
            found.setdefault(json.dumps([one.title, one.message, one.other]), one)
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class TemplateIR:
    """The format of one template's assistant turns.  Complete: a backend needs nothing else.

    `tokens` are the tokenizer's added tokens that stand in markers or end an answer; empty if no tokenizer is known.
    `escapes` lists the characters that are escaped in content and reasoning.
    `left_out`: what the template writes and the format is without, and why.
    """

    provenance: Provenance
    capabilities: Capabilities
    turn: Turn
    reasoning: Reasoning
    content: Content
    tools: Tools
    forms: tuple[Form, ...] = ()
    escapes: tuple[Replaced, ...] = ()
    preserved_tokens: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    captured: tuple[Captured, ...] = ()
    left_out: tuple[str, ...] = ()
    verification: Verification = Verification()
    version: int = IR_VERSION


JSON_STRING = StringStyle('"', '"', "json")
JSON_STYLE = ValueStyle(
    strings=(JSON_STRING,),
    true="true",
    false="false",
    null="null",
    list_open="[",
    list_separator=", ",
    list_close="]",
    object_open="{",
    key_open='"',
    key_close='"',
    colon=": ",
    object_separator=", ",
    object_close="}",
)
