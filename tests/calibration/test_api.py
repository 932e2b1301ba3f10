"""The API can do everything that calibration's pages can; for researchers only."""

from __future__ import annotations

import json

import pytest
from rest_framework.test import APIClient

from annotation.corpora import splits
from annotation.models import TestLook
from calibration.models import Gold, Study
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """Four dialogues rated by two people."""
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    built.say("ben", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 2.0, 2.0])
    return built


@pytest.fixture
def api() -> APIClient:
    """A researcher's program."""
    client = APIClient()
    client.force_authenticate(user(researcher=True))
    return client


def test_annotators_and_strangers_may_use_none_of_these_routes(rated: World) -> None:
    annotator, stranger = APIClient(), APIClient()
    annotator.force_authenticate(user())
    for path in (
        "studies/",
        f"corpora/{rated.corpus.pk}/report/",
        "gold/",
        "exports/",
        "exports/labels.csv?corpus=1",
    ):
        assert annotator.get(f"/api/v1/{path}").status_code == 403
        assert stranger.get(f"/api/v1/{path}").status_code == 401
    for path in ("studies/", "studies/1/recompute/", "studies/1/open-test/", "gold/"):
        assert annotator.post(f"/api/v1/{path}").status_code == 403
    assert not Study.objects.exists()


def test_a_study_is_made_and_its_report_read(api: APIClient, rated: World) -> None:
    body = {"name": "ours", "corpus": rated.corpus.pk, "definition": {"resamples": 100}}
    made = api.post("/api/v1/studies/", body, format="json")
    assert made.status_code == 201
    report = api.get(f"/api/v1/studies/{made.json()['id']}/report/").json()
    assert report["part"] == "all"
    assert report["result"]["questions"][0]["panel"]
    assert [s["name"] for s in api.get("/api/v1/studies/").json()["results"]] == ["ours"]


def test_a_definition_that_cannot_be_used_is_refused(api: APIClient, rated: World) -> None:
    body = {"name": "x", "corpus": rated.corpus.pk, "definition": {"raters": ["zoe"]}}
    answer = api.post("/api/v1/studies/", body, format="json")
    assert answer.status_code == 400
    assert "no rater 'zoe'" in answer.json()["fields"]["definition"][0]


@pytest.mark.exhaustive
def test_a_corpus_has_a_report_without_a_study_being_made(api: APIClient, rated: World) -> None:
    assert api.get(f"/api/v1/corpora/{rated.corpus.pk}/report/").json()["result"]["counts"]["raters"] == 2


