"""Pages of drift: anchor sets of a corpus, one with its rechecks, a recheck, monitoring. Researchers only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access as loading
from annotation.models import Corpus, Rater
from annotation.models.campaigns import Campaign
from calibration import access
from calibration.drift import anchor_actions
from calibration.drift.monitor import BASELINE, MOST_BASELINE, charts, monitor, questions_of
from calibration.errors import CalibrationError, DriftRefused
from calibration.models import AnchorSet, Gold
from calibration.reports.charts import inline_svg
from calibration.reports.figures import worded
from calibration.statistics.monitoring import ALPHA, LEAST_BASELINE
from calibration.statistics.rechecks import MARGIN
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.errors import JobError
from judges.pages.forms import ExclusionForm


class AnchorSetForm(ExclusionForm):
    """A new anchor set of a corpus."""

    name = forms.CharField(max_length=100, label="Name")
    gold = forms.ModelChoiceField(
        Gold.objects.none(),
        required=False,
        label="Reference",
        empty_label="People’s ratings",
        help_text="Items that people rated, or those with labels of a gold.",
    )
    campaign = forms.ModelChoiceField(
        Campaign.objects.none(), required=False, label="Whose ratings", empty_label="All campaigns"
    )
    size = forms.IntegerField(
        required=False,
        min_value=anchor_actions.LEAST_ITEMS,
        max_value=anchor_actions.MOST_ITEMS,
        label="Items",
        help_text="Drawn in proportion to the values of the reference. Empty: all.",
    )
    margin = forms.FloatField(
        min_value=0.001,
        max_value=1,
        initial=MARGIN,
        label="Margin",
        help_text="Smaller changes do not matter: as a share of the scale, of answers, or of a coefficient.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, label="Seed")

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["gold"].queryset = corpus.golds.all()  # type: ignore[attr-defined]
        self.fields["campaign"].queryset = corpus.campaigns.all()  # type: ignore[attr-defined]
        self.offer_exclusion(corpus)


class JudgesField(forms.ModelMultipleChoiceField):
    """Boxes for judges, by their short names."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, obj: Any) -> str:
        """Return the short name of a judge."""
        return str(obj.title)


