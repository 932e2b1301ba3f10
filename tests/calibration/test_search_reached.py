"""A search is started, watched, cancelled and adopted on a page and through the API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Search
from calibration.workbench import searches
from judges.models import Draft
from tests.calibration.test_searches import searched, work
from tests.fake_llm import FakeLLM

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]


def test_pages_and_api_show_a_search_and_adopt_its_proposal(fake: FakeLLM, researcher: Client) -> None:
    search = searched(fake, rounds=1, clusters=14)
    place = [search.bench_id, search.pk]
    page = researcher.get(reverse("bench-search", args=place)).content.decode()
    assert "searching" in page
    assert 'hx-trigger="every 3s"' in page
    work()
    page = researcher.get(reverse("bench-search", args=place)).content.decode()
    assert "Adopt mine@2" in page
    assert "not adopted" in page
    assert "every 3s" not in page
    found = researcher.get(reverse("api-bench-search", args=place)).json()
    assert (found["state"], found["from"], found["prompt"]) == (
        "done",
        "cpdscore_simple_without_reference@1",
        "mine",
    )
    first, second = found["texts"]
    assert (second["version"], second["parent"], second["adopted"]) == ("mine@2", 0, False)
    assert second["cases"]
    assert first["held_back"][0]["difference"] is None
    adopt = researcher.post(reverse("search-act", args=[*place, "adopt"]), {"text": "1"})
    assert adopt.status_code == 302
    again = researcher.post(
        reverse("api-search-act", args=[*place, "adopt"]),
        json.dumps({"text": 1}),
        content_type="application/json",
    )
    assert again.status_code == 400
    assert "not a proposal that waits" in again.content.decode()
    assert "Search" in researcher.get(reverse("bench-searches", args=place[:1])).content.decode()
    unknown = reverse("search-act", args=[*place, "explode"])
    assert researcher.post(unknown).status_code == 404


def test_the_form_says_what_is_wrong_and_starts_a_search(fake: FakeLLM, researcher: Client) -> None:
    search = searched(fake, clusters=14)
    searches.cancel(by=None, search=search)
    address = reverse("bench-searches", args=[search.bench_id])
    fields = {
        "begin": "cpdscore_simple_without_reference@1",
        "name": "",
        "endpoint": search.endpoint_id,
        "improver": search.improver_id,
        "rounds": 3,
        "few": 4,
        "most_calls": 100,
        "seed": 0,
    }
    refused = researcher.post(address, fields)
    assert refused.status_code == 422
    assert "name the prompt that the proposals go to" in refused.content.decode()
    assert researcher.post(address, fields | {"rounds": 0}).status_code == 422
    named = fields | {"name": "another"}
    assert researcher.post(address, named | {"judge-temperature": "9"}).status_code == 422
    started = researcher.post(address, named | {"judge-temperature": "0.5", "improver-top_p": "0.9"})
    assert started.status_code == 302
    made = Search.objects.exclude(pk=search.pk).get()
    assert made.options["parameters"] == {"temperature": 0.5}
    assert made.rater.spec["parameters"] == {"top_p": 0.9}


def test_a_program_starts_a_search_and_adopts_its_proposal(fake: FakeLLM, researcher: Client) -> None:
    search = searched(fake, clusters=14)
    searches.cancel(by=None, search=search)
    address = reverse("api-bench-searches", args=[search.bench_id])

    def post(address: str, **told: Any) -> Any:
        return researcher.post(address, json.dumps(told), content_type="application/json")

    options = {"begin": "mine", "endpoint": "fake", "improver": "improver", "rounds": 1}
    made = post(address, **options, parameters={"temperature": 0.25})
    assert made.status_code == 201, made.content
    work()
    at = f"{address}{made.json()['id']}/"
    found = researcher.get(at).json()
    assert (found["state"], found["from"], len(found["texts"])) == ("done", "mine@1", 2)
    assert found["parameters"] == {"temperature": 0.25}
    judges = Draft.objects.filter(rater__spec__parameters__temperature=0.25)
    assert judges.exists(), "every text was tried with it"
    assert post(f"{at}adopt/", text=1).json()["texts"][1]["adopted"] is True
    assert researcher.get(f"{address}99999/").status_code == 404
    assert "most_cost" in post(address, **options, most_cost="much").json()["fields"]
