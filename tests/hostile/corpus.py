"""Templates written to escape from the sandbox, to read something, or to exhaust resources.

Each has the error it ends in: the class and the whole message, for a template named hostile.jinja.
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.errors import (
    LimitExceeded,
    RenderFailed,
    TemplateError,
    TemplateRaised,
    TemplateSyntaxError,
    UnsafeTemplate,
    exceeded,
)


@dataclass(frozen=True, slots=True)
class Hostile:
    name: str
    source: str
    error: type[TemplateError]
    message: str


def unsafe(name: str, source: str, attribute: str, of: str) -> Hostile:
    what = f"the sandbox does not allow this: access to attribute {attribute!r} of {of!r} object is unsafe"
    return Hostile(name, source, UnsafeTemplate, f"hostile.jinja:1: {what}")


def forbidden(name: str, source: str, what: str) -> Hostile:
    return Hostile(name, source, UnsafeTemplate, f"hostile.jinja:1: the sandbox does not allow this: {what}")


def limit(name: str, source: str, which: str, *, line: int | None = 1) -> Hostile:
    place = "hostile.jinja" if line is None else f"hostile.jinja:{line}"
    return Hostile(name, source, LimitExceeded, f"{place}: {which}")


def failed(name: str, source: str, message: str) -> Hostile:
    return Hostile(name, source, RenderFailed, f"hostile.jinja:1: {message}")


def syntax(name: str, source: str, message: str) -> Hostile:
    return Hostile(name, source, TemplateSyntaxError, message)


TIME = exceeded("render_seconds", "1.5")
MEMORY = exceeded("memory_mb", "256")
OUTPUT = exceeded("output_chars", "2000000")
RANGE = exceeded("range_items", "100000")
BITS = exceeded("number_bits", "10000")
RECURSION = exceeded("recursion", "1000")

NESTING = "{% set n = namespace(l=[]) %}{% for i in range(90000) %}{% set n.l = [n.l] %}{% endfor %}"

ATTRIBUTES = [
    unsafe("class of a string", "{{ ''.__class__ }}", "__class__", "str"),
    unsafe("method resolution order", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "__class__", "str"),
    unsafe("class of a list by subscript", "{{ []['__class__'] }}", "__class__", "list"),
    unsafe("class by filter", "{{ () | attr('__class__') | attr('__base__') }}", "__class__", "tuple"),
    unsafe("class by a name put together", "{{ ()['__cl' ~ 'ass__'] }}", "__class__", "tuple"),
    unsafe("class by escapes", r"{{ ()['\x5f\x5fclass\x5f\x5f'] }}", "__class__", "tuple"),
    unsafe("class by a format", "{{ () | attr('%c%cclass%c%c' | format(95, 95, 95, 95)) }}", "__class__", "tuple"),
    unsafe("class by joining", "{{ () | attr(['__', 'class', '__'] | join) }}", "__class__", "tuple"),
    unsafe("class by reversing", "{{ () | attr('__ssalc__' | reverse) }}", "__class__", "tuple"),
    unsafe("globals of a function", "{{ raise_exception.__globals__ }}", "__globals__", "function"),
    unsafe("builtins of a function", "{{ lipsum.__globals__['os'].popen('id').read() }}", "__globals__", "function"),
    unsafe("code of a function", "{{ strftime_now.__code__ }}", "__code__", "function"),
    unsafe("closure of a function", "{{ raise_exception.__closure__ }}", "__closure__", "function"),
    unsafe("init of a cycler", "{{ cycler.__init__.__globals__.os }}", "__init__", "type"),
    unsafe("init of a joiner", "{{ joiner.__init__.__globals__.os }}", "__init__", "type"),
    unsafe("init of a namespace", "{{ namespace.__init__.__globals__.os }}", "__init__", "type"),
    unsafe("the template's own object", "{{ self.__init__.__globals__ }}", "__init__", "TemplateReference"),
    unsafe(
        "the template's context",
        "{{ self._TemplateReference__context }}",
        "_TemplateReference__context",
        "TemplateReference",
    ),
    unsafe("the loop's own object", "{% for x in [1] %}{{ loop.__init__ }}{% endfor %}", "__init__", "LoopContext"),
    unsafe("the loop's iterator", "{% for x in [1] %}{{ loop._iterator }}{% endfor %}", "_iterator", "LoopContext"),
    unsafe("a macro's function", "{% macro m() %}{% endmacro %}{{ m._func.__globals__ }}", "_func", "Macro"),
    unsafe(
        "a macro's environment", "{% macro m() %}{% endmacro %}{{ m._environment.loader }}", "_environment", "Macro"
    ),
    unsafe(
        "a caller's function",
        "{% macro m() %}{{ caller._func }}{% endmacro %}{% call m() %}{% endcall %}",
        "_func",
        "Macro",
    ),
    unsafe(
        "underscores of a namespace",
        "{% set n = namespace() %}{{ n._Namespace__attrs }}",
        "_Namespace__attrs",
        "Namespace",
    ),
    unsafe("mro of a type", "{{ dict.mro() }}", "mro", "type"),
    unsafe("class by mapping over attributes", "{{ [''] | map(attribute='__class__') | list }}", "__class__", "str"),
    unsafe("class by selecting attributes", "{{ [''] | selectattr('__class__') | list }}", "__class__", "str"),
    unsafe("class by sorting", "{{ ['', 'a'] | sort(attribute='__class__') }}", "__class__", "str"),
    unsafe("class by grouping", "{{ [''] | groupby('__class__') }}", "__class__", "str"),
    unsafe("class by summing", "{{ [''] | sum(attribute='__class__') }}", "__class__", "str"),
    unsafe("class by a dotted attribute", "{{ [['']] | map(attribute='0.__class__') | list }}", "__class__", "str"),
    unsafe("class in a format string", "{{ '{0.__class__}'.format('') }}", "__class__", "str"),
    unsafe("class in a nested format", "{{ '{0:{1.__class__}}'.format(1, '') }}", "__class__", "str"),
    unsafe("class by format_map", "{{ '{x.__class__}'.format_map({'x': ''}) }}", "__class__", "str"),
    unsafe("class by a stored format", "{% set f = '{0.__class__}'.format %}{{ f('') }}", "__class__", "str"),
    unsafe("class by a filtered format", "{{ ('{0.__class__}' | attr('format'))('') }}", "__class__", "str"),
    unsafe("class by a safe format", "{{ ('{0.__class__}' | safe).format('') }}", "__class__", "str"),
    unsafe(
        "class by mapping a format",
        "{% set f = ['{0.__class__}'] | map(attribute='format') | first %}{{ f('') }}",
        "__class__",
        "str",
    ),
    unsafe("generator's frame", "{{ ([1] | map('string')).gi_frame }}", "gi_frame", "generator"),
    unsafe("generator's code", "{{ ([1] | select).gi_code.co_code }}", "gi_code", "generator"),
    unsafe("traceback of an undefined", "{{ nothing.__class__ }}", "__class__", "Undefined"),
    unsafe("in a condition", "{% if ''.__class__ is defined %}{% endif %}", "__class__", "str"),
    unsafe("in a default", "{{ ''.__class__ | default('') }}", "__class__", "str"),
    unsafe("in an assignment that is never read", "{% set x = ''.__doc__ %}", "__doc__", "str"),
    unsafe("import by builtins", "{{ messages.__class__.__base__.__subclasses__() }}", "__class__", "list"),
]

LOADING = [
    forbidden("include", "{% include '/etc/passwd' %}", "a chat template cannot load another template: '/etc/passwd'"),
    forbidden(
        "include that may be missing",
        "{% include 'x' ignore missing %}",
        "a chat template cannot load another template: 'x'",
    ),
    forbidden("include of any", "{% include ['x', '../y'] %}", "a chat template cannot load another template: 'x'"),
    forbidden("import", "{% import 'os' as os %}", "a chat template cannot load another template: 'os'"),
    forbidden("from import", "{% from 'os' import system %}", "a chat template cannot load another template: 'os'"),
    forbidden("extends", "{% extends 'base' %}", "a chat template cannot load another template: 'base'"),
]

TOO_MUCH = [
    limit(
        "nested loops",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        TIME,
        line=None,
    ),
    limit("filler text", "{{ lipsum(n=10 ** 8) }}", TIME, line=None),
    limit("one long word, wrapped", "{{ ('a' * 999999) | wordwrap(1) }}", TIME, line=None),
    limit("power of a power", "{{ 10 ** (10 ** 10) }}", BITS),
    limit("power while compiling", "{% set x = 9 ** (9 ** 9) %}", BITS),
    limit("squares", "{% set n = namespace(x=3) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}", BITS),
    limit("a string many times", "{{ 'a' * 10 ** 10 }}", OUTPUT),
    limit("many times a string", "{{ 10 ** 10 * 'a' }}", OUTPUT),
    limit("a list many times", "{{ [0] * 10 ** 10 }}", OUTPUT),
    limit("huge range", "{{ range(10 ** 10) | list }}", RANGE),
    limit("huge range backwards", "{{ range(10 ** 18, 0, -1) | length }}", RANGE),
    limit("range beyond the machine's integers", "{{ range(10 ** 30) | last }}", RANGE),
    limit("centred in a desert", "{{ 'a' | center(10 ** 10) }}", MEMORY),
    limit("left of a desert", "{{ 'a'.ljust(10 ** 10) }}", MEMORY),
    limit("zeros", "{{ '1'.zfill(10 ** 10) }}", MEMORY),
    limit("width in a format", "{{ '{:>9999999999}'.format(1) }}", MEMORY),
    limit("batches to fill", "{{ [1] | batch(10 ** 10, 0) | list }}", MEMORY),
    limit("indentation", r"{{ ('\n' * 99999) | indent(99999, blank=true) }}", MEMORY),
    limit(
        "exponential replacement",
        "{% set n = namespace(s='aa') %}{% for i in range(99) %}{% set n.s = n.s.replace('a', n.s) %}{% endfor %}",
        MEMORY,
    ),
    limit(
        "doubling",
        "{% set n = namespace(s='aa') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        MEMORY,
    ),
    limit("doubling a list", "{% set l = [0] %}{% for i in range(99) %}{% set _ = l.extend(l) %}{% endfor %}", MEMORY),
    limit("joining deserts", "{{ ([' ' * 999999] * 999) | join }}", MEMORY),
    limit("output by drops", "{% for i in range(99999) %}{{ '0123456789' * 9 }}{% endfor %}", OUTPUT, line=None),
    limit(
        "output of a macro",
        "{% macro m() %}{% for i in range(99999) %}{{ 'x' * 99 }}{% endfor %}{% endmacro %}{{ m() }}",
        OUTPUT,
        line=None,
    ),
    limit("macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", RECURSION),
    limit(
        "macros that call each other",
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
        RECURSION,
    ),
    limit("loop that calls itself", "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", RECURSION),
    limit("JSON nested deeply", "{{ ('[' * 99999) | from_json }}", RECURSION),
    limit(
        "list nested deeply",
        "{% set n = namespace(l=[]) %}{% for i in range(9999) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}",
        RECURSION,
    ),
    limit("parentheses", "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", RECURSION, line=None),
    limit("lists in the source", "{{ " + "[" * 500 + "]" * 500 + " }}", RECURSION, line=None),
    limit("negations", "{{ " + "not " * 5000 + "1 }}", RECURSION, line=None),
    limit("conditions in conditions", "{% if 1 %}" * 400 + "{% endif %}" * 400, RECURSION, line=None),
    limit(
        "loops in loops",
        "{% for x in [1] %}" * 30 + "{% endfor %}" * 30,
        exceeded("nesting", "too many statically nested blocks"),
        line=None,
    ),
    limit("source without end", "x" * 1_000_001, exceeded("source_chars", "1000000"), line=None),
]

REFUSED_OR_WRONG = [
    failed(
        "list that holds itself",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
        "ValueError: Circular reference detected",
    ),
    failed("undefined callable", "{{ open('/etc/passwd').read() }}", "UndefinedError: 'open' is undefined"),
    failed("import function", "{{ __import__('os') }}", "UndefinedError: '__import__' is undefined"),
    failed("builtins", "{{ __builtins__.eval('1') }}", "UndefinedError: '__builtins__' is undefined"),
    failed("request of a web server", "{{ request.application.x }}", "UndefinedError: 'request' is undefined"),
    failed("list that holds itself, as a key", "{% set d = {[]: 1} %}", "TypeError: unhashable type: 'list'"),
    forbidden("a codec that is a module to load", "{{ 'a'.encode('idna') }}", "opening a file"),
    Hostile(
        "refusal that forges an error",
        "{{ raise_exception('a\nhostile.jinja:9: a limit') }}",
        TemplateRaised,
        "hostile.jinja:1: the template refused: a\nhostile.jinja:9: a limit",
    ),
    syntax("unknown filter", "{{ 1 | system }}", "hostile.jinja:1: No filter named 'system'.\n    {{ 1 | system }}"),
    syntax(
        "statement that is not enabled",
        "{% do messages.append(1) %}",
        "hostile.jinja:1:4: Encountered unknown tag 'do'.\n    {% do messages.append(1) %}\n       ^",
    ),
    syntax(
        "Python next to an expression",
        "{{ 1; import os }}",
        "hostile.jinja:1:5: expected token 'end of print statement', got ';'\n    {{ 1; import os }}\n        ^",
    ),
    failed(
        "assignment to an attribute",
        "{% set messages.x = 1 %}",
        "TemplateRuntimeError: cannot assign attribute on non-namespace object",
    ),
]

FURTHER = [
    unsafe(
        "classes of mapped messages", "{{ messages | map(attribute='__class__.__mro__') | list }}", "__class__", "dict"
    ),
    unsafe("a filter that maps a filter", "{{ [1] | map('attr', '__class__') | list }}", "__class__", "int"),
    unsafe("length by sorting", "{{ messages | sort(attribute='__len__') | list }}", "__len__", "dict"),
    unsafe("exception of the undefined", "{{ x._undefined_exception }}", "_undefined_exception", "Undefined"),
    unsafe(
        "context of the template",
        "{{ self._TemplateReference__context }}",
        "_TemplateReference__context",
        "TemplateReference",
    ),
    unsafe("format of safe text", "{{ ('{0.__class__}' | safe).format(1) }}", "__class__", "int"),
    unsafe("globals of a class", "{{ cycler.__init__.__globals__ }}", "__init__", "type"),
    limit("filters on filters", "{{ 1" + " | abs" * 50_000 + " }}", RECURSION, line=None),
    limit("attributes of attributes", "{{ x" + ".a" * 50_000 + " }}", RECURSION, line=None),
    limit("conditions in conditions in conditions", "{% if 1 %}" * 3000 + "{% endif %}" * 3000, RECURSION, line=None),
    limit("generation in generation", "{% generation %}" * 500 + "{% endgeneration %}" * 500, RECURSION, line=None),
    limit("a list in a list, printed", f"{NESTING}{{{{ n.l }}}}", RECURSION),
    limit("a tab as wide as the world", "{{ '\t'.expandtabs(10 ** 9) }}", MEMORY),
    limit("a number of zeros", "{{ '1'.zfill(10 ** 9) }}", MEMORY),
    limit("a width within a width", "{{ '{:{}}'.format('a', 10 ** 9) }}", MEMORY),
    limit("a text between the letters of a text", "{{ ('a' * 999999) | join('a' * 1000) }}", MEMORY),
    limit("letters that become texts", "{{ ('a' * 99999).translate({97: 'b' * 99999}) }}", MEMORY),
    limit(
        "replacing what was replaced",
        "{% set n = namespace(s='a' * 10) %}{% for i in range(20) %}"
        "{% set n.s = n.s.replace('a', 'a' * 10) %}{% endfor %}",
        MEMORY,
    ),
    limit(
        "keys with one hash",
        "{% set d = {} %}{% for i in range(99999) %}{% set _ = d.update({i * (2 ** 61 - 1): 1}) %}{% endfor %}",
        TIME,
        line=None,
    ),
    limit("messages that grow", "{% for m in messages %}{% set _ = messages.append(m) %}{% endfor %}", TIME, line=None),
]

CORPUS = [*ATTRIBUTES, *LOADING, *TOO_MUCH, *REFUSED_OR_WRONG, *FURTHER]
