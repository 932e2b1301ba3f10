"""Loaders of objects for pages and the API: one per object, 404 if it does not exist. For researchers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotation import access
from annotation import access as loading
from annotation.models import Corpus, KeyTask, Task
from annotation.models.campaigns import Campaign
from calibration.adjudication.rounds import may_decide
from calibration.exports import downloads
from calibration.models import (
    AdjudicationCase,
    AdjudicationDecision,
    AdjudicationRound,
    AnchorSet,
    Export,
    ForAdjudication,
    Gold,
    Recheck,
    Report,
    ReportShare,
    Search,
    SearchText,
    Study,
)
from calibration.studies import study_actions as studies
from calibration.workbench.sheets import Judged
from config.files import row_id
from config.permissions import Viewer, is_researcher
from jobs.models import Job
from judges.models import Bench, Draft

# Access to results of one campaign's labels: researchers, and users who manage the campaign.
#
# Studies, golds and exports about a whole corpus are for researchers only. Other users get 403, whether or
# not the object exists.

Answer = HttpResponse | StreamingHttpResponse
View = Callable[..., Any]
Row = TypeVar("Row", bound=Model)


def visible_to(user: Viewer, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Return the studies, golds or exports that a viewer may see: all, or those of managed campaigns."""
    return rows if is_researcher(user) else rows.filter(campaign__in=access.managed(user))


def must_manage(user: Viewer, campaign: Campaign | int | None) -> None:
    """Raise PermissionDenied for users who may not manage a campaign or, without one, whole corpora."""
    if not (is_researcher(user) if campaign is None else access.may_manage(user, campaign)):
        raise PermissionDenied


def must_manage_any(user: Viewer) -> None:
    """Raise PermissionDenied for users who are no researchers and manage no campaign."""
    if not is_researcher(user) and not access.managed(user).exists():
        raise PermissionDenied


def within_campaign(user: Viewer, campaign: Campaign | None, continuations: list[int]) -> None:
    """Raise PermissionDenied if a campaign's manager names continuations outside the campaign."""
    if not continuations or is_researcher(user):
        return
    campaign_tasks = Task.objects.filter(campaign=campaign, continuation__in=continuations)
    if set(continuations) - set(campaign_tasks.values_list("continuation", flat=True)):
        raise PermissionDenied


def may_see(user: Viewer, rows: QuerySet[Any], pk: int) -> bool:
    """Whether a user may see a study, gold or export; at most one query for researchers."""
    return is_researcher(user) or visible_to(user, rows.filter(pk=pk)).exists()


def _only(rows: QuerySet[Any]) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> Answer:
            if not may_see(request.user, rows, pk):
                raise PermissionDenied
            answer: Answer = view(request, pk, *args, **kwargs)
            return answer

        return guarded

    return decorate


study_researcher_only = _only(Study.objects.all())
"""Decorator of page views about the study `pk`."""

gold_researcher_only = _only(Gold.objects.all())
"""Decorator of page views about the gold `pk`."""

export_researcher_only = _only(Export.objects.all())
"""Decorator of page views about the export `pk`."""


def place_researcher_only(view: View) -> View:
    """Decorate a page view about the corpus or campaign named in the URL's query."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Answer:
        campaign = row_id(request.GET.get("campaign", ""))
        manages_campaign = campaign is not None and access.may_manage(request.user, campaign)
        if not manages_campaign and not is_researcher(request.user):
            raise PermissionDenied
        answer: Answer = view(request, *args, **kwargs)
        return answer

    return guarded


class IsStudyResearcher(BasePermission):
    """API permission: researchers, and users who manage the campaign of the study `pk`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return may_see(request.user, Study.objects.all(), view.kwargs["pk"])


class IsGoldResearcher(BasePermission):
    """API permission: researchers, and managers of the campaign of the gold `pk` (and of `other`)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        gold_ids = [view.kwargs[name] for name in ("pk", "other") if name in view.kwargs]
        return all(may_see(request.user, Gold.objects.all(), pk) for pk in gold_ids)


def study(pk: int) -> Study:
    """Return a study with its corpus and campaign. Researchers see every study."""
    return get_object_or_404(Study.objects.select_related("corpus", "campaign__corpus"), pk=pk)


def snapshot(study: Study, pk: int) -> Report:
    """Return an earlier report of a study."""
    return get_object_or_404(study.reports, pk=pk)


def report_share(study: Study, pk: int) -> ReportShare:
    """Return a link to one of a study's reports."""
    return get_object_or_404(ReportShare.objects.select_related("report__study"), pk=pk, report__study=study)


def gold(pk: int) -> Gold:
    """Return a gold derivation with its related rows. Researchers see every derivation."""
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return get_object_or_404(Gold.objects.select_related(*related), pk=pk)


def export(pk: int) -> Export:
    """Return an export with its corpus and campaign. Researchers see every export."""
    return get_object_or_404(Export.objects.select_related("corpus", "campaign"), pk=pk)


def export_job_of(pk: int, user: User) -> Job:
    """Return the job that writes a large download, only for the user who requested it."""
    return get_object_or_404(Job, pk=pk, kind=downloads.KIND, created_by=user)


