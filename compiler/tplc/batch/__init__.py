"""Turn columns of outputs into columns of messages: Arrow in, Arrow out, with any engine.

read = tplc.batch.RowParser({"": Path("parser.py").read_text()}, Columns(output="text"))
read(pyarrow.table({"text": ["Hi."]}))  →  a table with text, content, reasoning_content, tool_calls, …
"""

from __future__ import annotations

from tplc.batch.columns import Columns
from tplc.batch.rows import RowParser, message_fields

__all__ = ["Columns", "RowParser", "message_fields"]
