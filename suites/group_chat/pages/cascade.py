"""The Cascade report of group-chat agents: its tables, the funnel, its files. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation import access as annotation_access
from annotation.corpora import dialogue_view, splits
from annotation.models import Corpus
from annotation.scenario_records import FORM, STAGES, condition_json
from annotation.text.display import language_tag, number
from calibration.errors import CalibrationError, CascadeRefused
from calibration.statistics.core.engine import FLAGS, Result
from config.permissions import researcher_only
from suites.group_chat.cascade import renderings
from suites.group_chat.cascade.decisions import DecisionView, judges_of, raters_named, script, view
from suites.group_chat.cascade.renderings import RENDERINGS, oracle_line
from suites.group_chat.cascade.report import CascadeReport, compute, open_test
from suites.group_chat.cascade.score_figures import (
    BY,
    COMPETENCE,
    TURN_SCORE,
    Cell,
    Table,
    flags,
    interval,
    read,
    reasons,
)
from suites.group_chat.scenarios.points import scenario_of

# One decision of a group-chat agent: what it had seen, the key, and where it failed. Researchers only.


@require_GET
@researcher_only
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    """What an agent decided at a point, by which key it is scored, stage by stage."""
    item = annotation_access.decision(pk)
    judge = request.GET.get("judge", "").replace("\0", "")
    refused = ""
    try:
        raters = raters_named(item.corpus, [judge] if judge else [])
    except CascadeRefused as error:
        refused, raters = str(error), []
    decision_view = view(item, raters)
    row = decision_view.continuation.dialogue
    turns = script(decision_view)
    names = dialogue_view.speakers(row, turns)
    context = {
        "found": decision_view,
        "corpus": item.corpus,
        "dialogue": row,
        "language": language_tag(row.language),
        "lines": dialogue_view.lines(row, turns, names),
        "agent": names.of(scenario_of(decision_view.dialogue).agent),
        "expected": _expected_fields(decision_view),
        "did": _decision_fields(decision_view),
        "stages": [(stage, decision_view.result.stages[stage]) for stage in STAGES]
        if decision_view.result
        else [],
        "judge": judge,
        "judges": judges_of(item.corpus),
        "refused": refused,
        "active_room": "corpora",
    }
    return render(request, "group_chat/decision.html", context, status=422 if refused else 200)


def _expected_fields(decision_view: DecisionView) -> list[tuple[str, str]]:
    """Return the key's expectations, field by field."""
    key = decision_view.key
    if key.free:
        return [("Anything goes", "this point is not scored")]
    fields: list[tuple[str, Any]] = [
        ("Attend", "yes" if key.attend else "no"),
        ("Speak", _score_words(key.speak)),
        ("Addressed", condition_json(key.addressed)),
        ("Target", condition_json(key.target)),
        ("Ground", None if key.ground is None else _score_words(key.ground)),
        ("Must say", "; ".join(" or ".join(texts) for texts in key.must)),
        ("Must not say", "; ".join(" or ".join(texts) for texts in key.must_not)),
        ("Conduct", ", ".join(key.conduct)),
        ("Secrets", ", ".join(key.secrets)),
        ("Example", key.example),
    ]
    return [(name, _words(value)) for name, value in fields if value]


def _decision_fields(decision_view: DecisionView) -> list[tuple[str, str]]:
    """Return the agent's action and declarations, field by field."""
    decision = decision_view.decision
    attend = None if decision.attend is None else "yes" if decision.attend else "no"
    fields: list[tuple[str, Any]] = [
        ("Act", decision.act),
        ("Mode", decision.mode),
        ("Attend", attend),
        ("Addressed", _ids(decision.addressed)),
        ("Target", _ids(decision.targets)),
        ("Ground", decision.ground),
        ("Flags", ", ".join(decision.flags)),
    ]
    return [(name, str(value)) for name, value in fields if value]


def _ids(ids: tuple[str, ...] | None) -> str | None:
    return None if ids is None else ", ".join(ids) or "nobody"


def _score_words(scores: Any) -> str:
    return ", ".join(f"{name} {score:g}" for name, score in scores.items())


def _words(value: Any) -> str:
    if isinstance(value, dict):
        ((how, sets),) = value.items()
        return f"{how.replace('_', ' ')} {_words(sets)}"
    if isinstance(value, list):
        return ", ".join(f"({_words(part)})" if isinstance(part, list) else str(part) for part in value)
    return str(value)


