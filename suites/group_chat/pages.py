"""Pages of group chats for researchers: scenarios and their editor, agents, the Cascade report."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.corpora import dialogue_view, exclusion, splits
from annotation.formats import ImportProblem
from annotation.models import Corpus, Dialogue
from annotation.scenario_records import FORM, MODES, PROBES, STAGES, condition_json
from annotation.text.display import language_tag
from calibration.errors import CalibrationError
from calibration.reports.wording import counted
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import form_field
from jobs.errors import JobError
from jobs.models import Job
from judges.pages.forms import ExclusionForm, offer_parts
from suites.continuation.productions.dialogues import Dialogues, select_dialogues
from suites.group_chat import baselines, editing
from suites.group_chat.baselines import TRIALS, Baseline, deciders, scenario_count
from suites.group_chat.cascade.decisions import DecisionView, judges_of, raters_named, script, view
from suites.group_chat.cascade.renderings import CHARTS, RENDERINGS, view_of
from suites.group_chat.cascade.report import CascadeReport, compute, open_test
from suites.group_chat.cascade.score_figures import BY, COMPETENCE, TURN_SCORE, read
from suites.group_chat.editing import (
    STARTER,
    Draft,
    draft,
    is_decided,
    other_form,
    probes_of,
    record_of,
    rows,
    seen_until,
    state_of,
    text_of,
    with_probe,
    without_probe,
)
from suites.group_chat.native_fields import too_many_or_few
from suites.group_chat.scenarios.agents import AGENTS
from suites.group_chat.scenarios.points import scenario_of
from suites.group_chat.scenarios.probes import Summary, overview
from suites.pages import judge_choices
from suites.reports import ReportRefused, open_test_answer, query_values, report_file

PAGE_SIZE = 50


@require_GET
@researcher_only
def scenarios(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the scenarios of a corpus, with counts of each probe and the oracle's check."""
    corpus = access.corpus(pk)
    scenario_rows = rows(corpus)
    summary = overview([row.summary for row in scenario_rows])
    page = Paginator(scenario_rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus,
        "page": page,
        "rows": list(page),
        "problems": [(row.dialogue, problem) for row in scenario_rows for problem in row.summary.problems],
        "overview": summary,
        "facts": [
            ("Scenarios", f"{summary.scenarios:,}"),
            ("Families", f"{summary.families:,}"),
            ("Points", f"{summary.points:,}"),
            ("Of probes", f"{summary.probed:,}"),
            ("Free", f"{summary.free:,}"),
            ("Keys of two people", f"{summary.agreed:,} of {summary.scenarios:,}"),
        ],
    }
    return render(request, "group_chat/scenarios.html", context)


# The scenario editor: a script in plain text; beside it who sees each turn, the probes, the oracle's check.

BECAME = {
    "created": "The scenario is saved.",
    "rewritten": "The scenario is saved: nothing had been decided on it, so it took the old one's place.",
    "corrected": "The keys are corrected: they are another rater, and the earlier one keeps its labels.",
    "unchanged": "Nothing has changed.",
}


