"""Who may use what is made of one campaign's labels: researchers, and those who look after that campaign.

A study, a gold or an export that speaks of a whole corpus is for researchers alone. Whoever may not gets 403,
whether or not there is such a one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotation import access
from annotation.models import Campaign, Task
from calibration.models import Export, Gold, Study
from config.files import row_id
from config.permissions import Viewer, is_researcher

Answer = HttpResponse | StreamingHttpResponse
View = Callable[..., Any]
Row = TypeVar("Row", bound=Model)


def visible_to(user: Viewer, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Return of studies, golds or exports what a viewer may see: all, or those of campaigns looked after."""
    return rows if is_researcher(user) else rows.filter(campaign__in=access.managed(user))


def must_manage(user: Viewer, campaign: Campaign | int | None) -> None:
    """Raise PermissionDenied for who may not manage a campaign, or, where there is none, whole corpora."""
    if not (is_researcher(user) if campaign is None else access.may_manage(user, campaign)):
        raise PermissionDenied


def must_manage_any(user: Viewer) -> None:
    """Raise PermissionDenied for who is neither a researcher nor looks after any campaign."""
    if not is_researcher(user) and not access.managed(user).exists():
        raise PermissionDenied


def within_campaign(user: Viewer, campaign: Campaign | None, continuations: list[int]) -> None:
    """Raise PermissionDenied where someone who looks after a campaign names continuations outside it."""
    if not continuations or is_researcher(user):
        return
    known = Task.objects.filter(campaign=campaign, continuation__in=continuations)
    if set(continuations) - set(known.values_list("continuation", flat=True)):
        raise PermissionDenied


def may_see(user: Viewer, rows: QuerySet[Any], pk: int) -> bool:
    """Whether someone may see a study, gold or export; for researchers one query at most."""
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
    """Decorate a page view about the corpus or campaign that the address names as a parameter."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Answer:
        campaign = row_id(request.GET.get("campaign", ""))
        named = campaign is not None and access.may_manage(request.user, campaign)
        if not named and not is_researcher(request.user):
            raise PermissionDenied
        answer: Answer = view(request, *args, **kwargs)
        return answer

    return guarded


class IsStudyResearcher(BasePermission):
    """API permission: researchers, and those who look after the campaign of the study `pk`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return may_see(request.user, Study.objects.all(), view.kwargs["pk"])


class IsGoldResearcher(BasePermission):
    """API permission: researchers, and those who look after the campaign of the gold `pk`, and of `other`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        named = [view.kwargs[name] for name in ("pk", "other") if name in view.kwargs]
        return all(may_see(request.user, Gold.objects.all(), pk) for pk in named)
