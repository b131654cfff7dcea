"""Each rule for slips on one output: the message, whether it is incomplete, and the diagnostics; in every chunking."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fuzz.formats import named
from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading

OSLO = ("get_weather", {"city": "Oslo", "days": 3})

OBJECT = "an object in the place of arguments"
RULES: dict[str, tuple[str, str, Any, bool, list[str]]] = {
    "keywords after an object": (
        "keyword-calls",
        '<.code.>[get_weather({"city": "Oslo"}, days=3), get_time(zone="CET", exact=true)]<./code.>',
        (None, None, [OSLO, ("get_time", {"zone": "CET", "exact": True})]),
        False,
        [OBJECT],
    ),
    "keywords after an object with one of its keys": (
        "keyword-calls",
        '<.code.>[get_weather({"city": "Oslo"}, city="Rome")]<./code.>',
        (' city="Rome")]<./code.>', None, [("get_weather", {"city": "Oslo"})]),
        True,
        [OBJECT, "not a call: expected name"],
    ),
    "keywords after an object that no tool has": (
        "keyword-calls",
        '<.code.>[get_weather({"city": "Oslo"}, zone=3)]<./code.>',
        (" zone=3)]<./code.>", None, [("get_weather", {"city": "Oslo"})]),
        True,
        [OBJECT, "not a call: expected name"],
    ),
    "a comment before a call": (
        "keyword-calls",
        '<.code.>[# The weather.\nget_weather(city="Oslo", days=3)]<./code.>',
        (None, None, [OSLO]),
        False,
        ["calls that are not written as the template does"],
    ),
    "comments before objects": (
        "json-array",
        '«wishes»// First\n[{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]«/wishes»«/»',
        (None, None, [OSLO]),
        False,
        ["calls that are not written as the template does"],
    ),
    "a colon after a key": (
        "key-value-tags",
        "\n[ability]get_weather\n[k]city:[/k]\n[v]Oslo[/v]\n[k]days[/k]\n[v]3[/v]\n[/ability]",
        (None, None, [OSLO]),
        False,
        ["the argument city is written as city:"],
    ),
    "a colon before the opener of a value": (
        "key-value-tags",
        "\n[ability]get_weather\n[k]city[/k]: [v]Oslo[/v]\n[k]days[/k] => [v]3[/v]\n[/ability]",
        (None, None, [OSLO]),
        False,
        [
            "the argument city is not written as the template does",
            "the argument days is not written as the template does",
        ],
    ),
    "no arguments in the fence of a header": (
        "fenced-json",
        "〔调用〕〔一个〕function〔名〕list_all\n```json\n\n```〔/一个〕〔/调用〕〔完〕",
        (None, None, [("list_all", {})]),
        False,
        ["expected the arguments"],
    ),
    "strings in quotes in elements named by keys": (
        "tagged-name-json",
        '§call§get_weather§with§<city>"Oslo"</city><days>3</days>§end§',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "an argument without its closer ends where the next begins": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo<arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        True,
        ["an argument is not closed"],
    ),
    "an argument without its opener": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo</arg>days">3</arg></act>',
        (None, None, [OSLO]),
        True,
        ["the argument days is not opened"],
    ),
    "an argument without a closer before one without an opener, in a line of its own": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\ndays>\n3\n</with>\n</do>\n</deed><:>\n",
        (None, None, [OSLO]),
        True,
        ["an argument is not closed", "the argument days is not opened"],
    ),
    "no argument begins in a value that quotes a call": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\n<do=f>\n<with=days>\ndays>\n3\n</with>\n</do>\n</deed><:>\n",
        (None, None, [("get_weather", {"city": "<do=f>\n<with=days>\ndays>\n3"})]),
        True,
        ["<with=days> is like a marker, but remains in the message"],
    ),
    "an argument with other quotes": (
        "cdata-values",
        "<act name=\"get_weather\"><arg key='city'>Oslo</arg><arg key=days>3</arg></act>",
        (None, None, [OSLO]),
        False,
        [
            "the argument city is not written as the template does",
            "the argument days is not written as the template does",
        ],
    ),
    "a name with other quotes": (
        "cdata-values",
        '<act name=\'get_weather\'><arg key="city">Oslo</arg><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        False,
        ["the header of a call of get_weather is not as the template writes it"],
    ),
    "a name in another attribute": (
        "nested-elements",
        '^<jobs>\n^<job name="get_weather">^<city>Oslo^</city>^<days>3^</days>^</job>\n^</jobs>^[.]^\n',
        (None, None, [OSLO]),
        False,
        ["the header of a call of get_weather is not as the template writes it"],
    ),
    "a colon after keys that only a space ends": (
        "words-in-calls",
        '⟨do get_weather city: "Oslo" days: 3⟩⟪stop⟫',
        (None, None, [OSLO]),
        False,
        [
            "the argument city is written as city:",
            "the argument days is written as days:",
        ],
    ),
    "a value that begins with the opener of values": (
        "key-value-tags",
        "[ability]get_weather\n[k]city[/k]\n[v][v]Oslo[/v]\n[k]days[/k]\n[v]3[/v]\n[/ability]\n[@user@]",
        (None, None, [("get_weather", {"city": "[v]Oslo", "days": 3})]),
        True,
        ["[v] is like a marker, but remains in the message"],
    ),
    "a value that quotes an argument of the same name": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\n<with=city>x</with> is it\n</with>\n<with=days>\n3\n</with>\n"
        "</do>\n</deed><:>\n",
        (None, None, [("get_weather", {"city": "<with=city>x</with> is it", "days": 3})]),
        False,
        ["an argument contains its own closing marker"],
    ),
    "a required argument without its opener is in the value of another": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo</arg>\n3</arg></act>',
        (None, None, [("get_weather", {"city": "Oslo</arg>\n3"})]),
        True,
        ["an argument contains its own closing marker"],
    ),
    "a call in a value that ends the value": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nSee <deed>\n<do=get_time>\n<with=zone>\nCET\n</with>\n</do>\n"
        "</deed> there\n</with>\n<with=days>\n3\n</with>\n</do>\n</deed><:>\n",
        (
            " there\n</with>\n<with=days>\n3\n</with>\n</do>\n</deed>",
            None,
            [("get_weather", {"city": "See <deed>\n<do=get_time>\n<with=zone>\nCET"})],
        ),
        True,
        ["</with>\n< is like a marker, but remains in the message"],
    ),
    "the id of a call among its arguments": (
        "array-with-ids",
        ' {{DO}} [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3, "id": "call00000"}}]{{END}}',
        (None, None, [("get_weather", {"city": "Oslo", "days": 3, "id": "call00000"})]),
        True,
        ["the tool get_weather has no argument id"],
    ),
    "a key without a value": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "Oslo", "days"}}[=stop=]',
        (None, None, [("get_weather", {"city": "Oslo", "days": None})]),
        True,
        ["call: missing value"],
    ),
    "text in the place of an argument": (
        "cdata-values",
        '<act name="get_weather">by the way<arg key="city">Oslo</arg></act>',
        ("by the way", None, [("get_weather", {"city": "Oslo"})]),
        True,
        ["expected an argument or the end of the call"],
    ),
    "a closer of a value in another spelling": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo</ARG><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does"],
    ),
    "what opens and closes a call in another spelling": (
        "cdata-values",
        '<Act name="get_weather"><arg key="city">Oslo</arg><ARG key="days">3</arg></ ACT>',
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does"] * 3,
    ),
    "what closes reasoning in another spelling": (
        "parameter-tags",
        "Hm.\n</Musings>\n\nIt is two.",
        ("It is two.", "Hm.", []),
        False,
        ["a marker is not spelled as the template does"],
    ),
    "text where an unclosed call has its arguments": (
        "channels",
        '{to}fn.get_weather{}work{body}{"city": "Oslo", "days": 3}{invoke}{done}',
        ('work{body}{"city": "Oslo", "days": 3}', None, [("get_weather", {})]),
        True,
        ["text follows the arguments of a call"],
    ),
    "a closer with other brackets before the end of the turn": (
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n<\\fn><~/~>\n',
        (None, None, [OSLO]),
        False,
        ["<\\fn> is left over after a call"],
    ),
    "a short word in brackets of another kind is text": (
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n<fn/><~/~>\n',
        ("\n<fn/>", None, [OSLO]),
        False,
        ["<fn/> is like a marker, but remains in the message"],
    ),
    "a longer one": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>\n<deed/><:>\n",
        (None, None, [OSLO]),
        False,
        ["<deed/> is left over after a call"],
    ),
    "the same before other text": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>\n<deed/> x<:>\n",
        ("\n<deed/> x", None, [OSLO]),
        False,
        [],
    ),
    "a bracket too many before another message": (
        "addressed-parts",
        ' to list_all:><run name="list_all">\n</run>><:more:><:from assistant to get_weather:>'
        '<run name="get_weather">\n<given name="city">Oslo</given>\n<given name="days">3</given>\n</run><:over:>',
        (None, None, [("list_all", {}), OSLO]),
        False,
        ["> is left over after a call"],
    ),
    "a number with a point for an integer": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3.0\n</with>\n</do>\n</deed><:>\n",
        (None, None, [OSLO]),
        False,
        ["an argument is not written as its type is"],
    ),
    "a value of another type in JSON is reported": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "Oslo", "days": "3"}}[=stop=]',
        (None, None, [("get_weather", {"city": "Oslo", "days": "3"})]),
        False,
        ["the argument days is not of the type in the schema"],
    ),
    "doubled quotes": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {""city"": ""Oslo"", ""days"": 3}}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["call: doubled quotes"],
    ),
    "three quotes around a value": (
        "sectioned-ids",
        '<!calls!><!call!>tools.get_weather:0<!args!>{"city": """Oslo""", "days": 3}<!/call!><!/calls!><!.!>',
        (None, None, [OSLO]),
        False,
        ["arguments: a string as in Python"],
    ),
    "three quotes around lines with quotes": (
        "sectioned-ids",
        '<!calls!><!call!>tools.get_weather:0<!args!>{"city": """\n"Os\\nlo"\n""", "days": 3}<!/call!><!/calls!><!.!>',
        (None, None, [("get_weather", {"city": '\n"Os\nlo"\n', "days": 3})]),
        False,
        ["arguments: a string as in Python"],
    ),
    "three quotes in a Python call": (
        "keyword-calls",
        '<.code.>[get_weather(city="""Os\n"l"o""", days=3), get_time(zone='
        "'''CET''', exact=True)]<./code.><./.>\n",
        (None, None, [("get_weather", {"city": 'Os\n"l"o', "days": 3}), ("get_time", {"zone": "CET", "exact": True})]),
        False,
        ["arguments: a string as in Python", "arguments: a string as in Python"],
    ),
    "strings with a prefix in a Python call": (
        "keyword-calls",
        "<.code.>[get_weather(city=f\"Oslo\", days=3), get_time(zone=r'C\\n', exact=True)]<./code.><./.>\n",
        (None, None, [OSLO, ("get_time", {"zone": "C\\n", "exact": True})]),
        False,
        ["arguments: a string as in Python", "arguments: a string as in Python"],
    ),
    "a fence with a language around Python calls": (
        "keyword-calls",
        '<.code.>```python\n[get_weather(city="Oslo", days=3)]\n```<./code.><./.>\n',
        (None, None, [OSLO]),
        False,
        ["calls that are not written as the template does"],
    ),
    "a fence around other code is no call": (
        "keyword-calls",
        "<.code.>```python\nprint(1)\n```<./code.><./.>\n",
        ("<.code.>```python\nprint(1)\n```<./code.>", None, []),
        False,
        ["not a call: expected the name of a tool"],
    ),
    "a set in a Python call": (
        "keyword-calls",
        "<.code.>[make_plan(tags={'sea', \"a hill\"}, options={'a': 1}), get_time(zone={1, 2}, exact=True)]"
        "<./code.><./.>\n",
        (
            None,
            None,
            [
                ("make_plan", {"tags": ["sea", "a hill"], "options": {"a": 1}}),
                ("get_time", {"zone": [1, 2], "exact": True}),
            ],
        ),
        True,
        [
            "arguments: a set or a tuple as in Python",
            "arguments: a set or a tuple as in Python",
            "the argument zone is not of the type in the schema",
        ],
    ),
    "a tuple in a Python call": (
        "bare-keyword-calls",
        "[make_plan(tags=('sea', \"a hill\",), options={}), make_plan(tags=( 'a' , ), options={\"b\": {}})]~~\n",
        (
            None,
            None,
            [
                ("make_plan", {"tags": ["sea", "a hill"], "options": {}}),
                ("make_plan", {"tags": ["a"], "options": {"b": {}}}),
            ],
        ),
        False,
        ["arguments: a set or a tuple as in Python", "arguments: a set or a tuple as in Python"],
    ),
    "one string in brackets is no tuple": (
        "keyword-calls",
        '<.code.>[make_plan(tags=["sea"], options={}), get_time(zone=(1), exact=True)]<./code.><./.>\n',
        (None, None, [("make_plan", {"tags": ["sea"], "options": {}}), ("get_time", {"zone": "(1)", "exact": True})]),
        False,
        ["arguments: missing quotes"],
    ),
    "code before a Python call": (
        "keyword-calls",
        '<.code.>[w = await get_weather(city="Oslo", days=3), return list_all()]<./code.><./.>\n',
        (None, None, [OSLO, ("list_all", {})]),
        False,
        [
            "the tool get_weather is called as w = await get_weather",
            "the tool list_all is called as return list_all",
        ],
    ),
    "an empty string in a Python call is no beginning of three quotes": (
        "keyword-calls",
        '<.code.>[get_weather(city="", days=3)]<./code.><./.>\n',
        (None, None, [("get_weather", {"city": "", "days": 3})]),
        False,
        [],
    ),
    "an empty string is no doubled quote": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "", "days": 3}}[=stop=]',
        (None, None, [("get_weather", {"city": "", "days": 3})]),
        False,
        [],
    ),
    "where a value without its second quote ends is a guess": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "Oslo, "days": 3}}[=stop=]',
        (None, None, [("get_weather", {"city": "Oslo, ", "days": 3})]),
        True,
        ["call: missing quotes"],
    ),
    "so is what another bracket closes": (
        "sectioned-ids",
        '<!calls!><!call!>tools.make_plan:0<!args!>{"tags": ["sea"}, "options": {}}<!/call!><!/calls!><!.!>',
        (', "options": {}}', None, [("make_plan", {"tags": ["sea"]})]),
        True,
        ["arguments: missing closing bracket", "text follows the arguments of a call"],
    ),
    "parentheses around the arguments": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": ({"city": "Oslo", "days": 3})}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "a fence around the arguments": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": ```json\n{"city": "Oslo", "days": 3}\n```}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "keywords in the place of the arguments": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": (city="Oslo", days=3)}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "elements in the place of the arguments": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": <city>Oslo</city><days>3</days>}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "keywords of no tool make no arguments": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": (town="Oslo")}[=stop=]',
        ('"(town=\\"Oslo\\")"', None, [("get_weather", {})]),
        True,
        ["the arguments are not an object", "call: missing quotes"],
    ),
    "punctuation before the arguments": (
        "sectioned-ids",
        '<!calls!><!call!>tools.get_weather:0<!args!>>{"city": "Oslo", "days": 3}<!/call!><!/calls!><!.!>',
        (None, None, [OSLO]),
        False,
        ["arguments: in another form"],
    ),
    "other text in the place of the arguments": (
        "sectioned-ids",
        "<!calls!><!call!>tools.get_weather:0<!args!>hm<!/call!><!/calls!><!.!>",
        ("hm", None, [("get_weather", {})]),
        True,
        ["expected the arguments", "text follows the arguments of a call"],
    ),
    "an argument with another attribute": (
        "cdata-values",
        '<act name="get_weather"><arg key="city" type="string">Oslo</arg><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        False,
        ["the argument city is not written as the template does"],
    ),
    "an argument with bars in its opener": (
        "cdata-values",
        '<act name="get_weather"><|arg key="city"|>Oslo</arg><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        False,
        ["the argument city is not written as the template does"],
    ),
    "a bracket too many between arguments": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo</arg>><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        False,
        ["the argument days is not written as the template does"],
    ),
    "a line end in the place of a key's end": (
        "cdata-values",
        '<act name="get_weather"><arg key="city\nOslo</arg><arg key="days">3</arg></act>',
        (None, None, [OSLO]),
        True,
        ["the argument city is not written as the template does"],
    ),
    "escaped white space between members": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "Oslo",\\n"days": 3}}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["call: escaped white space"],
    ),
    "a bracket too many after what opens a call": (
        "tagged-json",
        '<fn>>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</fn><~/~>\n',
        (None, None, [OSLO]),
        False,
        ["calls that are not written as the template does"],
    ),
    "the same before a name": (
        "key-value-tags",
        "[ability]>get_weather\n[k]city[/k]\n[v]Oslo[/v]\n[k]days[/k]\n[v]3[/v]\n[/ability]\n[@user@]",
        (None, None, [OSLO]),
        False,
        ["the header of a call of get_weather is not as the template writes it"],
    ),
    "bars in what opens a call": (
        "parameter-tags",
        "\n\n<|deed|>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>\n</deed><:>\n",
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does"],
    ),
    "a backslash for a slash after a value": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n<\\with>\n<with=days>\n3\n</with>\n</do>\n</deed><:>\n",
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does"],
    ),
    "the same in a value is text": (
        "parameter-tags",
        "\n\n<deed>\n<do=get_weather>\n<with=city>\na <\\with> b\n</with>\n<with=days>\n3\n</with>\n</do></deed><:>\n",
        (None, None, [("get_weather", {"city": "a <\\with> b", "days": 3})]),
        False,
        [],
    ),
    "another case before a fence with a language": (
        "open-json",
        '[=REQUEST=]\n```json\n{"function": "get_weather", "input": {"city": "Oslo", "days": 3}}\n```[=stop=]',
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does", "``` is left over after a call"],
    ),
    "a number that is not JSON": (
        "open-json",
        '[=request=]{"function": "get_weather", "input": {"city": "Oslo", "days": 03}}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["call: not written as in JSON"],
    ),
    "an object around no arguments": (
        "open-json",
        '[=request=]{"function": "list_all", "input": {"input": {}}}[=stop=]',
        (None, None, [("list_all", {})]),
        False,
        ["a whole call, or another object, around the arguments"],
    ),
    "markers in the plural": (
        "parameter-tags",
        "\n\n<deeds>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>\n</deeds><:>\n",
        (None, None, [OSLO]),
        False,
        ["a marker is not spelled as the template does"] * 2,
    ),
    "a word like a marker in the plural is text": (
        "parameter-tags",
        "I see <deeds> here.<:>\n",
        (None, "I see <deeds> here.", []),
        False,
        [],
    ),
    "the plural of a marker that is another marker": (
        "sectioned-ids",
        '<!calls!>tools.get_weather:0<!args!>{"city": "Oslo", "days": 3}<!/call!><!/calls!><!.!>',
        (None, None, [OSLO]),
        False,
        ["the tool get_weather is called as tools.get_weather"],
    ),
    "the same inside of a value is text": (
        "cdata-values",
        '<act name="get_weather"><arg key="city">a </ARG> b</arg><arg key="days">3</arg></act>',
        (None, None, [("get_weather", {"city": "a </ARG> b", "days": 3})]),
        False,
        [],
    ),
    "reasoning opened twice": (
        "tagged-name-json",
        "§muse§§muse§Hm.§/muse§It is two.",
        ("It is two.", "Hm.", []),
        False,
        ["reasoning is opened twice"],
    ),
    "what opens reasoning is text further on": (
        "tagged-name-json",
        "§muse§Hm, §muse§ again.§/muse§It is two.",
        ("It is two.", "Hm, §muse§ again.", []),
        False,
        [],
    ),
    "a call in a line of reasoning that is never closed": (
        "tagged-name-json",
        '§muse§I look.§call§get_weather§with§{"city": "Oslo", "days": 3}§end§',
        (None, "I look.", [OSLO]),
        False,
        ["a call begins before the reasoning is closed"],
    ),
    "the same in reasoning that is closed is text": (
        "tagged-name-json",
        '§muse§I write §call§get_weather§with§{"city": "Oslo", "days": 3} then.§/muse§Two.§end§',
        ("Two.", 'I write §call§get_weather§with§{"city": "Oslo", "days": 3} then.', []),
        False,
        [],
    ),
    "a call whose arguments are under another key": (
        "open-json",
        '[=request=]{"function": "get_weather", "args": {"city": "Oslo", "days": 3}}[=stop=]',
        (None, None, [OSLO]),
        False,
        ["the arguments are under the key args"],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    name, text, (content, reasoning, calls), incomplete, diagnostics = RULES[rule]
    parser, want = named(name).parser, (content or "", reasoning or "", calls)
    for size in (len(text), 1, 2, 3, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, deltas = read(parser, text, TOOLS, chunks)
        for got in (reading(stream), joined(deltas)):
            found = [(function, json.loads(arguments)) for function, arguments in got[2]]
            assert (got[0], got[1], found) == want, size
        assert (stream.incomplete, [one.text for one in stream.diagnostics]) == (incomplete, diagnostics), size