@require_http_methods(["GET", "POST"])
@researcher_only
def new_scenario(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: add a scenario to a corpus, starting from an example or a copy of another (`from`)."""
    corpus = access.corpus(pk)
    if request.method == "POST":
        return _answer(request, corpus, None)
    if copied := row_id(request.GET.get("from", "")):
        before = access.scenario(pk, copied)
        text = text_of(record_of(before)).replace(before.key, f"{before.key}-copy", 1)
    else:
        number = corpus.dialogues.filter(scenario__isnull=False).count() + 1
        text = STARTER.format(id=f"scenario-{number}")
    return _page(request, corpus, None, draft(text))


@require_http_methods(["GET", "POST"])
@researcher_only
def scenario(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: edit a scenario of a corpus."""
    opened = access.scenario(pk, dialogue)
    if request.method == "POST":
        return _answer(request, opened.corpus, opened)
    record = record_of(opened)
    return _page(
        request, opened.corpus, opened, draft(text_of(record), any_size=bool(too_many_or_few(record)))
    )


def _answer(request: HttpRequest, corpus: Corpus, opened: Dialogue | None) -> HttpResponse:
    """Handle a button of the editor: save, check, mark or unmark a probe, change the text's form."""
    posted = request.POST
    current = draft(posted.get("text", "").replace("\0", ""), any_size="any_size" in posted)
    do, _, about = posted.get("do", "").partition(" ")
    if do == "save" and current.record is not None:
        return _save(request, corpus, opened, current)
    refused: ImportProblem | None = None
    try:
        if do == "mark":
            current = with_probe(
                current,
                kind=posted.get("kind", ""),
                trigger=posted.get("trigger", ""),
                points=posted.get("points", ""),
                control="control" in posted,
            )
        elif do == "unmark":
            current = without_probe(current, posted.get("probe", "") or about)
        elif do == "other-form":
            current = other_form(current)
    except ImportProblem as problem:
        refused = problem
    if request.htmx and do == "check":  # type: ignore[attr-defined]
        return render(request, "group_chat/_checked.html", _editor_context(request, current))
    failed = refused is not None or (do == "save" and current.record is None)
    return _page(request, corpus, opened, current, refused=refused, status=422 if failed else 200)


def _save(request: HttpRequest, corpus: Corpus, opened: Dialogue | None, current: Draft) -> HttpResponse:
    assert current.record is not None
    try:
        saved = editing.save(
            corpus=corpus,
            record=current.record,
            by=user_of(request),
            opened=opened,
            seen=request.POST.get("seen", ""),
            any_size=current.any_size,
        )
    except ImportProblem as problem:
        return _page(request, corpus, opened, current, refused=problem, status=422)
    messages.success(request, BECAME[saved.became])
    return redirect("scenario", corpus.pk, saved.dialogue.pk)


def _page(
    request: HttpRequest,
    corpus: Corpus,
    opened: Dialogue | None,
    current: Draft,
    *,
    refused: ImportProblem | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the editor's page. After a refusal the next save counts as having seen the stored scenario."""
    stored = state_of(record_of(opened)) if opened is not None else ""
    context = _editor_context(request, current) | {
        "corpus": corpus,
        "opened": opened,
        "decided": opened is not None and is_decided(opened),
        "seen": stored if refused is not None else request.POST.get("seen", stored),
        "refused": refused,
        "kinds": [(kind, kind.replace("_", " ")) for kind in PROBES],
        "kind": request.POST.get("kind", ""),
        "probes": probes_of(current),
    }
    return render(request, "group_chat/scenario.html", context, status=status)


def _editor_context(request: HttpRequest, current: Draft) -> dict[str, Any]:
    """Return the template context of the checked draft, with all turns or those that a viewer has seen."""
    chat, lines = current.chat, current.lines()
    viewer = request.POST.get("viewer", "")
    until = row_id(request.POST.get("until", ""))
    last = len(lines) - 1 if until is None else min(until, len(lines) - 1)
    people = chat.participants if chat else ()
    is_one = any(person.id == viewer for person in people)
    seen = seen_until(chat, viewer, last) if chat and lines and is_one else None
    return {
        "draft": current,
        "language": chat.language if chat else "",
        "lines": lines if seen is None else [line for line in lines if line.position in seen],
        "verdict": _verdict(current.summary()),
        "people": [(row.id, f"{row.name or row.id}{' (agent)' if row.agent else ''}") for row in people],
        "viewer": viewer if is_one else "",
        "until": last if seen is not None else "",
    }


def _verdict(summary: Summary | None) -> str:
    """Describe a scenario that has no problem in numbers."""
    if summary is None:
        return ""
    free = f", {summary.free} free" if summary.free else ""
    keys = "keys agreed by two people or more" if summary.agreed else "author's keys"
    return f"{counted(summary.points, 'point')}, {summary.probed} of probes{free}; {keys}."


# Agents in a corpus's scenarios.

GENERATOR = "group_chat_agent"


class AgentForm(ExclusionForm):
    """A baseline to run: its mode, its trials, and the part of the corpus."""

    agent = forms.ChoiceField(
        choices=[(baseline.key, f"{baseline.key}: {baseline.title}") for baseline in AGENTS.values()],
        label="Baseline",
    )
    mode = forms.ChoiceField(
        choices=[(mode, mode) for mode in MODES],
        help_text="Explicit: it declares who is meant and whom it answers. Implicit: it only acts.",
    )
    trials = form_field(TRIALS, required=True, initial=1)
    part = forms.ChoiceField(
        required=False,
        label="Part",
        help_text="Training is left out unless it is chosen.",
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus = corpus
        offer_parts(self, corpus)
        self.offer_exclusion(corpus)

    def baseline(self) -> Baseline:
        """Return the baseline that the form describes."""
        data = self.cleaned_data
        return Baseline(data["agent"], data["mode"], data["trials"])

    def dialogues(self) -> Dialogues:
        """Return the dialogues of the chosen part; raise JobError where the corpus has no such part."""
        return select_dialogues(self.corpus, self.cleaned_data)


@researcher_only
def agents(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: systems that decided in a corpus's scenarios; run a baseline, or continue to a model."""
    corpus = access.corpus(pk)
    form = AgentForm(request.POST or None, corpus=corpus)
    if request.method == "POST" and form.is_valid():
        try:
            played = baselines.start(
                by=user_of(request),
                baseline=form.baseline(),
                dialogues=form.dialogues(),
            )
        except JobError as error:
            form.add_error(None, str(error))
        else:
            if isinstance(played, Job):
                messages.info(request, "It has many decisions to make: see below how far it is.")
                return redirect("jobs")
            messages.success(request, played.sentence())
            return redirect("agents", corpus.pk)
    context = {
        "corpus": corpus,
        "form": form,
        "scenarios": scenario_count(corpus),
        "deciders": deciders(corpus),
        "generator": GENERATOR,
    }
    return render(request, "group_chat/agents.html", context, status=422 if form.errors else 200)


# A decision of a group-chat agent: the turns it had seen, the key, and the stage where it failed.


@require_GET
@researcher_only
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: an agent's decision at a point, with its key and its scores stage by stage."""
    item = access.decision(pk)
    judge = request.GET.get("judge", "").replace("\0", "")
    refused = ""
    try:
        raters = raters_named(item.corpus, [judge] if judge else [])
    except ReportRefused as error:
        refused, raters = str(error), []
    decision_view = view(item, raters)
    row = decision_view.continuation.dialogue
    turns = script(decision_view)
    names = dialogue_view.speakers(row, turns)
    context = {
        "decision_view": decision_view,
        "corpus": item.corpus,
        "dialogue": row,
        "language": language_tag(row.language),
        "lines": dialogue_view.lines(row, turns, names),
        "agent": names.of(scenario_of(decision_view.dialogue).agent),
        "expected": _expected_fields(decision_view),
        "did": _decision_fields(decision_view),
        "stages": _stage_scores(decision_view),
        "failure": _failure(decision_view),
        "judge": judge,
        "judges": judge_choices(item.corpus, judges_of(item.corpus)),
        "refused": refused,
    }
    return render(request, "group_chat/decision.html", context, status=422 if refused else 200)


def _stage_scores(decision_view: DecisionView) -> list[tuple[str, float | None, str]]:
    """Return the score of every stage with its reason, and the products of some and of all."""
    result = decision_view.result
    if result is None:
        return []
    return [
        *((stage.upper(), result.stages[stage].score, result.stages[stage].why) for stage in STAGES),
        ("Competence", result.competence, "product from ATTEND to GROUND"),
        ("Turn score", result.turn_score, "product of all stages"),
    ]


def _failure(decision_view: DecisionView) -> str:
    """Return the stage where a decision failed first, as a sentence."""
    stage = decision_view.result.failed_at if decision_view.result else None
    if not stage:
        return "Where it failed first is not known before a judge has answered, or the point is not scored."
    sentences = {
        "none": "It failed at no stage.",
        FORM: "The reply could not be read, so it failed before the first stage.",
    }
    return sentences.get(stage, f"It failed first at {stage.upper()}: what comes after is void.")


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
    *("jaccard", "part", "resamples", "seed", "exclude"),
)
"""Query parameters of a report."""
SUCCESSES = ((COMPETENCE, "competence 1 at every probe"), (TURN_SCORE, "a turn score of at least …"))
MOST_EXAMPLES = 5


@require_GET
@researcher_only
def cascade(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the form of a Cascade report and its report, or the reason why there is none."""
    corpus = access.corpus(pk)
    values = query_values(request, NAMES)
    context = _form(corpus, values)
    status = 200
    if context["is_possible"]:
        try:
            report = compute(query=read(values, corpus), by=user_of(request))
            context |= view_of(report) | {"failing": _failing(report)}
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if values else 200
    return render(request, "group_chat/cascade.html", context, status=status)


@require_GET
@researcher_only
def cascade_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """Researchers: the report as CSV, Markdown, LaTeX or JSON, or a chart as SVG or PNG."""
    corpus = access.corpus(pk)
    values = query_values(request, NAMES)
    return report_file(
        request,
        form,
        f"cascade-{corpus.pk}",
        lambda: compute(query=read(values, corpus), by=user_of(request)),
        RENDERINGS,
        CHARTS,
    )


@require_POST
@researcher_only
def cascade_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: log a look at test with its purpose, and show the report of the test part."""
    corpus = access.corpus(pk)
    values = {"judge": query_values(request, NAMES).get("judge", "")}
    return open_test_answer(
        request,
        reverse("cascade", args=[corpus.pk]),
        lambda purpose: open_test(query=read(values, corpus), by=user_of(request), purpose=purpose),
    )


def _form(corpus: Corpus, values: dict[str, str]) -> dict[str, Any]:
    """Return the form's options and current values."""
    by = values.get("by", ",".join(BY)).split(",")
    judges = values.get("judge", "").split(",")
    judge_boxes = [(name, title, name in judges) for name, title in judge_choices(corpus, judges_of(corpus))]
    return {
        "corpus": corpus,
        "values": values,
        "exclude": values.get("exclude", ""),
        "exclude_hint": exclusion.HELP,
        "split": splits.lock_of(corpus),
        "is_possible": corpus.dialogues.filter(scenario__isnull=False).exists(),
        "choices": [
            ("by", "Rows by", [(key, key, key in by) for key in BY]),
            *([("judge", "Conduct as judged by", judge_boxes)] if judge_boxes else []),
        ],
        "files": reverse("cascade-file", args=[corpus.pk, "csv"]).removesuffix("csv"),
        "address": reverse("cascade-test", args=[corpus.pk]),
        "successes": SUCCESSES,
        "forms": RENDERINGS.values(),
    }


def _failing(report: CascadeReport) -> list[tuple[str, str, list[tuple[int, str]]]]:
    """Return at most MOST_EXAMPLES decisions by row and the stage where they failed, with item and probes."""
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


urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scenarios/", scenarios, name="scenarios"),
    path("corpora/<int:pk>/scenarios/new/", new_scenario, name="new-scenario"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", scenario, name="scenario"),
    path("corpora/<int:pk>/cascade/", cascade, name="cascade"),
    path("corpora/<int:pk>/cascade/test/", cascade_test, name="cascade-test"),
    path("corpora/<int:pk>/cascade.<str:form>", cascade_file, name="cascade-file"),
    path("decisions/<int:pk>/", decision, name="decision"),
    path("corpora/<int:pk>/agents/", agents, name="agents"),
]
