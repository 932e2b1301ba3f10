"""Object loaders shared by pages and API: each returns the object of an address, or raises 404.

A view declares its role by decorator or permission class. A loader that takes the viewer returns only
objects that this account may see.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotation.kinds import ANSWER, DECISION
from annotation.models import (
    ApiToken,
    Assignment,
    Campaign,
    CampaignMember,
    CampaignRole,
    Continuation,
    Corpus,
    Dialogue,
    Item,
    JoinLink,
    OneTimeLink,
    ParticipantBrowser,
    PeopleGroup,
    QuestionSet,
    Rater,
    Record,
    Scheme,
    SchemeVersion,
    Thread,
    Upload,
)
from annotation.scheme_store import find
from annotation.work.rater_names import nameable_raters
from config.permissions import Viewer, is_administrator, is_researcher


def corpus(pk: int) -> Corpus:
    """Return a corpus. Researchers see every corpus."""
    return get_object_or_404(Corpus.objects.select_related("created_by"), pk=pk)


def corpus_named(name: str) -> Corpus:
    """Return a corpus by its name. Researchers see every corpus."""
    return get_object_or_404(Corpus.objects.select_related("created_by"), name=name)


def dialogue(pk: int) -> Dialogue:
    """Return a dialogue with its corpus. Researchers see every dialogue."""
    return get_object_or_404(Dialogue.objects.select_related("corpus"), pk=pk)


def scenario(corpus: int, pk: int) -> Dialogue:
    """Return a scenario of a corpus, with the corpus. Researchers see every scenario."""
    rows = Dialogue.objects.select_related("corpus").filter(scenario__isnull=False)
    return get_object_or_404(rows, pk=pk, corpus_id=corpus)


def script(corpus: int, pk: int) -> Dialogue:
    """Return a script (a long dialogue of dated sessions) of a corpus, with the corpus.

    Researchers see every script.
    """
    rows = Dialogue.objects.select_related("corpus").filter(script__isnull=False)
    return get_object_or_404(rows, pk=pk, corpus_id=corpus)


def question_set(corpus: int, pk: int) -> QuestionSet:
    """Return a question set of a corpus, with the corpus. Researchers see every set."""
    return get_object_or_404(QuestionSet.objects.select_related("corpus"), pk=pk, corpus_id=corpus)


def record(corpus: int, pk: int) -> Record:
    """Return a fact or a question of a script, with script and corpus. Researchers see every record."""
    return get_object_or_404(Record.objects.select_related("dialogue__corpus"), pk=pk, corpus_id=corpus)


def continuation(pk: int) -> Continuation:
    """Return a continuation with its dialogue, corpus and system. Researchers see every continuation."""
    return get_object_or_404(Continuation.objects.select_related("dialogue__corpus", "system"), pk=pk)


def decision(pk: int) -> Item:
    """Return an item that is a decision of a group-chat agent. Researchers see every decision."""
    rows = Item.objects.select_related("corpus", "turn", "continuation__dialogue", "continuation__system")
    return get_object_or_404(rows, pk=pk, kind=DECISION.key)


def answer(pk: int) -> Item:
    """Return an item that is an answer to a question about a script. Researchers see every answer."""
    rows = Item.objects.select_related("corpus", "turn", "continuation__dialogue", "continuation__system")
    return get_object_or_404(rows, pk=pk, kind=ANSWER.key)


def campaign(pk: int) -> Campaign:
    """Return a campaign with its corpus and scheme. Researchers see every campaign."""
    return get_object_or_404(Campaign.objects.select_related("corpus", "scheme_version__scheme"), pk=pk)


def may_manage(user: Viewer, campaign: Campaign | int) -> bool:
    """Whether a user may manage a campaign and read its data: researchers, and the campaign's researchers.

    At most one query; for researchers, no query beside that for their role.
    """
    return is_researcher(user) or _has_role(user, campaign, [CampaignRole.Role.RESEARCHER])


def may_adjudicate(user: Viewer, campaign: Campaign | int) -> bool:
    """Whether a user may adjudicate disagreements: adjudicators, and whoever may manage the campaign."""
    return is_researcher(user) or _has_role(user, campaign, CampaignRole.Role.values)


def _has_role(user: Viewer, campaign: Campaign | int, roles: list[str]) -> bool:
    if not isinstance(user, User) or not user.is_active:
        return False
    number = campaign if isinstance(campaign, int) else campaign.pk
    return CampaignRole.objects.filter(user=user, campaign_id=number, role__in=roles).exists()


def managed(user: Viewer) -> QuerySet[Campaign]:
    """Return the campaigns that a user may manage: all for researchers, else those of their roles."""
    if is_researcher(user):
        return Campaign.objects.all()
    if not isinstance(user, User) or not user.is_active:
        return Campaign.objects.none()
    role = CampaignRole.Role.RESEARCHER
    return Campaign.objects.filter(
        pk__in=CampaignRole.objects.filter(user=user, role=role).values("campaign")
    )


def manages_any(user: Viewer) -> bool:
    """Whether a user manages campaigns: researchers, and the researchers of any campaign."""
    return is_researcher(user) or managed(user).exists()


def campaign_role(campaign: int, pk: int) -> CampaignRole:
    """Return a person's role in a campaign. Researchers see the roles of every campaign."""
    rows = CampaignRole.objects.select_related("campaign", "user")
    return get_object_or_404(rows, pk=pk, campaign_id=campaign)


