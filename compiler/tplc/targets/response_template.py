"""A response template, made and verified by the parser that it is for.

TemplateIR, renderer  →  the template's text, its verification, and what it cannot say, each with a message
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tplc.backends.response_template import CannotExpress, Profile, ResponseTemplate, response_template
from tplc.ir.nodes import TemplateIR, Verification
from tplc.render import Renderer
from tplc.verify import verify
from tplc.verify.battery import Case
from tplc.verify.compare import as_message
from tplc.verify.response_template import CUTS, response_artifact
from tplc.verify.tally import Expectations

TARGET = "response_template"
UNTYPED = "types of values where no tools are given"
_LONGEST = 120
_UNTYPED_REASON = "they are read by the tools' schemas; without tools every value is text"


@dataclass(frozen=True, slots=True)
class Inexpressible:
    """A part of a format that a target cannot express: `example` is a message that shows it, `text` is the
    message as a model writes it.  `messages` is how many of those that were tried did not come back for it."""

    feature: str
    reason: str
    example: str
    text: str
    messages: int = 0

    def __str__(self) -> str:
        count = f" in {self.messages} message{'s' if self.messages != 1 else ''}" if self.messages else ""
        shown = f": {json.dumps(_short(self.text), ensure_ascii=False)}" if self.text else ""
        return f"{self.feature}{count} ({self.reason}); {self.example}{shown}"

    def refused(self, name: str) -> CannotExpress:
        return CannotExpress(name, TARGET, f"{self.feature} ({self.reason})", json.dumps(self.text, ensure_ascii=False))


def verify_response_template(
    ir: TemplateIR, renderer: Renderer, profile: Profile, *, seed: int = 0, thorough: bool = False
) -> tuple[Verification, tuple[Inexpressible, ...]]:
    """Verify every message of the battery, whole and in chunks of each length from 1 to 29.

    A message that shows what the template is known not to express need not come back; one of the plain ones has to.
    """
    made = response_template(ir, profile)
    expectations = Expectations(
        excuse=lambda case: _excuse(ir, made, case),
        ids=made.ids,
        untyped="" if made.typed else UNTYPED,
        cuts=CUTS,
        ends=False,
    )
    artifact = response_artifact(
        made.template, made.reasoning_key, ir.turn.prompts[0].text, events_only=profile == "servers"
    )
    result = verify(ir, artifact, renderer, seed=seed, thorough=thorough, expectations=expectations)
    not_expressed = []
    for feature, excused in expectations.shown.items():
        reason = next((limit.reason for limit in made.limits if limit.feature == feature), _UNTYPED_REASON)
        if excused.case.title == str(excused.case.shape):
            raise Inexpressible(feature, reason, excused.case.title, excused.turn).refused(ir.provenance.name)
        count = expectations.excused[feature]
        not_expressed.append(Inexpressible(feature, reason, excused.case.title, excused.turn, count))
    not_expressed += [
        Inexpressible(limit.feature, limit.reason, "every call", "") for limit in made.limits if limit.always
    ]
    return result, tuple(not_expressed)


def _excuse(ir: TemplateIR, made: ResponseTemplate, case: Case) -> str:
    message = as_message(ir, case)
    return next((limit.feature for limit in made.limits if not limit.always and limit.holds(message)), "")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
