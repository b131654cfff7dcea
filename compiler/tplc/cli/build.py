"""`tplc build`, `tplc check` and `tplc init`: the models of a manifest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain, count, groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tplc.cli.ending import unwinding
from tplc.cli.progress import counting
from tplc.cli.shown import print_json
from tplc.errors import UsageError, unknown_name
from tplc.ir.visible import one_line, shown, visible
from tplc.parallel import check_engine
from tplc.project.artifacts import check_earlier, check_report, write_output
from tplc.project.build import Outcome, build, exit_code_of
from tplc.project.check import OutputState, check
from tplc.project.files import read_text
from tplc.project.manifest import PYPROJECT, Manifest, Model, find_manifest, load_manifest, read_toml
from tplc.sources.builtin import PREFIX

_SUFFIX = re.compile(r"\.(jinja2?|json|gguf|txt)$")

_OTHER_LINES = (".json", ".gguf")  # a template in one of these has lines of its own

_JUNIT = '<?xml version="1.0" encoding="utf-8"?>'
FORMATS = ("text", "github", "json")


def build_command(
    names: Sequence[str],
    manifest_path: str | None,
    *,
    jobs: int | None,
    engine: str,
    address: str | None,
    force: bool,
    strict: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    check_engine(engine, address)
    manifest = load_manifest(find_manifest(manifest_path))
    workers = jobs or os.cpu_count() if engine == "processes" else jobs
    with unwinding(), counting("building", len(manifest.chosen(tuple(names)))) as step:
        outcomes = build(
            manifest,
            tuple(names),
            jobs=workers,
            engine=engine,
            address=address,
            force=force,
            strict=strict,
            progress=step,
        )
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        _print_outcomes(outcomes, quiet=quiet)
    if code := exit_code_of(outcome.exit_code for outcome in outcomes):
        raise SystemExit(code)


def _print_outcomes(outcomes: Sequence[Outcome], *, quiet: bool) -> None:
    for outcome in outcomes:
        if not quiet or outcome.state == "failed":
            print(f"{outcome.state:<9}{outcome.model}" + (f": {shown(outcome.message)}" if outcome.message else ""))
        for warning in outcome.warnings:
            print(f"{'warning':<9}{outcome.model}: {one_line(str(warning))}")
    if quiet:
        return
    counts = [f"{sum(o.state == state for o in outcomes)} {state}" for state in ("built", "current", "failed")]
    print(f"{len(outcomes)} model{'s' if len(outcomes) != 1 else ''}: " + ", ".join(counts))


def check_command(
    names: Sequence[str],
    manifest_path: str | None,
    *,
    jobs: int | None,
    output_format: str,
    junit: str | None,
    strict: bool,
) -> None:
    if output_format not in FORMATS:
        raise UsageError(unknown_name("format", output_format, FORMATS))
    manifest = load_manifest(find_manifest(manifest_path))
    if junit is not None:
        _check_junit(junit)
    with counting("checking", len(manifest.chosen(tuple(names)))) as step:
        findings = check(manifest, tuple(names), jobs=jobs or os.cpu_count() or 1, strict=strict, progress=step)
    if output_format == "json":
        print_json([asdict(finding) for finding in findings])
    elif output_format == "github":
        _annotate(findings, manifest)
    else:
        _print_findings(findings, manifest.path)
    if junit is not None:
        write_output(junit, _junit(findings))
    if code := exit_code_of(finding.exit_code for finding in findings):
        raise SystemExit(code)


def _print_findings(findings: Sequence[OutputState], manifest_path: str) -> None:
    """Print the state of each model's outputs, then the warnings about its template, once."""
    for model, group in groupby(findings, key=lambda finding: finding.model):
        own = list(group)
        for finding in own:
            print(shown(str(finding)))
        for warning in own[0].warnings:
            print(f"{shown(manifest_path)}: warning: {model}: {one_line(str(warning))}")


def _annotate(findings: Sequence[OutputState], manifest: Manifest) -> None:
    """Print the same as GitHub annotations, at the output or at the template's line."""
    models = {model.name: model for model in manifest.models}
    for name, group in groupby(findings, key=lambda finding: finding.model):
        own, model = list(group), models[name]
        for finding in own:
            if finding.state != "current":
                message = finding.message.removeprefix(f"{name}: ")
                match = _PLACE.match(message)
                place = _in_template(model, match[1], match[2], match[3]) if match else None
                print(_annotation("error", place or (finding.path, 0, 0), f"{name}: {finding.state}: {message}"))
        for warning in own[0].warnings:
            place = _in_template(model, warning.name, warning.line, warning.column)
            print(_annotation("warning", place or (manifest.path, 0, 0), f"{name}: {warning}"))


SourcePlace = tuple[str, int, int]  # a file, a line and a column; 0 where it is not known
_PLACE = re.compile(r"([^:\n]+):(\d+)(?::(\d+))?: ")


def _in_template(model: Model, name: str, line: int | str, column: int | str | None) -> SourcePlace | None:
    """Return a place in the template's file; None if the template is part of a file with other lines, or in no file."""
    from tplc.sources.folder import TEMPLATE_FILE

    # A template's name is that of its file or of the model's folder, without the path to it.
    source = model.resolve(model.source)
    named = [source, os.path.join(source, TEMPLATE_FILE)] if os.path.basename(source) == name else []
    paths = [*named, os.path.join(source, name), model.resolve(name)]
    path = next(filter(os.path.isfile, paths), None)
    if path is None or path.endswith(_OTHER_LINES) or not int(line):
        return None
    return path, int(line), int(column or 0)