class ScheduleForm(forms.Form):
    """The schedule of an anchor set."""

    every_days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=anchor_actions.MOST_DAYS,
        label="Every so many days",
        help_text="Empty: no schedule.",
    )
    judges = JudgesField(Rater.objects.none(), required=False, label="Judges")

    def __init__(self, *args: Any, judges: list[Rater], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Rater.objects.filter(pk__in=[rater.pk for rater in judges])
        self.fields["judges"].queryset = rows  # type: ignore[attr-defined]


class MonitorForm(forms.Form):
    """Whose answers are monitored, and how."""

    judge = forms.ChoiceField(label="Judge")
    question = forms.ChoiceField(label="Question", required=False)
    baseline = forms.IntegerField(
        min_value=LEAST_BASELINE,
        max_value=MOST_BASELINE,
        initial=BASELINE,
        required=False,
        label="Dialogues of the baseline",
    )


@researcher_only
@require_http_methods(["GET", "POST"])
def corpus_drift(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the anchor sets of a corpus; POST creates one."""
    corpus = loading.corpus_named(name)
    form = AnchorSetForm(request.POST or None, corpus=corpus)
    if request.method == "POST" and form.is_valid():
        try:
            anchors = anchor_actions.create(by=user_of(request), corpus=corpus, **form.cleaned_data)
        except DriftRefused as error:
            form.add_error(None, str(error))
        else:
            return redirect("anchor-set", anchors.pk)
    rows = [(anchors, _latest(anchors)) for anchors in corpus.anchor_sets.prefetch_related("rechecks")]
    return render(request, "drift/corpus.html", {"corpus": corpus, "rows": rows, "form": form})


def _latest(anchors: AnchorSet) -> Any:
    return next(iter(anchors.rechecks.all()), None)


@researcher_only
@require_GET
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: an anchor set, its judges and rechecks; `?judge=` shows what asking it again takes."""
    anchors = access.anchor_set(pk)
    initial = {"every_days": anchors.every_days, "judges": list(anchors.scheduled.all())}
    form = ScheduleForm(judges=anchor_actions.judges_of(anchors), initial=initial)
    return _page(request, anchors, form)


def _page(request: HttpRequest, anchors: AnchorSet, schedule: ScheduleForm) -> HttpResponse:
    judges = anchor_actions.judges_of(anchors)
    judge_id = row_id(request.GET.get("judge", ""))
    judge = next((rater for rater in judges if rater.pk == judge_id), None)
    estimate, refusal = None, ""
    if judge is not None:
        try:
            estimate = anchor_actions.estimate(anchors, judge)
        except (CalibrationError, JobError) as error:
            refusal = str(error)
    context = {
        "anchors": anchors,
        "corpus": anchors.corpus,
        "n_items": anchors.items.count(),
        "judges": judges,
        "judge": judge,
        "estimate": estimate,
        "refusal": refusal,
        "rechecks": anchors.rechecks.select_related("rater", "run"),
        "schedule": schedule,
    }
    return render(request, "drift/anchors.html", context)


@researcher_only
@require_POST
def act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Researchers: `recheck` asks a judge again, `schedule` sets the schedule, `delete` deletes the set."""
    anchors, by = access.anchor_set(pk), user_of(request)
    judges = anchor_actions.judges_of(anchors)
    try:
        if verb == "recheck":
            judge_id = row_id(request.POST.get("judge", ""))
            judge = next((rater for rater in judges if rater.pk == judge_id), None)
            if judge is None:
                raise Http404
            started = anchor_actions.recheck(by=by, anchors=anchors, rater=judge)
            return redirect("recheck", started.pk)
        if verb == "schedule":
            form = ScheduleForm(request.POST, judges=judges)
            if not form.is_valid():
                return _page(request, anchors, form)
            data = form.cleaned_data
            anchor_actions.set_schedule(
                by=by, anchors=anchors, every_days=data["every_days"], judges=list(data["judges"])
            )
        elif verb == "delete":
            anchor_actions.delete(by=by, anchors=anchors)
            return redirect("corpus-drift", anchors.corpus.name)
        else:
            raise Http404
    except (CalibrationError, JobError) as error:
        messages.error(request, str(error))
    return redirect("anchor-set", pk)


@researcher_only
@require_GET
def recheck(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a recheck, with its comparison by question once its run has ended."""
    asked_again = access.recheck(pk)
    rows = [_row(row) for row in asked_again.result.get("questions", ())]
    context = {"recheck": asked_again, "corpus": asked_again.anchors.corpus, "rows": rows}
    return render(request, "drift/recheck.html", context | {"headings": list(_FIGURES)})


_FIGURES = {
    "Changed": "changed",
    "Within a run": "wobble",
    "Shift": "shift",
    "Agreement first": "first_agreement",
    "Agreement again": "later_agreement",
    "Its change": "agreement_change",
}
"""Headings of a comparison's figures, in the order of the columns, with their names in the result."""
_SHARES = ("changed", "wobble", "shift")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a question's comparison as the table shows it: its figures with their headings."""
    figures = [
        (heading, row[name] | ({"percent": True} if name in _SHARES else {}))
        for heading, name in _FIGURES.items()
    ]
    tests = [row[name]["p_holm"] for name in ("shift", "excess", "agreement_change")]
    p = min((value for value in tests if value is not None), default=None)
    return row | {"entries": figures, "p": p, "statistic_name": worded(row["statistic"]).name}


@researcher_only
@require_GET
def judge_monitor(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: a judge's answers to a question over time, with the alarm; by `judge` and `question`."""
    corpus = loading.corpus_named(name)
    judges = [rater for rater in _judges(corpus) if questions_of(corpus, rater)]
    judge_id = row_id(request.GET.get("judge", ""))
    judge = next((rater for rater in judges if rater.pk == judge_id), judges[0] if judges else None)
    questions = questions_of(corpus, judge) if judge else []
    question_id = row_id(request.GET.get("question", ""))
    question = next((row for row in questions if row.pk == question_id), questions[0] if questions else None)
    baseline = row_id(request.GET.get("baseline", "")) or BASELINE
    initial = {"judge": judge and judge.pk, "question": question and question.pk, "baseline": baseline}
    form = MonitorForm(initial=initial)
    form.fields["judge"].choices = [(rater.pk, rater.title) for rater in judges]  # type: ignore[attr-defined]
    form.fields["question"].choices = [(row.pk, row.title) for row in questions]  # type: ignore[attr-defined]
    context: dict[str, Any] = {"corpus": corpus, "form": form, "alpha": ALPHA}
    if judge is not None and question is not None:
        try:
            monitored = monitor(corpus=corpus, rater=judge, question=question, n_baseline=baseline)
        except DriftRefused as error:
            return render(request, "drift/monitor.html", context | {"refusal": str(error)})
        pictures = [(chart, mark_safe(inline_svg(chart))) for chart in charts(monitored)]
        context |= {"monitor": monitored, "charts": pictures}
    return render(request, "drift/monitor.html", context)


def _judges(corpus: Corpus) -> list[Rater]:
    rows = Rater.objects.filter(kind=Rater.Kind.JUDGE, labels__item__corpus=corpus)
    return list(rows.distinct().order_by("name"))
