"""Errors of invalid templates: the whole message."""

from __future__ import annotations

import pytest

from tplc.errors import RenderFailed, TemplateRaised, TemplateSyntaxError, TplcError, UnsafeTemplate
from tplc.ir.nodes import Json
from tplc.render import Renderer

HI: list[dict[str, Json]] = [{"role": "user", "content": "hi"}]


def failure(source: str) -> TplcError:
    with pytest.raises(TplcError) as caught, Renderer(source, name="chat.jinja") as renderer:
        renderer.render(HI)
    return caught.value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "{{ a b }}",
            """\
chat.jinja:1:6: expected token 'end of print statement', got 'b'
    {{ a b }}
         ^""",
        ),
        (
            "first\n    {%- fi x %}\nlast",
            """\
chat.jinja:2:9: Encountered unknown tag 'fi'.
    {%- fi x %}
        ^""",
        ),
        (
            "é\r\n{{ 'x' @ }}",
            """\
chat.jinja:2:8: unexpected char '@' at 9
    {{ 'x' @ }}
           ^""",
        ),
        (
            "{% if x %}\n  {% for y in z %}\n{% endif %}",
            """\
chat.jinja:3:4: Encountered unknown tag 'endif'. You probably made a nesting mistake. Jinja is expecting this tag, \
but currently looking for 'endfor' or 'else'. The innermost block that needs to be closed is 'for'.
    {% endif %}
       ^""",
        ),
        (
            "{{ x | nofilter }}",
            """\
chat.jinja:1: No filter named 'nofilter'.
    {{ x | nofilter }}""",
        ),
        (
            "{% if x %}\n",
            """\
chat.jinja:1: Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'. \
The innermost block that needs to be closed is 'if'.
    {% if x %}""",
        ),
        (
            "{{ " + "x + " * 100 + "b b }}",
            "chat.jinja:1:406: expected token 'end of print statement', got 'b'\n"
            "    " + "+ x " * 19 + "+ b b }}\n" + " " * (4 + 80) + "^",
        ),
    ],
)
def test_syntax_error(source: str, message: str) -> None:
    error = failure(source)
    assert isinstance(error, TemplateSyntaxError)
    assert error.exit_code == 1
    assert str(error) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\n{{ raise_exception('Only \"user\"') }}", 'chat.jinja:2: the template refused: Only "user"'),
        (
            "{% macro m() %}\n{{ raise_exception(1) }}\n{% endmacro %}\n{{ m() }}",
            "chat.jinja:2: the template refused: 1",
        ),
    ],
)
def test_refusal(source: str, message: str) -> None:
    error = failure(source)
    assert isinstance(error, TemplateRaised)
    assert str(error) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n{{ x.y.z }}", "chat.jinja:2: UndefinedError: 'x' is undefined"),
        ("{{ 1 + 'a' }}", "chat.jinja:1: TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("{{ x | tojson }}", "chat.jinja:1: TypeError: Object of type Undefined is not JSON serializable"),
        ("{{ 1 // 0 }}", "chat.jinja:1: ZeroDivisionError: integer division or modulo by zero"),
        ("{{ '' | from_json }}", "chat.jinja:1: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("{{ ([] | first) + 1 }}", "chat.jinja:1: UndefinedError: No first item, sequence was empty."),
    ],
)
def test_failed_render(source: str, message: str) -> None:
    error = failure(source)
    assert isinstance(error, RenderFailed)
    assert str(error) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% include 'a' %}", "a chat template cannot load another template: 'a'"),
        ("{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
    ],
)
def test_unsafe_template(source: str, message: str) -> None:
    error = failure(source)
    assert isinstance(error, UnsafeTemplate)
    assert str(error) == f"chat.jinja:1: the sandbox does not allow this: {message}"


def test_errors_carry_their_data() -> None:
    error = failure("\n{{ raise_exception('no') }}")
    assert isinstance(error, TemplateRaised)
    assert (error.name, error.line, error.message) == ("chat.jinja", 2, "no")
    failed = failure("{{ 1 // 0 }}")
    assert isinstance(failed, RenderFailed)
    assert (failed.type_name, failed.message) == ("ZeroDivisionError", "integer division or modulo by zero")


def test_a_long_message_is_cut() -> None:
    error = failure("{{ raise_exception('x' * 100000) }}")
    assert isinstance(error, TemplateRaised)
    assert error.message == "x" * 2000 + "…"


def test_an_error_does_not_end_the_renderer() -> None:
    with Renderer("{{ raise_exception('no') if messages | length > 1 else 'fine' }}") as renderer:
        for _ in range(3):
            with pytest.raises(TemplateRaised):
                renderer.render(HI * 2)
            assert renderer.render(HI) == "fine"
        assert renderer.count == 6
