"""`tplc verify`: verify an existing artifact against a template."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from types import ModuleType

from tplc import driver
from tplc.cli import inputs
from tplc.cli.report import print_rows, token_rows, verification_rows
from tplc.cli.shown import print_json
from tplc.errors import UsageError
from tplc.ir.nodes import TemplateIR, Verification
from tplc.project.files import read_text
from tplc.project.sibling_ir import is_ir
from tplc.verify.artifact import (
    Artifact,
    artifact_in,
    changed_constants,
    load_module,
    read_parser,
    runtime_next_to,
    sha256_in,
)

_EDITED = "help: the artifact was edited, or made with other options; tplc compile makes it again"
_NOT_OF_IT = (
    "the artifact differs from the one that tplc makes of this template, which verifies: it was edited, or made from "
    "another template or with other options"
)


def verify_command(
    source: str,
    artifact_file: str,
    template_name: str | None,
    special_tokens: Sequence[str],
    limits: Sequence[str],
    *,
    seed: int,
    thorough: bool,
    as_json: bool,
) -> None:
    artifact, sha256, parser = _artifact(artifact_file)
    template = inputs.load_template(source, template_name, special_tokens)
    with inputs.learning(template, inputs.limits(limits), doing=f"verifying {artifact_file}") as (learned, renderer):
        ir = driver.tolerate(learned)
        result = driver.verify_artifact(ir, artifact, renderer, seed=seed, thorough=thorough)
        if not result.verified and driver.verify_ir(ir, renderer).verification.verified:
            # The format is right, so what is not is the artifact: no cause in the template is to be looked for.
            failures = tuple(failure for failure in result.failures if not failure.startswith(("cause: ", "help: ")))
            result = replace(result, failures=(_NOT_OF_IT, *failures))
    same_template = sha256 == ir.provenance.sha256
    if parser is not None and same_template:
        changed = changed_constants(parser, load_module(driver.generate(ir, "python")))
        if changed:
            result = replace(result, verified=False, failures=(*changed, _EDITED, *result.failures))
    _report(ir, result, same_template=same_template, as_json=as_json)
    if not result.verified or not same_template:
        raise SystemExit(1)


def _artifact(path: str) -> tuple[Artifact, str, ModuleType | None]:
    """Return an artifact, the template that it was made from, and the parser, if it is one."""
    if is_ir(path):
        ir = inputs.ir_in(path)
        return driver.artifact_of(ir), ir.provenance.sha256, None
    text = read_text(path) if path != "-" else ""
    if not path.endswith(".py"):
        raise UsageError(
            f"{path}: only a generated parser (.py) or an IR (.json) can be verified\n    tplc verify TEMPLATE ARTIFACT"
        )
    parser = read_parser(text, path, runtime=runtime_next_to(path))
    return artifact_in(parser), sha256_in(parser, path), parser


def _report(ir: TemplateIR, result: Verification, *, same_template: bool, as_json: bool) -> None:
    if as_json:
        report = {**asdict(result), "same_template": same_template}
        del report["refused_by_grammars"]  # a parser was verified
        print_json(report)
        return
    rows = list(verification_rows(result))
    if not same_template:
        # Ambiguities are the template's: they say nothing about an artifact of another one.
        of_another = ("template", "another one than the artifact was made from: the SHA-256 differ")
        rows = [of_another, *(row for row in rows if row[0] != "ambiguous")]
    print_rows([*token_rows(ir), *rows], sys.stdout)
