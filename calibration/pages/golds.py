"""Gold labels: the list, a new derivation, one with its labels and downloads.

For researchers; those of a campaign also for those who look after it.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.corpora import clusters as item_clusters
from annotation.corpora import splits
from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus, Question, turn_numbers
from annotation.pages.choosing import choose
from calibration import access
from calibration.errors import CalibrationError
from calibration.exports import job as export_job
from calibration.exports.writing import FORMATS
from calibration.gold import export as gold_export
from calibration.gold.changes import changes_of, counts_everybody
from calibration.gold.described import described
from calibration.gold.difference import comparable
from calibration.gold.findings import told
from calibration.gold.job import gold_or_job, preview_gold
from calibration.gold.making import Preview
from calibration.models import Gold, GoldLabel
from calibration.pages.asked import WHOSE, place_of
from calibration.pages.exports import being_written, place_told, taken_by
from calibration.pages.gold_form import GoldForm
from calibration.permissions import gold_researcher_only, place_researcher_only, visible_to
from calibration.reading.census import offered
from calibration.reading.scope import scope_of
from config.long_lists import LongPaginator
from config.permissions import is_researcher
from jobs.models import Job

ROOM = {"active_room": "golds"}
MOST_OTHERS = 100
"""Other golds of the same questions that a page offers for comparison, newest first."""


@require_GET
@place_researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """All gold derivations, newest first; of one corpus or campaign where named."""
    corpus, campaign = place_of(request)
    found = Gold.objects.select_related(
        "corpus", "campaign", "scheme_version__scheme", "created_by"
    ).order_by("-pk")
    if campaign is not None:
        found = found.filter(campaign=campaign)
    elif corpus is not None:
        found = found.filter(corpus=corpus)
    page = Paginator(found, 50).get_page(request.GET.get("page"))
    shown = [described(gold) for gold in page]
    context = ROOM | {"page": page, "shown": shown, "corpus": corpus, "campaign": campaign}
    return render(request, "calibration/golds.html", context)


@place_researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Choose a corpus or campaign, then how gold is chosen from its labels."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(
            request, title="New gold labels", lead=WHOSE, back=("golds", "Gold labels"), room="golds"
        )
    part = TRAINING if request.GET.get("part") == TRAINING else ""
    counted = offered(scope_of(corpus, campaign, part))
    form = GoldForm(request.POST or None, counted=counted)
    before = None
    if request.method == "POST" and form.is_valid() and request.POST.get("confirmed") != form.choice():
        before = _preview(form, corpus, campaign, part)
    if (
        request.method == "POST"
        and form.is_valid()
        and before is None
        and (gold := _made(request, form, corpus, campaign, part))
    ):
        if isinstance(gold, Job):
            messages.info(request, "The gold labels are being made: see the list below.")
            if campaign is not None and not is_researcher(request.user):
                return redirect(f"{reverse('golds')}?campaign={campaign.pk}")
            return redirect("jobs")
        return redirect("gold", gold.pk)
    context = ROOM | {
        "form": form,
        "corpus": corpus,
        "campaign": campaign,
        "counted": counted,
        "before": before,
        "part": part,
    }
    return render(request, "calibration/new_gold.html", context, status=422 if form.errors else 200)


def _preview(form: GoldForm, corpus: Corpus, campaign: Campaign | None, part: str) -> Preview | None:
    """Return how many items would stay without a value, where some would or that is not known."""
    try:
        counted = preview_gold(
            corpus=corpus,
            campaign=campaign,
            part=part,
            scheme_version=form.version(),
            rule=form.cleaned_data["rule"],
            options=form.options(),
            raters=form.cleaned_data["raters"],
        )
    except CalibrationError as error:
        form.add_error(None, str(error))
        return None
    return counted if counted.without or counted.unknown else None


def _made(
    request: HttpRequest, form: GoldForm, corpus: Corpus, campaign: Campaign | None, part: str
) -> Gold | Job | None:
    user: Any = request.user
    chosen = form.cleaned_data
    try:
        return gold_or_job(
            corpus=corpus,
            campaign=campaign,
            part=part,
            scheme_version=form.version(),
            rule=chosen["rule"],
            options=form.options(),
            raters=chosen["raters"],
            by=user,
        )
    except CalibrationError as error:
        form.add_error(None, str(error))
        return None


@require_GET
@gold_researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """One derivation: how it was made, how sure it is, and its labels; only ties where asked."""
    gold = access.gold(pk)
    only_without = request.GET.get("only") == "without"
    labels, many = gold.labels.order_by("pk"), gold.n
    if only_without:
        labels, many = labels.exclude(reason=""), gold.without
    n_all = many
    hidden = splits.unopened(gold.corpus).values("cluster")
    if hidden.exists():
        labels = labels.exclude(item_clusters.within(hidden, "item__"))
        many = labels.count()
    rows = GoldLabel.objects.select_related("item__continuation__dialogue", "item__turn", "question")
    page = LongPaginator(labels, 50, many=many, rows=rows).get_page(request.GET.get("page"))
    turn_numbers.number(label.item.turn for label in page)
    asked = Question.objects.filter(pk__in=gold.counts).order_by("position")
    questions = [
        {"question": question, "n": n, "without": without}
        for question in asked
        for n, without in [gold.counts[str(question.pk)]]
    ]
    changes = changes_of(gold)
    context = {
        "gold": gold,
        "n_locked": n_all - page.paginator.count,
        "changes": changes,
        "again": _again(gold) if changes else [],
        "page": page,
        "questions": questions,
        "described": described(gold),
        "has_sources": "fallback" in gold.options or bool(gold.options.get("adjudicators")),
        "findings": told(gold),
        "others": [described(other) for other in visible_to(request.user, comparable(gold))[:MOST_OTHERS]],
        "split": None if gold.is_of_training else splits.lock_of(gold.corpus),
        "provenance": gold_export.provenance(gold),
        "only_without": only_without,
        "exports": gold.exports.select_related("created_by")[:10],
    }
    return render(request, "calibration/gold.html", ROOM | context)


def _again(gold: Gold) -> list[tuple[str, str]]:
    """Return the form's fields that make a gold anew; where all people counted, those who joined do, too."""
    version = gold.scheme_version
    raters = [] if counts_everybody(gold) else gold.options["raters"]
    own = [(name, str(gold.options[name])) for name, _ in described(gold).options]
    fields = [("scheme", f"{version.scheme.key}@{version.version}"), ("rule", gold.rule), *own]
    return [*fields, *(("raters", name) for name in raters)]


@require_http_methods(["GET", "POST"])
@gold_researcher_only
def download(request: HttpRequest, pk: int, form: str) -> HttpResponse | StreamingHttpResponse:
    """A derivation's labels as CSV, JSONL or Parquet; test is taken out by POST alone."""
    gold = access.gold(pk)
    if form not in FORMATS:
        raise Http404
    taken = taken_by(request, gold.corpus, gold)
    if taken is None:
        return redirect("gold", pk)
    user: Any = request.user
    found = export_job.gold_or_job(gold=gold, taken=taken, form=form, by=user)
    if isinstance(found, Job):
        return being_written(request, place_told(gold.corpus_id, gold.campaign_id))
    return found.response(f"gold-{gold.pk}")


@require_GET
@gold_researcher_only
def provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """How a derivation came about, as JSON."""
    content = json.dumps(gold_export.provenance(access.gold(pk)), indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="gold-{pk}-provenance.json"'
    return response
