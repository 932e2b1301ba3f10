"""The model families of a corpus's systems are set once: on its page, by command or through the API."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora.families import set_families
from annotation.errors import FamilyRefused
from annotation.models import Corpus
from config.models import Event
from jobs.endpoints.endpoint_actions import sync_environment
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    """Two systems: alpha=1 and beta."""
    made = factories.corpus("C")
    for system in ("alpha=1", "beta"):
        factories.continuation(
            factories.dialogue(made, system), system, system=system, turns=[{"text": "Yes."}]
        )
    return made


def families(corpus: Corpus) -> dict[str, str]:
    """Families by system, of those that have one."""
    return dict(corpus.systems.exclude(family="").values_list("name", "family"))


def test_a_family_is_said_on_the_corpus_s_page(client: Client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    told = {"system": ["alpha=1", "beta"], "family": [" gpt ", ""]}
    page = client.post(reverse("change-families", args=["C"]), told, follow=True).content.decode()
    assert "The families are saved." in page
    assert 'aria-label="Family of alpha=1"' in page
    assert families(corpus) == {"alpha=1": "gpt"}
    assert Event.objects.get(verb="set families of systems").detail == {"alpha=1": "gpt"}
    again = client.post(reverse("change-families", args=["C"]), told, follow=True).content.decode()
    assert "Nothing was changed." in again
    assert Event.objects.filter(verb="set families of systems").count() == 1
    refused = client.post(
        reverse("change-families", args=["C"]), {"system": "nobody", "family": "x"}, follow=True
    )
    assert "has no system" in refused.content.decode()


def test_a_family_is_said_by_program(client: Client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    address = reverse("api-systems", args=["C"])
    body = {"families": {"beta": "gpt"}}
    rows = client.patch(address, body, content_type="application/json").json()
    assert rows == client.get(address).json()
    assert {row["name"]: (row["family"], row["continuations"]) for row in rows}["beta"] == ("gpt", 1)
    wrong = client.patch(address, {"families": {"nobody": "gpt"}}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["fields"]) == (400, {"families": ["C has no system 'nobody'."]})


@pytest.mark.parametrize("family", ["x" * 61, "two\nlines", "turned \u202e round"])
def test_a_family_is_a_short_line_of_visible_characters(corpus: Corpus, family: str) -> None:
    with pytest.raises(FamilyRefused, match="a family's name"):
        set_families(by=None, corpus=corpus, families={"alpha=1": "gpt", "beta": family})
    assert families(corpus) == {}


def test_an_endpoint_of_the_environment_declares_its_model_s_family() -> None:
    (declared,) = sync_environment({"CONCORD_ENDPOINT_X": "http://localhost:9/v1|m|||||||llama"})
    assert declared.family == "llama"