def bench(pk: int) -> Bench:
    """Return a bench with its related rows. Researchers see every bench."""
    related = ("corpus", "campaign__scheme_version__scheme", "split", "scheme_version__scheme")
    return get_object_or_404(Bench.objects.select_related(*related), pk=pk)


def draft(bench: Bench, number: int) -> Draft:
    """Return a draft of a bench by its number."""
    related = ("bench__corpus", "bench__campaign", "bench__split", "rater", "kept_rater", "text", "endpoint")
    return get_object_or_404(Draft.objects.select_related(*related), bench=bench, number=number)


def judged(tried: Iterable[Judged], key: str) -> Judged:
    """Return a draft or judge that was tried on a bench by its key; '' is the first."""
    selected = next((candidate for candidate in tried if key in ("", candidate.key)), None)
    if selected is None:
        raise Http404(
            f"This bench has nobody {key!r} who was tried." if key else "Nobody was tried here yet."
        )
    return selected


def check_key(campaign: Campaign, pk: int) -> KeyTask:
    """Return a key of a campaign, with its task."""
    rows = KeyTask.objects.select_related("campaign", "task__continuation__dialogue", "task__item__turn")
    return get_object_or_404(rows, pk=pk, campaign=campaign)


def for_adjudication(pk: int) -> ForAdjudication:
    """Return an entry of the adjudication list, waiting or not."""
    return get_object_or_404(ForAdjudication, pk=pk)


def adjudication_round(pk: int) -> AdjudicationRound:
    """Return a round of adjudication with its related rows. Researchers see every round."""
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return get_object_or_404(AdjudicationRound.objects.select_related(*related), pk=pk)


def own_round(viewer: User, pk: int) -> AdjudicationRound:
    """Return a round in which the viewer may decide; 404 for everybody else."""
    rows = AdjudicationRound.objects.select_related(
        "corpus", "campaign__corpus", "scheme_version__scheme"
    ).filter(pk=pk)
    if not rows or not may_decide(viewer, rows[0]):
        raise Http404
    return rows[0]


def adjudication_case(adjudication_round: AdjudicationRound, pk: int) -> AdjudicationCase:
    """Return a case of a round, with its item and question."""
    related = ("item__turn", "item__continuation__dialogue__corpus", "item__continuation__system")
    rows = adjudication_round.cases.select_related(*related, "question__version__scheme", "draw")
    return get_object_or_404(rows, pk=pk)


def adjudication_decision(pk: int) -> AdjudicationDecision:
    """Return a decision on a case. Researchers see everybody's."""
    related = ("round__corpus", "round__campaign", "label", "adjudicator", "case")
    return get_object_or_404(AdjudicationDecision.objects.select_related(*related), pk=pk)


def own_campaign(viewer: User, pk: int) -> Campaign:
    """Return a campaign of the viewer's that shows its members how far they agree; 404 for any other."""
    campaign = access.membership(viewer, pk).campaign
    if not campaign.shows_agreement:
        raise Http404
    return campaign


def search(bench: Bench, pk: int) -> Search:
    """Return a search of a bench."""
    related = ("bench__corpus", "bench__split", "prompt", "text", "endpoint", "improver", "rater")
    return get_object_or_404(Search.objects.select_related(*related), bench=bench, pk=pk)


def search_text(search: Search, number: str) -> SearchText:
    """Return a text of a search by its number, given as text in a URL or form."""
    rows = search.texts.select_related("version__prompt")
    return get_object_or_404(rows, number=row_id(number) or 0)


def anchor_set(pk: int) -> AnchorSet:
    """Return an anchor set with its related rows. Researchers see every one."""
    related = ("corpus", "gold", "campaign", "created_by")
    return get_object_or_404(AnchorSet.objects.select_related(*related), pk=pk)


def recheck(pk: int) -> Recheck:
    """Return a recheck with its related rows. Researchers see every one."""
    related = ("anchors__corpus", "rater", "run")
    return get_object_or_404(Recheck.objects.select_related(*related), pk=pk)


# Objects named in a URL's query: a place, a part, an earlier report.


def requested_report(study: Study, request: HttpRequest) -> Report | None:
    """Return the earlier report named in a request; None if there is none."""
    number = row_id(request.GET.get("snapshot", ""))
    return None if number is None else snapshot(study, number)


def part_of(request: HttpRequest, study: Study) -> str | None:
    """Return the requested part of the split; None for a test part without a report."""
    if request.GET.get("part") != "test":
        return studies.default_part(study)
    return "test" if studies.latest(study, "test") else None


def place_of(request: HttpRequest) -> tuple[Corpus | None, Campaign | None]:
    """Return the corpus and campaign named in a request."""
    campaign_id, corpus_id = row_id(request.GET.get("campaign", "")), row_id(request.GET.get("corpus", ""))
    if campaign_id is not None:
        campaign = loading.campaign(campaign_id)
        return campaign.corpus, campaign
    if corpus_id is not None:
        return loading.corpus(corpus_id), None
    return None, None
