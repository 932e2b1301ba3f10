"""Model families and transcription marks of a corpus are set on its page or through the API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora.import_file import import_path
from annotation.corpora.properties import set_families
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


def test_transcription_marks_are_switched_on_and_off(client: Client, corpus: Corpus) -> None:
    address, page = reverse("api-corpus", args=["C"]), reverse("change-marks", args=["C"])
    client.force_login(factories.user("ana"))
    assert client.post(page, {"has_marks": "on"}).status_code == 403
    assert client.patch(address, {"has_marks": True}, content_type="application/json").status_code == 403
    client.force_login(factories.user(researcher=True))
    assert client.get(address).json()["has_marks"] is False
    client.post(page, {"has_marks": "on"})
    assert client.get(address).json()["has_marks"] is True
    assert "Nothing was changed." in client.post(page, {"has_marks": "on"}, follow=True).content.decode()
    changed = client.patch(address, {"has_marks": False}, content_type="application/json")
    assert changed.json()["has_marks"] is False
    assert client.patch(address, {"has_marks": "so"}, content_type="application/json").status_code == 400
    assert Event.objects.filter(verb="set transcription marks", subject="C").count() == 2


def test_a_format_with_transcription_marks_says_so_of_the_corpus(tmp_path: Path) -> None:
    meeting = {
        "topic_list": [],
        "general_query_list": [],
        "specific_query_list": [],
        "meeting_transcripts": [{"speaker": "Grad C", "content": "{vocalsound} Okay ."}],
    }
    file = tmp_path / "m.json"
    file.write_text(json.dumps(meeting))
    import_path(path=file, format="qmsum", corpus="meetings", into=False, by=None)
    assert Corpus.objects.get(name="meetings").has_marks
    factories.corpus("chats")
    assert not Corpus.objects.get(name="chats").has_marks
    import_path(path=file, format="qmsum", corpus="chats", into=True, by=None)
    assert Corpus.objects.get(name="chats").has_marks
