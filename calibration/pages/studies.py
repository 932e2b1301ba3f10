"""Studies: the list, a new one, and one with its definition and snapshots.

For researchers; one of a campaign also for those who look after it.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus
from annotation.pages.choosing import choose
from calibration import access
from calibration.errors import CalibrationError
from calibration.models import Study
from calibration.pages.asked import WHOSE, place_of
from calibration.pages.study_form import StudyForm
from calibration.permissions import study_researcher_only
from calibration.reading.census import offered
from calibration.reading.continuations import condition_keys
from calibration.reading.definitions import parse
from calibration.reading.scope import scope_of
from calibration.studies import actions as studies
from config.permissions import researcher_only

ROOM = {"active_room": "studies"}
LINK = ("answering", "answered", "map")
"""What an address may choose beforehand: a question read as an answer to another one."""


@require_GET
@researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """All studies, those made by people first, and where automatic ones are found."""
    found = (
        Study.objects.select_related("corpus", "campaign", "created_by")
        .annotate(n_reports=Count("reports"), last=Max("reports__created_at"))
        .order_by("automatic", "-pk")
    )
    page = Paginator(found, 50).get_page(request.GET.get("page"))
    places = {
        "corpora": Corpus.objects.order_by("name")[:50],
        "campaigns": Campaign.objects.filter(archived_at=None).order_by("name")[:50],
    }
    return render(request, "calibration/studies.html", ROOM | {"page": page} | places)


@researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Choose a corpus or campaign, then say what is asked of it."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(request, title="New study", lead=WHOSE, back=("studies", "Studies"), room="studies")
    part = TRAINING if request.GET.get("part") == TRAINING else ""
    counted = offered(scope_of(corpus, campaign, part))
    link = {key: request.GET[key] for key in LINK if key in request.GET}
    conditions = condition_keys(corpus)
    form = StudyForm(request.POST or None, counted=counted, conditions=conditions, initial=link)
    if (
        request.method == "POST"
        and form.is_valid()
        and (study := _made(request, form, corpus, campaign, part))
    ):
        return redirect("report", study.pk)
    context = ROOM | {"form": form, "corpus": corpus, "campaign": campaign, "counted": counted, "part": part}
    return render(request, "calibration/new_study.html", context, status=422 if form.errors else 200)


def _made(
    request: HttpRequest, form: StudyForm, corpus: Corpus, campaign: Campaign | None, part: str
) -> Study | None:
    user: Any = request.user
    name, definition = form.cleaned_data["name"], form.definition()
    definition |= {"split": part} if part else {}
    try:
        return studies.create(name=name, corpus=corpus, campaign=campaign, definition=definition, by=user)
    except CalibrationError as error:
        form.add_error(None, str(error))
        return None


@require_GET
@study_researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """A study: what it asks, with every default, and the snapshots of its report."""
    study = access.study(pk)
    reports = study.reports.select_related("created_by")
    definition = json.dumps(parse(study.definition).as_dict(), indent=2, ensure_ascii=False)
    return render(
        request,
        "calibration/study.html",
        ROOM | {"study": study, "reports": reports, "definition": definition},
    )
