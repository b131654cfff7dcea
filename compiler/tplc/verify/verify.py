"""The round trip: render many messages, parse each with the artifact, compare.

    message → template → "<bot>Hi<call>f…</call><eos>" → artifact → message'    equal?

A message that the template does not show is not counted.  A message that comes back as another one with the very same
render is an ambiguity of the format; one that comes back as anything else is a failure.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tplc.errors import RenderFailed, TemplateRaised
from tplc.ir.markers import ends_in_text
from tplc.ir.nodes import CALL_AS_TEXT, Ambiguity, CallId, Excused, NeedsTools, TemplateIR, Verification
from tplc.messages import Follow
from tplc.render import Renderer
from tplc.verify.artifact import Artifact, load_artifact
from tplc.verify.battery import SHAPES, Case, Shape, after_results, battery, cut_values, random_cases
from tplc.verify.causes import Tried, explained
from tplc.verify.compare import ID, NAME, Difference, as_case, as_message, difference, fits, same_message, with_texts
from tplc.verify.conversation import fitting_tools
from tplc.verify.coverage import kind_of, kinds_of_names
from tplc.verify.excerpts import excerpt, quoted
from tplc.verify.notations import opener_in_prompt
from tplc.verify.shown import (
    Context,
    NotShown,
    Shown,
    Stage,
    shown,
    silence,
    summary,
    usual_settings,
    without_content_as_reasoning,
)
from tplc.verify.steady import unsteady
from tplc.verify.streams import Feed, feed_of, stream_problem
from tplc.verify.tally import Excuse, Expectations, NotAsked, OneRender, Pair, Tally, Trial
from tplc_runtime.heads import known_head

RANDOM_MESSAGES = 20
MOST_FAILURES = 1000  # a bound for memory: reports show a few, --json all
_CHUNK_SIZES = (1, 2, 3, 5, 8, 13, 40)
LEAST_SHARE = 5  # one message of so many that are refused or ambiguous has to come back
# What a broken parser may raise: it promises to raise nothing, so each of these is a failure to report.
_RAISED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)


def verify(
    ir: TemplateIR,
    artifact: Artifact | str,
    renderer: Renderer,
    *,
    seed: int = 0,
    thorough: bool = False,
    expectations: Expectations | None = None,
    cases: Sequence[Case] = (),
) -> Verification:
    """Verify an artifact: a generated parser, or its text.  `thorough`: ten times the random messages, and every
    message also one character at a time.  `cases`: these messages instead of the battery and the random ones."""
    trial = try_messages(ir, artifact, renderer, seed=seed, thorough=thorough, expectations=expectations, cases=cases)
    return trial.verification


def try_messages(
    ir: TemplateIR,
    artifact: Artifact | str,
    renderer: Renderer,
    *,
    seed: int = 0,
    thorough: bool = False,
    expectations: Expectations | None = None,
    cases: Sequence[Case] = (),
) -> Trial:
    """Do the same as `verify`, and return the messages that were tried too."""
    parser = load_artifact(artifact) if isinstance(artifact, str) else artifact
    trip = _RoundTrip(ir, parser, renderer, seed, thorough, expectations or Expectations(), tuple(cases))
    contexts = tuple(dict.fromkeys(json.dumps(dict(prompt.context)) for prompt in ir.turn.prompts))
    for number, context in enumerate(contexts):
        trip.run(tuple(json.loads(context).items()), first=number == 0)
    tally = trip.tally
    tally.failures += [*tally.unsteady, *tally.changed, *trip.lost()]
    tally.failures += tally.coverage.failures()
    pairs = tuple(tally.pairs())
    tally.failures += trip.too_little() if not tally.failures else ()
    reasons: tuple[str, ...] = ()
    if tally.failures:
        reasons = tuple(f"cause: {line}" for line in (tally.unsteady or tally.changed)[:1])
        reasons = reasons or explained(ir, tally.tried) or explained(ir, tally.later)
        if not any(line.startswith("cause: ") for line in reasons):
            reasons = (f"cause: {tally.failures[0]}", *reasons)
    if not tally.messages:
        reasons = (f"cause: {trip.silence or 'no conversation shows an answer'}",)
    result = Verification(
        verified=bool(tally.messages) and not tally.failures,
        messages=tally.messages,
        passed=tally.passed,
        chunkings=tally.chunkings,
        seed=seed,
        not_shown=(*tally.not_shown, *_refusals(tally.refused)),
        ambiguities=tuple(tally.ambiguities.values()),
        failures=(*reasons, *tally.failures[:MOST_FAILURES]),
        excused=tuple(pair.excused for pair in pairs),
        needs_tools=tuple(tally.needs_tools),
        not_read=tuple(tally.not_read.values()),
    )
    return Trial(result, tuple(tally.tried), pairs)


class _RoundTrip:
    def __init__(
        self,
        ir: TemplateIR,
        parser: Artifact,
        renderer: Renderer,
        seed: int,
        thorough: bool,
        expectations: Expectations,
        given: Sequence[Case],
    ) -> None:
        self.ir = ir
        # What messages are compared by: ids count only where they are expected.
        self.compared = ir if expectations.ids else replace(ir, tools=replace(ir.tools, call_id=CallId()))
        self.expectations = expectations
        self.parser = parser
        self.renderer = renderer
        self.tally = Tally()
        self._seed = seed
        self._thorough = thorough
        self._given = given
        self._rng = random.Random(seed)
        self._renders: dict[str, Case] = {}
        self._shown: set[Shape] = set()
        # Why nothing shows, in the first context.
        self.silence = ""

    def run(self, context: Context, *, first: bool) -> None:
        count = 0 if self._given else RANDOM_MESSAGES * (10 if self._thorough else 1)
        cases = list(self._given or battery(self.ir))
        named = [call for case in [*cases, *random_cases(self._seed, count, SHAPES)] for call in case.calls]
        stage = Stage(self.ir, self.renderer, context, named, seed=self._seed)
        tried = usual_settings(self.ir, stage)
        results = without_content_as_reasoning(stage, {shape: shown(stage, shape, tried) for shape in SHAPES})
        self.tally.not_shown.update(dict.fromkeys(_in_context(summary(results), context, first=first)))
        self.tally.changed += _changed(results)
        shapes = [shape for shape in SHAPES if isinstance(results[shape], Shown)]
        self._shown.update(shapes)
        if first and not shapes:
            self.silence = silence(stage, tried)
        if shapes:
            cases += random_cases(self._seed, count, shapes)
        content = results[Shape(False, True, 0)]
        if first and isinstance(content, Shown):
            self._check_end(stage.after_content(content.setting))
        for case in cases:
            result = results[case.shape]
            if isinstance(result, Shown):
                self._check(case, stage, result, context, first=first)
        fullest = [case for case in cases if case.shape in shapes[-1:]][:1]  # all parts of messages that show
        for case in fullest if first else ():
            self.tally.unsteady += unsteady(stage, results[case.shape], case)
        with_result = [replace(setting, after_result=True) for setting in tried]
        for case in () if self._given else after_results():
            after = shown(stage, case.shape, with_result) if case.shape in shapes else None
            if isinstance(after, Shown):
                self._check(case, stage, after, context, first=first)
        for end, case in cut_values(self.ir) if first and not self._given else ():
            result = results[case.shape]
            if isinstance(result, Shown):
                self._check_cut(end, case, stage, result)
        for case in self.tally.coverage.plain_cases(_place(context)):
            found = results.get(case.shape)
            if isinstance(found, Shown):
                self._check(case, stage, found, context, first=first)

    def lost(self) -> Iterator[str]:
        """Yield parts that the learner's renders showed, but these renders don't."""
        learned = {
            "reasoning": bool(self.ir.reasoning.key) and not any(shape.reasoning for shape in self._shown),
            "calls": self.ir.tools.format != "none" and not any(shape.calls for shape in self._shown),
        }
        if self._shown and self.ir.provenance.examples_sha256 is None:
            for part, is_lost in learned.items():
                if is_lost:
                    yield f"{part}: the format has markers for it, and no message shows it: its words are changed"

    def too_little(self) -> Iterator[str]:
        """Yield an error if the template refuses most messages, or renders nothing of them: the others prove too
        little."""
        tally = self.tally
        refused = sum(map(len, tally.refused.values()))
        if tally.messages and tally.messages * LEAST_SHARE < refused + len(tally.excuses):
            reasons = [f"the template refuses {titles[0]}: {reason}" for reason, titles in tally.refused.items()]
            reasons += [f"{one.kind}: expected {one.first}, got {one.second}" for one in tally.ambiguities.values()]
            asked = tally.messages + refused + len(tally.excuses)
            yield f"only {tally.messages} of {asked} messages show what was in them; {reasons[0]}"

    def _check_end(self, rests: Sequence[str]) -> None:
        """Check that one of the stop strings, which are the ends of turns, occurs after the turn."""
        ends = self.ir.turn.ends
        if ends and not any(end.strip() in rest for end in ends for rest in rests):
            shown = " or ".join(quoted(rest) for rest in rests)
            self.tally.failures.append(
                f"end of turn: expected {' or '.join(map(quoted, ends))} after content, got {shown}"
            )

    def _check(self, case: Case, stage: Stage, place: Shown, context: Context, *, first: bool) -> None:
        try:
            full = stage.render(case, place.setting)
        except (TemplateRaised, RenderFailed) as error:
            self.tally.refused.setdefault(error.message, []).append(case.title)
            return
        turn = place.frame.turn_text(full)
        if turn is None:
            self.tally.messages += 1
            self._fail(case, context, full, "the turn does not follow the header that was learned")
            return
        if first:
            self._note_render(case, turn)
        problem = self._trip(case, stage, place, turn, first=first)
        if problem is None and case.is_plain and self.expectations.ends:
            problem = self._check_next(case, stage, place, turn)
        kind = kind_of(case, _place(context))
        if not isinstance(problem, OneRender):
            (self.tally.tried if first else self.tally.later).append(Tried(case, turn, problem or ""))
        if problem is None:
            self.tally.messages += 1
            self.tally.passed += 1
            self.tally.coverage.came_back.update([kind, *kinds_of_names(case, _place(context))])
        elif isinstance(problem, OneRender):
            found = problem.ambiguity
            read = f"expected {found.first}, got {found.second}"
            failure = self._failure(case, context, turn, f"{kind.parts} never comes back: {read}")
            self.tally.coverage.note_lost(case, problem.other, _place(context), failure)
            self.tally.coverage.note_lost_names(case, problem.other, _place(context), read)
            self.tally.ambiguities.setdefault(found.kind, found)
            tried = Tried(case, turn, f"{found.kind}: expected {found.first}, got {found.second}")
            names = kinds_of_names(case, _place(context), problem.other)
            self.tally.excuses.append(Excuse((kind, *names), tried, problem.pair, first))
        else:
            self.tally.messages += 1
            excuse = self.expectations.excuse(case)
            if excuse:
                self.expectations.excused[excuse] += 1
                self.expectations.shown.setdefault(excuse, NotAsked(case, turn, problem))
            else:
                self._fail(case, context, turn, problem)

    def _check_cut(self, end: str, case: Case, stage: Stage, place: Shown) -> None:
        """List a message that cannot come back because a value contains its only end; it fails if the parser doesn't
        report that it is incomplete, though nothing but a cut explains another `end`."""
        from tplc.lower import lower
        from tplc.lower.markerlike import end_of_cut_values

        calls = lower(self.ir).calls
        shows_cuts = calls is not None and end == end_of_cut_values(calls)
        try:
            turn = place.frame.turn_text(stage.render(case, place.setting))
        except (TemplateRaised, RenderFailed):
            return
        if turn is None or not self._reports_incomplete:
            return
        feed = feed_of(place.frame, turn, fitting_tools(case))
        for asked in (feed, replace(feed, tools=None)):
            found = self._difference(case, self._parse(asked))
            if found is None:
                continue
            is_incomplete = self._is_incomplete(asked)
            if not is_incomplete and shows_cuts:
                self.tally.messages += 1
                return self._fail(case, (), turn, f"{found}, and the message is not incomplete")
            # A closer that is a word may be text after calls, and one of an argument comes twice by mistake.
            how = "incomplete" if is_incomplete else "complete"
            self.tally.not_read.setdefault(case.title, f"{case.title}: {found}; the message is {how}")

    def _trip(self, case: Case, stage: Stage, place: Shown, turn: str, *, first: bool) -> str | OneRender | None:
        """Return None if the case came back from every way of feeding it; otherwise the first problem."""
        tools = fitting_tools(case)
        feed = feed_of(place.frame, turn, tools)
        if case.calls and opener_in_prompt(self.ir):
            feed = replace(feed, prompt=place.frame.prompt)
        try:
            message = self._parse(feed)
            found = self._difference(case, message)
            if found is not None:
                if self._is_incomplete(feed):  # what is shortened is no other message, only a part of one
                    return str(found)
                return self._explain(case, stage, place, turn, message, found)
            problem = self._check_streams(case, feed, message)
            usual = feed.prompt == place.frame.prompt and not case.after_result and self._has_usual_head(feed)
            if problem is None and first and usual:
                problem = self._check_default_prompt(case, feed)
            if problem is None and first and case.calls:
                problem = self._check_untyped(case, stage, place, feed)
        except _RAISED as error:
            return f"the parser raised {type(error).__name__}: {error}"
        return problem

    def _difference(self, case: Case, message: Mapping[str, Any]) -> Difference | None:
        found = difference(self.compared, case, message)
        if found is not None and found.kind == ID and case.after_result:
            # Where ids are numbers, the first call of this turn may be the second of the conversation.
            return difference(self.compared, case, message, earlier=1)
        return found

    def _parse(self, feed: Feed) -> Mapping[str, Any]:
        return self.parser.parse(feed.text, tools=feed.tools, prompt=feed.prompt)

    @property
    def _reports_incomplete(self) -> bool:
        """Return whether the artifact reports incomplete messages: a response template's stream reports nothing."""
        return self.parser.stream is not None and hasattr(self.parser.stream(tools=None, prompt=None), "incomplete")

    def _is_incomplete(self, feed: Feed) -> bool:
        """Return whether the parser reports that the message is incomplete."""
        if self.parser.stream is None:
            return False
        stream = self.parser.stream(tools=feed.tools, prompt=feed.prompt)
        stream.feed(feed.text)
        stream.finish()
        return bool(getattr(stream, "incomplete", False))  # a response template's stream reports nothing

    def _explain(
        self, case: Case, stage: Stage, place: Shown, turn: str, message: Mapping[str, Any], found: Difference
    ) -> str | OneRender:
        """Excuse a wrong message if the template renders it to the identical text, unless the schemas decide which of
        the two it is. There is no other excuse."""
        other = as_case(case.title, message, ids=self.compared.tools.call_id.position != "none")
        # A wrong id is in the render of no other message.
        if other is None or found.kind == ID or not fits(other, fitting_tools(case)):
            return str(found)
        other = replace(other, after_result=case.after_result)
        try:
            if stage.render(other, place.setting, followed=case) != stage.render(case, place.setting):
                return str(found)
        except (TemplateRaised, RenderFailed):
            return str(found)
        first, second = (stage.answer(one, place.setting) for one in (case, other))
        excused = Excused(case.title, found.kind, first, second, turn)
        asked, read = (stage.conversation(one, place.setting, followed=case) for one in (case, other))
        pair = Pair(excused, asked, read, stage.tools(place.setting), stage.context)
        return OneRender(Ambiguity(found.kind, found.expected, found.got, excerpt(turn)), other, pair)

    def _note_render(self, case: Case, turn: str) -> None:
        """Note the render of a case, to find two cases of the battery with the same render; schemas may distinguish
        them."""
        other = self._renders.setdefault(turn, case)
        if other != case:
            found = difference(self.ir, other, as_message(self.ir, case))
            if found is not None:
                ambiguity = Ambiguity(found.kind, found.expected, found.got, excerpt(turn))
                self.tally.ambiguities.setdefault(found.kind, ambiguity)

    def _check_next(self, case: Case, stage: Stage, place: Shown, turn: str) -> str | None:
        """Return a problem if text that the template writes after a turn is read as part of it; otherwise None."""
        follows: tuple[Follow, ...] = ("none", "user")
        for follow in follows:
            setting = replace(place.setting, follow=follow)
            try:
                full = stage.render(case, setting)
            except (TemplateRaised, RenderFailed):
                continue
            text = place.frame.with_next(full) if place.frame.asks(full) else None
            if text is None or not all(part in text for part in case.words()):
                continue
            if stage.leaves_reasoning_open(case, text):
                continue
            last = max(text.rindex(part) + len(part) for part in case.words())
            if not text[last:].strip() or (text.startswith(turn) and not text[len(turn) :].strip()):
                continue  # nothing but white space could end it
            if follow != "none":  # at the end of a conversation, all of it is what an output would be
                text = text[:last] + _up_to_weak_end(self.ir, text[last:])
            message = self._parse(feed_of(place.frame, text, fitting_tools(case)))
            found = self._difference(case, message)
            if found is not None:
                return f"with all text that is rendered after it, {quoted(text)}, {found}"
        return None

    def _check_streams(self, case: Case, feed: Feed, whole: Mapping[str, Any]) -> str | None:
        if self.parser.stream is None:
            return None
        for sizes in self._chunkings(case, len(feed.text)):
            self.tally.chunkings += 1
            stream = self.parser.stream(tools=feed.tools, prompt=feed.prompt)
            problem = stream_problem(stream, feed.text, sizes, whole, may_doubt=case.quotes_marker)
            if problem is not None:
                return problem
        return None

    def _chunkings(self, case: Case, size: int) -> Iterator[list[int]]:
        sizes: list[int] = []
        left = size
        while left > 0:
            sizes.append(self._rng.choice(_CHUNK_SIZES))
            left -= sizes[-1]
        yield sizes
        yield from ([cut] * (size // cut + 1) for cut in self.expectations.cuts)
        if self._thorough or case.title == str(case.shape):
            yield [1] * size

    def _has_usual_head(self, feed: Feed) -> bool:
        """Return whether the prompt has the part of a turn that it has without tools as well."""
        turn = self.ir.turn
        return known_head(feed.prompt or "", turn.heads, turn.anchors) not in turn.other_heads

    def _check_default_prompt(self, case: Case, feed: Feed) -> str | None:
        found = difference(self.compared, case, self._parse(replace(feed, prompt=None)))
        return None if found is None else f"without a prompt: {found}"

    def _check_untyped(self, case: Case, stage: Stage, place: Shown, feed: Feed) -> str | None:
        """Return a problem if the message does not come back without tools. Where only they decide what it is, it is
        listed instead."""
        message = self._parse(replace(feed, tools=None))
        found = self._difference(case, message)
        if found is None:
            return None
        read = as_case(case.title, message, ids=self.compared.tools.call_id.position != "none")
        one_render = found.kind != ID and read is not None and self._is_one_render_untyped(case, stage, place, read)
        if one_render and found.kind == NAME:
            ambiguity = Ambiguity(NAME, found.expected, found.got, excerpt(feed.text))
            self.tally.ambiguities.setdefault(NAME, ambiguity)
        if read is not None and (
            one_render or _is_known_by_its_tool(self.ir, self.compared, case, message) or not _names_are_usual(case)
        ):
            kind = found.kind if len(read.calls) >= len(case.calls) else CALL_AS_TEXT
            asked, got = (stage.answer(one, place.setting) for one in (case, read))
            self.tally.needs_tools.append(NeedsTools(case.title, kind, asked, got, feed.text))
            return None
        if self.expectations.untyped:
            self.expectations.shown.setdefault(self.expectations.untyped, NotAsked(case, feed.text, str(found)))
            return None
        return f"without tools: {found}"

    def _is_one_render_untyped(self, case: Case, stage: Stage, place: Shown, read: Case) -> bool:
        """Return whether the template renders what was read without tools to the identical text."""
        other = replace(with_texts(self.ir, case, read), after_result=case.after_result)
        if same_message(case, other):
            return True
        try:
            return stage.render(other, place.setting, followed=case) == stage.render(case, place.setting)
        except (TemplateRaised, RenderFailed):
            return False

    def _fail(self, case: Case, context: Context, text: str, problem: str) -> None:
        self.tally.failures.append(self._failure(case, context, text, problem))

    def _failure(self, case: Case, context: Context, text: str, problem: str) -> str:
        return f"{case.title}{_place(context)}: {problem}; rendered {quoted(text)}"


def _place(context: Context) -> str:
    return f" with {json.dumps(dict(context), ensure_ascii=False)}" if context else ""


def _is_known_by_its_tool(ir: TemplateIR, compared: TemplateIR, case: Case, message: Mapping[str, Any]) -> bool:
    """Return whether calls that nothing opens, or right after the content, are text as long as no tool of that name
    is known, and only they."""
    from tplc.lower import lower

    calls = lower(ir).calls
    unopened = calls is not None and not calls.opening.openers
    in_lines = calls is not None and calls.opening.where == "line start" and bool(calls.whole and case.content)
    text, got = message["content"] or "", message["tool_calls"]
    missing = len(case.calls) - len(got)
    if not (in_lines or unopened) or missing <= 0 or not text.startswith(case.content):
        return False
    known = replace(case, content=text, calls=case.calls[missing:])
    rest = text[len(case.content) :]
    if unopened and not got:  # a marker in text counts, and a marker in arguments doesn't
        return rest.lstrip().startswith(case.calls[0].name)
    is_text = all(call.name in rest for call in case.calls[:missing])
    return is_text and difference(compared, known, message, earlier=missing) is None


def _names_are_usual(case: Case) -> bool:
    """Return whether the case has calls whose names servers allow.  With other characters, a name can be distinguished
    from text only if the tools are given."""
    return all(re.fullmatch(r"[\w.-]+", call.name) for call in case.calls)


def _up_to_weak_end(ir: TemplateIR, rest: str) -> str:
    """Return the text after a turn up to an end that answers may contain as well.  Such an end counts only at the end
    of the output, because generation stops there."""
    found = [rest.index(end.strip()) + len(end.strip()) for end in ir.turn.ends if end.strip() in rest]
    at = min(found, default=len(rest))
    weak = any(ends_in_text(end) and rest[:at].endswith(end.strip()) for end in ir.turn.ends)
    return rest[:at] if weak else rest


def _refusals(refused: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the cases that the template raised on, by its reason."""
    for reason, titles in refused.items():
        named = [title for title in dict.fromkeys(titles) if not title.startswith("random")] or ["some random messages"]
        more = f", and {len(named) - 3} more" if len(named) > 3 else ""
        yield f"{', '.join(named[:3])}{more} (refused: {reason})"


def _changed(results: Mapping[Shape, Shown | NotShown]) -> Iterator[str]:
    """Yield the parts of which words are not in the render, although it depends on them."""
    for shape, result in results.items():
        if isinstance(result, NotShown) and result.changed:
            yield f"{shape}: {' and '.join(result.parts)} cannot be read: {result.changed}"


def _in_context(lines: Sequence[str], context: Context, *, first: bool) -> list[str]:
    return list(lines) if first else [f"{line} (with {json.dumps(dict(context))})" for line in lines]
