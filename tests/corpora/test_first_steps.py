"""First steps on a new Concord: shown to those who may do them, until they are done or hidden."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.pages.corpora import first_steps
from annotation.people import links
from jobs.models import Endpoint
from tests import factories

pytestmark = pytest.mark.django_db


def titles(user, *, done):
    return [step.title for step in first_steps(user) if step.is_done is done]


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def page_of(client):
    return client.get(reverse("corpora")).content.decode()


def test_an_administrator_has_four_steps_and_each_disappears_as_it_is_done() -> None:
    ada = factories.user("ada", administrator=True)
    assert titles(ada, done=False) == [
        "Invite people",
        "Add an endpoint",
        "Import dialogues",
        "Ask people to rate",
    ]
    links.invite(by=ada, role="annotator")
    Endpoint.objects.create(name="here", base_url="http://127.0.0.1:1/v1", model="m")
    corpus = factories.dialogue(factories.corpus()).corpus
    assert titles(ada, done=True) == ["Invite people", "Add an endpoint", "Import dialogues"]
    assert first_steps(ada)[-1].href == f"{reverse('new-campaign')}?corpus={corpus.pk}"
    factories.campaign(corpus, by=ada)
    assert first_steps(ada) == []
    assert "First steps" not in page_of(client_of(ada))


def test_a_step_that_needs_an_earlier_one_has_no_button() -> None:
    page = page_of(client_of(factories.user(administrator=True)))
    assert "Ask people to rate" in page
    assert reverse("new-campaign") not in page


def test_a_researcher_sees_the_steps_that_researchers_may_do(settings) -> None:
    settings.RESEARCHER_ENDPOINTS = False
    researcher = factories.user(researcher=True)
    assert titles(researcher, done=False) == ["Import dialogues", "Ask people to rate"]
    page = page_of(client_of(researcher))
    assert reverse("people") not in page
    assert reverse("endpoints") not in page
    settings.RESEARCHER_ENDPOINTS = True
    assert titles(researcher, done=False) == ["Add an endpoint", "Import dialogues", "Ask people to rate"]


def test_hidden_steps_stay_hidden_in_that_browser_alone() -> None:
    person = factories.user(researcher=True)
    client = client_of(person)
    assert "First steps" in page_of(client)
    assert client.get(reverse("hide-first-steps")).status_code == 405
    client.post(reverse("hide-first-steps"))
    assert "First steps" not in page_of(client)
    assert "First steps" in page_of(client_of(person))


def test_an_annotator_may_not_hide_them() -> None:
    assert client_of(factories.user()).post(reverse("hide-first-steps")).status_code == 403
