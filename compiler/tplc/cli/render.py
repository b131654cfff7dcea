"""`tplc render`: messages to a prompt."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from tplc import driver
from tplc.cli import inputs
from tplc.errors import RenderFailed, RequestError, SourceError
from tplc.ir.nodes import Json
from tplc.ir.visible import shown
from tplc.paths import input_name
from tplc.project.files import json_of, read_tools, tools_in
from tplc.sources import check_name

_EXPECTED = 'expected a JSON list of {"role": …, "content": …}, or a request with one under "messages"'


def render_command(
    source: str,
    messages_file: str,
    tools_file: str | None,
    template_name: str | None,
    special_tokens: Sequence[str],
    variables: Sequence[str],
    limits: Sequence[str],
    *,
    generation_prompt: bool,
) -> None:
    inputs.check_standard_input({"the template": source, "the messages": messages_file}, {"the tools": [tools_file]})
    check_name(source)
    values = inputs.variables(variables)
    data = json_of(inputs.text_of(messages_file, "the messages"), messages_file)
    name = input_name(messages_file)
    messages = _messages(data, name)
    tools: list[dict[str, Json]] | None = None
    if tools_file is not None:
        tools = read_tools(tools_file)
    elif isinstance(data, dict) and data.get("tools"):
        tools = tools_in(data, name)
    template = inputs.load_template(source, template_name, special_tokens)
    _warn_of_unknown(values, template.text)
    with driver.open_renderer(
        template.text,
        name=template.name,
        special_tokens=template.special_tokens,
        limits=inputs.limits(limits),
        probing=False,
    ) as renderer:

        def render(given_messages: Sequence[Mapping[str, Any]], offered: Sequence[Mapping[str, Any]] | None) -> str:
            listed, given = (
                [dict(one) for one in given_messages],
                None if offered is None else [dict(tool) for tool in offered],
            )
            return renderer.render(listed, tools=given, add_generation_prompt=generation_prompt, **values)

        try:
            text = render(messages, tools)
        except RenderFailed as error:
            _refuse_failing(messages, tools, error, render, (name, tools_file or name))
            raise
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"the prompt is not text: it contains half a character (a surrogate) at {error.start}"
        raise SourceError(name, problem) from error
    # A file or a pipe gets the prompt as it is.
    sys.stdout.write(shown(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def _warn_of_unknown(variables: Mapping[str, Any], source: str) -> None:
    """Print a warning for each variable that the template doesn't read."""
    if not variables:
        return
    from tplc.serving.request import unknown_variables

    for warning in unknown_variables(variables, driver.template_variables(source), where="--var "):
        print(f"warning: {shown(warning)}", file=sys.stderr)


def _refuse_failing(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None,
    error: RenderFailed,
    render: Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]] | None], str],
    names: tuple[str, str],
) -> None:
    """Raise an error that names the tool or the message with which the render fails.  `names`: the files of both, the
    messages' first."""
    from tplc.serving.unshown import refuse_failing_messages, refuse_failing_tool

    if tools:
        with _in_file(names[1], error):
            refuse_failing_tool(tools, error, partial(render, messages))
    with _in_file(names[0], error):
        refuse_failing_messages(messages, error, lambda other: render(other, tools))


@contextmanager
def _in_file(name: str, error: RenderFailed) -> Iterator[None]:
    """Report what is wrong with a member of a request as an error in this file."""
    try:
        yield
    except RequestError as refusal:
        raise SourceError(name, f"{refusal.path}: {refusal.problem}") from error


def _messages(data: Json, name: str) -> list[dict[str, Json]]:
    """Return a list of messages, also from a request with one under "messages"."""
    listed: Any = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(listed, list):
        raise SourceError(name, "holds no messages", _EXPECTED)
    at = "messages" if isinstance(data, dict) else ""
    for index, message in enumerate(listed):
        if not isinstance(message, dict):
            raise SourceError(name, f"{at}[{index}]: is not a message", _EXPECTED)
        if not isinstance(message.get("role"), str):
            raise SourceError(name, f"{at}[{index}]: has no role", _EXPECTED)
    return listed
