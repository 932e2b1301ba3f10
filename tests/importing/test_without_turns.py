"""Dialogues without turns: their import, and their handling everywhere else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.corpora.copy_without_turns import copy_without_turns
from annotation.corpora.import_file import import_path
from annotation.errors import CampaignRefused
from annotation.formats import ImportProblem
from annotation.models import Continuation, Corpus, Dialogue, Turn
from config.models import Event
from judges.errors import JudgeError
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import Selection
from tests import factories

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

pytestmark = pytest.mark.django_db
ANA_AND_BEN = [{"id": "a", "name": "Ana"}, {"id": "b", "name": "Ben"}]
EMPTY = {"id": "e1", "participants": ANA_AND_BEN, "metadata": {"topic": "tea"}, "turns": []}


@pytest.fixture
def researcher(client: Client) -> Client:
    """A client who is signed in as a researcher."""
    client.force_login(factories.user(researcher=True))
    return client


def imported(folder: Path, *lines: dict[str, Any], corpus: str = "begun", into: bool = False) -> Corpus:
    path = folder / f"{len(list(folder.iterdir()))}.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus=corpus, into=into, by=None)
    return Corpus.objects.get(name=corpus)


def talks() -> Corpus:
    """Three dialogues of 2, 3 and 4 turns: with a summary, with a topic, without declared people."""
    corpus = factories.corpus("talks")
    for number in range(3):
        factories.dialogue(corpus, f"d{number}", turns=2 + number)
    first, second, third = corpus.dialogues.order_by("id")
    agenda = {
        "items": [{"id": "x", "text": "pick a date"}],
        "edges": [],
        "start": None,
        "terminal": None,
        "success": [],
    }
    people = [
        {
            "id": "a",
            "name": "Ana",
            "role": "",
            "profile": ["likes tea"],
            "aliases": [],
            "extra": {"stance": "for"},
        }
    ]
    Dialogue.objects.filter(pk=first.pk).update(
        summary="About a party.", metadata={"goal": "a date"}, participants=people, agenda=agenda, cluster="c"
    )
    Dialogue.objects.filter(pk=second.pk).update(
        summary="They argue.", metadata={"topic": "tea"}, participants=people
    )
    Dialogue.objects.filter(pk=third.pk).update(participants=[])
    return corpus


def test_a_dialogue_with_people_and_no_turns_is_imported(tmp_path: Path) -> None:
    corpus = imported(tmp_path, EMPTY)
    stored = corpus.dialogues.get()
    assert [person["name"] for person in stored.participants] == ["Ana", "Ben"]
    assert not stored.continuations.exists()
    assert not corpus.items.exists()
    assert corpus.imports.get().counts["dialogues"] == 1


@pytest.mark.parametrize(
    "line",
    [
        {"id": "e", "turns": []},
        {"id": "e", "turns": [], "participants": []},
        {"id": "e", "participants": ANA_AND_BEN},
        {"id": "e", "continuations": []},
    ],
)
def test_a_dialogue_that_has_nothing_at_all_is_refused(tmp_path: Path, line: dict[str, Any]) -> None:
    with pytest.raises(ImportProblem, match="neither turns nor continuations"):
        imported(tmp_path, line)
    assert not Corpus.objects.exists()


def test_labels_of_a_dialogue_that_is_not_there_are_still_refused(tmp_path: Path) -> None:
    label = {"rater": "r", "question": "overall", "value": 3}
    with pytest.raises(ImportProblem, match="neither turns nor continuations nor participants"):
        imported(tmp_path, EMPTY | {"labels": [label]})


def test_the_same_line_again_changes_nothing_and_a_continuation_can_be_added(tmp_path: Path) -> None:
    imported(tmp_path, EMPTY)
    more = {"id": "c1", "system": "m", "turns": [{"speaker": "a", "text": "Hi."}]}
    corpus = imported(tmp_path, EMPTY | {"continuations": [more]}, into=True)
    assert corpus.dialogues.count() == 1
    assert Continuation.objects.get().key == "c1"
    with pytest.raises(ImportProblem, match="the corpus has this dialogue without turns of its own"):
        imported(tmp_path, EMPTY | {"turns": [{"speaker": "a", "text": "Hi."}]}, into=True)


def test_a_copy_has_people_metadata_agenda_and_topic_and_nothing_that_was_said() -> None:
    corpus = talks()
    result = copy_without_turns(by=None, corpus=corpus, name="begun")
    assert (result.dialogues, result.turns, result.items, result.created) == (3, 0, 0, True)
    copy = Corpus.objects.get(name="begun")
    first, second, third = copy.dialogues.order_by("id")
    source = corpus.dialogues.order_by("id")[0]
    assert (first.key, first.cluster, first.summary) == ("d0", "c", "")
    assert first.metadata == {"goal": "a date", "topic": "About a party."}
    assert first.agenda == source.agenda
    assert first.participants == source.participants
    assert second.metadata == {"topic": "tea"}
    speakers = Turn.objects.filter(continuation__dialogue__key="d2", continuation__dialogue__corpus=corpus)
    assert {one["id"] for one in third.participants} == set(speakers.values_list("speaker", flat=True))
    assert not Turn.objects.filter(continuation__dialogue__corpus=copy).exists()
    assert Event.objects.filter(verb="import", subject__endswith="into begun").count() == 1
    again = copy_without_turns(by=None, corpus=corpus, name="begun")
    assert not again.created
    assert copy.dialogues.count() == 3


@pytest.mark.parametrize(
    ("limits", "keys"),
    [
        ({"first": 2}, ["d0", "d1"]),
        ({"min_turns": 3}, ["d1", "d2"]),
        ({"max_turns": 3}, ["d0", "d1"]),
        ({"min_turns": 3, "max_turns": 3}, ["d1"]),
        ({"min_turns": 3, "first": 1}, ["d1"]),
    ],
)
def test_a_copy_may_take_some_dialogues_alone(limits: dict[str, int], keys: list[str]) -> None:
    copy_without_turns(by=None, corpus=talks(), name="begun", **limits)
    assert (
        list(Dialogue.objects.filter(corpus__name="begun").order_by("id").values_list("key", flat=True))
        == keys
    )


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"first": 0}, "between 1 and 10,000 dialogues can be copied"),
        ({"first": 10_001}, "between 1 and 10,000 dialogues can be copied"),
        ({"min_turns": 3, "max_turns": 2}, "the least number of turns is at most the greatest"),
        ({"min_turns": 99}, "the corpus 'talks' has no dialogue with people that fits"),
        ({"name": "talks"}, "the corpus 'talks' exists with other content"),
        ({"name": "a/b"}, "the name of a corpus has 1 to 100 characters"),
    ],
)
def test_a_copy_that_cannot_be_is_refused_with_the_reason(limits: dict[str, Any], reason: str) -> None:
    corpus = talks()
    with pytest.raises(ImportProblem) as refusal:
        copy_without_turns(by=None, corpus=corpus, **({"name": "begun"} | limits))
    assert reason in str(refusal.value)
    assert not Corpus.objects.filter(name="begun").exists()


def test_a_dialogue_in_which_nobody_takes_part_is_left_out_and_said(tmp_path: Path) -> None:
    corpus = imported(tmp_path, EMPTY, corpus="some")
    nobody = Dialogue.objects.create(corpus=corpus, key="e2", cluster="e2", participants=[])
    result = copy_without_turns(by=None, corpus=corpus, name="begun")
    assert result.dialogues == 1
    assert result.notes == ["1 dialogues were left out: nobody takes part in them"]
    assert nobody.corpus == corpus


def test_the_page_copies_and_leads_to_the_copy(researcher: Client) -> None:
    talks()
    assert (
        "Copy the dialogues without their turns"
        in researcher.get(reverse("corpus-settings", args=["talks"])).content.decode()
    )
    address = reverse("copy-without-turns", args=["talks"])
    done = researcher.post(
        address, {"name": "begun", "first": "2", "min_turns": "", "max_turns": "0"}, follow=True
    )
    assert done.redirect_chain[-1][0] == reverse("corpus", args=["begun"])
    assert "2 dialogues were copied without their turns." in done.content.decode()
    assert "d0" in researcher.get(reverse("corpus-dialogues", args=["begun"])).content.decode()
    for wrong in (
        {"name": "talks", "first": "2"},
        {"name": "other", "first": "x"},
        {"name": "", "first": "1"},
    ):
        refused = researcher.post(address, wrong, follow=True)
        assert "Not copied: " in refused.content.decode()
    assert Corpus.objects.count() == 2


def test_the_api_copies(researcher: Client) -> None:
    talks()
    address = reverse("api-without-turns", args=["talks"])
    body = {"name": "begun", "first": 2, "min_turns": 3}
    made = researcher.post(address, body, content_type="application/json")
    assert (made.status_code, made.json()["dialogues"], made.json()["format"]) == (201, 2, "jsonl")
    assert researcher.post(address, body, content_type="application/json").status_code == 200
    taken = researcher.post(address, {"name": "talks"}, content_type="application/json")
    assert (taken.status_code, taken.json()["code"]) == (400, "import_refused")


@pytest.mark.exhaustive
def test_pages_of_a_corpus_without_turns_are_fine(researcher: Client) -> None:
    copy_without_turns(by=None, corpus=talks(), name="begun")
    corpus = Corpus.objects.get(name="begun")
    dialogue = corpus.dialogues.order_by("id")[0]
    page = researcher.get(reverse("dialogue", args=[dialogue.pk])).content.decode()
    assert "No turn yet" in page
    assert "likes tea" in page
    assert "Export transcript" not in page
    assert researcher.get(reverse("dialogue", args=[dialogue.pk]) + "?continuation=self").status_code == 404
    for name in ("corpus-report", "profile", "counts", "preferences", "turns-and-whole"):
        assert researcher.get(reverse(name, args=[corpus.pk]), follow=True).status_code == 200, name
    for name, argument in (("corpus", "begun"), ("api-corpus", "begun"), ("api-dialogues", "begun")):
        assert researcher.get(reverse(name, args=[argument])).status_code == 200, name
    assert researcher.get(reverse("api-dialogue", args=[dialogue.pk])).json()["continuations"] == []
    assert researcher.get(reverse("api-items", args=["begun"])).json()["results"] == []
    assert researcher.get(f"{reverse('new-campaign')}?corpus={corpus.pk}").status_code == 200
    assert researcher.get(f"{reverse('transcripts')}?corpus={corpus.pk}").status_code in (200, 404, 422)


def test_campaigns_and_metrics_say_that_there_is_nothing_to_rate() -> None:
    copy_without_turns(by=None, corpus=talks(), name="begun")
    corpus = Corpus.objects.get(name="begun")
    with pytest.raises(CampaignRefused, match="can be rated with this scheme") as refusal:
        factories.campaign(corpus)
    assert "\n" not in str(refusal.value)
    with pytest.raises(JudgeError):
        run_actions.start(
            by=None, plan=metric_plan("pf", corpus), selection=Selection(corpus, include_self=True)
        )


def test_a_continuation_of_such_a_dialogue_is_rated_like_any_other() -> None:
    copy_without_turns(by=None, corpus=talks(), name="begun")
    corpus = Corpus.objects.get(name="begun")
    dialogue = corpus.dialogues.get(key="d0")
    made = factories.continuation(dialogue, "c", system="m", turns=[{"text": "a"}, {"text": "b"}])
    assert factories.campaign(corpus, "cocoeval_overall").tasks.count() == 1
    run = run_actions.start(by=None, plan=metric_plan("nse", corpus), selection=Selection(corpus))
    assert run.calls.count() == 1
    assert made.dialogue.continuations.count() == 1


def test_exports_of_such_a_corpus_are_refused_or_empty(
    capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    copy_without_turns(by=None, corpus=talks(), name="begun")
    call_command("export_labels", "--corpus", "begun")
    assert len(capsys.readouterr().out.splitlines()) <= 1
    client.force_login(factories.user(researcher=True))
    corpus = Corpus.objects.get(name="begun")
    refused = client.get(reverse("api-export-transcripts", args=["csv"]), {"corpus": corpus.pk})
    assert (refused.status_code, "\n" in refused.json()["detail"]) == (400, False)
