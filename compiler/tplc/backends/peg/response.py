"""The rules of an answer in a response format: content that is JSON, as a schema has it.

    {"city": {"type": "string"}}
    →  content_for_answer = ~r"\\s*+" answer &answer_end
       answer             = object_for_answer / value_for_json
       object_for_answer  = object_open_for_json (member_for_answer …)? object_close_for_json

What the schema does not know is read all the same, and what is no JSON is content like any other.
"""

from __future__ import annotations

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.known_tools import known_tool
from tplc.backends.peg.patterns import leaf
from tplc.backends.peg.rules import Section, placed, rule
from tplc.backends.peg.schemas import schema_rules
from tplc.backends.peg.values import value_rules
from tplc.ir.nodes import JSON_STYLE, Dialect, Json

JSON_DIALECT = Dialect(JSON_STYLE, JSON_STYLE, JSON_STYLE)
ANSWER = "_for_answer"


def response_section(schema: Json, form: FormPatterns) -> Section:
    ends = form.named("turn_end", "content_close")
    spaces, stop = leaf(r"\s*+"), leaf(r"\Z")
    schemas = schema_rules(known_tool("answer", schema), JSON_DIALECT)
    rules = [each for each in schemas if each.name != f"arguments{ANSWER}"]  # of an object with known members
    own = placed(rules, "_for_json", but=frozenset(each.name for each in rules))
    return Section(
        "An answer in the response format: JSON, as its schema has it; else any JSON.",
        (
            rule("content_for_answer", f"{spaces} answer &answer_end"),
            rule("answer", *[f"object{ANSWER}"] * bool(rules), "value_for_json"),
            rule("answer_end", f"{spaces} ({' / '.join([*ends, stop])})"),
            *own,
            *placed(value_rules(JSON_STYLE, JSON_DIALECT), "_for_json"),
        ),
    )
