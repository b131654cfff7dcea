"""What else does the template accept?

system, user → both in the render  →  system_role; tools → their names in the render  →  tools
"""

from __future__ import annotations

from dataclasses import replace

from tplc.ir.nodes import Capabilities
from tplc.learn.arguments import ArgumentFacts
from tplc.learn.conversation import CallSetup
from tplc.learn.probe import SYSTEM, Prober, Refusal, Setup, asks, opening, sentinel_call


@asks("capabilities", "What else does the template accept?")
def learn_capabilities(
    prober: Prober,
    base: Setup,
    called: CallSetup | None,
    arguments: ArgumentFacts | None,
) -> Capabilities:
    asked = replace(base, system=True)
    system = prober.render(opening(asked), asked)
    setup = called.setup if called else base
    call = sentinel_call(0)
    offered = prober.render(opening(setup), replace(setup, tools="full"), calls=[call])
    refused = [f"{kind} arguments" for kind in arguments.refused] if arguments else []
    return Capabilities(
        tools=not isinstance(offered, Refusal) and call.name in offered,
        system_role=not isinstance(system, Refusal) and SYSTEM in system,
        object_arguments=called is not None and setup.arguments == "object",
        string_arguments=called is not None and setup.arguments == "text",
        null_content=called is not None and setup.content == "null",
        list_content=base.parts,
        needs_tool_result=called is not None and setup.follow in ("tool", "tool_user"),
        refusals=(*(called.refusals if called else ()), *refused),
    )
