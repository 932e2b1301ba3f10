"""A draft's worked examples are picked on its bench, by page and API, from dev only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from annotation.corpora import splits
from jobs.models import Endpoint
from judges.models import Bench, Draft
from judges.protocols.examples import INTRODUCTION
from tests import factories
from tests.calibration.workbench_world import rated_bench
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = {"system": "$notice", "user": "$context $response", "variant": "without_reference", "samples": "1"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with FakeLLM() as server:
        yield endpoint_of(server)


@pytest.fixture
def bench() -> Bench:
    return rated_bench()


@pytest.fixture
def rea(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def dev(bench: Bench) -> frozenset[str]:
    return splits.clusters(split=bench.split, part="dev")


def sent(rea: Client, bench: Bench, endpoint: Endpoint, **more: str) -> Any:
    told = TEXT | {"endpoint": str(endpoint.pk), "items": "5", "begin": "", "confirmed": "yes"} | more
    return rea.post(f"/workbench/{bench.pk}/", told, follow=True)


@pytest.mark.exhaustive
def test_examples_picked_by_rule_are_of_dev_and_stay_with_the_draft(
    rea: Client, bench: Bench, endpoint: Endpoint
) -> None:
    page = sent(rea, bench, endpoint, examples_rule="most_disagreed", examples_n="3").content.decode()
    draft = Draft.objects.get()
    examples = draft.text.examples
    assert draft.text.picking["n"] == 3
    assert {example["cluster"] for example in examples} <= dev(bench)
    assert f"Keep the worked examples ({len(examples)})" in " ".join(page.split())
    finish()
    again = sent(rea, bench, endpoint, begin="draft-1", keep_examples="on", user="Say: $context $response")
    assert again.status_code == 200
    assert Draft.objects.get(number=2).text.examples == examples
    for call in draft.rater.calls.select_related("continuation__dialogue"):
        own = call.continuation.dialogue.cluster
        shown = [one for one in examples if one["cluster"] != own][:3]
        assert len(shown) == 3, "those of the item's own cluster are replaced from the reserve"


def test_an_exact_request_shows_the_examples_before_anything_is_sent(
    rea: Client, bench: Bench, endpoint: Endpoint
) -> None:
    page = sent(rea, bench, endpoint, examples_rule="balanced", examples_n="2", show="1").content.decode()
    assert INTRODUCTION.split("'")[0] in page
    assert Draft.objects.count() == 0


def test_an_item_of_test_is_refused_beside_the_items(rea: Client, bench: Bench, endpoint: Endpoint) -> None:
    tested = min(splits.clusters(split=bench.split, part="test"))
    page = sent(rea, bench, endpoint, examples_rule="by_hand", examples_keys=f"{tested}/c/1")
    assert page.status_code == 422
    assert "is in the test part" in page.context["form"].errors["examples_keys"][0]
    assert Draft.objects.count() == 0


@pytest.mark.exhaustive
def test_a_program_picks_by_the_same_bars(rea: Client, bench: Bench, endpoint: Endpoint) -> None:
    tested, known = min(splits.clusters(split=bench.split, part="test")), min(dev(bench))

    def ask(**examples: Any) -> Any:
        body = json.dumps({"endpoint": endpoint.name, "estimate": True, "examples": examples})
        return rea.post(f"/api/v1/workbench/{bench.pk}/drafts/", body, content_type="application/json")

    assert "is in the test part" in ask(rule="by_hand", items=[f"{tested}/c/1"]).json()["detail"]
    assert ask(rule="by_hand", items=[f"{known}/c/1"]).status_code == 200
    picked = Draft.objects.get().text
    assert [example["key"] for example in picked.examples] == [f"{known}/c/1"]
    assert ask(rule="by_hand", items=[f"{known}/c/1"]).status_code == 200
    assert Draft.objects.get().text == picked, "the same text is the same draft"
