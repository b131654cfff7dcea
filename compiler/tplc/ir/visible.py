r"""A stranger's text as it is shown: what is not seen, or changes how the rest is seen, is escaped.

    visible("rm\u202efile\x1b[2J\n")   →  "rm\\u202efile\\u001b[2J\n"
    one_line("a.jinja\nroot ::= .*")  →  "a.jinja\\u000aroot ::= .*"

    shown("as was said:\n::error::gone ##vso[x]")  →  "as was said:\n\\u003a:error::gone #\\u0023vso[x]"

The escapes are JSON's, so that JSON text means the same afterwards.
"""

from __future__ import annotations

import json
import re

# CI systems search logs for these commands: a line that begins with ::, and ##[…], ##vso[…] anywhere in one.
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)|#(?=#\w*\[)", re.MULTILINE)


def visible(text: str) -> str:
    """Return the text with invisible characters escaped, except line feeds and tabs."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _escaped(char) for char in text)


def shown(text: str) -> str:
    """Return a line for a terminal or a log, without characters that control either."""
    return _COMMAND.sub(lambda found: "\\u0023" if found.group() == "#" else f"{found[1]}\\u003a", visible(text))


def one_line(text: str) -> str:
    return shown(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _escaped(char: str) -> str:
    # json.dumps has short forms for some (\r), and leaves DEL and no other control character as it is.
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]
