"""Keys are corrected through the API: the corrected key is a new rater, and earlier answers stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Corpus, Dialogue, Label, Rater
from config.models import Event
from tests import factories
from tests.suites.group_chat.scripts import LAUNCH
from tests.suites.group_chat.test_answer_keys import STATIC, answers, stored

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> APIClient:
    found = APIClient()
    found.force_authenticate(factories.user(researcher=True))
    return found


def saved(client: APIClient, scenario: dict[str, Any]) -> Any:
    """Save a scenario over the stored one."""
    row = Dialogue.objects.get()
    address = f"/api/v1/corpora/{row.corpus_id}/scenarios/{row.pk}/"
    return client.put(address, {"text": json.dumps(scenario)}, format="json")


def corrected(target: list[str]) -> dict[str, Any]:
    other = deepcopy(LAUNCH)
    other["probes"][1]["key"]["target"] = target
    return other


def test_a_whole_scenario_corrects_keys_and_the_new_rater_answers(tmp_path, client: APIClient) -> None:
    stored(tmp_path, continuations=[STATIC])
    (first,) = Rater.objects.filter(kind="key")
    assert saved(client, corrected(["ole", "mia"])).json()["became"] == "corrected"
    second = Rater.objects.exclude(pk=first.pk).get(kind="key")
    assert answers(first)[4, "target"] == "ole"
    assert answers(second) == answers(first) | {(4, "target"): "mia;ole"}
    assert Event.objects.filter(verb="correct_keys", subject="launch-07 in Set").count() == 1


def test_what_says_the_same_changes_nothing(tmp_path, client: APIClient) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    rater, labels = Rater.objects.get(kind="key"), Label.objects.count()
    assert saved(client, LAUNCH).json()["became"] == "unchanged"
    address = f"/api/v1/dialogues/{corpus.dialogues.get().pk}/keys/"
    answer = client.patch(address, {"probes": LAUNCH["probes"]}, format="json")
    assert (answer.status_code, answer.json()["rater"]) == (200, rater.name)
    assert (Rater.objects.filter(kind="key").count(), Label.objects.count()) == (1, labels)
    assert not Event.objects.filter(verb="correct_keys").exists()


def test_whether_the_channel_marks_addressees_is_no_key(tmp_path, client: APIClient) -> None:
    stored(tmp_path, continuations=[STATIC])
    refused = saved(client, LAUNCH | {"addressees": "visible"})
    assert (refused.status_code, refused.json()["field"]) == (400, "addressees")
    assert "is part of what the agent saw" in refused.json()["detail"]


def other_text(raw: dict[str, Any]) -> None:
    raw["turns"][3]["text"] = "The deck is at version 4."


def other_audience(raw: dict[str, Any]) -> None:
    raw["turns"][3]["audience"] = ["mia", "ole", "bot"]


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        (other_text, "turns", "so it stays as it is"),
        (other_audience, "turns", "so it stays as it is"),
        (lambda raw: raw["keys"].update({"9": {"free": True}}), "keys.9", "is not the number"),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_its_field_and_nothing_is_kept(
    tmp_path, client: APIClient, change: Callable[[dict[str, Any]], None], field: str, told: str
) -> None:
    stored(tmp_path, continuations=[STATIC])
    before = Dialogue.objects.get().scenario
    bad = corrected(["sam"])
    change(bad)
    refused = saved(client, bad)
    assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert told in refused.json()["detail"]
    assert Dialogue.objects.get().scenario == before
    assert Rater.objects.filter(kind="key").count() == 1


def test_keys_are_read_and_corrected_over_the_api(tmp_path, client: APIClient) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    address = f"/api/v1/dialogues/{corpus.dialogues.get().pk}/keys/"
    told = client.get(address).json()
    (first,) = Rater.objects.filter(kind="key")
    assert (told["dialogue"], told["corpus"], told["rater"]) == ("launch-07", "Set", first.name)
    assert told["scenario"]["probes"][1]["key"]["target"] == ["ole"]
    answer = client.patch(address, {"probes": corrected(["sam"])["probes"]}, format="json")
    assert answer.status_code == 200, answer.content
    second = Rater.objects.exclude(pk=first.pk).get(kind="key")
    assert answer.json()["rater"] == second.name
    assert answer.json()["scenario"]["probes"][1]["key"]["target"] == ["sam"]
    assert answers(second)[4, "target"] == "sam"


def test_a_wrong_key_is_refused_over_the_api_by_its_field(tmp_path, client: APIClient) -> None:
    corpus = stored(tmp_path)
    address = f"/api/v1/dialogues/{corpus.dialogues.get().pk}/keys/"
    answer = client.patch(address, {"keys": {"9": {"free": True}}}, format="json")
    assert answer.status_code == 400
    assert answer.json()["field"] == "keys.9"


def test_what_is_no_scenario_has_no_keys(client: APIClient) -> None:
    plain = factories.dialogue(factories.corpus())
    assert client.get(f"/api/v1/dialogues/{plain.pk}/keys/").status_code == 404
    assert Corpus.objects.count() == 1
