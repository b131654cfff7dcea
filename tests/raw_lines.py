"""Templates whose raw values nothing closes but what follows them: Markdown lists, indented lines, words.

source_of("list")  →  a template that writes "## call f", and below it "- a = first", "- b = second"
"""

from __future__ import annotations

TEMPLATE = """
{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ (m.content or '') }}
{%- if m.tool_calls %}CALLS{% endif %}{{ 'END' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""
CALLS = (
    "{% for c in m.tool_calls %}{{ 'OPEN' ~ c.function.name ~ 'WITH' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ 'LEAD' ~ k ~ 'IS' }}"
    "{{- (v if v is string else v | tojson) ~ 'SEP' }}"
    "{%- endfor %}{{ 'CLOSE' }}{% endfor %}"
)
# Texts of each format: before a call, after its name, before, in and after an argument, after a call, and at the turn's
# end.  Values end where a line, or a word, begins the next argument.
OWN = {
    "list": ("\\n## call ", "", "\\n- ", " = ", "", "", "\\n~~~\\n"),
    "closed list": ("\\n<call>", "\\n", "- ", " = ", "\\n", "</call>", "\\n~~~\\n"),
    "ruled list": ("\\n## call ", "", "\\n* ", ": ", "", "\\n---", "~~~\\n"),
    "indented": ("\\n<call>use: ", "\\nwith:\\n", "  ", ": ", "\\n", "</call>", "~~~\\n"),
    "tokens": ("<|use|>", "", "<|key|>", "<|is|>", "", "<|used|>", "<end>\\n"),
    "words": ("\\n<call is='", "'", " ", "=", "", " />", "\\n<end>\\n"),
}


def source_of(name: str) -> str:
    calls = CALLS
    for word, text in zip(("OPEN", "WITH", "LEAD", "IS", "SEP", "CLOSE"), OWN[name], strict=False):
        calls = calls.replace(f"'{word}'", f'"{text}"')
    return TEMPLATE.replace("CALLS", calls).replace("END", OWN[name][-1])
