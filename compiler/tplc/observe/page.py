"""Show an observation as one HTML page, which loads and runs nothing, and can be printed.

Observation  →  "<!doctype html>…"
"""

from __future__ import annotations

import json
from html import escape

from tplc.ir.nodes import TemplateIR
from tplc.observe.groups import Group
from tplc.observe.observe import Observation
from tplc.observe.shown import around
from tplc.page import document, figures
from tplc.version import VERSION


def page(observation: Observation, ir: TemplateIR, source: str) -> str:
    sections = [_head(observation, ir, source), _counts(observation), _groups(observation), _proposals(observation)]
    return document(f"{ir.provenance.name}: outputs observed", ir.provenance.name, sections)


def _head(observation: Observation, ir: TemplateIR, source: str) -> str:
    good = observation.clean == len(observation.judged)
    badge = f'<span class="badge {"good" if good else "bad"}">{observation.share_odd:.1f}% odd</span>'
    facts = f"{len(observation.judged)} outputs · {source} · tplc {VERSION}"
    return f"<header><h1>{escape(ir.provenance.name)} {badge}</h1><p>{escape(facts)}</p></header>"


def _counts(observation: Observation) -> str:
    rows = [("clean", observation.clean), *((kind, count) for kind, count in observation.kinds.items() if count)]
    cells = "".join(f"<tr><th>{escape(label)}</th><td>{count}</td></tr>" for label, count in rows)
    return f"<section><h2>Outputs</h2><table>{cells}</table></section>"


def _groups(observation: Observation) -> str:
    if not observation.groups:
        return ""
    return f"<section><h2>Groups of odd outputs</h2>{''.join(map(_group, observation.groups))}</section>"


def _group(group: Group) -> str:
    before, place, after = around(group.example.output.text, group.example.main)
    count = f"{len(group.members)} output{'s' if len(group.members) != 1 else ''}"
    where = escape(group.example.output.place)
    return (
        f"<figure><figcaption>{escape(group.kind)} <code>{escape(group.what)}</code> <small>{count}, for example at "
        f"{where}</small></figcaption><pre>{escape(before)}<del>{escape(place)}</del>{escape(after)}</pre></figure>"
    )


def _proposals(observation: Observation) -> str:
    if not observation.proposals:
        return ""
    rows = [
        (_quoted(each.marker), _quoted(each.text), str(each.seen), str(each.mended), str(each.changed))
        for each in observation.proposals
    ]
    clean = sum(judged.clean for judged in observation.tried)
    summary = f"<p>With these tolerances, {clean} of {len(observation.tried)} outputs are clean.</p>"
    section = figures(
        "Proposed tolerances",
        ("marker", "text in its place", "outputs", "clean because of it", "changed by it alone"),
        rows,
    )
    return section.removesuffix("</section>") + summary + "</section>"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