def init_command(sources: Sequence[str], path: str, *, force: bool) -> None:
    from tplc.sources.folder import TEMPLATE_FILE

    in_project = os.path.basename(path) == PYPROJECT
    if os.path.lexists(path) and not (force or in_project):
        raise UsageError(f"{path}: already exists; use --force to overwrite it")
    check_report(path)
    earlier, prefix = _project(path) if in_project else "", "tool.tplc." * in_project
    named: dict[str, str] = {}
    for source in sources:
        _check_source(source)
        place = os.path.realpath(source) if os.path.exists(source) else source
        if place in named:
            also = f", as {named[place]} too" if named[place] != source else ""
            raise UsageError(f"{source}: is named twice{also}: each template is listed once")
        named[place] = source
    names: dict[str, str] = {}
    modules: set[str] = set()
    for source in sources or [TEMPLATE_FILE]:
        stem = _model_name(source)
        candidates = chain([stem], (f"{stem}-{i}" for i in count(2)))
        name = next(candidate for candidate in candidates if _module(candidate) not in modules)
        modules.add(_module(name))
        names[name] = _from(os.path.dirname(path), source)
    tables = [
        f'[{prefix}models.{_key(name)}]\nsource = {json.dumps(source)}\noutputs = ["{_module(name)}.py"]\n'
        for name, source in names.items()
    ]
    head = (
        "# The models of this project. tplc build makes these files, tplc check reports whether they are current.\n"
        "# For editors with Taplo: tplc schema manifest > tplc.schema.json, and begin this file with\n"
        "# #:schema ./tplc.schema.json\n"
    )
    write_output(path, (earlier or head + "\n") + "\n".join(tables))
    if path == "-":
        return
    print(f"wrote {shown(path)}")
    if not sources and not os.path.exists(names["chat_template"]):
        hint = "name your template in it, or tplc init SOURCE --force"
        print(f"    there is no {TEMPLATE_FILE} here: {hint}")


def _project(path: str) -> str:
    """Return the text of a pyproject.toml, which models are added to."""
    if not os.path.lexists(path):
        return ""
    if "tplc" in read_toml(path).get("tool", {}):
        raise UsageError(f"{path}: has a table [tool.tplc] already: add the models to it")
    return read_text(path).rstrip("\n") + "\n\n"


def _model_name(source: str) -> str:
    """Return the name of the file, the folder or the hub's model, without its suffix; other dots may belong to a
    version."""
    base = os.path.basename(source.rstrip("/")).partition("@")[0].removeprefix(PREFIX)
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", _SUFFIX.sub("", base)).strip("-.") or "model"


def _key(name: str) -> str:
    """Return the name as a key of TOML, quoted if a dot in it would start a nested table."""
    return json.dumps(name) if "." in name else name


def _check_source(source: str) -> None:
    """Checks a new manifest, so that mistakes are reported now and not by the first build."""
    from tplc.sources import check_name

    if source == "-":
        raise UsageError("-: standard input cannot be listed: a manifest names files that every build reads again")
    check_name(source)


def _from(folder: str, source: str) -> str:
    """Return the path of a source relative to this folder, for a manifest there."""
    return (
        os.path.relpath(source, folder) if folder and os.path.exists(source) and not os.path.isabs(source) else source
    )


def _module(name: str) -> str:
    """Return the name of a module that can be imported, for the parser."""
    letters = re.sub(r"\W", "_", name) + "_parser"
    return f"_{letters}" if letters[0].isdigit() else letters


def _annotation(kind: str, place: SourcePlace, message: str) -> str:
    """Returns a workflow command, which GitHub shows at the file, and at the line if it is known."""
    path, line, column = _from_root(place[0]), *place[1:]
    at = (f",line={line}" if line else "") + (f",col={column}" if line and column else "")
    return f"::{kind} file={_for_workflow(path, _IN_PROPERTIES)}{at}::{_for_workflow(message, _IN_MESSAGES)}"


def _from_root(path: str) -> str:
    """Return the path relative to the repository, as annotations need it; unchanged for a file outside of it."""
    here = os.path.realpath(os.curdir)
    above = [here, *map(str, Path(here).parents)]
    root = os.environ.get("GITHUB_WORKSPACE") or next((at for at in above if os.path.exists(f"{at}/.git")), here)
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return path if inside.startswith("..") else inside


_IN_MESSAGES = (("%", "%25"), ("\n", "%0A"))
_IN_PROPERTIES = (*_IN_MESSAGES, (":", "%3A"), (",", "%2C"))


def _for_workflow(text: str, codes: Sequence[tuple[str, str]]) -> str:
    text = shown(text)
    for character, code in codes:
        text = text.replace(character, code)
    return text


def _check_junit(path: str) -> None:
    """Raise an error if the report would overwrite a file that isn't a report."""
    problem = f"{path}: already exists and is not a test report; name another file"
    check_earlier(path, _JUNIT, UsageError(problem))


def _junit(findings: Sequence[OutputState]) -> str:
    bad = sum(finding.state != "current" for finding in findings)
    cases = []
    for finding in findings:
        case = f"  <testcase classname={quoteattr(finding.model)} name={quoteattr(finding.path)}"
        inside = ""
        if finding.state != "current":
            inside = f"<failure message={quoteattr(finding.state)}>{escape(finding.message)}</failure>"
        if finding.warnings:
            rows = "\n".join(f"warning: {one_line(str(warning))}" for warning in finding.warnings)
            inside += f"<system-out>{escape(rows)}</system-out>"
        cases.append(f"{case}>{inside}</testcase>" if inside else f"{case}/>")
    head = f'<testsuite name="tplc" tests="{len(findings)}" failures="{bad}">'
    # XML can't contain these characters, not even escaped.
    return visible("\n".join([_JUNIT, head, *cases, "</testsuite>"]) + "\n")
