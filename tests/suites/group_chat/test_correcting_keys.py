"""Keys are corrected by a file or over the API: another rater answers, and what was said before stays."""

from __future__ import annotations

import json
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from annotation.models import Corpus, Dialogue, Label, Rater
from config.models import Event
from tests import factories
from tests.suites.group_chat.scripts import LAUNCH
from tests.suites.group_chat.test_answer_keys import STATIC, answers, stored

pytestmark = pytest.mark.django_db


def command(folder: Path, *scenarios: dict[str, Any]) -> list[dict[str, Any]]:
    path = folder / "corrected.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in scenarios), encoding="utf-8")
    out = StringIO()
    call_command("correct_keys", "Set", str(path), stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def corrected(target: list[str]) -> dict[str, Any]:
    other = deepcopy(LAUNCH)
    other["probes"][1]["key"]["target"] = target
    return other


def test_a_file_corrects_keys_and_the_new_rater_answers(tmp_path) -> None:
    stored(tmp_path, continuations=[STATIC])
    (first,) = Rater.objects.filter(kind="key")
    told = command(tmp_path, corrected(["ole", "mia"]))
    second = Rater.objects.exclude(pk=first.pk).get(kind="key")
    assert told == [{"dialogue": "launch-07", "changed": ["probes"]}, {"rater": second.name}]
    assert answers(first)[4, "target"] == "ole"
    assert answers(second) == answers(first) | {(4, "target"): "mia;ole"}
    assert Event.objects.filter(verb="correct_keys", subject="launch-07 in Set").count() == 1


def test_several_scenarios_are_corrected_as_one_rater(tmp_path) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    again = tmp_path / "second.jsonl"
    again.write_text(json.dumps(LAUNCH | {"id": "launch-08", "continuations": [STATIC]}), encoding="utf-8")
    call_command("import_corpus", str(again), "--format", "jsonl", "--into", corpus.name, stdout=StringIO())
    before = Rater.objects.filter(kind="key").count()
    command(tmp_path, corrected(["sam"]), corrected(["sam"]) | {"id": "launch-08"})
    assert Rater.objects.filter(kind="key").count() == before + 1


def test_a_file_that_says_the_same_changes_nothing(tmp_path) -> None:
    stored(tmp_path, continuations=[STATIC])
    rater, labels = Rater.objects.get(kind="key"), Label.objects.count()
    assert command(tmp_path, LAUNCH) == [{"dialogue": "launch-07", "changed": []}, {"rater": rater.name}]
    assert (Rater.objects.filter(kind="key").count(), Label.objects.count()) == (1, labels)
    assert not Event.objects.filter(verb="correct_keys").exists()


def test_whether_the_channel_marks_addressees_is_no_key(tmp_path) -> None:
    stored(tmp_path, continuations=[STATIC])
    with pytest.raises(CommandError, match="addressees: is part of what the agent saw"):
        command(tmp_path, LAUNCH | {"addressees": "visible"})


def other_text(raw: dict[str, Any]) -> None:
    raw["turns"][3]["text"] = "The deck is at version 4."


def other_audience(raw: dict[str, Any]) -> None:
    raw["turns"][3]["audience"] = ["mia", "ole", "bot"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda raw: raw.update(id="launch-99"), "line 2, field id: 'Set' has no scenario 'launch-99'"),
        (other_text, r"line 2, field turns\[3\]: turn 3 is 'sam' saying 'The deck is at version 4.', but"),
        (other_audience, r"line 2, field turns\[3\]: says the same as that of the corpus, but differs"),
        (lambda raw: raw["keys"].update({"9": {"free": True}}), r"line 2, field keys\.9: is not the number"),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_its_line_and_nothing_is_kept(tmp_path, change, told):
    stored(tmp_path, continuations=[STATIC])
    before = Dialogue.objects.get().scenario
    bad = deepcopy(LAUNCH)
    change(bad)
    with pytest.raises(CommandError, match=told):
        command(tmp_path, corrected(["sam"]), bad)
    assert Dialogue.objects.get().scenario == before
    assert Rater.objects.filter(kind="key").count() == 1


def test_a_corpus_that_there_is_not_is_refused(tmp_path) -> None:
    with pytest.raises(CommandError, match="There is no corpus 'Set'"):
        command(tmp_path, LAUNCH)


@pytest.fixture
def client() -> APIClient:
    found = APIClient()
    found.force_authenticate(factories.user(researcher=True))
    return found


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
