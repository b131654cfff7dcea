"""`tplc explain`: the learner's comparisons, on the terminal or as a page."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tplc.cli import inputs
from tplc.cli.console import new_console
from tplc.cli.progress import working
from tplc.cli.shown import print_json, shown_text
from tplc.errors import UsageError
from tplc.explain import AnsweredQuestion, Explanation, explain
from tplc.explain.comparisons import Comparison, tail_of
from tplc.explain.marks import marks
from tplc.explain.page import conversation, page, title_of
from tplc.explain.serialize import to_dict
from tplc.ir.visible import shown
from tplc.learn.probe import Probe, Refusal
from tplc.project.artifacts import check_output, write_output
from tplc.project.files import read_examples

_INDENT = "    "
_STYLES = {"same": "dim", "first": "red", "second": "green"}
# Without colours, what only one of the texts has is between these.
_BRACKETS = {"same": ("", ""), "first": ("[-", "-]"), "second": ("{+", "+}")}


def explain_command(
    source: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    examples: Sequence[str],
    limits: Sequence[str],
    *,
    html: str | None,
    as_json: bool,
    step: bool,
    force: bool,
    verbose: int,
) -> None:
    if as_json and (html is not None or step):
        other = "--html writes a page" if html is not None else "--step is for the terminal"
        raise UsageError(f"--json is for scripts, {other}; give one of them")
    if html is not None and step:
        raise UsageError("--step and --html exclude each other; give one of them")
    if html is not None:
        check_output(html, force=force)
    inputs.check_standard_input(
        {"the template": source, "what --step waits for": "-" if step else ""},
        {"the examples": [str(path) for path in examples]},
    )
    template = inputs.load_template(source, template_name, special_tokens)
    with working(f"learning {template.name}"):
        explanation = explain(
            template.text,
            name=template.name,
            special_tokens=template.special_tokens,
            examples=[example for path in examples for example in read_examples(path)],
            limits=inputs.limits(limits),
        )
    if html is not None:
        write_output(html, page(explanation))
        if html != "-":
            print(f"wrote {shown(html)}", file=sys.stderr)
    elif as_json:
        data = to_dict(explanation, whole=bool(verbose) or explanation.ir is None)
        print_json(data)
    else:
        _print(explanation, step=step, verbose=verbose)
    if explanation.ir is None:
        print(f"tplc: {shown(explanation.refused)}", file=sys.stderr)
        raise SystemExit(1)


def _print(explanation: Explanation, *, step: bool, verbose: int) -> None:
    console = new_console()
    unlearned = explanation.ir is None and not any(question.answer for question in explanation.questions)
    for question in explanation.questions:
        if not question.comparisons and not verbose and not unlearned:
            continue
        console.print(Text(f"\n{question.text}", style="bold"))
        for comparison in question.comparisons:
            _print_comparison(console, comparison)
            if step and not _is_next_wanted():
                return
        if verbose or unlearned:
            _print_log(console, question, whole=verbose > 1)
    if explanation.repairs:
        console.print(Text("\nWhat was learned from messages that did not come back?", style="bold"))
    for repair in explanation.repairs:
        failed = f"{repair.failed} of {repair.messages} messages failed with that"
        console.print(Text.assemble((f"{_INDENT}→ ", "bold"), f"{shown(repair.reason)}: {failed}"))
    console.print(Text(f"\n{explanation.renders} renders", style="dim"))


def _print_comparison(console: Console, comparison: Comparison) -> None:
    console.print(Text.assemble(("\n" + comparison.name, "bold cyan"), "  ", comparison.title))
    for sign, probe in (("-", comparison.first), ("+", comparison.second)):
        for line in conversation(probe).splitlines():
            console.print(Text(f"{_INDENT}{sign} {shown(line)}", style="dim"))
    joined = Text(_INDENT)
    for where, text in marks(tail_of(comparison.first), tail_of(comparison.second)):
        opened, closed = ("", "") if console.color_system else _BRACKETS[where]
        joined.append(f"{opened}{shown(text)}{closed}".replace("\n", f"\n{_INDENT}"), style=_STYLES[where])
    console.print(shown_text(joined))
    for fact in comparison.concluded:
        console.print(Text.assemble((f"{_INDENT}→ ", "bold"), shown(fact)))


def _print_log(console: Console, question: AnsweredQuestion, *, whole: bool) -> None:
    """Print the questions in order.  Conversations of one kind with the same answer are printed once."""
    results = (f"{title_of(probe)}: {shown(_result(probe, whole=whole))}" for probe in question.probes)
    for text, many in Counter(results).items():
        times = f"  ({many} conversations)" if many > 1 else ""
        console.print(Text(f"{_INDENT}{text}".replace("\n", f"\n{_INDENT}") + times))


def _result(probe: Probe, *, whole: bool) -> str:
    if isinstance(probe.result, Refusal):
        return f"refused: {probe.result.reason}"
    return conversation(probe) + "\n" + probe.result + "\n" if whole else repr(tail_of(probe))


def _is_next_wanted() -> bool:
    """Return whether to show the next comparison: Enter continues, q and the end of input stop."""
    print("-- Enter for the next, q to stop: ", end="", flush=True, file=sys.stderr)
    answer = sys.stdin.readline()
    return bool(answer) and not answer.strip().lower().startswith("q")
