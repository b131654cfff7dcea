"""A template with its format, ready to serve requests.

with ChatTemplate(source) as template:
    ready = template.prepare({"messages": […], "tools": […]})
ready.prompt, ready.grammar, ready.stop       for the engine
parser.parse(output, **ready.parser)          for what it answers
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tplc import driver, given
from tplc.conversations.extend import ExtendedPrompt, PromptExtender, PromptSetting, PromptState
from tplc.errors import RenderFailed, RequestError, TemplateRaised, UsageError
from tplc.ir.hashes import sha256
from tplc.ir.nodes import Captured, GenerationPrompt, Json, TemplateIR, Token, Tolerance
from tplc.ir.stand_ins import without_stand_ins
from tplc.ir.tokens import stop_token_ids
from tplc.ir.word_slots import WORD, slotted_heads
from tplc.serving.added import added, after_mark, marked_at_its_end
from tplc.serving.messages import messages_for
from tplc.serving.request import ChatRequest, Message, read_messages, read_request, unknown_variables
from tplc.serving.unshown import refuse_failing_parts, refuse_failing_tool, refuse_unshown
from tplc_runtime.heads import filled_heads, known_head

if TYPE_CHECKING:
    from tplc.catalogue import Entry
    from tplc.render import Limits

NO_STOP = "an answer ends with {name}, which is not given, so no stop text stands for it: give its text"
_EXAMPLE: tuple[dict[str, Json], ...] = (
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hi there."},
    {"role": "user", "content": "How are you?"},
)
_CALL: dict[str, Json] = {"id": "callid000", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_EVERY_PART: tuple[dict[str, Json], ...] = (
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hi there.", "reasoning_content": "They greet."},
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": "So I do.", "reasoning_content": "They ask.", "tool_calls": [_CALL]},
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """`grammar` is "" when nothing is constrained; `grammar_triggers` are (type, value) pairs that a lazy one
    waits for.  Members are called as requests and engines call them; `stops` and `triggers` are their names in 0.1.

    `stop_token_ids` are the tokens that end an answer, by their numbers; none if the tokenizer is not known.
    `parser` contains the keywords of `parse` and `StreamParser`.
    `warnings` name variables that have no effect, and special tokens that end an answer and weren't given.
    """

    prompt: str
    grammar: str
    grammar_lazy: bool
    grammar_triggers: tuple[tuple[str, str], ...]
    preserved_tokens: tuple[str, ...]
    stop: tuple[str, ...]
    parser: dict[str, Any]
    warnings: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()

    @property
    def stops(self) -> tuple[str, ...]:
        return self.stop

    @property
    def triggers(self) -> tuple[tuple[str, str], ...]:
        return self.grammar_triggers

    def to_json(self) -> dict[str, Json]:
        return {
            "prompt": self.prompt,
            "grammar": self.grammar,
            "grammar_lazy": self.grammar_lazy,
            "grammar_triggers": [{"type": kind, "value": value} for kind, value in self.grammar_triggers],
            "preserved_tokens": list(self.preserved_tokens),
            "stop": list(self.stop),
            "stop_token_ids": list(self.stop_token_ids),
            "parser": self.parser,
        }


def prepare(
    template: str,
    request: Mapping[str, Any],
    *,
    ir: TemplateIR | None = None,
    special_tokens: Mapping[str, str] | None = None,
) -> Prepared:
    """Prepare one request.  For many requests, keep a `ChatTemplate`."""
    with ChatTemplate(template, ir=ir, special_tokens=special_tokens) as ready:
        return ready.prepare(request)


class ChatTemplate:
    """A template that renders, and its format.  Without `ir` the format is learned and verified first.

    One worker process renders; threads take turns.

    `adds_bos`, `adds_eos`: the engine's tokenizer puts these tokens around a prompt by itself, so they are left out.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str = "template",
        ir: TemplateIR | None = None,
        special_tokens: Mapping[str, str] | None = None,
        added_tokens: Sequence[str | Token] = (),
        tolerances: Sequence[Tolerance] = (),
        catalogue: Sequence[Entry] | None = None,
        adds_bos: bool = False,
        adds_eos: bool = False,
        limits: Limits | Mapping[str, float] | None = None,
    ) -> None:
        given.text("source", source, "the text of a template (str)")
        if ir is not None:
            given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
        if ir is not None and ir.provenance.sha256 != sha256(source):
            raise UsageError(f"{name}: the IR is of another template ({ir.provenance.name}): their SHA-256 differ")
        tokens = special_tokens if special_tokens is not None or ir is None else dict(ir.provenance.special_tokens)
        self._tokens = dict(tokens or {})
        self._adds_bos = adds_bos
        self._adds_eos = adds_eos
        self._turn = Lock()
        self.ir = ir or _learned(source, name, tokens, added_tokens, tolerances, catalogue, limits)
        self._ends = tuple(end for end in map(without_stand_ins, self.ir.turn.ends) if end.strip())
        self._stops = driver.stops(self.ir)
        self._missing_stops = driver.missing_stops(self.ir)
        self._variables = driver.template_variables(source)
        self._renderer = driver.open_renderer(source, name=name, special_tokens=tokens, limits=limits, probing=False)

    def close(self) -> None:
        self._renderer.close()

    def __enter__(self) -> ChatTemplate:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def prepare(self, body: Mapping[str, Any]) -> Prepared:
        """Prepare a request.  Raises RequestError for a request that is invalid, or that this template can't serve."""
        request = read_request(body)
        unknown = unknown_variables(dict(request.variables), self._variables)
        warnings = (*(f"stop: {NO_STOP.format(name=name)}" for name in self._missing_stops), *unknown)
        request = request.with_members(body, self._variables)
        self._refuse_impossible(request)
        prompt = self._continued(request) if request.continue_final_message else self._prompt(request)
        calls = bool(request.tools) and request.tool_choice != "none"
        text, lazy, triggers = self._grammar(request, prompt)
        return Prepared(
            prompt=self._once(prompt),
            grammar=text,
            grammar_lazy=lazy,
            grammar_triggers=triggers,
            preserved_tokens=self.ir.preserved_tokens,
            stop=tuple(dict.fromkeys([*self._stops, *request.stop])),
            parser={
                "tools": list(request.tools) or None,
                **self._head_keywords(request, prompt),
                "parse_tool_calls": calls,
            },
            warnings=warnings,
            stop_token_ids=stop_token_ids(self.ir, self._stops),
        )

    def format_single(
        self,
        past: Sequence[Message],
        message: Message,
        *,
        tools: Sequence[Message] = (),
        ended: bool = True,
        **variables: Json,
    ) -> str:
        """Return the text that a new message adds to the prompt of a conversation, for engines that cache the past.

        A message that is not the assistant's adds the generation prompt, too.  After an answer, the engine's cache
        contains the output with its end marker, and the text after that marker is added.  With `ended=False`, the
        cache lacks the marker (the answer was truncated, or markers are not kept), so the marker is added as well.
        If a template writes the past differently (it drops old reasoning), the cache stays as it is, and the text after
        the answer is added.
        """
        whole = read_messages([*past, message])
        answers = whole[-1].get("role") != "assistant"

        def render(messages: Sequence[Message], generation: bool) -> str:
            return self._render(messages, tools, variables, generation=generation)

        after = render(whole, answers)
        if not past:
            return self._once(after)
        before = self._without_prompt(render(whole[:-1], False), after)
        if whole[-2].get("role") != "assistant":
            return added(before, after)
        answer = marked_at_its_end(whole[-2])
        found = None
        if answer is not None:
            marked = render([*whole[:-2], answer, whole[-1]], answers)
            found = after_mark(render([*whole[:-2], answer], False), marked, after, _markers(self._ends))
        if found is None:
            turn = self._turn_of(before)
            found = before[len(turn) :], added(turn, after)
        written, rest = found
        return self._after_end(written, rest) if ended else rest

    def start(
        self, messages: Sequence[Message], *, tools: Sequence[Message] = (), **variables: Json
    ) -> tuple[str, PromptState]:
        """Return the prompt of a conversation, and the state that `extend` takes.

        The prompt ends with the generation prompt, unless an answer is the last message.
        """
        setting = PromptSetting(tuple(tools), tuple(sorted(variables.items())))
        return self._extender.start(read_messages(messages), setting)

    def extend(self, prompt_state: PromptState, message: Message, *, debug: bool = False) -> ExtendedPrompt:
        """Return what a message adds to a prompt, and the new state.

        If the template only appends here, `added` is the new text alone, found in the end of the conversation, so the
        cost doesn't grow with its length.  Otherwise `is_whole` is set, and `added` is the whole new prompt.
        With `debug`, each step is compared with a render of the whole conversation, and TplcError says where they
        differ.
        """
        self._extender.debug = debug
        return self._extender.extend(prompt_state, read_messages([message])[0])

    @cached_property
    def _extender(self) -> PromptExtender:
        def render(messages: Sequence[Message], setting: PromptSetting, generation: bool) -> str:
            return self._render(messages, setting.tools, dict(setting.variables), generation=generation)

        return PromptExtender(render, self.ir)

    def example(self) -> str:
        """Return a short conversation as this template writes it."""
        seen = self.ir.capabilities.system_role
        return self._render(_EXAMPLE if seen else _EXAMPLE[1:], (), {}, generation=True)

    def _render(
        self, messages: Sequence[Message], tools: Sequence[Message], variables: Mapping[str, Json], *, generation: bool
    ) -> str:
        given = [dict(tool) for tool in tools] or None
        wanted = messages_for(self.ir, messages)

        def render(offered: list[dict[str, Json]] | None) -> str:
            return self._renderer.render(wanted, tools=offered, add_generation_prompt=generation, **dict(variables))

        try:
            with self._turn:
                try:
                    return render(given)
                except RenderFailed:
                    if given:
                        raise
                    # Some templates walk the tools without a look whether there are any.
                    return render([])
        except TemplateRaised as error:
            raise RequestError("messages", f"the template refuses them: {error.message}") from error

    def _prompt(self, request: ChatRequest) -> str:
        """Raises RequestError for what the template does not write: the model would never see it."""

        def render(messages: Sequence[Message]) -> str:
            variables = dict(request.variables)
            return self._render(messages, request.tools, variables, generation=request.add_generation_prompt)

        def render_tools(tools: Sequence[Mapping[str, Any]]) -> str:
            variables = dict(request.variables)
            return self._render(request.messages, tools, variables, generation=request.add_generation_prompt)

        try:
            prompt = render(request.messages)
        except (RenderFailed, RequestError) as error:
            refuse_failing_parts(request.messages, error, render)
            if isinstance(error, RenderFailed) and request.tools:
                refuse_failing_tool(request.tools, error, render_tools)
            raise
        refuse_unshown(request.messages, prompt, render)
        return prompt

    def _continued(self, request: ChatRequest) -> str:
        """Return the render up to the end of the last message's text."""
        last = request.messages[-1]
        text = _text_of(last.get("content")) or last.get("reasoning_content") or last.get("reasoning")
        if not isinstance(text, str) or not text.strip():
            raise RequestError("continue_final_message", "the last message has no text to continue")
        whole = self._render(request.messages, request.tools, dict(request.variables), generation=False)
        # A template may strip outer white space; what it kept is what the model continues from.
        for shown in (text, text.rstrip(), text.strip()):
            at = whole.rfind(shown)
            if at >= 0:
                return whole[: at + len(shown)]
        raise RequestError("continue_final_message", "the template does not show the last message's text as it is")

    def _head_keywords(self, request: ChatRequest, prompt: str) -> dict[str, Any]:
        """Return the arguments that show the parser where the answer begins.  For a continued answer, the parser gets
        only that part of the prompt: users and tools wrote the text before it, which may contain something like a turn
        header."""
        if not request.continue_final_message:
            return {"prompt": prompt}
        past = request.messages[:-1]
        try:
            before = self._render(past, request.tools, dict(request.variables), generation=False) if past else ""
        except (RequestError, RenderFailed):
            before = ""
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, prompt, strict=False)))
        heads = filled_heads(prompt[:start], slotted_heads(self.ir))
        start -= len(known_head(prompt[:start], heads, self.ir.turn.anchors))
        return {"prompt": prompt[start:], "continue_final_message": True}

    def _refuse_impossible(self, request: ChatRequest) -> None:
        wants_calls = bool(request.tools) and request.tool_choice != "none"
        if wants_calls and self.ir.tools.format == "none":
            name = self.ir.provenance.name
            raise RequestError(
                "tools",
                f"{name} shows no calls: give its IR, compiled with example pairs (tplc compile --example PAIRS -o "
                'FILE.json), or set tool_choice to "none"',
            )
        for name, value in request.variables:
            for captured in self.ir.captured:
                if captured.by == "variable" and captured.name == name and self._writes_differently(captured, value):
                    place = f"{captured.marker} {json.dumps(captured.whole, ensure_ascii=False)}".strip()
                    raise RequestError(
                        f"chat_template_kwargs.{name}",
                        f"the template then writes another marker, and the format contains {place}: leave it out",
                    )

    def _writes_differently(self, captured: Captured, value: Json) -> bool:
        """Return whether a marker differs with this value.  Headers don't count: no model writes them, and the text
        after them is read without them.  If the usual marker isn't in the render, its text decides."""
        if captured.marker == "turn.header" or (captured.any_word and re.fullmatch(WORD + "+", str(value))):
            return False
        marker = captured.whole.strip()
        if marker not in self._usual_parts:
            return str(value) != captured.text
        return marker not in self._every_part({captured.name: value})

    @cached_property
    def _usual_parts(self) -> str:
        return self._every_part({})

    def _every_part(self, variables: Mapping[str, Json]) -> str:
        """Return a conversation whose answers have every part, with the prompt for another; "" if it is refused."""
        try:
            return self._render(_EVERY_PART, (), variables, generation=True)
        except (RequestError, RenderFailed):
            return ""

    def _grammar(self, request: ChatRequest, prompt: str) -> tuple[str, bool, tuple[tuple[str, str], ...]]:
        if request.grammar is not None:
            return request.grammar, False, ()
        parallel = request.parallel_tool_calls is not False and self.ir.tools.parallel
        options = driver.GrammarOptions(
            tools=request.tools,
            tool_choice=request.tool_choice,
            parallel_tool_calls=parallel,
            json_schema=request.json_schema,
            context=self._context(prompt, dict(request.variables)),
        )
        grammar = driver.make_grammar(self.ir, options)
        return grammar.text, grammar.lazy, tuple((trigger.type, trigger.value) for trigger in grammar.triggers)

    def _context(self, prompt: str, variables: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """Return the variables of the learned generation prompt that ends this prompt; the longest one counts."""
        fitting = [known for known in self.ir.turn.prompts if prompt.endswith(known.text)]
        best = max(fitting, key=lambda known: (len(known.text), _agreement(known, variables)), default=None)
        return dict(best.context) if best is not None else None

    def _without_prompt(self, before: str, after: str) -> str:
        """Return the past, for a template that appends a generation prompt or a closing token to everything it
        renders."""
        texts = [*(prompt.text for prompt in self.ir.turn.prompts), *self._tokens.values()]
        candidates = (before.removesuffix(text) for text in texts if text)
        return before if after.startswith(before) else next((c for c in candidates if after.startswith(c)), before)

    def _turn_of(self, before: str) -> str:
        """Return the past up to the text that ends its last turn."""
        for end in _markers(self._ends):
            for text in ("", *self._tokens.values()):
                shown = before.removesuffix(text).rstrip() if text else before.rstrip()
                if shown.endswith(end):
                    return shown.removesuffix(end)
        return before

    def _after_end(self, written: str, rest: str) -> str:
        """Return the text after the end marker, where the model stops.  `written` is the text that the last turn has
        there."""
        ends = _cores(self._ends)
        ends = [end for end in ends if written.lstrip().startswith(end)][:1] or ends
        for end in ends:
            if rest.lstrip().startswith(end):
                return rest.lstrip().removeprefix(end)
        if ends:
            shown = " or ".join(json.dumps(end, ensure_ascii=False) for end in ends)
            raise RequestError(
                "messages",
                f"the model ends its turn with {shown}, and the template writes {_start_of(rest)} there once a message "
                "follows: remove the end marker from the engine's cache, and pass ended=False",
            )
        return rest

    def _once(self, prompt: str) -> str:
        """Return the prompt without the tokens that the tokenizer would add again."""
        bos, eos = self._tokens.get("bos_token", ""), self._tokens.get("eos_token", "")
        if self._adds_bos and bos:
            prompt = prompt.removeprefix(bos)
        if self._adds_eos and eos:
            prompt = prompt.removesuffix(eos)
        return prompt


def _agreement(known: GenerationPrompt, variables: Mapping[str, Json]) -> int:
    return sum(1 for name, value in known.context if variables.get(name) == value)


def _learned(
    source: str,
    name: str,
    tokens: Mapping[str, str] | None,
    added: Sequence[str | Token],
    tolerances: Sequence[Tolerance],
    catalogue: Sequence[Entry] | None,
    limits: Limits | Mapping[str, float] | None,
) -> TemplateIR:
    with (
        driver.open_renderer(source, name=name, special_tokens=tokens, limits=limits) as renderer,
        renderer.within_total(),
    ):
        ir = driver.learn_format(renderer, name=name, source_text=source, special_tokens=tokens, added_tokens=added)
        ir = driver.tolerate(ir, tolerances, catalogue)
        ir = driver.verify_ir(ir, renderer, target="json")
    driver.require_verified(ir)
    return ir


def _start_of(text: str) -> str:
    return json.dumps(text if len(text) <= 20 else text[:20] + "…", ensure_ascii=False) if text else "nothing"


def _markers(ends: Sequence[str]) -> list[str]:
    """Return the ends with the white space before them, and without it if there is none."""
    return [*(end.rstrip() for end in ends if end.strip()), *_cores(ends)]


def _cores(ends: Sequence[str]) -> list[str]:
    return [end.strip() for end in ends if end.strip()]


def _text_of(content: Json) -> str:
    """Return the text of content; of parts, the last text."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = texts[-1] if texts else None
    return content if isinstance(content, str) else ""