def scheme(key: str) -> Scheme:
    """Return a stored scheme by its key. Researchers see every scheme."""
    return get_object_or_404(Scheme, key=key)


def scheme_version(key: str, number: int | None = None) -> SchemeVersion:
    """Return a version of a scheme, by default its newest. Researchers see every scheme."""
    version = find(key if number is None else f"{key}@{number}")
    if version is None or version.scheme.key != key:
        raise Http404
    return version


def membership(viewer: User, campaign: int) -> CampaignMember:
    """Return the viewer's membership in a campaign; 404 for everybody else, including researchers."""
    return get_object_or_404(CampaignMember, campaign_id=campaign, user=viewer)


def rater(pk: int) -> Rater:
    """Return a judge or metric that can have a short name."""
    return get_object_or_404(nameable_raters(), pk=pk)


def submission(campaign: int, pk: int) -> Assignment:
    """Return an assignment of a campaign. Researchers see everyone's assignments."""
    return get_object_or_404(Assignment, pk=pk, campaign_id=campaign)


def upload(viewer: User, pk: int) -> Upload:
    """Return an upload with its job: the viewer's own, or anybody's for an administrator."""
    uploads = Upload.objects.select_related("job")
    return get_object_or_404(uploads if is_administrator(viewer) else uploads.filter(by=viewer), pk=pk)


def upload_of_job(viewer: User, job: int) -> Upload:
    """Return the upload that a job imports: the viewer's own, or anybody's for an administrator."""
    return upload(viewer, get_object_or_404(Upload, job=job).pk)


def account(pk: int) -> User:
    """Return an account. Administrators see every account."""
    return get_object_or_404(User, pk=pk)


def people_group(pk: int) -> PeopleGroup:
    """Return a group of people. Researchers see every group."""
    return get_object_or_404(PeopleGroup, pk=pk)


def join_link(campaign: int, pk: int) -> JoinLink:
    """Return a link by which people join a campaign. Visible to whoever may manage the campaign."""
    return get_object_or_404(JoinLink.objects.select_related("campaign"), pk=pk, campaign_id=campaign)


def participant_browser(campaign: int, pk: int) -> ParticipantBrowser:
    """Return a participant's browser in a campaign. Visible to whoever may manage the campaign."""
    rows = ParticipantBrowser.objects.select_related("participant__campaign", "participant__user")
    return get_object_or_404(rows, pk=pk, participant__campaign_id=campaign)


def invitation(pk: int) -> OneTimeLink:
    """Return an invitation. Administrators see every invitation."""
    return get_object_or_404(OneTimeLink, pk=pk, kind=OneTimeLink.Kind.INVITATION)


def own_token(viewer: User, pk: int) -> ApiToken:
    """Return one of the viewer's own tokens."""
    return get_object_or_404(ApiToken, pk=pk, user=viewer)


def own_thread(viewer: User, pk: int) -> Thread:
    """Return a thread between the viewer and researchers; 404 for everybody else, including researchers."""
    return get_object_or_404(Thread, pk=pk, annotator=viewer)


def thread(campaign: int, pk: int) -> Thread:
    """Return a thread of a campaign. Researchers see the threads of all annotators."""
    return get_object_or_404(Thread.objects.select_related("annotator"), pk=pk, campaign_id=campaign)


# Access to the pages and routes of one campaign: researchers everywhere, and people with a role in it.
#
# The address has the campaign's id as `campaign`. Without access the response is 403, even for an unknown id.

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


campaign_researcher_only = _only(may_manage)
"""Decorator of page views about one campaign, for researchers and for the campaign's researchers."""


class IsCampaignResearcher(BasePermission):
    """API permission: researchers, and the researchers of the campaign in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return may_manage(request.user, view.kwargs["campaign"])


class IsResearcherSomewhere(BasePermission):
    """API permission: researchers, and the researchers of any campaign; the view filters by campaign."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return manages_any(request.user)
