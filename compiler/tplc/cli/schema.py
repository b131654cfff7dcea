"""`tplc schema`: prints the JSON schemas of files that people write for tplc, and of its output."""

from __future__ import annotations

import sys

from tplc.cli.report import print_rows
from tplc.cli.shown import print_json
from tplc.errors import UsageError, unknown_name
from tplc.schemas import load_schema, schema_names


def schema_command(name: str | None) -> None:
    known = schema_names()
    if name is None:
        print_rows([(known_name, str(load_schema(known_name)["title"])) for known_name in known], sys.stdout)
        return
    if name not in known:
        raise UsageError(unknown_name("schema", name, known))
    print_json(load_schema(name))
