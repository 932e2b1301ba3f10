"""Counts through the API and on the page, and permissions for the parts of a split."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import splits
from annotation.models import Campaign, Continuation, Item, Question, TestLook
from annotation.work.labels import Answer, record
from calibration.comparisons.count_files import RENDERINGS
from calibration.errors import CountsRefused
from tests import factories
from tests.calibration.counts.built import (
    Made,
    contract,
    planted,
    said,
)

pytestmark = pytest.mark.django_db


def test_the_route_gives_what_the_command_gives(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    found = api.get(address, {"by": "prompting", "resamples": 50}).json()
    contract(found)
    printed = json.loads(
        said("--corpus", "coco", "--by", "prompting", "--resamples", "50", "--format", "json")
    )
    assert found == printed
    for wrong in ({"rater": "x"}, {"per_turns": "x"}, {"by": "x"}, {"campaign": "999999"}):
        assert api.get(address, wrong).status_code == 400
    other = factories.campaign(factories.corpus(), opened=False)
    assert api.get(address, {"campaign": other.pk}).status_code == 400


@pytest.mark.exhaustive
def test_the_answer_is_as_the_document_describes_it(made: Made, api: APIClient) -> None:
    from jsonschema import Draft4Validator

    some = [item for item in made.items() if item.continuation.dialogue.key in ("d0", "d1")]
    made.mark("ann", planted, kind="human", items=some)
    made.mark("judge", lambda item, key: 0.0, keys=["off_topic"])
    found = api.get(f"/api/v1/corpora/{made.corpus.pk}/counts/", {"by": "prompting", "resamples": 50}).json()
    document = api.get("/api/v1/schema/", {"format": "json"}).json()
    described = document["paths"]["/api/v1/corpora/{id}/counts/"]["get"]["responses"]["200"]
    schema = described["content"]["application/json"]["schema"]
    nullable = json.loads(json.dumps(document["components"]), object_hook=_with_null)
    Draft4Validator(schema | {"components": nullable}).validate(found)
    cell = found["rows"][1]["cells"]["repetition"]
    assert cell["corrected"] is not None
    assert cell["difference"] is not None


def _with_null(described: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's `nullable`, as JSON schema says it."""
    if described.pop("nullable", False):
        return {"anyOf": [{"type": "null"}, described]}
    return described


@pytest.mark.exhaustive
def test_the_page_shows_the_table_with_people_apart(made: Made, researcher: Client) -> None:
    made.mark("<b>ann</b>", planted, kind="human")
    page = researcher.get(
        f"/corpora/{made.corpus.pk}/counts/?by=prompting&by=turns_per_call"
    ).content.decode()
    for text in (
        "vanilla, turns_per_call 1",
        "Difference from people",
        "Distance from people",
        "two halves of people",
    ):
        assert text in page
    assert "Corrected for the judge’s errors" in page
    assert "&lt;b&gt;ann&lt;/b&gt; (human)" in page
    assert "<b>ann</b>" not in page
    assert 'role="img"' in page


@pytest.mark.exhaustive
def test_a_second_rater_stands_beside_the_first_with_the_same_rows(made: Made, researcher: Client) -> None:
    items = Item.objects.filter(corpus=made.corpus, kind="dialogue").exclude(continuation__key="self")
    questions = factories.scheme_version("cocoeval_overall").questions.all()
    answers = [Answer(item, question, 7.0) for item in items for question in questions]
    record(rater=made.rater("overall"), answers=answers, occasion="main")
    address = f"/corpora/{made.corpus.pk}/counts/?rater=judge&by=prompting"
    page = researcher.get(f"{address}&beside=overall").content.decode()
    assert "Beside it: overall" in page
    assert "Mean over continuations, scored by overall." in page
    assert page.count(">vanilla</bdi>") > researcher.get(address).content.decode().count(">vanilla</bdi>")
    assert researcher.get(f"{address}&beside=nobody").status_code == 422


@pytest.mark.exhaustive
def test_rows_without_end_are_refused(made: Made) -> None:
    for number, pk in enumerate(Continuation.objects.filter(key="v1").values_list("pk", flat=True)):
        Continuation.objects.filter(pk=pk).update(condition={"run": number})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibration.comparisons.counts.MOST_ROWS", 5)
        with pytest.raises(CountsRefused, match="rows by run are 8, more than 5"):
            made.counts(by="run")


@pytest.mark.exhaustive
def test_the_page_s_files_hold_what_it_shows(made: Made, researcher: Client) -> None:
    for form, rendering in RENDERINGS.items():
        answer = researcher.get(f"/corpora/{made.corpus.pk}/counts.{form}?by=prompting&resamples=50")
        assert answer.status_code == 200
        assert answer["Content-Type"] == rendering.media_type
        assert f'filename="counts-{made.corpus.pk}.{rendering.suffix}"' in answer["Content-Disposition"]
    assert researcher.get(f"/corpora/{made.corpus.pk}/counts.pdf").status_code == 404
    refused = researcher.get(f"/corpora/{made.corpus.pk}/counts.csv?rater=x")
    assert (refused.status_code, b"no rater" in refused.content) == (422, True)


