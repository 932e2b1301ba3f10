"""Who may use the pages and routes of one campaign: researchers everywhere, and those whom it gave a role.

The address names the campaign as `campaign`. Whoever may not gets 403, whether or not there is such a one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotation import access
from config.permissions import Viewer, is_researcher

View = Callable[..., HttpResponse]


def _only(test: Callable[[Viewer, int], bool]) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, campaign: int, *args: Any, **kwargs: Any) -> HttpResponse:
            if not test(request.user, campaign):
                raise PermissionDenied
            return view(request, campaign, *args, **kwargs)

        return guarded

    return decorate


campaign_researcher_only = _only(access.may_manage)
"""Decorator of page views about one campaign, for researchers and for those who look after it."""


class IsCampaignResearcher(BasePermission):
    """API permission: researchers, and those who look after the campaign that the address names."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return access.may_manage(request.user, view.kwargs["campaign"])


class IsResearcherSomewhere(BasePermission):
    """API permission: researchers, and those who look after any campaign; the view narrows to these."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return is_researcher(request.user) or access.managed(request.user).exists()
