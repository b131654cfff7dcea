"""`tplc prepare`: a request to all that a server needs for it, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tplc import driver
from tplc.cli import inputs
from tplc.cli.progress import working
from tplc.errors import SourceError
from tplc.ir.visible import visible
from tplc.project.files import json_of, read_text
from tplc.serving import ChatTemplate


def prepare_command(
    source: str,
    request_file: str,
    ir_file: str | None,
    template_name: str | None,
    special_tokens: Sequence[str],
    limits: Sequence[str],
) -> None:
    inputs.check_standard_input({"the template": source, "the request": request_file}, {"the IR": [ir_file]})
    request = json_of(inputs.text_of(request_file, "the request"), request_file)
    if not isinstance(request, Mapping):
        name = "standard input" if request_file == "-" else request_file
        raise SourceError(name, "holds no request", 'expected {"messages": […], …}')
    ir = driver.load_ir(read_text(ir_file)) if ir_file is not None else None
    loaded = inputs.load_template(source, template_name, special_tokens)
    with working(f"learning and verifying {loaded.name}"):
        ready = ChatTemplate(
            loaded.text,
            name=loaded.name,
            ir=ir,
            special_tokens=loaded.special_tokens,
            limits=inputs.limits(limits),
        )
    with ready as template:
        print(visible(json.dumps(template.prepare(request).to_json(), ensure_ascii=False, indent=2)))
