"""Arguments with the names of words that also open a call, close one, or close a value: before what the template writes
after a key, such a word is a key."""

from __future__ import annotations

import json
from itertools import permutations, product

import pytest

from tests.backends.test_words_that_open_calls import TURN
from tests.fluent import Case, Engines
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.verify.artifact import load_module

# The text before the name, after it, and after the arguments.
CALLS = [("call ", ":\n", ""), ("tool-call ", "\n", ""), ("use tool ", ":\n", ""), ("begin ", "\n", "end\n")]
# The text after a key, a value as the template writes it, and the text after it.
QUOTED, RAW = "(v | tojson)", "(v if v is string else v | tojson)"
PAIRS = [
    (" = ", QUOTED, "\n"),
    ("=", QUOTED, ";\n"),
    (": ", RAW, "\n"),
    (" := ", RAW, "\n"),
    (" <<EOT\n", RAW, "\nEOT\n"),
    (" is ", QUOTED, "\n"),
]


def _format(call: tuple[str, str, str], pair: tuple[str, str, str]) -> Case:
    (before, after, closer), (key_end, value, value_end) = call, pair
    written = f"{{{{- {json.dumps(before)} + c.function.name + {json.dumps(after)} }}}}"
    written += "{%- for k, v in c.function.arguments.items() %}"
    written += f"{{{{- k + {json.dumps(key_end)} + {value} + {json.dumps(value_end)} }}}}{{%- endfor %}}"
    written += f"{{{{- {json.dumps(closer)} }}}}"
    source = TURN.replace("@OPEN@", "<|calls|>").replace("@CALL@", written).replace("@CLOSE@", "<|/calls|>")
    with open_renderer(source, name="words") as renderer:
        ir = learn_format(renderer, name="words", source_text=source)
    return Case(Engines(ir, load_module(generate(ir, "python")), PegEngine(ir)))


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("call", "pair"), [*product(CALLS, PAIRS)], ids=lambda texts: texts[0].strip())
def test_a_word_before_the_end_of_a_key_is_a_key(call: tuple[str, str, str], pair: tuple[str, str, str]) -> None:
    of, (before, after, closer), (key_end, value, value_end) = _format(call, pair), call, pair
    # Raw values go on over a key with white space.
    opener = before.strip() if value == QUOTED else before.split()[-1]
    words = [opener, closer.strip() or "calls", "EOT" if "EOT" in key_end else "q"]
    calls, written = [], ""
    for keys in permutations(words):
        pairs = [f"{key}{key_end}{json.dumps('x') if value == QUOTED else 'x'}{value_end}" for key in keys]
        written += before + "look" + after + "".join(pairs) + closer
        calls.append(("look", dict.fromkeys(keys, "x")))
    of.output(f"<|calls|>{written}<|/calls|>").expect(calls=calls)
