"""First steps on a new Concord: people, an endpoint, data, and a campaign."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Campaign, Corpus
from annotation.people import links
from config.permissions import is_administrator
from jobs.endpoints import ownership


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step with a sentence and a button; `href` is empty while an earlier step has to come first."""

    title: str
    sentence: str
    action: str
    href: str
    is_done: bool


def first_steps(user: User) -> list[FirstStep]:
    """Return the steps that the user may do; none once all of them are done."""
    people = [_people()] if is_administrator(user) else []
    endpoint = [_endpoint(user)] if ownership.may_add(user) else []
    corpus = Corpus.objects.order_by("-pk").first()
    steps = [*people, *endpoint, _data(corpus), _campaign(corpus)]
    return [] if all(step.is_done for step in steps) else steps


def _people() -> FirstStep:
    colleagues = User.objects.filter(is_active=True, participant=None)
    return FirstStep(
        "Invite people",
        "Each person gets a link that works once, and makes their own account with it.",
        "Invite people",
        f"{reverse('people')}#invite",
        colleagues.count() > 1 or links.open_invitations().exists(),
    )


def _endpoint(user: User) -> FirstStep:
    return FirstStep(
        "Add an endpoint",
        "Judges ask a model on any server with an OpenAI-compatible API: a provider’s, or your own.",
        "Add an endpoint",
        reverse("endpoints"),
        ownership.usable_by(user).exists(),
    )


def _data(corpus: Corpus | None) -> FirstStep:
    return FirstStep(
        "Import dialogues",
        "A table, chats or transcripts. To look around first, load examples with make seed.",
        "Import a file",
        reverse("import-corpus"),
        corpus is not None,
    )


def _campaign(corpus: Corpus | None) -> FirstStep:
    return FirstStep(
        "Ask people to rate",
        "A campaign asks your questions about the dialogues, one task after another.",
        "New campaign",
        f"{reverse('new-campaign')}?corpus={corpus.pk}" if corpus else "",
        Campaign.objects.exists(),
    )