@pytest.mark.exhaustive
def test_a_refusal_stands_above_the_form_that_leads_out_of_it(researcher: Client) -> None:
    built = Made(turns=lambda number: 4 + number)
    built.mark("judge", planted)
    answer = researcher.get(f"/corpora/{built.corpus.pk}/counts/")
    assert (answer.status_code, "4 to 9 turns" in answer.content.decode()) == (200, True)
    assert researcher.get(f"/corpora/{built.corpus.pk}/counts/?rater=x").status_code == 422
    empty = researcher.get(f"/corpora/{factories.corpus().pk}/counts/").content.decode()
    assert "Nothing to count yet" in empty


@pytest.mark.exhaustive
def test_the_corpus_leads_to_its_counts(made: Made, researcher: Client) -> None:
    page = researcher.get(reverse("corpus-results", args=[made.corpus.name])).content.decode()
    assert f'href="/corpora/{made.corpus.pk}/counts/"' in page


@pytest.mark.exhaustive
def test_the_test_part_is_not_shown_without_a_logged_look(
    made: Made, researcher: Client, api: APIClient
) -> None:
    split = splits.draw(corpus=made.corpus, by=None, seed=1, test_share=0.5)
    address, page = f"/api/v1/corpora/{made.corpus.pk}/counts/", f"/corpora/{made.corpus.pk}/counts/"
    found = api.get(address).json()
    assert (found["part"], found["rows"][0]["n_continuations"]) == ("dev", 3)
    split.refresh_from_db()
    assert split.fixed_at is not None
    assert api.get(address, {"part": "test"}).status_code == 400
    assert api.get(address, {"part": "all"}).status_code == 400
    shown = researcher.get(f"{page}?part=test")
    assert (shown.status_code, "Test was not opened" in shown.content.decode()) == (422, True)
    assert researcher.get(f"{page.rstrip('/')}.csv?part=test").status_code == 422
    with pytest.raises(CommandError, match="say what test is opened for"):
        said("--corpus", "coco", "--part", "test")
    assert not TestLook.objects.exists()


@pytest.mark.exhaustive
def test_a_look_at_test_is_logged_with_its_purpose(made: Made, researcher: Client, api: APIClient) -> None:
    splits.draw(corpus=made.corpus, by=None, seed=1, test_share=0.5)
    address, page = f"/api/v1/corpora/{made.corpus.pk}/counts/", f"/corpora/{made.corpus.pk}/counts/"
    assert api.post(address, {"rater": "x", "purpose": "table 3"}, format="json").status_code == 400
    assert not TestLook.objects.exists()
    found = api.post(address, {"purpose": "table 3", "by": "prompting"}, format="json").json()
    assert (found["part"], found["rows"][0]["n_continuations"]) == ("test", 3)
    assert [look["purpose"] for look in found["looks_at_test"]] == ["table 3"]
    empty = researcher.post(f"{page}test/", {"purpose": " "}, follow=True).content.decode()
    assert "Test was not opened" in empty
    shown = researcher.post(
        f"{page}test/?by=prompting", {"purpose": "figure 4"}, follow=True
    ).content.decode()
    assert "“figure 4”" in shown
    assert "test part of split main" in shown
    said("--corpus", "coco", "--part", "test", "--purpose", "the command")
    assert list(TestLook.objects.values_list("purpose", flat=True)) == ["table 3", "figure 4", "the command"]


def test_from_a_campaign_test_is_opened_for_whom_its_page_counts(made: Made, researcher: Client) -> None:
    splits.draw(corpus=made.corpus, by=None, seed=1, test_share=0.5)
    campaign: Campaign = factories.campaign(made.corpus, "cocoeval_behaviours", opened=False)
    some = [item for item in made.items() if item.continuation.dialogue.key == "d0"]
    made.mark("ann", planted, kind="human", items=some, campaign=campaign)
    page = f"/corpora/{made.corpus.pk}/counts/test/"
    researcher.post(f"{page}?campaign={campaign.pk}", {"purpose": "what people said"})
    researcher.post(page, {"purpose": "what the judge said"})
    assert [look.judges for look in TestLook.objects.order_by("pk")] == [[], ["judge"]]


@pytest.mark.exhaustive
def test_a_campaign_has_counts_of_its_own(made: Made, researcher: Client) -> None:
    campaign: Campaign = factories.campaign(made.corpus, "cocoeval_behaviours", opened=False)
    some = [item for item in made.items() if item.continuation.dialogue.key == "d0"]
    made.mark("ann", planted, kind="human", items=some, campaign=campaign)
    page = researcher.get(
        f"/corpora/{made.corpus.pk}/counts/?campaign={campaign.pk}&rater=ann"
    ).content.decode()
    assert campaign.name in page
    assert (
        researcher.get(f"/corpora/{factories.corpus().pk}/counts/?campaign={campaign.pk}").status_code == 404
    )
    found = json.loads(
        said("--campaign", campaign.name, "--rater", "ann", "--format", "json", "--resamples", "50")
    )
    assert [row["n_continuations"] for row in found["rows"]] == [1, 3]


@pytest.mark.exhaustive
def test_reading_takes_as_many_queries_however_many_labels_there_are(
    made: Made, django_assert_max_num_queries: Any
) -> None:
    made.mark("ann", planted, kind="human")
    with django_assert_max_num_queries(20):
        made.counts(by="prompting", strata="source")
    assert Question.objects.filter(key="repetition").exists()