NAMES = (
    *("by", "judge", "k", "success", "threshold", "tau", *(f"tau_{stage}" for stage in STAGES)),
    *("jaccard", "part", "resamples", "seed"),
)
"""What an address may ask for."""
SUCCESSES = ((COMPETENCE, "competence 1 at every probe"), (TURN_SCORE, "a turn score of at least …"))
MOST_EXAMPLES = 5
GREY = "pass@"
"""How the heads of columns begin that are set back: they are no reliability."""


@require_GET
@researcher_only
def cascade(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    values = _query_values(request)
    context = _form(corpus, values)
    status = 200
    if context["has_scenarios"]:
        try:
            context |= _report_context(compute(query=read(values, corpus), by=_user(request)))
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if values else 200
    return render(request, "group_chat/cascade.html", context, status=status)


@require_GET
@researcher_only
def cascade_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The report as CSV, Markdown, LaTeX or JSON, its funnel as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = (RENDERINGS | renderings.CHARTS).get(form)
    if rendering is None:
        raise Http404
    try:
        report = compute(query=read(_query_values(request), corpus), by=_user(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(rendering.write(report), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="cascade-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def cascade_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the report of the test part."""
    corpus = access.corpus(pk)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    try:
        values = {"judge": _query_values(request).get("judge", "")}
        open_test(query=read(values, corpus), by=_user(request), purpose=purpose)
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('cascade', args=[corpus.pk])}?{query.urlencode()}")


def _query_values(request: HttpRequest) -> dict[str, str]:
    """Return the query's values from the address; lists may be given several times, or by commas."""
    values = {name: ",".join(filter(None, request.GET.getlist(name))).replace("\0", "") for name in NAMES}
    return {name: text for name, text in values.items() if text}


def _form(corpus: Corpus, values: dict[str, str]) -> dict[str, Any]:
    """Return the form's options and current values."""
    by = values.get("by", ",".join(BY)).split(",")
    judges = values.get("judge", "").split(",")
    return {
        "corpus": corpus,
        "active_room": "corpora",
        "given": values,
        "split": splits.lock_of(corpus),
        "has_scenarios": corpus.dialogues.filter(scenario__isnull=False).exists(),
        "keys": [(key, key in by) for key in BY],
        "judges": [(name, name in judges) for name in judges_of(corpus)],
        "successes": SUCCESSES,
        "forms": RENDERINGS.values(),
    }


def _report_context(report: CascadeReport) -> dict[str, Any]:
    """Return the template context of a report."""
    return {
        "made": report,
        "plan": report.query.plan,
        "oracle": oracle_line(report),
        "tables": [_table(table) for table in report.tables],
        "failing": _failing(report),
        "reasons": [f"{reason}." for reason in reasons(report.tables)],
        "flags": [(flag, FLAGS.get(flag, flag)) for flag in flags(report.tables)],
        "chart_title": renderings.TITLE,
        "chart_caption": renderings.CAPTION,
        "svg": mark_safe(renderings.inline_svg(report)),
    }


def _table(table: Table) -> dict[str, Any]:
    grey = [head.startswith(GREY) for head in table.heads]
    return {
        "key": table.key,
        "title": table.title,
        "heads": list(zip(table.heads, grey, strict=True)),
        "lines": [(line.name, line.is_baseline, list(map(_cell, line.cells, grey))) for line in table.lines],
        "notes": table.notes,
    }


def _failing(report: CascadeReport) -> list[tuple[str, str, list[tuple[int, str]]]]:
    """Return by row and stage some decisions that failed first there, each with its item and its probes."""
    examples_by_stage: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in report.rows:
        for scored in row.decisions:
            stage = scored.result.failed_at
            if stage in (FORM, *STAGES) and scored.item is not None and scored.is_probed:
                place = examples_by_stage.setdefault((row.name, stage), [])
                if len(place) < MOST_EXAMPLES:
                    kinds = ", ".join(kind for kind, _ in scored.probes).replace("_", " ")
                    place.append((scored.item, f"turn {scored.point}, {kinds}"))
    return [(name, stage, examples) for (name, stage), examples in examples_by_stage.items()]


def _cell(cell: Cell, grey: bool) -> dict[str, Any]:
    """Return a cell as the template reads it: a text, a count, or a figure with its interval and n."""
    if not isinstance(cell, Result):
        return {"kind": "text" if isinstance(cell, str) else "count", "text": cell, "grey": grey}
    return {
        "kind": "figure" if cell.ok else "none",
        "text": number(cell.value) if cell.ok else cell.status,
        "interval": interval(cell) or "no interval",
        "n": cell.n_items,
        "why": cell.reason,
        "grey": grey,
    }


def _user(request: HttpRequest) -> Any:
    return request.user