@pytest.mark.exhaustive
def test_test_is_opened_with_its_purpose(api: APIClient, rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    made = api.post("/api/v1/studies/", {"name": "s", "corpus": rated.corpus.pk}, format="json").json()
    address = f"/api/v1/studies/{made['id']}"
    assert api.get(f"{address}/report/").json()["part"] == "dev"
    assert api.get(f"{address}/report/?part=test").status_code == 400
    assert api.post(f"{address}/recompute/", {"part": "test"}, format="json").status_code == 400
    assert api.post(f"{address}/open-test/", {"purpose": ""}, format="json").status_code == 400
    assert not TestLook.objects.exists()
    assert api.post(f"{address}/open-test/", {"purpose": "the paper"}, format="json").json()["part"] == "test"
    assert api.get(f"{address}/report/?part=test").status_code == 200


@pytest.mark.exhaustive
def test_a_report_is_handed_out_as_a_file(api: APIClient, rated: World) -> None:
    made = api.post("/api/v1/studies/", {"name": "s", "corpus": rated.corpus.pk}, format="json").json()
    address = f"/api/v1/studies/{made['id']}"
    assert api.get(f"{address}/report.csv").status_code == 404
    api.post(f"{address}/recompute/", {}, format="json")
    assert api.get(f"{address}/report.csv").content.startswith(b"question,title,name")


def test_gold_is_made_and_downloaded(api: APIClient, rated: World) -> None:
    body = {
        "corpus": rated.corpus.pk,
        "scheme": "quality@1",
        "rule": "majority",
        "options": {"ties": "highest"},
    }
    made = api.post("/api/v1/gold/", body, format="json")
    assert made.status_code == 201
    gold = Gold.objects.get()
    lines = b"".join(api.get(f"/api/v1/gold/{gold.pk}/labels.jsonl").streaming_content).splitlines()
    assert len(lines) == 8
    assert json.loads(lines[0])["value"] == 1
    assert api.get(f"/api/v1/gold/{gold.pk}/").json()["options"]["ties"] == "highest"


@pytest.mark.exhaustive
def test_gold_is_counted_before_it_is_made_by_the_rule_that_fits_the_scale(
    api: APIClient, rated: World
) -> None:
    body = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rule": "majority"}
    counted = api.post("/api/v1/gold/preview/", body, format="json").json()
    counts = {"n": 7, "without": 1, "ties": 1, "reasons": {"the answers tie": 1}, "unknown": ""}
    question = {"question": "quality", "rule": "majority", "left_out": ""}
    assert counted == counts | {"questions": [counts | question]}
    del body["rule"]
    counted = api.post("/api/v1/gold/preview/", body, format="json").json()
    assert (counted["questions"][0]["rule"], counted["n"], counted["without"]) == ("median", 8, 0)
    own = body | {"rules": {"quality": {"rule": "majority"}}}
    assert api.post("/api/v1/gold/preview/", own, format="json").json()["ties"] == 1
    counted = api.post("/api/v1/gold/preview/", body | {"rule": "adjudicated"}, format="json").json()
    assert (counted["n"], counted["without"]) == (8, 0)
    assert not Gold.objects.exists()
    assert api.post("/api/v1/gold/preview/", body | {"scheme": "none@1"}, format="json").status_code == 400

    made = api.post("/api/v1/gold/", body, format="json").json()
    assert (made["rule"], made["n"], made["without"]) == ("median", 8, 0)
    api.post("/api/v1/gold/", body | {"rule": "majority"}, format="json")
    listed = api.get("/api/v1/gold/?rule=majority").json()["results"]
    assert [(gold["n"], gold["without"]) for gold in listed] == [(7, 1)]


def test_a_slow_rule_is_counted_as_far_as_that_is_certain(api: APIClient) -> None:
    built = world(dialogues=2, turns=2)
    built.ask("act", "nominal", ["ask", "tell"])
    for name in ("ann", "ben", "cem"):
        built.say(name, "act", ["ask", "tell", "ask", None])
    body = {"corpus": built.corpus.pk, "scheme": "act@1", "rule": "dawid_skene"}
    counted = api.post("/api/v1/gold/preview/", body, format="json").json()
    assert (counted["n"], counted["without"], counted["ties"]) == (3, 1, None)
    assert counted["unknown"].endswith("is known once Dawid-Skene has been estimated")
    lowest = body | {"options": {"ties": "lowest"}}
    counted = api.post("/api/v1/gold/preview/", lowest, format="json").json()
    assert (counted["n"], counted["without"], counted["ties"], counted["unknown"]) == (3, 1, 0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "wrong",
    [
        {"rule": "guess"},
        {"scheme": "none@1"},
        {"scheme": "quality"},
        {"options": {"ties": "x"}},
        {"raters": ["z"]},
        {"rules": {"nowhere": {"rule": "mean"}}},
        {"rules": {"quality": {"rule": "guess"}}},
        {"rules": {"quality": {"rule": "mean", "options": {"ties": "none"}}}},
    ],
)
def test_gold_that_cannot_be_made_is_refused(api: APIClient, rated: World, wrong: dict[str, object]) -> None:
    body = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rule": "majority"} | wrong
    assert api.post("/api/v1/gold/", body, format="json").status_code == 400
    assert not Gold.objects.exists()


def test_labels_are_downloaded_and_the_download_is_listed_with_its_hash(api: APIClient, rated: World) -> None:
    assert api.get("/api/v1/exports/labels.csv").status_code == 400
    content = b"".join(api.get(f"/api/v1/exports/labels.csv?corpus={rated.corpus.pk}").streaming_content)
    assert content.count(b"\n") == 17
    (listed,) = api.get("/api/v1/exports/").json()["results"]
    assert (listed["rows"], len(listed["sha256"])) == (16, 64)
